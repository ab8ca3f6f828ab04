import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testAccessTable } from './access-table.js';
import { counted, post, type Reply, rowsOf, type Sent, sourceOf } from './ask.js';
import { type Caller, NOBODY, PLATFORM, STRANGER, toGlobalId, uuidOf } from './callers.js';
import { missingId, unseenIds, withoutId } from './ids.js';
import type { Operation } from './operations.js';
import { makeWorld, type World } from './owners.js';
import { type Answers, get, overSse, Socket } from './transports.js';

// Nothing is timed here: it is only that the machine may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let world: World;
let url: string;

beforeAll(async () => {
  world = await makeWorld('few');
  url = (await world.test.app.listen()).url;
});
afterAll(async () => {
  console.log(`leak suite: ${counted.requests} requests over GET, SSE and WebSocket`);
  await world[Symbol.asyncDispose]();
});

const NAMES = ['platform', 'admin', 'auditor', 'agent-1', 'user-1'];
const callerOf = (name: string) => world.a.callers[name] as Caller;

const UNAUTHENTICATED = { extensions: { code: 'UNAUTHENTICATED' } };

interface Said {
  readonly data: unknown;
  readonly errors: readonly { message: string; extensions: object }[] | undefined;
}

/** The kept receipt of a recall that teaches: each recall has one of its own. */
const RECEIPT = new RegExp(`${Buffer.from('KeptRecallReceipt:').toString('base64')}[\\w+/=]+`, 'g');

/** What an answer says, however it came. */
function said({ text }: Reply): Said {
  const { data, errors } = JSON.parse(text.replace(RECEIPT, 'RECEIPT')) as {
    data?: unknown;
    errors?: { message: string; extensions: object }[];
  };
  return { data: data ?? null, errors: errors?.map(({ message, extensions }) => ({ message, extensions })) };
}

testAccessTable(() => world);

describe('queries over GET, SSE and WebSocket', () => {
  it.for([...NAMES, 'outside', 'nobody', 'stranger'])('answer %s as over POST', async (name) => {
    const others: Record<string, Caller> = { outside: PLATFORM, nobody: NOBODY, stranger: STRANGER };
    const caller = others[name] ?? callerOf(name);
    const asked = caller.tenant ? caller : callerOf('admin');
    using _quiet = await world.quiet();
    await using socket = new Socket(url, caller);
    const fields = world.generator.rootFields('query');
    expect(fields.length).toBeGreaterThan(10);
    for (const field of fields) {
      const operation = world.generator.shortest('query', field);
      const sent = {
        document: operation.document,
        variables: operation.variables(sourceOf(world, world.a, asked)),
      };
      const expected = said(await post(world, caller, sent));
      const stream = await overSse(world, caller, sent);
      const replies = {
        GET: await get(world, caller, sent),
        SSE: await stream.next(),
        WebSocket: await socket.send(sent).next(),
      };
      await stream.close();
      for (const [transport, reply] of Object.entries(replies)) {
        const where = `${transport} ${field.name}`;
        expect(reply, where).not.toBeNull();
        // A socket of nobody is closed before it can ask: it hears the same refusal, with no field of an answer.
        const refused = caller.role === null && transport === 'WebSocket';
        if (refused) expect(expected.errors, where).toMatchObject([UNAUTHENTICATED]);
        expect(said(reply as Reply), where).toEqual(refused ? { ...expected, data: null } : expected);
        if (caller.role === null) expect(reply?.codes, where).toEqual(['UNAUTHENTICATED']);
        expect(
          world.markers.foreignIn(reply?.text ?? '', caller, JSON.stringify(sent.variables)),
          where,
        ).toEqual([]);
      }
    }
  });
});

