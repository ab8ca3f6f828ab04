import type { TestApp, TestTenant } from '../support/app.js';

/** A clock that stands still until a test moves it; pass `clock.now` to `testApp`. */
export class TestClock {
  #at: number;

  constructor(at: Date | string = '2026-06-01T12:00:00.000Z') {
    this.#at = new Date(at).getTime();
  }

  readonly now = (): Date => new Date(this.#at);

  moveTo(at: Date | string): Date {
    this.#at = new Date(at).getTime();
    return this.now();
  }

  /** Moves on by this many milliseconds, or by `hours`. */
  advance(milliseconds: number): Date {
    this.#at += milliseconds;
    return this.now();
  }

  advanceHours(hours: number): Date {
    return this.advance(hours * 3_600_000);
  }
}

/** An error of a payload. */
export interface PayloadError {
  readonly code: string;
  readonly message: string;
  readonly path: string[];
  readonly category?: string;
  readonly group?: string;
  readonly limit?: number;
  readonly current?: number;
  readonly requested?: number;
}

const ERRORS = `errors {
  code message path
  ... on ContentRefused { category }
  ... on BudgetExceeded { group limit current requested }
}`;

/** What tests look at of a fact. */
export interface FactView {
  readonly id: string;
  readonly shortId: string;
  readonly text: string;
  readonly kind: string;
  readonly tier: string;
  readonly status: string;
  readonly confidence: number;
  readonly extractor: string | null;
  readonly metadata: unknown;
  readonly agent: { id: string } | null;
  readonly user: { id: string } | null;
  readonly importance: number;
  readonly encodedImportance: number;
  readonly pinned: boolean;
  readonly validFrom: string;
  readonly validTo: string | null;
  readonly endedAt: string | null;
  readonly recordedAt: string;
  readonly lastSeenAt: string;
  readonly retiredAt: string | null;
  readonly retireReason: string | null;
  readonly supersededBy: { id: string } | null;
  readonly supersedes: { id: string } | null;
  readonly entities: { name: string }[];
  readonly sources: { edges: { node: { id: string; content: string } }[] };
  readonly importanceBreakdown: Breakdown;
}

export interface Breakdown {
  readonly distance: number | null;
  readonly z: number | null;
  readonly spatialZ: number | null;
  readonly temporalZ: number | null;
  readonly base: number;
  readonly topicBoost: number;
  readonly valenceFactor: number;
  readonly selfRelevanceFactor: number;
  readonly decayResistance: number;
  readonly flashbulb: boolean;
  readonly encoded: number;
  readonly reinforcement: number;
  readonly decay: number;
  readonly current: number;
}

export const FACT = `
  id shortId text kind tier status confidence extractor metadata agent { id } user { id }
  importance encodedImportance pinned validFrom validTo endedAt recordedAt lastSeenAt retiredAt retireReason
  supersededBy { id } supersedes { id } entities { name }
  sources(first: 50) { edges { node { id content } } }
  importanceBreakdown {
    distance z spatialZ temporalZ base topicBoost valenceFactor selfRelevanceFactor decayResistance flashbulb encoded
    reinforcement decay current
  }`;

export interface FactPayload {
  readonly fact: FactView | null;
  readonly errors: PayloadError[];
}

export interface RememberPayload extends FactPayload {
  readonly reaffirmed: boolean | null;
}

/** One item's result of a mutation of many. */
export interface RememberedItem extends RememberPayload {
  readonly index: number;
}

export interface ForgottenItem extends ForgetPayload {
  readonly index: number;
}

export interface ManyPayload<Item> {
  readonly results: Item[] | null;
  readonly errors: PayloadError[];
}

export interface ForgetPayload {
  readonly forgottenId: string | null;
  readonly errors: PayloadError[];
}

export interface ExtractionView {
  readonly id: string;
  readonly status: string;
  readonly extractor: string;
  readonly error: string | null;
  readonly facts: FactView[];
  readonly refused: { text: string; category: string; reason: string }[];
}

export interface AppendPayload {
  readonly session: {
    id: string;
    externalId: string | null;
    messageCount: number;
    minedCount: number;
  } | null;
  readonly messages: { id: string; externalId: string | null; content: string; flagged: boolean }[] | null;
  readonly extraction: ExtractionView | null;
  readonly errors: PayloadError[];
}

export interface FactPage {
  readonly totalCount: number;
  readonly edges: { cursor: string; node: FactView }[];
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

type Input = Record<string, unknown>;

/** What a caller with one key does with the memory, through GraphQL alone. Payloads come with their errors. */
export class Caller {
  constructor(
    private readonly salient: TestApp,
    private readonly key: string,
  ) {}

  /** @throws on top-level errors, with their codes in the message */
  async query<T>(query: string, variables: Input = {}): Promise<T> {
    const answer = await this.salient.send<T>({ key: this.key, query, variables });
    if (answer.errors) {
      const told = answer.errors.map((one) => `${one.extensions?.['code']}: ${one.message}`).join('; ');
      throw new Error(told.includes('INTERNAL') ? `${told}\n${this.salient.logged().slice(-2_000)}` : told);
    }
    return answer.data as T;
  }

  async #mutate<T>(name: string, input: Input, fields: string): Promise<T> {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} ${ERRORS} } }`;
    return (await this.query<Record<string, T>>(query, { input }))[name]!;
  }

  remember(input: Input): Promise<RememberPayload> {
    return this.#mutate('remember', input, `fact { ${FACT} } reaffirmed`);
  }

  /** Many at once, with few fields of each: the cost counts for every item. */
  rememberMany(facts: Input[], input: Input = {}): Promise<ManyPayload<RememberedItem>> {
    const fields = 'id text kind importance encodedImportance recordedAt pinned';
    return this.#mutate(
      'rememberMany',
      { facts, ...input },
      `results { index fact { ${fields} } reaffirmed ${ERRORS} }`,
    );
  }

