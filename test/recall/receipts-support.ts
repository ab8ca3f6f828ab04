import { createEmbeddingProvider, type EmbeddingProvider } from '../../src/embedding/index.js';
import type { Caller } from '../facts/support.js';

/** An encoder that compares facts and messages as ever, and can read no query: what words do not find, no vector does. */
export async function unreadableQueries(): Promise<EmbeddingProvider> {
  const real = await createEmbeddingProvider({ kind: 'fake' });
  return {
    model: real.model,
    dimensions: real.dimensions,
    similarity: real.similarity.bind(real),
    embed: real.embed.bind(real),
    embedWindows: real.embedWindows.bind(real),
    embedQuery: async () => null,
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

export interface Scores {
  readonly lexical: number | null;
  readonly vector: number | null;
  readonly fused: number;
  readonly icnu: number;
}

export interface Item {
  readonly rank: number;
  readonly score: number;
  readonly scores: Scores;
  readonly arms: string[];
  readonly supplement: boolean;
  readonly node: { readonly id: string; readonly text?: string; readonly content?: string };
}

export interface Count {
  readonly reason: string;
  readonly count: number;
}

export interface Recalled {
  readonly items: Item[];
  readonly receipt: {
    readonly id: string | null;
    readonly mode: string;
    readonly arms: { readonly name: string; readonly candidates: number; readonly underfilled: boolean }[];
    readonly leftOut: Count[];
    readonly skippedForBudget: number;
    readonly charactersUsed: number;
  };
}

/** Recalls through the API. */
export async function recallOf(caller: Caller, input: Record<string, unknown>): Promise<Recalled> {
  const { recall } = await caller.query<{ recall: Recalled }>(
    `query ($input: RecallInput!) { recall(input: $input) {
       items {
         rank score arms supplement scores { lexical vector fused icnu }
         node { ... on Fact { id text } ... on Message { id content } }
       }
       receipt { id mode arms { name candidates underfilled } leftOut { reason count } skippedForBudget charactersUsed }
     } }`,
    { input },
  );
  return recall;
}

export interface Receipt {
  readonly id: string;
  readonly recalledAt: string;
  readonly askedBy: string;
  readonly agent: { readonly id: string } | null;
  readonly user: { readonly id: string } | null;
  readonly query: string | null;
  readonly k: number;
  readonly charBudget: number | null;
  readonly mode: string;
  readonly kinds: string[];
  readonly sources: string[];
  readonly validAt: string | null;
  readonly knownAt: string | null;
  readonly includeFlagged: boolean;
  readonly arms: Recalled['receipt']['arms'];
  readonly leftOut: Count[];
  readonly charactersUsed: number;
  readonly candidateCount: number;
  readonly candidates: {
    readonly outcome: string;
    readonly place: number | null;
    readonly arms: string[];
    readonly score: number;
    readonly scores: Scores;
    readonly node: { readonly id: string; readonly text?: string; readonly content?: string } | null;
  }[];
}

export const RECEIPT = `id recalledAt askedBy agent { id } user { id } query k charBudget mode kinds sources validAt knownAt
  includeFlagged arms { name candidates underfilled } leftOut { reason count } charactersUsed candidateCount
  candidates {
    outcome place arms score scores { lexical vector fused icnu }
    node { ... on Fact { id text } ... on Message { id content } }
  }`;

export async function receiptOf(caller: Caller, id: string): Promise<Receipt | null> {
  const { recallReceipt } = await caller.query<{ recallReceipt: Receipt | null }>(
    `query ($id: ID!) { recallReceipt(id: $id) { ${RECEIPT} } }`,
    { id },
  );
  return recallReceipt;
}
