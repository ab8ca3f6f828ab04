/** The one interface of all extractors (SPEC §2.3): from a window of messages to proposed facts. */

import type { FactKind } from '../text/index.js';

/** One message of the window, in the order of insertion. */
export interface ExtractorMessage {
  id: string;
  role: 'USER' | 'ASSISTANT' | 'SYSTEM' | 'TOOL';
  /** Who said it, where several people share the role USER. */
  speaker?: string | null;
  content: string;
  sentAt: Date | null;
}

/** A live fact that the extractor may supersede, under a label that is valid for this run only. */
export interface KnownFact {
  label: string;
  kind: FactKind;
  text: string;
}

/** What an extractor is given. */
export interface ExtractorInput {
  /** The time relative dates are read against. */
  referenceTime: Date;
  messages: readonly ExtractorMessage[];
  /** The newest live facts visible in the scope, at most 60. */
  known: readonly KnownFact[];
}

/** A proposed fact. Nothing is stored until it passed the content check, deduplication and budgets. */
export interface ExtractedFact {
  text: string;
  kind: FactKind;
  subject?: string;
  predicate?: string;
  object?: string;
  /** Names as written, whole and without repeats. */
  entities: string[];
  /** Begin of validity in the world, only when the text states it. */
  validFrom?: Date;
  /** −1 (bad) … 1 (good). */
  valence?: number;
  /** 0 … 1. */
  arousal?: number;
  /** 0 … 1. */
  urgency?: number;
  /** 0 … 1: how sure the extractor is that this is a durable statement. */
  confidence: number;
  sourceMessageIds: string[];
}

/** Replaces the known fact with this label. */
export interface ExtractedSupersession {
  label: string;
  text: string;
  /** The replaced fact's kind when left out. */
  kind?: FactKind;
  entities: string[];
  /** As of {@link ExtractedFact}; none, 1 and none when left out. */
  subject?: string;
  predicate?: string;
  object?: string;
  confidence?: number;
  validFrom?: Date;
  sourceMessageIds?: string[];
}

/** A relation between two named things, as one of the proposed facts states it. */
export interface ExtractedEdge {
  source: string;
  relation: string;
  target: string;
}

/** What a language model was asked and gave, failed attempts included. */
export interface ExtractorUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars; null where no price is known. */
  readonly cost: number | null;
}

/** What came back. Empty lists are a normal answer: nothing worth remembering was said. */
export interface ExtractorOutput {
  add: ExtractedFact[];
  supersede: ExtractedSupersession[];
  /** None when left out. */
  edges?: ExtractedEdge[];
  /** None when left out: no language model was asked. */
  usage?: ExtractorUsage;
  /** Remarks for the outcome, such as an unknown kind that became FACT. Never message text. */
  notes?: string[];
}

/** An extraction method. */
export interface Extractor {
  readonly name: 'RULES' | 'OPENAI';
  /**
   * Whether what one window gave is written before the next is read: it is dear, and what it added is to be known there.
   * Else several are written together.
   */
  readonly oneWindowARound?: boolean;
  /**
   * @throws when the window could not be read to its end: "nothing" is only ever an answer, never a failure
   */
  extract(input: ExtractorInput, signal: AbortSignal): Promise<ExtractorOutput>;
}

/**
 * Why an extractor gave no answer. Its message holds neither what was said nor what came back.
 *
 * - `EXTRACTOR_UNAVAILABLE`: no answer after all retries (retryable);
 * - `EXTRACTOR_UNAUTHORIZED`, `EXTRACTOR_NOT_FOUND`, `EXTRACTOR_REJECTED`: the endpoint refuses the key, knows no such
 *   model, or does not take the request;
 * - `EXTRACTOR_UNPARSEABLE`, `EXTRACTOR_TRUNCATED`, `EXTRACTOR_DECLINED`: it answered, and not with what was asked for.
 */
export class ExtractorError extends Error {
  override readonly name = 'ExtractorError';

  /** @param usage what was spent all the same */
  constructor(
    readonly code: ExtractorErrorCode,
    message: string,
    readonly usage: ExtractorUsage | null = null,
  ) {
    super(message);
  }

  /** Whether the same window may succeed later, by itself. */
  get retryable(): boolean {
    return this.code === 'EXTRACTOR_UNAVAILABLE';
  }
}

export type ExtractorErrorCode =
  | 'EXTRACTOR_UNAVAILABLE'
  | 'EXTRACTOR_UNAUTHORIZED'
  | 'EXTRACTOR_NOT_FOUND'
  | 'EXTRACTOR_REJECTED'
  | 'EXTRACTOR_UNPARSEABLE'
  | 'EXTRACTOR_TRUNCATED'
  | 'EXTRACTOR_DECLINED';
