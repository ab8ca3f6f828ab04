import {
  type Database,
  insertAgent,
  insertEmptyProfile,
  insertMessages,
  insertTenant,
  insertUser,
  inTenant,
  lockScopes,
  type NewFact,
  type NewMessage,
  openSession,
  type Retirement,
  retireFacts,
  type Unit,
  writeFactRows,
  writeScopeChanges,
} from '../../src/db/index.js';
import { createEmbeddingProvider, type EmbeddingProvider } from '../../src/embedding/index.js';
import { newId, shortIdOf } from '../../src/ids.js';
import type { Learner } from '../../src/learning/index.js';
import { calibrationOf, createProfileReader, type ProfileReader } from '../../src/profiles/index.js';
import {
  type RankingOverrides,
  type RecallInput,
  type RecallResult,
  recall,
} from '../../src/recall/index.js';
import { mergeProfiles, type ProfileSettings, profileFingerprint } from '../../src/salience/index.js';
import type { ActorKind, TenantActor, TenantContext } from '../../src/tenancy/index.js';
import { analyzeDocument } from '../../src/text/lexical-analysis.js';
import { turnMarks } from '../../src/text/turn-marks.js';

/** The time at which the tests recall, unless they say another. */
export const NOW = new Date('2026-06-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;

/** Recalls of this world leave no trace: what they teach is tested with the learner. */
export const UNLEARNING: Learner = {
  note() {},
  async flush() {},
  async [Symbol.asyncDispose]() {},
};

export function hoursAgo(hours: number): Date {
  return new Date(NOW.getTime() - hours * HOUR_MS);
}

export interface Owner {
  readonly agentId?: string | null;
  readonly userId?: string | null;
}

/** A fact as a test wants it: everything but the text has a default. */
export interface FactSpec extends Owner {
  readonly text: string;
  readonly kind?: string;
  readonly importance?: number;
  readonly urgency?: number | null;
  readonly pinned?: boolean;
  readonly recordedAt?: Date;
  readonly validFrom?: Date;
  readonly validTo?: Date | null;
  readonly lastSeenAt?: Date;
  /** Messages that it was extracted from. */
  readonly sources?: readonly string[];
}

export interface MessageSpec extends Owner {
  readonly content: string;
  readonly flags?: readonly string[];
  readonly recordedAt?: Date;
  readonly speaker?: string;
  readonly sentAt?: Date;
}

const NOTHING_SET: ProfileSettings = {
  interests: [],
  disinterests: [],
  icnuWeights: null,
  alpha: null,
  beta: null,
  flashbulbThreshold: null,
  similarityThreshold: null,
  persona: {
    name: null,
    valenceBias: null,
    arousalSensitivity: null,
    selfRelevanceBoost: null,
    identity: [],
  },
};

/** Opens the provider and its row of embedding_model, for any number of tenants. */
export async function openWorld(db: Database): Promise<World> {
  const embedding = await createEmbeddingProvider({ kind: 'fake', seed: 7, dimensions: 64 });
  const modelId = await db.withPlatform(async (tx) => {
    await tx.$executeRaw`
      INSERT INTO embedding_model (name, dimensions) VALUES (${embedding.model}::text, ${embedding.dimensions}::int)
      ON CONFLICT (name) DO NOTHING`;
    const rows = await tx.$queryRaw<
      { id: number }[]
    >`SELECT id FROM embedding_model WHERE name = ${embedding.model}::text`;
    return rows[0]!.id;
  });
  return new World(db, embedding, modelId);
}

export class World {
  readonly profiles: ProfileReader;
  /** Of a tenant, agent and user that have set nothing. */
  readonly fingerprint: string;

  constructor(
    readonly db: Database,
    readonly embedding: EmbeddingProvider,
    readonly modelId: number,
  ) {
    this.profiles = createProfileReader({ embedding });
    const nothing = mergeProfiles('ADDITIVE_TOPICS', { tenant: NOTHING_SET, agent: null, user: null });
    const { model } = embedding;
    this.fingerprint = profileFingerprint(nothing, { model, calibration: calibrationOf(embedding) });
  }

  async tenant(settings: TenantContext['settings'] = {}): Promise<TestTenant> {
    const id = newId();
    const context: TenantContext = {
      id,
      slug: `recall-${id}`,
      name: 'Recall',
      overridePolicy: 'ADDITIVE_TOPICS',
      settings,
      version: 1,
      staleBelow: 0,
      createdAt: hoursAgo(10_000),
      updatedAt: hoursAgo(10_000),
      hashKey: crypto.getRandomValues(new Uint8Array(32)),
    };
    await inTenant(this.db, context, async (unit) => {
      await insertTenant(unit.tx, context, 1, { kind: 'PLATFORM_ADMIN', id: null });
      await insertEmptyProfile(unit, newId(), { agentId: null, userId: null }, NOW);
    });
    return new TestTenant(this, context);
  }
}

/** A tenant with the means to fill it and to recall from it. */
export class TestTenant {
  /** The clock of its recalls. */
  now = NOW;

  constructor(
    readonly world: World,
    readonly context: TenantContext,
  ) {}

  get id(): string {
    return this.context.id;
  }

  actor(kind: ActorKind = 'TENANT_ADMIN', subject: Owner = {}): TenantActor {
    const agentId = subject.agentId ?? null;
    const userId = subject.userId ?? null;
    return { kind, id: agentId ?? userId, keyId: newId(), tenant: this.context, agentId, userId };
  }

  run<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
    return inTenant(this.world.db, this.context, work);
  }

  async agent(): Promise<string> {
    const id = newId();
    const at = hoursAgo(9_000);
    await this.run((unit) =>
      insertAgent(unit, { id, externalId: null, name: 'Agent', createdAt: at, updatedAt: at }),
    );
    return id;
  }

  async user(externalId: string = newId()): Promise<string> {
    const id = newId();
    const at = hoursAgo(9_000);
    await this.run((unit) =>
      insertUser(unit, { id, externalId, displayName: null, createdAt: at, updatedAt: at }),
    );
    return id;
  }

  async fact(spec: FactSpec): Promise<string> {
    return (await this.facts([spec]))[0]!;
  }

  /** Stores facts as they are told, without deduplication, and returns their ids. */
  async facts(specs: readonly FactSpec[]): Promise<string[]> {
    const embedded = await this.world.embedding.embed(specs.map((spec) => spec.text));
    return this.run(async (unit) => {
      const scopes = await this.#scopesOf(unit, specs);
      const added = specs.map((spec, i) =>
        newFact(unit, spec, scopes[i]!, embedded[i] ?? null, this.world.fingerprint),
      );
      const sources = specs.flatMap((spec, i) =>
        (spec.sources ?? []).map((messageId) => ({ factId: added[i]!.id, messageId })),
      );
      await writeFactRows(unit, { added, reaffirmed: [], sources, modelId: this.world.modelId, at: NOW });
      await this.#count(
        unit,
        added.map(({ scopeId, length }) => ({ scopeId, length })),
      );
      return added.map(({ id }) => id);
    });
  }

  /** Retires facts, all at one time; ENDED then unless told otherwise. */
  async retire(factIds: readonly string[], at: Date, ending: Partial<Retirement> = {}): Promise<void> {
    const retirements = factIds.map(
      (factId): Retirement => ({ factId, reason: 'ENDED', endedAt: at, supersededBy: null, ...ending }),
    );
    await this.run((unit) => retireFacts(unit, retirements, at));
  }

  async message(spec: MessageSpec): Promise<string> {
    return (await this.messages([spec]))[0]!;
  }

  /** Stores messages, each in a session of its own. */
  async messages(specs: readonly MessageSpec[]): Promise<string[]> {
    const windows = await this.world.embedding.embedWindows(specs.map((spec) => spec.content));
    return this.run(async (unit) => {
      const scopes = await this.#scopesOf(unit, specs);
      const ids: string[] = [];
      const lengths: { scopeId: number; length: number }[] = [];
      for (const [i, spec] of specs.entries()) {
        const at = spec.recordedAt ?? hoursAgo(1);
        const owner = { agentId: spec.agentId ?? null, userId: spec.userId ?? null };
        const scopeId = scopes[i]!;
        const session = await openSession(unit, { id: newId(), scopeId, externalId: null, ...owner }, at);
        const message = newMessage(unit, spec, windows[i]!);
        await insertMessages(unit, session, [message], { modelId: this.world.modelId, at, extract: false });
        ids.push(message.id);
        lengths.push({ scopeId, length: message.length });
      }
      await this.#count(unit, lengths);
      return ids;
    });
  }

  /** Stores messages as the turns of one session, in order. */
  async conversation(turns: readonly MessageSpec[], owner: Owner = {}): Promise<string[]> {
    const windows = await this.world.embedding.embedWindows(turns.map(({ content }) => content));
    return this.run(async (unit) => {
      const [scopeId] = await this.#scopesOf(unit, [owner]);
      const added = turns.map((turn, i) => newMessage(unit, turn, windows[i]!));
      const at = turns[0]?.recordedAt ?? hoursAgo(1);
      const ids = { agentId: owner.agentId ?? null, userId: owner.userId ?? null };
      const session = await openSession(
        unit,
        { id: newId(), scopeId: scopeId!, externalId: null, ...ids },
        at,
      );
      await insertMessages(unit, session, added, { modelId: this.world.modelId, at, extract: false });
      await this.#count(
        unit,
        added.map(({ length }) => ({ scopeId: scopeId!, length })),
      );
      return added.map(({ id }) => id);
    });
  }

  recall(
    input: RecallInput,
    actor: TenantActor = this.actor(),
    ranking: RankingOverrides = {},
  ): Promise<RecallResult> {
    const { db, embedding, modelId } = this.world;
    const { profiles } = this.world;
    const now = () => this.now;
    const deps = { db, embedding, embeddingModelId: modelId, learner: UNLEARNING, now, profiles };
    return recall(deps, actor, input, ranking);
  }

  async #scopesOf(unit: Unit, owners: readonly Owner[]): Promise<number[]> {
    const keyOf = (owner: Owner) => `${owner.agentId ?? ''}/${owner.userId ?? ''}`;
    const distinct = new Map(
      owners.map((owner) => [keyOf(owner), { agentId: owner.agentId ?? null, userId: owner.userId ?? null }]),
    );
    const scopes = await lockScopes(unit, [...distinct.values()], NOW);
    const ids = new Map(scopes.map((scope) => [keyOf(scope), scope.id]));
    return owners.map((owner) => ids.get(keyOf(owner))!);
  }

  async #count(
    unit: Unit,
    documents: readonly { readonly scopeId: number; readonly length: number }[],
  ): Promise<void> {
    const changes = new Map<number, { scopeId: number; documents: number; terms: number }>();
    for (const { scopeId, length } of documents) {
      const change = changes.get(scopeId) ?? { scopeId, documents: 0, terms: 0 };
      changes.set(scopeId, {
        scopeId,
        documents: change.documents + 1,
        terms: change.terms + length,
      });
    }
    await writeScopeChanges(unit, [...changes.values()], this.world.modelId);
  }
}

