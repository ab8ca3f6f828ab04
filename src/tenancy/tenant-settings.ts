import { z } from 'zod';
import type { DecayVariant } from '../salience/index.js';

const phrase = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(
    (text) => text.isWellFormed() && !/\p{Cc}/u.test(text),
    'must not hold control characters or broken Unicode',
  );

const quota = z.number().int().min(0).max(1_000_000_000);

/**
 * What a tenant may set beside its override policy. Unset is undefined; the defaults below apply then.
 * Stored as JSON in tenant.settings; unknown keys are kept out.
 */
export const tenantSettingsSchema = z
  .object({
    budgets: z
      .object({
        /** Longest text of one fact, in characters (SPEC §2.5). */
        factCharacters: z.number().int().min(100).max(16_000),
        /** Live USER_PROFILE facts of one scope, in characters: store cap and read cut (SPEC §2.5, §8). */
        userProfileCharacters: z.number().int().min(100).max(100_000),
        /** Default character budget of a recall (SPEC §8.4); unset: none. */
        recallCharacters: z.number().int().min(100).max(1_000_000),
      })
      .partial(),
    memoryContext: z.object({ userProfile: z.boolean(), projectContext: z.boolean() }).partial(),
    gate: z
      .object({
        extraSignals: z.array(phrase).max(100),
        extraTrivialWords: z.array(phrase).max(100),
      })
      .partial(),
    retention: z
      .object({
        /** How fast facts fade (SPEC §6.1). */
        decay: z.enum(['STANDARD', 'SLOW', 'FAST']),
        /** Importance below which consolidation retires facts that were never recalled (SPEC §6.5); unset: never. */
        fadeBelow: z.number().min(0.05).max(10),
        /** Days that events are kept (SPEC §11). */
        eventDays: z.number().int().min(1).max(3_650),
        /** Days that receipts of recalls are kept (SPEC §8); 0: none are. */
        receiptDays: z.number().int().min(0).max(3_650),
      })
      .partial(),
    /** What the platform lets the tenant use; unset: the configuration's. */
    limits: z
      .object({
        /** Points a minute of all its requests, and how many may be spent at once after a rest. */
        pointsPerMinute: z.number().int().min(10_000).max(1_000_000_000),
        /** The same of each of its keys. */
        keyPointsPerMinute: z.number().int().min(10_000).max(1_000_000_000),
        /** How many it may have; facts that have ended count. */
        agents: quota,
        users: quota,
        facts: quota,
        messages: quota,
      })
      .partial(),
  })
  .partial();

export type TenantSettings = z.infer<typeof tenantSettingsSchema>;

/** The seed's figures (SPEC §2.5). */
export const DEFAULT_FACT_CHARACTERS = 4_000;
export const DEFAULT_USER_PROFILE_CHARACTERS = 1_375;

/** How fast the tenant's facts fade (SPEC §6.1). */
export function decayVariantOf(settings: TenantSettings): DecayVariant {
  return settings.retention?.decay ?? 'STANDARD';
}

/** Days that receipts of recalls are kept where a tenant sets nothing. */
export const DEFAULT_RECEIPT_DAYS = 30;

/** Days that receipts of recalls are kept; 0: none are. */
export function receiptDays(settings: TenantSettings): number {
  return settings.retention?.receiptDays ?? DEFAULT_RECEIPT_DAYS;
}

/** Points a minute that the tenant may spend; 0: as many as it likes. @param configured where its limits do not say */
export function pointsPerMinute(settings: TenantSettings, configured: number): number {
  return settings.limits?.pointsPerMinute ?? configured;
}

/** The same for each of its keys. */
export function keyPointsPerMinute(settings: TenantSettings, configured: number): number {
  return settings.limits?.keyPointsPerMinute ?? configured;
}

export function factCharacterLimit(settings: TenantSettings): number {
  return settings.budgets?.factCharacters ?? DEFAULT_FACT_CHARACTERS;
}

export function userProfileBudget(settings: TenantSettings): number {
  return settings.budgets?.userProfileCharacters ?? DEFAULT_USER_PROFILE_CHARACTERS;
}
