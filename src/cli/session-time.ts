import { MONTHS } from '../text/index.js';

const SPOKEN = /^(\d{1,2})(?::(\d{2}))?\s*(am|pm)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})$/;
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * When a session was held, from `1:56 pm on 8 May, 2023` or an ISO 8601 time. Without a zone it is UTC: the machine
 * that imports has nothing to say about it. Null for anything else, and for a day that the month does not have.
 */
export function sessionTime(text: string): Date | null {
  const plain = text.trim();
  if (ISO.test(plain)) {
    const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(plain.slice(10)) || plain.length === 10;
    const at = new Date(zoned ? plain : `${plain.replace(' ', 'T')}Z`);
    const valid = !Number.isNaN(at.getTime()) && Number(plain.slice(8, 10)) <= daysIn(plain);
    return valid ? at : null;
  }
  const spoken = SPOKEN.exec(plain.toLowerCase());
  if (!spoken) return null;
  const [, hour, minute, half, day, monthName, year] = spoken;
  const month = MONTHS.indexOf(monthName as string);
  const hours = Number(hour);
  const minutes = Number(minute ?? 0);
  if (month < 0 || hours < 1 || hours > 12 || minutes > 59) return null;
  const at = new Date(
    Date.UTC(Number(year), month, Number(day), (hours % 12) + (half === 'pm' ? 12 : 0), minutes),
  );
  return at.getUTCDate() === Number(day) ? at : null;
}

function daysIn(isoDate: string): number {
  return new Date(Date.UTC(Number(isoDate.slice(0, 4)), Number(isoDate.slice(5, 7)), 0)).getUTCDate();
}
