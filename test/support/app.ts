import { randomUUID } from 'node:crypto';
import { type App, type AppParts, createApp } from '../../src/app.js';
import { createConfig } from '../../src/config/index.js';
import { createEmbeddingProvider } from '../../src/embedding/index.js';
import { createLogger } from '../../src/log.js';
import { testDatabase } from './database.js';

export const ADMIN_KEY = 'a-platform-key-for-tests-of-32-characters-or-more';

/** A Salient on the shared database, with seeded vectors; each test file makes its own and disposes it. */
export interface TestApp extends AsyncDisposable {
  readonly app: App;
  /** Everything it has logged, as one text. */
  logged(): string;
  /** The time that it takes for now; moves when a test moves it. */
  clock: { now: Date };
  /** Sends an operation as the holder of a key. */
  send<T = Record<string, unknown>>(request: ClientRequest): Promise<Answer<T>>;
  /** Sends an operation that must succeed, at the top and in the payload. */
  ask<T>(request: ClientRequest): Promise<T>;
  /** A new tenant with an agent and a user, and keys for every role. */
  tenant(name?: string): Promise<TestTenant>;
}

export interface ClientRequest {
  readonly key?: string;
  readonly tenant?: string;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string;
  readonly headers?: Record<string, string>;
}

export interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly {
    message: string;
    path?: (string | number)[];
    extensions?: Record<string, unknown>;
  }[];
}

/** A tenant's ids and its keys by role. */
export interface TestTenant {
  readonly id: string;
  readonly slug: string;
  readonly agentId: string;
  readonly userId: string;
  readonly keys: Readonly<Record<'TENANT_ADMIN' | 'TENANT_AUDITOR' | 'AGENT' | 'USER', string>>;
}

export async function testApp(
  parts: AppParts & { settings?: Record<string, unknown> } = {},
): Promise<TestApp> {
  const database = await testDatabase();
  const lines: string[] = [];
  const log = createLogger('trace', { write: (line: string) => void lines.push(line) });
  const clock = { now: new Date(), moved: false };
  const embedding = parts.embedding ?? (await createEmbeddingProvider({ kind: 'fake' }));
  const config = createConfig({
    port: 0,
    adminKey: ADMIN_KEY,
    environment: 'test',
    // Answers to the same request would differ by what remains.
    ratePoints: 0,
    ...parts.settings,
  });
  const app = await createApp(config, {
    database,
    embedding,
    log,
    // Files share the database: an app must not do what another file's app has to do.
    takesUpWork: false,
    now: () => (clock.moved ? clock.now : new Date()),
    ...parts,
  });
  const test: TestApp = {
    app,
    logged: () => lines.join(''),
    get clock() {
      return clock;
    },
    set clock(value) {
      Object.assign(clock, value, { moved: true });
    },
    send: (request) => send(app, request),
    async ask<T>(request: ClientRequest): Promise<T> {
      const answer = await send<Record<string, { errors?: unknown[] } | null>>(app, request);
      if (answer.errors) throw new Error(`refused: ${JSON.stringify(answer.errors)}`);
      for (const payload of Object.values(answer.data ?? {})) {
        const errors = payload && typeof payload === 'object' ? payload.errors : undefined;
        if (errors && errors.length > 0) throw new Error(`refused: ${JSON.stringify(errors)}`);
      }
      return answer.data as T;
    },
    tenant: (name) => makeTenant(test, name),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      if (!parts.embedding) await embedding[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
  return test;
}

async function send<T>(app: App, request: ClientRequest): Promise<Answer<T>> {
  const response = await app.fetch(
    new Request('http://salient/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(request.key ? { authorization: `Bearer ${request.key}` } : {}),
        ...(request.tenant ? { 'x-salient-tenant': request.tenant } : {}),
        ...request.headers,
      },
      body: JSON.stringify({
        query: request.query,
        variables: request.variables,
        operationName: request.operationName,
      }),
    }),
  );
  return (await response.json()) as Answer<T>;
}

async function makeTenant(test: TestApp, name = 'acme'): Promise<TestTenant> {
  const slug = `${name}-${randomUUID().slice(0, 8)}`;
  const { createTenant } = await test.ask<{ createTenant: { tenant: { id: string } } }>({
    key: ADMIN_KEY,
    query:
      'mutation ($input: CreateTenantInput!) { createTenant(input: $input) { tenant { id } errors { message } } }',
    variables: { input: { slug, name } },
  });
  const asPlatform = { key: ADMIN_KEY, tenant: slug };
  // Equal external ids in every tenant: they must never meet.
  const made = await test.ask<{
    createAgent: { agent: { id: string } };
    createUser: { user: { id: string } };
  }>({
    ...asPlatform,
    query: `mutation { createAgent(input: { name: "Helper", externalId: "agent-1" }) { agent { id } errors { message } }
                       createUser(input: { externalId: "user-1", displayName: "Sam" }) { user { id } errors { message } } }`,
  });
  const agentId = made.createAgent.agent.id;
  const userId = made.createUser.user.id;
  const keyOf = async (role: string, subject: Record<string, string> = {}) => {
    const { createApiKey } = await test.ask<{ createApiKey: { secret: string } }>({
      ...asPlatform,
      query:
        'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret errors { message } } }',
      variables: { input: { role, name: role, ...subject } },
    });
    return createApiKey.secret;
  };
  const keys = {
    TENANT_ADMIN: await keyOf('TENANT_ADMIN'),
    TENANT_AUDITOR: await keyOf('TENANT_AUDITOR'),
    AGENT: await keyOf('AGENT', { agentId }),
    USER: await keyOf('USER', { userId }),
  };
  return { id: createTenant.tenant.id, slug, agentId, userId, keys };
}
