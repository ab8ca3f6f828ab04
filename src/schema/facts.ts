import {
  type EdgePlace,
  type EdgeRecord,
  type EntityRecord,
  edgesOfFacts,
  entitiesOfFacts,
  type FactRecord,
  factHistories,
  factsByIds,
  factsSupersededBy,
  sourcesOfFacts,
} from '../db/index.js';
import { BadInputError } from '../errors.js';
import { isUuid } from '../ids.js';
import { mayRead, readRange } from '../tenancy/index.js';
import { builder } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { ExtractorName, FactKind, FactStatus, FactTier, RetireReason } from './enums.js';
import { breakdownOf, ImportanceBreakdown } from './importance-breakdown.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { connectionOf, pageOf, type SortKey } from './page.js';
import { loadSession, Message, Session } from './sessions.js';

export const Fact = builder.objectRef<FactRecord>('Fact');
const Edge = builder.objectRef<EdgeRecord>('Edge');
const Entity = builder.objectRef<EntityRecord>('Entity');

/** A fact by id, if it is the caller's to see. */
export function loadFact(context: GraphQLContext, id: string): Promise<FactRecord | null> {
  return context.batches.byId<FactRecord>(
    'fact',
    async (ids) => {
      const rows = await readTenant(context, (unit) => factsByIds(unit, ids));
      return new Map(rows.filter((row) => mayRead(tenantActorOf(context), row)).map((row) => [row.id, row]));
    },
    id,
  );
}

Entity.implement({
  description: 'A name that facts mention.',
  fields: (t) => ({ name: t.exposeString('name', { description: 'As it was first written.' }) }),
});

Edge.implement({
  description: 'A relation between two entities, as long as facts support it.',
  fields: (t) => ({
    relation: t.exposeString('relation', { description: '`co_occurs`: facts mention both.' }),
    weight: t.exposeFloat('weight', { description: 'How many facts support it.' }),
    source: t.field({
      type: Entity,
      description: 'Where it begins; `co_occurs` has no direction.',
      resolve: (edge) => edge.source,
    }),
    target: t.field({ type: Entity, description: 'Where it ends.', resolve: (edge) => edge.target }),
    validFrom: t.expose('validFrom', { type: 'DateTime', description: 'Since when it holds in the world.' }),
    validTo: t.expose('validTo', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when it was said to hold; null: no end was said.',
    }),
    recordedAt: t.expose('recordedAt', { type: 'DateTime', description: 'Since when it is known.' }),
    retiredAt: t.expose('retiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last live fact that supported it was retired.',
    }),
  }),
});

