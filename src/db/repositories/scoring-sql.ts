import {
  AROUSAL_RESISTANCE,
  DEFAULT_BASE,
  FULL_AROUSAL_Z,
  IMPORTANCE_MAX,
  IMPORTANCE_MIN,
  IMPORTANCE_SPAN,
  SIGMOID_CENTRE,
  SIGMOID_SLOPE,
  TEMPORAL_Z_MIN,
  TOPIC_BOOST_MIN,
  VALENCE_FACTOR_MAX,
  VALENCE_FACTOR_MIN,
} from '../../salience/index.js';
import { Prisma } from '../generated/client.js';
import { type Decay, importanceOf } from './importance.js';
import { float, integer } from './sql-literals.js';

/** A topic as facts are scored with it. */
export interface ScoringTopic {
  /** Row of profile_topic; its vector is that of profile_topic_embedding, unless one is given. */
  readonly id: string;
  readonly number: number;
  readonly isInterest: boolean;
  readonly multiplier: number;
  readonly isTenants: boolean;
  readonly similarityThreshold: number;
  /** The vector of a topic that is not saved, in pgvector's text form. */
  readonly vector?: string;
}

/** An effective profile in the form that facts are scored with in the database (SPEC §4.4, §5). */
export interface ScoringProfile {
  /** 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** The tenant's revision that the profile is of. */
  readonly revision: number;
  readonly alpha: number;
  readonly beta: number;
  readonly valenceBias: number;
  readonly arousalSensitivity: number;
  readonly selfRelevanceBoost: number;
  /** Of identity terms. */
  readonly similarityThreshold: number;
  readonly protectTenantInterests: boolean;
  readonly topics: readonly ScoringTopic[];
  /** Identity terms that have a vector. */
  readonly identity: readonly { readonly id: string; readonly vector?: string }[];
}

/** What scoring in the database goes by, beside the profile. */
export interface ScoringMeans {
  readonly tenantId: string;
  readonly modelId: number;
  /** The model's calibration (SPEC §3). */
  readonly knots: readonly (readonly [cosine: number, similarity: number])[];
  readonly decay: Decay;
  readonly now: Date;
}

/**
 * The facts of `fact_salience s` that `where` lets through, scored by the profile: the SQL twin of `encodeImportance`
 * (src/salience/encode.ts) for facts whose inputs are stored; a test holds the two together. One row a fact, with the
 * stored values (`old_…`) beside the new ones.
 *
 * Every topic is an expression of its own instead of a row: no aggregate and no join by topic, which is most of the time
 * otherwise. Each step is a lateral subquery with OFFSET 0, which keeps the planner from repeating it where it is used, and from
 * comparing every fact with every vector where it has no statistics yet, as after an import.
 *
 * Numbers are written out: a topic with all of its own as parameters takes 18, and a statement takes 65,535. For a
 * statement that begins with `unsavedVectors` of its profiles, of which `scoringBatches` says how many fit.
 *
 * @param named facts that name an identity term, as found by `namesIdentity`
 * @param also further columns of `fact_salience s`
 */
export function scoredFacts(
  means: ScoringMeans,
  profile: ScoringProfile,
  where: Prisma.Sql,
  named: readonly string[] = [],
  also: Prisma.Sql = Prisma.empty,
): Prisma.Sql {
  return Prisma.sql`
    SELECT s.fact_id, s.scope_id, s.encoded AS old_encoded, s.current AS old_current,
      s.decay_resistance AS old_resistance, a.z, p.base, p.topic_boost, p.valence_factor, p.self_relevance_factor, p.decay_resistance,
      q.encoded, ${matches(profile)}, ${scoredCurrent(means)} AS current ${also}
    FROM fact_salience s ${scoringSteps(means, profile, named)}
    WHERE s.tenant_id = ${means.tenantId}::uuid AND ${where}`;
}

/** Two importances that differ by less are the same: sums in another order differ in their last digits. */
export const SAME = 1e-9;

