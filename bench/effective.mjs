// What it costs to know which profile applies to a scope, among ten thousand that have been saved.
import { inTenant, Prisma, readInTenant } from '../dist/db/index.js';
import { newId } from '../dist/ids.js';
import { createProfileReader } from '../dist/profiles/index.js';
import { TOPICS } from './support/facts.mjs';
import { interleaved, randomNumbers, timed } from './support/measure.mjs';
import { PROFILES, saveProfile } from './support/rescoring.mjs';
import { newTenant, withSalient } from './support/salient.mjs';

export const measures =
  'effectiveOf, held and not, among the profiles of 5,000 agents and 5,000 users, against the SQL of their versions';

const OWNERS = 5_000;
const TOPICS_EACH = 3;
const HOT = 200;
const CALLS = 200;
const ROUNDS = 5;

export function run({ databaseUrl, log }) {
  return withSalient(databaseUrl, (salient) => measure(salient, log));
}

async function measure({ services, owner }, log) {
  const admin = await newTenant(services, 'bench-effective');
  await saveProfile(services, admin, PROFILES[0]);
  const agentIds = await storeOwners(services, admin, 'AGENT');
  const userIds = await storeOwners(services, admin, 'USER');
  await owner.query('VACUUM ANALYZE');
  const random = randomNumbers(3);
  const owners = (count) => {
    const some = (ids) => ids[Math.floor(random() * count)];
    return Array.from({ length: CALLS }, () => ({ agentId: some(agentIds), userId: some(userIds) }));
  };
  /** Microseconds a call, in one transaction. */
  const each = (count, call) => async () => {
    const asked = owners(count);
    const time = await readInTenant(services.db, admin.tenant, (unit) =>
      timed(async () => {
        for (const one of asked) await call(unit, one);
      }),
    );
    return (time / CALLS) * 1_000;
  };
  const held = createProfileReader(services);
  const roaming = createProfileReader(services);
  const times = await interleaved(
    {
      versions: each(HOT, (unit, one) => readVersions(unit, one)),
      held: each(HOT, (unit, one) => held.effectiveOf(unit, [one])),
      roaming: each(OWNERS, (unit, one) => roaming.effectiveOf(unit, [one])),
      unheld: each(HOT, (unit, one) => createProfileReader(services).effectiveOf(unit, [one])),
    },
    { rounds: ROUNDS, warmUps: 2, log },
  );
  return {
    settings: { profiles: 2 * OWNERS, topicsEach: TOPICS_EACH, hot: HOT, calls: CALLS, rounds: ROUNDS },
    figures: [
      ['versions alone, by SQL, µs a call', times.versions],
      ['effectiveOf, profiles held, µs a call', times.held],
      ['effectiveOf, any of all profiles, µs a call', times.roaming],
      ['effectiveOf, nothing held, µs a call', times.unheld],
    ],
    verdicts: [
      { what: 'held ÷ SQL of the versions', value: times.held.median / times.versions.median },
      { what: 'nothing held ÷ held', value: times.unheld.median / times.held.median },
    ],
  };
}

/** Agents or users with a profile of some topics each. @returns their ids */
async function storeOwners({ db, now }, { tenant }, kind) {
  const ids = Array.from({ length: OWNERS }, newId);
  const profiles = ids.map(newId);
  const at = now();
  const isAgent = kind === 'AGENT';
  await inTenant(db, tenant, async ({ tx, content }) => {
    if (isAgent) await tx.agent.createMany({ data: rows((id) => ({ id, name: 'Bench' })) });
    else await tx.appUser.createMany({ data: rows((id) => ({ id, externalId: id })) });
    await tx.salienceProfile.createMany({
      data: rows((id, i) => ({
        id: profiles[i],
        ownerKind: kind,
        agentId: isAgent ? id : null,
        userId: isAgent ? null : id,
        version: 2,
        alpha: 0.5,
      })),
    });
    const topics = TOPICS.slice(0, TOPICS_EACH).map((topic) => `${topic} of ${kind.toLowerCase()}s`);
    await tx.$executeRaw`
      INSERT INTO profile_topic (tenant_id, id, profile_id, list, position, topic, topic_key, level)
      SELECT ${tenant.id}::uuid, gen_random_uuid(), p.id, 'INTEREST', t.place - 1, t.topic, t.topic, 'HIGH'
      FROM unnest(${profiles}::uuid[]) AS p(id)
      CROSS JOIN unnest(${topics.map((topic) => content.seal(topic))}::bytea[]) WITH ORDINALITY AS t(topic, place)`;
  });
  return ids;

  function rows(rowOf) {
    return ids.map((id, i) => ({ tenantId: tenant.id, createdAt: at, updatedAt: at, ...rowOf(id, i) }));
  }
}

/** The least that has to be asked, so that what is held is known to be so still. */
function readVersions({ tx, tenantId }, { agentId, userId }) {
  return tx.$queryRaw(Prisma.sql`
    SELECT t.override_policy, t.salience_revision, p.id, p.version, p.stale_below, p.agent_id, p.user_id
    FROM tenant t JOIN salience_profile p ON p.tenant_id = ${tenantId}::uuid
     AND ((p.agent_id IS NULL AND p.user_id IS NULL) OR (p.agent_id = ${agentId}::uuid AND p.user_id IS NULL)
       OR (p.agent_id IS NULL AND p.user_id = ${userId}::uuid))
    WHERE t.id = ${tenantId}::uuid`);
}
