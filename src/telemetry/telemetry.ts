import { Metrics } from './metrics.js';
import { NO_TRACING, type Tracing } from './tracing.js';

/** What a process tells of its work to those who run it. */
export interface Telemetry extends AsyncDisposable {
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

export interface TelemetryOptions {
  /** Base URL of an OpenTelemetry collector; without one nothing is traced, and nothing of it loaded. */
  readonly otlpEndpoint?: string;
  /** How traces name this process; `salient`. */
  readonly serviceName?: string;
  /** Whether requests are counted by tenant as well. */
  readonly tenants?: boolean;
}

export async function createTelemetry(options: TelemetryOptions = {}): Promise<Telemetry> {
  const { otlpEndpoint, serviceName = 'salient', tenants = false } = options;
  const tracing =
    otlpEndpoint === undefined
      ? NO_TRACING
      : (await import('./otel.js')).createOtelTracing(otlpEndpoint, serviceName);
  const metrics = new Metrics({ tenants });
  return {
    metrics,
    tracing,
    async [Symbol.asyncDispose]() {
      metrics.close();
      await tracing[Symbol.asyncDispose]();
    },
  };
}
