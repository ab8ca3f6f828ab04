import {
  type AgentRow,
  type ApiKeyRow,
  agentByExternalId,
  insertAgent,
  insertApiKey,
  insertEmptyProfile,
  insertUser,
  inTenant,
  revokeApiKey as revokeApiKeyRow,
  type UserRow,
  userByExternalId,
  violates,
} from '../db/index.js';
import { AlreadyExistsError, BadInputError, ConflictError, NotFoundError } from '../errors.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import type { ActorKind, TenantActor } from './actor.js';
import { mintToken } from './api-key-token.js';
import { audit } from './audit.js';
import { checkName, checkOptionalName } from './input-checks.js';
import { assertQuota } from './quotas.js';

type Deps = Pick<Services, 'db' | 'now'>;

/**
 * Creates an agent with its empty salience profile.
 * @throws AlreadyExistsError, with its id, when the tenant has an agent of this externalId
 */
export async function createAgent(
  deps: Deps,
  actor: TenantActor,
  input: { name: string; externalId?: string | null },
): Promise<AgentRow> {
  const now = deps.now();
  const agent = {
    id: newId(),
    name: checkName(input.name, 'name'),
    externalId: checkOptionalName(input.externalId, 'externalId'),
    createdAt: now,
    updatedAt: now,
  };
  await unlessTaken(
    'agent_external_id_key',
    () =>
      inTenant(deps.db, actor.tenant, async (unit) => {
        await insertAgent(unit, agent);
        await assertQuota(unit, actor.tenant, 'agents', 1);
        await insertEmptyProfile(unit, newId(), { agentId: agent.id, userId: null }, now);
        await audit(unit, actor, 'createAgent', [agent.id], now);
      }),
    async () => {
      const externalId = agent.externalId ?? '';
      const found = await inTenant(deps.db, actor.tenant, (unit) => agentByExternalId(unit, externalId));
      return found && { type: 'Agent', id: found.id };
    },
  );
  return agent;
}

/**
 * Creates a user with its empty salience profile.
 * @throws AlreadyExistsError, with its id, when the tenant has a user of this externalId
 */
export async function createUser(
  deps: Deps,
  actor: TenantActor,
  input: { externalId: string; displayName?: string | null },
): Promise<UserRow> {
  const now = deps.now();
  const user = {
    id: newId(),
    externalId: checkName(input.externalId, 'externalId'),
    displayName: checkOptionalName(input.displayName, 'displayName'),
    createdAt: now,
    updatedAt: now,
  };
  await unlessTaken(
    'app_user_external_id_key',
    () =>
      inTenant(deps.db, actor.tenant, async (unit) => {
        await insertUser(unit, user);
        await assertQuota(unit, actor.tenant, 'users', 1);
        await insertEmptyProfile(unit, newId(), { agentId: null, userId: user.id }, now);
        await audit(unit, actor, 'createUser', [user.id], now);
      }),
    async () => {
      const found = await inTenant(deps.db, actor.tenant, (unit) => userByExternalId(unit, user.externalId));
      return found && { type: 'User', id: found.id };
    },
  );
  return user;
}

export interface CreateApiKeyInput {
  readonly role: Exclude<ActorKind, 'PLATFORM_ADMIN'>;
  readonly agentId?: string | null;
  readonly userId?: string | null;
  readonly name: string;
  readonly expiresAt?: Date | null;
}

/**
 * Creates a key. The secret is in the answer and nowhere else.
 * @throws BadInputError when agentId or userId does not go with the role, or expiresAt is past
 * @throws NotFoundError when the agent or user is not of this tenant
 */
export async function createApiKey(
  deps: Deps,
  actor: TenantActor,
  input: CreateApiKeyInput,
): Promise<{ secret: string; apiKey: ApiKeyRow }> {
  const now = deps.now();
  if ((input.role === 'AGENT') !== (input.agentId != null))
    throw new BadInputError('agentId goes with the role AGENT, and only with it', ['agentId']);
  if ((input.role === 'USER') !== (input.userId != null))
    throw new BadInputError('userId goes with the role USER, and only with it', ['userId']);
  if (input.expiresAt && input.expiresAt <= now)
    throw new BadInputError('expiresAt must be in the future', ['expiresAt']);
  const apiKey: ApiKeyRow = {
    id: newId(),
    role: input.role,
    agentId: input.agentId ?? null,
    userId: input.userId ?? null,
    name: checkName(input.name, 'name'),
    expiresAt: input.expiresAt ?? null,
    revokedAt: null,
    lastUsedAt: null,
    createdAt: now,
  };
  const { token, secretHash } = mintToken(apiKey.id);
  try {
    await inTenant(deps.db, actor.tenant, async (unit) => {
      await insertApiKey(unit, apiKey, secretHash);
      await audit(unit, actor, 'createApiKey', [apiKey.id], now);
    });
  } catch (error) {
    if (violates(error, 'api_key_tenant_id_agent_id_fkey')) throw new NotFoundError('Agent', ['agentId']);
    if (violates(error, 'api_key_tenant_id_user_id_fkey')) throw new NotFoundError('User', ['userId']);
    throw error;
  }
  return { secret: token, apiKey };
}

/** Revokes a key at once; revoking again changes nothing. @throws NotFoundError */
export async function revokeApiKey(deps: Deps, actor: TenantActor, id: string): Promise<ApiKeyRow> {
  return inTenant(deps.db, actor.tenant, async (unit) => {
    const now = deps.now();
    const key = await revokeApiKeyRow(unit, id, now);
    if (!key) throw new NotFoundError('ApiKey', ['id']);
    await audit(unit, actor, 'revokeApiKey', [id], now);
    return key;
  });
}

/** @param find what has the externalId; who creates agents and users may see all of them */
async function unlessTaken(
  constraint: string,
  work: () => Promise<void>,
  find: () => Promise<AlreadyExistsError['existing'] | null>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!violates(error, constraint)) throw error;
    const message = 'externalId is taken in this tenant';
    const existing = await find();
    if (existing) throw new AlreadyExistsError(message, existing, ['externalId']);
    throw new ConflictError(message, ['externalId']);
  }
}
