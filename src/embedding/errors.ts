/**
 * - `ENCODER_FAILED`: the encoder stopped before it answered; the next request starts it again (retryable).
 * - `ENCODER_REFUSED`: the encoder answered that it cannot do this; trying again gives the same.
 * - `ENCODER_CLOSED`: the provider was disposed.
 */
export type EmbeddingErrorCode = 'ENCODER_FAILED' | 'ENCODER_REFUSED' | 'ENCODER_CLOSED';

/** Thrown by every method of a provider. Its message never contains the text that was to be embedded. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
  readonly code: EmbeddingErrorCode;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;

  constructor(code: EmbeddingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryable = code === 'ENCODER_FAILED';
  }
}