  forgetMany(targets: Input[], sources?: 'KEEP' | 'REDACT'): Promise<ManyPayload<ForgottenItem>> {
    return this.#mutate(
      'forgetMany',
      { targets, ...(sources ? { sources } : {}) },
      `results { index forgottenId ${ERRORS} }`,
    );
  }

  /** Remembers what must be accepted. */
  async fact(text: string, input: Input = {}): Promise<FactView> {
    return accepted(await this.remember({ text, ...input }));
  }

  replace(target: Input, text: string, input: Input = {}): Promise<FactPayload> {
    return this.#mutate('replaceFact', { target, text, ...input }, `fact { ${FACT} }`);
  }

  retire(target: Input, reason: string, input: Input = {}): Promise<FactPayload> {
    return this.#mutate('retireFact', { target, reason, ...input }, `fact { ${FACT} }`);
  }

  forget(target: Input, sources?: 'KEEP' | 'REDACT'): Promise<ForgetPayload> {
    return this.#mutate('forgetFact', { target, ...(sources ? { sources } : {}) }, 'forgottenId');
  }

  pin(id: string): Promise<FactPayload> {
    return this.#mutate('pinFact', { id }, `fact { ${FACT} }`);
  }

  unpin(id: string): Promise<FactPayload> {
    return this.#mutate('unpinFact', { id }, `fact { ${FACT} }`);
  }

  reinforce(id: string, input: Input = {}): Promise<FactPayload> {
    return this.#mutate('reinforceFact', { id, ...input }, `fact { ${FACT} }`);
  }

  append(input: Input): Promise<AppendPayload> {
    return this.#mutate(
      'appendMessages',
      input,
      `session { id externalId messageCount minedCount } messages { id externalId content flagged }
       extraction { id status extractor error facts { ${FACT} } refused { text category reason } }`,
    );
  }

  /** Appends what one user says, to a new session unless `session` says otherwise. */
  async say(contents: string | string[], input: Input = {}): Promise<AppendPayload> {
    const payload = await this.append({
      session: { create: {} },
      messages: [contents].flat().map((content) => ({ role: 'USER', content })),
      ...input,
    });
    if (payload.errors.length > 0) throw new Error(`refused: ${JSON.stringify(payload.errors)}`);
    return payload;
  }

  /** A fact by whatever names it; null where it finds none. */
  async find(id: string): Promise<FactView | null> {
    return (
      await this.query<{ fact: FactView | null }>(`query ($id: ID!) { fact(id: $id) { ${FACT} } }`, { id })
    ).fact;
  }

  async facts(filter: Input = {}, args: Input = {}): Promise<FactPage> {
    const query = `query ($filter: FactFilter, $orderBy: FactOrder, $first: Int, $after: String, $last: Int, $before: String) {
      facts(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
        totalCount edges { cursor node { ${FACT} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }`;
    return (await this.query<{ facts: FactPage }>(query, { filter, ...args })).facts;
  }

  /** The texts of a list, sorted. */
  async texts(filter: Input = {}): Promise<string[]> {
    const query = `query ($filter: FactFilter) { facts(filter: $filter, first: 100) { edges { node { text } } } }`;
    const { facts } = await this.query<{ facts: { edges: { node: { text: string } }[] } }>(query, { filter });
    return facts.edges.map(({ node }) => node.text).sort();
  }

  async history(id: string): Promise<FactView[]> {
    const query = `query ($id: ID!) { fact(id: $id) { history(first: 20) { edges { node { ${FACT} } } } } }`;
    const { fact } = await this.query<{ fact: { history: { edges: { node: FactView }[] } } }>(query, { id });
    return fact.history.edges.map((edge) => edge.node);
  }

  /** Relations that a fact supports, as `source–target`, the names in order. */
  async edges(id: string, axes: { validAt?: Date; knownAt?: Date } = {}): Promise<string[]> {
    const query = `query ($id: ID!, $validAt: DateTime, $knownAt: DateTime) {
      fact(id: $id) { edges(first: 100, validAt: $validAt, knownAt: $knownAt) {
        edges { node { relation weight source { name } target { name } } } } } }`;
    type Edges = { edges: { node: { source: { name: string }; target: { name: string } } }[] };
    const { fact } = await this.query<{ fact: { edges: Edges } | null }>(query, { id, ...axes });
    return (fact?.edges.edges ?? [])
      .map(({ node }) => [node.source.name, node.target.name].sort().join('–'))
      .sort();
  }
}

/** The callers of a tenant, one for each role. */
export function callersOf(salient: TestApp, tenant: TestTenant) {
  return {
    admin: new Caller(salient, tenant.keys.TENANT_ADMIN),
    auditor: new Caller(salient, tenant.keys.TENANT_AUDITOR),
    agent: new Caller(salient, tenant.keys.AGENT),
    user: new Caller(salient, tenant.keys.USER),
  };
}

/** The fact of a payload that must have succeeded. */
export function accepted(payload: FactPayload): FactView {
  if (payload.errors.length > 0) throw new Error(`refused: ${JSON.stringify(payload.errors)}`);
  return payload.fact!;
}

/** The one error of a payload that must have been refused. */
export function refused(payload: { readonly errors: PayloadError[] }): PayloadError {
  if (payload.errors.length !== 1) throw new Error(`expected one error, got ${JSON.stringify(payload)}`);
  return payload.errors[0]!;
}

/** The UUID inside a global id. */
export function uuidOf(globalId: string): string {
  return Buffer.from(globalId, 'base64').toString('utf8').split(':')[1]!;
}
