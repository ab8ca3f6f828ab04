import type { Unit } from './unit.js';

/** An agent of a tenant. */
export interface AgentRow {
  readonly id: string;
  readonly externalId: string | null;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A user of a tenant, its display name opened. */
export interface UserRow {
  readonly id: string;
  readonly externalId: string;
  readonly displayName: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a list ordered by id is asked for. */
export interface IdPage {
  readonly limit: number;
  readonly after: string | null;
  readonly before: string | null;
  readonly backward: boolean;
}

/** The `where`, `orderBy` and `take` of a page of rows in the order of their ids; one row more tells whether there is more. */
export function idPage(page: IdPage) {
  return {
    AND: [page.after ? { id: { gt: page.after } } : {}, page.before ? { id: { lt: page.before } } : {}],
    orderBy: { id: page.backward ? ('desc' as const) : ('asc' as const) },
    take: page.limit + 1,
  };
}

export async function insertAgent(unit: Unit, agent: AgentRow): Promise<void> {
  await unit.tx.agent.create({ data: { tenantId: unit.tenantId, ...agent } });
}

export async function insertUser(unit: Unit, user: UserRow): Promise<void> {
  await unit.tx.appUser.create({
    data: { tenantId: unit.tenantId, ...user, displayName: unit.content.sealOptional(user.displayName) },
  });
}

export async function agentsByIds(unit: Unit, ids: readonly string[]): Promise<AgentRow[]> {
  return unit.tx.agent.findMany({ where: { tenantId: unit.tenantId, id: { in: [...ids] } } });
}

export async function usersByIds(unit: Unit, ids: readonly string[]): Promise<UserRow[]> {
  const rows = await unit.tx.appUser.findMany({ where: { tenantId: unit.tenantId, id: { in: [...ids] } } });
  return rows.map((row) => ({ ...row, displayName: unit.content.openOptional(row.displayName) }));
}

/** The agent of this externalId; null where the tenant has none. */
export async function agentByExternalId(unit: Unit, externalId: string): Promise<AgentRow | null> {
  return unit.tx.agent.findFirst({ where: { tenantId: unit.tenantId, externalId } });
}

/** The user of this externalId; null where the tenant has none. */
export async function userByExternalId(unit: Unit, externalId: string): Promise<UserRow | null> {
  const row = await unit.tx.appUser.findFirst({ where: { tenantId: unit.tenantId, externalId } });
  return row && { ...row, displayName: unit.content.openOptional(row.displayName) };
}

/** Agents, or the one with `only` as id. */
export async function listAgents(unit: Unit, page: IdPage, only: string | null): Promise<AgentRow[]> {
  const { AND, ...rest } = idPage(page);
  return unit.tx.agent.findMany({
    where: { tenantId: unit.tenantId, AND: [...AND, only ? { id: only } : {}] },
    ...rest,
  });
}

/** Users, or the one with `only` as id. */
export async function listUsers(unit: Unit, page: IdPage, only: string | null): Promise<UserRow[]> {
  const { AND, ...rest } = idPage(page);
  const rows = await unit.tx.appUser.findMany({
    where: { tenantId: unit.tenantId, AND: [...AND, only ? { id: only } : {}] },
    ...rest,
  });
  return rows.map((row) => ({ ...row, displayName: unit.content.openOptional(row.displayName) }));
}
