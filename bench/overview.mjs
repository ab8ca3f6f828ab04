// What GraphQL costs: a console's first page against SQL written by hand for the same rows.
import pg from 'pg';
import { withApi } from './support/api.mjs';
import { storeFacts } from './support/facts.mjs';
import { interleaved, timed } from './support/measure.mjs';

export const measures =
  "a console's overview of a tenant through the API, against hand-written SQL for the same rows";

const FACTS = 2_000;
const MEMBERS = 20;
const TIMES = 20;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 11);
const MAX_RATIO = 6;

const OVERVIEW = `query TenantOverview($slug: String!) {
  tenant(slug: $slug) {
    id name overridePolicy
    agents(first: 10) { edges { cursor node { id name salienceProfile { id version } } } pageInfo { hasNextPage endCursor } }
    users(first: 10) { edges { node { id externalId } } }
    facts(first: 10, orderBy: { field: IMPORTANCE, direction: DESC }) { edges { node { id text kind importance pinned } } }
    sessions(first: 10) { edges { node { id externalId } } }
    apiKeys(first: 10) { edges { node { id name role lastUsedAt } } }
    rescoreJobs(first: 5) { edges { node { id status } } }
  }
}`;

export function run({ databaseUrl, log }) {
  return withApi({ settings: { databaseUrl } }, async ({ api, services }) => {
    const owner = new pg.Client({ connectionString: databaseUrl });
    await owner.connect();
    try {
      return await measure(api, services, owner, log);
    } finally {
      await owner.end();
    }
  });
}

async function measure(api, services, owner, log) {
  const slug = 'bench-overview';
  const tenant = await api.tenant(slug);
  await fill(tenant, services, log);
  await owner.query('VACUUM ANALYZE');
  const page = async () => {
    const data = await tenant.ask(OVERVIEW, { slug });
    if (data.tenant.facts.edges.length !== 10 || data.tenant.agents.edges.length !== 10)
      throw new Error('a page is not full');
  };
  const several = (work) => () =>
    timed(async () => {
      for (let n = 0; n < TIMES; n += 1) await work();
    }).then((time) => time / TIMES);
  const times = await interleaved(
    { api: several(page), sql: several(() => byHand(owner, tenant.id, slug)) },
    { rounds: ROUNDS, warmUps: 3, log },
  );
  return {
    settings: { facts: FACTS, agents: MEMBERS, users: MEMBERS, pages: TIMES, rounds: ROUNDS },
    figures: [
      ['overview through the API, ms', times.api],
      ['the same rows by SQL, ms', times.sql],
    ],
    verdicts: [{ what: 'API ÷ SQL', value: times.api.median / times.sql.median, most: MAX_RATIO }],
  };
}

/** One statement for each list, one transaction for all. */
async function byHand(owner, tenantId, slug) {
  await owner.query('BEGIN READ ONLY');
  await owner.query("SELECT set_config('app.tenant', $1, true)", [tenantId]);
  const rows = async (sql, values = [tenantId]) => (await owner.query(sql, values)).rows;
  const lists = [
    await rows('SELECT id, name, override_policy FROM tenant WHERE slug = $1', [slug]),
    await rows(`SELECT a.id, a.name, p.id AS profile, p.version FROM agent a
      LEFT JOIN salience_profile p ON p.tenant_id = a.tenant_id AND p.agent_id = a.id AND p.user_id IS NULL
      WHERE a.tenant_id = $1 ORDER BY a.id LIMIT 11`),
    await rows('SELECT id, external_id FROM app_user WHERE tenant_id = $1 ORDER BY id LIMIT 11'),
    await rows(`SELECT f.id, f.text, f.kind, s.current, s.pinned FROM fact f
      JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
      WHERE f.tenant_id = $1 AND f.retired_at IS NULL AND (f.valid_to IS NULL OR f.valid_to > now())
      ORDER BY s.current DESC, f.id LIMIT 11`),
    await rows('SELECT id, external_id FROM session WHERE tenant_id = $1 ORDER BY id LIMIT 11'),
    await rows('SELECT id, name, role, last_used_at FROM api_key WHERE tenant_id = $1 ORDER BY id LIMIT 11'),
    await rows(
      "SELECT id, status FROM job WHERE tenant_id = $1 AND kind = 'RESCORE' ORDER BY id DESC LIMIT 6",
    ),
  ];
  await owner.query('COMMIT');
  if (lists.some((list) => list.length === 0)) throw new Error('a list is empty');
}

async function fill(tenant, services, log) {
  const { findTenant } = await import('../dist/db/index.js');
  const { toTenantContext } = await import('../dist/tenancy/index.js');
  const row = await services.db.withPlatform((tx) => findTenant(tx, { id: tenant.id }));
  const admin = {
    kind: 'TENANT_ADMIN',
    id: null,
    keyId: null,
    tenant: toTenantContext(row),
    agentId: null,
    userId: null,
  };
  await storeFacts(services, admin, { facts: FACTS, scopes: MEMBERS, log });
  for (let n = 0; n < MEMBERS; n += 1) {
    const { createAgent } = await tenant.ask(`mutation { createAgent(input: { name: "Agent ${n}" }) {
      agent { id } errors { message } } }`);
    await tenant.ask(
      `mutation ($agentId: ID!) { setSalienceProfile(input: { owner: { agentId: $agentId }, rescore: BACKGROUND
         interests: [{ topic: "ships and harbours", level: HIGH }] }) { errors { message } } }`,
      { agentId: createAgent.agent.id },
    );
    await tenant.ask(
      `mutation { appendMessages(input: { extract: NEVER, session: { create: { externalId: "s${n}" } }
         messages: [{ role: USER, content: "Good morning" }] }) { errors { message } }
       createApiKey(input: { role: TENANT_AUDITOR, name: "key ${n}" }) { secret errors { message } } }`,
    );
  }
}
