import { hexOf } from '../content/index.js';
import { Prisma } from '../generated/client.js';
import type { IdPage } from './members.js';
import type { Unit } from './unit.js';

/** What became of a candidate: returned, or left out for a reason (SPEC §8). */
export const RECALL_OUTCOMES = ['RETURNED', 'OVER_BUDGET', 'BELOW_K', 'KIND_EXCLUDED', 'FLAGGED'] as const;
export type RecallOutcome = (typeof RECALL_OUTCOMES)[number];

/** A fact or message that a recall looked at, by its id alone: what it says is read with the receipt, if it is still there. */
export interface ReceiptCandidate {
  readonly id: string;
  readonly outcome: RecallOutcome;
  /** Its place among all candidates, from 1; null for what the filter left out before it was ranked. */
  readonly place: number | null;
  /** What found it; empty where what is said around it did. */
  readonly arms: readonly string[];
  /** As the answer told them, to seven digits. */
  readonly score: number;
  readonly lexical: number | null;
  readonly vector: number | null;
  readonly fused: number;
  readonly icnu: number;
}

/** How a recall came about. */
export interface ReceiptRecord {
  readonly id: string;
  /** The context: whose memory was asked for. */
  readonly agentId: string | null;
  readonly userId: string | null;
  /** Who asked. */
  readonly actorKind: string;
  readonly actorId: string | null;
  /** Null where nothing was searched for. */
  readonly query: string | null;
  readonly k: number;
  readonly charBudget: number | null;
  /** Empty: all. */
  readonly kinds: readonly string[];
  readonly sources: readonly string[];
  readonly validAt: Date | null;
  readonly knownAt: Date | null;
  readonly includeFlagged: boolean;
  readonly arms: readonly ReceiptArm[];
  /** How many candidates were left out, by the reason. */
  readonly leftOut: readonly { readonly reason: RecallOutcome; readonly count: number }[];
  readonly charactersUsed: number;
  /** The best, in the order of their places; what the filter left out comes last. */
  readonly candidates: readonly ReceiptCandidate[];
  /** How many there were, those that are not kept included. */
  readonly candidateCount: number;
  readonly recalledAt: Date;
}

/** An arm that ran, and how many it found. */
export interface ReceiptArm {
  readonly name: string;
  readonly candidates: number;
  readonly underfilled: boolean;
}

/** A candidate as it is stored: in few characters, for there are a hundred a receipt. */
type Cell = readonly [
  id: string,
  outcome: RecallOutcome,
  place: number | null,
  arms: readonly string[],
  score: number,
  lexical: number | null,
  vector: number | null,
  fused: number,
  icnu: number,
];

type Row = Omit<ReceiptRecord, 'query' | 'candidates'> & {
  readonly query: Uint8Array | null;
  readonly candidates: readonly Cell[];
};

const COLUMNS = Prisma.sql`r.id, r.agent_id AS "agentId", r.user_id AS "userId", r.actor_kind AS "actorKind",
  r.actor_id AS "actorId", r.query, r.k, r.char_budget AS "charBudget", r.kinds, r.sources, r.valid_at AS "validAt",
  r.known_at AS "knownAt", r.include_flagged AS "includeFlagged", r.arms, r.left_out AS "leftOut",
  r.characters_used AS "charactersUsed", r.candidates, r.candidate_count AS "candidateCount", r.recalled_at AS "recalledAt"`;

/**
 * Keeps receipts. One whose agent or user is gone meanwhile is not kept, nor one that is kept already. One statement.
 */
export async function insertReceipts(unit: Unit, receipts: readonly ReceiptRecord[]): Promise<void> {
  if (receipts.length === 0) return;
  const rows = receipts.map(({ query, candidates, ...receipt }) => ({
    ...receipt,
    query: query === null ? null : hexOf(unit.content.seal(query)),
    candidates: candidates.map(toCell),
  }));
  await unit.tx.$executeRaw`
    INSERT INTO recall_receipt (tenant_id, id, agent_id, user_id, actor_kind, actor_id, query, k, char_budget, kinds, sources,
      valid_at, known_at, include_flagged, arms, left_out, characters_used, candidates, candidate_count, recalled_at)
    SELECT ${unit.tenantId}::uuid, r.id, r."agentId", r."userId", r."actorKind", r."actorId", r.query, r.k, r."charBudget",
      r.kinds, r.sources, r."validAt", r."knownAt", r."includeFlagged", r.arms, r."leftOut", r."charactersUsed",
      r.candidates, r."candidateCount", r."recalledAt"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      id uuid, "agentId" uuid, "userId" uuid, "actorKind" text, "actorId" uuid, query bytea, k int, "charBudget" int,
      kinds text[], sources text[], "validAt" timestamptz, "knownAt" timestamptz, "includeFlagged" boolean, arms jsonb,
      "leftOut" jsonb, "charactersUsed" int, candidates jsonb, "candidateCount" int, "recalledAt" timestamptz)
    WHERE (r."agentId" IS NULL OR EXISTS (
        SELECT FROM agent a WHERE a.tenant_id = ${unit.tenantId}::uuid AND a.id = r."agentId"))
      AND (r."userId" IS NULL OR EXISTS (
        SELECT FROM app_user u WHERE u.tenant_id = ${unit.tenantId}::uuid AND u.id = r."userId"))
    ON CONFLICT DO NOTHING`;
}

