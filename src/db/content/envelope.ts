/**
 * Content columns hold an envelope: one format byte, then the payload. Format 0 is plain UTF-8. Encryption adds
 * formats; no table changes, and rows of several formats live side by side while keys rotate.
 */
const PLAIN = 0;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Wraps a text for a content column. The text must be well-formed Unicode. */
export function seal(text: string): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(text);
  const envelope = new Uint8Array(bytes.length + 1);
  envelope[0] = PLAIN;
  envelope.set(bytes, 1);
  return envelope;
}

/** Reads an envelope. Throws on an unknown format: a newer Salient wrote it. */
export function open(envelope: Uint8Array): string {
  if (envelope[0] !== PLAIN) throw new Error(`content envelope of unknown format ${envelope[0]}`);
  return decoder.decode(envelope.subarray(1));
}

/** `seal` for optional columns: null and undefined stay null. */
export function sealOptional(text: string | null | undefined): Uint8Array<ArrayBuffer> | null {
  return text == null ? null : seal(text);
}

/** `open` for optional columns. */
export function openOptional(envelope: Uint8Array | null | undefined): string | null {
  return envelope == null ? null : open(envelope);
}
