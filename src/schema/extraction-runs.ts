import { listRuns, runsOfSessions } from '../db/index.js';
import { ForbiddenError } from '../errors.js';
import { retryExtraction } from '../extraction/index.js';
import { readRange } from '../tenancy/index.js';
import { builder, WRITERS } from './builder.js';
import { readTenant, tenantActorOf } from './context.js';
import { Extraction, ExtractionStatus, extractionAfter, storedExtraction } from './extractions.js';
import { idOf } from './global-id.js';
import { defineMutation } from './mutation.js';
import { connectionOf, idPageOf, pageOf } from './page.js';
import { Session } from './sessions.js';
import { Tenant } from './tenants.js';

builder.objectField(Session, 'extractionRuns', (t) =>
  t.connection({
    type: Extraction,
    description: 'Its extractions, in the order of their request.',
    args: {
      status: t.arg({ type: [ExtractionStatus], description: 'Only those with one of these outcomes.' }),
    },
    resolve: async (session, args, context) => {
      const page = pageOf(args, 1);
      const asked = idPageOf(page);
      const statuses = args.status ?? null;
      const rows = await context.batches.byId(
        `extractionRuns:${JSON.stringify([asked, statuses])}`,
        (ids) => readTenant(context, (unit) => runsOfSessions(unit, ids, asked, statuses)),
        session.id,
      );
      return connectionOf(page, (rows ?? []).map(storedExtraction), ({ run }) => [run.id]);
    },
  }),
);

builder.objectField(Tenant, 'extractionRuns', (t) =>
  t.connection({
    type: Extraction,
    description:
      'Its extractions that the caller may see, in the order of their request: with `status: [FAILED, QUARANTINED]` those that want a look.',
    args: {
      status: t.arg({ type: [ExtractionStatus], description: 'Only those with one of these outcomes.' }),
    },
    resolve: async (tenant, args, context) => {
      const actor = tenantActorOf(context);
      if (actor.tenant.id !== tenant.id)
        throw new ForbiddenError('To see inside this tenant name it by the header X-Salient-Tenant: <slug>');
      const page = pageOf(args, 1);
      const rows = await readTenant(context, (unit) =>
        listRuns(unit, idPageOf(page), readRange(actor), args.status ?? null),
      );
      return connectionOf(page, rows.map(storedExtraction), ({ run }) => [run.id]);
    },
  }),
);

const RetryExtractionInput = builder.inputType('RetryExtractionInput', {
  description: 'Which extraction.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'One that is FAILED or QUARANTINED.' }),
  }),
});

defineMutation<{ extraction: Extraction | null }, typeof RetryExtractionInput.$inferInput>(
  'retryExtraction',
  {
    description:
      'Tries the messages of an extraction again that failed or were put aside. Waits for the outcome 10 seconds at most; it goes on behind that, and EXTRACTION_FINISHED tells when it is done. What was mined meanwhile is not mined again.',
    roles: WRITERS,
    input: RetryExtractionInput,
    fields: (t) => ({
      extraction: t.field({
        type: Extraction,
        nullable: true,
        description: 'The extraction, as it is now.',
        resolve: (payload) => payload.extraction ?? null,
      }),
    }),
    resolve: async (input, context) => {
      const outcome = await retryExtraction(
        context.services,
        tenantActorOf(context),
        idOf('Extraction', input.id, ['id']),
      );
      return { extraction: await extractionAfter(context, outcome) };
    },
  },
);
