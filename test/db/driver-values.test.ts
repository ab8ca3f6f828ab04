import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  constraintName,
  type Database,
  type Prisma,
  sqlState,
  type Transaction,
} from '../../src/db/index.js';
import { newId } from '../../src/ids.js';
import { testDatabase } from '../support/database.js';

// One backend must stand for the other: all that repositories send and read is proved on whichever is under test.

let db: Database;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

/** The one value that the statement selects as `value`. */
async function one(
  select: (tx: Transaction) => Prisma.PrismaPromise<{ value: unknown }[]>,
): Promise<unknown> {
  const rows = await db.withTenant(newId(), (tx) => select(tx));
  return rows[0]?.value;
}

type Row = { value: unknown };
const ids = [newId(), newId()];
const texts = ['a,"b"\\', '{x}', 'NULL', '', "é'🙂", '深色'];
const bytes = new Uint8Array([0, 1, 127, 128, 255]);
const big = 9_007_199_254_740_993n;
const vector = Array.from({ length: 512 }, (_, index) => ((index % 128) - 64) / 64);
const vectorText = `[${vector.join(',')}]`;

describe('parameters and results', () => {
  it.each<[string, (tx: Transaction) => Prisma.PrismaPromise<Row[]>, unknown]>([
    ['uuid', (tx) => tx.$queryRaw`SELECT ${ids[0]}::uuid AS value`, ids[0]],
    ['uuid[]', (tx) => tx.$queryRaw`SELECT ${ids}::uuid[] AS value`, ids],
    ['an empty uuid[]', (tx) => tx.$queryRaw`SELECT ${[]}::uuid[] AS value`, []],
    ['text[]', (tx) => tx.$queryRaw`SELECT ${texts}::text[] AS value`, texts],
    ['text[] with null', (tx) => tx.$queryRaw`SELECT ${['a', null]}::text[] AS value`, ['a', null]],
    ['int8', (tx) => tx.$queryRaw`SELECT ${big}::int8 AS value`, big],
    ['int8[]', (tx) => tx.$queryRaw`SELECT ${[big, -1n]}::int8[] AS value`, [big, -1n]],
    ['int[]', (tx) => tx.$queryRaw`SELECT ${[1, -2]}::int[] AS value`, [1, -2]],
    ['real[]', (tx) => tx.$queryRaw`SELECT ${[0.5, -2.25]}::real[] AS value`, [0.5, -2.25]],
    ['float8', (tx) => tx.$queryRaw`SELECT ${0.1}::float8 AS value`, 0.1],
    ['boolean[]', (tx) => tx.$queryRaw`SELECT ${[true, false]}::bool[] AS value`, [true, false]],
    ['bytea', (tx) => tx.$queryRaw`SELECT ${bytes}::bytea AS value`, bytes],
    [
      'a part of a buffer',
      (tx) => tx.$queryRaw`SELECT ${Buffer.from(bytes).subarray(2)}::bytea AS value`,
      bytes.slice(2),
    ],
    [
      'bytea[]',
      (tx) => tx.$queryRaw`SELECT ${[bytes, new Uint8Array()]}::bytea[] AS value`,
      [bytes, new Uint8Array()],
    ],
    [
      'timestamptz',
      (tx) => tx.$queryRaw`SELECT ${new Date(1e12 + 7)}::timestamptz AS value`,
      new Date(1e12 + 7),
    ],
    ['timestamptz[]', (tx) => tx.$queryRaw`SELECT ${[new Date(0)]}::timestamptz[] AS value`, [new Date(0)]],
    [
      'jsonb',
      (tx) => tx.$queryRaw`SELECT ${JSON.stringify({ a: [1, 'é', null] })}::jsonb AS value`,
      { a: [1, 'é', null] },
    ],
    ['null', (tx) => tx.$queryRaw`SELECT ${null}::uuid AS value`, null],
    ['halfvec as text', (tx) => tx.$queryRaw`SELECT (${vectorText}::halfvec(512))::real[] AS value`, vector],
    [
      'halfvec from real[]',
      (tx) => tx.$queryRaw`SELECT (${vector}::real[]::halfvec(512))::real[] AS value`,
      vector,
    ],
    ['varbit', (tx) => tx.$queryRaw`SELECT binary_quantize(${'[1,-1,1]'}::halfvec)::varbit AS value`, '101'],
    [
      'an inner product',
      (tx) => tx.$queryRaw`SELECT -(${'[1,2]'}::halfvec <#> ${'[3,4]'}::halfvec) AS value`,
      11,
    ],
  ])('%s', async (_, select, expected) => {
    const value = await one(select);
    expect(value).toEqual(expected);
  });

  it('reads a time in UTC whatever zone it was written in', async () => {
    const value = await one((tx) => tx.$queryRaw`SELECT '2026-03-01T12:00:00+05:30'::timestamptz AS value`);
    expect(value).toEqual(new Date('2026-03-01T06:30:00Z'));
  });

  it('takes many rows as one json parameter', async () => {
    const rows = [
      {
        id: ids[0],
        n: String(big),
        hash: '\\x00ff',
        tags: texts,
        v: [0.5, 0.25],
        meta: { deep: [1] },
        at: null,
      },
      { id: ids[1], n: '-1', hash: '\\x', tags: [], v: null, meta: null, at: '2026-01-02T03:04:05.678Z' },
    ];
    const read = await db.withTenant(
      newId(),
      (tx) => tx.$queryRaw<Record<string, unknown>[]>`
        SELECT r.id, r.n, r.hash, r.tags, r.v::real[] AS v, r.meta, r.at
          FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
            AS r(id uuid, n int8, hash bytea, tags text[], v halfvec, meta jsonb, at timestamptz)`,
    );
    expect(read).toEqual([
      {
        id: ids[0],
        n: big,
        hash: new Uint8Array([0, 255]),
        tags: texts,
        v: [0.5, 0.25],
        meta: { deep: [1] },
        at: null,
      },
      {
        id: ids[1],
        n: -1n,
        hash: new Uint8Array(),
        tags: [],
        v: null,
        meta: null,
        at: new Date('2026-01-02T03:04:05.678Z'),
      },
    ]);
  });

  it('takes a parameter of 4 MB', async () => {
    const length = 4 * 1024 * 1024;
    expect(await one((tx) => tx.$queryRaw`SELECT length(${'é'.repeat(length)}::text) AS value`)).toBe(length);
  });

  it('takes 500 vectors in one statement', async () => {
    const batch = Array.from({ length: 500 }, () => vectorText);
    const value = await one(
      (tx) =>
        tx.$queryRaw`SELECT count(*)::int AS value FROM unnest(${batch}::text[]) AS t(v) WHERE vector_dims(v::halfvec) = 512`,
    );
    expect(value).toBe(500);
  });

  it('gives back thousands of rows', async () => {
    const rows = await db.withTenant(
      newId(),
      (tx) =>
        tx.$queryRaw<
          { n: number }[]
        >`SELECT n::int AS n, repeat('x', 500) AS filler FROM generate_series(1, 5000) n`,
    );
    expect(rows.map((row) => row.n)).toEqual(Array.from({ length: 5000 }, (_, index) => index + 1));
  });
});

