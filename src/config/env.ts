/** Reads the environment into plain, unvalidated settings; nothing else in Salient looks at process.env. */
export function readEnvironment(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  const read = (name: string) => {
    const value = env[name]?.trim();
    return value === '' ? undefined : value;
  };
  return {
    port: read('PORT'),
    host: read('SALIENT_HOST'),
    databaseUrl: read('DATABASE_URL'),
    dataDirectory: read('SALIENT_DATA_DIR'),
    poolSize: read('SALIENT_POOL_SIZE'),
    adminKey: read('SALIENT_ADMIN_KEY'),
    extractor: read('SALIENT_EXTRACTOR'),
    embedding: read('SALIENT_EMBEDDING'),
    eventHints: read('SALIENT_EVENT_HINTS'),
    environment: read('NODE_ENV'),
    logLevel: read('SALIENT_LOG_LEVEL'),
    maxBodyBytes: read('SALIENT_MAX_BODY_BYTES'),
    maxStreamsPerTenant: read('SALIENT_MAX_STREAMS_PER_TENANT'),
    corsOrigins: read('SALIENT_CORS_ORIGINS'),
    introspection: read('SALIENT_INTROSPECTION'),
    persistedDocuments: read('SALIENT_PERSISTED_DOCUMENTS'),
    persistedOnly: read('SALIENT_PERSISTED_ONLY'),
    ratePoints: read('SALIENT_RATE_POINTS'),
    keyRatePoints: read('SALIENT_KEY_RATE_POINTS'),
    metricsToken: read('SALIENT_METRICS_TOKEN'),
    metricsTenants: read('SALIENT_METRICS_TENANTS'),
    otlpEndpoint: read('OTEL_EXPORTER_OTLP_ENDPOINT'),
    serviceName: read('OTEL_SERVICE_NAME'),
    openaiBaseUrl: read('OPENAI_BASE_URL'),
    openaiApiKey: read('OPENAI_API_KEY'),
    openaiModel: read('OPENAI_MODEL'),
    openaiTimeout: read('OPENAI_TIMEOUT'),
    openaiInputPrice: read('OPENAI_INPUT_PRICE'),
    openaiOutputPrice: read('OPENAI_OUTPUT_PRICE'),
    openaiEmbeddingBaseUrl: read('OPENAI_EMBEDDING_BASE_URL'),
    openaiEmbeddingApiKey: read('OPENAI_EMBEDDING_API_KEY'),
    openaiEmbeddingModel: read('OPENAI_EMBEDDING_MODEL'),
    openaiEmbeddingDimensions: read('OPENAI_EMBEDDING_DIMENSIONS'),
    openaiEmbeddingCalibration: read('OPENAI_EMBEDDING_CALIBRATION'),
  };
}
