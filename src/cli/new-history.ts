import { createConfig } from '../config/index.js';
import { beginNewHistories, openDatabase } from '../db/index.js';

/**
 * `salient new-history`: after a restore, or the promotion of a replica that lacked commits, numbers of events mean other
 * events than clients were told. Every stream becomes another history, and their cursors expire (SPEC §11).
 */
export async function newHistory(settings: Record<string, string | undefined>): Promise<void> {
  const config = createConfig(settings);
  await using db = await openDatabase(config);
  console.log(`The streams of ${await beginNewHistories(db)} tenants begin anew: cursors from before expire`);
}
