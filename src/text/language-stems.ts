/**
 * Stems of the languages beside English (SPEC §8.1): Snowball's, on words without accents, since people type them
 * without, and what Snowball then misses where one statement is said with one form and asked with another.
 */

import snowball from 'snowball-stemmers';
import type { LatinLanguage } from './languages.js';

type Stem = (word: string) => string;

const snowballOf = (algorithm: string): Stem => {
  const stemmer = snowball.newStemmer(algorithm);
  return (word) => stemmer.stem(word);
};

const german = snowballOf('german');
const french = snowballOf('french');
const spanish = snowballOf('spanish');
const italian = snowballOf('italian');
const portuguese = snowballOf('portuguese');
const dutch = snowballOf('dutch');

/** Without the last letter or letters of a verb's third person and participle: trinkt, arbeitet, gewohnt. */
function germanStem(word: string): string {
  // Müller is also written Mueller; neue, bauen and Steuer have no umlaut.
  const plain = word
    .replace(/ae/g, 'a')
    .replace(/oe/g, 'o')
    .replace(/(?<![aeq])ue/g, 'u');
  const stem = german(plain);
  const verb = stem.length > 4 ? stem.replace(/(?<=[td])et$|(?<=[^aeiou])t$/, '') : stem;
  return verb !== stem && verb.length > 5 && verb.startsWith('ge') ? verb.slice(2) : verb;
}

/** Accents told a conditional from a noun; z becomes c in plurals; verbs and nouns leave an i; ciudades is of ciudad. */
function spanishStem(word: string): string {
  const stem = spanish(word.replace(/(?<=[aei]r)ia(?=(?:s|n|mos|is)?$)/, 'ía').replace(/(?<=.d)ades$/, 'ad'));
  const bare = stem.length > 3 ? stem.replace(/i$/, '') : stem;
  return bare
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/z$/, 'c');
}

function dutchStem(word: string): string {
  const stem = dutch(word);
  const verb = stem.length > 4 ? stem.replace(/(?<=[^aeious])t$/, '') : stem;
  return verb
    .replace(/z$/, 's')
    .replace(/v$/, 'f')
    .replace(/([aeou])\1(?=[^aeiou]$)/, '$1');
}

const LATIN: Readonly<Record<LatinLanguage, Stem>> = {
  de: germanStem,
  // Participles: préférée and préféré are equal without accents but for the doubled e.
  fr: (word) => french(word.replace(/ee(?=s?$)/, 'e')),
  es: spanishStem,
  it: italian,
  // canção, canções; pão, pães; mão, mãos; animal, animais
  pt: (word) => portuguese(word.replace(/(?:oes|aes|aos)$/, 'ao').replace(/(?<=..)ais$/, 'al')),
  nl: dutchStem,
  sv: snowballOf('swedish'),
  da: snowballOf('danish'),
  nb: snowballOf('norwegian'),
  fi: snowballOf('finnish'),
};

/** The stem of a word in small Latin letters without accents. */
export function latinStem(word: string, language: LatinLanguage): string {
  return LATIN[language](word) || word;
}

const russian = snowballOf('russian');
const armenian = snowballOf('armenian');
const tamil = snowballOf('tamil');

/** Fleeting vowels: кошек is of кошка, окон of окно. */
function russianStem(word: string): string {
  const stem = russian(word);
  return stem.length > 3 ? stem.replace(/[оеё](?=[бвгджзклмнпрстфхцчшщ]$)/, '') : stem;
}

/** One spelling of letters that are written in several ways; vowel signs are left out by nearly everybody. */
function plainArabic(word: string): string {
  return word
    .replace(/[\u064b-\u065f\u0670\u0640]/g, '')
    .replace(/[أإآٱ]/g, 'ا')
    .replace(/[ىی]/g, 'ي')
    .replace(/ک/g, 'ك')
    .replace(/ؤ/g, 'و')
    .replace(/ئ/g, 'ي');
}

/** Without article, joined particles and endings of number, gender and possession, as far as enough is left. */
function arabicStem(word: string): string {
  let stem = plainArabic(word);
  const shorten = (pattern: RegExp, least: number) => {
    const shorter = stem.replace(pattern, '');
    if (shorter.length >= least) stem = shorter;
  };
  shorten(/^و(?=ال|لل)/, 3);
  shorten(/^(?:ال|بال|كال|فال|لل)/, 3);
  shorten(/(?:هما|كما|هم|هن|كم|نا|ها)$/, 3);
  shorten(/(?:ان|ين|ون|تين|تان|يه|ية)$/, 3);
  shorten(/(?:ات|ة)$/, 2);
  shorten(/[هي]$/, 3);
  // he, she and we of a verb
  shorten(/^[يتن]/, 3);
  return stem;
}

/** Without endings of case, number, gender and of participles, as far as two letters are left. */
function hindiStem(word: string): string {
  const stem = word.replace(/(?:ियों|ियाँ|ियां|ुओं|ाओं|ाएँ|ाएं|ुएँ|ुएं|ीं|ों|ें|ओं|एँ|एं|(?<!्)[तन][ाेी]|ा|ि|ी|ु|ू|े|ै|ो|ौ)$/u, '');
  return stem.length >= 2 ? stem : word;
}

/** The stem of a word that is not in Latin letters, by its script; itself where there is none. */
export function scriptStem(word: string): string {
  // Marks alone have no stem.
  return stemByScript(word) || word;
}

function stemByScript(word: string): string {
  if (/^[а-я]+$/.test(word)) return russianStem(word);
  if (/^[\p{Script=Arabic}\p{M}]+$/u.test(word)) return arabicStem(word);
  if (/^[\p{Script=Devanagari}\p{M}]+$/u.test(word)) return hindiStem(word);
  if (/^[\p{Script=Armenian}]+$/u.test(word)) return armenian(word);
  if (/^[\p{Script=Tamil}\p{M}]+$/u.test(word)) return tamil(word);
  return word;
}
