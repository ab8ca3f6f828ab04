import { newId } from '../../ids.js';
import { hexOf } from '../content/index.js';
import { sqlState } from '../errors.js';
import { Prisma } from '../generated/client.js';
import { timeCondition } from './conditions.js';
import type { Unit } from './unit.js';

/** The entities that a fact mentions, in the order of the text; keys are keyed hashes of the normalised names. */
export interface FactEntities {
  readonly factId: string;
  readonly scopeId: number;
  readonly entities: readonly { readonly name: string; readonly key: Uint8Array }[];
  /** Relations between these entities that the fact states, by their keys. */
  readonly relations: readonly {
    readonly source: Uint8Array;
    readonly relation: string;
    readonly target: Uint8Array;
  }[];
  readonly validFrom: Date;
  readonly validTo: Date | null;
}

/** The relation of entities that one fact mentions together. */
export const CO_OCCURS = 'co_occurs';

/** Names of one fact that are tied to each other: more would make a dense knot of what is likely a list. */
const TIED_ENTITIES = 8;

/**
 * Indexes facts in the graph: entities by scope and name, their mentions, a `co_occurs` edge between every two
 * of a fact, and the relations that it states. An edge lives as long as a live fact supports it; its weight is the number
 * of facts that do. One statement.
 */
export async function writeGraph(unit: Unit, facts: readonly FactEntities[], at: Date): Promise<void> {
  const entities = new Map<string, { id: string; scopeId: number; name: string; key: string }>();
  const mentions: { factId: string; scopeId: number; key: string; position: number }[] = [];
  const ties: {
    id: string;
    factId: string;
    scopeId: number;
    source: string;
    target: string;
    relation: string;
    relationKey: string;
    validFrom: Date;
    validTo: Date | null;
  }[] = [];
  const sealed = new Map<string, { relation: string; relationKey: string }>();
  const relationOf = (relation: string) => {
    const known = sealed.get(relation) ?? {
      relation: hexOf(unit.content.seal(relation)),
      relationKey: hexOf(unit.content.hash('relation', relation)),
    };
    sealed.set(relation, known);
    return known;
  };
  for (const fact of facts) {
    const { factId, scopeId, validFrom, validTo } = fact;
    const keys = fact.entities.map((entity) => hexOf(entity.key));
    fact.entities.forEach((entity, position) => {
      const key = keys[position] as string;
      const place = `${scopeId}:${key}`;
      if (!entities.has(place)) {
        entities.set(place, { id: newId(), scopeId, name: hexOf(unit.content.seal(entity.name)), key });
      }
      mentions.push({ factId, scopeId, key, position });
    });
    const tied = keys.slice(0, TIED_ENTITIES).sort();
    tied.forEach((source, index) => {
      for (const target of tied.slice(index + 1))
        ties.push({
          id: newId(),
          factId,
          scopeId,
          source,
          target,
          ...relationOf(CO_OCCURS),
          validFrom,
          validTo,
        });
    });
    for (const { source, relation, target } of fact.relations)
      ties.push({
        id: newId(),
        factId,
        scopeId,
        source: hexOf(source),
        target: hexOf(target),
        ...relationOf(relation),
        validFrom,
        validTo,
      });
  }
  if (mentions.length === 0) return;
  await unit.tx.$queryRaw`
    WITH named AS (
      INSERT INTO entity (tenant_id, id, scope_id, name, name_key, created_at)
      SELECT ${unit.tenantId}::uuid, r.id, r."scopeId", r.name, r.key, ${at}::timestamptz
      FROM jsonb_to_recordset(${JSON.stringify([...entities.values()])}::jsonb)
        AS r(id uuid, "scopeId" int, name bytea, key bytea)
      ON CONFLICT (tenant_id, scope_id, name_key) DO UPDATE SET name = entity.name
      RETURNING id, scope_id, name_key
    ), mentioned AS (
      INSERT INTO fact_entity (tenant_id, fact_id, entity_id, position)
      SELECT ${unit.tenantId}::uuid, r."factId", n.id, r.position
      FROM jsonb_to_recordset(${JSON.stringify(mentions)}::jsonb)
        AS r("factId" uuid, "scopeId" int, key bytea, position smallint)
      JOIN named n ON n.scope_id = r."scopeId" AND n.name_key = r.key
      ON CONFLICT DO NOTHING
    ), tie AS (
      -- a fact that states a relation twice supports it once
      SELECT DISTINCT ON (r."factId", s.id, t.id, r."relationKey") r.id, r."factId", r."scopeId", r."validFrom", r."validTo",
             r.relation, r."relationKey" AS relation_key, s.id AS source_id, t.id AS target_id
      FROM jsonb_to_recordset(${JSON.stringify(ties)}::jsonb)
        AS r(id uuid, "factId" uuid, "scopeId" int, source bytea, target bytea, relation bytea,
             "relationKey" bytea, "validFrom" timestamptz, "validTo" timestamptz)
      JOIN named s ON s.scope_id = r."scopeId" AND s.name_key = r.source
      JOIN named t ON t.scope_id = r."scopeId" AND t.name_key = r.target
    ), tied AS (
      INSERT INTO edge (tenant_id, id, scope_id, source_id, target_id, relation, relation_key, weight, valid_from, valid_to, recorded_at)
      SELECT ${unit.tenantId}::uuid, (array_agg(id ORDER BY id))[1], "scopeId", source_id, target_id,
             (array_agg(relation ORDER BY id))[1], relation_key, count(*), min("validFrom"),
             CASE WHEN bool_or("validTo" IS NULL) THEN NULL ELSE max("validTo") END, ${at}::timestamptz
      FROM tie GROUP BY "scopeId", source_id, target_id, relation_key
      ON CONFLICT (tenant_id, source_id, target_id, relation_key) WHERE retired_at IS NULL
      DO UPDATE SET weight = edge.weight + excluded.weight, valid_from = least(edge.valid_from, excluded.valid_from),
                    valid_to = CASE WHEN edge.valid_to IS NULL OR excluded.valid_to IS NULL THEN NULL
                                    ELSE greatest(edge.valid_to, excluded.valid_to) END
      RETURNING id, source_id, target_id, relation_key
    )
    INSERT INTO edge_source (tenant_id, edge_id, fact_id)
    SELECT ${unit.tenantId}::uuid, d.id, t."factId"
    FROM tie t JOIN tied d ON d.source_id = t.source_id AND d.target_id = t.target_id AND d.relation_key = t.relation_key
    ON CONFLICT DO NOTHING`;
}

