import { randomBytes } from 'node:crypto';
import { createApp } from '../app.js';
import { type Config, createConfig } from '../config/index.js';
import { Listener } from '../server/index.js';
import { StopRequest } from './stop-request.js';

/** How long stopping may take, in ms: less than the 30 s after which orchestrators kill. */
const STOP_LIMIT_MS = 28_000;

/**
 * `salient serve`: serves until it is asked to stop, then ends what is under way. The port is open from the first moment
 * to the last, so that `/healthz` and `/readyz` tell how it is also while the database is brought up to date, and while
 * it closes.
 */
export async function serve(settings: Record<string, string | undefined>): Promise<void> {
  const configured = createConfig(settings);
  const config = withAdminKey(configured);
  const stop = new StopRequest(STOP_LIMIT_MS);
  await using listener = await Listener.open(config.port, config.host);
  await using app = await createApp(config);
  if (!stop.isReceived) {
    app.serveOn(listener);
    if (!configured.adminKey) {
      console.log('SALIENT_ADMIN_KEY is not set: for this run the key of the platform administrator is');
      console.log(`  ${config.adminKey}`);
    }
    console.log(`Salient serves ${listener.url}/graphql`);
    if (config.environment !== 'production') console.log(`Open that address in a browser for GraphiQL`);
    await stop.received;
  }
  console.log('Stopping');
}

/** Without a key of the platform administrator nobody could create a tenant: one is made for this run. */
function withAdminKey(config: Config): Config {
  return config.adminKey ? config : { ...config, adminKey: randomBytes(32).toString('base64url') };
}
