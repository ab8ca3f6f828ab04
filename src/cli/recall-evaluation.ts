import { createApp } from '../app.js';
import { createConfig } from '../config/index.js';
import { type Database, openDatabase } from '../db/index.js';
import { createEmbeddingProvider, type EmbeddingProvider } from '../embedding/index.js';
import { DEFAULT_RANKING, type RankingOverrides, type RecallSource } from '../recall/index.js';
import { ApiClient } from './api-client.js';
import type { Conversation } from './conversation-file.js';
import { openTarget } from './import-target.js';
import { Importer } from './importer.js';
import { type Answered, sharesFound } from './recall-metric.js';

/** How recall is asked; the first is as everybody has it. */
export interface Variant {
  readonly name: string;
  readonly ranking?: RankingOverrides;
  readonly sources?: readonly RecallSource[];
}

const { sum } = DEFAULT_RANKING;

/** The default, and what is left of it without one of its parts. */
export const VARIANTS = {
  default: { name: 'default' },
  rrf: { name: 'RRF of two arms', ranking: { fusion: 'RRF' } },
  'lexical-only': { name: 'lexical only', ranking: { vectorWeight: 0 } },
  'vector-only': { name: 'vector only', ranking: { lexicalWeight: 0 } },
  'facts-only': { name: 'facts only', sources: ['FACT'] },
  'messages-only': { name: 'messages only', sources: ['MESSAGE'] },
  'no-icnu': { name: 'no ICNU (λ 0)', ranking: { lambda: 0 } },
  'no-window': { name: 'no window', ranking: { reach: 0 } },
  'no-names': { name: 'no names', ranking: { names: false } },
  'no-speaker': { name: 'no speaker', ranking: { sum: { ...sum, speaker: 0, nearby: 0 } } },
  'no-time': { name: 'no times', ranking: { sum: { ...sum, time: 0 } } },
  'no-question': { name: 'no questions', ranking: { sum: { ...sum, question: 0 } } },
  'no-short': { name: 'no shortness', ranking: { sum: { ...sum, short: 0 } } },
  'no-context': {
    name: 'no context',
    ranking: { reach: 0, names: false, sum: { ...sum, time: 0, question: 0, short: 0 } },
  },
} as const satisfies Record<string, Variant>;

export type VariantName = keyof typeof VARIANTS;

const ADMIN_KEY = 'evaluation-platform-administrator-key';
const K = 50;
const DAY_MS = 86_400_000;
const SETTLE_PATIENCE_MS = 60_000;
/** Questions of one request. */
const AT_ONCE = 8;

export interface EvaluationOptions {
  readonly databaseUrl?: string | undefined;
  readonly dataDirectory?: string | undefined;
  /** Whether each session is imported on the day on which it was held, instead of all on one day. */
  readonly lived?: boolean;
  /** Whether all conversations are in one tenant, of one agent and user, instead of a tenant for each. */
  readonly together?: boolean;
  /** Told of every message that was imported and every question that was answered. */
  readonly onProgress?: (label: string, done: number, total: number) => void;
}

/**
 * Conversations in a database, each in a tenant of its own, ready to be asked. The clock stands still, a day after the
 * last message: the same data gives the same numbers whenever it is evaluated.
 */
export class Evaluation implements AsyncDisposable {
  private constructor(
    private readonly db: Database,
    private readonly embedding: EmbeddingProvider,
    private readonly options: EvaluationOptions,
  ) {}

  static async open(options: EvaluationOptions): Promise<Evaluation> {
    const db = await openDatabase({ ...options, durable: false });
    return new Evaluation(db, await createEmbeddingProvider({ kind: 'bundled' }), options);
  }

