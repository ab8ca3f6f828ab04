import { type ApiClient, RefusedError } from './api-client.js';
import { CliError } from './cli-error.js';

/** Into whose memory messages go. */
export interface ImportTarget {
  readonly client: ApiClient;
  /** Global ids; null where the sessions are of no agent, or of no user. */
  readonly agentId: string | null;
  readonly userId: string | null;
}

export interface TargetNames {
  /** Slug; needed by a platform administrator. It is made where there is none. */
  readonly tenant: string | null;
  /** External ids. They are made where the tenant has none, if the caller may. */
  readonly agent: string | null;
  readonly user: string | null;
}

interface Viewer {
  readonly role: string;
  readonly tenant: { slug: string } | null;
  readonly agent: { id: string; externalId: string | null } | null;
  readonly user: { id: string; externalId: string } | null;
}

const PAGE = 100;

/**
 * Finds or makes the tenant, the agent and the user that are named; an agent or a user imports into its own memory.
 * @throws CliError where the key's own tenant, agent or user is another one
 */
export async function openTarget(caller: ApiClient, names: TargetNames): Promise<ImportTarget> {
  const { client, viewer } = await inTenant(caller, names.tenant);
  return {
    client,
    agentId:
      ownId('agent', viewer.agent, names.agent) ??
      (names.agent === null ? null : await memberId(client, 'agents', names.agent)),
    userId:
      ownId('user', viewer.user, names.user) ??
      (names.user === null ? null : await memberId(client, 'users', names.user)),
  };
}

async function inTenant(
  caller: ApiClient,
  slug: string | null,
): Promise<{ client: ApiClient; viewer: Viewer }> {
  const { viewer } = await caller.ask<{ viewer: Viewer }>(
    `{ viewer { role tenant { slug } agent { id externalId } user { id externalId } } }`,
  );
  if (viewer.role !== 'PLATFORM_ADMIN') {
    if (slug !== null && viewer.tenant?.slug !== slug)
      throw new CliError(`--tenant: the key is one of the tenant ${viewer.tenant?.slug}`);
    return { client: caller, viewer };
  }
  if (slug === null) throw new CliError('--tenant <slug> is needed with the key of a platform administrator');
  const { tenant } = await caller.ask<{ tenant: { id: string } | null }>(
    `query ($slug: String!) { tenant(slug: $slug) { id } }`,
    { slug },
  );
  if (!tenant)
    await unlessThere(() =>
      caller.ask(
        `mutation ($input: CreateTenantInput!) { createTenant(input: $input) { tenant { id } errors { code message path } } }`,
        { input: { slug, name: slug } },
      ),
    );
  return { client: caller.in(slug), viewer };
}

/** The id of the key's own agent or user. @throws CliError when another one is named */
function ownId(
  option: string,
  own: { id: string; externalId: string | null } | null,
  named: string | null,
): string | null {
  if (own && named !== null && own.externalId !== named)
    throw new CliError(`--${option}: the key is that of another ${option}`);
  return own?.id ?? null;
}

async function memberId(client: ApiClient, list: 'agents' | 'users', externalId: string): Promise<string> {
  const found = await findMember(client, list, externalId);
  if (found) return found;
  const [name, input] =
    list === 'agents'
      ? ['createAgent', { externalId, name: externalId }]
      : ['createUser', { externalId, displayName: externalId }];
  const type = `C${name.slice(1)}Input`;
  const node = list === 'agents' ? 'agent' : 'user';
  const made = await unlessThere(() =>
    client.ask<Record<string, Record<string, { id: string }>>>(
      `mutation ($input: ${type}!) { ${name}(input: $input) { ${node} { id } errors { code message path } } }`,
      { input },
    ),
  );
  const id = made?.[name]?.[node]?.id ?? (await findMember(client, list, externalId));
  if (!id) throw new CliError(`${node} ${externalId} is there, and is not to be seen with this key`);
  return id;
}

async function findMember(
  client: ApiClient,
  list: 'agents' | 'users',
  externalId: string,
): Promise<string | null> {
  for (let after: string | null = null; ; ) {
    const data: {
      tenant: Record<
        string,
        {
          edges: { node: { id: string; externalId: string | null } }[];
          pageInfo: { hasNextPage: boolean; endCursor: string | null };
        }
      >;
    } = await client.ask(
      `query ($after: String) { tenant { ${list}(first: ${PAGE}, after: $after) {
         edges { node { id externalId } } pageInfo { hasNextPage endCursor } } } }`,
      { after },
    );
    const page = data.tenant[list];
    const found = page?.edges.find(({ node }) => node.externalId === externalId);
    if (found) return found.node.id;
    if (!page?.pageInfo.hasNextPage) return null;
    after = page.pageInfo.endCursor;
  }
}

/** Undefined where somebody else made it meanwhile. */
async function unlessThere<T>(make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof RefusedError && error.reason === 'CONFLICT') return undefined;
    throw error;
  }
}
