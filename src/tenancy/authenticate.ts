import {
  findKeyWithTenant,
  findTenant,
  insertAudit,
  inTenant,
  type KeyWithTenant,
  touchApiKey,
} from '../db/index.js';
import { BadInputError, ForbiddenError, NotFoundError, UnauthenticatedError } from '../errors.js';
import type { Services } from '../services.js';
import type { Actor, ActorKind } from './actor.js';
import { hashSecret, parseToken, secretMatches } from './api-key-token.js';
import { toTenantContext } from './tenant-context.js';

/** What a request shows of itself. */
export interface Credentials {
  /** The Authorization header: `Bearer <key>`. */
  readonly authorization: string | null;
  /** The header X-Salient-Tenant, for platform administrators only. */
  readonly tenantSlug: string | null;
  readonly requestId: string;
}

/** A key's `lastUsedAt` is exact to this many milliseconds, which spares a write per request. */
const LAST_USED_PRECISION_MS = 60_000;

type Deps = Pick<Services, 'db' | 'config' | 'now'>;

/**
 * Who is calling, as of now: nothing is cached, so a revoked key ends at its next use.
 * @returns null without credentials
 * @throws UnauthenticatedError for an unknown, expired or revoked key; the answer does not tell which
 * @throws ForbiddenError when anyone but a platform administrator names a tenant by header
 */
export async function authenticate(deps: Deps, credentials: Credentials): Promise<Actor | null> {
  if (credentials.authorization === null) return null;
  const bearer = /^Bearer +(\S+)$/i.exec(credentials.authorization.trim())?.[1];
  if (!bearer) throw new UnauthenticatedError();
  if (deps.config.adminKey && secretsEqual(bearer, deps.config.adminKey))
    return platformAdmin(deps, credentials);
  const token = parseToken(bearer);
  if (!token) throw new UnauthenticatedError();
  const key = await deps.db.withPlatform((tx) => findKeyWithTenant(tx, token.id));
  if (!key || !secretMatches(token.secret, key.secretHash) || !isInForce(key, deps.now()))
    throw new UnauthenticatedError();
  if (credentials.tenantSlug !== null) {
    throw new ForbiddenError("X-Salient-Tenant is for platform administrators; this key's tenant is its own");
  }
  await noteUse(deps, key);
  return {
    kind: key.role as ActorKind,
    id: key.agentId ?? key.userId ?? key.id,
    keyId: key.id,
    tenant: toTenantContext(key.tenant),
    agentId: key.agentId,
    userId: key.userId,
  };
}

async function platformAdmin(deps: Deps, { tenantSlug, requestId }: Credentials): Promise<Actor> {
  const actor: Actor = {
    kind: 'PLATFORM_ADMIN',
    id: null,
    keyId: null,
    tenant: null,
    agentId: null,
    userId: null,
  };
  if (tenantSlug === null) return actor;
  if (tenantSlug.length > 100)
    throw new BadInputError('X-Salient-Tenant must be a slug of at most 100 characters');
  const row = await deps.db.withPlatform((tx) => findTenant(tx, { slug: tenantSlug }));
  if (!row) throw new NotFoundError('Tenant');
  // The platform looks into a tenant: the tenant can see that it did.
  await inTenant(deps.db, row, (unit) =>
    insertAudit(
      unit,
      {
        actorKind: actor.kind,
        actorId: null,
        keyId: null,
        operation: 'platformAccess',
        targetIds: [row.id],
        requestId,
      },
      deps.now(),
    ),
  );
  return { ...actor, tenant: toTenantContext(row) };
}

function isInForce(key: KeyWithTenant, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

async function noteUse(deps: Deps, key: KeyWithTenant): Promise<void> {
  const now = deps.now();
  if (key.lastUsedAt && now.getTime() - key.lastUsedAt.getTime() < LAST_USED_PRECISION_MS) return;
  await inTenant(deps.db, key.tenant, (unit) => touchApiKey(unit, key.id, now));
}

function secretsEqual(given: string, expected: string): boolean {
  return secretMatches(given, hashSecret(expected));
}
