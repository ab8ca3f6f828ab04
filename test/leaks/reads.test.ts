import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { counted, post, type Reply, rowsOf, sourceOf } from './ask.js';
import { type Caller, NOBODY, PLATFORM, STRANGER, toGlobalId } from './callers.js';
import { differences, maskNoise } from './differences.js';
import { maySee } from './markers.js';
import type { Operation } from './operations.js';
import { makeWorld, type World } from './owners.js';

// Nothing is timed here: it is only that the machine may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let world: World;
let operations: Operation[];
/** Answers of tenant a's callers, by caller and document. */
const answers = new Map<string, string>();

beforeAll(async () => {
  world = await makeWorld();
  // What a caller recalls changes what it reads next; here nothing must but what others do.
  await world.quiet();
  const { generator } = world;
  operations = generator.rootFields('query').flatMap((field) => generator.reading('query', field));
});

afterAll(async () => {
  console.log(`leak suite: ${counted.requests} reads, ${world.markers.size} marks of ownership`);
  await world[Symbol.asyncDispose]();
});

/** Codes that say that an operation was wrong, and so no test of anything. */
const FAULTS = ['INTERNAL', 'BAD_INPUT', 'LIMIT_EXCEEDED', 'GRAPHQL_VALIDATION_FAILED', 'NONE'];

async function readAll(caller: Caller): Promise<{ leaks: string[]; faults: string[]; own: Set<string> }> {
  const leaks: string[] = [];
  const faults: string[] = [];
  const own = new Set<string>();
  for (const operation of operations) {
    const source = { ...sourceOf(world, world.a, caller), word: sameWords(caller, operation) };
    const variables = operation.variables(source);
    const reply = await readPages(caller, operation, variables);
    answers.set(`${caller.name} ${operation.document}`, reply.text);
    for (const leak of world.markers.foreignIn(reply.text, caller, JSON.stringify(variables)))
      leaks.push(`${caller.name} ${operation.root} ${operation.nodeType ?? ''}: ${leak}`);
    // Look-ups by one of several arguments, of which the schema requires none, read what `node` and lists read as well.
    if (/"give id or externalId"/.test(reply.text)) continue;
    for (const code of reply.codes.filter((one) => FAULTS.includes(one)))
      faults.push(
        `${caller.name} ${operation.root} ${operation.nodeType ?? ''}: ${code} ${reply.text.slice(0, 300)}`,
      );
    for (const token of world.markers.ownIn(reply.text, caller)) own.add(token);
  }
  return { leaks: [...new Set(leaks)], faults, own };
}

/** Follows an operation's pages to the last one. @returns one reply with the texts of all, a line each */
async function readPages(
  caller: Caller,
  operation: Operation,
  variables: Record<string, unknown>,
): Promise<Reply> {
  const texts: string[] = [];
  for (let after: unknown = null; ; ) {
    const asked = 'after' in variables ? { ...variables, after } : variables;
    const reply = await post(world, caller, { document: operation.document, variables: asked });
    texts.push(reply.text);
    const found = reply.data?.[operation.root] as Page | null | undefined;
    const more = found?.hasMore || found?.pageInfo?.hasNextPage;
    // Tenants are those of all test files.
    if (!more || reply.codes.length > 0 || operation.root === 'tenants')
      return { ...reply, text: texts.join('\n') };
    after = found?.endCursor ?? found?.pageInfo?.endCursor;
    expect(after, 'the cursor of a page that says there is more').toBeTypeOf('string');
  }
}

interface Page {
  readonly hasMore?: boolean;
  readonly endCursor?: string;
  readonly pageInfo?: { readonly hasNextPage?: boolean; readonly endCursor?: string };
}

