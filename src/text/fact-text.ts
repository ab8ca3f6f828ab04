/** What makes two facts the same text, and which kinds there are (SPEC §1, §2.4). */

import { readStatement, sayTheSame } from './fact-guards.js';

/** All kinds of facts; FACT is the default. */
export const FACT_KINDS = [
  'USER_PROFILE',
  'PREFERENCE',
  'PROJECT',
  'ENV',
  'FACT',
  'DECISION',
  'CONVENTION',
] as const;

export type FactKind = (typeof FACT_KINDS)[number];

/** Labels of extractors and imports that are not kinds themselves (SPEC §1). */
const KIND_ALIASES: Readonly<Record<string, FactKind>> = {
  PROJECT_CONTEXT: 'PROJECT',
  TECHNICAL_DECISION: 'DECISION',
  TASK_STATE: 'FACT',
  TOOL_RESULT: 'FACT',
};

/**
 * The kind that a label names. Case does not matter, nor whether words are joined by `_`, `-`, a space or
 * camel case. A label that names none gives FACT and `recognised: false`.
 */
export function kindFromLabel(label: string): { kind: FactKind; recognised: boolean } {
  const name = label
    .normalize('NFKC')
    .trim()
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .replace(/[\s_-]+/gu, '_')
    .toUpperCase();
  const kind = FACT_KINDS.find((candidate) => candidate === name) ?? aliasOf(name);
  return kind ? { kind, recognised: true } : { kind: 'FACT', recognised: false };
}

function aliasOf(name: string): FactKind | undefined {
  return Object.hasOwn(KIND_ALIASES, name) ? KIND_ALIASES[name] : undefined;
}

/** Share of common words from which two texts count as near-duplicates (SPEC §2.4). */
export const NEAR_DUPLICATE_JACCARD = 0.85;

/**
 * The text as the deduplication key sees it: NFKC, case folded, white space collapsed to single spaces.
 * Idempotent.
 */
export function normalizeFactText(text: string): string {
  return foldCase(text.normalize('NFKC'))
    .normalize('NFKC')
    .replace(/[\s\u0085]+/gu, ' ')
    .trim();
}

/**
 * Full case folding as far as facts need it. `toLowerCase` alone keeps the final sigma and the sharp s
 * apart from their capitals ("STRASSE" is "Straße", "ΟΔΟΣ" is "οδος").
 */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');
}

/**
 * Whether two facts state the same: equal after {@link normalizeFactText}, or word sets with a Jaccard index
 * ≥ 0.85 that differ in nothing that changes the statement: order, numbers, signs, negation, opposites,
 * names. When in doubt it says no: a second fact costs a line, a swallowed one is lost.
 */
export function isNearDuplicate(a: string, b: string): boolean {
  const normalA = normalizeFactText(a);
  const normalB = normalizeFactText(b);
  if (normalA === normalB) return normalA !== '';
  return sayTheSame(readStatement(a), readStatement(b), NEAR_DUPLICATE_JACCARD);
}
