/** What a span may say: names of the schema, codes, counts. Never content, names that callers chose, or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace. */
export interface Span {
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. @param code one of the table of error codes */
  fail(code: string): void;
}

/** Traces of requests; see docs/operations.md for what they hold. */
export interface Tracing extends AsyncDisposable {
  /**
   * Runs `work` as a span: of the trace that `traceparent` names, else inside the span that the caller runs in, else as
   * the first of a new trace. Ends when what `work` returns has settled.
   * @param traceparent the W3C header of a request
   */
  span<T>(name: string, attributes: SpanAttributes, work: (span: Span) => T, traceparent?: string | null): T;
  /** Begins a span inside the one that the caller runs in, where there is one. @returns ends it */
  begin(name: string, attributes: SpanAttributes): () => void;
}

const NO_SPAN: Span = { set() {}, fail() {} };

/** Traces nothing and loads nothing. */
export const NO_TRACING: Tracing = {
  span: (_name, _attributes, work) => work(NO_SPAN),
  begin: () => () => {},
  async [Symbol.asyncDispose]() {},
};
