import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { BundledEmbeddingProvider } from '../../src/embedding/bundled.js';

const file = new URL('./fixtures/mortal-worker.mjs', import.meta.url);
const providers: BundledEmbeddingProvider[] = [];
const open = (worker = file) => {
  const provider = new BundledEmbeddingProvider(worker);
  providers.push(provider);
  return provider;
};
afterEach(async () => {
  for (const provider of providers.splice(0)) await provider[Symbol.asyncDispose]();
});

const FAILED = { name: 'EmbeddingError', code: 'ENCODER_FAILED', retryable: true };
const CLOSED = { code: 'ENCODER_CLOSED', retryable: false };

describe("the bundled provider's worker", () => {
  it.each(['exit', 'throw'])(
    'that dies (%s) rejects all that is pending, and is started again',
    async (death) => {
      const provider = open();
      const pending = provider.embed(['silence']);
      const query = provider.embedQuery('silence');
      const deadly = provider.embed([death]);
      await expect(deadly).rejects.toMatchObject(FAILED);
      await expect(pending).rejects.toMatchObject(FAILED);
      await expect(query).rejects.toMatchObject(FAILED);
      const [vector] = await provider.embed(['alive']);
      expect(vector).toHaveLength(512);
    },
  );

  it('that cannot even start is an error of the request, not of the process', async () => {
    const provider = open(new URL('./fixtures/no-such-worker.mjs', import.meta.url));
    await expect(provider.embed(['text'])).rejects.toMatchObject(FAILED);
    await expect(provider.embed(['text'])).rejects.toMatchObject(FAILED);
  });

  it('says nothing of the text in an error', async () => {
    const provider = open();
    const error = await provider.embed(['throw', 'my secret']).catch((reason: Error) => reason);
    expect(String(error)).not.toContain('secret');
  });

  it('may refuse one request without harm to others', async () => {
    const provider = open();
    const refused = provider.embed(['refuse']);
    const other = provider.embedWindows(['a', 'b']);
    await expect(refused).rejects.toMatchObject({ code: 'ENCODER_REFUSED', retryable: false });
    expect((await other).map((windows) => windows.length)).toEqual([1, 1]);
  });

  it('is not asked about nothing', async () => {
    const provider = open(new URL('./fixtures/no-such-worker.mjs', import.meta.url));
    expect(await provider.embed([])).toEqual([]);
    expect(await provider.embedWindows([])).toEqual([]);
  });

  it('ends with the provider: pending and later requests are rejected', async () => {
    const provider = open();
    const pending = provider.embed(['silence']);
    const rejection = expect(pending).rejects.toMatchObject(CLOSED);
    await provider[Symbol.asyncDispose]();
    await rejection;
    await expect(provider.embed(['x'])).rejects.toMatchObject(CLOSED);
    await expect(provider.embedQuery('x')).rejects.toMatchObject(CLOSED);
    await provider[Symbol.asyncDispose]();
  });

  it('does not keep failed queries in the cache', async () => {
    const provider = open();
    const failed = provider.embedQuery('silence');
    await expect(provider.embed(['exit'])).rejects.toMatchObject(FAILED);
    await expect(failed).rejects.toMatchObject(FAILED);
    const again = provider.embedQuery('silence');
    await expect(provider.embed(['exit'])).rejects.toMatchObject(FAILED);
    await expect(again).rejects.toMatchObject(FAILED);
  });

  it('lets the process exit, disposed or not, once nothing is pending', () => {
    const index = new URL('../../dist/embedding/index.js', import.meta.url);
    const script = `
      const { createEmbeddingProvider } = await import(${JSON.stringify(index.href)});
      const provider = await createEmbeddingProvider({ kind: 'bundled' });
      const [vector] = await provider.embed(['I prefer tabs over spaces']);
      console.log(vector.length);`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      timeout: 25_000,
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    });
    expect(run).toMatchObject({ status: 0, stdout: '512\n', stderr: '' });
  });
});
