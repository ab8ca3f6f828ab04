import { BadInputError, BudgetExceededError, ContentRefusedError, SalientError } from '../errors.js';
import type { DraftRefusal } from './draft.js';

/** Most items of one request. */
export const MAX_BATCH = 200;

/** An item that could not even be read, as an id that is none; the others are not concerned. */
export class UnreadableItem {
  /** @param given what the caller sent, by which a repeated request is known again */
  constructor(
    readonly error: SalientError,
    readonly given: unknown,
  ) {}
}

/** @throws BadInputError for too many items, or none */
export function checkBatch(items: readonly unknown[], field: string): void {
  if (items.length < 1 || items.length > MAX_BATCH)
    throw new BadInputError(`${field} must be from 1 to ${MAX_BATCH}, not ${items.length}`, [field]);
}

/** The result of `work`, or the fault that the caller made; what is nobody's fault is thrown. */
export function orFault<T>(work: () => T): T | SalientError {
  try {
    return work();
  } catch (error) {
    if (error instanceof SalientError && !error.retryable) return error;
    throw error;
  }
}

/** A refusal as the error that a caller is told. */
export function errorOfRefusal(refusal: DraftRefusal): SalientError {
  if (!refusal.budget) return new ContentRefusedError(refusal.category, refusal.reason, refusal.path);
  const { group, limit, current, requested } = refusal.budget;
  return new BudgetExceededError(group, limit, current, requested, refusal.path);
}

/** An error as it is kept with the reply to a request that may be sent again. Errors hold no content. */
export type KeptError = {
  readonly code: string;
  readonly message: string;
  readonly path: readonly (string | number)[];
  readonly category?: string;
  readonly budget?: { group: string; limit: number; current: number; requested: number };
};

export function keepError(error: SalientError): KeptError {
  const { code, message, inputPath: path } = error;
  if (error instanceof ContentRefusedError) return { code, message, path, category: error.category };
  if (!(error instanceof BudgetExceededError)) return { code, message, path };
  const { group, limit, current, requested } = error;
  return { code, message, path, budget: { group, limit, current, requested } };
}

export function keptError({ code, message, path, category, budget }: KeptError): SalientError {
  if (category !== undefined) return new ContentRefusedError(category, message, path);
  if (!budget) return new SalientError(code as SalientError['code'], message, path);
  return new BudgetExceededError(budget.group, budget.limit, budget.current, budget.requested, path);
}
