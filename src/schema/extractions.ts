import {
  type ExtractionRunRow,
  type FactRecord,
  factIdsOfRuns,
  factIdsReplacedByRuns,
  type QuarantinedWindow,
  quarantinedWindows,
  type RefusalCount,
  refusalsOfRuns,
  runsByIds,
  sessionsByIds,
} from '../db/index.js';
import type { RunRefusal } from '../extraction/index.js';
import { mayRead } from '../tenancy/index.js';
import { builder } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { ExtractorName } from './enums.js';
import { Fact, loadFact } from './facts.js';
import { loadSession, Session } from './sessions.js';

export const ExtractionStatus = builder.enumType('ExtractionStatus', {
  description: 'What mining the new messages of a session came to.',
  values: {
    EXTRACTED: { description: 'It proposed facts; which of them were kept is in `facts` and `refused`.' },
    EXTRACTED_NOTHING: { description: 'It looked, and found nothing durable.' },
    SKIPPED_NOT_SALIENT: { description: 'The gate saw that nothing durable was said; no extractor ran.' },
    NOTHING_NEW: { description: 'No message was new.' },
    PENDING: {
      description:
        'It is not done yet, or failed for now and is tried again; the event EXTRACTION_FINISHED tells when it is done.',
    },
    FAILED: { description: 'The extractor failed; the messages are kept, and are mined with the next ones.' },
    QUARANTINED: {
      description:
        'Some of its messages failed five times and were put aside, so that those after them can be mined; `retryExtraction` tries them again.',
    },
  },
});

const RefusedText = builder.objectRef<RunRefusal>('RefusedText').implement({
  description: 'A proposed fact that was not stored. Shown this once.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'What it said.' }),
    category: t.exposeString('category', {
      description: 'Why, as a code, such as `INSTRUCTION_OVERRIDE`, `BUDGET` or `FORGOTTEN`.',
    }),
    reason: t.exposeString('reason', { description: 'Why, in words.' }),
  }),
});

