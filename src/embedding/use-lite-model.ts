/** Name of the bundled model: the encoder, the language of its weights, and the package's version. */
export const USE_LITE_MODEL = 'bundled/use-lite-en-0.2';

/** Length of the bundled model's vectors. */
export const USE_LITE_DIMENSIONS = 512;