/** The snapshot that a fact has once it is scored anew: a score that stays keeps the one that it had. */
export function renewedSnapshot(
  score: {
    readonly [part in 'encoded' | 'resistance' | 'current']: {
      readonly before: Prisma.Sql;
      readonly after: Prisma.Sql;
    };
  },
): Prisma.Sql {
  const { encoded, resistance, current } = score;
  return Prisma.sql`CASE WHEN abs(${encoded.after} - ${encoded.before}) > ${float(SAME)}
      OR abs(${resistance.after} - ${resistance.before}) > ${float(SAME)}
    THEN ${current.after} ELSE ${current.before} END`;
}

/** The current importance of `s` by its new score. */
export function scoredCurrent({ now, decay }: ScoringMeans): Prisma.Sql {
  return importanceOf(now, decay, {
    encoded: Prisma.sql`q.encoded`,
    resistance: Prisma.sql`p.decay_resistance`,
  });
}

/**
 * The steps that score a fact `s`, to join to it: `a.z`, the similarities `m`, the parts `p` and `q.encoded`, one row a
 * fact.
 */
export function scoringSteps(
  means: ScoringMeans,
  profile: ScoringProfile,
  named: readonly string[] = [],
): Prisma.Sql {
  const { tenantId, modelId } = means;
  const hasVectors = profile.topics.length + profile.identity.length > 0;
  const embedding = hasVectors
    ? Prisma.sql`LEFT JOIN LATERAL (
        SELECT v.embedding FROM fact_embedding v
        WHERE v.tenant_id = ${tenantId}::uuid AND v.model_id = ${integer(modelId)} AND v.fact_id = s.fact_id OFFSET 0) e ON true`
    : Prisma.empty;
  return Prisma.sql`${embedding}
    CROSS JOIN LATERAL (SELECT ${zOf(profile)} AS z OFFSET 0) a
    ${similarities(means, profile)}
    CROSS JOIN LATERAL (
      SELECT ${BASE} AS base, ${topicBoost(profile)} AS topic_boost, ${valenceFactor(profile)} AS valence_factor,
        ${selfRelevance(profile, named)} AS self_relevance_factor, ${resistance(profile)} AS decay_resistance OFFSET 0) p
    CROSS JOIN LATERAL (
      SELECT least(${float(IMPORTANCE_MAX)}, greatest(${float(IMPORTANCE_MIN)},
        p.base * p.topic_boost * p.valence_factor * p.self_relevance_factor)) AS encoded OFFSET 0) q`;
}

/** SPEC §4.2: what was scored as familiar has a temporal z. */
function zOf({ alpha, beta }: ScoringProfile): Prisma.Sql {
  const spatial = factor(Prisma.sql`greatest(s.spatial_z, ${float(TEMPORAL_Z_MIN)})`);
  return Prisma.sql`CASE WHEN s.temporal_z IS NULL THEN s.spatial_z
    ELSE ${float(noticeable(alpha))} * ${spatial} + ${float(noticeable(beta))} * ${factor(Prisma.sql`s.temporal_z`)} END`;
}

/** SPEC §4.1, §4.3: hints leave nothing to the profile. Beyond ±500 the curve is flat, and PostgreSQL's exp() fails. */
const BASE = Prisma.sql`CASE
  WHEN s.interest IS NOT NULL OR s.challenge IS NOT NULL THEN s.base
  WHEN a.z IS NULL THEN ${float(DEFAULT_BASE)}
  ELSE ${float(IMPORTANCE_MIN)} + ${float(IMPORTANCE_SPAN)}
    / (1 + exp(least(500, greatest(-500, -${float(SIGMOID_SLOPE)} * (a.z - ${float(SIGMOID_CENTRE)}))))) END`;

