import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `prisma/migrations` of this package: as far from src/db as from dist/db. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('../../prisma/migrations/', import.meta.url));

export interface MigrationFile {
  /** The directory's name, which also orders the migrations: `0001_initial`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, in hexadecimal, as Prisma records it. */
  readonly checksum: string;
}

/** The migrations of a directory in their order, in the layout of the Prisma CLI: `<name>/migration.sql`. */
export async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