function newFact(
  unit: Unit,
  spec: FactSpec,
  scopeId: number,
  embedding: Float32Array | null,
  fingerprint: string,
): NewFact {
  const id = newId();
  const recordedAt = spec.recordedAt ?? hoursAgo(1);
  const { terms, length } = analyzeDocument(spec.text);
  const importance = spec.importance ?? 1;
  return {
    id,
    shortId: shortIdOf(id),
    scopeId,
    agentId: spec.agentId ?? null,
    userId: spec.userId ?? null,
    kind: spec.kind ?? 'FACT',
    tier: 'SEMANTIC',
    text: spec.text,
    // Tests may state one text several times; the key that forbids it is another feature's.
    textHash: unit.content.hash('fact-text', id),
    characters: [...spec.text].length,
    terms: terms.map(({ term, count }) => ({ term: unit.content.term(term), count })),
    length,
    subject: null,
    predicate: null,
    object: null,
    metadata: null,
    confidence: 1,
    extractor: null,
    sessionId: null,
    runId: null,
    validFrom: spec.validFrom ?? recordedAt,
    validTo: spec.validTo ?? null,
    recordedAt,
    embedding,
    conclusion: 'NONE',
    reaffirmations: 0,
    salience: {
      encoded: importance,
      current: importance,
      pinned: spec.pinned ?? false,
      flashbulb: false,
      lastSeenAt: spec.lastSeenAt ?? recordedAt,
      distance: null,
      nearestSimilarity: null,
      gapHours: null,
      baselineN: null,
      baselineMean: null,
      baselineSigma: null,
      baselineOrigin: null,
      reaffirmed: false,
      interest: null,
      challenge: null,
      urgency: spec.urgency ?? null,
      urgencySource: null,
      valence: null,
      valenceSource: null,
      arousal: null,
      arousalSource: null,
      z: null,
      spatialZ: null,
      temporalZ: null,
      base: importance,
      topicBoost: 1,
      valenceFactor: 1,
      selfRelevanceFactor: 1,
      decayResistance: 1,
      fingerprint,
      scoredRevision: 0,
      matchedTopics: null,
      matchedSimilarities: null,
    },
  };
}

function newMessage(unit: Unit, spec: MessageSpec, windows: readonly Float32Array[]): NewMessage {
  const { terms, length } = analyzeDocument(spec.content);
  return {
    id: newId(),
    role: 'USER',
    content: spec.content,
    characters: [...spec.content].length,
    speaker: spec.speaker ?? null,
    externalId: null,
    flags: spec.flags ?? [],
    sentAt: spec.sentAt ?? null,
    terms: [
      ...terms.map(({ term, count }) => ({ term: unit.content.term(term), count })),
      ...turnMarks({ content: spec.content, speaker: spec.speaker ?? null }).map((mark) => ({
        term: unit.content.term(mark),
        count: 0,
      })),
    ],
    length,
    windows,
  };
}
