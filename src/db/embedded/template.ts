import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/**
 * An empty cluster with pgvector, packed into one file, that makes the first start quick: initdb takes 7 s in
 * WebAssembly, unpacking this 0.3 s. `npm run generate` makes it anew when the PGlite packages change, and
 * `npm run check` finds out when that was forgotten. Without it, or when it is damaged, initdb does the same.
 *
 * The file: brotli of a line of JSON (a {@link Manifest}), followed by the files' bytes.
 */
const TEMPLATE = fileURLToPath(new URL('./cluster.br', import.meta.url));

interface Entry {
  readonly path: string;
  /** Bytes; {@link DIRECTORY} for a directory. */
  readonly size: number;
}

interface Manifest {
  /** The packages that made the cluster, with their versions. */
  readonly madeBy: string;
  readonly entries: readonly Entry[];
}

const DIRECTORY = -1;
const NEWLINE = 0x0a;

/** Packs the cluster at `directory`, which no server has open. */
export async function packTemplate(directory: string, madeBy: string): Promise<Buffer> {
  const entries: Entry[] = [];
  const contents: Buffer[] = [];
  const items = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = items.map((item) => ({ item, path: relative(directory, join(item.parentPath, item.name)) }));
  // Directories come before what is in them.
  for (const { item, path } of paths.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if (item.isDirectory()) {
      entries.push({ path, size: DIRECTORY });
    } else if (item.isFile() && item.name !== 'postmaster.pid') {
      const content = await readFile(join(directory, path));
      entries.push({ path, size: content.length });
      contents.push(content);
    }
  }
  const manifest: Manifest = { madeBy, entries };
  const packed = Buffer.concat([Buffer.from(`${JSON.stringify(manifest)}\n`), ...contents]);
  return brotliCompressSync(packed, {
    params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  });
}

/** What made the template at hand; undefined when there is none. */
export async function templateMadeBy(): Promise<string | undefined> {
  if (!existsSync(TEMPLATE)) return undefined;
  return open(await readFile(TEMPLATE)).manifest.madeBy;
}

/**
 * Unpacks the template into the new directory `target`.
 * @returns false, and leaves no directory, when there is no template or it is damaged
 */
export async function unpackTemplate(target: string, template = TEMPLATE): Promise<boolean> {
  if (!existsSync(template)) return false;
  try {
    const { manifest, content } = open(await readFile(template));
    await mkdir(target, { mode: 0o700 });
    let offset = 0;
    for (const { path, size } of manifest.entries) {
      if (size === DIRECTORY) {
        await mkdir(join(target, path), { mode: 0o700 });
      } else {
        if (offset + size > content.length) throw new Error('the template is cut off');
        await writeFile(join(target, path), content.subarray(offset, offset + size), { mode: 0o600 });
        offset += size;
      }
    }
    return true;
  } catch {
    await rm(target, { recursive: true, force: true });
    return false;
  }
}

function open(template: Buffer): { manifest: Manifest; content: Buffer } {
  const packed = brotliDecompressSync(template);
  const end = packed.indexOf(NEWLINE);
  return {
    manifest: JSON.parse(packed.toString('utf8', 0, end)) as Manifest,
    content: packed.subarray(end + 1),
  };
}
