import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LATIN_LANGUAGES, languageOf } from '../../src/text/languages.js';

/** Ten sentences each, written to find the languages' mean vectors, not for this. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('../../src/embedding/calibration/languages.json', import.meta.url), 'utf8'),
);
const KIN = ['sv', 'da', 'nb'];
const alike = (one: string | null, other: string) =>
  one === other || (KIN.includes(other) && KIN.includes(one ?? ''));

describe('languageOf', () => {
  it.each(LATIN_LANGUAGES)('tells most sentences in %s, or kin of it', (language) => {
    const told = SENTENCES[language]!.map(languageOf);
    expect(told.filter((one) => alike(one, language)).length, told.join(' ')).toBeGreaterThanOrEqual(7);
  });

  it.each([
    'The user prefers tabs over spaces.',
    'She lives in San Diego de la Vega.',
    'I met Zoë at the café in Zürich.',
    'They are fans of La La Land and Die Hard.',
    'He ordered a crème brûlée at the café.',
    'Ask for el jefe when you get to the taqueria.',
    "It's the Schadenfreude that gets me.",
    'Vincent van Gogh was born in the Netherlands.',
  ])('takes English with foreign words for English: %j', (text) => {
    expect(languageOf(text)).toBe('en');
  });

  it.each([
    'package manager',
    'Los Angeles',
    'Bob del Monte',
    'Die Hard',
    'React 18',
    '',
    '🙂',
    '我喜欢深色模式',
    'Привет',
  ])('says nothing of %j', (text) => expect(languageOf(text)).toBeNull());

  it.each([
    ['Anna trinkt Kaffee', 'de'],
    ['Ana odia el ruido', 'es'],
    ['O usuário gosta de gatos pretos', 'pt'],
    ['All’utente piace il tè', 'it'],
    ["Elle habite près de l'église", 'fr'],
    ['De gebruiker houdt van katten', 'nl'],
  ] as const)('tells short statements as memories have them: %j is %s', (text, language) =>
    expect(languageOf(text)).toBe(language),
  );
});
