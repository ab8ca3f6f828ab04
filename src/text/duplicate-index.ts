import { readStatement, type StatementWords, sayTheSame } from './fact-guards.js';
import { NEAR_DUPLICATE_JACCARD, normalizeFactText } from './fact-text.js';

/**
 * Statements that are asked for those that say the same (`isNearDuplicate`), without comparing each with each: a text
 * is read once, equal ones are found by their text, and only what shares enough words is compared.
 */
export class DuplicateIndex<T> {
  readonly #entries: { readonly value: T; readonly statement: StatementWords }[] = [];
  readonly #byText = new Map<string, number[]>();
  readonly #byWord = new Map<string, number[]>();

  add(text: string, value: T): void {
    const statement = readStatement(text);
    const place = this.#entries.push({ value, statement }) - 1;
    put(this.#byText, normalizeFactText(text), place);
    for (const word of statement.words) put(this.#byWord, word, place);
  }

  /** Of what says the same and `fits`, the first that was added. */
  first(text: string, fits: (value: T) => boolean = () => true): T | undefined {
    const normal = normalizeFactText(text);
    if (normal === '') return undefined;
    const equal = new Set(this.#byText.get(normal));
    const statement = readStatement(text);
    const places = [...equal, ...this.#alike(statement)].sort((one, other) => one - other);
    for (const place of places) {
      const entry = this.#entries[place];
      if (!entry || !fits(entry.value)) continue;
      if (equal.has(place) || sayTheSame(entry.statement, statement, NEAR_DUPLICATE_JACCARD))
        return entry.value;
    }
    return undefined;
  }

  /** What shares so many words that its Jaccard index may be high enough. */
  #alike({ words }: StatementWords): number[] {
    const shared = new Map<number, number>();
    for (const word of words)
      for (const place of this.#byWord.get(word) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
    const enough = (place: number, common: number) => {
      const others = this.#entries[place]?.statement.words.size ?? 0;
      return common >= NEAR_DUPLICATE_JACCARD * Math.max(words.size, others);
    };
    return [...shared].flatMap(([place, common]) => (enough(place, common) ? [place] : []));
  }
}

function put(map: Map<string, number[]>, key: string, place: number): void {
  const places = map.get(key);
  if (places) places.push(place);
  else map.set(key, [place]);
}
