import { fsyncSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** What PGlite hands to a file system when it starts; only the part used here. */
interface EmscriptenModule {
  readonly FS: {
    readonly filesystems: {
      readonly NODEFS: { readonly stream_ops: { fsync?: (stream: { readonly nfd?: number }) => number } };
    };
  };
}

type StartOptions = Parameters<NodeFS['init']>[1];

/**
 * PGlite's file system on a directory, with a working `fsync`. PGlite's own leaves it out, so a power cut could lose
 * commits that were acknowledged, and, worse, leave pages newer than the log that repairs them. Costs about 0.7 ms a
 * commit on an SSD. PostgreSQL must run with `wal_sync_method=fsync`: `fdatasync` is a no-op in WebAssembly.
 */
export class DurableNodeFS extends NodeFS {
  override async init(pg: PGlite, options: StartOptions): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    const addFsync = (module: unknown) => {
      (module as EmscriptenModule).FS.filesystems.NODEFS.stream_ops.fsync = (stream) => {
        if (stream.nfd !== undefined) fsyncSync(stream.nfd);
        return 0;
      };
    };
    const preRun = [emscriptenOpts.preRun ?? []].flat() as ((module: unknown) => void)[];
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...preRun, addFsync] as StartOptions['preRun'] } };
  }
}
