export type { ExtractedFact, Extractor, ExtractorInput, ExtractorOutput } from './extractor.js';
export { isSalient } from './gate.js';
export type { RunRefusal } from './outcomes.js';
export { createRulesExtractor } from './rules-extractor.js';
export { type MiningResult, mineSession } from './runner.js';
