/**
 * What may not be stored (SPEC §2.5): one check for every write path, and the scan that flags messages, which
 * are kept whatever they hold.
 */

import { countCharacters } from './characters.js';
import { scanForms } from './scan-form.js';
import { LINE_THREATS, WORD_THREATS } from './threat-patterns.js';
import { destroysSystem, hasCredentialUrl, hasEncodedPayload, runsDownload } from './threat-shell.js';

/** Why a text is refused. The first eight are threats. */
export type RefusalCategory =
  | 'INSTRUCTION_OVERRIDE'
  | 'ROLE_PREFIX'
  | 'CHAT_TEMPLATE'
  | 'STANDING_ORDER'
  | 'CREDENTIAL_URL'
  | 'REMOTE_EXECUTION'
  | 'ENCODED_PAYLOAD'
  | 'HIDDEN_CONTROL'
  | 'CONTROL_CHARACTER'
  | 'INVALID_UNICODE'
  | 'BLANK'
  | 'TOO_LONG';

/** A refusal; its reason never contains the text. */
export interface Refusal {
  category: RefusalCategory;
  reason: string;
}

const REASONS: Readonly<Record<Exclude<RefusalCategory, 'TOO_LONG'>, string>> = {
  INSTRUCTION_OVERRIDE: 'The text instructs its reader to override earlier instructions.',
  ROLE_PREFIX: 'A line begins with the role of a conversation, such as "system:".',
  CHAT_TEMPLATE: 'The text contains a control token of a chat template.',
  STANDING_ORDER: 'The text is a standing order to act silently, to approve everything or to destroy.',
  CREDENTIAL_URL: 'The text contains a URL with a credential.',
  REMOTE_EXECUTION: 'The text contains a command that downloads and runs code.',
  ENCODED_PAYLOAD: 'The text contains a long run of encoded data.',
  HIDDEN_CONTROL: 'The text contains zero-width, bidirectional or other hidden characters.',
  CONTROL_CHARACTER: 'The text contains control characters.',
  INVALID_UNICODE: 'The text is not valid Unicode: it contains half a surrogate pair.',
  BLANK: 'The text is blank.',
};

/** C0 and C1 controls but tab, line feed and carriage return. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL_CHARACTERS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

/**
 * Checks a text before it is stored as a fact, an entity, an edge or a topic.
 *
 * @param limit the greatest number of characters (Unicode code points)
 * @returns the first reason to refuse it, or null
 */
export function checkContent(text: string, limit: number): Refusal | null {
  if (!text.isWellFormed()) return refuse('INVALID_UNICODE');
  if (text.trim() === '') return refuse('BLANK');
  if (isLongerThan(text, limit)) {
    return { category: 'TOO_LONG', reason: `The text is longer than ${limit} characters.` };
  }
  if (CONTROL_CHARACTERS.test(text)) return refuse('CONTROL_CHARACTER');
  const [threat] = threatsIn(text);
  return threat ? refuse(threat) : null;
}

/**
 * The threats in a raw message, without repeats; empty for a harmless one. Length, blankness and control
 * characters are no threats: a pasted log may have them.
 */
export function scanMessage(text: string): RefusalCategory[] {
  return [...new Set(threatsIn(text))];
}

type ThreatCategory = Exclude<
  RefusalCategory,
  'CONTROL_CHARACTER' | 'INVALID_UNICODE' | 'BLANK' | 'TOO_LONG'
>;

function refuse(category: Exclude<RefusalCategory, 'TOO_LONG'>): Refusal {
  return { category, reason: REASONS[category] };
}

function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  return countCharacters(text) > limit;
}

/** Lazy, so that a write stops at the first. */
function* threatsIn(text: string): Generator<ThreatCategory> {
  if (hasHiddenControl(text)) yield 'HIDDEN_CONTROL';
  for (const { lines, words } of scanForms(text)) {
    for (const { category, patterns } of WORD_THREATS) {
      if (patterns.some((pattern) => pattern.test(words))) yield category;
    }
    for (const { category, pattern } of LINE_THREATS) {
      if (lines.some((line) => pattern.test(line))) yield category;
    }
    if (lines.some(hasCredentialUrl)) yield 'CREDENTIAL_URL';
    // A trailing backslash or pipe continues a command on the next line.
    const commands = lines
      .join('\n')
      .replace(/\\\n|(?<=\|)\s*\n|\n\s{0,8}(?=\|)/g, ' ')
      .split('\n');
    if (commands.some(runsDownload)) yield 'REMOTE_EXECUTION';
    if (commands.some(destroysSystem)) yield 'STANDING_ORDER';
    if (hasEncodedPayload(lines)) yield 'ENCODED_PAYLOAD';
  }
}

/**
 * Zero-width and bidirectional controls, invisible fillers, tag characters and smuggled variation selectors;
 * not the joiners that emoji and some scripts are spelled with.
 */
const HIDDEN =
  /\u034f|[\u200b\u200e\u200f\u061c\u180e\u202a-\u202e\u2060-\u206f\ufeff\u115f\u1160\u3164\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\u17b4|\u17b5/u;
const JOINERS = /\u200c|\u200d/u;
const STACKED_SELECTORS = /(?:\ufe00|[\ufe01-\ufe0f]){2}/u;
const SPELLED_JOINERS = new RegExp(
  [
    // emoji of several persons or parts; flags of regions; variants of Han characters
    String.raw`(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})`,
    String.raw`\u{1f3f4}[\u{e0020}-\u{e007e}]{1,8}\u{e007f}`,
    String.raw`(?<=\p{Script=Han})[\u{e0100}-\u{e01ef}]`,
    String.raw`(?<=[${[
      'Arabic',
      'Syriac',
      'Devanagari',
      'Bengali',
      'Gurmukhi',
      'Gujarati',
      'Oriya',
      'Tamil',
      'Telugu',
      'Kannada',
      'Malayalam',
      'Sinhala',
      'Khmer',
      'Mongolian',
    ]
      .map((script) => `\\p{Script=${script}}`)
      .join('')}])(?:\u200c|\u200d)`,
  ].join('|'),
  'gu',
);

function hasHiddenControl(text: string): boolean {
  const spelled = JOINERS.test(text) || /[\u{e0000}-\u{e0fff}]/u.test(text);
  const rest = spelled ? text.replace(SPELLED_JOINERS, '') : text;
  return HIDDEN.test(rest) || JOINERS.test(rest) || STACKED_SELECTORS.test(rest);
}
