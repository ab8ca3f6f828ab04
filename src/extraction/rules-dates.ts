/** Explicit dates that a sentence gives for the beginning of what it states (SPEC §1, validFrom). */
import { MONTHS } from '../text/index.js';

const MONTH = `(?<month>${MONTHS.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\.?`;
const YEAR = '(?<year>(?:19|20)\\d\\d)';
const DAY = '(?<day>[0-3]?\\d)(?:st|nd|rd|th)?';

const DATES: readonly RegExp[] = [
  '(?<year>(?:19|20)\\d\\d)-(?<number>[01]\\d)-(?<day>[0-3]\\d)',
  `(?:the )?${DAY} (?:of )?${MONTH},? ${YEAR}`,
  `${MONTH} ${DAY},? ${YEAR}`,
  `${MONTH},? (?:of )?${YEAR}`,
  YEAR,
].map(
  (source) =>
    new RegExp(
      `\\b(?<mark>since|as of|starting(?: from| in| on)?|beginning(?: in| on)?|effective(?: from)?|from|in|on|back in)(?: the)?(?: (?:early|late|mid|end of|beginning of|start of))? (?:${source})(?![\\d-])`,
      'i',
    ),
);

/** "in 2019" begins what happened then; it does not begin a plan for 2031 or a birth year's fact. */
const LOOSE_MARKS = /^(?:in|on|from|back in)$/i;

/**
 * The begin of validity that the text states, as the first moment (UTC) of the day, month or year named; only
 * where the text has a year. Dates after the reference time are plans and give none.
 */
export function validFromOf(text: string, referenceTime: Date, isPast: boolean): Date | undefined {
  for (const pattern of DATES) {
    const groups = pattern.exec(text)?.groups;
    if (!groups) continue;
    if (LOOSE_MARKS.test(groups['mark']!) && !isPast) continue;
    const date = dateOf(groups);
    return date && date.getTime() <= referenceTime.getTime() ? date : undefined;
  }
  return undefined;
}

function dateOf(groups: Readonly<Record<string, string | undefined>>): Date | undefined {
  const year = Number(groups['year']);
  const name = groups['month']?.toLowerCase().slice(0, 3);
  const month = name
    ? MONTHS.findIndex((candidate) => candidate.startsWith(name))
    : groups['number']
      ? Number(groups['number']) - 1
      : 0;
  const day = groups['day'] ? Number(groups['day']) : 1;
  const date = new Date(Date.UTC(year, month, day));
  // 31 June and month 13 are no dates.
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date : undefined;
}
