import type {
  ExtractedFact,
  Extractor,
  ExtractorInput,
  ExtractorOutput,
} from '../../src/extraction/index.js';

/**
 * An extractor whose output a test writes into the messages: every line `KIND: text` of a user's message is a fact,
 * `KIND [Alice, Bob]: text` one that names entities. `before` runs ahead of each answer, to fail, wait or look.
 */
export class LineExtractor implements Extractor {
  readonly name = 'RULES' as const;
  /** What it was given, call by call. */
  readonly calls: ExtractorInput[] = [];
  before: (input: ExtractorInput, signal: AbortSignal) => Promise<void> | void = () => {};

  async extract(input: ExtractorInput, signal: AbortSignal): Promise<ExtractorOutput> {
    this.calls.push(input);
    await this.before(input, signal);
    const add = input.messages
      .filter((message) => message.role === 'USER')
      .flatMap((message) => message.content.split('\n').flatMap((line) => factOf(line, message.id)));
    return { add, supersede: [] };
  }

  /** The ids of the messages of all calls, in order. */
  get seen(): string[] {
    return this.calls.flatMap((call) => call.messages.map((message) => message.id));
  }
}

const LINE = /^(USER_PROFILE|PREFERENCE|PROJECT|ENV|FACT|DECISION|CONVENTION)(?: \[([^\]]*)\])?: (.*)$/;

function factOf(line: string, messageId: string): ExtractedFact[] {
  const [, kind, names, text] = LINE.exec(line) ?? [];
  if (kind === undefined || text === undefined) return [];
  return [
    {
      text,
      kind: kind as ExtractedFact['kind'],
      entities: names ? names.split(', ') : [],
      confidence: 0.9,
      sourceMessageIds: [messageId],
    },
  ];
}

/** Waits for what goes on behind an answer. */
export async function until(reached: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await reached())) {
    if (Date.now() > deadline) throw new Error('what was waited for did not happen');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