/** Each topic's similarity where it exceeds the topic's threshold, else null: columns m1, m2 … of `m`; of the identity in `i`. */
function similarities(means: ScoringMeans, profile: ScoringProfile): Prisma.Sql {
  const { topics, identity } = profile;
  if (topics.length + identity.length === 0) return Prisma.empty;
  const cosines = [...topics, ...identity].map(
    (entry, index) =>
      Prisma.sql`-(e.embedding <#> ${vectorOf(means, entry)}) AS ${Prisma.raw(`c${index + 1}`)}`,
  );
  const matched = topics.map((topic, index) => {
    const cosine = Prisma.raw(`c.c${index + 1}`);
    // No similarity exceeds 1, although a cosine may by rounding.
    if (topic.similarityThreshold >= 1) return Prisma.sql`NULL::float8 AS ${Prisma.raw(`m${index + 1}`)}`;
    return Prisma.sql`CASE WHEN ${cosine} > ${float(cosineAt(means, topic.similarityThreshold))}
      THEN ${similarityOf(means, cosine, topic.similarityThreshold)} END AS ${Prisma.raw(`m${index + 1}`)}`;
  });
  const near = identity.map((_term, index) => {
    const cosine = Prisma.raw(`c.c${topics.length + index + 1}`);
    // Where 0 is enough, a cosine below it is too: its similarity is 0.
    if (profile.similarityThreshold <= 0) return Prisma.sql`${cosine} IS NOT NULL`;
    return Prisma.sql`${cosine} >= ${float(cosineAt(means, profile.similarityThreshold))}`;
  });
  const columns = [
    ...matched,
    Prisma.sql`${near.length ? Prisma.join(near, ' OR ') : Prisma.sql`false`} AS near`,
  ];
  return Prisma.sql`
    CROSS JOIN LATERAL (SELECT ${Prisma.join(cosines, ', ')} OFFSET 0) c
    CROSS JOIN LATERAL (SELECT ${Prisma.join(columns, ', ')} OFFSET 0) m`;
}

/**
 * A scalar subquery without a reference to the row is evaluated once for the statement. What is not saved is in the
 * statement's own table, see `unsavedVectors`.
 */
function vectorOf(
  { tenantId, modelId }: ScoringMeans,
  { id, vector }: { readonly id: string; readonly vector?: string },
): Prisma.Sql {
  if (vector !== undefined)
    return Prisma.sql`(SELECT u.embedding FROM unsaved_vector u WHERE u.id = ${id}::uuid)`;
  return Prisma.sql`(SELECT v.embedding FROM profile_topic_embedding v
    WHERE v.tenant_id = ${tenantId}::uuid AND v.model_id = ${integer(modelId)} AND v.topic_id = ${id}::uuid)`;
}

/** The least cosine whose similarity is the given one: where the calibration's line crosses it. */
function cosineAt({ knots }: ScoringMeans, similarity: number): number {
  const at = Math.max(
    1,
    knots.findIndex(([, y]) => y >= similarity),
  );
  const [x0, y0] = knots[at - 1]!;
  const [x1, y1] = knots[at]!;
  return x0 + ((similarity - y0) / (y1 - y0)) * (x1 - x0);
}

/** The calibration's line above a similarity. */
function similarityOf({ knots }: ScoringMeans, cosine: Prisma.Sql, above: number): Prisma.Sql {
  const pieces = knots.slice(1).flatMap(([x1, y1], index) => {
    const [x0, y0] = knots[index]!;
    if (y1 <= above) return [];
    return Prisma.sql`WHEN ${cosine} <= ${float(x1)}
      THEN ${float(y0)} + (${cosine} - ${float(x0)}) / ${float(x1 - x0)} * ${float(y1 - y0)}`;
  });
  return Prisma.sql`CASE ${Prisma.join(pieces, ' ')} ELSE 1::float8 END`;
}

/** SPEC §5.2. LEAST and GREATEST pass over nulls, so a topic that does not match takes no part. */
function topicBoost(profile: ScoringProfile): Prisma.Sql {
  if (profile.topics.length === 0) return Prisma.sql`1::float8`;
  const numbered = profile.topics.map((topic, index) => ({ topic, m: Prisma.raw(`m.m${index + 1}`) }));
  const boostOf = (entries: typeof numbered): Prisma.Sql => {
    const products = (isInterest: boolean) =>
      entries
        .filter(({ topic }) => topic.isInterest === isInterest)
        .map(({ topic, m }) => Prisma.sql`${float(topic.multiplier)} * ${m}`);
    const raised = Prisma.sql`greatest(${Prisma.join([Prisma.sql`1::float8`, ...products(true)], ', ')})`;
    return Prisma.sql`greatest(${float(TOPIC_BOOST_MIN)}, least(${Prisma.join([raised, ...products(false)], ', ')}))`;
  };
  const boost = boostOf(numbered);
  const tenants = numbered.filter(({ topic }) => topic.isTenants);
  const guards = tenants.filter(({ topic }) => topic.isInterest);
  if (!profile.protectTenantInterests || guards.length === 0 || tenants.length === numbered.length)
    return boost;
  const isProtected = Prisma.join(
    guards.map(({ m }) => Prisma.sql`${m} IS NOT NULL`),
    ' OR ',
  );
  return Prisma.sql`CASE WHEN ${isProtected} THEN greatest(${boost}, ${boostOf(tenants)}) ELSE ${boost} END`;
}

