/** White space and control characters of any kind: to an encoder they are one blank. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here.
const BLANKS = /[\s\u0000-\u001f\u007f-\u009f\ufeff]+/gu;

/** In a `u` pattern the category matches lone surrogates only, never the halves of a pair. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/**
 * A text as encoders want it, and as the query cache's key: NFC, lone surrogates replaced, every run of white
 * space or control characters one blank, none at the ends. May be empty.
 */
export function normaliseText(text: string): string {
  return text.replace(LONE_SURROGATE, '\ufffd').normalize('NFC').replace(BLANKS, ' ').trim();
}
