export {
  FACT_KINDS,
  type FactKind,
  isNearDuplicate,
  kindFromLabel,
  normalizeFactText,
} from '../extraction/fact-text.js';
export { valenceOf } from '../extraction/sentiment.js';
export { analyzeDocument, analyzeQuery, type LexicalTerm } from '../recall/lexical-analysis.js';
export {
  checkContent,
  type Refusal,
  type RefusalCategory,
  scanMessage,
} from '../extraction/content-check.js';
