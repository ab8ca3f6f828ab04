import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addSample,
  chooseBaseline,
  EMPTY_BASELINE,
  type EncodeInputs,
  encodeImportance,
  mergeBaselines,
  NEUTRAL_PROFILE,
  newFactInputs,
  type Observation,
  reaffirmedInputs,
  resolveHints,
  type SequenceCandidate,
  scoreSequence,
} from '../../src/salience/index.js';
import { baselineOf, distances, inputs, profile, settledBaseline } from './builders.js';

const alone: Observation = { distance: null, nearestSimilarity: null, gapHours: null };
const at = (distance: number): Observation => ({ distance, nearestSimilarity: 0.3, gapHours: 1 });
const fact = (observation: Observation): SequenceCandidate => ({ observation, profile: NEUTRAL_PROFILE });
const settled = { scope: settledBaseline(), tenant: settledBaseline() };
const empty = { scope: EMPTY_BASELINE, tenant: EMPTY_BASELINE };

describe('scoreSequence', () => {
  it('changes nothing for an empty batch', () => {
    expect(scoreSequence(settled, [])).toEqual({ scored: [], baselines: settled });
  });

  it('scores each before adding its sample', () => {
    const { scored, baselines } = scoreSequence(settled, [fact(at(1.3)), fact(at(1.3))]);
    const [first, second] = scored;
    expect(first?.inputs.baseline).toMatchObject({ n: 20, origin: 'SCOPE' });
    expect(first?.breakdown.spatialZ).toBeCloseTo(3, 9);
    expect(second?.inputs.baseline?.n).toBe(21);
    expect(second!.breakdown.spatialZ!).toBeLessThan(first!.breakdown.spatialZ!);
    expect(baselines.scope).toEqual(addSample(addSample(settled.scope, 1.3), 1.3));
  });

  it('adds no sample without a neighbour', () => {
    const { scored, baselines } = scoreSequence(settled, [fact(alone)]);
    expect(baselines).toEqual(settled);
    expect(scored[0]?.breakdown).toMatchObject({ base: 1, baseSource: 'NO_NEIGHBOUR' });
  });

  it('keeps the first 20 of a new tenant with a neighbour at 1.0, then begins to score', () => {
    const batch = [alone, ...Array.from({ length: 21 }, (_, i) => at(i % 2 === 0 ? 0.9 : 1.1))].map(fact);
    const { scored, baselines } = scoreSequence(empty, batch);
    expect(scored.slice(0, 21).map((one) => one.breakdown.encoded)).toEqual(Array(21).fill(1));
    expect(scored.slice(0, 21).every((one) => one.breakdown.warmup)).toBe(true);
    expect(scored[21]?.breakdown).toMatchObject({ warmup: false, baseSource: 'NOVELTY' });
    expect(baselines.scope.n).toBe(21);
  });

  it("borrows the tenant's baseline, and changes to the scope's own in the middle of a batch", () => {
    const scope = settledBaseline(1, 0.1, 19);
    const tenant = mergeBaselines([scope, settledBaseline(0.5, 0.2, 400)]);
    const { scored, baselines } = scoreSequence({ scope, tenant }, [fact(at(1)), fact(at(1))]);
    expect(scored.map((one) => one.inputs.baseline?.origin)).toEqual(['TENANT', 'SCOPE']);
    expect(baselines.tenant.n).toBe(tenant.n + 2);
  });

  it('pins a new flashbulb and settles it in its inputs', () => {
    const { scored } = scoreSequence(settled, [fact(at(1.6)), fact(at(1))]);
    expect(scored.map((one) => one.pin)).toEqual([true, false]);
    expect(scored.map((one) => one.inputs.flashbulb)).toEqual([true, false]);
  });

  it('scores each by its own profile and hints', () => {
    const hints = resolveHints({ caller: { valence: 1 } });
    const biased = profile({ persona: { valenceBias: 50 } });
    const { scored } = scoreSequence(settled, [
      { observation: at(1), profile: biased, hints },
      { observation: at(1), profile: NEUTRAL_PROFILE, hints },
    ]);
    expect(scored.map((one) => one.breakdown.valenceFactor)).toEqual([1.5, 1]);
  });

  it('gives the same whether a batch comes whole or one by one', () => {
    const observation = fc.option(distances, { nil: null }).map((d) => (d === null ? alone : at(d)));
    fc.assert(
      fc.property(
        fc.array(distances, { maxLength: 25 }),
        fc.array(observation, { maxLength: 30 }),
        (seen, batch) => {
          const start = { scope: baselineOf(seen), tenant: baselineOf(seen) };
          const whole = scoreSequence(start, batch.map(fact));
          let baselines: typeof start = start;
          const singly = batch.map((one) => {
            const step = scoreSequence(baselines, [fact(one)]);
            baselines = step.baselines;
            return step.scored[0];
          });
          expect(whole.scored).toEqual(singly);
          expect(whole.baselines).toEqual(baselines);
        },
      ),
    );
  });

  it('keeps inputs from which the breakdown can be had again', () => {
    const { scored } = scoreSequence(settled, [fact(at(1.6)), fact(alone), fact(at(0.4))]);
    for (const { inputs: stored, breakdown } of scored) {
      const restored = JSON.parse(JSON.stringify(stored)) as EncodeInputs;
      expect(encodeImportance(restored, NEUTRAL_PROFILE)).toEqual(breakdown);
    }
  });

  it('fails as a whole on a distance of vectors that are not unit-length', () => {
    expect(() => scoreSequence(settled, [fact(at(1)), fact(at(90))])).toThrow(/^inputs\.distance must/);
  });
});

