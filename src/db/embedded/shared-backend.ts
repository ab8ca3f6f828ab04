import { PGlite } from '@electric-sql/pglite';

type StreamOptions = Parameters<PGlite['execProtocolRawStream']>[1];

/** Messages of the extended protocol: Parse, Bind, Describe, Execute, Close, Flush. Sync ends their group. */
const EXTENDED = new Set(Array.from('PBDECH', (letter) => letter.charCodeAt(0)));

/**
 * PGlite for several clients of the socket server, which share its one session. The server sends single messages and
 * keeps a client's turn while `isInTransaction` says so, that is for a transaction; a statement with parameters outside
 * of one is a group of five messages, and another client's group in between would replace its unnamed statement. So
 * here a group that has begun counts as a transaction until its Sync.
 */
export class SharedBackend extends PGlite {
  #insideGroup = false;

  override isInTransaction(): boolean {
    return this.#insideGroup || super.isInTransaction();
  }

  override async execProtocolRawStream(message: Uint8Array, options: StreamOptions): Promise<void> {
    this.#insideGroup = EXTENDED.has(message[0] ?? 0);
    await super.execProtocolRawStream(message, options);
  }

  /** The server calls it to roll back for a client that left in the middle. */
  override async exec(...parameters: Parameters<PGlite['exec']>): ReturnType<PGlite['exec']> {
    this.#insideGroup = false;
    return super.exec(...parameters);
  }
}
