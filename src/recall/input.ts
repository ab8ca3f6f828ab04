import { BadInputError, ForbiddenError, NotFoundError } from '../errors.js';
import { isUuid } from '../ids.js';
import { resolveContext, type TenantActor } from '../tenancy/index.js';
import type { FactKind } from '../text/index.js';

/** What may be found: facts, and the raw messages that extraction cannot replace. */
export const RECALL_SOURCES = ['FACT', 'MESSAGE'] as const;
export type RecallSource = (typeof RECALL_SOURCES)[number];

/** Whether being recalled strengthens a fact (LEARN), or changes nothing at all (OBSERVE) (SPEC §6.2, §8). */
export const RECALL_MODES = ['LEARN', 'OBSERVE'] as const;
export type RecallMode = (typeof RECALL_MODES)[number];

export const DEFAULT_K = 20;
export const MAX_K = 200;
/** Longest query, in code points. */
export const MAX_QUERY_CHARACTERS = 16_000;

/** What a caller asks for (SPEC §8). Null is as good as absent. */
export interface RecallInput {
  /** Any text. Absent, blank or without a letter or digit: the most important facts. */
  readonly query?: string | null;
  /** UUIDs of the context; an agent's or user's own is filled in. */
  readonly agentId?: string | null;
  readonly userId?: string | null;
  /** Most items: 1 to 200, 20 by default. */
  readonly k?: number | null;
  /** Most characters of all items together, ≥ 1; by default the tenant's, if it has set one. */
  readonly charBudget?: number | null;
  /** Facts of these kinds only. Messages have none: they are then left out unless `sources` names them. */
  readonly kinds?: readonly FactKind[] | null;
  /** Both by default. Without a query: facts, and messages only where MESSAGE alone is asked for. */
  readonly sources?: readonly RecallSource[] | null;
  /** LEARN by default for agents and users, OBSERVE for everybody else. */
  readonly mode?: RecallMode | null;
  readonly validAt?: Date | null;
  readonly knownAt?: Date | null;
  /** Whether messages that the threat scan flagged are returned; not by default. */
  readonly includeFlagged?: boolean | null;
}

/** The input, checked, with every default filled in. */
export interface RecallRequest {
  /** Null where there is nothing to search for. */
  readonly query: string | null;
  readonly agentId: string | null;
  readonly userId: string | null;
  /** Whether what the agent shares among all its users is visible: not to a user, see `readRange`. */
  readonly agentShared: boolean;
  readonly k: number;
  readonly charBudget: number | null;
  readonly kinds: readonly FactKind[] | null;
  readonly facts: boolean;
  readonly messages: boolean;
  readonly mode: RecallMode;
  readonly validAt: Date | null;
  readonly knownAt: Date | null;
  readonly includeFlagged: boolean;
}

/**
 * @throws BadInputError naming the field and its limit
 * @throws ForbiddenError when an agent or a user asks for another one, or an auditor for LEARN
 * @throws NotFoundError for an agent or user id that cannot be one
 */
export function recallRequest(actor: TenantActor, input: RecallInput): RecallRequest {
  const context = resolveContext(actor, input);
  for (const field of ['agentId', 'userId'] as const) {
    const id = context[field];
    if (id !== null && !isUuid(id)) throw new NotFoundError(field === 'agentId' ? 'Agent' : 'User', [field]);
  }
  const query = queryOf(input.query ?? '');
  const kinds = input.kinds ?? null;
  return {
    query,
    ...context,
    agentShared: actor.kind !== 'USER',
    k: integer('k', input.k ?? DEFAULT_K, 1, MAX_K),
    charBudget: budgetOf(actor, input),
    kinds: kinds && nonEmpty('kinds', kinds),
    ...sourcesOf(input.sources ?? null, query, kinds),
    mode: modeOf(actor, input.mode ?? null),
    validAt: time('validAt', input.validAt ?? null),
    knownAt: time('knownAt', input.knownAt ?? null),
    includeFlagged: input.includeFlagged ?? false,
  };
}

function queryOf(text: string): string | null {
  // Code units first: counting the code points of a very long text is work in itself.
  if (text.length > 2 * MAX_QUERY_CHARACTERS || [...text].length > MAX_QUERY_CHARACTERS) {
    throw new BadInputError(`query must have at most ${MAX_QUERY_CHARACTERS} characters`, ['query']);
  }
  return /[\p{L}\p{N}]/u.test(text) ? text : null;
}

function budgetOf(actor: TenantActor, input: RecallInput): number | null {
  if (input.charBudget == null) return actor.tenant.settings.budgets?.recallCharacters ?? null;
  return integer('charBudget', input.charBudget, 1, Number.MAX_SAFE_INTEGER);
}

function sourcesOf(
  asked: readonly RecallSource[] | null,
  query: string | null,
  kinds: readonly FactKind[] | null,
): { facts: boolean; messages: boolean } {
  if (asked === null) return { facts: true, messages: query !== null && kinds === null };
  nonEmpty('sources', asked);
  const facts = asked.includes('FACT');
  return { facts, messages: asked.includes('MESSAGE') && (query !== null || !facts) };
}

function modeOf(actor: TenantActor, asked: RecallMode | null): RecallMode {
  if (asked === 'LEARN' && actor.kind === 'TENANT_AUDITOR') {
    throw new ForbiddenError('An auditor reads only: mode must be OBSERVE', ['mode']);
  }
  return asked ?? (actor.kind === 'AGENT' || actor.kind === 'USER' ? 'LEARN' : 'OBSERVE');
}

function integer(field: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
    throw new BadInputError(`${field} must be a whole number, ${range}`, [field]);
  }
  return value;
}

function nonEmpty<T>(field: string, values: readonly T[]): readonly T[] {
  if (values.length === 0)
    throw new BadInputError(`${field} must name at least one, or be left out`, [field]);
  return values;
}

function time(field: string, value: Date | null): Date | null {
  if (value !== null && Number.isNaN(value.getTime())) {
    throw new BadInputError(`${field} must be a valid time`, [field]);
  }
  return value;
}
