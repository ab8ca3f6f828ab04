import { describe, expect, it } from 'vitest';
import { isSalient } from '../../src/extraction/gate.js';

const NO = [
  'help',
  'thanks',
  'what now',
  'ok continue',
  '',
  ':q',
  ':wq',
  'what is this',
  '?',
  '  \n ',
  '👍',
  'yes please',
];
const YES = [
  'I use Kamal',
  'call me Sam',
  'the repo uses pnpm',
  'we agreed on trunk-based',
  'hi\nI prefer tabs over spaces',
  'deploy staging cluster tonight',
  '我喜欢深色模式',
  'i’m allergic to nuts',
  'my name is Zoë',
  'Remember: tabs',
  'please never call it',
  'THE TEAM PREFERS X',
  'I don’t do it',
];

describe('the gate (SPEC §2.1)', () => {
  it.each(NO)('drops %j', (text) => expect(isSalient([text])).toBe(false));
  it.each(YES)('lets %j through', (text) => expect(isSalient([text])).toBe(true));

  it('needs a user message', () => expect(isSalient([])).toBe(false));

  it('counts words over all messages of the window', () => {
    expect(isSalient(['staging', 'cluster'])).toBe(false);
    expect(isSalient(['staging', 'cluster', 'tonight'])).toBe(true);
  });

  it('finds a signal that is wrapped over two lines or doubly spaced', () => {
    expect(isSalient(['my\nname   is'])).toBe(true);
  });

  it('takes signals as whole words only', () => {
    expect(isSalient(['recall me'])).toBe(false);
    expect(isSalient(['hawaii am'])).toBe(false);
    expect(isSalient(['éi am'])).toBe(false);
  });

  it('composes decomposed letters before it counts', () => {
    expect(isSalient(['Zoe\u0308'])).toBe(false);
    expect(isSalient(['e\u0301 a\u0300 o\u0302'])).toBe(true);
  });

  it('answers for a long text without spaces', () => {
    expect(isSalient(['猫'.repeat(200_000)])).toBe(true);
    expect(isSalient([`${'-'.repeat(200_000)} 猫`])).toBe(false);
  });

  it('takes a tenant’s own signals as literal whole words', () => {
    const settings = { extraSignals: ['code red', 'C++', '记住'] };
    expect(isSalient(['Code  RED'], settings)).toBe(true);
    expect(isSalient(['code redder'], settings)).toBe(false);
    expect(isSalient(['decode red'], settings)).toBe(false);
    expect(isSalient(['c++!'], settings)).toBe(true);
    expect(isSalient(['cxx'], settings)).toBe(false);
    expect(isSalient(['请记住'], settings)).toBe(true);
    expect(isSalient(['hi'], { extraSignals: ['  '] })).toBe(false);
  });

  it('does not count a tenant’s trivial words', () => {
    expect(isSalient(['ping pong pang'])).toBe(true);
    expect(isSalient(['ping pong Pang'], { extraTrivialWords: ['PANG'] })).toBe(false);
  });
});
