// A process of its own that works at the rescorings of one tenant, a fact at a time, until it is killed. Arguments: the
// database's URL, the tenant's id.
import { createApp } from '../../dist/app.js';
import { createConfig } from '../../dist/config/index.js';
import { findTenant } from '../../dist/db/index.js';
import { toTenantContext } from '../../dist/tenancy/index.js';

const [databaseUrl, id] = process.argv.slice(2);
const config = createConfig({
  databaseUrl,
  embedding: 'fake',
  environment: 'test',
  logLevel: 'silent',
  poolSize: 2,
});
const { services } = await createApp(config, { takesUpWork: false, rescoring: { factsAtATime: 1 } });
const tenant = await services.db.withPlatform((tx) => findTenant(tx, { id }));
services.rescorer.wake(toTenantContext(tenant));
// Until then.
setInterval(() => {}, 1_000);
