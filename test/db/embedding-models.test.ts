import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, EmbeddingDimensionsError, registerEmbeddingModel } from '../../src/db/index.js';
import { testDatabase } from '../support/database.js';

let db: Database;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

describe('an embedding model', () => {
  it('is known by its name, and refused under that name with other dimensions', async () => {
    const name = `model-${randomUUID()}`;
    const register = (dimensions: number) =>
      db.withPlatform((tx) => registerEmbeddingModel(tx, name, dimensions));
    const id = await register(64);
    expect(await register(64)).toBe(id);
    const refused = await register(128).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EmbeddingDimensionsError);
    expect((refused as Error).message).toContain(`${name} with 64 dimensions; the one configured has 128`);
  });
});
