/** Times that a query names, and how well a document's time fits them (SPEC §8.1). Pure; times are UTC. */
import { MONTHS } from '../text/index.js';

const DAY_MS = 86_400_000;

/** A stretch of time that a query names. */
export interface NamedTime {
  /** Milliseconds of the epoch: from is within, to is not. Null where it comes every year ("in May"). */
  readonly span: { readonly from: number; readonly to: number } | null;
  /** Where it comes every year: month 0 to 11, and the day of the month if it is named. */
  readonly yearly: { readonly month: number; readonly day: number | null } | null;
  /** How much it says, 0 to 1: a year alone says little. */
  readonly certainty: number;
}

/** How soon a fit fades, in days: people tell of a day within about a week after it, and sooner than that before. */
const FADES = Object.freeze({ day: { before: 3, after: 7 }, longer: { before: 10, after: 10 } });
const YEAR_CERTAINTY = 0.5;
const LONGEST_QUERY = 2_000;

const MONTH_NAMES = `${MONTHS.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec`;
const YEAR = String.raw`(?:19|20)\d{2}`;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const ISO_DAY = new RegExp(String.raw`\b(${YEAR})-(\d{2})(?:-(\d{2}))?\b`, 'g');
const DATE = new RegExp(
  String.raw`\b(?:${DAY}(?:\s+of)?\s+)?(${MONTH_NAMES})\b\.?(?:\s+${DAY}(?!\d))?(?:,?\s+(?:of\s+|in\s+)?(${YEAR})\b)?`,
  'gi',
);
const BARE_YEAR = new RegExp(String.raw`\b(${YEAR})\b(?!-)`, 'g');
const AGO =
  /\b(an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3})\s+(day|week|month|year)s?\s+ago\b/gi;
const NUMBERS = ['', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const RELATIVE =
  /\b(today|tonight|yesterday|last night|(?:last|this|past) (?:week|month|year)|(?:last|on) (?:sun|mon|tues|wednes|thurs|fri|satur)day)\b/gi;
const WEEKDAYS = ['sun', 'mon', 'tues', 'wednes', 'thurs', 'fri', 'satur'];

/** The times that a query names, by the calendar or from `now`. None of what is only a number or a common word. */
export function timesIn(query: string, now: Date): NamedTime[] {
  const text = query.slice(0, LONGEST_QUERY);
  const times: NamedTime[] = [];
  for (const [, year, month, day] of text.matchAll(ISO_DAY))
    times.push(...calendar(Number(year), Number(month) - 1, day === undefined ? null : Number(day)));
  const rest = text.replace(ISO_DAY, ' ').replace(DATE, (found, before, name: string, after, year) => {
    // "may" and "march" are verbs, unless they are written as names.
    if (/^(?:may|march|mar)$/.test(name)) return found;
    const month = MONTHS.findIndex((one) => one.startsWith(name.slice(0, 3).toLowerCase()));
    const day = before ?? after;
    times.push(
      ...calendar(year === undefined ? null : Number(year), month, day === undefined ? null : Number(day)),
    );
    return ' ';
  });
  for (const [, year] of rest.matchAll(BARE_YEAR)) times.push(...calendar(Number(year), null, null));
  for (const [, count, unit] of rest.matchAll(AGO))
    times.push(ago(now, countOf(count as string), (unit as string).toLowerCase()));
  for (const [, words] of rest.matchAll(RELATIVE)) times.push(relative(now, (words as string).toLowerCase()));
  return times;
}

/** How well a time fits the best of those named: 1 within it, fading to 0 around it; 0 where none is named. */
export function timeFit(at: number, named: readonly NamedTime[]): number {
  return named.reduce((best, time) => Math.max(best, time.certainty * fitOf(at, time)), 0);
}

function fitOf(at: number, { span, yearly }: NamedTime): number {
  if (span) return fade(at, span.from, span.to);
  if (!yearly) return 0;
  const year = new Date(at).getUTCFullYear();
  // Around the turn of the year the nearest is last year's or next year's.
  return Math.max(
    ...[year - 1, year, year + 1].map((one) => {
      const [from, to] = spanOf(one, yearly.month, yearly.day);
      return fade(at, from, to);
    }),
  );
}

function fade(at: number, from: number, to: number): number {
  const { before, after } = to - from > DAY_MS ? FADES.longer : FADES.day;
  if (at < from) return Math.exp((at - from) / (before * DAY_MS));
  return at < to ? 1 : Math.exp((to - at) / (after * DAY_MS));
}

/** A date of the calendar; none where there is no such day. A day without a month is no date. */
function calendar(year: number | null, month: number | null, day: number | null): NamedTime[] {
  if (month !== null && (month < 0 || month > 11)) return [];
  if (day !== null && (month === null || day < 1 || day > daysOf(year, month))) return [];
  if (year === null) return month === null ? [] : [{ span: null, yearly: { month, day }, certainty: 1 }];
  const [from, to] = month === null ? [Date.UTC(year, 0), Date.UTC(year + 1, 0)] : spanOf(year, month, day);
  return [{ span: { from, to }, yearly: null, certainty: month === null ? YEAR_CERTAINTY : 1 }];
}

function spanOf(year: number, month: number, day: number | null): [from: number, to: number] {
  if (day === null) return [Date.UTC(year, month), Date.UTC(year, month + 1)];
  return [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)];
}

function daysOf(year: number | null, month: number): number {
  return new Date(Date.UTC(year ?? 2000, month + 1, 0)).getUTCDate();
}

function countOf(word: string): number {
  if (/^\d/.test(word)) return Number(word);
  return /^an?$/i.test(word) ? 1 : NUMBERS.indexOf(word.toLowerCase());
}

function between(from: number, to: number, certainty = 1): NamedTime {
  return { span: { from, to }, yearly: null, certainty };
}

function ago(now: Date, count: number, unit: string): NamedTime {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  if (unit === 'year')
    return between(Date.UTC(year - count, 0), Date.UTC(year - count + 1, 0), YEAR_CERTAINTY);
  if (unit === 'month') return between(Date.UTC(year, month - count), Date.UTC(year, month - count + 1));
  const today = startOfDay(now);
  if (unit === 'day') return between(today - count * DAY_MS, today - (count - 1) * DAY_MS);
  const monday = startOfWeek(now);
  return between(monday - 7 * count * DAY_MS, monday - 7 * (count - 1) * DAY_MS);
}

function relative(now: Date, words: string): NamedTime {
  if (words === 'today' || words === 'tonight') return ago(now, 0, 'day');
  if (words === 'yesterday' || words === 'last night') return ago(now, 1, 'day');
  const [which, what = ''] = words.split(' ');
  const weekday = WEEKDAYS.findIndex((name) => what === `${name}day`);
  if (weekday < 0) return ago(now, which === 'this' ? 0 : 1, what);
  return ago(now, (now.getUTCDay() - weekday + 7) % 7 || 7, 'day');
}

function startOfDay(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
}

/** Weeks begin on Monday. */
function startOfWeek(now: Date): number {
  return startOfDay(now) - ((now.getUTCDay() + 6) % 7) * DAY_MS;
}
