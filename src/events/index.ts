export type { EventRecord, EventSelection } from '../db/index.js';
export { type Cursor, decodeCursor, EARLIEST, encodeCursor, type Place } from './cursor.js';
export {
  EVENT_TYPES,
  type EventType,
  IMPORTANCE_CAUSES,
  type ImportanceCause,
  type NewEvent,
} from './event-types.js';
export {
  createEventFeed,
  type EventFeed,
  type FeedOptions,
  type FeedTimings,
  type FeedWakeUps,
  type FollowOptions,
  type StreamNews,
} from './feed.js';
export type { FeedEntry } from './follower.js';
export { PullIterator } from './pull-iterator.js';
export { DEFAULT_LOG_PAGE, type EventLogPage, MAX_LOG_PAGE, readEventLog } from './read-event-log.js';
export { DEFAULT_KEPT_DAYS, pruneEventLog } from './retention.js';
export {
  type EventFilter,
  eventRange,
  type ImportanceFilter,
  MAX_FACTS,
  MAX_NAMES,
  selectEvents,
  selectImportance,
} from './selection.js';