describe('reading everything', () => {
  it.for(['platform', 'admin', 'auditor', 'agent-1', 'user-1'])(
    'shows %s its own and nothing of another owner',
    async (name) => {
      const caller = world.a.callers[name] as Caller;
      const { leaks, faults, own } = await readAll(caller);
      expect(leaks).toEqual([]);
      expect(faults).toEqual([]);
      expect(own.size).toBeGreaterThan(20);
    },
  );

  it('shows the platform, outside of any tenant, tenants and nothing inside of them', async () => {
    const { leaks, faults, own } = await readAll(PLATFORM);
    expect(leaks).toEqual([]);
    expect(faults).toEqual([]);
    expect(own).toContain(world.a.id);
  });

  it.for([NOBODY, STRANGER])('shows nothing to $name', async (caller) => {
    for (const field of world.generator.rootFields('query')) {
      const operation = world.generator.shortest('query', field);
      const variables = operation.variables(sourceOf(world, world.a, world.a.callers['admin'] as Caller));
      const reply = await post(world, caller, { document: operation.document, variables });
      expect(reply.codes).toContain('UNAUTHENTICATED');
      expect(Object.values(reply.data ?? {}).filter((value) => value !== null)).toEqual([]);
      expect(world.markers.foreignIn(reply.text, caller, JSON.stringify(variables))).toEqual([]);
    }
  });
});

describe('asking for everything that there is by its id', () => {
  const PER_REQUEST = 40;
  /** Told to those who oversee a tenant only. */
  const OVERSEEN = ['ApiKey', 'RescoreJob', 'ConsolidationReport'];

  it.for(['platform', 'admin', 'auditor', 'agent-1', 'user-1'])(
    'finds for %s what it may see, and only that',
    async (name) => {
      const caller = world.a.callers[name] as Caller;
      const wrong: string[] = [];
      for (const nodeType of world.generator.nodeTypes) {
        const all = [...new Set(world.rows.filter((row) => row.nodeType === nodeType))];
        for (let from = 0; from < all.length; from += PER_REQUEST) {
          const some = all.slice(from, from + PER_REQUEST);
          const ids = some.map((row) => toGlobalId(nodeType, row.uuid));
          const { data } = await post(world, caller, {
            document: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
            variables: { ids },
          });
          ((data?.['nodes'] ?? []) as (object | null)[]).forEach((node, index) => {
            const row = some[index]!;
            const may = maySee(caller, row.owner);
            if (node && !may) wrong.push(`${nodeType} ${row.uuid} of ${JSON.stringify(row.owner)} was shown`);
            const hidden = OVERSEEN.includes(nodeType) && (caller.agent || caller.user);
            if (!node && may && !hidden)
              wrong.push(`${nodeType} ${row.uuid} of ${JSON.stringify(row.owner)} was not found`);
          });
        }
      }
      expect(wrong).toEqual([]);
    },
  );
});

describe('reading page by page', () => {
  it.for(['admin', 'agent-1', 'user-1'])('shows %s the same rows as one long page does', async (name) => {
    const caller = world.a.callers[name] as Caller;
    const lists = world.generator.connections();
    expect(lists.length).toBeGreaterThan(8);
    const wrong: string[] = [];
    for (const list of lists) {
      const ask = async (first: number, after: string | null) => {
        const variables = list.operation.variables(sourceOf(world, world.a, caller));
        const asked = { ...variables, [list.first]: first, [list.after]: after };
        const reply = await post(world, caller, { document: list.operation.document, variables: asked });
        return pageIn(reply, list.path);
      };
      const whole = await ask(100, null);
      if (!whole) continue;
      const seen: string[] = [];
      for (let page = await ask(3, null), turn = 1; page; turn++) {
        seen.push(...page.rows);
        // Rows that are left out after the page was cut would show here how many there are of others.
        if (page.more !== seen.length < whole.rows.length)
          wrong.push(`${list.name}: ${seen.length} of ${whole.rows.length} rows, more: ${page.more}`);
        page = page.more && turn < 3 ? await ask(3, page.end) : null;
      }
      if (seen.join() !== whole.rows.slice(0, seen.length).join()) wrong.push(`${list.name}: other rows`);
    }
    expect(wrong).toEqual([]);
  });

  /** The rows of a page and what it says of more; null where there is no such list for the caller. */
  function pageIn({ data }: Reply, path: readonly string[]) {
    const list = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | null)?.[key], data);
    if (!list) return null;
    const { edges, items, pageInfo, hasMore, endCursor } = list as Page & {
      readonly edges?: readonly unknown[];
      readonly items?: readonly unknown[];
    };
    return {
      rows: (edges ?? items ?? []).map((row) => JSON.stringify(row)),
      more: pageInfo?.hasNextPage ?? hasMore ?? false,
      end: pageInfo?.endCursor ?? endCursor ?? null,
    };
  }
});

