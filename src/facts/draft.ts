import type { Content } from '../db/index.js';
import { hexOf } from '../db/index.js';
import { embedLeniently } from '../embedding/index.js';
import { BadInputError, type InputPath } from '../errors.js';
import { type OfferedHints, type ResolvedHints, resolveHints } from '../salience/index.js';
import type { Services } from '../services.js';
import { factCharacterLimit, type TenantContext } from '../tenancy/index.js';
import {
  analyzeDocument,
  checkContent,
  countCharacters,
  type FactKind,
  normalizeFactText,
  type Refusal,
  valenceOf,
} from '../text/index.js';

/** Where a fact comes from: an explicit write of a caller, or an extractor. */
export type FactOrigin = 'CALLER' | 'RULES' | 'OPENAI';

export const FACT_TIERS = ['EPISODIC', 'SEMANTIC', 'PROCEDURAL', 'WORKING'] as const;
export type FactTier = (typeof FACT_TIERS)[number];

/** A fact as somebody states it, before anything is checked. */
export interface FactDraft {
  readonly text: string;
  readonly kind: FactKind;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly origin: FactOrigin;
  /** When it was said, by the message's time: what the gap of a repetition is measured from (SPEC §4.2). */
  readonly saidAt: Date;
  readonly tier?: FactTier;
  readonly subject?: string | null;
  readonly predicate?: string | null;
  readonly object?: string | null;
  readonly entities?: readonly string[];
  /** Relations that it states; both ends are among its entities. */
  readonly relations?: readonly {
    readonly source: string;
    readonly relation: string;
    readonly target: string;
  }[];
  readonly confidence?: number;
  readonly metadata?: unknown;
  readonly hints?: Omit<OfferedHints, 'sentiment'>;
  readonly validFrom?: Date | null;
  readonly validTo?: Date | null;
  readonly sessionId?: string | null;
  readonly runId?: string | null;
  readonly sourceMessageIds?: readonly string[];
  /**
   * The live fact of the same scope that this one replaces: it counts no longer, neither as a neighbour nor in its
   * budget; its pin goes over to the new one. Not live any more: the draft is refused as TARGET.
   */
  readonly replaces?: { readonly id: string } | null;
}

/** A draft that passed the checks, with everything that is computed outside of a transaction. */
export interface PreparedFact {
  readonly draft: FactDraft;
  readonly text: string;
  readonly textHash: Uint8Array<ArrayBuffer>;
  readonly characters: number;
  readonly terms: readonly { readonly term: bigint; readonly count: number }[];
  readonly length: number;
  readonly embedding: Float32Array | null;
  readonly hints: ResolvedHints;
  readonly entities: readonly { readonly name: string; readonly key: Uint8Array<ArrayBuffer> }[];
  /** By the keys of entities; none when left out. */
  readonly relations?: readonly {
    readonly source: Uint8Array<ArrayBuffer>;
    readonly relation: string;
    readonly target: Uint8Array<ArrayBuffer>;
  }[];
}

/** Why a draft may not be stored. `path` leads to the part at fault; the reason never holds the text. */
export interface DraftRefusal {
  readonly category: string;
  readonly reason: string;
  readonly path: InputPath;
  /** Figures of a budget that has no room. */
  readonly budget?: {
    readonly group: string;
    readonly limit: number;
    readonly current: number;
    readonly requested: number;
  };
}

/** Longest name of an entity, subject, predicate or object, in characters. */
export const NAME_CHARACTERS = 200;
/** Most entities of one fact. */
export const MAX_ENTITIES = 32;

type Deps = Pick<Services, 'embedding' | 'log'>;

/**
 * Checks drafts and computes what their write needs: hash, terms, vector, hints (SPEC §2.4, §2.5). No transaction is
 * open meanwhile. One answer for each draft, in order. A fact at which the encoder fails has no vector.
 */
