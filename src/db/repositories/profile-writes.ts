import type { ProfileSettings, TopicLevel } from '../../salience/index.js';
import { hexOf } from '../content/index.js';
import type { Changer } from './tenants.js';
import type { Unit } from './unit.js';

/** A topic or identity term to add. */
export interface NewTopic {
  readonly id: string;
  readonly list: 'INTEREST' | 'DISINTEREST' | 'IDENTITY';
  /** Its place in its list, from 0. */
  readonly position: number;
  readonly topic: string;
  /** What makes it the same topic as another: `topicKey`. */
  readonly key: string;
  /** Null for identity terms, and only for them. */
  readonly level: TopicLevel | null;
}

/** How a profile changes. */
export interface ProfileWrite {
  readonly id: string;
  /** The version that the change is based on. */
  readonly basedOn: number;
  /** Facts scored below this revision are recomputed; null leaves what is stored. */
  readonly staleBelow: number | null;
  /** The profile as it shall be. */
  readonly settings: ProfileSettings;
  /** Ids of topics and terms that leave the profile. Their rows stay, for facts that were scored with them. */
  readonly removed: readonly string[];
  /** Those that stay, with their places. */
  readonly kept: readonly { readonly id: string; readonly position: number }[];
  readonly added: readonly NewTopic[];
  /** By id, of what is added and of what has none yet. */
  readonly vectors: ReadonlyMap<string, Float32Array>;
  readonly modelId: number;
  /** The whole profile as text, for the list of versions. */
  readonly snapshot: string;
  readonly changer: Changer;
  readonly at: Date;
}

/**
 * Counts a change of any profile or of the policy of the tenant (SPEC §7), and makes others who change one wait until
 * the transaction ends.
 * @param stale whether facts that were scored before are out of date from now on
 * @returns the new revision
 */
export async function bumpSalienceRevision(unit: Unit, stale: boolean): Promise<number> {
  const rows = await unit.tx.$queryRaw<{ revision: number }[]>`
    UPDATE tenant SET salience_revision = salience_revision + 1,
      stale_below = CASE WHEN ${stale}::boolean THEN salience_revision + 1 ELSE stale_below END
    WHERE id = ${unit.tenantId}::uuid
    RETURNING salience_revision AS revision`;
  const [row] = rows;
  if (!row) throw new Error('a tenant that is not there');
  return row.revision;
}

