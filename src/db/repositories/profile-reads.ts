import type { IdentityTerm, ProfileSettings, TopicLevel, TopicSetting } from '../../salience/index.js';
import type { Content } from '../content/index.js';
import { Prisma } from '../generated/client.js';
import type { ProfileOwner, ProfileRow } from './profiles.js';
import type { Unit } from './unit.js';

/** A profile with all that it says, content opened. */
export interface ProfileRecord extends ProfileRow {
  /** Facts scored below this revision are recomputed (SPEC §7). */
  readonly staleBelow: number;
  readonly settings: ProfileSettings;
}

/** A profile whose settings are left out where the reader holds this version of them. */
export interface MaybeCachedProfile extends Omit<ProfileRecord, 'settings'> {
  readonly settings: ProfileSettings | null;
}

/** What a tenant's merges start from. */
export interface TenantProfiles<P> {
  readonly policy: string;
  /** Counts the changes of the tenant's profiles and policy (SPEC §7). */
  readonly revision: number;
  /** The tenant's first. */
  readonly profiles: readonly P[];
}

/** A profile that the reader holds already. */
export interface HeldProfile {
  readonly id: string;
  readonly version: number;
}

/** `[id, number, list, topic in hexadecimal, level]` of a topic or identity term. */
type StoredTopic = [string, number, 'INTEREST' | 'DISINTEREST' | 'IDENTITY', string, TopicLevel | null];

/** A profile's settings as the database puts them together. */
interface StoredSettings {
  readonly alpha: number | null;
  readonly beta: number | null;
  readonly flashbulbThreshold: number | null;
  readonly similarityThreshold: number | null;
  readonly icnu: readonly [number | null, number | null, number | null, number | null];
  readonly name: string | null;
  readonly valenceBias: number | null;
  readonly arousalSensitivity: number | null;
  readonly selfRelevanceBoost: number | null;
  readonly topics: readonly StoredTopic[] | null;
}

/** Settings of the profile `p`, live topics included, as one value. */
const settingsOf = (unit: Unit): Prisma.Sql => Prisma.sql`jsonb_build_object(
  'alpha', p.alpha, 'beta', p.beta,
  'flashbulbThreshold', p.flashbulb_threshold, 'similarityThreshold', p.similarity_threshold,
  'icnu', jsonb_build_array(p.icnu_importance, p.icnu_coactivation, p.icnu_novelty, p.icnu_urgency),
  'name', encode(p.persona_name, 'hex'), 'valenceBias', p.valence_bias,
  'arousalSensitivity', p.arousal_sensitivity, 'selfRelevanceBoost', p.self_relevance_boost,
  'topics', (SELECT jsonb_agg(jsonb_build_array(t.id, t.number, t.list, encode(t.topic, 'hex'), t.level) ORDER BY t.position)
             FROM profile_topic t
             WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.profile_id = p.id AND t.removed_at IS NULL))`;

const IDENTITY_COLUMNS = Prisma.sql`p.id, p.owner_kind AS "ownerKind", p.agent_id AS "agentId",
  p.user_id AS "userId", p.version, p.stale_below AS "staleBelow", p.created_at AS "createdAt",
  p.updated_at AS "updatedAt"`;

type Stored = Omit<ProfileRecord, 'settings'> & { readonly settings: StoredSettings | null };

/**
 * The tenant's policy and revision, its own profile, and those of the agents and users that the owners name; settings
 * only of profiles that are not held at their present version. One statement, hence one state of all of it.
 * An agent or a user that does not exist is left out.
 */