export async function prepareFacts(
  deps: Deps,
  tenant: TenantContext,
  content: Content,
  drafts: readonly FactDraft[],
): Promise<(PreparedFact | DraftRefusal)[]> {
  const checked = drafts.map((draft) => {
    const text = draft.text.normalize('NFC').trim();
    return { draft, text, refusal: refusalOf(draft, text, factCharacterLimit(tenant.settings)) };
  });
  const passed = checked.filter((one) => one.refusal === null);
  const { vectors, failed, code } = await embedLeniently(
    passed.map((one) => one.text),
    (texts) => deps.embedding.embed(texts),
  );
  if (failed > 0)
    deps.log.warn({ tenantId: tenant.id, facts: failed, code }, 'the encoder failed: facts get no vector');
  const vectorOf = new Map(passed.map((one, place) => [one, vectors[place] ?? null]));
  return checked.map((one) => {
    if (one.refusal) return one.refusal;
    const { terms, length } = analyzeDocument(one.text);
    return {
      draft: one.draft,
      text: one.text,
      textHash: content.hash('fact-text', normalizeFactText(one.text)),
      characters: countCharacters(one.text),
      terms: terms.map(({ term, count }) => ({ term: content.term(term), count })),
      length,
      embedding: vectorOf.get(one) ?? null,
      hints: resolveHints({ ...one.draft.hints, sentiment: { valence: valenceOf(one.text) } }),
      entities: namesOf(content, one.draft.entities ?? []),
      relations: (one.draft.relations ?? []).map(({ source, relation, target }) => ({
        source: entityKey(content, source),
        relation,
        target: entityKey(content, target),
      })),
    };
  });
}

/** Whether `prepareFacts` refused a draft. */
export function isRefusal(result: PreparedFact | DraftRefusal): result is DraftRefusal {
  return 'category' in result;
}

function refusalOf(draft: FactDraft, text: string, limit: number): DraftRefusal | null {
  const refusal = checkContent(text, limit);
  if (refusal) return { ...refusal, path: ['text'] };
  for (const field of ['subject', 'predicate', 'object'] as const) {
    const value = draft[field];
    const fault = value == null ? null : checkContent(value, NAME_CHARACTERS);
    if (fault) return { ...fault, path: [field] };
  }
  const entities = draft.entities ?? [];
  if (entities.length > MAX_ENTITIES) {
    return {
      category: 'TOO_LONG',
      reason: `a fact may name at most ${MAX_ENTITIES} entities, not ${entities.length}`,
      path: ['entities'],
    };
  }
  for (const [index, name] of entities.entries()) {
    const fault = checkContent(name, NAME_CHARACTERS);
    if (fault) return { ...fault, path: ['entities', index] };
  }
  for (const [index, { relation }] of (draft.relations ?? []).entries()) {
    const fault = checkContent(relation, NAME_CHARACTERS);
    if (fault) return { ...fault, path: ['relations', index] };
  }
  if (draft.metadata != null) {
    const fault = metadataFault(draft.metadata, limit);
    if (fault) return { ...fault, path: ['metadata'] };
  }
  return null;
}

/**
 * Metadata as long as a text may be, and each of its names and texts like one: as JSON their lines would not begin where
 * they do, nor their control characters be there.
 */
function metadataFault(metadata: unknown, limit: number): Refusal | null {
  const json = JSON.stringify(metadata);
  const texts: string[] = [];
  JSON.parse(json, (name, value: unknown) => {
    if (name !== '') texts.push(name);
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  const joined = texts.join('\n\n');
  return checkContent(json, limit) ?? (joined.trim() === '' ? null : checkContent(joined, joined.length));
}

/** Entities by their keys, each once, in the order of mention. */
function namesOf(content: Content, names: readonly string[]): PreparedFact['entities'] {
  const byKey = new Map<string, { name: string; key: Uint8Array<ArrayBuffer> }>();
  for (const name of names) {
    const trimmed = name.normalize('NFC').trim();
    const key = entityKey(content, trimmed);
    const place = hexOf(key);
    if (!byKey.has(place)) byKey.set(place, { name: trimmed, key });
  }
  return [...byKey.values()];
}

function entityKey(content: Content, name: string): Uint8Array<ArrayBuffer> {
  return content.hash('entity-name', normalizeFactText(name.normalize('NFC').trim()));
}

/** A draft's world times. @throws BadInputError when it ends before it begins */
export function checkValidity(validFrom: Date | null | undefined, validTo: Date | null | undefined): void {
  if (validFrom && validTo && validTo <= validFrom)
    throw new BadInputError('validTo must be after validFrom', ['validTo']);
}
