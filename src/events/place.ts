import type { StreamState } from '../db/index.js';
import { CursorExpiredError } from '../errors.js';
import { type Cursor, decodeCursor, EARLIEST } from './cursor.js';

/**
 * The number after which `after` begins in this stream.
 * @throws BadInputError when it is malformed
 * @throws CursorExpiredError when it is of another history, or the events behind it are no longer kept
 */
export function beginAfter(stream: StreamState, after: Cursor | typeof EARLIEST): bigint {
  if (after === EARLIEST) return stream.floor;
  const { epoch, seq } = decodeCursor(after);
  if (epoch !== stream.epoch || seq < stream.floor || seq > stream.head) throw new CursorExpiredError();
  return seq;
}
