import { setTimeout as sleepFor } from 'node:timers/promises';
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';

/** Attempts after the first (SPEC §2.3). */
const RETRIES = 3;
/** Statuses that may pass, beside 5xx: time-out, conflict, too many requests. */
const TRANSIENT = new Set([408, 409, 429]);
const FIRST_DELAY_MS = 500;
const DELAY_GROWTH = 2;
/** The longest `Retry-After` that is waited for; one that asks for more ends the attempts. */
export const MAX_RETRY_AFTER_MS = 120_000;

/** What waits and what draws lots: replaced in tests. */
export interface RetryTools {
  /** Resolves after so many milliseconds. @throws the signal's reason when that is aborted */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 up to 1, without 1. */
  random(): number;
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  now(): number;
}

const TOOLS: RetryTools = {
  sleep: async (ms, signal) => {
    await sleepFor(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  },
  random: Math.random,
  now: Date.now,
};

/** How long a caller waits, and which retries are worth it. */
export interface RetryOptions {
  /** Longest wait for one whole answer, in milliseconds: the client's own limit ends with the headers. */
  readonly timeout: number;
  /** Attempts after the first, 0 to 3. */
  readonly retries?: number;
  /** The longest `Retry-After` that is waited for, in milliseconds; 120,000 by default. */
  readonly maxRetryAfter?: number;
  readonly tools?: RetryTools;
}

/**
 * Calls until it succeeds (SPEC §2.3): three times more on 408, 409, 429, 5xx, time-outs and connection errors, after
 * 0.5 s, 1 s and 2 s, each shortened by up to a half so that callers do not come back together; or after what
 * `Retry-After` says. Anything else is final. The client's own retries must be off: they wait 60 s at most.
 * @param call gets the signal that ends this one attempt
 * @throws the signal's reason when that is aborted; else the last error of `call`
 */
export async function withRetries<T>(
  call: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  { timeout, retries = RETRIES, maxRetryAfter = MAX_RETRY_AFTER_MS, tools = TOOLS }: RetryOptions,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    signal.throwIfAborted();
    const late = AbortSignal.timeout(timeout);
    try {
      return await call(AbortSignal.any([signal, late]));
    } catch (failure) {
      signal.throwIfAborted();
      const error = late.aborted ? new APIConnectionTimeoutError() : failure;
      if (retry >= retries || !isTransient(error)) throw error;
      const asked = retryAfter(error, tools.now());
      if (asked !== null && asked > maxRetryAfter) throw error;
      const drawn = FIRST_DELAY_MS * DELAY_GROWTH ** retry * (1 - tools.random() / 2);
      await tools.sleep(asked ?? drawn, signal);
    }
  }
}

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof APIUserAbortError) return false;
  if (error instanceof APIConnectionError) return true;
  if (error instanceof APIError && error.status !== undefined)
    return error.status >= 500 || TRANSIENT.has(error.status);
  return isBroken(error);
}

/** A connection that ends in the middle of an answer is told by the reader of the body, not by the client. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = (error.cause ?? error) as { code?: unknown };
  return (
    (error instanceof TypeError && error.message === 'terminated') ||
    (typeof code === 'string' && /^(?:ECONN|EPIPE|ETIMEDOUT|UND_ERR_)/.test(code))
  );
}

/** What the answer asks to wait, in milliseconds; null where it says nothing that can be read. */
function retryAfter(error: unknown, now: number): number | null {
  if (!(error instanceof APIError)) return null;
  const headers = error.headers as Headers | undefined;
  const milliseconds = numberOf(headers?.get('retry-after-ms'));
  if (milliseconds !== null) return milliseconds;
  const text = headers?.get('retry-after');
  const seconds = numberOf(text);
  if (seconds !== null) return seconds * 1_000;
  const at = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function numberOf(text: string | null | undefined): number | null {
  const value = text?.trim() ? Number(text) : Number.NaN;
  return Number.isFinite(value) && value >= 0 ? value : null;
}
