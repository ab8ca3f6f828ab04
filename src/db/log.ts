/** Levels as pino names them. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Where the database tells its operator what it does; never called with content, values of statements or secrets. */
export type DatabaseLog = (
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

/** For callers that want no log. */
export const silentLog: DatabaseLog = () => {};
