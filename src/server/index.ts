export { createServer, GRAPHQL_PATH, type Server, type ServerOptions } from './create-server.js';
export { LIMITS } from './limits.js';
export { MAX_OPERATIONS_PER_SOCKET } from './websocket.js';
