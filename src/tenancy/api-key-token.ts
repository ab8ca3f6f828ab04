import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isUuid } from '../ids.js';

/** Bytes of a key's secret: 256 bits. */
const SECRET_BYTES = 32;

/** The parts of `sal_<id>_<secret>`; the id finds the row, the secret proves the holder. */
export interface KeyToken {
  readonly id: string;
  readonly secret: string;
}

/** A new token for the key with this id. The text is shown once and never stored. */
export function mintToken(id: string): { token: string; secretHash: Uint8Array<ArrayBuffer> } {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { token: `sal_${id.replaceAll('-', '')}_${secret}`, secretHash: hashSecret(secret) };
}

/** Null where the text is no token. */
export function parseToken(text: string): KeyToken | null {
  const match = /^sal_([0-9a-f]{32})_([A-Za-z0-9_-]{43})$/.exec(text);
  if (!match?.[1] || !match[2]) return null;
  const id = match[1].replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isUuid(id) ? { id, secret: match[2] } : null;
}

/** SHA-256: enough for a secret of 256 random bits, which cannot be guessed. */
export function hashSecret(secret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}

/** Compares in constant time. */
export function secretMatches(secret: string, hash: Uint8Array): boolean {
  const given = hashSecret(secret);
  return given.length === hash.length && timingSafeEqual(given, hash);
}
