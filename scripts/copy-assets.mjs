// The part of the build that the compiler leaves out: files beside the code that are read at run time.
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ASSET = /\.(br|json|txt|css|html|graphql)$/;

let copied = 0;
for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !ASSET.test(entry.name)) continue;
  const from = join(entry.parentPath, entry.name);
  const to = join(root, 'dist', from.slice(join(root, 'src').length));
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  copied++;
}
if (process.argv.includes('--verbose')) console.log(`${copied} assets copied`);