describe('errors', () => {
  it.each<[string, string, (tx: Transaction) => Prisma.PrismaPromise<unknown>]>([
    ['a bad uuid', '22P02', (tx) => tx.$queryRaw`SELECT ${'zz'}::uuid`],
    ['NUL in a text', '22021', (tx) => tx.$queryRaw`SELECT ${'a\u0000b'}::text`],
    ['a syntax error', '42601', (tx) => tx.$queryRawUnsafe('SELEC 1')],
    ['an unknown table', '42P01', (tx) => tx.$queryRaw`SELECT * FROM nowhere`],
    [
      'vectors of different dimensions',
      '22000',
      (tx) => tx.$queryRaw`SELECT '[1]'::halfvec <-> '[1,2]'::halfvec`,
    ],
    [
      'an error of our own',
      'SA001',
      (tx) => tx.$executeRawUnsafe(`DO $$ BEGIN RAISE 'x' USING errcode = 'SA001'; END $$`),
    ],
  ])('%s is SQLSTATE %s', async (_, state, statement) => {
    const error = await db.withTenant(newId(), statement).catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe(state);
  });

  it('tell the unique key, for raw statements and for models', async () => {
    const tenantId = newId();
    const slug = `s-${tenantId}`;
    const raw = (tx: Transaction) => tx.$executeRaw`
      INSERT INTO tenant (id, slug, name, hash_key, created_at, updated_at)
      VALUES (${tenantId}::uuid, ${slug}, 'Test', '\\x00', now(), now())`;
    await db.withTenant(tenantId, raw);
    const model = (tx: Transaction) =>
      tx.tenant.create({
        data: { id: tenantId, slug, name: 'T', hashKey: bytes, createdAt: new Date(), updatedAt: new Date() },
      });
    for (const insert of [raw, model]) {
      const error = await db
        .withTenant(tenantId, (tx) => insert(tx) as Promise<unknown>)
        .catch((thrown) => thrown);
      expect([sqlState(error), constraintName(error)]).toEqual(['23505', 'tenant_pkey']);
    }
  });

  it('are not found where there are none', () => {
    for (const other of [undefined, null, 'x', new Error('x'), { code: 'ECONNREFUSED' }, { code: 'P2002' }]) {
      expect(sqlState(other)).toBeUndefined();
      expect(constraintName(other)).toBeUndefined();
    }
  });
});
