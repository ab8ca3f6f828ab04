import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { watchProcess } from './process-metrics.js';

/** How an operation came in. */
export type Transport = 'http' | 'sse' | 'websocket';

/** One operation, as it is counted when it has been answered; a subscription when it has begun or was refused. */
export interface OperationSample {
  readonly transport: Transport;
  /** `none` where it was refused before it was known. */
  readonly type: 'query' | 'mutation' | 'subscription' | 'none';
  /** `OK`, or the code of the first error among `errors` of the answer. */
  readonly outcome: string;
  readonly seconds: number;
  /** What it may cost at most; absent where that was not worked out. */
  readonly cost?: number;
  readonly tenantId?: string;
}

/** Something that is read when the metrics are asked for: by its labels. */
export type Reading = readonly (readonly [labels: Record<string, string>, value: number])[];

/**
 * What this process counts, for Prometheus. Labels have few values: operation types, codes, kinds of jobs; never ids,
 * and those of tenants only where that is asked for. Each Salient has its own, so several in one process do not mix.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'transport' | 'operation' | 'outcome'>;
  readonly #tenantRequests: Counter<'tenant' | 'outcome'> | undefined;
  readonly #durations: Histogram<'operation'>;
  readonly #costs: Histogram<'operation'>;
  readonly #delivered: Counter;
  readonly #lagged: Counter;
  readonly #extractions: Counter<'outcome'>;
  readonly #transactions: Histogram<'kind'>;
  readonly #stopWatching: () => void;

  /** @param options.tenants whether requests are counted by tenant, too */
  constructor({ tenants }: { readonly tenants: boolean }) {
    const registers = [this.registry];
    this.#requests = new Counter({
      registers,
      name: 'salient_requests_total',
      help: 'Operations answered, by transport, type and outcome: OK, or the code of the first error.',
      labelNames: ['transport', 'operation', 'outcome'],
    });
    this.#tenantRequests = tenants
      ? new Counter({
          registers,
          name: 'salient_tenant_requests_total',
          help: 'Operations answered, by tenant and outcome.',
          labelNames: ['tenant', 'outcome'],
        })
      : undefined;
    this.#durations = new Histogram({
      registers,
      name: 'salient_request_duration_seconds',
      help: 'From an operation to its answer; of a subscription to its beginning.',
      labelNames: ['operation'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    });
    this.#costs = new Histogram({
      registers,
      name: 'salient_operation_cost_points',
      help: 'What operations may cost at most, in points: a field 1, a list its size times.',
      labelNames: ['operation'],
      buckets: [10, 30, 100, 300, 1_000, 3_000, 10_000],
    });
    this.#delivered = new Counter({
      registers,
      name: 'salient_events_delivered_total',
      help: 'Results sent to subscribers, checkpoints included.',
    });
    this.#lagged = new Counter({
      registers,
      name: 'salient_subscriptions_lagged_total',
      help: 'Subscriptions that ended because they were read too slowly.',
    });
    this.#extractions = new Counter({
      registers,
      name: 'salient_extractions_total',
      help: 'Extraction runs that came to an end here, by outcome.',
      labelNames: ['outcome'],
    });
    this.#transactions = new Histogram({
      registers,
      name: 'salient_transaction_duration_seconds',
      help: 'Transactions with the wait for a connection, by kind: tenant, read, platform.',
      labelNames: ['kind'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    });
    this.#stopWatching = watchProcess(this.registry);
  }

  operation(sample: OperationSample): void {
    const { transport, type: operation, outcome, seconds, cost, tenantId } = sample;
    this.#requests.inc({ transport, operation, outcome });
    this.#durations.observe({ operation }, seconds);
    if (cost !== undefined) this.#costs.observe({ operation }, cost);
    if (tenantId !== undefined) this.#tenantRequests?.inc({ tenant: tenantId, outcome });
  }

  /** A result has gone to a subscriber. */
  delivered(): void {
    this.#delivered.inc();
  }

  /** A subscription ended because its reader was too slow. */
  lagged(): void {
    this.#lagged.inc();
  }

  /** An extraction run has ended. */
  extraction(outcome: string): void {
    this.#extractions.inc({ outcome });
  }

  transaction(kind: string, seconds: number): void {
    this.#transactions.observe({ kind }, seconds);
  }

  /** A number that goes up and down, read when the metrics are asked for. One of the same name is replaced. */
  gauge(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Reading | Promise<Reading>,
  ): void {
    this.registry.removeSingleMetric(name);
    const gauge: Gauge = new Gauge({
      registers: [this.registry],
      name,
      help,
      labelNames: [...labelNames],
      async collect() {
        const values = await read();
        gauge.reset();
        for (const [labels, value] of values) gauge.set(labels, value);
      },
    });
  }

  /** A number that only grows and is counted elsewhere, read when the metrics are asked for. */
  total(name: string, help: string, labelNames: readonly string[], read: () => Reading): void {
    this.registry.removeSingleMetric(name);
    const counter: Counter = new Counter({
      registers: [this.registry],
      name,
      help,
      labelNames: [...labelNames],
      collect() {
        counter.reset();
        for (const [labels, value] of read()) counter.inc(labels, value);
      },
    });
  }

  /** Everything in Prometheus' text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** Nothing of the process is watched any more. */
  close(): void {
    this.#stopWatching();
  }
}