builder.node(Fact, {
  description:
    'One statement that was established, with where it comes from, since when it holds, and how much it matters.',
  id: { description: 'Global id.', resolve: (fact) => fact.id },
  loadWithoutCache: (id, context) => loadFact(context, id),
  fields: (t) => ({
    shortId: t.exposeString('shortId', {
      description:
        'Last 12 hexadecimal digits of its UUID; 8 of them are enough to name it where they are unambiguous.',
    }),
    text: t.exposeString('text', { description: 'The statement.' }),
    kind: t.field({
      type: FactKind,
      description: 'What sort of statement it is.',
      resolve: (fact) => fact.kind as never,
    }),
    tier: t.field({
      type: FactTier,
      description: 'Which memory it belongs to.',
      resolve: (fact) => fact.tier as never,
    }),
    status: t.field({
      type: FactStatus,
      description: 'Whether it counts today.',
      resolve: (fact, _args, { services }) =>
        fact.retiredAt === null && (fact.validTo === null || fact.validTo > services.now())
          ? 'LIVE'
          : 'RETIRED',
    }),
    subject: t.exposeString('subject', { nullable: true, description: 'Whom or what it is about.' }),
    predicate: t.exposeString('predicate', { nullable: true, description: 'What it says of the subject.' }),
    object: t.exposeString('object', { nullable: true, description: 'The other side of the predicate.' }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What the host application stored with it.',
      resolve: (fact) => fact.metadata,
    }),
    confidence: t.exposeFloat('confidence', { description: 'How sure its source was, 0 to 1.' }),
    extractor: t.field({
      type: ExtractorName,
      nullable: true,
      description: 'What learned it; null when a caller stated it.',
      resolve: (fact) => fact.extractor as never,
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent it belongs to; null: shared by all agents.',
      resolve: (fact, _args, context) => (fact.agentId ? loadAgent(context, fact.agentId) : null),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user it belongs to; null: about no user in particular.',
      resolve: (fact, _args, context) => (fact.userId ? loadUser(context, fact.userId) : null),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The conversation that it was learned in.',
      resolve: (fact, _args, context) => (fact.sessionId ? loadSession(context, fact.sessionId) : null),
    }),
    importance: t.float({
      description:
        'How much it matters now, 0.05 to 10: the stored snapshot that lists are ordered by; in a recall, where its score is out of date, as the profiles have it now.',
      resolve: (fact) => fact.salience.current,
    }),
    encodedImportance: t.float({
      description:
        'Importance as encoded, before recalls and time, 0.05 to 10: when it came, was last stated again, or rescored.',
      resolve: (fact) => fact.salience.encoded,
    }),
    importanceBreakdown: t.field({
      type: ImportanceBreakdown,
      description:
        'Why it matters that much. Where what matters has changed and the fact was not rescored yet, the numbers are those that it will get.',
      resolve: (fact, _args, context, { operation }) => breakdownOf(context, fact, operation.operation),
    }),
    pinned: t.boolean({
      description: 'Whether it is kept from fading.',
      resolve: (fact) => fact.salience.pinned,
    }),
    validFrom: t.expose('validFrom', { type: 'DateTime', description: 'Since when it holds in the world.' }),
    validTo: t.expose('validTo', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when it was said to hold; null: no end was said.',
    }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ceased to hold, once something replaced or ended it.',
    }),
    recordedAt: t.expose('recordedAt', { type: 'DateTime', description: 'Since when it is known here.' }),
    lastSeenAt: t.field({
      type: 'DateTime',
      description: 'When it was last stated.',
      resolve: (fact) => fact.salience.lastSeenAt,
    }),
    retiredAt: t.expose('retiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was retired.',
    }),
    retireReason: t.field({
      type: RetireReason,
      nullable: true,
      description: 'Why it was retired.',
      resolve: (fact) => fact.retireReason as never,
    }),
    supersededBy: t.field({
      type: Fact,
      nullable: true,
      description: 'What took its place.',
      resolve: (fact, _args, context) => (fact.supersededBy ? loadFact(context, fact.supersededBy) : null),
    }),
    supersedes: t.field({
      type: Fact,
      nullable: true,
      description: 'What it took the place of; the latest, where there are several.',
      resolve: (fact, _args, context) =>
        context.batches.byId<FactRecord>(
          'supersedes',
          async (ids) => {
            const rows = await readTenant(context, (unit) => factsSupersededBy(unit, ids));
            const visible = rows.filter((row) => mayRead(tenantActorOf(context), row));
            return new Map(visible.reverse().map((row) => [row.supersededBy as string, row]));
          },
          fact.id,
        ),
    }),
    history: t.connection({
      type: Fact,
      description: 'Itself and what it replaced or was replaced by, however far, newest first.',
      resolve: async (fact, args, context) => {
        const page = pageOf(args, 1);
        const all = await context.batches.byId<FactRecord[]>(
          'history',
          (ids) => readTenant(context, (unit) => factHistories(unit, ids)),
          fact.id,
        );
        const visible = (all ?? []).filter((row) => mayRead(tenantActorOf(context), row));
        return connectionOf(
          page,
          slice(visible, page, (row) => row.id),
          (row) => [row.id],
        );
      },
    }),
    entities: t.field({
      type: [Entity],
      description: 'Names that it mentions, in order.',
      resolve: async (fact, _args, context) =>
        (await context.batches.byId<EntityRecord[]>(
          'entities',
          (ids) => readTenant(context, (unit) => entitiesOfFacts(unit, ids)),
          fact.id,
        )) ?? [],
    }),
    sources: t.connection({
      type: Message,
      description:
        'The messages that it was learned from or stated again in, as far as the caller may see them, in the order in which they were added.',
      resolve: async (fact, args, context) => {
        const page = pageOf(args, 2);
        const range = readRange(tenantActorOf(context));
        const { limit, backward } = page;
        const [after, before] = [placeOf(page.after, 'after'), placeOf(page.before, 'before')];
        const rows = await context.batches.byId(
          `sources:${JSON.stringify([limit, after, before, backward])}`,
          (ids) =>
            readTenant(context, (unit) =>
              sourcesOfFacts(unit, ids, range, { limit, after, before, backward }),
            ),
          fact.id,
        );
        return connectionOf(page, rows ?? [], (row) => [row.addedAt.getTime(), row.id]);
      },
    }),
    edges: t.connection({
      type: Edge,
      description: 'Relations between entities that it supports, strongest first.',
      args: {
        validAt: t.arg({
          type: 'DateTime',
          description: 'Those that held in the world at this time; now when left out.',
        }),
        knownAt: t.arg({ type: 'DateTime', description: 'As known at this time; now when left out.' }),
      },
      resolve: async (fact, args, context) => {
        const page = pageOf(args, 2);
        const { limit, backward } = page;
        const [after, before] = [edgePlaceOf(page.after, 'after'), edgePlaceOf(page.before, 'before')];
        const validAt = args.validAt ?? null;
        const knownAt = args.knownAt ?? null;
        const now = context.services.now();
        const rows = await context.batches.byId<EdgeRecord[]>(
          `edges:${JSON.stringify([limit, after, before, backward, validAt, knownAt])}`,
          (ids) =>
            readTenant(context, (unit) =>
              edgesOfFacts(unit, ids, { limit, after, before, backward, validAt, knownAt, now }),
            ),
          fact.id,
        );
        return connectionOf(page, rows ?? [], (row) => [row.weight, row.id]);
      },
    }),
  }),
});

