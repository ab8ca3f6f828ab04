/** SPEC §11. */
export const EVENT_TYPES = [
  'FACT_REMEMBERED',
  'FACT_REAFFIRMED',
  'FACT_SUPERSEDED',
  'FACT_RETIRED',
  'FACT_FORGOTTEN',
  'FACT_PINNED',
  'FACT_UNPINNED',
  'IMPORTANCE_CHANGED',
  'FLASHBULB',
  'PROFILE_CHANGED',
  'POLICY_CHANGED',
  'RESCORE_PROGRESS',
  'RESCORE_FINISHED',
  'CONSOLIDATION_FINISHED',
  'EXTRACTION_FINISHED',
  'EXTRACTION_QUARANTINED',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Why an importance changed. */
export const IMPORTANCE_CAUSES = [
  'INGEST',
  'REAFFIRM',
  'RESCORE',
  'RECALL',
  'DECAY',
  'PIN',
  'MANUAL',
] as const;
export type ImportanceCause = (typeof IMPORTANCE_CAUSES)[number];

/** An event as a writer states it: ids and numbers, no content. The stream gives it its place and time. */
export interface NewEvent {
  readonly type: EventType;
  /** The scope it belongs to; decides who may see it. */
  readonly agentId: string | null;
  readonly userId: string | null;
  /** What it is about: a fact, an extraction run, a tenant. */
  readonly subjectId: string;
  /** The fact to show with it, where there is one. */
  readonly factId?: string;
  readonly cause?: ImportanceCause;
  /** Importance as last told and now, 0.05–10, so that one event begins where the one before ended; `oldValue` is absent for a new fact. */
  readonly oldValue?: number;
  readonly newValue?: number;
}
