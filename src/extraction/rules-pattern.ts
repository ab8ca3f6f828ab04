/** How the rules for English statements are written (SPEC §2.3). */

import type { FactKind } from '../text/index.js';

/** A way to state something. */
export interface StatementRule {
  kind: FactKind;
  /** What the sentence says of its subject, where no `verb` is caught. */
  predicate: string;
  /** 0 … 1. */
  confidence: number;
  pattern: RegExp;
  /** True of now: it does not match where the sentence says "today", "right now" and the like. */
  state: boolean;
  /** It may be worded as an order ("always …", "call me …"), which other statements may not. */
  order: boolean;
}

interface Options {
  state?: boolean;
  order?: boolean;
}

/** True of now. */
export const STATE: Options = { state: true };
/** May be an order. */
export const ORDER: Options = { order: true };

/** A rule from the parts of its pattern, case ignored. */
export function rule(
  kind: FactKind,
  predicate: string,
  confidence: number,
  source: readonly string[],
  options: Options = {},
): StatementRule {
  return {
    kind,
    predicate,
    confidence,
    // An apostrophe is part of a word: `i` is none in "it's I".
    pattern: new RegExp(`(?<![\\w'])${UNCONDITIONAL}(?:${source.join('')})`, 'i'),
    state: options.state ?? false,
    order: options.order ?? false,
  };
}

/** "when I have kids", "something I love" state nothing by themselves. */
const UNCONDITIONAL =
  '(?<!\\b(?:when|if|until|till|unless|whether|once|wish|as if|something|everything|anything|everyone|everybody|things?|what|ones?|all|those|who|than|whatever|someone) )';
/** Where a clause begins, and so a subject. */
export const CLAUSE =
  '(?<=^|[,;:–—-] |\\b(?:and|but|so|that|since|because|as|now|although|though|while|then|where|yes|also|think|believe) )';
export const I_OR_WE = '(?:i|we)';
