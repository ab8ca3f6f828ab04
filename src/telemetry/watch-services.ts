import { countOpenJobs } from '../db/index.js';
import type { Services } from '../services.js';
import type { Reading } from './metrics.js';

/** For how long a count of open jobs serves, in ms: several readers are no reason to count anew. */
const JOBS_FOR_MS = 5_000;

/**
 * Adds what the parts of a process know of themselves to its metrics, and its transactions to metrics and traces.
 * @returns ends what it began
 */
export function watchServices({
  db,
  embedding,
  feed,
  telemetry,
}: Pick<Services, 'db' | 'embedding' | 'feed' | 'telemetry'>): () => void {
  const { metrics, tracing } = telemetry;
  metrics.gauge(
    'salient_feed_followers',
    'Streams of events that are followed, before they are shared.',
    [],
    () => [[{}, feed.stats().followers]],
  );
  metrics.gauge('salient_feed_tenants', 'Tenants whose events are followed.', [], () => [
    [{}, feed.stats().tenants],
  ]);
  metrics.total(
    'salient_feed_wakeups_total',
    'By what followers learned of news: hint of this process, of another, or a look that found it.',
    ['by'],
    () => {
      const { own, heard, found } = feed.wakeUps();
      return [
        [{ by: 'hint' }, own],
        [{ by: 'other_process' }, heard],
        [{ by: 'poll' }, found],
      ];
    },
  );
  metrics.total('salient_feed_polls_total', 'Looks at the heads of followed tenants.', [], () => [
    [{}, feed.wakeUps().polls],
  ]);
  metrics.gauge('salient_encoder_queue', 'Requests that wait for their vectors.', [], () => [
    [{}, embedding.waiting ?? 0],
  ]);
  metrics.gauge('salient_database_connections', 'Connections to the database, by state.', ['state'], () => {
    const { busy, idle } = db.connections();
    return [
      [{ state: 'busy' }, busy],
      [{ state: 'idle' }, idle],
    ];
  });
  metrics.gauge('salient_database_waiting', 'Transactions that wait for a connection.', [], () => [
    [{}, db.connections().waiting],
  ]);
  metrics.gauge(
    'salient_jobs',
    'Jobs of all tenants that wait or run, in the database that processes share.',
    ['kind', 'state'],
    rememberedFor(JOBS_FOR_MS, async () => {
      // Figures of this process are worth having while the database is away.
      const counts = await db.withPlatform(countOpenJobs).catch(() => []);
      return counts.map(({ kind, status, count }) => [{ kind, state: status }, count] as const);
    }),
  );
  return db.onTransaction((kind) => {
    const begun = performance.now();
    const endSpan = tracing.begin(`transaction ${kind}`, { 'db.system.name': 'postgresql' });
    return () => {
      metrics.transaction(kind, (performance.now() - begun) / 1_000);
      endSpan();
    };
  });
}

function rememberedFor(ms: number, read: () => Promise<Reading>): () => Promise<Reading> {
  let known: Promise<Reading> | undefined;
  let until = 0;
  return () => {
    if (known && performance.now() < until) return known;
    until = performance.now() + ms;
    known = read();
    return known;
  };
}
