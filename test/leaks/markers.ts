import { randomInt } from 'node:crypto';

/** Whose a word or an id is. Names of agents and users are `AGENT` and `USER`, whatever is said or known is `MEMORY`; what only administrators and auditors see is `ADMIN`; `KEY` is a key's id, which is told where its holder did something; `OWN` is what one did itself, which of agents and users nobody else sees. */
export interface Owner {
  readonly tenant: string;
  readonly kind: 'TENANT' | 'AGENT' | 'USER' | 'KEY' | 'ADMIN' | 'MEMORY' | 'OWN';
  /** Local names such as `agent-1`; null: none. */
  readonly agent: string | null;
  readonly user: string | null;
}

/** Who reads, as far as it matters for what it may see. `null` stands for a caller without valid credentials. */
export interface Reader {
  readonly role: 'PLATFORM_ADMIN' | 'TENANT_ADMIN' | 'TENANT_AUDITOR' | 'AGENT' | 'USER' | null;
  /** The tenant that it works in; null: a platform administrator that named none. */
  readonly tenant: string | null;
  readonly agent: string | null;
  readonly user: string | null;
}

/**
 * Whether a reader may see what is an owner's (SPEC §1, §11): written here a second time, on purpose, so that a wrong
 * rule in src is not taken for right.
 */
export function maySee(reader: Reader, owner: Owner): boolean {
  if (reader.role === null) return false;
  if (owner.tenant !== reader.tenant) return reader.role === 'PLATFORM_ADMIN' && owner.kind === 'TENANT';
  if (reader.role !== 'AGENT' && reader.role !== 'USER') return true;
  switch (owner.kind) {
    case 'TENANT':
    case 'KEY':
      return true;
    case 'AGENT':
      return reader.role === 'USER' || owner.agent === reader.agent;
    case 'USER':
      return reader.role === 'AGENT' || owner.user === reader.user;
    case 'ADMIN':
      return false;
    case 'OWN':
      return reader.role === 'AGENT'
        ? owner.agent !== null && owner.agent === reader.agent
        : owner.user !== null && owner.user === reader.user;
    case 'MEMORY':
      if (reader.role === 'AGENT') return owner.agent === null || owner.agent === reader.agent;
      return owner.user === reader.user || (owner.user === null && owner.agent === null);
  }
}

const LETTERS = 'bcdfghjkmnpqrstvwxz';
const MARKER = /zq[bcdfghjkmnpqrstvwxz]{10}/gi;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const SHORT_ID = /(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])/gi;
const ENCODED = /[A-Za-z0-9+/_-]{16,}={0,2}/g;

/** Everything by which an owner could be told from another: words made for it, and the ids of its rows. */
export class Markers {
  readonly #owners = new Map<string, Owner>();

  /** A new word that belongs to this owner; put it into every text of it. */
  word(owner: Owner): string {
    const word = `zq${Array.from({ length: 10 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
    this.#owners.set(word, owner);
    return word;
  }

  /** A word that nobody owns. */
  static nobodys(): string {
    return `zq${Array.from({ length: 10 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
  }

  /** Notes whose row has this UUID, hence also its shortId. */
  id(uuid: string, owner: Owner): void {
    this.#owners.set(uuid, owner);
    this.#owners.set(uuid.slice(-12), owner);
  }

  /** How many words and ids are known. */
  get size(): number {
    return this.#owners.size;
  }

  /**
   * What a text shows that the reader may not see, global ids and cursors decoded.
   * @param sent what the caller itself sent: an echo of it tells nothing
   */
  foreignIn(text: string, reader: Reader, sent = ''): string[] {
    const sentText = withDecoded(sent).toLowerCase();
    const found = new Set<string>();
    const whole = withDecoded(text).toLowerCase();
    for (const pattern of [MARKER, UUID, SHORT_ID]) {
      for (const [token] of whole.matchAll(pattern)) {
        const owner = this.#owners.get(token);
        if (!owner || maySee(reader, owner) || sentText.includes(token)) continue;
        found.add(`${token} of ${describeOwner(owner)}`);
      }
    }
    return [...found];
  }

  /** The words and ids of a text that are somebody's and that the reader may see. */
  ownIn(text: string, reader: Reader): string[] {
    const whole = withDecoded(text).toLowerCase();
    return [MARKER, UUID].flatMap((pattern) =>
      [...whole.matchAll(pattern)].flatMap(([token]) => {
        const owner = this.#owners.get(token);
        return owner && maySee(reader, owner) ? [token] : [];
      }),
    );
  }
}

export function describeOwner({ tenant, kind, agent, user }: Owner): string {
  return `${tenant}/${agent ?? '-'}/${user ?? '-'} (${kind})`;
}

/** A text, and after it what its base64 parts say. */
function withDecoded(text: string): string {
  const decoded = [...text.matchAll(ENCODED)].map(([part]) => Buffer.from(part, 'base64').toString('latin1'));
  return [text, ...decoded].join('\n');
}
