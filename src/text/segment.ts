/** Words and sentences by `Intl.Segmenter`, in time linear in the text's length. */

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The dictionary segmenter for scripts without spaces slows down sharply beyond some ten thousand letters. */
const LONGEST_RUN = 2_000;

/** The words of a text, in order, without punctuation. Lazy. */
export function* segmentWords(text: string): Generator<string> {
  for (const [run] of text.matchAll(/\S+/gu)) {
    for (let at = 0; at < run.length; ) {
      // A slice must not end between the two halves of a character.
      const end = at + LONGEST_RUN;
      const cut = /[\ud800-\udbff]/.test(run[end - 1] ?? '') ? end - 1 : end;
      for (const { segment, isWordLike } of wordSegmenter.segment(run.slice(at, cut))) {
        if (isWordLike) yield segment;
      }
      at = cut;
    }
  }
}
