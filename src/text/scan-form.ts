/**
 * The forms in which a text is scanned for threats (SPEC §2.5): what a model would read, whatever the bytes
 * are. Full-width letters, accents, look-alike letters, soft hyphens, zero-width characters, Markdown emphasis
 * l e t t e r spacing and slips of the pen are undone here, once, so that the patterns can be plain.
 */

import { repaired } from './scan-typos.js';

/** A text ready for scanning. */
export interface ScanForm {
  /** Lines with their case and punctuation. */
  lines: readonly string[];
  /**
   * Lower-case words separated by single spaces, between spaces; a clause's end is the word `.`, a comma `,`.
   * Hyphens and underscores separate words.
   */
  words: string;
}

/** Cyrillic and Greek letters, each before the Latin one that looks the same. */
const LOOK_ALIKE_PAIRS =
  'аaеeоoрpсcуyхxіiјjѕsһhԁdѵvгrкkтtмmнhαaοoρpιiκkτtυuνvηnεeχxγyАAВBЕEКKМMНHОOРPСCТTУYХXІIЅSΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX';

const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  LOOK_ALIKE_PAIRS.match(/../gu)!.map((pair) => [pair[0]!, pair[1]!]),
);

/** Format characters and other invisible ones: they split a word for a scanner, not for a model. */
const INVISIBLE = /\u034f|[\p{Cf}\u115f\u1160\u3164\uffa0]|\ufe00|[\ufe01-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

/** The forms of a text: one, or two where Latin is mixed with scripts that look like it. */
export function scanForms(text: string): ScanForm[] {
  const plain = text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"');
  const forms = [formOf(plain)];
  if (/[a-z]/i.test(plain) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(plain)) {
    forms.push(
      formOf(plain.replace(/[\p{Script=Cyrillic}\p{Script=Greek}]/gu, (x) => LOOK_ALIKES.get(x) ?? x)),
    );
  }
  return forms;
}

function formOf(plain: string): ScanForm {
  return {
    lines: plain.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/),
    words: ` . ${wordsOf(plain).join(' ')} . `,
  };
}

function wordsOf(plain: string): string[] {
  const words: string[] = [];
  // A line's end alone ends no clause: a phrase may be wrapped. An empty line, a list mark or a heading does.
  const marked = plain.toLowerCase().replace(/\n\s*(?:\n|[-*+>#]|\d+[.)]\s)/g, ' . ');
  for (const [token] of marked.matchAll(
    /[\p{L}\p{M}\p{N}']+|[.!?;:](?![\p{L}\p{N}/])|["()[\]{}<>|。！？；：]|[,、，]|—|–/gu,
  )) {
    const word = token.replace(/^'+|'+$/g, '');
    if (/[\p{L}\p{N}]/u.test(word)) words.push(repaired(word));
    else if (/[,、，]/.test(token)) words.push(',');
    else if (words.at(-1) !== '.') words.push('.');
  }
  return joinSpelled(words);
}

/** `i g n o r e` is one word: runs of five or more single letters are joined. */
function joinSpelled(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (let at = 0; at < words.length; ) {
    let end = at;
    while (end < words.length && /^[a-z0-9]$/.test(words[end]!)) end += 1;
    if (end - at >= 5) joined.push(words.slice(at, end).join(''));
    else joined.push(...words.slice(at, Math.max(end, at + 1)));
    at = Math.max(end, at + 1);
  }
  return joined;
}