/** serialization_failure and deadlock_detected: the whole transaction is to be run again. */
const OF_THE_TRANSACTION = new Set(['40001', '40P01']);

/**
 * `writeGraph`, whose failure undoes nothing but itself: a fact is never lost to the index (SPEC §2.4).
 * @param onFailure is told the SQLSTATE
 */
export async function writeGraphApart(
  unit: Unit,
  facts: readonly FactEntities[],
  at: Date,
  onFailure: (state: string | undefined) => void,
): Promise<void> {
  if (facts.every((fact) => fact.entities.length === 0)) return;
  await unit.tx.$executeRaw`SAVEPOINT graph`;
  try {
    await writeGraph(unit, facts, at);
    await unit.tx.$executeRaw`RELEASE SAVEPOINT graph`;
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined || OF_THE_TRANSACTION.has(state)) throw error;
    await unit.tx.$executeRaw`ROLLBACK TO SAVEPOINT graph`;
    onFailure(state);
  }
}

/** An entity as facts name it. */
export interface EntityRecord {
  readonly id: string;
  readonly name: string;
  readonly agentId: string | null;
  readonly userId: string | null;
}

/** A relation between two entities. */
export interface EdgeRecord {
  readonly id: string;
  readonly relation: string;
  readonly weight: number;
  readonly validFrom: Date;
  readonly validTo: Date | null;
  readonly endedAt: Date | null;
  readonly recordedAt: Date;
  readonly retiredAt: Date | null;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly source: EntityRecord;
  readonly target: EntityRecord;
}

