import { z } from 'zod';

const OPENAI_URL = 'https://api.openai.com/v1';

const baseUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
  .refine((text) => {
    const { username, password } = new URL(text);
    return username === '' && password === '';
  }, 'must hold no user name and password: give the key by itself')
  .transform((text) => text.replace(/\/+$/, ''));

const price = z.coerce.number().min(0).max(1_000_000);

/** `0.35:0.5, 0.5:0.7`: pairs of a cosine and the similarity that it means; 0:0 and 1:1 go without saying. */
const calibration = z.string().transform((text, context) => {
  const knots = text.split(',').map((pair) => pair.split(':').map(Number));
  const inner = knots.filter(([cosine]) => cosine !== 0 && cosine !== 1);
  const all = [[0, 0], ...inner, [1, 1]] as [number, number][];
  const rising = all.every(
    ([x, y], place) =>
      place === 0 || (x > (all[place - 1] as number[])[0]! && y > (all[place - 1] as number[])[1]!),
  );
  if (knots.every((knot) => knot.length === 2) && inner.length > 0 && rising) return all;
  context.addIssue({
    code: 'custom',
    message:
      'must be pairs of cosine and similarity that rise from 0 to 1, such as 0.35:0.5, 0.5:0.7, 0.85:0.75',
  });
  return z.NEVER;
});

/** Settings of OpenAI-compatible servers, for extraction and for embeddings. */
export const openaiSettings = {
  /** Up to and without `/chat/completions`. */
  openaiBaseUrl: baseUrl.default(OPENAI_URL),
  openaiApiKey: z.string().min(1).optional(),
  /** The model that extracts. */
  openaiModel: z.string().min(1).optional(),
  /** Longest wait for one answer, in seconds. */
  openaiTimeout: z.coerce.number().min(1).max(600).default(60),
  /** US dollars for a million tokens. */
  openaiInputPrice: price.optional(),
  openaiOutputPrice: price.optional(),
  /** Of the server that embeds; those above when left out. */
  openaiEmbeddingBaseUrl: baseUrl.optional(),
  openaiEmbeddingApiKey: z.string().min(1).optional(),
  openaiEmbeddingModel: z.string().min(1).default('text-embedding-3-small'),
  /** Length of its vectors. */
  openaiEmbeddingDimensions: z.coerce.number().int().min(8).max(4_000).optional(),
  /** From its cosine to a similarity (SPEC §3). */
  openaiEmbeddingCalibration: calibration.optional(),
};

/** Names of the variables that hold them. */
export const OPENAI_NAMES: Record<keyof typeof openaiSettings, string> = {
  openaiBaseUrl: 'OPENAI_BASE_URL',
  openaiApiKey: 'OPENAI_API_KEY',
  openaiModel: 'OPENAI_MODEL',
  openaiTimeout: 'OPENAI_TIMEOUT',
  openaiInputPrice: 'OPENAI_INPUT_PRICE',
  openaiOutputPrice: 'OPENAI_OUTPUT_PRICE',
  openaiEmbeddingBaseUrl: 'OPENAI_EMBEDDING_BASE_URL',
  openaiEmbeddingApiKey: 'OPENAI_EMBEDDING_API_KEY',
  openaiEmbeddingModel: 'OPENAI_EMBEDDING_MODEL',
  openaiEmbeddingDimensions: 'OPENAI_EMBEDDING_DIMENSIONS',
  openaiEmbeddingCalibration: 'OPENAI_EMBEDDING_CALIBRATION',
};

/** What is missing, by setting: rules that concern more than one. */
export function openaiFaults(config: {
  readonly extractor: string;
  readonly embedding: string;
  readonly openaiBaseUrl: string;
  readonly openaiApiKey?: string | undefined;
  readonly openaiModel?: string | undefined;
  readonly openaiInputPrice?: number | undefined;
  readonly openaiOutputPrice?: number | undefined;
  readonly openaiEmbeddingBaseUrl?: string | undefined;
  readonly openaiEmbeddingApiKey?: string | undefined;
}): { readonly setting: keyof typeof openaiSettings; readonly message: string }[] {
  const faults: { setting: keyof typeof openaiSettings; message: string }[] = [];
  const needsKey = (url: string) => new URL(url).hostname === new URL(OPENAI_URL).hostname;
  if (config.extractor === 'openai' && config.openaiModel === undefined)
    faults.push({ setting: 'openaiModel', message: 'must name the model when SALIENT_EXTRACTOR is openai' });
  if (config.extractor === 'openai' && config.openaiApiKey === undefined && needsKey(config.openaiBaseUrl))
    faults.push({ setting: 'openaiApiKey', message: 'must be set when SALIENT_EXTRACTOR is openai' });
  const embeddingKey = config.openaiEmbeddingApiKey ?? config.openaiApiKey;
  const embeddingUrl = config.openaiEmbeddingBaseUrl ?? config.openaiBaseUrl;
  if (config.embedding === 'openai' && embeddingKey === undefined && needsKey(embeddingUrl))
    faults.push({
      setting: 'openaiEmbeddingApiKey',
      message: 'or OPENAI_API_KEY must be set when SALIENT_EMBEDDING is openai',
    });
  if ((config.openaiInputPrice === undefined) !== (config.openaiOutputPrice === undefined))
    faults.push({
      setting: config.openaiInputPrice === undefined ? 'openaiInputPrice' : 'openaiOutputPrice',
      message: 'must be set together with the other price',
    });
  return faults;
}
