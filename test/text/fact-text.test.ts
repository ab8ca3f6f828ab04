import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FACT_KINDS, isNearDuplicate, kindFromLabel, normalizeFactText } from '../../src/text/fact-text.js';

describe('normalizeFactText', () => {
  it.each([
    ['  The User\t likes \n Tea ', 'the user likes tea'],
    ['Ｔｅａ', 'tea'],
    ['STRASSE', normalizeFactText('Straße')],
    ['ΟΔΟΣ', normalizeFactText('οδος')],
    ['Zoe\u0308', normalizeFactText('zoë')],
    ['a\u00a0b\u3000c', 'a b c'],
    ['ﬁx', 'fix'],
  ])('%j → %j', (text, expected) => expect(normalizeFactText(text)).toBe(expected));

  it('keeps dotless i, punctuation and accents apart', () => {
    expect(normalizeFactText('kısa')).not.toBe(normalizeFactText('kisa'));
    expect(normalizeFactText('C++')).not.toBe(normalizeFactText('C'));
    expect(normalizeFactText('resume')).not.toBe(normalizeFactText('résumé'));
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = normalizeFactText(text);
        expect(normalizeFactText(once)).toBe(once);
      }),
    );
  });
});

const LONG = 'the user wants every report of the quarter to be sent in plain text to the whole group by mail';

describe('isNearDuplicate', () => {
  it.each([
    ['User prefers tabs over spaces', 'user prefers  TABS over spaces'],
    ['User prefers tabs over spaces', 'User prefers tabs over spaces.'],
    ['The user doesn’t eat meat.', "The user doesn't eat meat"],
    ['The user does not eat meat', "The user doesn't eat meat"],
    ['The team uses `pnpm` for installs', 'The team uses pnpm for installs'],
    ['Budget is 1,000 dollars', 'Budget is 1000 dollars'],
    [LONG, LONG.replace('whole ', '')],
    [LONG, LONG.replace('wants', 'likes')],
    [`${LONG} too`, LONG],
  ])('%j and %j are one', (a, b) => {
    expect(isNearDuplicate(a, b)).toBe(true);
    expect(isNearDuplicate(b, a)).toBe(true);
  });

  it.each([
    ['Alice manages Bob', 'Bob manages Alice'],
    ['Postgres 15', 'Postgres 16'],
    ['The service listens on port 5432', 'The service listens on port 5433'],
    ['User likes tea', 'User likes coffee'],
    ['The user knows C', 'The user knows C++'],
    ['The user knows C#', 'The user knows C++'],
    ['Latency must be < 5 ms', 'Latency must be > 5 ms'],
    ['Offset is -5 hours', 'Offset is 5 hours'],
    ['Growth was 50%', 'Growth was 50'],
    ['The fee is $5', 'The fee is €5'],
    ['Version 1.5 is used', 'Version 1 5 is used'],
    [LONG, LONG.replace('wants', 'does not want')],
    [LONG, LONG.replace('to be', 'not to be')],
    [LONG, LONG.replace('plain', 'Latin')],
    [LONG, LONG.replace('sent', 'sent by Ann')],
    [`${LONG} on monday`, `${LONG} on tuesday`],
    [`${LONG} before lunch`, `${LONG} after lunch`],
    [`${LONG} in two copies`, `${LONG} in three copies`],
    [LONG.replace('wants', 'likes'), LONG.replace('wants', 'dislikes')],
    [`Ann told ${LONG}`, `Bob told ${LONG}`],
    [`ann_77: ${LONG}`, `bob_77: ${LONG}`],
    [`ann: ${LONG}`, `bob: ${LONG}`],
    [`${LONG} 😀`, `${LONG} 😡`],
    ['我喜欢在晚上用深色模式写代码和看书', '我不喜欢在晚上用深色模式写代码和看书'],
    ['小王在北京的一家大公司里做软件工程师已经很多年了', '小王在上海的一家大公司里做软件工程师已经很多年了'],
    ['😀', '😡'],
    ['', ''],
    ['...', '!!!'],
  ])('%j and %j are two', (a, b) => {
    expect(isNearDuplicate(a, b)).toBe(false);
    expect(isNearDuplicate(b, a)).toBe(false);
  });

  it('is symmetric, and true of every text with a word and itself', () => {
    const text = fc.array(
      fc.constantFrom('Ann', 'the', 'not', 'likes', 'tea', '15', '16', '+', "don't", '不'),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(text, text, (left, right) => {
        const a = left.join(' ');
        const b = right.join(' ');
        expect(isNearDuplicate(a, b)).toBe(isNearDuplicate(b, a));
        expect(isNearDuplicate(a, a)).toBe(a !== '');
      }),
    );
  });
});

describe('kindFromLabel', () => {
  it.each(FACT_KINDS.map((kind) => [kind.toLowerCase(), kind]))('%s', (label, kind) => {
    expect(kindFromLabel(label)).toEqual({ kind, recognised: true });
  });
  it.each([
    ['project_context', 'PROJECT'],
    ['technical_decision', 'DECISION'],
    ['task_state', 'FACT'],
    ['tool_result', 'FACT'],
    ['User Profile', 'USER_PROFILE'],
    ['userProfile', 'USER_PROFILE'],
    [' user-profile ', 'USER_PROFILE'],
  ])('%j is %s', (label, kind) => expect(kindFromLabel(label)).toEqual({ kind, recognised: true }));
  it.each(['', 'gossip', '__proto__', 'constructor', 'toString'])('%j is an unknown kind', (label) => {
    expect(kindFromLabel(label)).toEqual({ kind: 'FACT', recognised: false });
  });
});
