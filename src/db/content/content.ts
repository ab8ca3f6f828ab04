import { open, openOptional, seal, sealOptional } from './envelope.js';
import { type HashPurpose, keyedHash, keyedTerm } from './keyed-hash.js';

/** The one codec through which a tenant's content enters and leaves the database. */
export interface Content {
  seal(text: string): Uint8Array<ArrayBuffer>;
  sealOptional(text: string | null | undefined): Uint8Array<ArrayBuffer> | null;
  open(envelope: Uint8Array): string;
  openOptional(envelope: Uint8Array | null | undefined): string | null;
  hash(purpose: HashPurpose, text: string): Uint8Array<ArrayBuffer>;
  term(term: string): bigint;
}

/** @param hashKey the tenant's, 32 bytes */
export function contentOf(hashKey: Uint8Array): Content {
  return {
    seal,
    sealOptional,
    open,
    openOptional,
    hash: (purpose, text) => keyedHash(hashKey, purpose, text),
    term: (term) => keyedTerm(hashKey, term),
  };
}

/** Bytes as the text form of a bytea inside JSON parameters. */
export function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}
