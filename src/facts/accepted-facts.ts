import { l2Distance } from '../embedding/index.js';
import { DuplicateIndex } from '../text/index.js';
import type { PlacedFact } from './plan.js';

interface Accepted {
  readonly fact: PlacedFact;
  readonly place: number;
}

/** The statements that a write has accepted so far, as the later ones of the same write are compared with them. */
export class AcceptedFacts {
  /** By scope and kind. */
  readonly #texts = new Map<string, DuplicateIndex<Accepted>>();
  /** The first repetition of a stored fact, by its id. */
  readonly #repetitions = new Map<string, number>();
  /** New facts with a vector, by scope. */
  readonly #vectors = new Map<number, { readonly embedding: Float32Array; readonly saidAt: Date }[]>();

  add(fact: PlacedFact, place: number): void {
    const { prepared, duplicate, scopeId } = fact;
    const group = groupOf(fact);
    const texts = this.#texts.get(group) ?? new DuplicateIndex<Accepted>();
    this.#texts.set(group, texts);
    texts.add(prepared.text, { fact, place });
    if (duplicate) {
      if (!this.#repetitions.has(duplicate.id)) this.#repetitions.set(duplicate.id, place);
    } else if (prepared.embedding) {
      const vectors = this.#vectors.get(scopeId) ?? [];
      this.#vectors.set(scopeId, vectors);
      vectors.push({ embedding: prepared.embedding, saidAt: prepared.draft.saidAt });
    }
  }

  /**
   * The place of the first statement that says the same: equal or alike, or a repetition of the same stored fact. Two
   * repetitions of different stored facts are not the same, however alike.
   */
  firstLike(fact: PlacedFact): number | undefined {
    const { duplicate } = fact;
    const like = this.#texts
      .get(groupOf(fact))
      ?.first(fact.prepared.text, ({ fact: { duplicate: other } }) => !duplicate || !other)?.place;
    const again = duplicate ? this.#repetitions.get(duplicate.id) : undefined;
    return like === undefined || again === undefined ? (like ?? again) : Math.min(like, again);
  }

  /** The nearest new fact of a scope, if it is nearer than `limit`: L2 distance of unit vectors. */
  nearest(
    scopeId: number,
    embedding: Float32Array,
    limit: number,
  ): { readonly distance: number; readonly lastSeenAt: Date } | null {
    let nearest: { distance: number; lastSeenAt: Date } | null = null;
    for (const { embedding: other, saidAt } of this.#vectors.get(scopeId) ?? []) {
      const distance = l2Distance(embedding, other);
      if (distance < (nearest?.distance ?? limit)) nearest = { distance, lastSeenAt: saidAt };
    }
    return nearest;
  }
}

function groupOf({ scopeId, prepared }: PlacedFact): string {
  return `${scopeId}/${prepared.draft.kind}`;
}
