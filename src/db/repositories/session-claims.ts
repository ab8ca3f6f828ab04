import type { QuarantinedWindow } from './quarantined-windows.js';
import type { Unit } from './unit.js';

/** A session taken for mining: nobody else mines it until the lease ends. */
export interface Claim {
  readonly sessionId: string;
  readonly scopeId: number;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly minedSeq: number;
  readonly lastSeq: number;
  /** What is known of the window after the cursor, where mining it failed. */
  readonly window: FailingWindow;
  /** Windows that are put aside, oldest first. */
  readonly aside: readonly QuarantinedWindow[];
}

/** The window after a session's cursor and its failures (SPEC §2.2). */
export interface FailingWindow {
  /** Sequence of its newest message; null: no window has failed here. */
  readonly to: number | null;
  /** How often in a row it has failed. */
  readonly failures: number;
  /** When it is tried again by itself; null: with the next append. */
  readonly retryAt: Date | null;
}

/** Takes a session's lease; null when another holds it or the session is gone. One statement. */
export async function claimSession(
  unit: Unit,
  sessionId: string,
  owner: string,
  now: Date,
  until: Date,
): Promise<Claim | null> {
  const rows = await unit.tx.$queryRaw<ClaimRow[]>`
    UPDATE session SET lease_owner = ${owner}::uuid, lease_until = ${until}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${sessionId}::uuid
      AND (lease_until IS NULL OR lease_until < ${now}::timestamptz OR lease_owner = ${owner}::uuid)
    RETURNING id AS "sessionId", scope_id AS "scopeId", agent_id AS "agentId", user_id AS "userId",
              mined_seq AS "minedSeq", last_seq AS "lastSeq", window_to AS "windowTo",
              window_failures AS "windowFailures", window_retry_at AS "windowRetryAt",
              (SELECT json_agg(json_build_object('sessionId', q.session_id, 'fromSeq', q.from_seq, 'toSeq', q.to_seq,
                        'error', q.error, 'failures', q.failures, 'quarantinedAt', q.quarantined_at,
                        'retryAt', q.retry_at) ORDER BY q.from_seq)
               FROM quarantined_window q
               WHERE q.tenant_id = ${unit.tenantId}::uuid AND q.session_id = ${sessionId}::uuid) AS aside`;
  const [row] = rows;
  if (!row) return null;
  const { windowTo, windowFailures, windowRetryAt, aside, ...claim } = row;
  return {
    ...claim,
    window: { to: windowTo, failures: windowFailures, retryAt: windowRetryAt },
    aside: (aside ?? []).map((window) => ({
      ...window,
      quarantinedAt: new Date(window.quarantinedAt),
      retryAt: window.retryAt === null ? null : new Date(window.retryAt),
    })),
  };
}

type ClaimRow = Omit<Claim, 'window' | 'aside'> & {
  readonly windowTo: number | null;
  readonly windowFailures: number;
  readonly windowRetryAt: Date | null;
  /** As JSON: times are texts. */
  readonly aside:
    | (Omit<QuarantinedWindow, 'quarantinedAt' | 'retryAt'> & {
        quarantinedAt: string;
        retryAt: string | null;
      })[]
    | null;
};

/** Makes a claim that is held last until then. One statement. */
export async function renewClaim(unit: Unit, sessionId: string, owner: string, until: Date): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE session SET lease_until = ${until}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${sessionId}::uuid AND lease_owner = ${owner}::uuid`;
}

/** Gives a claim that is held back, with the work undone: its runs and job wait for who takes them up. One statement. */
export async function releaseClaim(unit: Unit, sessionId: string, owner: string): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE session SET lease_owner = NULL, lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${sessionId}::uuid AND lease_owner = ${owner}::uuid`;
}

/** Checks, in the transaction that applies a result, that the session is still ours and where it was; locks it. */
export async function holdsClaim(unit: Unit, claim: Claim, owner: string): Promise<boolean> {
  const rows = await unit.tx.$queryRaw<{ held: boolean }[]>`
    SELECT (lease_owner = ${owner}::uuid AND mined_seq = ${claim.minedSeq}::int) AS held FROM session
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${claim.sessionId}::uuid
    FOR NO KEY UPDATE`;
  return rows[0]?.held ?? false;
}