/** Makes every fact of the tenant stale that was scored below this revision. */
export async function markTenantStale(unit: Unit, revision: number): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE salience_profile SET stale_below = ${revision}::int
    WHERE tenant_id = ${unit.tenantId}::uuid AND agent_id IS NULL AND user_id IS NULL`;
}

/**
 * Stores a change of a profile with its vectors and its new version. Two statements: a topic that leaves makes room
 * for one that differs in spelling alone. It keeps its vector for a while: who has read the profile before this change
 * may score facts by it after.
 * @returns the new version; null, with nothing said of what was written until then, where the stored version is not
 *   the one that the change is based on: the caller rolls back
 */
export async function writeProfile(unit: Unit, write: ProfileWrite): Promise<number | null> {
  const version = await writeSettings(unit, write);
  if (version !== null) await addTopics(unit, write, version);
  return version;
}

/**
 * Stores vectors that topics of a profile lack, and makes facts stale that were scored without them. The profile says
 * what it said, so it keeps its version. One statement.
 * @param staleBelow facts scored below this revision are recomputed; null leaves what is stored
 * @returns whether the stored version is still the one that the vectors were computed for; else nothing is written
 */
export async function addMissingVectors(
  unit: Unit,
  write: Pick<ProfileWrite, 'id' | 'basedOn' | 'staleBelow' | 'vectors' | 'modelId'>,
): Promise<boolean> {
  const vectors = [...write.vectors].map(([id, vector]) => ({ id, vector: Array.from(vector) }));
  const rows = await unit.tx.$queryRaw<unknown[]>`
    WITH profile AS (
      UPDATE salience_profile SET stale_below = coalesce(${write.staleBelow}::int, stale_below)
      WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${write.id}::uuid AND version = ${write.basedOn}::int
      RETURNING id
    ), embedded AS (
      INSERT INTO profile_topic_embedding (tenant_id, model_id, topic_id, embedding)
      SELECT ${unit.tenantId}::uuid, ${write.modelId}::int, v.id, v.vector
      FROM profile CROSS JOIN jsonb_to_recordset(${JSON.stringify(vectors)}::jsonb) AS v(id uuid, vector halfvec)
      ON CONFLICT (tenant_id, model_id, topic_id) DO NOTHING
    )
    SELECT id FROM profile`;
  return rows.length > 0;
}

async function writeSettings(unit: Unit, write: ProfileWrite): Promise<number | null> {
  const { settings } = write;
  const { persona } = settings;
  const rows = await unit.tx.$queryRaw<{ version: number }[]>`
    WITH removed AS (
      UPDATE profile_topic SET removed_at = ${write.at}::timestamptz
      WHERE tenant_id = ${unit.tenantId}::uuid AND profile_id = ${write.id}::uuid
        AND id = ANY(${[...write.removed]}::uuid[])
    ), moved AS (
      UPDATE profile_topic t SET position = k.position
      FROM jsonb_to_recordset(${JSON.stringify(write.kept)}::jsonb) AS k(id uuid, position smallint)
      WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.id = k.id AND t.position <> k.position
    )
    UPDATE salience_profile SET
      version = version + 1,
      updated_at = ${write.at}::timestamptz,
      stale_below = coalesce(${write.staleBelow}::int, stale_below),
      alpha = ${settings.alpha}::float8,
      beta = ${settings.beta}::float8,
      flashbulb_threshold = ${settings.flashbulbThreshold}::float8,
      similarity_threshold = ${settings.similarityThreshold}::float8,
      icnu_importance = ${settings.icnuWeights?.importance ?? null}::float8,
      icnu_coactivation = ${settings.icnuWeights?.coactivation ?? null}::float8,
      icnu_novelty = ${settings.icnuWeights?.novelty ?? null}::float8,
      icnu_urgency = ${settings.icnuWeights?.urgency ?? null}::float8,
      persona_name = ${unit.content.sealOptional(persona.name)}::bytea,
      valence_bias = ${persona.valenceBias}::float8,
      arousal_sensitivity = ${persona.arousalSensitivity}::float8,
      self_relevance_boost = ${persona.selfRelevanceBoost}::float8
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${write.id}::uuid AND version = ${write.basedOn}::int
    RETURNING version`;
  return rows[0]?.version ?? null;
}

async function addTopics(unit: Unit, write: ProfileWrite, version: number): Promise<void> {
  const { content } = unit;
  const topics = write.added.map(({ key, ...topic }) => ({
    ...topic,
    topic: hexOf(content.seal(topic.topic)),
    key: hexOf(content.hash('topic', key)),
  }));
  const vectors = [...write.vectors].map(([id, vector]) => ({ id, vector: Array.from(vector) }));
  await unit.tx.$executeRaw`
    WITH added AS (
      INSERT INTO profile_topic (tenant_id, id, profile_id, list, position, topic, topic_key, level)
      SELECT ${unit.tenantId}::uuid, r.id, ${write.id}::uuid, r.list, r.position, r.topic, r.key, r.level
      FROM jsonb_to_recordset(${JSON.stringify(topics)}::jsonb)
        AS r(id uuid, list text, position smallint, topic bytea, key bytea, level text)
    ), embedded AS (
      INSERT INTO profile_topic_embedding (tenant_id, model_id, topic_id, embedding)
      SELECT ${unit.tenantId}::uuid, ${write.modelId}::int, v.id, v.vector
      FROM jsonb_to_recordset(${JSON.stringify(vectors)}::jsonb) AS v(id uuid, vector halfvec)
      ON CONFLICT (tenant_id, model_id, topic_id) DO UPDATE SET embedding = excluded.embedding
    )
    INSERT INTO profile_version (tenant_id, profile_id, version, snapshot, actor_kind, actor_id, changed_at)
    VALUES (${unit.tenantId}::uuid, ${write.id}::uuid, ${version}::int, ${content.seal(write.snapshot)}::bytea,
            ${write.changer.kind}::text, ${write.changer.id}::uuid, ${write.at}::timestamptz)`;
}