const ExtractionRefusals = builder.objectRef<RefusalCount>('ExtractionRefusals').implement({
  description: 'Texts that an extraction did not store for one reason. The texts themselves are not kept.',
  fields: (t) => ({
    category: t.exposeString('category', { description: 'The reason, as in `RefusedText`.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const MessageRange = builder
  .objectRef<Pick<ExtractionRunRow, 'fromSeq' | 'toSeq'>>('MessageRange')
  .implement({
    description: 'Messages of a session that follow one another, by their numbers in it from 1 on.',
    fields: (t) => ({
      from: t.exposeInt('fromSeq', { description: 'The oldest.' }),
      to: t.exposeInt('toSeq', { description: 'The newest.' }),
    }),
  });

const QuarantinedMessages = builder.objectRef<QuarantinedWindow>('QuarantinedMessages').implement({
  description:
    'Messages that were put aside because extraction failed at them five times. They are kept and found by recall.',
  fields: (t) => ({
    from: t.exposeInt('fromSeq', { description: 'Number of the oldest in its session, from 1 on.' }),
    to: t.exposeInt('toSeq', { description: 'Number of the newest.' }),
    error: t.exposeString('error', { description: 'Code of the latest failure.' }),
    quarantinedAt: t.expose('quarantinedAt', { type: 'DateTime', description: 'When they were put aside.' }),
    retryAt: t.expose('retryAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When they are tried again, where somebody asked for that.',
    }),
  }),
});

const ExtractionUsage = builder
  .objectRef<Pick<ExtractionRunRow, 'inputTokens' | 'outputTokens' | 'cost'>>('ExtractionUsage')
  .implement({
    description: 'Tokens of a language model and what they cost. All 0 with the built-in rules.',
    fields: (t) => ({
      inputTokens: t.exposeInt('inputTokens', { description: 'Tokens that it was given.' }),
      outputTokens: t.exposeInt('outputTokens', { description: 'Tokens that it answered.' }),
      cost: t.exposeFloat('cost', {
        nullable: true,
        description:
          'In US dollars, by the prices that the server is configured with; null where it has none.',
      }),
    }),
  });

/** A run, with what only the call that asked for it is told. */
export interface Extraction {
  readonly run: ExtractionRunRow;
  readonly status: string;
  readonly factIds: readonly string[] | null;
  readonly refused: readonly RunRefusal[];
}

export const Extraction = builder.objectRef<Extraction>('Extraction');

/** A run as it can be read later: what only the call that asked for it is told is gone. */
export function storedExtraction(run: ExtractionRunRow): Extraction {
  return { run, status: run.status, factIds: null, refused: [] };
}

/** A run as the call that asked for it is told of it. */
export async function extractionAfter(
  context: GraphQLContext,
  outcome: { runId: string; status: string; factIds: readonly string[]; refused: readonly RunRefusal[] },
): Promise<Extraction | null> {
  const { runId, ...told } = outcome;
  const [run] = await readTenant(context, (unit) => runsByIds(unit, [runId]));
  return run ? { run, ...told } : null;
}

async function factIdsOf(extraction: Extraction, context: GraphQLContext): Promise<readonly string[]> {
  if (extraction.factIds) return extraction.factIds;
  const ids = await context.batches.byId<string[]>(
    'factsOfRun',
    (runs) => readTenant(context, (unit) => factIdsOfRuns(unit, runs)),
    extraction.run.id,
  );
  return ids ?? [];
}

async function factsOf(extraction: Extraction, context: GraphQLContext): Promise<FactRecord[]> {
  const facts = await Promise.all((await factIdsOf(extraction, context)).map((id) => loadFact(context, id)));
  return facts.filter((fact) => fact !== null);
}

builder.node(Extraction, {
  description: 'A request to mine the new messages of a session.',
  id: { description: 'Global id.', resolve: ({ run }) => run.id },
  loadManyWithoutCache: async (ids, context) => {
    const runs = await readTenant(context, (unit) => runsByIds(unit, ids));
    const sessions = await readTenant(context, (unit) =>
      sessionsByIds(
        unit,
        runs.map((run) => run.sessionId),
      ),
    );
    const visible = new Set(
      sessions.filter((session) => mayRead(tenantActorOf(context), session)).map((session) => session.id),
    );
    return ids.map((id) => {
      const run = runs.find((one) => one.id === id && visible.has(one.sessionId));
      return run ? storedExtraction(run) : null;
    });
  },
  fields: (t) => ({
    status: t.field({
      type: ExtractionStatus,
      description: 'How far it is, and what it came to.',
      resolve: ({ status }) => status as never,
    }),
    extractor: t.field({
      type: ExtractorName,
      description: 'What mines.',
      resolve: ({ run }) => run.extractor as never,
    }),
    facts: t.field({
      type: [Fact],
      description: 'Facts that it added or reaffirmed; later, those that it added.',
      resolve: (extraction, _args, context) => factsOf(extraction, context),
    }),
    superseded: t.field({
      type: [Fact],
      description: 'Facts that were replaced by facts that it added.',
      resolve: async ({ run }, _args, context) => {
        const ids = await context.batches.byId<string[]>(
          'replacedByRun',
          (runs) => readTenant(context, (unit) => factIdsReplacedByRuns(unit, runs)),
          run.id,
        );
        const facts = await Promise.all((ids ?? []).map((id) => loadFact(context, id)));
        return facts.filter((fact) => fact !== null);
      },
    }),
    refused: t.field({
      type: [RefusedText],
      description: 'What was not stored, told this once.',
      resolve: ({ refused }) => [...refused],
    }),
    refusals: t.field({
      type: [ExtractionRefusals],
      description: 'How many texts were not stored, by the reason; the commonest first.',
      resolve: async ({ run }, _args, context) =>
        (await context.batches.byId<RefusalCount[]>(
          'refusalsOfRun',
          (runs) => readTenant(context, (unit) => refusalsOfRuns(unit, runs)),
          run.id,
        )) ?? [],
    }),
    window: t.field({
      type: MessageRange,
      nullable: true,
      description: 'Which messages of the session it is for; null where none was new.',
      resolve: ({ run }) => (run.fromSeq <= run.toSeq ? run : null),
    }),
    quarantined: t.field({
      type: [QuarantinedMessages],
      description: 'Of these, what is put aside; empty where nothing is.',
      resolve: async ({ run }, _args, context) => {
        const windows = await context.batches.byId<QuarantinedWindow[]>(
          'quarantinedOfSession',
          (sessions) => readTenant(context, (unit) => quarantinedWindows(unit, sessions)),
          run.sessionId,
        );
        return (windows ?? []).filter(({ fromSeq, toSeq }) => fromSeq <= run.toSeq && toSeq >= run.fromSeq);
      },
    }),
    attempts: t.int({
      description: 'How often its messages were tried, since it was asked for or retried.',
      resolve: ({ run }) => run.attempts,
    }),
    usage: t.field({
      type: ExtractionUsage,
      description: 'What a language model was asked for it, failed attempts included.',
      resolve: ({ run }) => run,
    }),
    notes: t.stringList({
      description:
        'Remarks of the extractor, such as that a kind was unknown and became FACT; never content.',
      resolve: ({ run }) => [...run.notes],
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The conversation.',
      resolve: ({ run }, _args, context) => loadSession(context, run.sessionId),
    }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When it was asked for.',
      resolve: ({ run }) => run.startedAt,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was done.',
      resolve: ({ run }) => run.finishedAt,
    }),
    error: t.string({
      nullable: true,
      description: 'Code of what made it fail, also where it is tried again.',
      resolve: ({ run }) => run.error,
    }),
  }),
});
