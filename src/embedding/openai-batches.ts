import { normalise } from './vector.js';

/** Most texts and characters of one request: servers take 2,048 and 300,000 tokens at most, and small ones time out. */
const BATCH_TEXTS = 128;
const BATCH_CHARACTERS = 48_000;

/** Texts in batches, in their order; none for no text. */
export function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    const full = batch.length === BATCH_TEXTS || characters + text.length > BATCH_CHARACTERS;
    if (full && batch.length > 0) {
      batches.push(batch);
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/**
 * The vectors of an answer, made unit-length, in the order of the texts, which is that of their `index` and not
 * necessarily of the answer.
 * @returns null unless there is exactly one vector with direction, of this length, for each text
 */
export function checkedVectors(answer: unknown, count: number, dimensions: number): Float32Array[] | null {
  const { data } = (answer ?? {}) as { data?: unknown };
  if (!Array.isArray(data) || data.length !== count) return null;
  const vectors = new Array<Float32Array | undefined>(count);
  for (const [place, item] of data.entries()) {
    const { index = place, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) return null;
    if (!Array.isArray(embedding) || embedding.length !== dimensions) return null;
    if (!embedding.every((one) => typeof one === 'number')) return null;
    const unit = normalise(embedding as number[]);
    if (unit === null || vectors[index] !== undefined) return null;
    vectors[index] = unit;
  }
  return vectors as Float32Array[];
}
