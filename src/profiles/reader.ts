import { createHash } from 'node:crypto';
import { type HeldProfile, readTenantProfiles, type ScopeOwner, type Unit } from '../db/index.js';
import { LruCache } from '../embedding/index.js';
import {
  type EffectiveProfile,
  type MergePolicy,
  mergeProfiles,
  type ProfileSettings,
  profileFingerprint,
} from '../salience/index.js';

/** What applies to the facts of one scope (SPEC §5.1). */
export interface ScopeProfile {
  readonly owner: ScopeOwner;
  readonly effective: EffectiveProfile;
  /** 32 hexadecimal digits: facts with the same one were scored alike. */
  readonly fingerprint: string;
  /** The tenant's, by which a fact that is scored with this profile knows when it was. */
  readonly revision: number;
  /** Facts scored at a revision below this one are stale (SPEC §7). */
  readonly staleBelow: number;
}

/** Reads effective profiles. */
export interface ProfileReader {
  /**
   * What applies to each of these owners, in their order: the tenant's profile, then its agent's, then its user's.
   * One statement, in the transaction of the caller: what any process had committed before it is in it. Profiles that
   * this process holds at their present version are not read again. An agent or a user that does not exist counts as
   * one that has set nothing.
   *
   * Not for a transaction that has changed a profile itself: what it rolled back would be held.
   *
   * @param supposing what is to be taken for true instead of what is stored, for dry runs
   */
  effectiveOf(unit: Unit, owners: readonly ScopeOwner[], supposing?: Supposition): Promise<ScopeProfile[]>;
}

/** A change that is looked at before it is made. */
export interface Supposition {
  readonly policy?: MergePolicy;
  /** Whose profile would say what. */
  readonly profile?: { readonly owner: ScopeOwner; readonly settings: ProfileSettings };
}

/** Most profiles held, and most merges; a profile with many topics takes some 10 kB. */
const HELD_PROFILES = 2_000;
const HELD_MERGES = 2_000;

/** What of an embedding provider is part of every fingerprint. */
interface Encoder {
  readonly model: string;
  similarity(cosine: number): number;
}

export function createProfileReader(deps: { readonly embedding: Encoder }): ProfileReader {
  return new Reader({ model: deps.embedding.model, calibration: calibrationOf(deps.embedding) });
}

/** Names a calibration by what it does, so that no version has to be remembered when its knots change. */
export function calibrationOf(embedding: Pick<Encoder, 'similarity'>): string {
  const values = Array.from({ length: 101 }, (_, hundredths) => embedding.similarity(hundredths / 100));
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16);
}

interface Held extends HeldProfile {
  readonly settings: ProfileSettings;
}

interface Present extends Held {
  readonly staleBelow: number;
}

/** A version that no stored profile has. */
const SUPPOSED = 0;

type Merged = Pick<ScopeProfile, 'effective' | 'fingerprint'>;

class Reader implements ProfileReader {
  /** By tenant and owner. */
  readonly #held = new LruCache<string, Held>(HELD_PROFILES);
  /** By tenant, policy, and the profiles with their versions. */
  readonly #merged = new LruCache<string, Merged>(HELD_MERGES);

  constructor(private readonly encoder: { readonly model: string; readonly calibration: string }) {}

  async effectiveOf(
    unit: Unit,
    owners: readonly ScopeOwner[],
    supposing: Supposition = {},
  ): Promise<ScopeProfile[]> {
    // Kept for the length of the call: others may push them out of the cache meanwhile.
    const held = new Map<string, Held>();
    for (const key of new Set(owners.flatMap(keysOf))) {
      const known = this.#held.get(`${unit.tenantId} ${key}`);
      if (known) held.set(key, known);
    }
    const { policy, revision, profiles } = await readTenantProfiles(
      unit,
      owners,
      [...held.values()].map(({ id, version }) => ({ id, version })),
    );
    const present = new Map<string, Present>();
    for (const { id, version, staleBelow, settings: read, ...profile } of profiles) {
      const key = keyOf(profile);
      const settings = read ?? held.get(key)?.settings;
      if (!settings) throw new Error('a salience profile that was neither read nor held');
      if (read) this.#held.set(`${unit.tenantId} ${key}`, { id, version, settings });
      present.set(key, { id, version, staleBelow, settings });
    }
    const supposed = supposing.profile && keyOf(supposing.profile.owner);
    return owners.map((owner) => {
      const layers = keysOf(owner).map((key) => {
        const layer = present.get(key) ?? null;
        if (key !== supposed || !supposing.profile) return layer;
        const { settings } = supposing.profile;
        return { id: '', version: SUPPOSED, staleBelow: layer?.staleBelow ?? 0, settings };
      });
      const merged = this.#merge(unit.tenantId, supposing.policy ?? (policy as MergePolicy), owner, layers);
      const staleBelow = Math.max(...layers.map((layer) => layer?.staleBelow ?? 0));
      return { owner, ...merged, revision, staleBelow };
    });
  }

  /** @param layers the tenant's, the agent's if the owner names one, the user's likewise */
  #merge(
    tenantId: string,
    policy: MergePolicy,
    owner: ScopeOwner,
    layers: readonly (Present | null)[],
  ): Merged {
    const [tenant, ...others] = layers;
    if (!tenant) throw new Error('a tenant without a salience profile');
    const names = layers.map((layer) => (layer ? `${layer.id}:${layer.version}` : '-'));
    // With one name after the tenant's, whose it is tells its id.
    const key = `${tenantId} ${policy} ${names.join(' ')}`;
    // What is supposed is never taken for what is.
    const isReal = layers.every((layer) => layer?.version !== SUPPOSED);
    const known = isReal ? this.#merged.get(key) : undefined;
    if (known) return known;
    const agent = owner.agentId === null ? null : (others[0]?.settings ?? null);
    const user = owner.userId === null ? null : (others.at(-1)?.settings ?? null);
    const effective = mergeProfiles(policy, { tenant: tenant.settings, agent, user });
    const merged = { effective, fingerprint: profileFingerprint(effective, this.encoder) };
    if (isReal) this.#merged.set(key, merged);
    return merged;
  }
}

const TENANT = 'tenant';

/** Whose profiles apply to an owner's facts, ancestors first. */
function keysOf({ agentId, userId }: ScopeOwner): string[] {
  return [TENANT, ...(agentId ? [`agent ${agentId}`] : []), ...(userId ? [`user ${userId}`] : [])];
}

function keyOf({ agentId, userId }: ScopeOwner): string {
  return agentId ? `agent ${agentId}` : userId ? `user ${userId}` : TENANT;
}
