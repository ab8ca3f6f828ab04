import { newId } from '../../ids.js';
import type { Unit } from './unit.js';

/** Something that was not stored: what of it may be kept (SPEC §2.5). */
export interface RefusalRow {
  readonly scopeId: number | null;
  readonly runId: string | null;
  /** The way it came: REMEMBER, REPLACE or EXTRACTION. */
  readonly path: string;
  readonly category: string;
  /** The refused text: its keyed hash is stored, nothing else. */
  readonly text: string;
}

/** Records refusals for the tenant's statistics. One statement. */
export async function insertRefusals(unit: Unit, refusals: readonly RefusalRow[], at: Date): Promise<void> {
  if (refusals.length === 0) return;
  await unit.tx.refusal.createMany({
    data: refusals.map(({ text, ...refusal }) => ({
      tenantId: unit.tenantId,
      id: newId(),
      ...refusal,
      textHash: unit.content.hash('refused-text', text),
      occurredAt: at,
    })),
  });
}
