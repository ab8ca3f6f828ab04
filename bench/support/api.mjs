// Salient with its API, asked in process: the same requests as over HTTP, without the network.
import { createApp } from '../../dist/app.js';
import { createConfig } from '../../dist/config/index.js';
import { createEmbeddingProvider } from '../../dist/embedding/index.js';

const ADMIN_KEY = 'benchmarks-platform-administrator-key';

/**
 * Runs `work` with a Salient on the database and a client of its API, and closes it.
 * @param settings as configuration takes them
 * @param parts such as `embedding`; seeded vectors of 512 dimensions when left out
 */
export async function withApi({ settings, parts = {} }, work) {
  const embedding =
    parts.embedding ?? (await createEmbeddingProvider({ kind: 'fake', seed: 1, dimensions: 512 }));
  const config = createConfig({
    environment: 'production',
    logLevel: 'warn',
    adminKey: ADMIN_KEY,
    ...settings,
  });
  const app = await createApp(config, { embedding, takesUpWork: false, ...parts });
  try {
    return await work({ app, services: app.services, api: clientOf(app) });
  } finally {
    await app[Symbol.asyncDispose]();
    await embedding[Symbol.asyncDispose]();
  }
}

/** A client: as the platform administrator, or `in` a tenant as its administrator. */
function clientOf(app, headers = { authorization: `Bearer ${ADMIN_KEY}` }) {
  const ask = async (query, variables = {}) => {
    const response = await app.fetch(
      new Request('http://salient/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      }),
    );
    const { data, errors } = await response.json();
    const refused = errors ?? Object.values(data ?? {}).flatMap((payload) => payload?.errors ?? []);
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
    return data;
  };
  return {
    ask,
    in: (slug) => clientOf(app, { ...headers, 'x-salient-tenant': slug }),
    /** A new tenant with an agent and a user, as its administrator by key. */
    async tenant(slug) {
      const create = `mutation ($slug: String!) { createTenant(input: { slug: $slug, name: $slug }) {
        tenant { id } errors { message } } }`;
      const { createTenant } = await ask(create, { slug });
      const { createAgent, createUser, createApiKey } = await clientOf(app, {
        ...headers,
        'x-salient-tenant': slug,
      }).ask(`mutation {
        createAgent(input: { name: "Bench" }) { agent { id } errors { message } }
        createUser(input: { externalId: "bench" }) { user { id } errors { message } }
        createApiKey(input: { role: TENANT_ADMIN, name: "bench" }) { secret errors { message } } }`);
      const uuid = Buffer.from(createTenant.tenant.id, 'base64').toString('utf8').split(':')[1];
      return {
        id: uuid,
        agentId: createAgent.agent.id,
        userId: createUser.user.id,
        ask: clientOf(app, { authorization: `Bearer ${createApiKey.secret}` }).ask,
      };
    },
  };
}
