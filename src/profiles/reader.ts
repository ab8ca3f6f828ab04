import { createHash } from 'node:crypto';
import { type HeldProfile, readTenantProfiles, type ScopeOwner, type Unit } from '../db/index.js';
import { LruCache } from '../embedding/index.js';
import {
  ALGORITHM_VERSION,
  type EffectiveProfile,
  type FingerprintParts,
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

/** Merges before others get their turn: each takes up to 2 ms of the event loop. */
const MERGES_AT_A_TIME = 20;

/** What of an embedding provider is part of every fingerprint. */
interface Encoder {
  readonly model: string;
  similarity(cosine: number): number;
}

/** @param algorithm version of the formulas that facts are scored by */
export function createProfileReader(deps: {
  readonly embedding: Encoder;
  readonly algorithm?: number;
}): ProfileReader {
  const { embedding, algorithm = ALGORITHM_VERSION } = deps;
  return new Reader({ model: embedding.model, calibration: calibrationOf(embedding), algorithm });
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

/** What applies to an owner, without profiles that say nothing. */
interface Layers {
  readonly tenant: Present;
  readonly agent: Present | null;
  readonly user: Present | null;
}

type Merged = Pick<ScopeProfile, 'effective' | 'fingerprint'>;

class Reader implements ProfileReader {
  /** By tenant and owner. */
  readonly #held = new LruCache<string, Held>(HELD_PROFILES);
  /** By tenant, policy, and the profiles that set anything, with their versions. */
  readonly #merged = new LruCache<string, Merged>(HELD_MERGES);

  constructor(private readonly encoder: FingerprintParts) {}

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
    /** Merges with what is supposed: never taken for what is, so they are kept for this call alone. */
    const merges = new Map<string, Merged>();
    let merged = 0;
    const found: ScopeProfile[] = [];
    for (const owner of owners) {
      const layers = keysOf(owner).map((key) => {
        const layer = present.get(key) ?? null;
        if (key !== supposed || !supposing.profile) return layer;
        const { settings } = supposing.profile;
        return { id: 'supposed', version: SUPPOSED, staleBelow: layer?.staleBelow ?? 0, settings };
      });
      const staleBelow = Math.max(...layers.map((layer) => layer?.staleBelow ?? 0));
      const [tenant, ...others] = layers;
      if (!tenant) throw new Error('a tenant without a salience profile');
      const hierarchy = {
        tenant,
        agent: owner.agentId === null ? null : spoken(others[0]),
        user: owner.userId === null ? null : spoken(others.at(-1)),
      };
      const { agent, user } = hierarchy;
      // An id tells whose profile it is, so that who says nothing need not be named.
      const names = [tenant, agent, user].flatMap((layer) => (layer ? `${layer.id}:${layer.version}` : []));
      const rules = supposing.policy ?? (policy as MergePolicy);
      const key = `${unit.tenantId} ${rules} ${names.join(' ')}`;
      const isReal = [tenant, agent, user].every((layer) => layer?.version !== SUPPOSED);
      let merge = isReal ? this.#merged.get(key) : merges.get(key);
      if (!merge) {
        merge = this.#merge(rules, hierarchy);
        if (isReal) this.#merged.set(key, merge);
        else merges.set(key, merge);
        merged++;
        if (merged % MERGES_AT_A_TIME === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      found.push({ owner, ...merge, revision, staleBelow });
    }
    return found;
  }

  #merge(policy: MergePolicy, layers: Layers): Merged {
    const { tenant, agent, user } = layers;
    const effective = mergeProfiles(policy, {
      tenant: tenant.settings,
      agent: agent?.settings ?? null,
      user: user?.settings ?? null,
    });
    return { effective, fingerprint: profileFingerprint(effective, this.encoder) };
  }
}

/** A profile that sets anything; one that sets nothing has the effect of none. */
function spoken(layer: Present | null | undefined): Present | null {
  return layer && !saysNothing(layer.settings) ? layer : null;
}

function saysNothing({ persona, ...settings }: ProfileSettings): boolean {
  const values: unknown[] = [...Object.values(settings), ...Object.values(persona)];
  return values.every((value) => value === null || (Array.isArray(value) && value.length === 0));
}

const TENANT = 'tenant';

/** Whose profiles apply to an owner's facts, ancestors first. */
function keysOf({ agentId, userId }: ScopeOwner): string[] {
  return [TENANT, ...(agentId ? [`agent ${agentId}`] : []), ...(userId ? [`user ${userId}`] : [])];
}

function keyOf({ agentId, userId }: ScopeOwner): string {
  return agentId ? `agent ${agentId}` : userId ? `user ${userId}` : TENANT;
}
