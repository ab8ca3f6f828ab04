import { type IdPage, idPage } from './members.js';
import type { Unit } from './unit.js';

/** An API key without its secret. */
export interface ApiKeyRow {
  readonly id: string;
  readonly role: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly name: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

const COLUMNS = {
  id: true,
  role: true,
  agentId: true,
  userId: true,
  name: true,
  expiresAt: true,
  revokedAt: true,
  lastUsedAt: true,
  createdAt: true,
} as const;

export async function insertApiKey(
  unit: Unit,
  key: ApiKeyRow,
  secretHash: Uint8Array<ArrayBuffer>,
): Promise<void> {
  await unit.tx.apiKey.create({ data: { tenantId: unit.tenantId, ...key, secretHash } });
}

export async function apiKeysByIds(unit: Unit, ids: readonly string[]): Promise<ApiKeyRow[]> {
  return unit.tx.apiKey.findMany({
    where: { tenantId: unit.tenantId, id: { in: [...ids] } },
    select: COLUMNS,
  });
}

export async function listApiKeys(unit: Unit, page: IdPage): Promise<ApiKeyRow[]> {
  const { AND, ...rest } = idPage(page);
  return unit.tx.apiKey.findMany({ where: { tenantId: unit.tenantId, AND }, ...rest, select: COLUMNS });
}

/** Revokes a key; one that is revoked already keeps its time. Returns the key, or null when there is none. */
export async function revokeApiKey(unit: Unit, id: string, at: Date): Promise<ApiKeyRow | null> {
  await unit.tx.apiKey.updateMany({
    where: { tenantId: unit.tenantId, id, revokedAt: null },
    data: { revokedAt: at },
  });
  return unit.tx.apiKey.findUnique({
    where: { tenantId_id: { tenantId: unit.tenantId, id } },
    select: COLUMNS,
  });
}

/** Notes that a key was used. */
export async function touchApiKey(unit: Unit, id: string, at: Date): Promise<void> {
  await unit.tx.apiKey.updateMany({ where: { tenantId: unit.tenantId, id }, data: { lastUsedAt: at } });
}