describe('what others do', () => {
  /**
   * What one tenant's memory has in common by design: the place in its event stream, BM25's statistics, and what is
   * usual in the tenant, by which a scope with few facts of its own tells what is surprising (SPEC §4).
   */
  const SHARED_IN_TENANT =
    /\.(cursor|endCursor|feedCursor|score|scores\.\w+|rank|previewImportance\.(z|spatialZ|base|decayResistance|encoded|current))$/;

  it('changes no answer in another tenant, to the byte: no count, no cursor, no score', async () => {
    await writeMore(world.b.callers['admin'] as Caller, 'b');
    const changed: string[] = [];
    for (const name of ['admin', 'agent-1', 'user-1']) {
      changed.push(...(await changesFor(world.a.callers[name] as Caller, () => true)));
    }
    expect(changed).toEqual([]);
  });

  it.for([
    ['agent-1', 'agent-2'],
    ['user-1', 'user-2'],
  ] as const)('changes nothing that %s reads where %s did it for itself', async ([reader, writer]) => {
    const caller = world.a.callers[reader] as Caller;
    await writeMore(world.a.callers[writer] as Caller, 'a');
    const changed = await changesFor(caller, (path) => !SHARED_IN_TENANT.test(path));
    expect(changed).toEqual([]);
  });

  async function writeMore(caller: Caller, local: string): Promise<void> {
    const tenant = local === 'a' ? world.a : world.b;
    const { word } = sourceOf(world, tenant, caller);
    for (let n = 0; n < 3; n++) {
      const reply = await post(world, caller, {
        document: `mutation ($r: RememberInput!, $a: AppendMessagesInput!) {
          remember(input: $r) { errors { code } } appendMessages(input: $a) { errors { code } }
        }`,
        variables: {
          r: {
            text: `The ${word()} service runs on ${word()}`,
            kind: 'PROJECT',
            entities: ['Shared Name', word()],
          },
          a: {
            session: { create: { externalId: `later-${n}` } },
            messages: [{ role: 'USER', content: `I use the service ${word()}\nPROJECT: it is ${word()}` }],
          },
        },
      });
      expect(reply.text).not.toContain('"code"');
    }
    await world.refresh();
  }

  /** Reads everything again and compares with the last time; a second reading tells noise from news. */
  async function changesFor(caller: Caller, counts: (path: string) => boolean): Promise<string[]> {
    const changed: string[] = [];
    for (const operation of operations) {
      const key = `${caller.name} ${operation.document}`;
      const before = answers.get(key)!;
      const read = () => readPages(caller, operation, operation.variables(firstSource(caller, operation)));
      const { text } = await read();
      answers.set(key, text);
      if (text === before) continue;
      const again = (await read()).text;
      const news = differences(parsed(before), parsed(text)).filter(counts);
      for (const path of maskNoise(news, differences(parsed(text), parsed(again))))
        changed.push(`${caller.name} ${operation.root} ${operation.nodeType ?? ''}: ${path}`);
    }
    return changed;
  }

  /** The pages of an answer. */
  function parsed(text: string): unknown {
    return text.split('\n').map((page) => JSON.parse(page));
  }

  /** Ids and texts stay the same from reading to reading, whatever was added. */
  function firstSource(caller: Caller, operation: Operation) {
    return {
      ...sourceOf(world, world.a, caller),
      id: (type: string) => firstIds(caller, type),
      word: sameWords(caller, operation),
    };
  }
});

/** Words that a caller asks an operation with: the same, in the same order, every time. */
const asked = new Map<string, string>();
function sameWords(caller: Caller, operation: Operation): () => string {
  const { word } = sourceOf(world, world.a, caller);
  let place = 0;
  return () => {
    const key = `${caller.name} ${place++} ${operation.document}`;
    const known = asked.get(key) ?? word();
    asked.set(key, known);
    return known;
  };
}

const remembered = new Map<string, string>();
function firstIds(caller: Caller, nodeType: string): string {
  const key = `${caller.name} ${nodeType}`;
  const known =
    remembered.get(key) ?? toGlobalId(nodeType, rowsOf(world, world.a, caller, nodeType)[0]?.uuid ?? '');
  remembered.set(key, known);
  return known;
}
