export type { ExtractedFact, Extractor, ExtractorInput, ExtractorOutput } from './extractor.js';
export { isSalient } from './gate.js';
export { createRulesExtractor } from './rules-extractor.js';
export { type MiningResult, mineSession, type RunRefusal } from './runner.js';
