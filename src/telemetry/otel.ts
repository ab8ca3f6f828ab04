import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';
import type { Span, SpanAttributes, Tracing } from './tracing.js';

/** `version-trace-span-flags` of https://www.w3.org/TR/trace-context/. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Sends spans to an OpenTelemetry collector over HTTP, in batches. Nothing is registered globally: two Salients in one
 * process do not meet, and libraries that look for a global tracer find none, so that none adds what it sees.
 * @param endpoint up to and without `/v1/traces`
 */
export function createOtelTracing(endpoint: string, serviceName: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ [ATTR_SERVICE_NAME]: serviceName }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('salient');
  const contexts = new AsyncLocalStorage<Context>();

  return {
    span(name, attributes, work, traceparent) {
      const parent = contextOf(traceparent) ?? contexts.getStore() ?? ROOT_CONTEXT;
      const kind = traceparent === undefined ? SpanKind.INTERNAL : SpanKind.SERVER;
      const span = tracer.startSpan(name, { attributes, kind }, parent);
      return contexts.run(trace.setSpan(parent, span), () => endWith(span, () => work(shown(span))));
    },
    begin(name, attributes) {
      const parent = contexts.getStore();
      // Work that no request asked for, such as a poll, would be a trace of its own each second.
      if (!parent) return () => {};
      const span = tracer.startSpan(name, { attributes, kind: SpanKind.CLIENT }, parent);
      return () => span.end();
    },
    async [Symbol.asyncDispose]() {
      // A collector that is away must not keep the process from closing.
      await provider.shutdown().catch(() => {});
    },
  };
}

function shown(span: OtelSpan): Span {
  return {
    set: (attributes: SpanAttributes) => void span.setAttributes(attributes),
    fail(code) {
      span.setAttribute('error.type', code);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
  };
}

/** Ends the span with the work, which may be asynchronous. The error itself is not noted: its message may hold anything. */
function endWith<T>(span: OtelSpan, work: () => T): T {
  let result: T;
  try {
    result = work();
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    throw error;
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  return result.then(
    (value) => {
      span.end();
      return value;
    },
    (error) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      throw error;
    },
  ) as T;
}

function contextOf(traceparent: string | null | undefined): Context | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}
