// The rescoring that several parts compare with: a profile of ten interests, changed back and forth.
import { beginRescore, enqueueRescore, inTenant } from '../../dist/db/index.js';
import { newId } from '../../dist/ids.js';
import { setSalienceProfile } from '../../dist/profiles/index.js';
import { rescoreStep } from '../../dist/rescoring/index.js';
import { TOPICS } from './facts.mjs';

/** Two profiles of the same ten interests; every fact scores differently by them. */
export const PROFILES = Object.freeze(
  [
    ['CRITICAL', -40],
    ['HIGH', 40],
  ].map(([level, valenceBias]) => ({
    owner: { tenant: true },
    interests: TOPICS.map((topic) => ({ topic, level })),
    persona: { valenceBias },
  })),
);

/** Saves a profile so that stored scores are stale and nobody works at them yet. */
export async function saveProfile(services, actor, profile) {
  await setSalienceProfile(services, actor, { ...profile, rescore: 'LAZY' });
}

/** A BACKGROUND rescoring from its request to its end. @returns the facts it did, and those that changed */
export async function rescoreAll(services, actor) {
  const { tenant } = actor;
  const owner = newId();
  const id = await inTenant(services.db, tenant, async (unit) => {
    await enqueueRescore(unit, newId(), null, services.now());
    return beginRescore(unit, services.now());
  });
  let outcome = 'MORE';
  while (outcome === 'MORE') outcome = await rescoreStep(services, tenant, id, owner);
  const job = await inTenant(services.db, tenant, (unit) =>
    unit.tx.job.findUniqueOrThrow({ where: { tenantId_id: { tenantId: tenant.id, id } } }),
  );
  if (outcome !== 'DONE' || job.status !== 'SUCCEEDED')
    throw new Error(`the rescoring ended as ${job.status}`);
  return { processed: job.processed, changed: job.changed };
}
