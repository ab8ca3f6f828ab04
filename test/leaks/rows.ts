import type pg from 'pg';
import { ownedBy, type Table, tenantColumn } from './catalogue.js';
import type { Markers, Owner } from './markers.js';
import type { LeakTenant } from './owners.js';

/** A row that has an id of its own. */
export interface OwnedRow {
  readonly table: string;
  /** The type that `node` finds it as; null: none. */
  readonly nodeType: string | null;
  readonly uuid: string;
  readonly owner: Owner;
}

/** Tables whose node types have other names. */
const NODE_TYPES: Readonly<Record<string, string>> = {
  app_user: 'User',
  extraction_run: 'Extraction',
  recall_receipt: 'KeptRecallReceipt',
};

/** The node types of a table whose rows are of several, by what their column `kind` says; a row of another is none. */
const NODE_TYPES_BY_KIND: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  job: { RESCORE: 'RescoreJob', CONSOLIDATION: 'ConsolidationReport' },
};

const OWNER_KINDS: Readonly<Record<string, Owner['kind']>> = {
  tenant: 'TENANT',
  agent: 'AGENT',
  app_user: 'USER',
  api_key: 'KEY',
  recall_receipt: 'OWN',
};

/** Finds every row with a UUID of its own in these tenants, and notes whose it is. */
export async function noteRows(
  client: pg.Client,
  tables: readonly Table[],
  tenants: readonly LeakTenant[],
  markers: Markers,
  nodeTypes: readonly string[],
): Promise<OwnedRow[]> {
  const identified = tables.filter((table) =>
    table.columns.some((column) => column.name === 'id' && column.type === 'uuid'),
  );
  const nodeTypesOf = (table: Table): string[] => {
    const byKind = NODE_TYPES_BY_KIND[table.name];
    if (byKind) return Object.values(byKind);
    const camel = table.name.replace(/(^|_)(\w)/g, (_whole, _gap, letter: string) => letter.toUpperCase());
    const name = [NODE_TYPES[table.name], camel].find((one) => one && nodeTypes.includes(one));
    return name ? [name] : [];
  };
  const missing = nodeTypes.filter((type) => !identified.some((table) => nodeTypesOf(table).includes(type)));
  if (missing.length > 0) {
    throw new Error(
      `No table holds the rows of ${missing.join(', ')}: add their tables to NODE_TYPES in test/leaks/rows.ts`,
    );
  }
  const rows: OwnedRow[] = [];
  for (const tenant of tenants) {
    const owners = [null, ...Object.keys(tenant.agents)].flatMap((agent) =>
      [null, ...Object.keys(tenant.users)].map((user) => ({ agent, user })),
    );
    for (const table of identified) {
      const kind = OWNER_KINDS[table.name];
      for (const { agent, user } of owners) {
        const condition = conditionOf(tables, table, tenant, agent, user);
        if (condition === null) continue;
        const byKind = NODE_TYPES_BY_KIND[table.name];
        const { rows: found } = await client.query<{ id: string; kind: string | null }>(
          `SELECT id, ${byKind ? 'kind' : 'NULL::text AS kind'} FROM "${table.name}" WHERE ${tenantColumn(table)} = $1 AND ${condition}`,
          [tenant.id],
        );
        for (const { id, kind: rowKind } of found) {
          const owner: Owner = { tenant: tenant.local, kind: kind ?? 'MEMORY', agent, user };
          const nodeType = byKind ? (byKind[rowKind ?? ''] ?? null) : (nodeTypesOf(table)[0] ?? null);
          markers.id(id, owner);
          rows.push({ table: table.name, nodeType, uuid: id, owner });
        }
      }
    }
  }
  return rows;
}

/** Which rows of a table are of this agent and user; null: they are noted with other owners. */
function conditionOf(
  tables: readonly Table[],
  table: Table,
  tenant: LeakTenant,
  agent: string | null,
  user: string | null,
): string | null {
  const literal = (uuid: string | undefined) => (uuid ? `'${uuid}'` : 'NULL');
  if (table.name === 'agent') return agent && !user ? `id = ${literal(tenant.agents[agent])}` : null;
  if (table.name === 'app_user') return user && !agent ? `id = ${literal(tenant.users[user])}` : null;
  if (table.name === 'recall_receipt') {
    if (agent && user) return null;
    const asker = agent ? tenant.agents[agent] : user ? tenant.users[user] : null;
    return asker ? `actor_id = ${literal(asker)}` : `actor_kind NOT IN ('AGENT', 'USER')`;
  }
  const owner = `agent_id IS NOT DISTINCT FROM ${literal(agent ? tenant.agents[agent] : undefined)}
    AND user_id IS NOT DISTINCT FROM ${literal(user ? tenant.users[user] : undefined)}`;
  return ownedBy(tables, table, owner) ?? (agent || user ? null : 'true');
}
