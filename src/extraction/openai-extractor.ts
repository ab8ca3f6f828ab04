import { APIError } from 'openai';
import {
  isTransient,
  type OpenAIEndpoint,
  openaiClient,
  type RetryTools,
  withRetries,
} from '../openai/index.js';
import {
  type Extractor,
  ExtractorError,
  type ExtractorErrorCode,
  type ExtractorInput,
  type ExtractorOutput,
  type ExtractorUsage,
} from './extractor.js';
import { readAnswer } from './openai-answer.js';
import { ANSWER_FORMAT, DOCTRINE, documentOf } from './openai-prompt.js';
import { SourceFinder } from './openai-sources.js';

/** What the `openai` extractor is made of. */
export interface OpenAIExtractorOptions extends OpenAIEndpoint {
  readonly model: string;
  /** US dollars for a million tokens; without both, what runs cost is not known. */
  readonly prices?: { readonly input: number; readonly output: number } | undefined;
  /** Sleep, chance and clock of the retries; only tests give others. */
  readonly tools?: RetryTools;
}

/**
 * The `openai` extractor (SPEC §2.3): any endpoint with OpenAI's chat completions, through the official client. What it
 * returns is proposed, no more: the content check, deduplication, scopes and budgets decide what is stored, whatever a
 * conversation talks the model into.
 *
 * It retries by {@link withRetries}. An answer that is not what was asked for is an {@link ExtractorError}, never
 * "nothing"; so is one that was cut off.
 */
export function createOpenAIExtractor(options: OpenAIExtractorOptions): Extractor {
  const client = openaiClient(options);
  const { model, timeout, prices, tools } = options;
  return {
    name: 'OPENAI',
    oneWindowARound: true,
    async extract(input: ExtractorInput, signal: AbortSignal): Promise<ExtractorOutput> {
      const request = {
        model,
        messages: [
          { role: 'system' as const, content: DOCTRINE },
          { role: 'user' as const, content: documentOf(input) },
        ],
        response_format: ANSWER_FORMAT,
      };
      const completion: unknown = await withRetries(
        (attempt) => client.chat.completions.create(request, { signal: attempt }),
        signal,
        { timeout, ...(tools ? { tools } : {}) },
      ).catch((error: unknown) => {
        signal.throwIfAborted();
        throw failureOf(error);
      });
      return outputOf(completion, input, prices);
    },
  };
}

/** The client's errors quote what the server wrote, which may quote the request: none of it is handed on. */
function failureOf(error: unknown): ExtractorError {
  const status = error instanceof APIError ? error.status : undefined;
  const told = (code: ExtractorErrorCode, message: string) => new ExtractorError(code, message);
  if (isTransient(error)) {
    const how = status === undefined ? 'no answer' : `status ${status}`;
    return told('EXTRACTOR_UNAVAILABLE', `The extractor's endpoint could not be used: ${how}.`);
  }
  if (status === 401 || status === 403)
    return told('EXTRACTOR_UNAUTHORIZED', `The extractor's endpoint refused the key: status ${status}.`);
  if (status === 404)
    return told('EXTRACTOR_NOT_FOUND', "The extractor's endpoint knows no such path or model: status 404.");
  if (status !== undefined)
    return told('EXTRACTOR_REJECTED', `The extractor's endpoint rejected the request: status ${status}.`);
  return told('EXTRACTOR_UNPARSEABLE', "The extractor's endpoint answered with something that is no JSON.");
}

/** What the answer's envelope is read for; nothing of it is relied on. */
interface Envelope {
  readonly choices?: readonly {
    readonly finish_reason?: unknown;
    readonly message?: { readonly content?: unknown; readonly refusal?: unknown } | null;
  }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
}

function outputOf(
  completion: unknown,
  input: ExtractorInput,
  prices: OpenAIExtractorOptions['prices'],
): ExtractorOutput {
  const envelope = (completion !== null && typeof completion === 'object' ? completion : {}) as Envelope;
  const usage = usageOf(envelope, prices);
  const fail = (code: ExtractorErrorCode, message: string) => new ExtractorError(code, message, usage);
  const choice = Array.isArray(envelope.choices) ? envelope.choices[0] : undefined;
  if (choice?.finish_reason === 'length')
    throw fail('EXTRACTOR_TRUNCATED', "The model's answer was cut off at its greatest length.");
  if (choice?.finish_reason === 'content_filter' || choice?.message?.refusal)
    throw fail('EXTRACTOR_DECLINED', 'The model declined to answer.');
  const content = choice?.message?.content;
  const answer = typeof content === 'string' ? readAnswer(content) : null;
  if (!answer) throw fail('EXTRACTOR_UNPARSEABLE', "The model's answer is not the JSON object asked for.");
  const finder = new SourceFinder(input.messages);
  const withSources = <F extends { text: string }>(fact: F) => ({
    ...fact,
    sourceMessageIds: finder.sourcesOf(fact.text),
  });
  return {
    add: answer.add.map(withSources),
    supersede: answer.supersede.map(withSources),
    edges: answer.edges,
    notes: answer.notes,
    usage,
  };
}

/** Servers that tell no usage leave it at 0, and its cost unknown. */
function usageOf({ usage }: Envelope, prices: OpenAIExtractorOptions['prices']): ExtractorUsage {
  const inputTokens = countOf(usage?.prompt_tokens);
  const outputTokens = countOf(usage?.completion_tokens);
  const cost =
    usage && prices ? (inputTokens * prices.input + outputTokens * prices.output) / 1_000_000 : null;
  return { inputTokens, outputTokens, cost };
}

function countOf(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0
    ? Math.min(Math.round(tokens), 2 ** 31 - 1)
    : 0;
}
