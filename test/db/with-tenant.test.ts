import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Database,
  DatabaseClosedError,
  MAX_RETRIES,
  NestedTransactionError,
  sqlState,
  TransactionAbortedError,
} from '../../src/db/index.js';
import { newId } from '../../src/ids.js';
import { countStatements, isPostgres, ownerClient, testDatabase } from '../support/database.js';

/** Raises an error of this SQLSTATE. */
const raise = (state: string) =>
  `DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING errcode = '${state}'; END $$`;

let db: Database;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

async function createTenant(): Promise<string> {
  const id = newId();
  await db.withTenant(
    id,
    (tx) => tx.$executeRaw`
      INSERT INTO tenant (id, slug, name, hash_key, created_at, updated_at)
      VALUES (${id}::uuid, ${`t-${id}`}, 'Test', '\\x00', now(), now())`,
  );
  return id;
}

function insertAgent(tenantId: string, id = newId()) {
  return (tx: Parameters<Parameters<Database['withTenant']>[1]>[0]) =>
    tx.agent.create({ data: { tenantId, id, name: 'Agent', createdAt: new Date(), updatedAt: new Date() } });
}

/** Runs what does not belong to the transaction that the calling code is in. */
const outside = AsyncLocalStorage.snapshot();

async function agentsOf(tenantId: string): Promise<number> {
  return db.withTenant(tenantId, (tx) => tx.agent.count());
}

describe('the transaction of a tenant', () => {
  it('runs as salient_app with the tenant set, in UTC, with time-outs, and foreign keys checked by kept plans', async () => {
    const tenantId = newId();
    const [row] = await db.withTenant(
      tenantId,
      (tx) => tx.$queryRaw<Record<string, string>[]>`
        SELECT current_user::text AS role, current_setting('app.tenant') AS tenant,
               current_setting('timezone') AS zone, current_setting('plan_cache_mode') AS plans,
               current_setting('statement_timeout') AS statement,
               current_setting('idle_in_transaction_session_timeout') AS idle`,
    );
    expect(row).toEqual({
      role: 'salient_app',
      tenant: tenantId,
      zone: 'UTC',
      plans: 'auto',
      statement: '30s',
      idle: '1min',
    });
  });

  it('leaves nothing of it on the connection', async () => {
    await db.withTenant(newId(), (tx) => tx.$queryRaw`SELECT 1`);
    const [row] = await db.withPlatform(
      (tx) => tx.$queryRaw<Record<string, string>[]>`
        SELECT current_user::text AS role, current_setting('app.tenant') AS tenant`,
    );
    expect(row).toEqual({ role: 'salient_platform', tenant: '' });
  });

  it('takes three messages for one statement: begin with all settings, the statement, commit', async () => {
    const sent: string[] = [];
    const stop = db.onStatement(({ sql }) => sent.push(sql));
    await db.withTenant(newId(), (tx) => tx.$queryRaw`SELECT 1 AS one`);
    stop();
    await db.withTenant(newId(), (tx) => tx.$queryRaw`SELECT 2 AS two`);
    expect(sent).toHaveLength(3);
    expect(sent[0]).toMatch(/^BEGIN; SET LOCAL ROLE salient_app; SET LOCAL app\.tenant = '/);
    expect(sent.slice(1)).toEqual(['SELECT 1 AS one', 'COMMIT']);
  });

  it('counts the statements of the work alone', async () => {
    const tenantId = await createTenant();
    const statements = await countStatements(db, async () => {
      await db.withTenant(tenantId, async (tx) => {
        await tx.$queryRaw`SELECT 1`;
        await tx.$transaction((inner) => inner.$queryRaw`SELECT 2`);
      });
    });
    expect(statements).toEqual(['SELECT 1', 'SELECT 2']);
  });

  it('refuses anything but a UUID as the tenant', async () => {
    for (const id of ["'; DROP TABLE tenant; --", '', 'acme', `${newId()}'`]) {
      await expect(db.withTenant(id, async () => 1)).rejects.toThrow(TypeError);
    }
  });

  it('saves all, and gives back what the work returned', async () => {
    const tenantId = await createTenant();
    const agent = await db.withTenant(tenantId, insertAgent(tenantId));
    expect(agent.tenantId).toBe(tenantId);
    expect(await agentsOf(tenantId)).toBe(1);
  });

  it('saves nothing when the work throws, and throws the same error', async () => {
    const tenantId = await createTenant();
    const mine = new Error('mine');
    await expect(
      db.withTenant(tenantId, async (tx) => {
        await insertAgent(tenantId)(tx);
        throw mine;
      }),
    ).rejects.toBe(mine);
    expect(await agentsOf(tenantId)).toBe(0);
  });

  it("hides other tenants' rows, and refuses to write them", async () => {
    const [mine, other] = [await createTenant(), await createTenant()];
    await db.withTenant(other, insertAgent(other));
    expect(await db.withTenant(mine, (tx) => tx.agent.count({ where: { tenantId: other } }))).toBe(0);
    const refused = db.withTenant(mine, insertAgent(other));
    await expect(refused).rejects.toSatisfy((error) => sqlState(error) === '42501');
    expect(await agentsOf(other)).toBe(1);
  });
});

describe('the platform role', () => {
  it('may not read content', async () => {
    const refused = db.withPlatform((tx) => tx.$queryRaw`SELECT text FROM fact`);
    await expect(refused).rejects.toSatisfy((error) => sqlState(error) === '42501');
  });
});

describe('a statement that fails', () => {
  it('undoes the transaction even when the work hides the error', async () => {
    const tenantId = await createTenant();
    const hidden = db.withTenant(tenantId, async (tx) => {
      await insertAgent(tenantId)(tx);
      await tx.$queryRaw`SELECT 1 / 0`.catch(() => {});
      return 'all is well';
    });
    const error = await hidden.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransactionAbortedError);
    expect(sqlState(error)).toBe('22012');
    expect(await agentsOf(tenantId)).toBe(0);
  });

  it('undoes only the inner transaction when there is one', async () => {
    const tenantId = await createTenant();
    await db.withTenant(tenantId, async (tx) => {
      await insertAgent(tenantId)(tx);
      const inner = tx.$transaction(async (nested) => {
        await insertAgent(tenantId)(nested);
        await nested.$queryRaw`SELECT 1 / 0`;
      });
      await expect(inner).rejects.toSatisfy((error) => sqlState(error) === '22012');
    });
    expect(await agentsOf(tenantId)).toBe(1);
  });

  it('is an error when the COMMIT is what fails', async () => {
    const owner = await ownerClient();
    const schema = `test_${newId().replaceAll('-', '')}`;
    const table = `${schema}.deferred`;
    try {
      await owner.query(`CREATE SCHEMA ${schema}`);
      await owner.query(`GRANT USAGE ON SCHEMA ${schema} TO salient_app`);
      await owner.query(`CREATE TABLE ${table} (id int, parent int)`);
      await owner.query(`ALTER TABLE ${table} ADD UNIQUE (id)`);
      await owner.query(
        `ALTER TABLE ${table} ADD FOREIGN KEY (parent) REFERENCES ${table} (id) DEFERRABLE INITIALLY DEFERRED`,
      );
      await owner.query(`GRANT ALL ON ${table} TO salient_app`);
      const broken = db.withTenant(newId(), (tx) =>
        tx.$executeRawUnsafe(`INSERT INTO ${table} VALUES (1, 99)`),
      );
      await expect(broken).rejects.toSatisfy((error) => sqlState(error) === '23503');
      expect((await owner.query(`SELECT * FROM ${table}`)).rows).toEqual([]);
    } finally {
      await owner.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await owner.end();
    }
    expect(await db.withTenant(newId(), async () => 'usable')).toBe('usable');
  });
});