export async function readTenantProfiles(
  unit: Unit,
  owners: readonly ProfileOwner[],
  held: readonly HeldProfile[] = [],
): Promise<TenantProfiles<MaybeCachedProfile>> {
  const agents = [...new Set(owners.flatMap(({ agentId }) => agentId ?? []))];
  const users = [...new Set(owners.flatMap(({ userId }) => userId ?? []))];
  const rows = await unit.tx.$queryRaw<(Stored & { policy: string; revision: number })[]>`
    SELECT t.override_policy AS policy, t.salience_revision AS revision, ${IDENTITY_COLUMNS},
           CASE WHEN h.id IS NULL THEN ${settingsOf(unit)} END AS settings
    FROM tenant t
    JOIN salience_profile p ON p.tenant_id = ${unit.tenantId}::uuid
     AND ((p.agent_id IS NULL AND p.user_id IS NULL)
       OR (p.agent_id = ANY(${agents}::uuid[]) AND p.user_id IS NULL)
       OR (p.agent_id IS NULL AND p.user_id = ANY(${users}::uuid[])))
    LEFT JOIN jsonb_to_recordset(${JSON.stringify(held)}::jsonb) AS h(id uuid, version int)
      ON h.id = p.id AND h.version = p.version
    WHERE t.id = ${unit.tenantId}::uuid
    ORDER BY p.owner_kind = 'TENANT' DESC, p.id`;
  const [first] = rows;
  if (first?.ownerKind !== 'TENANT') throw new Error('a tenant without a salience profile');
  const { policy, revision } = first;
  return {
    policy,
    revision,
    profiles: rows.map(({ policy: _policy, revision: _revision, settings, ...row }) => ({
      ...row,
      settings: settings && toSettings(unit.content, settings),
    })),
  };
}

/** What these profiles say. One statement. */
export async function profileSettingsByIds(
  unit: Unit,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProfileSettings>> {
  const rows = await unit.tx.$queryRaw<{ id: string; settings: StoredSettings }[]>`
    SELECT p.id, ${settingsOf(unit)} AS settings FROM salience_profile p
    WHERE p.tenant_id = ${unit.tenantId}::uuid AND p.id = ANY(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, settings }) => [id, toSettings(unit.content, settings)]));
}

/** Ids of a profile's live topics and identity terms that have no vector of this model. */
export async function topicsWithoutVector(
  unit: Unit,
  profileId: string,
  modelId: number,
): Promise<ReadonlySet<string>> {
  const rows = await unit.tx.$queryRaw<{ id: string }[]>`
    SELECT t.id FROM profile_topic t
    WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.profile_id = ${profileId}::uuid AND t.removed_at IS NULL
      AND NOT EXISTS (SELECT FROM profile_topic_embedding e WHERE e.tenant_id = ${unit.tenantId}::uuid
                      AND e.model_id = ${modelId}::int AND e.topic_id = t.id)`;
  return new Set(rows.map((row) => row.id));
}

function toSettings(content: Content, stored: StoredSettings): ProfileSettings {
  const interests: TopicSetting[] = [];
  const disinterests: TopicSetting[] = [];
  const identity: IdentityTerm[] = [];
  const open = (hex: string) => content.open(Buffer.from(hex, 'hex'));
  for (const [id, number, list, sealed, level] of stored.topics ?? []) {
    const ref = { id, number };
    if (level === null) identity.push({ term: open(sealed), ref });
    else (list === 'INTEREST' ? interests : disinterests).push({ topic: open(sealed), level, ref });
  }
  const [importance, coactivation, novelty, urgency] = stored.icnu;
  return {
    interests,
    disinterests,
    icnuWeights:
      importance === null || coactivation === null || novelty === null || urgency === null
        ? null
        : { importance, coactivation, novelty, urgency },
    alpha: stored.alpha,
    beta: stored.beta,
    flashbulbThreshold: stored.flashbulbThreshold,
    similarityThreshold: stored.similarityThreshold,
    persona: {
      name: stored.name === null ? null : open(stored.name),
      valenceBias: stored.valenceBias,
      arousalSensitivity: stored.arousalSensitivity,
      selfRelevanceBoost: stored.selfRelevanceBoost,
      identity,
    },
  };
}
