import { BadInputError } from '../errors.js';

/** A place in a tenant's stream: after the event `seq` of the history `epoch`. */
export interface Place {
  readonly epoch: number;
  readonly seq: bigint;
}

/** An encoded {@link Place}, opaque to clients; interchangeable between all feeds of a tenant (SPEC §11). */
export type Cursor = string;

/** What `after` may say instead of a cursor: begin at the oldest event that is kept. */
export const EARLIEST = 'earliest';

const BYTES = 12;
/** No stream comes near it; sums with it stay within 64 bits. */
const MAX_SEQ = 2n ** 53n;

/** The cursor of a place: base64url of the epoch (4 bytes) and the sequence number (8 bytes). */
export function encodeCursor({ epoch, seq }: Place): Cursor {
  const bytes = Buffer.alloc(BYTES);
  bytes.writeInt32BE(epoch, 0);
  bytes.writeBigInt64BE(seq, 4);
  return bytes.toString('base64url');
}

/** @throws BadInputError when the text is not a cursor that {@link encodeCursor} made */
export function decodeCursor(text: Cursor): Place {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length === BYTES && bytes.toString('base64url') === text) {
    const place = { epoch: bytes.readInt32BE(0), seq: bytes.readBigInt64BE(4) };
    if (place.epoch >= 0 && place.seq >= 0n && place.seq <= MAX_SEQ) return place;
  }
  throw new BadInputError(`after must be the cursor of an event or checkpoint, or "${EARLIEST}"`, ['after']);
}
