import { createHmac } from 'node:crypto';

/** What is hashed: equal texts of different purposes do not meet. */
export type HashPurpose =
  | 'fact-text'
  | 'refused-text'
  | 'entity-name'
  | 'relation'
  | 'topic'
  | 'idempotency'
  | 'request';

/** HMAC-SHA256 of a text under the tenant's hash key (32 bytes); equal texts of two tenants differ. */
export function keyedHash(key: Uint8Array, purpose: HashPurpose, text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac('sha256', key).update(`${purpose}\0${text}`).digest());
}

/** A lexical term as the signed 64-bit number that postings hold. */
export function keyedTerm(key: Uint8Array, term: string): bigint {
  return createHmac('sha256', key).update(`term\0${term}`).digest().readBigInt64BE(0);
}