/** Numbers and similarities of the topics that match, in the profile's order; null where none does. */
export function matches({ topics }: ScoringProfile): Prisma.Sql {
  if (topics.length === 0)
    return Prisma.sql`NULL::int[] AS matched_topics, NULL::real[] AS matched_similarities`;
  const numbers = topics.map(
    ({ number }, index) =>
      Prisma.sql`CASE WHEN ${Prisma.raw(`m.m${index + 1}`)} IS NOT NULL THEN ${integer(number)} END`,
  );
  const found = topics.map((_topic, index) => Prisma.raw(`m.m${index + 1}::real`));
  const none = Prisma.sql`coalesce(${Prisma.join(
    topics.map((_topic, index) => Prisma.raw(`m.m${index + 1}`)),
    ', ',
  )}) IS NULL`;
  return Prisma.sql`
    CASE WHEN ${none} THEN NULL ELSE array_remove(ARRAY[${Prisma.join(numbers, ', ')}]::int[], NULL) END AS matched_topics,
    CASE WHEN ${none} THEN NULL ELSE array_remove(ARRAY[${Prisma.join(found, ', ')}]::real[], NULL) END AS matched_similarities`;
}

/** SPEC §4.4.2. */
function valenceFactor({ valenceBias }: ScoringProfile): Prisma.Sql {
  const bias = noticeable(valenceBias / 100);
  if (bias === 0) return Prisma.sql`1::float8`;
  return Prisma.sql`CASE WHEN s.valence IS NULL THEN 1::float8 ELSE
    least(${float(VALENCE_FACTOR_MAX)}, greatest(${float(VALENCE_FACTOR_MIN)}, 1 + ${float(bias)} * ${factor(Prisma.sql`s.valence`)})) END`;
}

/** SPEC §4.4.4. */
function selfRelevance(profile: ScoringProfile, named: readonly string[]): Prisma.Sql {
  const conditions: Prisma.Sql[] = [];
  if (profile.identity.length > 0) conditions.push(Prisma.sql`m.near`);
  if (named.length > 0) conditions.push(Prisma.sql`s.fact_id = ANY(${[...named]}::uuid[])`);
  if (conditions.length === 0) return Prisma.sql`1::float8`;
  return Prisma.sql`CASE WHEN ${Prisma.join(conditions, ' OR ')} THEN ${float(profile.selfRelevanceBoost)} ELSE 1::float8 END`;
}

/** SPEC §4.4.3. */
function resistance({ arousalSensitivity }: ScoringProfile): Prisma.Sql {
  const arousal = Prisma.sql`greatest(coalesce(s.arousal, 0), abs(coalesce(s.valence, 0)),
    least(1, greatest(0, coalesce(${factor(Prisma.sql`a.z`)}, 0) / ${float(FULL_AROUSAL_Z)})))`;
  return Prisma.sql`greatest(1::float8, 1 + ${float(AROUSAL_RESISTANCE * arousalSensitivity)} * ${factor(arousal)})`;
}

/** Smaller ones count as 0. PostgreSQL fails where a product is too small for its type, but not with 0. */
const NOTICEABLE = 1e-150;

/** A number of the profile, to multiply with. */
function noticeable(value: number): number {
  return Math.abs(value) < NOTICEABLE ? 0 : value;
}

/** A number of the fact, to multiply with. */
function factor(value: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`CASE WHEN abs(${value}) < ${float(NOTICEABLE)} THEN 0 ELSE ${value} END`;
}
