import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { valenceOf } from '../../src/text/sentiment.js';

describe('valenceOf', () => {
  it.each([
    'I love my new job',
    "I'm really proud of my daughter",
    'The launch was a huge success',
    'We won the competition',
    'I finally graduated',
    'She got engaged yesterday',
    'no problems at all',
    'The killer feature is offline sync',
  ])('%j is good', (text) => expect(valenceOf(text)).toBeGreaterThan(0.1));

  it.each([
    'I hate cilantro',
    'The patient died after a wrong dose',
    'My grandmother passed away last week',
    'The deploy failed again and broke production',
    'I can’t stand loud music',
    'My dog is sick and I am worried',
    'I was diagnosed with diabetes',
    'I do not like meetings',
  ])('%j is bad', (text) => expect(valenceOf(text)).toBeLessThan(-0.1));

  it.each([
    'User prefers tabs over spaces',
    'We use PostgreSQL 16 in production',
    'kill the process on port 3000',
    'kill all pods before the upgrade',
    'The critical path is the build',
    'I live in Berlin',
    '我喜欢深色模式',
    '',
    '...',
    '?!',
  ])('%j says nothing', (text) => expect(valenceOf(text)).toBe(0));

  it('grades', () => {
    expect(valenceOf('The food is extremely good')).toBeGreaterThan(valenceOf('The food is good'));
    expect(valenceOf('The food is not good')).toBeLessThan(0);
  });

  it('is the mean over the sentences that say something', () => {
    const [good, bad] = ['I love tea.', 'I hate coffee.'];
    expect(valenceOf(`${good} I have a cup. ${bad}`)).toBeCloseTo((valenceOf(good) + valenceOf(bad)) / 2, 10);
  });

  it('is in [-1, 1] for any text, however long', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom('good ', 'not ', 'BAD!', 'but ', '. ', ':)', "n't ")).map((p) => p.join('')),
    );
    fc.assert(
      fc.property(any, (text) => {
        const valence = valenceOf(text);
        expect(valence).toBeGreaterThanOrEqual(-1);
        expect(valence).toBeLessThanOrEqual(1);
      }),
    );
    for (const unit of ['a', '!', 'good ', 'but ', 'kill ', '.', "'"]) valenceOf(unit.repeat(100_000));
  });
});
