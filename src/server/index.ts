export { createServer, GRAPHQL_PATH, type Server, type ServerOptions } from './create-server.js';
export { LIMITS } from './limits.js';
export { Listener } from './listener.js';
export { LAG_MS, MAX_UNSENT_BYTES } from './outlet.js';
export type { Sharing } from './sharing.js';
export { MAX_MESSAGE_BYTES, MAX_OPERATIONS_PER_SOCKET } from './websocket.js';
