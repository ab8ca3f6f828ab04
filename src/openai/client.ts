import OpenAI from 'openai';

/** Where an OpenAI-compatible server is, and how to speak to it. */
export interface OpenAIEndpoint {
  /** Up to and without `/chat/completions` or `/embeddings`, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** Undefined where the server wants none, as local ones do. */
  readonly apiKey?: string | undefined;
  /** Longest wait for one answer, in milliseconds. */
  readonly timeout: number;
}

/** What a server that wants no key is sent in its place: the client insists on one. */
const NO_KEY = 'none';

/**
 * The official client, bound to an endpoint by what it is given alone: nothing is taken from the environment, nothing is
 * logged (its debug log would hold conversations), and it does not retry by itself.
 */
export function openaiClient({ baseUrl, apiKey, timeout }: OpenAIEndpoint): OpenAI {
  return new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey ?? NO_KEY,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout,
    maxRetries: 0,
    logLevel: 'off',
  });
}
