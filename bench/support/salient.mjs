// Salient as its server puts it together, with seeded vectors, and without taking up work by itself.
import pg from 'pg';
import { createApp } from '../../dist/app.js';
import { createConfig } from '../../dist/config/index.js';
import { createEmbeddingProvider } from '../../dist/embedding/index.js';
import { createLogger } from '../../dist/log.js';
import { createTenant } from '../../dist/tenancy/index.js';

const PLATFORM = { kind: 'PLATFORM_ADMIN', id: null, keyId: null, tenant: null, agentId: null, userId: null };

/**
 * Runs `work` with a Salient on the database, and closes it.
 * @param now the clock; the real one when left out
 */
export async function withSalient(databaseUrl, work, now = () => new Date()) {
  const embedding = await createEmbeddingProvider({ kind: 'fake', seed: 1, dimensions: 512 });
  const config = createConfig({ databaseUrl, environment: 'production', logLevel: 'warn' });
  const app = await createApp(config, { embedding, now, log: createLogger('warn'), takesUpWork: false });
  // The owner of the tables: for VACUUM, and for what is compared with.
  const owner = new pg.Client({ connectionString: databaseUrl });
  try {
    await owner.connect();
    return await work({ services: app.services, owner });
  } finally {
    await owner.end();
    await app[Symbol.asyncDispose]();
    await embedding[Symbol.asyncDispose]();
  }
}

/** A new tenant, and its administrator as services take it. */
export async function newTenant(services, slug) {
  const tenant = await createTenant(services, PLATFORM, { slug, name: slug });
  return { ...PLATFORM, kind: 'TENANT_ADMIN', tenant };
}

/** Who works in the tenant as another role. */
export function as(admin, kind, ids) {
  return { ...admin, kind, id: ids.agentId ?? ids.userId ?? null, agentId: null, userId: null, ...ids };
}