describe('retries', () => {
  it.each(['40001', '40P01'])('runs the work again after SQLSTATE %s', async (state) => {
    const tenantId = await createTenant();
    let runs = 0;
    await db.withTenant(tenantId, async (tx) => {
      runs++;
      await insertAgent(tenantId)(tx);
      if (runs <= MAX_RETRIES) await tx.$executeRawUnsafe(raise(state));
    });
    expect(runs).toBe(MAX_RETRIES + 1);
    expect(await agentsOf(tenantId)).toBe(1);
  });

  it('gives up in the end, with the error of the last run', async () => {
    let runs = 0;
    const hopeless = db.withTenant(newId(), async (tx) => {
      runs++;
      await tx.$executeRawUnsafe(raise('40001'));
    });
    await expect(hopeless).rejects.toSatisfy((error) => sqlState(error) === '40001');
    expect(runs).toBe(MAX_RETRIES + 1);
  });

  it('retries as well when the work hid the error', async () => {
    let runs = 0;
    const result = await db.withTenant(newId(), async (tx) => {
      runs++;
      if (runs === 1) await tx.$executeRawUnsafe(raise('40001')).catch(() => {});
      return runs;
    });
    expect(result).toBe(2);
  });

  it('does not repeat work that failed for another reason', async () => {
    let runs = 0;
    const failing = db.withTenant(newId(), async (tx) => {
      runs++;
      await tx.$executeRawUnsafe(raise('23505'));
    });
    await expect(failing).rejects.toSatisfy((error) => sqlState(error) === '23505');
    expect(runs).toBe(1);
  });

  it.each(['57014', '55P03'])(
    'is for the caller after SQLSTATE %s, who may send the request again',
    async (state) => {
      const tenantId = await createTenant();
      let runs = 0;
      for (const hides of [false, true]) {
        const slow = db.withTenant(tenantId, async (tx) => {
          runs++;
          await insertAgent(tenantId)(tx);
          const failing = tx.$executeRawUnsafe(raise(state));
          await (hides ? failing.catch(() => {}) : failing);
        });
        await expect(slow).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          retryable: true,
          message: 'The database took too long to answer: try again',
        });
      }
      expect(runs).toBe(2);
      expect(await agentsOf(tenantId)).toBe(0);
    },
  );

  it.runIf(isPostgres)(
    'is for the caller where a statement is cancelled while it waits for a lock',
    async () => {
      const tenantId = await createTenant();
      const id = newId();
      await db.withTenant(tenantId, insertAgent(tenantId, id));
      const rename = (tx: Parameters<Parameters<Database['withTenant']>[1]>[0]) =>
        tx.$executeRaw`UPDATE agent SET name = name || '+' WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid`;
      await db.withTenant(tenantId, async (tx) => {
        await rename(tx);
        for (const setting of ['statement_timeout', 'lock_timeout']) {
          // Outside of this transaction's calls: a second one inside of it would be refused.
          const waiting = outside(() =>
            db.withTenant(tenantId, async (other) => {
              await other.$executeRawUnsafe(`SET LOCAL ${setting} = 50`);
              await rename(other);
            }),
          );
          await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
        }
      });
    },
  );

  it.runIf(isPostgres)('resolves a real deadlock of two transactions', async () => {
    const tenantId = await createTenant();
    const [first, second] = [newId(), newId()];
    await db.withTenant(tenantId, insertAgent(tenantId, first));
    await db.withTenant(tenantId, insertAgent(tenantId, second));
    const rename = (order: readonly string[]) =>
      db.withTenant(tenantId, async (tx) => {
        for (const id of order) {
          await tx.$executeRaw`UPDATE agent SET name = name || '+' WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid`;
          await tx.$queryRaw`SELECT pg_sleep(0.1)::text`;
        }
      });
    await Promise.all([rename([first, second]), rename([second, first])]);
    const names = await db.withTenant(tenantId, (tx) => tx.agent.findMany({ select: { name: true } }));
    expect(names).toEqual([{ name: 'Agent++' }, { name: 'Agent++' }]);
  });
});

