import { z } from 'zod';
import { OPENAI_NAMES, openaiFaults, openaiSettings } from './openai.js';

const integer = (low: number, high: number) => z.coerce.number().int().min(low).max(high);

/** `https://console.example`: exact, without a path or a pattern. */
function isOrigin(text: string): boolean {
  return !text.includes('*') && URL.canParse(text) && new URL(text).origin === text;
}

/** A bucket must hold what the dearest operation costs. */
const rate = z.coerce
  .number()
  .int()
  .max(1_000_000_000)
  .refine((points) => points === 0 || points >= 10_000, 'must be 0 or at least 10000');

const settings = z.object({
  /** TCP port of the server; 0 picks a free one. */
  port: integer(0, 65_535).default(4000),
  /** Address to listen on. */
  host: z.string().default('127.0.0.1'),
  /** PostgreSQL 15+ with pgvector; absent: the embedded database in `dataDirectory`. */
  databaseUrl: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
    .optional(),
  dataDirectory: z.string().default('./.salient'),
  /** Connections to PostgreSQL; the embedded database has one. */
  poolSize: integer(1, 200).default(10),
  /** The platform administrator's bootstrap key. */
  adminKey: z.string().min(32, 'must have at least 32 characters').optional(),
  extractor: z.enum(['rules', 'openai']).default('rules'),
  embedding: z.enum(['bundled', 'openai', 'fake']).default('bundled'),
  /** `off`: writers give subscribers no hint of news, here or in other processes; the poll of 1.5 s alone serves. */
  eventHints: z.enum(['on', 'off']).default('on'),
  environment: z.enum(['development', 'production', 'test']).default('development'),
  logLevel: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  /** Largest HTTP body and WebSocket message, in bytes; a message has 1 MiB at most all the same. */
  maxBodyBytes: integer(1_000, 100_000_000).default(2_000_000),
  /** WebSockets, and streams over HTTP, that one tenant may have open at one process. */
  maxStreamsPerTenant: integer(1, 1_000_000).default(1_000),
  /** Origins whose pages may ask over HTTP and WebSocket; `*`: all. */
  corsOrigins: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()])))
    .refine(
      (origins) => origins.every((one) => one === '*' || isOrigin(one)),
      'must be origins such as https://console.example, separated by commas, or *',
    ),
  /** Whether the schema may be explored; by default everywhere but in production. */
  introspection: z.enum(['on', 'off']).optional(),
  /** A directory of `.graphql` files, or a JSON file of id → document. */
  persistedDocuments: z.string().optional(),
  /** `on`: documents that are not among those are refused. */
  persistedOnly: z.enum(['on', 'off']).default('off'),
  /** Points a minute that a tenant may spend where its own limits do not say; 0: no limit. */
  ratePoints: rate.default(1_200_000),
  /** The same for each key of a tenant. */
  keyRatePoints: rate.default(0),
  /** What a reader of `/metrics` must show; nothing where it is not set. */
  metricsToken: z.string().min(16, 'must have at least 16 characters').optional(),
  /** `on`: requests are counted by tenant as well, a series for each. */
  metricsTenants: z.enum(['on', 'off']).default('off'),
  /** Base URL of an OpenTelemetry collector (OTLP over HTTP); absent: no traces. */
  otlpEndpoint: z
    .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
    .optional(),
  /** How traces name this process. */
  serviceName: z.string().default('salient'),
  ...openaiSettings,
});

const schema = settings.superRefine((config, context) => {
  for (const { setting, message } of openaiFaults(config))
    context.addIssue({ code: 'custom', path: [setting], message });
  if (config.persistedOnly === 'on' && config.persistedDocuments === undefined)
    context.addIssue({
      code: 'custom',
      path: ['persistedOnly'],
      message: 'needs SALIENT_PERSISTED_DOCUMENTS',
    });
});

export type Config = Readonly<z.infer<typeof schema>>;

const ENVIRONMENT_NAMES: Record<keyof Config, string> = {
  port: 'PORT',
  host: 'SALIENT_HOST',
  databaseUrl: 'DATABASE_URL',
  dataDirectory: 'SALIENT_DATA_DIR',
  poolSize: 'SALIENT_POOL_SIZE',
  adminKey: 'SALIENT_ADMIN_KEY',
  extractor: 'SALIENT_EXTRACTOR',
  embedding: 'SALIENT_EMBEDDING',
  eventHints: 'SALIENT_EVENT_HINTS',
  environment: 'NODE_ENV',
  logLevel: 'SALIENT_LOG_LEVEL',
  maxBodyBytes: 'SALIENT_MAX_BODY_BYTES',
  maxStreamsPerTenant: 'SALIENT_MAX_STREAMS_PER_TENANT',
  corsOrigins: 'SALIENT_CORS_ORIGINS',
  introspection: 'SALIENT_INTROSPECTION',
  persistedDocuments: 'SALIENT_PERSISTED_DOCUMENTS',
  persistedOnly: 'SALIENT_PERSISTED_ONLY',
  ratePoints: 'SALIENT_RATE_POINTS',
  keyRatePoints: 'SALIENT_KEY_RATE_POINTS',
  metricsToken: 'SALIENT_METRICS_TOKEN',
  metricsTenants: 'SALIENT_METRICS_TENANTS',
  otlpEndpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  serviceName: 'OTEL_SERVICE_NAME',
  ...OPENAI_NAMES,
};

/** A setting is wrong; the message names the variable and what it must be, never its value. */
export class ConfigError extends Error {
  readonly code = 'BAD_CONFIG';
}

/**
 * Validates settings, fills in defaults and freezes the result.
 * @throws ConfigError naming every variable at fault
 */
export function createConfig(settings: Partial<Record<keyof Config, unknown>>): Config {
  const result = schema.safeParse(settings);
  if (result.success) return Object.freeze(result.data);
  const faults = result.error.issues.map((issue) => {
    const name = ENVIRONMENT_NAMES[issue.path[0] as keyof Config] ?? String(issue.path[0]);
    return `${name}: ${issue.message}`;
  });
  throw new ConfigError(faults.join('; '));
}
