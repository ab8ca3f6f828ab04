import { describe, expect, it } from 'vitest';
import { mergeHints, NO_HINTS, resolveHints } from '../../src/salience/index.js';

describe('resolveHints', () => {
  it('prefers the caller, then the extractor, then the sentiment library, hint by hint', () => {
    const resolved = resolveHints({
      caller: { interest: 0.9, arousal: 0.2 },
      extractor: { urgency: 0.4, valence: -0.3, arousal: 0.8 },
      sentiment: { valence: 0.6 },
    });
    expect(resolved).toEqual({
      hints: { interest: 0.9, challenge: null, urgency: 0.4, valence: -0.3, arousal: 0.2 },
      hintSources: { urgency: 'EXTRACTOR', valence: 'EXTRACTOR', arousal: 'CALLER' },
    });
  });

  it('takes the sentiment library where nobody said', () => {
    const resolved = resolveHints({ caller: { valence: null }, extractor: {}, sentiment: { valence: 0.6 } });
    expect(resolved.hints.valence).toBe(0.6);
    expect(resolved.hintSources.valence).toBe('SENTIMENT');
  });

  it('keeps a given 0 apart from "not given"', () => {
    const resolved = resolveHints({ caller: { valence: 0 }, sentiment: { valence: 0.6 } });
    expect(resolved.hints.valence).toBe(0);
    expect(resolved.hintSources.valence).toBe('CALLER');
  });

  it('clamps to the range of each hint', () => {
    const { hints } = resolveHints({
      caller: { interest: 7, challenge: -7, urgency: 1.01, valence: -7, arousal: 7 },
    });
    expect(hints).toEqual({ interest: 1, challenge: 0, urgency: 1, valence: -1, arousal: 1 });
  });

  it('names a hint that is not finite and who gave it', () => {
    expect(() => resolveHints({ caller: { interest: Number.NaN } })).toThrow(
      /^caller\.interest must be a finite/,
    );
    expect(() => resolveHints({ extractor: { valence: Number.POSITIVE_INFINITY } })).toThrow(
      /^extractor\.valence must be a finite/,
    );
  });

  it('is no hint at all for an empty offer', () => {
    expect(resolveHints({})).toEqual(NO_HINTS);
  });
});

describe('mergeHints', () => {
  const stored = resolveHints({ caller: { interest: 0.8, valence: -0.5 }, extractor: { urgency: 0.3 } });

  it('keeps what a restatement does not say', () => {
    expect(mergeHints(stored, NO_HINTS)).toEqual(stored);
  });

  it('lets an equal or better source replace', () => {
    const merged = mergeHints(
      stored,
      resolveHints({ caller: { valence: 0.1, urgency: 0.9, challenge: 0.4 } }),
    );
    expect(merged).toEqual({
      hints: { interest: 0.8, challenge: 0.4, urgency: 0.9, valence: 0.1, arousal: null },
      hintSources: { urgency: 'CALLER', valence: 'CALLER', arousal: null },
    });
  });

  it('never lets the sentiment library overrule the caller', () => {
    const merged = mergeHints(stored, resolveHints({ sentiment: { valence: 1 } }));
    expect(merged.hints.valence).toBe(-0.5);
    expect(merged.hintSources.valence).toBe('CALLER');
  });
});
