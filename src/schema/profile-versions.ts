import {
  type Changer,
  type ProfileVersionRow,
  type TenantVersionRow,
  tenantVersions,
  versionsOfProfiles,
} from '../db/index.js';
import { type ProfileChange as Change, changesOfVersion } from '../profiles/index.js';
import type { ActorKind, OverridePolicy as Policy } from '../tenancy/index.js';
import { builder } from './builder.js';
import { type GraphQLContext, readTenant } from './context.js';
import { OverridePolicy, Role } from './enums.js';
import { type NodeType, toGlobalId } from './global-id.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { connectionOf, numberPageOf, type PageArguments, pageOf } from './page.js';
import { ProfileSettingEnum } from './profile-enums.js';
import { SalienceProfile } from './profiles.js';

const ACTOR_TYPES: Record<ActorKind, NodeType> = {
  PLATFORM_ADMIN: 'ApiKey',
  TENANT_ADMIN: 'ApiKey',
  TENANT_AUDITOR: 'ApiKey',
  AGENT: 'Agent',
  USER: 'User',
};

const ChangeActor = builder.objectRef<Changer>('ChangeActor').implement({
  description: 'Who changed something.',
  fields: (t) => ({
    kind: t.field({ type: Role, description: 'As what.', resolve: ({ kind }) => kind as ActorKind }),
    id: t.id({
      nullable: true,
      description:
        "Global id of the agent, the user, or the administrator's key; null for the platform's bootstrap key.",
      resolve: ({ kind, id }) => (id === null ? null : toGlobalId(ACTOR_TYPES[kind as ActorKind], id)),
    }),
  }),
});

const ProfileChange = builder.objectRef<Change>('ProfileChange').implement({
  description: 'What one change of a profile made different.',
  fields: (t) => ({
    setting: t.field({
      type: ProfileSettingEnum,
      description: 'Which setting.',
      resolve: ({ setting }) => setting,
    }),
    topic: t.exposeString('topic', {
      nullable: true,
      description: 'The topic or identity term; null for other settings. Another spelling is another topic.',
    }),
    before: t.exposeString('before', {
      nullable: true,
      description:
        "The value before, as text: a number, a name, a topic's level, four weights, an identity term. Null where it was unset.",
    }),
    after: t.exposeString('after', {
      nullable: true,
      description: 'The value after, likewise; null where it is unset.',
    }),
  }),
});

const SalienceProfileVersion = builder.objectRef<ProfileVersionRow>('SalienceProfileVersion').implement({
  description: 'A version of a salience profile. It can be brought back with `restoreSalienceProfile`.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Its number, from 1.' }),
    changedAt: t.expose('changedAt', { type: 'DateTime', description: 'When the profile came to be so.' }),
    actor: t.field({
      type: ChangeActor,
      nullable: true,
      description: 'Who made it so; null for version 1, which came with its owner.',
      resolve: ({ actor }) => actor,
    }),
    changes: t.field({
      type: [ProfileChange],
      description: 'What is different from the version before; empty for version 1.',
      resolve: (version) => changesOfVersion(version),
    }),
  }),
});

/** What of a tenant its versions keep. */
const TENANT_SETTINGS = ['NAME', 'OVERRIDE_POLICY'] as const;

interface TenantChangeView {
  readonly setting: (typeof TENANT_SETTINGS)[number];
  readonly before: string;
  readonly after: string;
}

/** What a version of a tenant changed of the one before; nothing for the first. */
function tenantChanges(row: TenantVersionRow): TenantChangeView[] {
  const values = [
    { setting: 'NAME', before: row.previousName, after: row.name },
    { setting: 'OVERRIDE_POLICY', before: row.previousPolicy, after: row.overridePolicy },
  ] as const;
  return values.flatMap(({ setting, before, after }) =>
    before === null || before === after ? [] : [{ setting, before, after }],
  );
}

const TenantVersionSetting = builder.enumType('TenantVersionSetting', {
  description: 'What of a tenant a version keeps.',
  values: {
    NAME: { description: 'Its name for people.' },
    OVERRIDE_POLICY: { description: 'How far agents and users may change what it says.' },
  } satisfies Record<(typeof TENANT_SETTINGS)[number], object>,
});

const TenantChange = builder.objectRef<TenantChangeView>('TenantChange').implement({
  description: 'What one change of a tenant made different.',
  fields: (t) => ({
    setting: t.field({
      type: TenantVersionSetting,
      description: 'What.',
      resolve: ({ setting }) => setting,
    }),
    before: t.exposeString('before', { description: 'The name before, or the policy as its enum has it.' }),
    after: t.exposeString('after', { description: 'The same after.' }),
  }),
});

const TenantVersion = builder.objectRef<TenantVersionRow>('TenantVersion').implement({
  description: 'A version of a tenant. Its override policy can be brought back with `restoreOverridePolicy`.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Its number, from 1.' }),
    name: t.exposeString('name', { description: "The tenant's name at that version." }),
    overridePolicy: t.field({
      type: OverridePolicy,
      description: 'The override policy at that version.',
      resolve: ({ overridePolicy }) => overridePolicy as Policy,
    }),
    changes: t.field({
      type: [TenantChange],
      description:
        'What is different from the version before; empty for version 1, and where budgets or other settings changed.',
      resolve: (version) => tenantChanges(version),
    }),
    changedAt: t.expose('changedAt', { type: 'DateTime', description: 'When the tenant came to be so.' }),
    actor: t.field({
      type: ChangeActor,
      nullable: true,
      description: 'Who made it so.',
      resolve: ({ actor }) => actor,
    }),
  }),
});

builder.objectFields(SalienceProfile, (t) => ({
  agent: t.field({
    type: Agent,
    nullable: true,
    description: 'The agent whose it is; null for the profile of a tenant or a user.',
    resolve: (profile, _args, context) => (profile.agentId ? loadAgent(context, profile.agentId) : null),
  }),
  user: t.field({
    type: User,
    nullable: true,
    description: 'The user whose it is; null for the profile of a tenant or an agent.',
    resolve: (profile, _args, context) => (profile.userId ? loadUser(context, profile.userId) : null),
  }),
  versions: t.connection({
    type: SalienceProfileVersion,
    description: 'What it said since it came to be, newest first: who changed what, and when.',
    resolve: async (profile, args, context) => {
      const page = pageOf(args, 1);
      const { limit, after, before, backward } = numberPageOf(page);
      const rows = await context.batches.byId<ProfileVersionRow[]>(
        `profile-versions:${JSON.stringify([limit, after, before, backward])}`,
        (ids) =>
          readTenant(context, (unit) => versionsOfProfiles(unit, ids, { limit, after, before, backward })),
        profile.id,
      );
      return connectionOf(page, rows ?? [], (row) => [row.version]);
    },
  }),
}));

export { TenantVersion };

/** A page of the versions of the caller's tenant. */
export async function tenantVersionsPage(context: GraphQLContext, args: PageArguments) {
  const page = pageOf(args, 1);
  const rows = await readTenant(context, (unit) => tenantVersions(unit, numberPageOf(page)));
  return connectionOf(page, rows, (row) => [row.version]);
}