/** The greatest time of JavaScript, in ms: sort values are times, importances or weights. */
const MAX_TIME = 8.64e15;

/** A cursor of a list that is ordered by a number and an id. @throws BadInputError when it is another list's */
export function placeOf(key: SortKey | null, name: string): readonly [value: number, id: string] | null {
  if (key === null) return null;
  const [value, id] = key;
  const isPlace = typeof value === 'number' && Math.abs(value) <= MAX_TIME;
  if (isPlace && typeof id === 'string' && isUuid(id)) return [value, id];
  throw new BadInputError(`${name} is not a cursor of this list`, [name]);
}

function edgePlaceOf(key: SortKey | null, name: string): EdgePlace | null {
  const place = placeOf(key, name);
  return place && { weight: place[0], id: place[1] };
}

/** A page of rows that are all at hand, `limit + 1` of them in the page's direction. */
function slice<T>(rows: readonly T[], page: ReturnType<typeof pageOf>, idOfRow: (row: T) => string): T[] {
  const place = (key: SortKey, name: string) => {
    const found = rows.findIndex((row) => idOfRow(row) === key[0]);
    if (found < 0) throw new BadInputError(`${name} is not a cursor of this list`, [name]);
    return found;
  };
  const from = page.after ? place(page.after, 'after') + 1 : 0;
  const to = page.before ? place(page.before, 'before') : rows.length;
  const within = rows.slice(from, Math.max(from, to));
  return page.backward ? within.reverse().slice(0, page.limit + 1) : within.slice(0, page.limit + 1);
}
