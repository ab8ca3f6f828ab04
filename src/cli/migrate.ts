import { createConfig } from '../config/index.js';
import { migrateDatabase } from '../db/index.js';

/** `salient migrate`: brings the database up to date and tells what it did. */
export async function migrate(settings: Record<string, string | undefined>): Promise<void> {
  const { applied } = await migrateDatabase(createConfig(settings));
  if (applied.length === 0) console.log('The database is up to date');
  for (const name of applied) console.log(`Applied ${name}`);
}
