import type { PreviewedChange } from '../db/index.js';
import { previewImportance } from '../facts/index.js';
import {
  DEFAULT_CHANGES,
  MAX_BLOCKED,
  MAX_CHANGES,
  type SalienceProfilePreview as Preview,
  previewOverridePolicy,
  previewSalienceProfile,
} from '../rescoring/index.js';
import { builder, EVERYONE, OVERSEERS } from './builder.js';
import { type GraphQLContext, tenantActorOf } from './context.js';
import { BlockedSetting } from './effective-profile.js';
import { FactKind, OverridePolicy } from './enums.js';
import { ImportanceHintsInput } from './fact-mutations.js';
import { Fact, loadFact } from './facts.js';
import { optionalIdOf } from './global-id.js';
import { ImportanceBreakdown, previewedBreakdown } from './importance-breakdown.js';
import { profileInputOf, SetSalienceProfileInput } from './profile-mutations.js';

const ImportanceChangePreview = builder.objectRef<PreviewedChange>('ImportanceChangePreview').implement({
  description: 'What a change would do to the importance of one fact.',
  fields: (t) => ({
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'The fact; null if it was forgotten meanwhile.',
      resolve: ({ factId }, _args, context) => loadFact(context, factId),
    }),
    before: t.exposeFloat('before', { description: 'Importance as events last told it, 0.05 to 10.' }),
    after: t.exposeFloat('after', { description: 'What would be told, 0.05 to 10.' }),
  }),
});

const SalienceProfilePreview = builder.objectRef<Preview>('SalienceProfilePreview').implement({
  description:
    'What a change would do to the facts that are stored, retired ones left out: what its rescoring would tell. Nothing was written.',
  fields: (t) => ({
    affected: t.exposeInt('affected', {
      description: 'Facts that it reaches: `raised`, `lowered` and `unchanged` together.',
    }),
    raised: t.exposeInt('raised', { description: 'Facts that would become more important.' }),
    lowered: t.exposeInt('lowered', { description: 'Facts that would become less important.' }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Facts whose importance would stay, pinned flashbulbs among them.',
    }),
    changes: t.field({
      type: [ImportanceChangePreview],
      description: 'The largest changes first, as many as asked for.',
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ changes }) => [...changes],
    }),
    blocked: t.field({
      type: [BlockedSetting],
      description: `What profiles set that would have no effect, in whatever agent's and user's memory; at most ${MAX_BLOCKED}.`,
      resolve: ({ blocked }) => [...blocked],
    }),
    warnings: t.stringList({
      description: 'What saving it would warn of.',
      resolve: ({ warnings }) => [...warnings],
    }),
  }),
});

const FIRST = `How many of the largest changes are shown: 0 to ${MAX_CHANGES}; ${DEFAULT_CHANGES} when left out.`;

/** Each change may show its fact, however much of it. */
const costOfChanges = ({ first }: { first?: number | null }) => ({
  field: 100,
  multiplier: Math.min(Math.max(first ?? DEFAULT_CHANGES, 1), MAX_CHANGES),
});

builder.queryField('previewSalienceProfile', (t) =>
  t.field({
    type: SalienceProfilePreview,
    description:
      'A dry run of `setSalienceProfile` over all facts that it reaches: how many would rise, fall and stay, and what would be blocked. Nothing is written.',
    authScopes: { roles: EVERYONE },
    args: {
      input: t.arg({ type: SetSalienceProfileInput, required: true, description: 'What would be saved.' }),
      first: t.arg.int({ description: FIRST }),
    },
    complexity: costOfChanges,
    resolve: (_root, { input, first }, context) =>
      previewSalienceProfile(
        context.services,
        tenantActorOf(context),
        profileInputOf(input),
        first ?? undefined,
      ),
  }),
);

builder.queryField('previewOverridePolicy', (t) =>
  t.field({
    type: SalienceProfilePreview,
    description:
      "A dry run of another override policy over all the tenant's facts: how many would rise, fall and stay, and what agents and users have set that would be blocked. Nothing is written.",
    authScopes: { roles: OVERSEERS },
    args: {
      policy: t.arg({ type: OverridePolicy, required: true, description: 'The policy to try.' }),
      first: t.arg.int({ description: FIRST }),
    },
    complexity: costOfChanges,
    resolve: (_root, { policy, first }, context) =>
      previewOverridePolicy(context.services, tenantActorOf(context), policy, first ?? undefined),
  }),
);

const PreviewImportanceInput = builder.inputType('PreviewImportanceInput', {
  description: 'A statement that might be remembered.',
  fields: (t) => ({
    text: t.string({ required: true, description: 'The statement.' }),
    kind: t.field({
      type: FactKind,
      description: 'FACT when left out. A live fact of the same kind that says the same would be reaffirmed.',
    }),
    agentId: t.id({
      description:
        "The agent it would belong to; an agent is always its own, and a user may name none, since an agent's profile is not a user's to see.",
    }),
    userId: t.id({ description: 'The user it would belong to; a user is always its own.' }),
    hints: t.field({ type: ImportanceHintsInput, description: 'What the caller knows of it.' }),
    entities: t.stringList({ description: 'Names that it mentions.' }),
  }),
});

builder.queryField('previewImportance', (t) =>
  t.field({
    type: ImportanceBreakdown,
    description:
      'What `remember` would score a statement now, step by step, by the same code. Nothing is written. A text that could not be stored is refused with CONTENT_REFUSED.',
    authScopes: { roles: EVERYONE },
    args: {
      input: t.arg({ type: PreviewImportanceInput, required: true, description: 'The statement.' }),
    },
    complexity: 20,
    resolve: async (_root, { input }, context: GraphQLContext) =>
      previewedBreakdown(
        context,
        await previewImportance(context.services, tenantActorOf(context), {
          ...input,
          agentId: optionalIdOf('Agent', input.agentId, ['input', 'agentId']),
          userId: optionalIdOf('User', input.userId, ['input', 'userId']),
        }),
      ),
  }),
);
