/** What is read of a statement to tell whether it is a conclusion without its reason. */
export interface Conclusion {
  readonly kind: string;
  readonly predicate?: string | null | undefined;
  readonly object?: string | null | undefined;
  readonly text: string;
}

/** NONE: not a decision or convention; REASONED: it says why; BARE: it does not (SPEC §10). */
export type ConclusionStanding = 'NONE' | 'REASONED' | 'BARE';

/** Kinds, and predicates in their lower-case spelling, that should say why. */
const GUARDED_KINDS: ReadonlySet<string> = new Set(['DECISION', 'CONVENTION']);
const GUARDED_PREDICATES: ReadonlySet<string> = new Set(['decision', 'convention']);

/** Any one of these, anywhere, in whatever case: whole words, any white space between them. */
const REASON_SIGNALS: readonly RegExp[] = [
  'because',
  'so that',
  'so the',
  'so we',
  'in order to',
  'to avoid',
  'to prevent',
  'to ensure',
  'to support',
  'to allow',
  'to enable',
  'to make',
  'to fix',
  'to handle',
  'caused by',
  'breaks when',
  'due to',
  'otherwise',
  'without (?:which|this|it)',
].map((words) => new RegExp(`\\b${words.replaceAll(' ', '\\s+')}\\b`, 'i'));

/**
 * Whether a statement is a decision or convention, by its predicate or kind: one that should say why. All others carry
 * their meaning in what they say: "uses SQLite" needs no reason.
 */
export function isGuarded({ kind, predicate }: Pick<Conclusion, 'kind' | 'predicate'>): boolean {
  return GUARDED_KINDS.has(kind) || GUARDED_PREDICATES.has(predicate?.trim().toLowerCase() ?? '');
}

/** Whether a text gives a reason: it holds one of the signals. */
export function givesReason(text: string): boolean {
  return REASON_SIGNALS.some((signal) => signal.test(text));
}

/**
 * How a statement stands as a conclusion. What is read for a reason is its object, which is the conclusion where there is
 * one, else its text; where that is blank, nothing was concluded. Pure.
 */
export function standingOf(statement: Conclusion): ConclusionStanding {
  if (!isGuarded(statement)) return 'NONE';
  const concluded = statement.object ?? statement.text;
  return concluded.trim() === '' || givesReason(concluded) ? 'REASONED' : 'BARE';
}

/** Whether a statement is a decision or convention that does not say why (SPEC §10). Pure. */
export function isBareConclusion(statement: Conclusion): boolean {
  return standingOf(statement) === 'BARE';
}
