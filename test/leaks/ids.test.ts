import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { counted, post, rowsOf, sourceOf } from './ask.js';
import { type Caller, toGlobalId } from './callers.js';
import { checksums, ownedBy, type Table, tenantChecksums, tenantColumn, tenantTables } from './catalogue.js';
import { asker, tryForeign, tryMalformed, untold } from './ids.js';
import { makeWorld, type World } from './owners.js';

// Nothing is timed here: it is only that the machine may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let world: World;

beforeAll(async () => {
  world = await makeWorld();
});
afterAll(async () => {
  console.log(`leak suite: ${counted.requests} requests with ids`);
  await world[Symbol.asyncDispose]();
});

const CALLERS = ['platform', 'admin', 'auditor', 'agent-1', 'user-1'];

describe('ids in queries', () => {
  it.for(CALLERS)('of another owner, gone or of another type, are like missing ones to %s', async (name) => {
    const caller = world.a.callers[name] as Caller;
    const wrong: string[] = [];
    for (const position of world.generator.positions('query', 'ID')) {
      wrong.push(...(await tryForeign(world, caller, position)));
    }
    expect(wrong).toEqual([]);
  });

  it.for(['admin', 'user-1'])('that are none find nothing for %s', async (name) => {
    const caller = world.a.callers[name] as Caller;
    const wrong: string[] = [];
    for (const position of world.generator.positions('query', 'ID'))
      wrong.push(...(await tryMalformed(world, caller, position)));
    expect(wrong).toEqual([]);
  });

  it("of one's own are told from missing ones at every position", async () => {
    expect(await untold(world, 'query')).toEqual([]);
  });
});

/** Receipts of one's own recalls repeat what one asked; these tests ask for others' words. */
const withoutOwnQueries = (text: string) => text.replace(/"query":"(?:[^"\\]|\\.)*"/g, '"query":""');

