import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/**
 * An empty cluster, packed into one file, that makes the first start quick. It is part of the build (see
 * scripts/copy-assets.mjs); without it, or when it does not fit, initdb does the same in 7 s.
 *
 * The file: brotli of a line of JSON, `[{ path, size }]` (size −1 for a directory), followed by the files' bytes.
 */

interface Entry {
  readonly path: string;
  /** Bytes; −1 for a directory. */
  readonly size: number;
}

const DIRECTORY = -1;
const NEWLINE = 0x0a;

/** Where the build puts the template: beside the compiled worker, also when running from source. */
export function templatePath(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return join(here.replace(/([\\/])src([\\/]db[\\/]embedded)$/, '$1dist$2'), 'cluster.br');
}

/** Packs the cluster at `directory`, which no server has open. */
export async function packTemplate(directory: string): Promise<Buffer> {
  const entries: Entry[] = [];
  const contents: Buffer[] = [];
  for (const item of (await readdir(directory, { recursive: true, withFileTypes: true })).sort(byPath)) {
    const path = relative(directory, join(item.parentPath, item.name));
    if (item.isDirectory()) {
      entries.push({ path, size: DIRECTORY });
    } else if (item.isFile() && item.name !== 'postmaster.pid') {
      const content = await readFile(join(directory, path));
      entries.push({ path, size: content.length });
      contents.push(content);
    }
  }
  const packed = Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...contents]);
  return brotliCompressSync(packed, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });
}

function byPath(a: { parentPath: string; name: string }, b: { parentPath: string; name: string }): number {
  return join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1;
}

/**
 * Unpacks the build's template into the new directory `target`.
 * @returns false, and leaves no directory, when there is no template or it is damaged
 */
export async function unpackTemplate(target: string, template = templatePath()): Promise<boolean> {
  if (!existsSync(template)) return false;
  try {
    const packed = brotliDecompressSync(await readFile(template));
    const end = packed.indexOf(NEWLINE);
    const entries = JSON.parse(packed.toString('utf8', 0, end)) as Entry[];
    await mkdir(target, { mode: 0o700 });
    let offset = end + 1;
    for (const { path, size } of entries) {
      if (size === DIRECTORY) {
        await mkdir(join(target, path), { mode: 0o700 });
      } else {
        if (offset + size > packed.length) throw new Error('the template is cut off');
        await writeFile(join(target, path), packed.subarray(offset, offset + size), { mode: 0o600 });
        offset += size;
      }
    }
    await chmod(target, 0o700);
    return true;
  } catch {
    await rm(target, { recursive: true, force: true });
    return false;
  }
}

/** A name for cached templates: changes with the PGlite package that made it. */
export function templateKey(pgliteVersion: string, pgvectorVersion: string): string {
  return createHash('sha256').update(`1 ${pgliteVersion} ${pgvectorVersion}`).digest('hex').slice(0, 16);
}
