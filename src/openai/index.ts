/** What extraction and embeddings share of OpenAI-compatible servers: the client, and when to ask again. */
export { type OpenAIEndpoint, openaiClient } from './client.js';
export { isTransient, MAX_RETRY_AFTER_MS, type RetryOptions, type RetryTools, withRetries } from './retry.js';
