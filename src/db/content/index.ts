export { type Content, contentOf, hexOf } from './content.js';
export type { HashPurpose } from './keyed-hash.js';
