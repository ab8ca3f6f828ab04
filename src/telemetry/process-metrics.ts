import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
/** How often the event loop is looked at, in ms; that much is taken off its delay. */
const RESOLUTION_MS = 20;

/**
 * Adds this process's memory, processor time and event-loop delay, under the names that dashboards know. Not the
 * library's own collection: that cannot be ended, and so outlives whoever asked for it.
 * @returns ends it
 */
export function watchProcess(registry: Registry): () => void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) => {
    const one: Gauge = new Gauge({
      registers,
      name,
      help,
      collect() {
        one.set(read());
      },
    });
  };
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'Used heap of the main thread.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Memory of buffers outside of the heap.', () => {
    return process.memoryUsage().external;
  });
  gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', () =>
    Math.round(Date.now() / 1_000 - process.uptime()),
  );
  const processor: Counter = new Counter({
    registers,
    name: 'process_cpu_seconds_total',
    help: 'User and system time of all threads.',
    collect() {
      const { user, system } = process.cpuUsage();
      processor.reset();
      processor.inc((user + system) / MICROSECONDS);
    },
  });
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
  const lag: Gauge<'quantile'> = new Gauge({
    registers,
    name: 'nodejs_eventloop_lag_seconds',
    help: 'How late the event loop was since the metrics were last asked for.',
    labelNames: ['quantile'],
    collect() {
      lag.set({ quantile: '0.5' }, late(delays.percentile(50)));
      lag.set({ quantile: '0.99' }, late(delays.percentile(99)));
      lag.set({ quantile: '1' }, late(delays.max));
      delays.reset();
    },
  });
  return () => delays.disable();
}