/** Which receipts are asked for; null for any. */
export interface ReceiptFilter {
  readonly agentId: string | null;
  readonly userId: string | null;
  /** Who asked. */
  readonly actorId: string | null;
  /** From this time on, and before this one. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** A page of receipts, newest first. One statement. */
export async function listReceipts(
  unit: Unit,
  filter: ReceiptFilter,
  page: IdPage,
): Promise<ReceiptRecord[]> {
  const conditions = [Prisma.sql`r.tenant_id = ${unit.tenantId}::uuid`];
  if (filter.actorId) conditions.push(Prisma.sql`r.actor_id = ${filter.actorId}::uuid`);
  if (filter.agentId) conditions.push(Prisma.sql`r.agent_id = ${filter.agentId}::uuid`);
  if (filter.userId) conditions.push(Prisma.sql`r.user_id = ${filter.userId}::uuid`);
  if (filter.from) conditions.push(Prisma.sql`r.recalled_at >= ${filter.from}::timestamptz`);
  if (filter.to) conditions.push(Prisma.sql`r.recalled_at < ${filter.to}::timestamptz`);
  if (page.after) conditions.push(Prisma.sql`r.id < ${page.after}::uuid`);
  if (page.before) conditions.push(Prisma.sql`r.id > ${page.before}::uuid`);
  const rows = await unit.tx.$queryRaw<Row[]>`
    SELECT ${COLUMNS} FROM recall_receipt r WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY r.id ${page.backward ? Prisma.sql`ASC` : Prisma.sql`DESC`} LIMIT ${page.limit + 1}::int`;
  return rows.map((row) => toReceipt(unit, row));
}

/** Receipts by id; those that do not exist in this tenant are left out. One statement. */
export async function receiptsByIds(unit: Unit, ids: readonly string[]): Promise<ReceiptRecord[]> {
  const rows = await unit.tx.$queryRaw<Row[]>`
    SELECT ${COLUMNS} FROM recall_receipt r
    WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.id = ANY(${[...ids]}::uuid[])`;
  return rows.map((row) => toReceipt(unit, row));
}

/**
 * Drops the oldest receipts that are older than `before`. One statement.
 * @param limit most that one call drops
 * @returns how many; fewer than `limit`: none older is left
 */
export async function pruneReceipts(unit: Unit, before: Date, limit: number): Promise<number> {
  return unit.tx.$executeRaw`
    DELETE FROM recall_receipt r
    WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.id = ANY(ARRAY(
      SELECT o.id FROM recall_receipt o
      WHERE o.tenant_id = ${unit.tenantId}::uuid AND o.recalled_at < ${before}::timestamptz
      ORDER BY o.recalled_at LIMIT ${limit}::int))`;
}

/**
 * Drops all receipts of a user: of what it asked itself, and of what others asked of its memory (SPEC §9). One statement.
 * @returns how many there were
 */
export async function eraseReceiptsOfUser(unit: Unit, userId: string): Promise<number> {
  return unit.tx.$executeRaw`
    DELETE FROM recall_receipt r
    WHERE r.tenant_id = ${unit.tenantId}::uuid
      AND (r.user_id = ${userId}::uuid OR (r.actor_kind = 'USER' AND r.actor_id = ${userId}::uuid))`;
}

function toCell(candidate: ReceiptCandidate): Cell {
  const { id, outcome, place, arms, score, lexical, vector, fused, icnu } = candidate;
  return [
    id,
    outcome,
    place,
    arms,
    short(score),
    shortOf(lexical),
    shortOf(vector),
    short(fused),
    short(icnu),
  ];
}

function toReceipt(unit: Unit, { query, candidates, ...row }: Row): ReceiptRecord {
  return {
    ...row,
    query: unit.content.openOptional(query),
    candidates: candidates.map(([id, outcome, place, arms, score, lexical, vector, fused, icnu]) => ({
      ...{ id, outcome, place, arms, score, lexical, vector, fused, icnu },
    })),
  };
}

/** Seven digits tell two scores apart as well as all of them, in half the space. */
function short(value: number): number {
  return Number(value.toPrecision(7));
}

function shortOf(value: number | null): number | null {
  return value === null ? null : short(value);
}
