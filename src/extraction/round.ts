import {
  type Claim,
  claimSession,
  type ExtractionRunRow,
  type FactRecord,
  type MessageRecord,
  type MiningRound,
  messagesToMine,
  newestVisibleFacts,
  pendingRuns,
  type QuarantinedWindow,
  runsOfWindow,
  type Unit,
} from '../db/index.js';
import { FACT_KINDS } from '../text/index.js';
import { cutRound, cutWindows, WINDOW_CHARACTERS } from './windows.js';

/** Messages and characters that are read at a time; more are left to the next round. */
const ROUND = { messages: 500, characters: 4 * WINDOW_CHARACTERS };
/** Most live facts that an extractor is shown (SPEC §2.3). */
const KNOWN_FACTS = 60;

/** A session that is claimed, with what a round mines of it. */
export interface Round {
  readonly claim: Claim;
  /** The runs that wait, oldest first; where a window is tried again, those with messages in it. */
  readonly runs: readonly ExtractionRunRow[];
  /** What is mined, one after the other. */
  readonly given: readonly (readonly MessageRecord[])[];
  /** Where the cursor is when all of these are mined. */
  readonly endSeq: number;
  /** The newest live facts that are seen in the session's context. */
  readonly known: readonly FactRecord[];
  /** The window that was put aside and is tried again, alone; the cursor stays. Null: what is after the cursor is mined. */
  readonly retried: QuarantinedWindow | null;
}

/** Claims a session for mining and reads a round of it; null when another holds the session, or it is gone. */
export async function takeRound(
  unit: Unit,
  sessionId: string,
  owner: string,
  now: Date,
  until: Date,
): Promise<Round | null> {
  const claim = await claimSession(unit, sessionId, owner, now, until);
  if (!claim) return null;
  const retried = dueWindow(claim.aside, now);
  const round = retried ? await readAgain(unit, claim, retried) : await readOn(unit, claim);
  const [known = []] =
    round.given.length === 0
      ? []
      : await newestVisibleFacts(unit, claim, {}, [{ kinds: FACT_KINDS, limit: KNOWN_FACTS }], now);
  return { claim, retried, known, ...round };
}

type Read = Pick<Round, 'runs' | 'given' | 'endSeq'>;

async function readAgain(unit: Unit, claim: Claim, window: QuarantinedWindow): Promise<Read> {
  const runs = await runsOfWindow(unit, window);
  const { messages } = await messagesToMine(unit, claim.sessionId, window.fromSeq - 1, ROUND);
  const own = messages.filter(({ seq }) => seq <= window.toSeq);
  return { runs, given: own.length === 0 ? [] : [own], endSeq: claim.minedSeq };
}

async function readOn(unit: Unit, claim: Claim): Promise<Read> {
  const runs = await pendingRuns(unit, claim.sessionId);
  return {
    runs,
    ...nextWindows(claim, await messagesToMine(unit, claim.sessionId, claim.minedSeq, ROUND), runs),
  };
}

/** The oldest of the windows that are put aside and due to be tried again. */
export function dueWindow(aside: readonly QuarantinedWindow[], now: Date): QuarantinedWindow | null {
  return aside.find(({ retryAt }) => retryAt !== null && retryAt <= now) ?? null;
}

/**
 * The windows of what was read after the cursor, and where that is when they are mined. A window that has failed is mined
 * alone and as it was: what came after it does not share its fate.
 */
export function nextWindows(
  claim: Pick<Claim, 'minedSeq' | 'lastSeq' | 'window'>,
  { messages: read, cut }: MiningRound,
  runs: readonly ExtractionRunRow[],
): Omit<Read, 'runs'> {
  const failing = claim.window.to;
  if (failing !== null && failing > claim.minedSeq) {
    const own = read.filter(({ seq }) => seq <= failing);
    return { given: own.length === 0 ? [] : [own], endSeq: failing };
  }
  const messages = cut ? cutRound(read, runs) : read;
  const endSeq = cut ? (messages.at(-1)?.seq ?? claim.minedSeq) : claim.lastSeq;
  return { given: cutWindows(messages), endSeq };
}