  /** Imports what is not there yet. @throws Error where facts could not be learned from all of it */
  async import(given: readonly Conversation[]): Promise<void> {
    const conversations = this.#toldApart(given);
    const clock = { now: questionTime(conversations) };
    await using app = await this.#app({ name: 'import' }, clock);
    const total = conversations.reduce((sum, { messageCount }) => sum + messageCount, 0);
    let before = 0;
    for (const conversation of conversations) {
      const target = await openTarget(ApiClient.inProcess(app, ADMIN_KEY), this.#names(conversation));
      const importer = new Importer(target, {
        source: conversation.file,
        extract: 'NOW',
        onProgress: ({ added, known }) =>
          this.options.onProgress?.(`importing ${conversation.id}`, before + added + known, total),
      });
      for (const { externalId, messages } of conversation.sessions) {
        const held = messages[0]?.sentAt;
        if (this.options.lived && held) clock.now = new Date(held);
        for (const message of messages) await importer.add(externalId, message);
        await importer.flush();
      }
      clock.now = questionTime(conversations);
      const left = await importer.settle(SETTLE_PATIENCE_MS);
      if (left > 0) throw new Error(`${conversation.id}: nothing was learned from ${left} messages`);
      before += conversation.messageCount;
    }
  }

  /** Asks every question that has evidence, in the way of a variant. */
  async ask(variant: Variant, given: readonly Conversation[]): Promise<Answered[]> {
    const conversations = this.#toldApart(given);
    await using app = await this.#app(variant, { now: questionTime(conversations) });
    const asked = conversations.flatMap(({ questions }) => questions).length;
    const answered: Answered[] = [];
    let done = 0;
    for (const conversation of conversations) {
      const target = await openTarget(ApiClient.inProcess(app, ADMIN_KEY), this.#names(conversation));
      const sources = await sourcesOfFacts(target.client);
      for (let from = 0; from < conversation.questions.length; from += AT_ONCE) {
        const questions = conversation.questions.slice(from, from + AT_ONCE);
        const results = await Promise.all(
          questions.map(({ question }) =>
            target.client.ask<Recalled>(RECALL, {
              input: {
                query: question,
                agentId: target.agentId,
                userId: target.userId,
                k: K,
                mode: 'OBSERVE',
                sources: variant.sources ?? null,
              },
            }),
          ),
        );
        for (const [place, { recall }] of results.entries()) {
          const { evidence = [], category = 0 } = questions[place] ?? {};
          const found = recall.items.map(({ node }) =>
            node.externalId ? [node.externalId] : (sources.get(node.id) ?? []),
          );
          const shares = sharesFound(evidence, found);
          if (shares) answered.push({ category, shares });
        }
        done += questions.length;
        this.options.onProgress?.(`asking, ${variant.name}`, done, asked);
      }
    }
    return answered;
  }

  /** In one tenant the ids of messages are those of their conversation too, in what is evidence as well. */
  #toldApart(conversations: readonly Conversation[]): readonly Conversation[] {
    if (!this.options.together) return conversations;
    return conversations.map((conversation) => {
      const unique = (id: string) => `${conversation.id} ${id}`;
      return {
        ...conversation,
        sessions: conversation.sessions.map(({ externalId, messages }) => ({
          externalId,
          messages: messages.map((message) => ({
            ...message,
            externalId: unique(message.externalId),
          })),
        })),
        questions: conversation.questions.map((one) => ({ ...one, evidence: one.evidence.map(unique) })),
      };
    });
  }

  #names({ id }: Conversation) {
    const slug = this.options.together
      ? 'evaluation'
      : `evaluation-${id.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`.replace(/-+$/, '').slice(0, 63);
    return { tenant: slug, agent: 'evaluation', user: 'evaluation' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.embedding[Symbol.asyncDispose]();
    await this.db[Symbol.asyncDispose]();
  }

  #app(variant: Variant, clock: { now: Date }) {
    const config = createConfig({ port: 0, adminKey: ADMIN_KEY, logLevel: 'warn' });
    return createApp(config, {
      database: this.db,
      embedding: this.embedding,
      now: () => clock.now,
      takesUpWork: false,
      ...(variant.ranking ? { ranking: variant.ranking } : {}),
    });
  }
}

const RECALL = `query ($input: RecallInput!) { recall(input: $input) { items {
  node { ... on Fact { id } ... on Message { id externalId } } } } }`;

interface Recalled {
  readonly recall: {
    readonly items: readonly { readonly node: { id: string; externalId?: string | null } }[];
  };
}

/** A day after the last message of all. */
function questionTime(conversations: readonly Conversation[]): Date {
  const times = conversations.flatMap(({ sessions }) =>
    sessions.flatMap(({ messages }) =>
      messages.flatMap(({ sentAt }) => (sentAt ? [Date.parse(sentAt)] : [])),
    ),
  );
  return new Date(times.reduce((last, time) => Math.max(last, time), 0) + DAY_MS);
}

/** External ids of the messages that each fact of the tenant was learned from, by the fact's id. */
async function sourcesOfFacts(client: ApiClient): Promise<Map<string, string[]>> {
  const sources = new Map<string, string[]>();
  for (let after: string | null = null; ; ) {
    const { facts }: { facts: FactPage } = await client.ask(
      `query ($after: String) { facts(first: 50, after: $after, filter: { status: ALL }) {
         edges { node { id sources(first: 50) { edges { node { externalId } } } } } pageInfo { hasNextPage endCursor } } }`,
      { after },
    );
    for (const { node } of facts.edges)
      sources.set(
        node.id,
        node.sources.edges.flatMap(({ node: { externalId } }) => externalId ?? []),
      );
    if (!facts.pageInfo.hasNextPage) return sources;
    after = facts.pageInfo.endCursor;
  }
}

interface FactPage {
  readonly edges: readonly {
    readonly node: { id: string; sources: { edges: readonly { node: { externalId: string | null } }[] } };
  }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