describe('texts in queries', () => {
  it.for(['admin', 'agent-1', 'user-1'])(
    'of another owner, its cursors and slug among them, show %s nothing of it',
    async (name) => {
      const caller = world.a.callers[name] as Caller;
      const words = [world.b.slug, ...(await wordsOfOthers(caller))];
      const cursors = await cursorsOfOthers();
      const wrong: string[] = [];
      for (const position of world.generator.positions('query', 'String')) {
        const ask = asker(world, caller, position);
        for (const text of /^(after|before)$/.test(position.path.at(-1) ?? '') ? cursors : words) {
          const reply = await ask(text);
          const leaks = world.markers.foreignIn(withoutOwnQueries(reply.text), caller, text);
          if (leaks.length > 0 || reply.codes.includes('INTERNAL'))
            wrong.push(`${caller.name} ${position.name} "${text}": ${leaks} ${reply.text.slice(0, 200)}`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  it.for(['admin', 'auditor', 'agent-1', 'user-1'])(
    'the slug of another tenant is like a missing one to %s',
    async (name) => {
      const caller = world.a.callers[name] as Caller;
      const bySlug = async (slug: string, header?: string) => {
        const sent = {
          document: 'query ($slug: String) { tenant(slug: $slug) { id name } }',
          variables: { slug },
        };
        return (await post(world, { ...caller, ...(header ? { header } : {}) }, sent)).text;
      };
      expect(await bySlug(world.b.slug)).toBe(await bySlug('acme-missing'));
      expect(await bySlug(world.a.slug)).not.toBe(await bySlug('acme-missing'));
      expect(await bySlug('x', world.b.slug)).toBe(await bySlug('x', 'acme-missing'));
    },
  );
});

describe('ids in mutations', () => {
  it.for(CALLERS.filter((name) => name !== 'auditor'))(
    'of another owner, gone or of another type, are like missing ones to %s and change nothing of it',
    async (name) => {
      const caller = world.a.callers[name] as Caller;
      const wrong: string[] = [];
      const before = await foreignSums(caller);
      for (const position of world.generator.positions('mutation', 'ID'))
        wrong.push(...(await tryForeign(world, caller, position)));
      expect(wrong).toEqual([]);
      expect(await foreignSums(caller)).toEqual(before);
    },
  );

  it('that are none break nothing', async () => {
    const caller = world.a.callers['agent-1'] as Caller;
    const before = await foreignSums(caller);
    const wrong: string[] = [];
    for (const position of world.generator.positions('mutation', 'ID'))
      wrong.push(...(await tryMalformed(world, caller, position)));
    expect(wrong).toEqual([]);
    expect(await foreignSums(caller)).toEqual(before);
  });

  it('are refused to auditors, whatever they are, and nothing at all is written', async () => {
    const caller = world.a.callers['auditor'] as Caller;
    const sums = () => tenantChecksums(world.client, world.tables, world.a.id);
    const before = await sums();
    for (const field of world.generator.rootFields('mutation')) {
      const operation = world.generator.shortest('mutation', field);
      const variables = operation.variables(sourceOf(world, world.a, caller));
      const reply = await post(world, caller, { document: operation.document, variables });
      expect(reply.codes, field.name).toEqual(['FORBIDDEN']);
      expect(reply.data?.[field.name] ?? null, field.name).toBeNull();
    }
    expect(await sums()).toEqual(before);
  });

  it.for(['platform', 'admin', 'agent-1', 'user-1'])(
    'of its own are answered to %s with nothing of another owner, whatever is selected',
    async (name) => {
      const caller = world.a.callers[name] as Caller;
      const wrong: string[] = [];
      const answered = new Set<string>();
      const operations = world.generator
        .rootFields('mutation')
        .flatMap((field) => world.generator.reading('mutation', field));
      for (const { root, document, variables } of operations) {
        // One after the other of its own: some are retired, or were forgotten a moment ago.
        for (let turn = 0, done = false; turn < 4 && !done; turn++) {
          const id = (type: string) => {
            const own = rowsOf(world, world.a, caller, type);
            return toGlobalId(type, own[turn % Math.max(own.length, 1)]?.uuid ?? '');
          };
          const source = { ...sourceOf(world, world.a, caller), id };
          const sent = { document, variables: variables(source) };
          const reply = await post(world, caller, sent);
          done = reply.codes.length > 0 || reply.text.includes('"errors":[]');
          if (done && reply.codes.length === 0) answered.add(root);
          if (reply.codes.includes('INTERNAL')) wrong.push(`${root}: ${reply.text.slice(0, 300)}`);
          for (const leak of world.markers.foreignIn(reply.text, caller, JSON.stringify(sent.variables)))
            wrong.push(`${root} shows ${leak}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(answered.size).toBeGreaterThan(5);
    },
  );

  it("of one's own are told from missing ones at every position", async () => {
    expect(await untold(world, 'mutation')).toEqual([]);
  });
});

/** Hashes of all of tenant b, and of what is another agent's or user's in the caller's own tenant. */
async function foreignSums(caller: Caller): Promise<Record<string, string>> {
  const { agents, users } = world.a;
  const condition =
    caller.role === 'AGENT'
      ? `agent_id = '${agents['agent-2']}'`
      : caller.role === 'USER'
        ? `user_id IS DISTINCT FROM '${users['user-1']}'`
        : null;
  const others: Record<string, string> = {
    agent: `id = '${agents['agent-2']}'`,
    app_user: `id = '${users['user-2']}'`,
  };
  const ownTenant = (table: Table): string | null => {
    // Jobs name the session that they are for, not its user.
    if (condition === null || table.name === 'job') return null;
    const rows = others[table.name] ?? ownedBy(world.tables, table, condition);
    return rows && `${tenantColumn(table)} = '${world.a.id}' AND ${rows}`;
  };
  const own = condition === null ? {} : await checksums(world.client, tenantTables(world.tables), ownTenant);
  const sums = await tenantChecksums(world.client, world.tables, world.b.id);
  return { ...sums, ...Object.fromEntries(Object.entries(own).map(([name, sum]) => [`own ${name}`, sum])) };
}

/** Texts of another tenant, and of another owner in the caller's tenant. */
async function wordsOfOthers(caller: Caller): Promise<string[]> {
  const texts = async (other: Caller) => {
    const { text } = await post(world, other, {
      document:
        '{ facts(first: 2) { edges { node { text entities { name } } } } viewer { agent { name } user { displayName } } }',
      variables: {},
    });
    return [...text.matchAll(/"(?:text|name|displayName)":"([^"]+)"/g)].map(([, found]) => found as string);
  };
  const others = caller.role === 'AGENT' ? ['agent-2'] : caller.role === 'USER' ? ['user-2'] : [];
  const found = [await texts(world.b.callers['admin'] as Caller)];
  for (const name of others) found.push(await texts(world.a.callers[name] as Caller));
  return [...new Set(found.flat())].slice(0, 6);
}

let cursors: string[] | undefined;
async function cursorsOfOthers(): Promise<string[]> {
  if (cursors) return cursors;
  const { text } = await post(world, world.b.callers['admin'] as Caller, {
    document: `{ eventLog(first: 1) { endCursor } facts(first: 1) { pageInfo { endCursor } }
      tenant { sessions(first: 1) { edges { cursor node { messages(first: 1) { pageInfo { endCursor } } } } } } }`,
    variables: {},
  });
  cursors = [...text.matchAll(/"(?:endCursor|cursor)":"([^"]+)"/g)].map(([, found]) => found as string);
  expect(cursors).toHaveLength(4);
  return cursors;
}