describe('mutations over WebSocket', () => {
  it('take foreign ids for missing ones', async () => {
    const caller = callerOf('agent-1');
    await using socket = new Socket(url, caller);
    const source = sourceOf(world, world.a, caller);
    const word = source.word();
    const wrong: string[] = [];
    for (const position of world.generator.positions('mutation', 'ID')) {
      const type = position.nodeType ?? 'Fact';
      const ask = async (value: string) => {
        const variables = position.operation.variables(
          { ...source, word: () => word },
          { path: position.path, value },
        );
        return (await socket.send({ document: position.operation.document, variables }).next()) as Reply;
      };
      const missing = missingId(type, 'global');
      const expected = withoutId(await ask(missing.value), missing);
      for (const tried of unseenIds(world, caller, type, ['global']).filter((one) => one.type === type)) {
        const reply = await ask(tried.value);
        if (withoutId(reply, tried) !== expected)
          wrong.push(`${position.name} ${tried.of}: ${reply.text.slice(0, 300)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('subscriptions', () => {
  it('deliver to everyone its own events and nothing of another owner, over SSE and WebSocket', async () => {
    const sockets: Socket[] = [];
    const streams: { caller: Caller; root: string; transport: string; answers: Answers }[] = [];
    const open = (caller: Caller, operation: Operation, transport: string, answers: Answers) =>
      streams.push({ caller, root: operation.root, transport, answers });
    for (const caller of NAMES.map(callerOf)) {
      const socket = new Socket(url, caller);
      sockets.push(socket);
      // With everything that there is to select where the rules are narrow, with the events alone elsewhere.
      const narrow = caller.role === 'AGENT' || caller.role === 'USER';
      for (const operation of subscriptions(narrow ? 'full' : 'brief'))
        open(caller, operation, 'SSE', await overSse(world, caller, fromTheBeginning(operation, caller)));
      for (const operation of subscriptions('brief'))
        open(caller, operation, 'WebSocket', socket.send(fromTheBeginning(operation, caller)));
    }
    expect(streams.length).toBeGreaterThanOrEqual(4 * NAMES.length);
    // Others go on writing while the streams are open; what comes last is for all to see.
    for (const writer of [
      world.b.callers['admin'],
      world.b.callers['user-1'],
      callerOf('agent-2'),
      callerOf('user-2'),
    ])
      await rememberAs(writer as Caller, {});
    await rememberAs(callerOf('admin'), { userId: toGlobalId('User', world.a.users['user-1'] ?? '') });
    const last = await lastCursor();
    const wrong: string[] = [];
    for (const { caller, root, transport, answers } of streams) {
      const seen = { replies: 0, own: new Set<string>() };
      for (let reply = await answers.next(); reply; reply = await answers.next()) {
        seen.replies++;
        for (const leak of world.markers.foreignIn(reply.text, caller))
          wrong.push(`${caller.name} ${root} over ${transport}: ${leak}`);
        if (reply.codes.length > 0)
          wrong.push(`${caller.name} ${root} over ${transport}: ${reply.text.slice(0, 300)}`);
        for (const token of world.markers.ownIn(reply.text, caller)) seen.own.add(token);
        if (reply.text.includes(`"cursor":"${last}"`)) break;
      }
      await answers.close();
      if (seen.replies < 5 || seen.own.size < 5)
        wrong.push(`${caller.name} ${root} over ${transport}: only ${seen.replies} answers`);
    }
    for (const socket of sockets) await socket[Symbol.asyncDispose]();
    expect([...new Set(wrong)]).toEqual([]);
  });

  it('ask the nameless for credentials', async () => {
    for (const caller of [NOBODY, STRANGER]) {
      await using socket = new Socket(url, caller);
      for (const operation of subscriptions('brief')) {
        const sent = fromTheBeginning(operation, callerOf('admin'));
        const stream = await overSse(world, caller, sent);
        expect((await stream.next())?.codes).toEqual(['UNAUTHENTICATED']);
        expect((await socket.send(sent).next())?.codes).toEqual(['UNAUTHENTICATED']);
        await stream.close();
      }
    }
  });

  it.for(['admin', 'agent-1', 'user-1'])(
    'begin for %s with a foreign id as with a missing one',
    async (name) => {
      const caller = callerOf(name);
      const wrong: string[] = [];
      for (const position of world.generator.positions('subscription', 'ID')) {
        const type = position.nodeType ?? 'Fact';
        const ask = async (value: string): Promise<Reply> => {
          const variables = position.operation.variables(sourceOf(world, world.a, caller), {
            path: position.path,
            value,
          });
          const stream = await overSse(world, caller, { document: position.operation.document, variables });
          const first = await stream.next();
          await stream.close();
          return first as Reply;
        };
        const missing = missingId(type, 'global');
        const expected = withoutId(await ask(missing.value), missing);
        for (const tried of unseenIds(world, caller, type, ['global', 'uuid']).filter(
          (one) => one.type === type,
        )) {
          const reply = await ask(tried.value);
          if (withoutId(reply, tried) !== expected)
            wrong.push(`${position.name} ${tried.of}: ${reply.text.slice(0, 300)}`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  it.for(['agent-1', 'user-1'])(
    'that name foreign facts deliver to %s what is its own alone',
    async (name) => {
      const caller = callerOf(name);
      const lists = subscriptions('full').flatMap((operation) =>
        world.generator
          .positions('subscription', 'ID')
          .filter((one) => one.operation.root === operation.root && one.nodeType === 'Fact')
          .map(({ path }) => ({ operation, path })),
      );
      expect(lists.length).toBeGreaterThan(0);
      for (const { operation, path } of lists) {
        const own = await rememberAs(caller, {});
        const foreign = [world.a, world.b].flatMap((tenant) =>
          rowsOf(world, tenant, { ...caller, tenant: tenant.local }, 'Fact', tenant === world.a).map(
            (row) => row.uuid,
          ),
        );
        const value = [...foreign, uuidOf(own)].map((uuid) => toGlobalId('Fact', uuid));
        const variables = {
          ...operation.variables(sourceOf(world, world.a, caller), { path, value }),
          after: 'earliest',
        };
        const stream = await overSse(world, caller, { document: operation.document, variables });
        const first = await stream.next();
        await stream.close();
        expect(first?.text).toContain(own);
        expect(world.markers.foreignIn(first?.text ?? '', caller)).toEqual([]);
      }
    },
  );
});

/** Every feed, with everything that it delivers or with what names its events. */
function subscriptions(size: 'full' | 'brief'): Operation[] {
  const { generator } = world;
  return generator
    .rootFields('subscription')
    .filter((field) => field.args.some((arg) => arg.name === 'after'))
    .flatMap((field) =>
      size === 'full'
        ? generator.reading('subscription', field)
        : [generator.shortest('subscription', field)],
    );
}

function fromTheBeginning(operation: Operation, caller: Caller): Sent {
  const variables = { ...operation.variables(sourceOf(world, world.a, caller)), after: 'earliest' };
  return { document: operation.document, variables };
}

/** Where the newest change of importance stands in tenant a's stream: the last item of both feeds. */
async function lastCursor(): Promise<string> {
  const { text } = await post(world, callerOf('admin'), {
    document:
      '{ eventLog(filter: { types: [IMPORTANCE_CHANGED] }, first: 500) { items { cursor } hasMore } }',
    variables: {},
  });
  expect(text).toContain('"hasMore":false');
  return [...text.matchAll(/"cursor":"([^"]+)"/g)].at(-1)?.[1] ?? '';
}

/** @returns the global id of the new fact */
async function rememberAs(caller: Caller, subject: Record<string, string>): Promise<string> {
  const tenant = caller.tenant === 'a' ? world.a : world.b;
  const { word } = sourceOf(world, tenant, caller);
  const reply = await post(world, caller, {
    document: 'mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { code } } }',
    variables: { input: { text: `The ${word()} service runs on ${word()}`, ...subject } },
  });
  const id = /"id":"([^"]+)"/.exec(reply.text)?.[1];
  if (!id) throw new Error(`not remembered: ${reply.text}`);
  await world.refresh();
  return id;
}