/** The entities of each fact, in the order of the text. One statement. */
export async function entitiesOfFacts(
  unit: Unit,
  factIds: readonly string[],
): Promise<Map<string, EntityRecord[]>> {
  const rows = await unit.tx.$queryRaw<(Omit<EntityRecord, 'name'> & { factId: string; name: Uint8Array })[]>`
    SELECT fe.fact_id AS "factId", en.id, en.name, sc.agent_id AS "agentId", sc.user_id AS "userId"
    FROM fact_entity fe
    JOIN entity en ON en.tenant_id = fe.tenant_id AND en.id = fe.entity_id
    JOIN scope sc ON sc.tenant_id = en.tenant_id AND sc.id = en.scope_id
    WHERE fe.tenant_id = ${unit.tenantId}::uuid AND fe.fact_id = ANY(${[...factIds]}::uuid[])
    ORDER BY fe.fact_id, fe.position`;
  const byFact = new Map<string, EntityRecord[]>();
  for (const { factId, ...row } of rows) {
    const entities = byFact.get(factId) ?? [];
    entities.push({ ...row, name: unit.content.open(row.name) });
    byFact.set(factId, entities);
  }
  return byFact;
}

type EdgeRow = Omit<EdgeRecord, 'relation' | 'source' | 'target'> & {
  factId: string;
  relation: Uint8Array;
  sourceId: string;
  sourceName: Uint8Array;
  targetId: string;
  targetName: Uint8Array;
};

/** What a list of a fact's edges is asked for: strongest first, `limit + 1` rows a fact in the page's direction. */
export interface EdgePage {
  readonly limit: number;
  readonly after: EdgePlace | null;
  readonly before: EdgePlace | null;
  readonly backward: boolean;
  readonly validAt: Date | null;
  readonly knownAt: Date | null;
  readonly now: Date;
}

/** An edge's place among those of a fact. */
export interface EdgePlace {
  readonly weight: number;
  readonly id: string;
}

/**
 * The edges that each fact supports. A relation holds when any of the facts that support it does: on the two axes, or,
 * without them, as long as one is live (SPEC §1). One statement.
 */
export async function edgesOfFacts(
  unit: Unit,
  factIds: readonly string[],
  page: EdgePage,
): Promise<Map<string, EdgeRecord[]>> {
  const direction = page.backward ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const beyond = (place: EdgePlace | null, operator: '<' | '>') =>
    place === null
      ? Prisma.sql`true`
      : Prisma.sql`(-e.weight, e.id) ${Prisma.raw(operator)} (-(${place.weight}::float8), ${place.id}::uuid)`;
  const rows = await unit.tx.$queryRaw<EdgeRow[]>`
    SELECT * FROM (
      SELECT es.fact_id AS "factId", e.id, e.relation, e.weight, e.valid_from AS "validFrom", e.valid_to AS "validTo",
             e.ended_at AS "endedAt", e.recorded_at AS "recordedAt", e.retired_at AS "retiredAt",
             sc.agent_id AS "agentId", sc.user_id AS "userId", s.id AS "sourceId", s.name AS "sourceName",
             t.id AS "targetId", t.name AS "targetName",
             row_number() OVER (PARTITION BY es.fact_id ORDER BY -e.weight ${direction}, e.id ${direction}) AS place
      FROM edge_source es
      JOIN edge e ON e.tenant_id = es.tenant_id AND e.id = es.edge_id
      JOIN entity s ON s.tenant_id = e.tenant_id AND s.id = e.source_id
      JOIN entity t ON t.tenant_id = e.tenant_id AND t.id = e.target_id
      JOIN scope sc ON sc.tenant_id = e.tenant_id AND sc.id = e.scope_id
      WHERE es.tenant_id = ${unit.tenantId}::uuid AND es.fact_id = ANY(${[...factIds]}::uuid[])
        AND EXISTS (
          SELECT FROM edge_source support JOIN fact f ON f.tenant_id = support.tenant_id AND f.id = support.fact_id
          WHERE support.tenant_id = e.tenant_id AND support.edge_id = e.id AND ${timeCondition(page)})
        AND ${beyond(page.after, '>')} AND ${beyond(page.before, '<')}
    ) ranked WHERE place <= ${page.limit + 1}::int ORDER BY "factId", place`;
  const byFact = new Map<string, EdgeRecord[]>();
  for (const row of rows) {
    const edges = byFact.get(row.factId) ?? [];
    const { agentId, userId } = row;
    edges.push({
      ...row,
      relation: unit.content.open(row.relation),
      source: { id: row.sourceId, name: unit.content.open(row.sourceName), agentId, userId },
      target: { id: row.targetId, name: unit.content.open(row.targetName), agentId, userId },
    });
    byFact.set(row.factId, edges);
  }
  return byFact;
}
