import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createConfig, readEnvironment } from '../../src/config/index.js';
import {
  createEmbeddingProvider,
  type EmbeddingConfig,
  embeddingConfigOf,
} from '../../src/embedding/index.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/language-models.md');

describe('docs/language-models.md', () => {
  test('names settings that there are', () => {
    const known = new Set(
      [...read('src/config/env.ts').matchAll(/read\('(\w+)'\)/g)].map(([, name]) => name),
    );
    const named = new Set([...page.matchAll(/`((?:OPENAI|SALIENT)_\w+)/g)].map(([, name]) => name));
    expect(named.size).toBeGreaterThan(8);
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
  });

  test('tells every code with which an extractor fails', () => {
    const source = read('src/extraction/extractor.ts');
    const union = source.slice(source.indexOf('export type ExtractorErrorCode'));
    const codes = [...union.matchAll(/'(EXTRACTOR_\w+)'/g)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
  });

  test('has a configuration for scripts/calibrate.mjs that makes a provider', async () => {
    const json = /calibrate\.mjs '(\{.*\})'/.exec(page)?.[1];
    await using provider = await createEmbeddingProvider(JSON.parse(json ?? '') as EmbeddingConfig);
    expect(provider).toMatchObject({ model: 'openai/nomic-embed-text/768', dimensions: 768 });
  });

  test('gives the starting point of the calibration that is built in', async () => {
    const knots = /starting point, `([\d.:, ]+)`/.exec(page)?.[1];
    const env = { SALIENT_EMBEDDING: 'openai', OPENAI_API_KEY: 'k' };
    const providerOf = (more: Record<string, string>) =>
      createEmbeddingProvider(embeddingConfigOf(createConfig(readEnvironment({ ...env, ...more }))));
    await using built = await providerOf({});
    await using told = await providerOf({ OPENAI_EMBEDDING_CALIBRATION: knots ?? '' });
    expect(told.similarity.knots).toEqual(built.similarity.knots);
    expect(built.dimensions).toBe(512);
  });
});
