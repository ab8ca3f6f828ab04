/**
 * How good or bad a text is for whom it tells of (SPEC §4.4, valence), by VADER: a lexicon with rules for
 * negation, degree and contrast. It knows English only; for all else it has nothing to say.
 */

import vader from 'vader-sentiment';

/** Longer texts are judged by their beginning. Facts are shorter. */
const LONGEST_JUDGED = 5_000;

/**
 * Turns of speech that the lexicon reads word by word, with a word in their place that it reads rightly:
 * idioms of engineering that sound violent, and idioms of life that name no feeling.
 */
const IDIOMS: readonly (readonly [RegExp, string])[] = [
  [
    /\bkill(?:s|ed|ing)? (?=(?:the |a |all |any |-9 )?(?:\w+ )?(?:process|port|job|session|container|pod|server|query|task)(?:e?s)?\b)/gi,
    'end ',
  ],
  [/\bkiller (?=feature|app)/gi, 'great '],
  [/\bcritical (?=path|section|css)/gi, 'main '],
  [/\bdead (?=code|letter|lock)/gi, 'unused '],
  [/\b(?:no|without (?:a |any )?) ?(?:problem|problems|issue|issues|trouble|complaints)\b/gi, 'fine'],
  [/\b(?:force|dry|fast|brute)[ -](?=push|run|forward|force)/gi, ''],
  [/\bpass(?:ed|es|ing)? away\b/gi, 'died'],
  [/\b(?:can't|cannot|can not|couldn't) (?:stand|bear|tolerate)\b/gi, 'hate'],
  [/\bdiagnosed with\b/gi, 'suffering from'],
  [/\b(?:got|was|were|been|being) (?:fired|laid off|dumped|evicted)\b/gi, 'suffered'],
  [/\b(?:graduated|got (?:engaged|married|promoted|the job)|was promoted)\b/gi, 'happy'],
  [/\b(?:divorced|got divorced|broke up|split up|miscarriage|miscarried)\b/gi, 'sad'],
];

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * The valence of a text, −1 (bad) … 1 (good): the mean over those of its sentences that say anything, since a
 * score over a whole text saturates with its length. 0 when none does.
 */
export function valenceOf(text: string): number {
  let sum = 0;
  let count = 0;
  const judged = text
    .normalize('NFKC')
    .slice(0, LONGEST_JUDGED)
    .replace(/[\u2018\u2019\u02bc]/g, "'");
  for (const { segment } of sentences.segment(judged)) {
    const score = scoreOf(
      IDIOMS.reduce((sentence, [idiom, plain]) => sentence.replace(idiom, plain), segment),
    );
    if (score === 0) continue;
    sum += score;
    count += 1;
  }
  return count === 0 ? 0 : Math.max(-1, Math.min(1, sum / count));
}

/** The library fails on texts of punctuation alone; they say nothing. */
function scoreOf(sentence: string): number {
  if (!/\p{L}|\p{N}|[:;=][-']?[()dp]/iu.test(sentence)) return 0;
  const { compound } = vader.SentimentIntensityAnalyzer.polarity_scores(sentence);
  return Number.isFinite(compound) ? compound : 0;
}
