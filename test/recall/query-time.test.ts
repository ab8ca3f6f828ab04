import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeFit, timesIn } from '../../src/recall/query-time.js';

/** A Wednesday. */
const NOW = new Date('2026-03-18T15:00:00Z');
const DAY_MS = 86_400_000;

/** The one time that is named, as days: from is within, to is not. */
function spanOf(query: string): [string, string] | null {
  const [time, ...others] = timesIn(query, NOW);
  expect(others).toEqual([]);
  if (!time?.span) return null;
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  return [day(time.span.from), day(time.span.to)];
}

describe('timesIn', () => {
  it.each([
    ['What happened on 8 May 2023?', '2023-05-08', '2023-05-09'],
    ['What happened on the 8th of May, 2023?', '2023-05-08', '2023-05-09'],
    ['what happened on May 8th, 2023?', '2023-05-08', '2023-05-09'],
    ['notes of 2023-05-08', '2023-05-08', '2023-05-09'],
    ['Who came in June 2023?', '2023-06-01', '2023-07-01'],
    ['who came in sept. 2023', '2023-09-01', '2023-10-01'],
    ['Where did we go in 2022?', '2022-01-01', '2023-01-01'],
    ['what did I say yesterday', '2026-03-17', '2026-03-18'],
    ['what is due today', '2026-03-18', '2026-03-19'],
    ['what did we decide last week', '2026-03-09', '2026-03-16'],
    ['what did we decide this week', '2026-03-16', '2026-03-23'],
    ['costs of last month', '2026-02-01', '2026-03-01'],
    ['travels of last year', '2025-01-01', '2026-01-01'],
    ['what was said three days ago', '2026-03-15', '2026-03-16'],
    ['what was said 2 weeks ago', '2026-03-02', '2026-03-09'],
    ['what was said a month ago', '2026-02-01', '2026-03-01'],
    ['who called last Friday?', '2026-03-13', '2026-03-14'],
    ['who called on Wednesday?', '2026-03-11', '2026-03-12'],
  ])('%s', (query, from, to) => {
    expect(spanOf(query)).toEqual([from, to]);
  });

  it('knows days and months that come every year', () => {
    expect(timesIn('Who came in June?', NOW)).toMatchObject([
      { span: null, yearly: { month: 5, day: null } },
    ]);
    expect(timesIn('Who came on May 8?', NOW)).toMatchObject([{ span: null, yearly: { month: 4, day: 8 } }]);
  });

  it.each([
    'what may I march for',
    'room 12, 30 chairs',
    'on the 31st of February',
    '2023-13-40',
    'flight 20230',
    'the last weekend of it',
    '',
  ])('finds none in %j', (query) => {
    expect(timesIn(query, NOW)).toEqual([]);
  });

  it('takes any text, and only gives times that are some', () => {
    const part = fc.constantFrom(
      'May',
      '8',
      '31st',
      '2023',
      '-',
      ' ',
      'of',
      'last',
      'week',
      'ago',
      'ten',
      'years',
      'Feb',
      ',',
      'x',
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 20 }).map((parts) => parts.join(' ')),
        (query) => {
          for (const { span, yearly, certainty } of timesIn(query, NOW)) {
            expect((span === null) !== (yearly === null)).toBe(true);
            if (span) expect(span.to).toBeGreaterThan(span.from);
            expect(certainty).toBeGreaterThan(0);
            expect(certainty).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
  });
});

describe('timeFit', () => {
  it('is whole within, fades after, and sooner before', () => {
    const named = timesIn('on 8 May 2023', NOW);
    const at = (days: number) => timeFit(Date.UTC(2023, 4, 8, 12) + days * DAY_MS, named);
    expect(at(0)).toBe(1);
    expect(at(1)).toBeLessThan(1);
    expect(at(1)).toBeGreaterThan(at(3));
    expect(at(3)).toBeGreaterThan(at(-3));
    expect(at(60)).toBeLessThan(0.001);
    expect(timeFit(Date.UTC(2023, 4, 8), [])).toBe(0);
  });

  it('fits a month of every year, across its turn as well', () => {
    const named = timesIn('in December', NOW);
    expect(timeFit(Date.UTC(2019, 11, 24), named)).toBe(1);
    expect(timeFit(Date.UTC(2025, 11, 1), named)).toBe(1);
    expect(timeFit(Date.UTC(2026, 0, 2), named)).toBeGreaterThan(0.8);
    expect(timeFit(Date.UTC(2026, 5, 2), named)).toBeLessThan(0.001);
  });

  it('is between 0 and 1, and a year alone says less than a day', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1950-01-01'), max: new Date('2080-01-01'), noInvalidDate: true }),
        (date) => {
          for (const query of ['in 2023', 'in May', 'on 8 May 2023', 'yesterday']) {
            const fit = timeFit(date.getTime(), timesIn(query, NOW));
            expect(fit).toBeGreaterThanOrEqual(0);
            expect(fit).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
    expect(timeFit(Date.UTC(2023, 4, 8), timesIn('in 2023', NOW))).toBeLessThan(1);
  });
});
