import { type Logger, pino } from 'pino';

export type { Logger };

/** Structured logs as JSON lines on standard error. Callers pass ids, counts and codes; never content or secrets. */
export function createLogger(level: string): Logger {
  return pino({ level, base: undefined }, pino.destination({ dest: 2, sync: true }));
}
