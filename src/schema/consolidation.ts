import { type ConsolidationRow, consolidationsByIds } from '../db/index.js';
import { ADMINS, builder, OVERSEERS } from './builder.js';
import { actorOf, readTenant, tenantActorOf } from './context.js';
import { defineMutation } from './mutation.js';

const ConsolidationStatus = builder.enumType('ConsolidationStatus', {
  description: 'How far a consolidation is.',
  values: {
    QUEUED: { description: 'Waits for its turn.' },
    RUNNING: { description: 'Is under way; its figures are those so far.' },
    SUCCEEDED: { description: 'Is done.' },
    FAILED: { description: 'Was given up after several attempts; what it did until then stays done.' },
  },
});

const ConsolidationReport = builder.objectRef<ConsolidationRow>('ConsolidationReport');

builder.node(ConsolidationReport, {
  description:
    'What a consolidation of a tenant did: it renews the importance that lists show, retires exact duplicates and, where the tenant wants that, faded facts, and removes ties between facts that have become too weak.',
  id: { description: 'Global id.', resolve: (report) => report.id },
  loadManyWithoutCache: async (ids, context) => {
    if (!(OVERSEERS as readonly string[]).includes(actorOf(context).kind)) return ids.map(() => null);
    const rows = await readTenant(context, (unit) => consolidationsByIds(unit, ids));
    return ids.map((id) => rows.find((row) => row.id === id) ?? null);
  },
  fields: (t) => ({
    status: t.field({
      type: ConsolidationStatus,
      description: 'How far it is.',
      resolve: (report) => report.status as never,
    }),
    refreshed: t.exposeInt('refreshed', {
      description: 'Facts whose stored importance had changed and was renewed.',
    }),
    retired: t.exposeInt('retired', { description: 'Facts retired as FADED.' }),
    merged: t.exposeInt('merged', {
      description: 'Facts retired as DUPLICATE; the one that says the same has their sources.',
    }),
    edgesRemoved: t.exposeInt('edgesRemoved', {
      description: 'Ties between facts recalled together that had become weaker than 0.05.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Code of what stopped it, or of what made it wait; null where nothing did.',
    }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it began.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
});

defineMutation<{ report: ConsolidationRow }>('runConsolidation', {
  description:
    'Consolidates the facts of the tenant now, which happens once a day by itself. One that is under way is the one that is answered. Waits for the result 10 s at most; it goes on behind that, and the event CONSOLIDATION_FINISHED tells when it is done.',
  roles: ADMINS,
  fields: (t) => ({
    report: t.field({
      type: ConsolidationReport,
      nullable: true,
      description: 'What it did, or has done so far.',
      resolve: (payload) => payload.report ?? null,
    }),
  }),
  resolve: async (_input, context) => ({
    report: await context.services.consolidator.run(tenantActorOf(context)),
  }),
});