describe('a transaction inside a transaction', () => {
  it.each(['withTenant', 'withPlatform'] as const)('%s fails at once', async (method) => {
    const outer = db.withTenant(newId(), async () => {
      if (method === 'withTenant') await db.withTenant(newId(), async () => 1);
      else await db.withPlatform(async () => 1);
    });
    await expect(outer).rejects.toThrow(NestedTransactionError);
  });

  it('is allowed to work that outlives the outer one', async () => {
    let later: Promise<number> = Promise.resolve(0);
    let open: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      open = resolve;
    });
    await db.withTenant(newId(), async () => {
      later = ended.then(() => db.withTenant(newId(), async () => 7));
    });
    open();
    expect(await later).toBe(7);
  });

  it('does not stop transactions side by side, however many', async () => {
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        db.withTenant(newId(), async (tx) => {
          const [row] = await tx.$queryRaw<{ value: number }[]>`SELECT ${index}::int AS value`;
          return row!.value;
        }),
      ),
    );
    expect(results).toEqual(Array.from({ length: 60 }, (_, index) => index));
  });
});

describe('parallel statements of one transaction', () => {
  it('are answered in order, and the first failure decides', async () => {
    const rows = await db.withTenant(newId(), (tx) =>
      Promise.all([1, 2, 3].map((n) => tx.$queryRaw<{ n: number }[]>`SELECT ${n}::int AS n`)),
    );
    expect(rows.flat()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const failing = db.withTenant(newId(), (tx) =>
      Promise.allSettled([tx.$queryRaw`SELECT 1 / 0`, tx.$queryRaw`SELECT 2`]),
    );
    await expect(failing).rejects.toSatisfy((error) => sqlState(error) === '22012');
  });
});

describe('closing', () => {
  it('waits for the transactions under way, and refuses new ones', async () => {
    const closing = await testDatabase();
    const running = closing.withTenant(newId(), (tx) => tx.$queryRaw<{ one: number }[]>`SELECT 1 AS one`);
    const closed = closing[Symbol.asyncDispose]();
    await expect(closing.withTenant(newId(), async () => 1)).rejects.toThrow(DatabaseClosedError);
    expect(await running).toEqual([{ one: 1 }]);
    await closed;
    await closing[Symbol.asyncDispose]();
  });
});
