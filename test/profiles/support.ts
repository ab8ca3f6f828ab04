import type { Answer, TestApp, TestTenant } from '../support/app.js';

/** Whose profile is meant. */
export type Owner = { tenant: true } | { agentId: string } | { userId: string };

export interface ProfileAnswer {
  readonly salienceProfile: ProfileFields | null;
  readonly rescoreJob: { id: string; status: string } | null;
  readonly warnings: string[] | null;
  readonly errors: { code: string; message: string; path: string[]; category?: string }[];
}

export interface ProfileFields {
  readonly id: string;
  readonly version: number;
  readonly interests: { topic: string; level: string }[];
  readonly disinterests: { topic: string; level: string }[];
  readonly icnuWeights: Record<string, number> | null;
  readonly alpha: number | null;
  readonly beta: number | null;
  readonly flashbulbThreshold: number | null;
  readonly similarityThreshold: number | null;
  readonly persona: {
    name: string | null;
    valenceBias: number | null;
    arousalSensitivity: number | null;
    selfRelevanceBoost: number | null;
    identity: string[];
  };
}

export const PROFILE = `
  id version interests { topic level } disinterests { topic level }
  icnuWeights { importance coactivation novelty urgency } alpha beta flashbulbThreshold similarityThreshold
  persona { name valenceBias arousalSensitivity selfRelevanceBoost identity }`;

const PAYLOAD = `salienceProfile { ${PROFILE} } rescoreJob { id status } warnings
  errors { code message path ... on ContentRefused { category } }`;

/** The document that consoles send (contract/salience.graphql). */
export const EFFECTIVE = `query ($agentId: ID, $userId: ID) {
  effectiveSalienceProfile(agentId: $agentId, userId: $userId) {
    policy fingerprint
    interests { topic level origin similarityThreshold }
    disinterests { topic level origin similarityThreshold }
    icnuWeights { origin value { importance coactivation novelty urgency } }
    alpha { origin value } beta { origin value }
    flashbulbThreshold { origin value } similarityThreshold { origin value }
    persona { name { origin value } valenceBias { origin value } arousalSensitivity { origin value } selfRelevanceBoost { origin value } identity { origin term } }
    blocked { origin setting topic level reason }
  }
}`;

/** What one caller does with salience profiles, through GraphQL alone. */
export class ProfileCaller {
  constructor(
    readonly salient: TestApp,
    readonly key: string,
  ) {}

  send<T = Record<string, unknown>>(
    query: string,
    variables: Record<string, unknown> = {},
  ): Promise<Answer<T>> {
    return this.salient.send<T>({ key: this.key, query, variables });
  }

  /** @throws on top-level errors, with their codes */
  async query<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const { data, errors } = await this.send<T>(query, variables);
    if (errors) {
      const told = errors.map((error) => `${error.extensions?.['code']}: ${error.message}`).join('; ');
      throw new Error(told.includes('INTERNAL') ? `${told}\n${this.salient.logged().slice(-2_000)}` : told);
    }
    return data as T;
  }

  async #mutate(name: string, input: Record<string, unknown>): Promise<ProfileAnswer> {
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${PAYLOAD} } }`;
    const data = await this.query<Record<string, ProfileAnswer>>(query, { input });
    return data[name] as ProfileAnswer;
  }

  set(owner: Owner, fields: Record<string, unknown>): Promise<ProfileAnswer> {
    return this.#mutate('setSalienceProfile', { owner, ...fields });
  }

  reset(owner: Owner, fields: Record<string, unknown> = {}): Promise<ProfileAnswer> {
    return this.#mutate('resetSalienceProfile', { owner, ...fields });
  }

  restore(owner: Owner, version: number, fields: Record<string, unknown> = {}): Promise<ProfileAnswer> {
    return this.#mutate('restoreSalienceProfile', { owner, version, ...fields });
  }

  /** `set` that must succeed. */
  async saved(owner: Owner, fields: Record<string, unknown>): Promise<ProfileFields> {
    const answer = await this.set(owner, fields);
    if (answer.errors.length > 0 || !answer.salienceProfile)
      throw new Error(`not saved: ${JSON.stringify(answer.errors)}`);
    return answer.salienceProfile;
  }

  async effective(asked: { agentId?: string; userId?: string } = {}): Promise<Record<string, unknown>> {
    const data = await this.query<{ effectiveSalienceProfile: Record<string, unknown> }>(EFFECTIVE, asked);
    return data.effectiveSalienceProfile;
  }
}

/** Callers by role. */
export function profileCallers(salient: TestApp, { keys }: TestTenant) {
  return {
    admin: new ProfileCaller(salient, keys.TENANT_ADMIN),
    auditor: new ProfileCaller(salient, keys.TENANT_AUDITOR),
    agent: new ProfileCaller(salient, keys.AGENT),
    user: new ProfileCaller(salient, keys.USER),
  };
}

/** Changes the tenant's policy. */
export async function setPolicy(
  salient: TestApp,
  tenant: TestTenant,
  overridePolicy: string,
  rescore?: string,
): Promise<{ tenant: { version: number }; rescoreJob: { id: string } | null }> {
  const { updateTenant } = await salient.ask<{
    updateTenant: { tenant: { version: number }; rescoreJob: { id: string } | null };
  }>({
    key: tenant.keys.TENANT_ADMIN,
    query: `mutation ($input: UpdateTenantInput!) {
      updateTenant(input: $input) { tenant { version } rescoreJob { id } errors { code message } } }`,
    variables: { input: { id: tenant.id, overridePolicy, ...(rescore ? { rescore } : {}) } },
  });
  return updateTenant;
}

/** A global id's UUID. */
export function uuidOf(globalId: string): string {
  return Buffer.from(globalId, 'base64').toString().split(':')[1] ?? '';
}
