import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import type * as Engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

/**
 * Prisma's schema engine as WebAssembly, over Prisma's driver adapter: the only one that needs no binary of its own.
 * It is the same engine as the Prisma CLI's, so `_prisma_migrations` stays readable and writable for both.
 */

type EngineModule = typeof Engine & { __wbg_set_wasm(exports: Record<string, unknown>): void };

/** The part used here of a global that TypeScript knows only together with a browser's. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/** PostgreSQL's type "char" (one byte, in the catalogue only), which adapter-pg cannot read. */
const CHAR_OID = 18;
const TEXT_OID = 25;

let loaded: Promise<EngineModule> | undefined;

/** Compiles the engine once a process; about 0.1 s. */
function loadEngine(): Promise<EngineModule> {
  loaded ??= (async () => {
    const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
    const module = (await import(pathToFileURL(path).href)) as EngineModule;
    const { instance } = await WebAssembly.instantiate(await readFile(path.replace(/\.js$/, '.wasm')), {
      './schema_engine_bg.js': module,
    });
    module.__wbg_set_wasm(instance.exports);
    (instance.exports['__wbindgen_start'] as () => void)();
    return module;
  })();
  return loaded;
}

/** An engine on one connection, which it keeps until it is closed: its session holds locks and transactions. */
export interface SchemaEngine extends AsyncDisposable {
  readonly engine: Engine.SchemaEngine;
  /** The connection that the engine works on. */
  readonly client: pg.Pool;
  /** What the server said to the last script that failed; the engine's own error may be about what came of it. */
  readonly scriptError: () => unknown;
}

/**
 * @param connection where to work; the connection is the engine's alone
 * @param schema a Prisma schema; applying migrations needs no more of it than the datasource
 */
export async function openSchemaEngine(connection: pg.ClientConfig, schema: string): Promise<SchemaEngine> {
  const module = await loadEngine();
  const client = new pg.Pool({ ...connection, max: 1, idleTimeoutMillis: 0 });
  // A broken connection is reported by the query that meets it.
  client.on('error', () => {});
  let scriptError: unknown;
  const factory = adapterFactory(client, (error) => {
    scriptError = error;
  });
  const engine = await module.SchemaEngine.new(
    { datamodels: [['schema.prisma', schema]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  );
  return {
    engine,
    client,
    scriptError: () => scriptError,
    [Symbol.asyncDispose]: async () => {
      engine.free();
      await client.end();
    },
  };
}

function adapterFactory(
  client: pg.Pool,
  onScriptError: (error: unknown) => void,
): SqlMigrationAwareDriverAdapterFactory {
  const prismaPg = new PrismaPg(client);
  return {
    provider: prismaPg.provider,
    adapterName: prismaPg.adapterName,
    connect: async () => repaired(await prismaPg.connect(), client, onScriptError),
    connectToShadowDb: () => {
      throw new Error('Salient compares schemas in a database of its own and needs no shadow database.');
    },
  };
}

/** Mends two faults of adapter-pg that the engine meets. */
function repaired(
  adapter: SqlDriverAdapter,
  client: pg.Pool,
  onScriptError: (error: unknown) => void,
): SqlDriverAdapter {
  // It cuts scripts at every semicolon, those inside of functions and strings included.
  adapter.executeScript = async (script) => {
    try {
      await client.query(script);
    } catch (error) {
      onScriptError(error);
      throw error;
    }
  };
  const queryRaw = adapter.queryRaw.bind(adapter);
  const query = client.query.bind(client) as unknown as (config: unknown) => Promise<pg.QueryResult>;
  let charColumns: number[] = [];
  client.query = (async (config: unknown) => {
    const result = await query(config);
    charColumns = [];
    // The result of a script is an array, of no interest here.
    for (const [index, field] of (result.fields ?? []).entries()) {
      if (field.dataTypeID !== CHAR_OID) continue;
      charColumns.push(index);
      field.dataTypeID = TEXT_OID;
    }
    return result;
  }) as unknown as pg.Pool['query'];
  adapter.queryRaw = async (statement: SqlQuery) => {
    const result = await queryRaw(statement);
    for (const index of charColumns) result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
  return adapter;
}
