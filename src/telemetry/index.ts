export { Metrics, type OperationSample, type Transport } from './metrics.js';
export { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.js';
export { NO_TRACING, type Span, type SpanAttributes, type Tracing } from './tracing.js';
export { watchServices } from './watch-services.js';
