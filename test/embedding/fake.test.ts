import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cosine,
  createEmbeddingProvider,
  type EmbeddingConfig,
  EmbeddingError,
  type EmbeddingProvider,
  isUnit,
} from '../../src/embedding/index.js';

const fake = (options: Omit<Extract<EmbeddingConfig, { kind: 'fake' }>, 'kind'> = {}) =>
  createEmbeddingProvider({ kind: 'fake', ...options });

async function cosineOf(provider: EmbeddingProvider, a: string, b: string): Promise<number> {
  const [x, y] = await provider.embed([a, b]);
  return cosine(x!, y!);
}

/** Texts of made-up words; two texts with different prefixes share no word. */
const madeUp = (prefix: string, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}word${from + i}`).join(' ');

describe('the fake provider', () => {
  it('is named after its seed and dimensions', async () => {
    expect((await fake({ seed: 7, dimensions: 64 })).model).toBe('fake/7/64');
    const standard = await fake();
    expect([standard.model, standard.dimensions]).toEqual(['fake/1/512', 512]);
  });

  it('refuses seeds and dimensions that make no sense', async () => {
    await expect(fake({ dimensions: 7 })).rejects.toThrow(RangeError);
    await expect(fake({ dimensions: 64.5 })).rejects.toThrow(RangeError);
    await expect(fake({ seed: 0.5 })).rejects.toThrow(RangeError);
  });

  it('gives unit vectors, equal for equal normalised texts, in every instance', async () => {
    const [one, two] = [await fake({ seed: 3 }), await fake({ seed: 3 })];
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (text) => {
        const [vector] = await one.embed([text]);
        const [again] = await two.embed([`  ${text.normalize('NFD')}\n`]);
        expect(again).toEqual(vector);
        expect(vector === null || isUnit(vector!)).toBe(true);
      }),
    );
  });

  it('never changes, on any machine', async () => {
    const [vector] = await (await fake({ seed: 1, dimensions: 8 })).embed(['patient safety']);
    expect(Array.from(vector!, (component) => component.toFixed(4)).join(' ')).toBe(
      '-0.5579 0.4761 0.3043 0.1355 -0.2582 -0.1586 -0.2452 0.4463',
    );
  });

  it('puts texts the closer the more words they share', async () => {
    const provider = await fake();
    const none = await cosineOf(provider, 'patient safety report', 'violin orchestra concert');
    const some = await cosineOf(provider, 'patient safety report', 'patient violin concert');
    const most = await cosineOf(provider, 'patient safety report', 'patient safety concert');
    expect(none).toBeLessThan(0.2);
    expect(some).toBeGreaterThan(none + 0.1);
    expect(most).toBeGreaterThan(some + 0.1);
    expect(await cosineOf(provider, 'Alice manages Bob', 'Bob manages Alice')).toBeGreaterThan(0.97);
    expect(await cosineOf(provider, '我喜欢深色模式', '我喜欢喝咖啡')).toBeGreaterThan(0.3);
  });

  it('does not let function words make texts related', async () => {
    const provider = await fake();
    const value = await cosineOf(provider, 'the lake is in the alps', 'the cat is in the garden');
    expect(provider.similarity(value)).toBeLessThan(0.5);
  });

  it('has no vector for text without word characters', async () => {
    const provider = await fake();
    expect(await provider.embed(['', ' \n', '!!!', '😀 🎉'])).toEqual([null, null, null, null]);
    expect(await provider.embedWindows(['...'])).toEqual([[]]);
    expect(await provider.embedQuery('?')).toBeNull();
  });

  it('gives a query the vector of the text, and a long text one per window', async () => {
    const provider = await fake();
    expect(await provider.embedQuery('patient safety')).toEqual(
      (await provider.embed(['patient safety']))[0],
    );
    const long = madeUp('a', 0, 400);
    const [windows] = await provider.embedWindows([long]);
    expect(windows!.length).toBeGreaterThan(5);
    const [mean] = await provider.embed([long]);
    for (const window of windows!) expect(cosine(mean!, window)).toBeGreaterThan(0.2);
  });

  it.each([16, 64, 512])(
    'is calibrated by its definition (SPEC §3) with %d dimensions',
    async (dimensions) => {
      const provider = await fake({ seed: 5, dimensions });
      const pairs = Array.from({ length: 400 }, (_, i) => i * 20);
      let [unrelated, related, same] = [0, 0, 0];
      for (const i of pairs) {
        const text = madeUp('a', i, 8);
        const similarityTo = async (other: string) =>
          provider.similarity(await cosineOf(provider, text, other));
        if ((await similarityTo(madeUp('b', i, 8))) >= 0.5) unrelated++;
        if ((await similarityTo(`${madeUp('a', i, 7)} ${madeUp('c', i, 1)}`)) >= 0.5) related++;
        if ((await similarityTo(`${text}!`)) >= 0.75) same++;
      }
      expect(unrelated / pairs.length).toBeLessThanOrEqual(0.02);
      expect(related / pairs.length).toBeGreaterThanOrEqual(0.6);
      expect(same).toBe(pairs.length);
    },
  );

  it('is closed once disposed', async () => {
    const provider = await fake();
    await provider[Symbol.asyncDispose]();
    await expect(provider.embed(['x'])).rejects.toBeInstanceOf(EmbeddingError);
    await expect(provider.embedQuery('x')).rejects.toMatchObject({
      code: 'ENCODER_CLOSED',
      retryable: false,
    });
  });
});
