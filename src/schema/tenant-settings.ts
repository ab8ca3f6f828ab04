import { DEFAULT_KEPT_DAYS } from '../events/index.js';
import type { DecayVariant } from '../salience/index.js';
import { DEFAULT_RECEIPT_DAYS, receiptDays, type TenantContext } from '../tenancy/index.js';
import { builder } from './builder.js';

export const MemoryContextSettings = builder
  .objectRef<NonNullable<TenantContext['settings']['memoryContext']>>('MemoryContextSettings')
  .implement({
    description: 'What `memoryContext` gives.',
    fields: (t) => ({
      userProfile: t.boolean({
        description: 'Whether it gives the user profile.',
        resolve: (settings) => settings.userProfile ?? true,
      }),
      projectContext: t.boolean({
        description: 'Whether it gives the project context.',
        resolve: (settings) => settings.projectContext ?? true,
      }),
    }),
  });

export const GateSettings = builder
  .objectRef<NonNullable<TenantContext['settings']['gate']>>('GateSettings')
  .implement({
    description: 'What the gate takes for worth an extraction, beyond its own words.',
    fields: (t) => ({
      extraSignals: t.stringList({
        description: 'Phrases that make a turn worth it.',
        resolve: (settings) => settings.extraSignals ?? [],
      }),
      extraTrivialWords: t.stringList({
        description: 'Words that say nothing.',
        resolve: (settings) => settings.extraTrivialWords ?? [],
      }),
    }),
  });

const FadingSpeed = builder.enumType('FadingSpeed', {
  description: 'How fast facts fade that are neither recalled nor said again.',
  values: {
    SLOW: { description: '(1 + h)^(−0.08 / R), h in hours; never below 15% of what was encoded.' },
    STANDARD: { description: '(1 + h)^(−0.15 / R); never below 10%. The default.' },
    FAST: { description: '(1 + h)^(−0.30 / R); never below 5%.' },
  } satisfies Record<DecayVariant, object>,
});

export const RetentionSettings = builder
  .objectRef<NonNullable<TenantContext['settings']['retention']>>('RetentionSettings')
  .implement({
    description: 'How facts fade, and how long events and receipts are kept.',
    fields: (t) => ({
      decay: t.field({
        type: FadingSpeed,
        description: 'How fast.',
        resolve: (settings) => settings.decay ?? 'STANDARD',
      }),
      fadeBelow: t.float({
        nullable: true,
        description:
          'Importance below which consolidation retires facts that were never recalled and are not pinned; null: never.',
        resolve: (settings) => settings.fadeBelow ?? null,
      }),
      eventDays: t.int({
        description: 'Days that events are kept.',
        resolve: (settings) => settings.eventDays ?? DEFAULT_KEPT_DAYS,
      }),
      receiptDays: t.int({
        description: 'Days that receipts of recalls are kept; 0: none are.',
        resolve: (retention) => receiptDays({ retention }),
      }),
    }),
  });

export const TenantLimits = builder
  .objectRef<NonNullable<TenantContext['settings']['limits']>>('TenantLimits')
  .implement({
    description:
      'What the platform lets the tenant use. Null: for points what the server is configured with, else no limit.',
    fields: (t) => ({
      pointsPerMinute: t.int({
        nullable: true,
        description:
          'Points that all its requests may spend in a minute, and at once after a rest; a field costs 1, a list as much for each of its rows.',
        resolve: (limits) => limits.pointsPerMinute ?? null,
      }),
      keyPointsPerMinute: t.int({
        nullable: true,
        description: 'The same for each of its keys.',
        resolve: (limits) => limits.keyPointsPerMinute ?? null,
      }),
      agents: t.int({
        nullable: true,
        description: 'How many agents it may have.',
        resolve: (limits) => limits.agents ?? null,
      }),
      users: t.int({
        nullable: true,
        description: 'How many users it may have.',
        resolve: (limits) => limits.users ?? null,
      }),
      facts: t.int({
        nullable: true,
        description: 'How many facts it may have stored, those that have ended among them.',
        resolve: (limits) => limits.facts ?? null,
      }),
      messages: t.int({
        nullable: true,
        description: 'How many messages it may have stored.',
        resolve: (limits) => limits.messages ?? null,
      }),
    }),
  });

