import { type EventRecord, type EventSelection, readEvents, readInTenant } from '../db/index.js';
import { BadInputError, UnauthenticatedError } from '../errors.js';
import type { Services } from '../services.js';
import type { TenantActor } from '../tenancy/index.js';
import { type Cursor, decodeCursor, EARLIEST, encodeCursor } from './cursor.js';
import { SPAN } from './feed.js';
import { beginAfter } from './place.js';

/** Items of one read of the log when the client says nothing, and at most. */
export const DEFAULT_LOG_PAGE = 100;
export const MAX_LOG_PAGE = 500;
/** A read looks at {@link SPAN} events this many times at most, and then says that there is more. */
const MAX_SPANS = 50;

export interface EventLogPage {
  readonly items: readonly { readonly cursor: Cursor; readonly event: EventRecord }[];
  /** Pass it as `after` to read on. */
  readonly endCursor: Cursor;
  /** False: at the time of the read there were no more selected events. */
  readonly hasMore: boolean;
  /** Follow from here to get, without gap or repeat, everything that is not in this page or one before. */
  readonly feedCursor: Cursor;
}

/**
 * Reads a stretch of the tenant's event log, oldest first.
 * @param after a cursor; null or `earliest`: from the oldest kept
 * @param first 1 to {@link MAX_LOG_PAGE}; {@link DEFAULT_LOG_PAGE} by default. A page may have fewer items and `hasMore`
 *   all the same, when a filter lets few events pass.
 * @throws BadInputError, CursorExpiredError
 */
export async function readEventLog(
  { db }: Pick<Services, 'db'>,
  actor: TenantActor,
  {
    selection,
    after,
    first,
  }: { selection: EventSelection; after?: Cursor | typeof EARLIEST | null; first?: number | null },
): Promise<EventLogPage> {
  const size = first ?? DEFAULT_LOG_PAGE;
  if (!Number.isInteger(size) || size < 1 || size > MAX_LOG_PAGE) {
    throw new BadInputError(`first must be from 1 to ${MAX_LOG_PAGE}, not ${size}`, ['first']);
  }
  const given = after == null || after === EARLIEST ? null : after;
  let from: bigint | 'floor' = given === null ? 'floor' : decodeCursor(given).seq;
  const found: EventRecord[] = [];
  for (let spans = 1; ; spans++) {
    // One more than fits tells whether there is more.
    const limit = size + 1 - found.length;
    const page = await readInTenant(db, actor.tenant, (unit) =>
      readEvents(unit, { after: from, limit, span: SPAN, selection }),
    );
    if (!page) throw new UnauthenticatedError();
    const { stream } = page;
    const at = (seq: bigint) => encodeCursor({ epoch: stream.epoch, seq });
    // Every time: events may be dropped between two statements.
    beginAfter(stream, from === 'floor' ? EARLIEST : spans === 1 && given !== null ? given : at(from));
    found.push(...page.events);
    const full = found.length > size;
    const exhausted = page.through >= stream.head;
    if (!full && !exhausted && spans < MAX_SPANS) {
      from = page.through;
      continue;
    }
    const items = found.slice(0, size).map((event) => ({ cursor: at(event.seq), event }));
    const last = items.at(-1)?.cursor;
    const through = full && last !== undefined ? last : at(page.through);
    return {
      items,
      endCursor: full || exhausted ? (last ?? through) : through,
      hasMore: full || !exhausted,
      feedCursor: through,
    };
  }
}
