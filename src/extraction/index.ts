export { createExtractor } from './create-extractor.js';
export {
  type ExtractedFact,
  type Extractor,
  ExtractorError,
  type ExtractorInput,
  type ExtractorOutput,
} from './extractor.js';
export { isSalient } from './gate.js';
export { createOpenAIExtractor, type OpenAIExtractorOptions } from './openai-extractor.js';
export type { RunRefusal } from './outcomes.js';
export { retryExtraction } from './retry.js';
export { createRulesExtractor } from './rules-extractor.js';
export { mineSession } from './runner.js';
export type { MiningResult } from './settle.js';
