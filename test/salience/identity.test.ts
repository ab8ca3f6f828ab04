import { describe, expect, it } from 'vitest';
import { namesIdentity } from '../../src/salience/index.js';

const says = (text: string, ...entities: string[]) => ({ text, entities });

describe('namesIdentity', () => {
  it.each([
    ['security', says('The security review is on Friday')],
    ['Security', says('SECURITY first')],
    ['security', says('We are security-focused.')],
    ['dr smith', says('Prescribed by Dr  Smith yesterday')],
    ['Sam', says("Sam's car is blue")],
    ['Sam', says('Sam’s car is blue')],
    ['boss', says("the bosses' and the boss' office")],
    ['C++', says('Prefers C++ over Rust')],
    ['.NET', says('Ships on .NET 8')],
    ['straße', says('Lives in the STRASSE')],
    ['strasse', says('LIVES IN THE STRAẞE')],
    ['ΝΙΚΟΣ', says("ΝΙΚΟΣ's car is blue")],
    ['café', says('Meets at the Cafe\u0301 daily')],
    ['ﬁnance', says('Works in finance')],
    ['数据库', says('我们使用数据库存储')],
    ['Postgres', says('我们使用Postgres存储')],
    ['audit', says("Responsable de l'audit interne")],
    ['acme corp', says('They pay late', 'Acme Corp')],
    ['audit', says('auditorium first, then the audit')],
  ])('finds %o in %o', (term, fact) => {
    expect(namesIdentity(term, fact)).toBe(true);
  });

  it.each([
    ['audit', says('Meets in the auditorium')],
    ['audit', says('Reads audit_log nightly')],
    ['ops', says('DevOps and shops')],
    ['Don', says("They don't care")],
    ['sam', says('Samsung phone', 'Samsung')],
    ['acme corp', says('They pay late', 'Acme Corporation')],
    ['dr smith', says('Dr Jones met Smith')],
    ['', says('anything')],
    ['   ', says('any thing', '')],
    ['京', says('東京タワー')],
    ['a', says('𐐨a and a𐐨')],
    ['a', says('𝒜b and bа')],
  ])('does not find %o in %o', (term, fact) => {
    expect(namesIdentity(term, fact)).toBe(false);
  });

  it('is not fooled by characters of a regular expression', () => {
    expect(namesIdentity('.*', says('anything at all'))).toBe(false);
    expect(namesIdentity('(x', says('call (x now'))).toBe(true);
  });
});