export const TenantLimitsInput = builder.inputType('TenantLimitsInput', {
  description: 'A limit left out stays; null brings the one of the configuration back.',
  fields: (t) => ({
    pointsPerMinute: t.int({ description: 'Points a minute of all requests: 10,000 to 1,000,000,000.' }),
    keyPointsPerMinute: t.int({ description: 'Points a minute of each key: 10,000 to 1,000,000,000.' }),
    agents: t.int({ description: 'How many agents it may have: 0 to 1,000,000,000.' }),
    users: t.int({ description: 'How many users it may have: 0 to 1,000,000,000.' }),
    facts: t.int({ description: 'How many facts it may have stored: 0 to 1,000,000,000.' }),
    messages: t.int({ description: 'How many messages it may have stored: 0 to 1,000,000,000.' }),
  }),
});

export const TenantBudgets = builder
  .objectRef<NonNullable<TenantContext['settings']['budgets']>>('TenantBudgets')
  .implement({
    description: 'Figures in characters; null where the default applies.',
    fields: (t) => ({
      factCharacters: t.int({
        nullable: true,
        description: 'Longest text of a fact; 4,000 by default.',
        resolve: (budgets) => budgets.factCharacters ?? null,
      }),
      userProfileCharacters: t.int({
        nullable: true,
        description: 'Live USER_PROFILE facts of one agent and user together; 1,375 by default.',
        resolve: (budgets) => budgets.userProfileCharacters ?? null,
      }),
      recallCharacters: t.int({
        nullable: true,
        description: 'What one recall returns when it names no `charBudget`; no limit by default.',
        resolve: (budgets) => budgets.recallCharacters ?? null,
      }),
    }),
  });

export const TenantBudgetsInput = builder.inputType('TenantBudgetsInput', {
  description: 'Figures in characters. A figure left out stays; null brings the default back.',
  fields: (t) => ({
    factCharacters: t.int({ description: 'Longest text of a fact: 100 to 16,000.' }),
    userProfileCharacters: t.int({
      description: 'Live USER_PROFILE facts of one agent and user together: 100 to 100,000.',
    }),
    recallCharacters: t.int({
      description: 'What one recall returns when it names no `charBudget`: 100 to 1,000,000.',
    }),
  }),
});

export const MemoryContextSettingsInput = builder.inputType('MemoryContextSettingsInput', {
  description: 'What `memoryContext` gives. A switch left out stays.',
  fields: (t) => ({
    userProfile: t.boolean({ description: 'Whether it gives the user profile; true by default.' }),
    projectContext: t.boolean({ description: 'Whether it gives the project context; true by default.' }),
  }),
});

export const GateSettingsInput = builder.inputType('GateSettingsInput', {
  description: 'What the salience gate takes for worth an extraction, beyond its own words. Lists replace.',
  fields: (t) => ({
    extraSignals: t.stringList({ description: 'Phrases that make a turn worth it, at most 100.' }),
    extraTrivialWords: t.stringList({ description: 'Words that say nothing, at most 100.' }),
  }),
});

export const RetentionSettingsInput = builder.inputType('RetentionSettingsInput', {
  description:
    'How facts fade, and how long events and receipts are kept. A setting left out stays; null brings the default back.',
  fields: (t) => ({
    decay: t.field({ type: FadingSpeed, description: 'How fast; STANDARD by default.' }),
    eventDays: t.int({
      description: `Days that events are kept, 1 to 3,650; ${DEFAULT_KEPT_DAYS} by default.`,
    }),
    receiptDays: t.int({
      description: `Days that receipts of recalls are kept, 0 to 3,650, 0 to keep none; ${DEFAULT_RECEIPT_DAYS} by default.`,
    }),
    fadeBelow: t.float({
      description:
        'Importance, 0.05 to 10, below which consolidation retires facts that were never recalled and are not pinned; never by default.',
    }),
  }),
});
