/**
 * A number handed to the salience functions is missing, not finite, or outside the range that its rule
 * allows. It always means a fault in the caller (an unnormalised vector, an arithmetic fault, a profile that
 * was not validated), so it is never retried. The message names the field and the number, never any content.
 */
export class SalienceInputError extends RangeError {
  readonly code = 'INVALID_SALIENCE_INPUT';
  readonly retryable = false;

  /**
   * @param field path of the offending value, such as `inputs.distance` or `profile.topics[2].similarity`
   * @param problem what is wrong with it, in words
   */
  constructor(
    readonly field: string,
    problem: string,
  ) {
    super(`${field} ${problem}`);
    this.name = 'SalienceInputError';
  }
}