describe('a reaffirmation in a sequence', () => {
  const stored = inputs({ distance: 1.15, flashbulb: false });
  const again = (gapHours: number, reaffirms: EncodeInputs = stored): SequenceCandidate => ({
    observation: { distance: 0, nearestSimilarity: 1, gapHours },
    profile: NEUTRAL_PROFILE,
    reaffirms,
  });

  it.each([
    [0, 0.88],
    [180 * 24, 6.2],
  ])('after %s hours is worth %s', (gapHours, encoded) => {
    const { scored } = scoreSequence(settled, [again(gapHours)]);
    expect(scored[0]?.breakdown.encoded).toBeCloseTo(encoded, 2);
    expect(scored[0]?.inputs.reaffirmed).toBe(true);
  });

  it('adds no sample, so that repetition cannot make ordinary facts look new', () => {
    const { baselines } = scoreSequence(settled, Array(50).fill(again(1)));
    expect(baselines).toEqual(settled);
  });

  it('neither pins nor unpins', () => {
    const flashbulb = { ...stored, flashbulb: true };
    const { scored } = scoreSequence(settled, [again(0, flashbulb), again(0)]);
    expect(scored.map((one) => one.inputs.flashbulb)).toEqual([true, false]);
    expect(scored.map((one) => one.pin)).toEqual([false, false]);
  });

  it('leaves warm-up as soon as there is a baseline', () => {
    const early = { ...stored, baseline: null };
    expect(scoreSequence(empty, [again(0, early)]).scored[0]?.breakdown).toMatchObject({
      base: 1,
      warmup: true,
    });
    expect(scoreSequence(settled, [again(0, early)]).scored[0]?.breakdown.warmup).toBe(false);
  });
});

describe('reaffirmedInputs', () => {
  const chosen = chooseBaseline(settledBaseline(), settledBaseline());

  it('takes texts found equal without vectors for the same place', () => {
    const result = reaffirmedInputs(inputs({ flashbulb: true }), { ...alone, gapHours: 48 }, chosen);
    expect(result).toMatchObject({ distance: 0, nearestSimilarity: 1, gapHours: 48, flashbulb: true });
  });

  it('keeps the hints of the fact and takes new ones', () => {
    const first = newFactInputs(at(1), chosen, resolveHints({ caller: { interest: 0.9, urgency: 0.2 } }));
    const given = resolveHints({ extractor: { urgency: 1, arousal: 0.6 } });
    expect(reaffirmedInputs(first, at(0), chosen, given)).toMatchObject({
      hints: { interest: 0.9, urgency: 0.2, arousal: 0.6 },
      hintSources: { urgency: 'CALLER', arousal: 'EXTRACTOR' },
    });
  });
});
