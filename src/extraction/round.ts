import {
  type Claim,
  claimSession,
  type ExtractionRunRow,
  type FactRecord,
  type MessageRecord,
  messagesToMine,
  newestVisibleFacts,
  pendingRuns,
  type Unit,
} from '../db/index.js';
import { FACT_KINDS } from '../text/index.js';
import { cutRound, WINDOW_CHARACTERS } from './windows.js';

/** Messages and characters that are read at a time; more are left to the next round. */
const ROUND = { messages: 500, characters: 4 * WINDOW_CHARACTERS };
/** Most live facts that an extractor is shown (SPEC §2.3). */
const KNOWN_FACTS = 60;

/** A session that is claimed, with what a round mines of it. */
export interface Round {
  readonly claim: Claim;
  /** The runs that wait, oldest first. */
  readonly runs: readonly ExtractionRunRow[];
  readonly messages: readonly MessageRecord[];
  /** Where the cursor is when all of these messages are mined. */
  readonly endSeq: number;
  /** The newest live facts that are seen in the session's context. */
  readonly known: readonly FactRecord[];
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
  const runs = await pendingRuns(unit, sessionId);
  const { messages: read, cut } = await messagesToMine(unit, sessionId, claim.minedSeq, ROUND);
  const messages = cut ? cutRound(read, runs) : read;
  const endSeq = cut ? (messages.at(-1)?.seq ?? claim.minedSeq) : claim.lastSeq;
  const [known = []] =
    messages.length === 0
      ? []
      : await newestVisibleFacts(unit, claim, {}, [{ kinds: FACT_KINDS, limit: KNOWN_FACTS }], now);
  return { claim, runs, messages, endSeq, known };
}
