import { describe, expect, test } from 'vitest';
import { ConfigError, createConfig, readEnvironment } from '../../src/config/index.js';
import { createEmbeddingProvider, embeddingConfigOf } from '../../src/embedding/index.js';
import { createExtractor } from '../../src/extraction/index.js';

const configOf = (env: Record<string, string>) => createConfig(readEnvironment(env));
const faultOf = (env: Record<string, string>): string => {
  try {
    configOf(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('it must be refused');
};

describe('the extractor', () => {
  test('is that of the rules unless the configuration says otherwise, and needs nothing', () => {
    expect(createExtractor(configOf({})).name).toBe('RULES');
  });

  test('openai needs a model, and a key where the endpoint is OpenAI’s own', () => {
    const env = { SALIENT_EXTRACTOR: 'openai' };
    expect(faultOf(env)).toMatch(/OPENAI_MODEL: must name the model/);
    expect(faultOf({ ...env, OPENAI_MODEL: 'm' })).toMatch(/^OPENAI_API_KEY: must be set/);
    expect(createExtractor(configOf({ ...env, OPENAI_MODEL: 'm', OPENAI_API_KEY: 'k' })).name).toBe('OPENAI');
    const local = { ...env, OPENAI_MODEL: 'm', OPENAI_BASE_URL: 'http://localhost:11434/v1/' };
    expect(configOf(local).openaiBaseUrl).toBe('http://localhost:11434/v1');
    expect(createExtractor(configOf(local)).name).toBe('OPENAI');
  });

  test.each([
    ['OPENAI_BASE_URL', 'localhost:11434'],
    ['OPENAI_BASE_URL', 'ftp://localhost/v1'],
    ['OPENAI_BASE_URL', 'https://sam:secret-word@host/v1'],
    ['OPENAI_TIMEOUT', '0'],
    ['OPENAI_TIMEOUT', '601'],
    ['OPENAI_INPUT_PRICE', '-1'],
    ['OPENAI_EMBEDDING_DIMENSIONS', '4001'],
    ['OPENAI_EMBEDDING_CALIBRATION', '0.5'],
    ['OPENAI_EMBEDDING_CALIBRATION', '0.5:0.6, 0.4:0.7'],
    ['OPENAI_EMBEDDING_CALIBRATION', '0.5:secret-word'],
  ])('%s=%s is refused by the name of the variable, without its value', (name, value) => {
    const fault = faultOf({ [name]: value });
    expect(fault).toMatch(new RegExp(`^${name}: `));
    expect(fault).not.toContain('secret-word');
  });

  test('one price alone is refused', () => {
    expect(faultOf({ OPENAI_INPUT_PRICE: '1' })).toMatch(/^OPENAI_OUTPUT_PRICE: /);
    expect(faultOf({ OPENAI_OUTPUT_PRICE: '1' })).toMatch(/^OPENAI_INPUT_PRICE: /);
  });
});

describe('embeddings', () => {
  const env = { SALIENT_EMBEDDING: 'openai', OPENAI_API_KEY: 'k' };

  test('openai has defaults for models that are known', async () => {
    await using provider = await createEmbeddingProvider(embeddingConfigOf(configOf(env)));
    expect(provider).toMatchObject({ model: 'openai/text-embedding-3-small/512', dimensions: 512 });
    expect(provider.similarity.knots[0]).toEqual([0, 0]);
    expect(faultOf({ SALIENT_EMBEDDING: 'openai' })).toMatch(/^OPENAI_EMBEDDING_API_KEY: or OPENAI_API_KEY/);
  });

  test('of any other model need its dimensions and a calibration', async () => {
    const other = { ...env, OPENAI_EMBEDDING_MODEL: 'nomic-embed-text' };
    const created = (more: Record<string, string>) =>
      createEmbeddingProvider(embeddingConfigOf(configOf({ ...other, ...more })));
    await expect(created({})).rejects.toThrow(/^OPENAI_EMBEDDING_DIMENSIONS: /);
    await expect(created({ OPENAI_EMBEDDING_DIMENSIONS: '768' })).rejects.toThrow(
      /^OPENAI_EMBEDDING_CALIBRATION: /,
    );
    await using provider = await created({
      OPENAI_EMBEDDING_DIMENSIONS: '768',
      OPENAI_EMBEDDING_CALIBRATION: '0.6:0.5, 0.7:0.7, 0.9:0.75',
    });
    expect(provider.model).toBe('openai/nomic-embed-text/768');
    expect(provider.similarity.knots).toEqual([
      [0, 0],
      [0.6, 0.5],
      [0.7, 0.7],
      [0.9, 0.75],
      [1, 1],
    ]);
  });

  test('longer vectors than a model has are refused', async () => {
    const config = configOf({ ...env, OPENAI_EMBEDDING_DIMENSIONS: '2000' });
    await expect(createEmbeddingProvider(embeddingConfigOf(config))).rejects.toThrow(
      /^OPENAI_EMBEDDING_DIMENSIONS: the model has 1536/,
    );
  });

  test('may come from another server than the one that extracts', () => {
    const config = configOf({
      ...env,
      OPENAI_EMBEDDING_BASE_URL: 'http://localhost:8080/v1',
      OPENAI_EMBEDDING_API_KEY: 'other',
    });
    expect(embeddingConfigOf(config)).toMatchObject({ baseUrl: 'http://localhost:8080/v1', apiKey: 'other' });
    expect(config.openaiBaseUrl).toBe('https://api.openai.com/v1');
  });
});
