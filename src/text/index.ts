/** What is read from a text, without database or clock: its words, what may not be stored, its tone, its sameness. */
export { countCharacters } from './characters.js';
export { checkContent, type Refusal, type RefusalCategory, scanMessage } from './content-check.js';
export { DuplicateIndex } from './duplicate-index.js';
export { FACT_KINDS, type FactKind, isNearDuplicate, kindFromLabel, normalizeFactText } from './fact-text.js';
export {
  analyzeDocument,
  analyzeFilter,
  analyzeQuery,
  type LexicalTerm,
  type QueryWord,
} from './lexical-analysis.js';
export { MONTHS } from './months.js';
export { namePhrases } from './name-phrases.js';
export { type PossibleName, possibleNames } from './names.js';
export { segmentWords } from './segment.js';
export { valenceOf } from './sentiment.js';
export { endsByAsking, QUESTION_MARK, speakerMark, turnMarks } from './turn-marks.js';
