import type pg from 'pg';
import { type Caller, uuidOf } from '../facts/support.js';
import type { TestTenant } from '../support/app.js';

/** What tests look at of a recalled fact. */
export interface Recalled {
  readonly score: number;
  readonly scores: { readonly icnu: number };
  readonly node: { readonly id: string; readonly text: string };
}

/** Recalls through the API; facts alone. */
export async function recall(caller: Caller, input: Record<string, unknown> = {}): Promise<Recalled[]> {
  const { recall } = await caller.query<{ recall: { items: Recalled[] } }>(
    `query ($input: RecallInput!) { recall(input: $input) {
       items { score scores { icnu } node { ... on Fact { id text } } } } }`,
    { input: { sources: ['FACT'], ...input } },
  );
  return recall.items;
}

/** A fact's numbers as they are stored. */
export interface StoredNumbers {
  readonly encoded: number;
  readonly current: number;
  readonly told: number;
  readonly reinforcement: number;
  readonly recallCount: number;
  readonly reinforcedAt: Date | null;
  readonly lastSeenAt: Date;
}

export async function numbersOf(owner: pg.Client, factId: string): Promise<StoredNumbers> {
  const { rows } = await owner.query<StoredNumbers>(
    `SELECT encoded, current, told, reinforcement, recall_count AS "recallCount", reinforced_at AS "reinforcedAt",
            last_seen_at AS "lastSeenAt" FROM fact_salience WHERE fact_id = $1`,
    [uuidOf(factId)],
  );
  return rows[0]!;
}

/** Overwrites numbers of a fact, as other histories would have left them. */
export async function setNumbers(
  owner: pg.Client,
  factId: string,
  numbers: Record<string, unknown>,
): Promise<void> {
  const columns = Object.keys(numbers);
  const set = columns.map((column, place) => `${column} = $${place + 2}`).join(', ');
  await owner.query(`UPDATE fact_salience SET ${set} WHERE fact_id = $1`, [
    uuidOf(factId),
    ...Object.values(numbers),
  ]);
}

export interface StoredTie {
  readonly first: string;
  readonly second: string;
  readonly weight: number;
}

/** A tenant's ties, strongest first. */
export async function tiesOf(owner: pg.Client, tenant: TestTenant): Promise<StoredTie[]> {
  const { rows } = await owner.query<StoredTie>(
    `SELECT first_id AS first, second_id AS second, weight FROM co_activation WHERE tenant_id = $1
     ORDER BY weight DESC, first_id, second_id`,
    [uuidOf(tenant.id)],
  );
  return rows;
}

/** Ties two facts, as earlier recalls would have done. */
export async function tie(
  owner: pg.Client,
  tenant: TestTenant,
  ids: readonly [string, string],
  weight: number,
  at: Date,
): Promise<void> {
  await owner.query(
    `INSERT INTO co_activation (tenant_id, first_id, second_id, weight, updated_at)
     VALUES ($1, least($2::uuid, $3::uuid), greatest($2::uuid, $3::uuid), $4, $5)`,
    [uuidOf(tenant.id), uuidOf(ids[0]), uuidOf(ids[1]), weight, at],
  );
}
