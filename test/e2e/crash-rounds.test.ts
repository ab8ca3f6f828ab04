import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importCommand } from '../../src/cli/import.js';
import { Progress } from '../../src/cli/progress.js';
import { embeddedConnection } from '../../src/db/open.js';
import { uuidOf } from '../facts/support.js';
import { ADMIN_KEY } from '../support/app.js';
import { databaseOn, onServer } from '../support/database.js';
import { Gateway } from './gateway.js';
import { brokenInvariants } from './invariants.js';
import { openTenant, remember, ServerProcess } from './server-process.js';

/** How often a server is killed on each database; SALIENT_KILL_ROUNDS=30 takes about 15 minutes. */
const ROUNDS = Number(process.env['SALIENT_KILL_ROUNDS'] ?? 6);
/** Another seed kills at other moments. */
const SEED = Number(process.env['SALIENT_KILL_SEED'] ?? 1);
/** A server is killed with one of its first appends, this long after it came in, in ms: while it keeps, mines or applies. */
const APPENDS = 3;
const DELAY_MS = 500;
const MESSAGES = 24;
const SESSIONS = ROUNDS * 3 + 4;

const postgres = process.env['SALIENT_TEST_DATABASE_URL'];
const random = mulberry32(SEED);

/** A server's data: where it is, how to look at it beside the server, and how to remove it. */
interface Place {
  readonly environment: Record<string, string>;
  readonly connection: pg.ClientConfig;
  remove(): Promise<void>;
}

