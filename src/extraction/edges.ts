import { MAX_ENTITIES, NAME_CHARACTERS } from '../facts/index.js';
import { checkContent, normalizeFactText } from '../text/index.js';
import type { ExtractedEdge } from './extractor.js';
import type { Proposal } from './mine.js';

/** Most relations that one fact supports. */
const MOST_EDGES = 16;

/**
 * Gives each relation to the proposed fact that states it: an edge lives as long as a live fact supports it (SPEC §1).
 * That is the first that names both ends, else the first that names one. A relation that may not be stored is refused by
 * itself (SPEC §2.5); one that no fact names is left out, with a remark.
 * @param proposals what one window proposes; those refused already support nothing
 */
export function withEdges(
  proposals: readonly Proposal[],
  edges: readonly ExtractedEdge[],
): { readonly proposals: Proposal[]; readonly notes: string[] } {
  const all = [...proposals];
  const refused: Proposal[] = [];
  const names = all.map(({ draft }) => new Named(draft.text, draft.entities ?? []));
  let without = 0;
  for (const [index, given] of edges.entries()) {
    const edge = tidy(given);
    const place = stating(all, names, edge);
    const proposal = place === undefined ? undefined : all[place];
    if (place === undefined || !proposal) {
      without += 1;
      continue;
    }
    const fault = faultOf(edge);
    if (fault) {
      const text = `${edge.source} ${edge.relation} ${edge.target}`;
      refused.push({
        draft: { ...proposal.draft, text, relations: [], replaces: null },
        refusal: { ...fault, path: ['edges', index] },
      });
      continue;
    }
    all[place] = { ...proposal, draft: supporting(proposal.draft, edge) };
  }
  const notes = without === 0 ? [] : [`${without} relations that no fact states were left out`];
  return { proposals: [...all, ...refused], notes };
}

/** Words of a relation joined by `_`, in lower case: however it is spelled it is one. */
function tidy({ source, relation, target }: ExtractedEdge): ExtractedEdge {
  const name = (text: string) => text.normalize('NFC').replace(/\s+/gu, ' ').trim();
  return {
    source: name(source),
    relation: name(relation)
      .toLowerCase()
      .replace(/[\s_-]+/gu, '_'),
    target: name(target),
  };
}

function stating(
  proposals: readonly Proposal[],
  names: readonly Named[],
  { source, target }: ExtractedEdge,
): number | undefined {
  if (normalizeFactText(source) === normalizeFactText(target)) return undefined;
  const possible = proposals.flatMap(({ refusal, draft }, place) =>
    refusal === null && (draft.relations ?? []).length < MOST_EDGES ? [place] : [],
  );
  const naming = (place: number, name: string) => (names[place] as Named).has(name);
  return (
    possible.find((place) => naming(place, source) && naming(place, target)) ??
    possible.find((place) => naming(place, source) || naming(place, target))
  );
}

/** The draft with the relation; both ends are among what it names. */
function supporting(draft: Proposal['draft'], edge: ExtractedEdge): Proposal['draft'] {
  const known = new Set((draft.entities ?? []).map(normalizeFactText));
  const missing = [edge.source, edge.target].filter((name) => !known.has(normalizeFactText(name)));
  const entities = [...(draft.entities ?? []), ...missing];
  if (entities.length > MAX_ENTITIES) return draft;
  return { ...draft, entities, relations: [...(draft.relations ?? []), edge] };
}

function faultOf({ source, relation, target }: ExtractedEdge) {
  for (const part of [source, relation, target]) {
    const fault = checkContent(part, NAME_CHARACTERS);
    if (fault) return fault;
  }
  return checkContent(`${source} ${relation.replaceAll('_', ' ')} ${target}`, 3 * NAME_CHARACTERS);
}

/** What a statement names: its entities, and whatever stands in its text as whole words. */
class Named {
  readonly #entities: ReadonlySet<string>;
  readonly #text: string;

  constructor(text: string, entities: readonly string[]) {
    this.#entities = new Set(entities.map(normalizeFactText));
    this.#text = normalizeFactText(text);
  }

  has(name: string): boolean {
    const wanted = normalizeFactText(name);
    if (wanted === '') return false;
    if (this.#entities.has(wanted)) return true;
    const at = this.#text.indexOf(wanted);
    if (at < 0) return false;
    const edge = (character: string | undefined) =>
      character === undefined || !/[\p{L}\p{N}]/u.test(character);
    return edge(this.#text[at - 1]) && edge(this.#text[at + wanted.length]);
  }
}
