import { randomBytes } from 'node:crypto';
import { createApp } from '../app.js';
import { type Config, createConfig } from '../config/index.js';

/** `salient serve`: serves until it is asked to stop, then ends what is under way. */
export async function serve(settings: Record<string, string | undefined>): Promise<void> {
  const configured = createConfig(settings);
  const config = withAdminKey(configured);
  const app = await createApp(config);
  try {
    const { url } = await app.listen();
    if (!configured.adminKey) {
      console.log('SALIENT_ADMIN_KEY is not set: for this run the key of the platform administrator is');
      console.log(`  ${config.adminKey}`);
    }
    console.log(`Salient serves ${url}/graphql`);
    if (config.environment !== 'production') console.log(`Open that address in a browser for GraphiQL`);
    await stopSignal();
    console.log('Stopping');
  } finally {
    await app[Symbol.asyncDispose]();
  }
}

/** Without a key of the platform administrator nobody could create a tenant: one is made for this run. */
function withAdminKey(config: Config): Config {
  return config.adminKey ? config : { ...config, adminKey: randomBytes(32).toString('base64url') };
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