async function openPlace(): Promise<Place> {
  if (postgres !== undefined) {
    const name = `salient_crash_${process.pid}_${Date.now()}`;
    await onServer(postgres, `CREATE DATABASE ${name}`);
    const connectionString = databaseOn(postgres, name);
    return {
      environment: { DATABASE_URL: connectionString },
      connection: { connectionString },
      remove: () => onServer(postgres, `DROP DATABASE ${name} WITH (FORCE)`),
    };
  }
  const directory = await mkdtemp(join(tmpdir(), 'salient-crash-'));
  return {
    environment: { SALIENT_DATA_DIR: directory },
    connection: embeddedConnection(join(directory, 'run')),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Sessions of statements that are all different, with small talk between them. */
function conversation() {
  const names = ['Harbour', 'Lantern', 'Quarry', 'Meadow', 'Foundry', 'Orchard'];
  const messages = Array.from({ length: SESSIONS * MESSAGES }, (_none, n) => {
    const session = 1 + Math.floor(n / MESSAGES);
    const number = 1 + (n % MESSAGES);
    const team = names[n % names.length];
    const text =
      number % 3 === 0
        ? 'Let me see, one moment please'
        : `We agreed on plan ${session * 100 + number} for the ${team} team because it is cheaper`;
    return { session, speaker: number % 2 === 0 ? 'Ada' : 'Ben', diaId: `D${session}:${number}`, text };
  });
  return { id: 'talk', messages };
}

describe('servers that are killed again and again while they import', {
  timeout: 120_000 + ROUNDS * 90_000,
}, () => {
  let place: Place;
  let directory: string;
  let file: string;
  let gateway: Gateway;
  let server: ServerProcess | undefined;

  beforeAll(async () => {
    place = await openPlace();
    directory = await mkdtemp(join(tmpdir(), 'salient-crash-talk-'));
    file = join(directory, 'talk.json');
    await writeFile(file, JSON.stringify(conversation()));
    gateway = await Gateway.open();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await gateway?.[Symbol.asyncDispose]();
    await place?.remove();
    if (directory) await rm(directory, { recursive: true, force: true });
  });

  async function start(): Promise<ServerProcess> {
    server = await ServerProcess.start(place.environment);
    gateway.target = server.url;
    return server;
  }

  /** `salient import` through the gateway; what it told, or the error that it ended with. */
  async function runImport(tenant: string): Promise<string | Error> {
    let told = '';
    const progress = new Progress({
      write: (text: string) => {
        told += text;
        return true;
      },
    });
    const args = [file, '--url', gateway.url, '--key', ADMIN_KEY, '--tenant', tenant, '--agent', 'desk'];
    return importCommand([...args, '--user', 'ada'], {}, { progress }).then(
      () => told,
      (error: Error) => error,
    );
  }

  it(`lose nothing that they acknowledged, keep nothing twice or by halves, and end as if nothing had been (${ROUNDS} rounds)`, async () => {
    let alive = await start();
    const key = await openTenant(alive, 'crashed');
    const { tenant } = await alive.ask<{ tenant: { id: string } }>('{ tenant { id } }', {}, key);
    const tenantId = uuidOf(tenant.id);
    const facts: { id: string; text: string }[] = [];
    // All that was asked to be remembered: what was saved although its answer was lost is nobody's fault.
    const stated: string[] = [];
    const failures: string[] = [];
    let over = false;
    // One that its client has given up is run again; one that still tries goes on with the next server.
    const importing = (async () => {
      while (!over) {
        const outcome = await runImport('crashed');
        if (typeof outcome === 'string') return;
        failures.push(outcome.message);
        await pause(100);
      }
    })();

    for (let round = 0; round < ROUNDS; round++) {
      const doomed = alive;
      // Beside the import somebody states facts, one after the other, until the server is gone.
      const stating = (async () => {
        for (let n = 0; ; n++) {
          const text = `Crane ${round}-${n} stands at berth ${round * 1_000 + n}`;
          stated.push(text);
          const id = await remember(doomed, key, text).catch((error: unknown) => {
            // It is gone, before its answer or in the middle of it.
            if (error instanceof TypeError || error instanceof SyntaxError) return null;
            throw error;
          });
          if (id === null) return;
          facts.push({ id: uuidOf(id), text });
          await pause(20);
        }
      })();
      const killed = killSoon(gateway, doomed, importing);
      await killed;
      await stating;

      alive = await start();
      await using client = await connected(place.connection);
      const { broken, messages } = await brokenInvariants(client, tenantId);
      expect(broken, `after round ${round}`).toEqual([]);
      const kept = await keptIds(client, tenantId);
      const lost = gateway.acknowledged.filter(
        ({ session, externalId }) => !kept.has(`${session} ${externalId}`),
      );
      expect(lost, `after round ${round}`).toEqual([]);
      expect(messages).toBeGreaterThanOrEqual(gateway.acknowledged.length === 0 ? 0 : MESSAGES);
      expect(await factIds(client, tenantId)).toEqual(expect.arrayContaining(facts.map(({ id }) => id)));
    }

    over = true;
    await importing;
    // It could not be reached: nothing that was sent again was refused.
    expect(
      failures.filter((message) => !message.includes('is not reached') && !message.includes('503')),
    ).toEqual([]);
    const told = await runImport('crashed');
    expect(told).toContain(`in ${SESSIONS} sessions`);
    expect(told).not.toContain('still to be learned');
    expect(facts.length).toBeGreaterThan(ROUNDS / 2);
    expect(gateway.acknowledged.length).toBeGreaterThan(0);
    // What was under way when a server was killed has been taken up: nothing waits, nothing has failed.
    {
      await using client = await connected(place.connection);
      expect(await brokenInvariants(client, tenantId)).toEqual({
        broken: [],
        messages: SESSIONS * MESSAGES,
      });
      expect(await openRuns(client, tenantId)).toEqual([]);
    }

    const undisturbed = await openTenant(alive, 'undisturbed');
    expect(await runImport('undisturbed')).toContain(`${SESSIONS * MESSAGES} messages added`);
    const imported = await memoryOf(alive, key, stated);
    expect(imported.facts.length).toBeGreaterThan(SESSIONS * 10);
    expect(imported).toEqual(await memoryOf(alive, undisturbed, []));
    expect(await runImport('crashed')).toContain('0 messages added');
    expect(await alive.end('SIGTERM')).toBe(0);
  });
});

describe('servers that are killed while they start for the first time', { timeout: 300_000 }, () => {
  it('leave a directory or a database that the next one starts on', async () => {
    const place = await openPlace();
    try {
      // How long an undisturbed first start takes here and now.
      const begin = performance.now();
      const fresh = await openPlace();
      await using undisturbed = await ServerProcess.start(fresh.environment);
      const whole = performance.now() - begin;
      await undisturbed.end('SIGTERM');
      await fresh.remove();

      for (let attempt = 0; attempt < 5; attempt++) {
        const doomed = await ServerProcess.launch(place.environment);
        // Later and later into the start, so that cluster, migrations and first rows are all met.
        await pause(whole * ((attempt + random()) / 5));
        expect(await doomed.end('SIGKILL')).toBe('SIGKILL');
      }
      await using server = await ServerProcess.start(place.environment);
      const key = await openTenant(server, 'after-all');
      await remember(server, key, 'The lighthouse is painted every spring');
      const data = place.environment['SALIENT_DATA_DIR'];
      if (data) expect((await readdir(data)).toSorted()).toEqual(['lock', 'pg', 'run']);
      expect(await server.end('SIGTERM')).toBe(0);
    } finally {
      await place.remove();
    }
  });
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Kills a server a while after one of the next appends has come in, or after the last one. */
function killSoon(gateway: Gateway, server: ServerProcess, importing: Promise<unknown>): Promise<void> {
  let left = Math.floor(random() * APPENDS);
  const delay = random() * DELAY_MS;
  const come = new Promise<void>((resolve) => {
    gateway.onAppend = () => {
      if (left-- === 0) resolve();
    };
  });
  return Promise.race([come, importing]).then(async () => {
    gateway.onAppend = () => {};
    await pause(delay);
    // Nobody is sent to the dead.
    gateway.target = null;
    await server.end('SIGKILL');
  });
}

async function connected(connection: pg.ClientConfig): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client(connection);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Everything that was learned from the conversation: messages, cursors and facts with their sources, without ids. */
async function memoryOf(server: ServerProcess, key: string, except: readonly string[]) {
  interface Page<T> {
    edges: { node: T }[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  }
  const all = async <T>(list: string, fields: string): Promise<T[]> => {
    const nodes: T[] = [];
    for (let after: string | null = null; ; ) {
      const data: { tenant: Record<string, Page<T>> } = await server.ask(
        `query ($after: String) { tenant { ${list}(first: 20, after: $after) { edges { node { ${fields} } }
           pageInfo { hasNextPage endCursor } } } }`,
        { after },
        key,
      );
      const page = data.tenant[list] as Page<T>;
      nodes.push(...page.edges.map(({ node }) => node));
      if (!page.pageInfo.hasNextPage) return nodes;
      after = page.pageInfo.endCursor;
    }
  };
  const sessions = await all<{ externalId: string }>(
    'sessions',
    'externalId messageCount minedCount messages(first: 50) { edges { node { externalId role speaker content } } }',
  );
  const facts = await all<{ text: string }>(
    'facts',
    'text kind status sources(first: 5) { edges { node { externalId } } } entities { name }',
  );
  return {
    sessions: sessions.toSorted((a, b) => a.externalId.localeCompare(b.externalId)),
    facts: facts
      .filter(({ text }) => !except.includes(text))
      .toSorted((a, b) => a.text.localeCompare(b.text)),
  };
}

async function inTenant<T extends pg.QueryResultRow>(client: pg.Client, tenantId: string, sql: string) {
  await client.query('BEGIN READ ONLY');
  try {
    await client.query("SELECT set_config('app.tenant', $1, true)", [tenantId]);
    return (await client.query<T>(sql, [tenantId])).rows;
  } finally {
    await client.query('ROLLBACK');
  }
}

async function keptIds(client: pg.Client, tenantId: string): Promise<Set<string>> {
  const rows = await inTenant<{ kept: string }>(
    client,
    tenantId,
    `SELECT s.external_id || ' ' || m.external_id AS kept FROM message m
     JOIN session s ON s.tenant_id = m.tenant_id AND s.id = m.session_id WHERE m.tenant_id = $1`,
  );
  return new Set(rows.map(({ kept }) => kept));
}

async function factIds(client: pg.Client, tenantId: string): Promise<string[]> {
  const rows = await inTenant<{ id: string }>(client, tenantId, 'SELECT id FROM fact WHERE tenant_id = $1');
  return rows.map(({ id }) => id);
}

const openRuns = (client: pg.Client, tenantId: string) =>
  inTenant<{ status: string }>(
    client,
    tenantId,
    "SELECT status, error FROM extraction_run WHERE tenant_id = $1 AND status NOT IN ('EXTRACTED', 'NOTHING_NEW')",
  );

/** Numbers in [0, 1), the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
