import { RefusedError } from './api-client.js';
import { at, type ImportMessage } from './conversation-file.js';
import type { ImportTarget } from './import-target.js';

/** When facts are learned from what is imported: see ExtractWhen of the API. */
export type ExtractWhen = 'NOW' | 'LATER' | 'NEVER';

/** Messages of one request: kept together or not at all. */
const BATCH_MESSAGES = 100;
const BATCH_CHARACTERS = 200_000;
/** Messages that wait for their batch to fill, over all sessions. */
const MAX_WAITING = 2_000;
const PAGE = 100;

/** What an import has come to. */
export interface ImportCounts {
  /** Messages that were given, of which `known` were there before. */
  readonly messages: number;
  readonly added: number;
  readonly known: number;
  readonly sessions: number;
}

interface Waiting {
  /** At most a batch. */
  readonly messages: ImportMessage[];
  characters: number;
}

interface SessionNode {
  readonly id: string;
  readonly externalId: string | null;
  readonly agent: { id: string } | null;
  readonly user: { id: string } | null;
  readonly messageCount: number;
  readonly minedCount: number;
}

interface Page<T> {
  readonly edges: readonly { readonly node: T }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/**
 * Appends messages to sessions, a batch at a time, in the order given within each session. What a session has by its
 * external id is not sent again, so an import that was broken off goes on where it was, and a second one changes
 * nothing. A message is known to be kept when its batch was answered.
 */
export class Importer {
  #waiting = new Map<string, Waiting>();
  #waitingCount = 0;
  /** The external ids that each session has, and those that were given already. */
  readonly #known = new Map<string, Set<string>>();
  #existing: Map<string, SessionNode> | null = null;
  #counts = { messages: 0, added: 0, known: 0 };

  /**
   * @param source of the messages, for errors
   * @param onProgress is told after each batch
   */
  constructor(
    private readonly target: ImportTarget,
    private readonly options: {
      readonly source: string;
      readonly extract: ExtractWhen;
      readonly onProgress?: (counts: ImportCounts) => void;
    },
  ) {}

  get counts(): ImportCounts {
    return { ...this.#counts, sessions: this.#known.size };
  }

  /** Takes a message; it is sent when its batch is full, or with {@link flush}. */
  async add(session: string, message: ImportMessage): Promise<void> {
    const known = await this.#knownIn(session);
    this.#counts.messages++;
    if (known.has(message.externalId)) {
      this.#counts.known++;
      this.options.onProgress?.(this.counts);
      return;
    }
    known.add(message.externalId);
    const waiting = this.#waiting.get(session) ?? { messages: [], characters: 0 };
    this.#waiting.set(session, waiting);
    if (waiting.characters + message.content.length > BATCH_CHARACTERS) await this.#send(session);
    waiting.messages.push(message);
    waiting.characters += message.content.length;
    this.#waitingCount++;
    if (waiting.messages.length >= BATCH_MESSAGES) await this.#send(session);
    else if (this.#waitingCount >= MAX_WAITING) await this.flush();
  }

  /** Sends what waits. */
  async flush(): Promise<void> {
    for (const session of this.#waiting.keys()) await this.#send(session);
    this.#waiting = new Map();
  }

  /**
   * Waits until facts were learned from all of it, also from what an import that was broken off has left.
   * @returns messages that nothing was learned from yet, after `patienceMs` without any coming off
   */
  async settle(patienceMs: number, pollMs = 500): Promise<number> {
    let left = await this.#unmined();
    let since = Date.now();
    while (left > 0 && Date.now() - since < patienceMs) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      const now = await this.#unmined();
      if (now < left) since = Date.now();
      left = now;
    }
    return left;
  }

  async #unmined(): Promise<number> {
    let left = 0;
    for (const [externalId, session] of await this.#sessions())
      if (this.#known.has(externalId)) left += session.messageCount - session.minedCount;
    return left;
  }

  async #send(session: string): Promise<void> {
    const waiting = this.#waiting.get(session);
    if (!waiting || waiting.messages.length === 0) return;
    const { agentId, userId, client } = this.target;
    const messages = waiting.messages.splice(0);
    waiting.characters = 0;
    this.#waitingCount -= messages.length;
    try {
      await client.ask(
        `mutation ($input: AppendMessagesInput!) { appendMessages(input: $input) {
           session { id } errors { code message path } } }`,
        {
          input: {
            session: { create: { agentId, userId, externalId: session } },
            messages: messages.map(({ line: _line, ...message }) => ({ ...message })),
            extract: this.options.extract,
          },
        },
      );
    } catch (error) {
      throw placed(error, this.options.source, messages);
    }
    this.#counts.added += messages.length;
    this.options.onProgress?.(this.counts);
  }

  /** What the session has by external id; asked for when it is first met. */
  async #knownIn(session: string): Promise<Set<string>> {
    const met = this.#known.get(session);
    if (met) return met;
    this.#existing ??= await this.#sessions();
    const known = new Set<string>();
    const existing = this.#existing.get(session);
    for (let after: string | null = null; existing; ) {
      const { node }: { node: { messages: Page<{ externalId: string | null }> } | null } =
        await this.target.client.ask(
          `query ($id: ID!, $after: String) { node(id: $id) { ... on Session { messages(first: ${PAGE}, after: $after) {
             edges { node { externalId } } pageInfo { hasNextPage endCursor } } } } }`,
          { id: existing.id, after },
        );
      for (const { node: message } of node?.messages.edges ?? [])
        if (message.externalId !== null) known.add(message.externalId);
      if (!node?.messages.pageInfo.hasNextPage) break;
      after = node.messages.pageInfo.endCursor;
    }
    this.#known.set(session, known);
    return known;
  }

  /** The sessions of this agent and user that have an external id. */
  async #sessions(): Promise<Map<string, SessionNode>> {
    const { agentId, userId, client } = this.target;
    const found = new Map<string, SessionNode>();
    for (let after: string | null = null; ; ) {
      const { tenant }: { tenant: { sessions: Page<SessionNode> } } = await client.ask(
        `query ($after: String) { tenant { sessions(first: ${PAGE}, after: $after) {
           edges { node { id externalId agent { id } user { id } messageCount minedCount } }
           pageInfo { hasNextPage endCursor } } } }`,
        { after },
      );
      for (const { node } of tenant.sessions.edges) {
        const own = (node.agent?.id ?? null) === agentId && (node.user?.id ?? null) === userId;
        if (own && node.externalId !== null) found.set(node.externalId, node);
      }
      if (!tenant.sessions.pageInfo.hasNextPage) return found;
      after = tenant.sessions.pageInfo.endCursor;
    }
  }
}

/** The error with the line of the message that the API named, or of the batch's first. */
function placed(error: unknown, source: string, messages: readonly ImportMessage[]): unknown {
  if (!(error instanceof RefusedError) || error.reason !== 'BAD_INPUT') return error;
  // The API tells indices as text.
  const list = error.inputPath.indexOf('messages');
  const message = (list < 0 ? undefined : messages[Number(error.inputPath[list + 1])]) ?? messages[0];
  return message ? at(source, message.line, error.message) : error;
}
