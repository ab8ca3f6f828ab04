import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Conclusion, isBareConclusion, isGuarded, standingOf } from '../../src/quality/index.js';

type Row = [bare: boolean, Partial<Conclusion>];

const decision = (text: string): Partial<Conclusion> => ({ kind: 'DECISION', text });
const object = (text: string, predicate = 'decision'): Partial<Conclusion> => ({ predicate, object: text });

const TABLE: Row[] = [
  // Every signal, alone.
  [false, decision('We deploy with Kamal because it is boring')],
  [false, decision('Logs are JSON so that they can be searched')],
  [false, decision('One pool is kept so the connections stay few')],
  [false, decision('Tests are short so we can run them all')],
  [false, decision('Migrations are plain SQL in order to be read')],
  [false, decision('Retries are jittered to avoid a stampede')],
  [false, decision('Keys are hashed to prevent theft')],
  [false, decision('Writes take a lock to ensure order')],
  [false, decision('There is a proxy to support old clients')],
  [false, decision('Ports are open to allow probes')],
  [false, decision('The flag is on to enable tracing')],
  [false, decision('Ids are ordered to make paging stable')],
  [false, decision('Node is pinned to fix the leak')],
  [false, decision('A queue is there to handle bursts')],
  [false, decision('The cache is off: stale reads were caused by it')],
  [false, decision('No floats for money: the sum breaks when rounded')],
  [false, decision('Fridays are frozen due to the outage')],
  [false, decision('Always squash, otherwise bisecting fails')],
  [false, decision('A lock is held without which writes mix')],
  [false, decision('Keep the index: it is slow without this')],
  [false, decision('Keep the index: it is slow without it')],
  // As they are written: case, white space, line ends, punctuation around them.
  [false, decision('BECAUSE it is boring we use Kamal')],
  [false, decision('Use Kamal (because)')],
  [false, decision('Use tabs so\n  that diffs are small')],
  [false, decision('Use tabs in\torder  to align')],
  [false, decision('Use Kamal — due  to cost.')],
  // Words that only look like one.
  [true, decision('We use Kamal')],
  [true, decision('The becauseway is our street')],
  [true, decision('Also the team uses pnpm')],
  [true, decision('We go to avoidance training')],
  [true, decision('Use pnpm, not npm, so there')],
  [true, decision('We deploy without tests')],
  [true, decision('The fix was made to order')],
  [true, decision('Backups are dueto daily')],
  [true, decision('Go to-support for help')],
  // What should say why, and what need not.
  [true, { kind: 'CONVENTION', text: 'Tabs over spaces' }],
  [true, object('use SQLite')],
  [true, object('use tabs', 'convention')],
  [false, object('use SQLite because it is one file')],
  [false, { kind: 'FACT', text: 'The repo uses SQLite' }],
  [false, { kind: 'PREFERENCE', text: 'Likes tabs' }],
  [false, object('sqlite', 'uses_database')],
  [false, object('use SQLite', 'decisions')],
  // The object is the conclusion where there is one, else the text.
  [true, { kind: 'DECISION', object: 'SQLite', text: 'We use SQLite because it is one file' }],
  [false, { kind: 'DECISION', object: 'SQLite because it is one file', text: 'We use SQLite' }],
  [true, { kind: 'DECISION', object: null, text: 'We use SQLite' }],
  [true, { predicate: 'decision', object: undefined, text: 'We use SQLite' }],
  // Nothing was concluded.
  [false, { kind: 'DECISION', object: '', text: 'We use SQLite' }],
  [false, { kind: 'DECISION', object: ' \n', text: 'We use SQLite' }],
  [false, { kind: 'CONVENTION', text: '  ' }],
];

const whole = (row: Partial<Conclusion>): Conclusion => ({ kind: 'FACT', text: 'A statement', ...row });

describe('bare conclusions (SPEC §10)', () => {
  test('the table has them all', () => {
    expect(TABLE.length).toBeGreaterThanOrEqual(40);
  });

  test.each(TABLE)('%s: %j', (bare, row) => {
    expect(isBareConclusion(whole(row))).toBe(bare);
  });

  test('only what is guarded is ever bare or reasoned, and one reason is enough wherever it stands', () => {
    const words = fc.array(fc.constantFrom('we', 'use', 'tabs', 'so', 'to', 'the', 'avoid', 'which'), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        words,
        words,
        fc.constantFrom('DECISION', 'CONVENTION', 'FACT', 'ENV'),
        (before, after, kind) => {
          const plain = whole({ kind, text: before.join(' ') });
          expect(standingOf(plain) === 'NONE').toBe(!isGuarded(plain));
          const reasoned = whole({ kind, text: [...before, 'because', ...after].join(' ') });
          expect(isBareConclusion(reasoned)).toBe(false);
        },
      ),
    );
  });
});
