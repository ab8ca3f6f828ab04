import type { Config } from '../config/index.js';
import type { Extractor } from './extractor.js';
import { createOpenAIExtractor } from './openai-extractor.js';
import { createRulesExtractor } from './rules-extractor.js';

/** Creates the extractor that the configuration names (SPEC §2.3). */
export function createExtractor(config: Config): Extractor {
  if (config.extractor === 'rules') return createRulesExtractor();
  const { openaiInputPrice: input, openaiOutputPrice: output } = config;
  return createOpenAIExtractor({
    baseUrl: config.openaiBaseUrl,
    apiKey: config.openaiApiKey,
    // Its absence was refused with the rest of the configuration.
    model: config.openaiModel as string,
    timeout: config.openaiTimeout * 1_000,
    prices: input === undefined || output === undefined ? undefined : { input, output },
  });
}
