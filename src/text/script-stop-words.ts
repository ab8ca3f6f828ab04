/** Stop words of languages that their script tells: dropped from a query that has others (SPEC §8.1). */

import { ara, fas, heb, hin, jpn, rus, tha, ukr, zho } from 'stopword';

/** In the libraries' lists, but what memories are about: home, visits, persons, times, what is small or much. */
const CONTENT = new Set(
  'घर زيارة لقاء شخصا سنة سنوات عام يوم صباح مساء 年 月 日 时 分 秒 看 说 小 多 сегодня сказал วัน'.split(' '),
);

const STOP_WORDS: ReadonlySet<string> = new Set(
  [ara, fas, heb, hin, jpn, rus, tha, ukr, zho]
    .flat()
    .map((word) => word.normalize('NFKC').toLowerCase().replaceAll('ё', 'е'))
    .filter((word) => /^[\p{L}\p{M}]+$/u.test(word) && !/\p{Script=Latin}/u.test(word) && !CONTENT.has(word)),
);

/** Whether a folded word in letters other than Latin is one. */
export function isScriptStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
