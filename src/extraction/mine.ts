import type { Claim, MessageRecord } from '../db/index.js';
import type { FactDraft } from '../facts/index.js';
import type { TenantContext } from '../tenancy/index.js';
import type { ExtractedFact, Extractor } from './extractor.js';
import { isSalient } from './gate.js';

/** What one window gave (SPEC §2.2). */
export type MinedWindow =
  | { readonly status: 'SKIPPED_NOT_SALIENT'; readonly messages: readonly MessageRecord[] }
  | {
      readonly status: 'EXTRACTED';
      readonly messages: readonly MessageRecord[];
      readonly drafts: readonly FactDraft[];
    };

/** Kinds that are about the user, whoever hears of it: their scope is (none, user) (SPEC §1). */
const ABOUT_THE_USER = new Set(['USER_PROFILE', 'PREFERENCE']);

/**
 * Gate, then extractor, over one window. No transaction is open.
 * @throws whatever the extractor throws: a failure is never "nothing"
 */
export async function mineWindow(
  extractor: Extractor,
  tenant: TenantContext,
  claim: Claim,
  messages: readonly MessageRecord[],
  now: Date,
  signal: AbortSignal,
): Promise<MinedWindow> {
  const userTexts = messages.filter((message) => message.role === 'USER').map((message) => message.content);
  if (!isSalient(userTexts, tenant.settings.gate ?? {})) return { status: 'SKIPPED_NOT_SALIENT', messages };
  const output = await extractor.extract(
    {
      referenceTime: messages.at(-1)?.sentAt ?? now,
      messages: messages.map(({ id, role, speaker, content, sentAt }) => ({
        id,
        role: role as 'USER',
        speaker,
        content,
        sentAt,
      })),
      known: [],
    },
    signal,
  );
  const byId = new Map(messages.map((message) => [message.id, message]));
  return {
    status: 'EXTRACTED',
    messages,
    drafts: output.add.map((fact) => draftOf(fact, extractor, claim, byId, now)),
  };
}

function draftOf(
  fact: ExtractedFact,
  extractor: Extractor,
  claim: Claim,
  messages: ReadonlyMap<string, MessageRecord>,
  now: Date,
): FactDraft {
  const sources = fact.sourceMessageIds.flatMap((id) => messages.get(id) ?? []);
  const saidAt =
    sources.reduce<Date | null>(
      (latest, { sentAt }) => (sentAt && (!latest || sentAt > latest) ? sentAt : latest),
      null,
    ) ?? now;
  const aboutUser = ABOUT_THE_USER.has(fact.kind) && claim.userId !== null;
  return {
    text: fact.text,
    kind: fact.kind,
    agentId: aboutUser ? null : claim.agentId,
    userId: claim.userId,
    origin: extractor.name,
    // A message dated after now is a clock that is wrong.
    saidAt: saidAt > now ? now : saidAt,
    subject: fact.subject,
    predicate: fact.predicate,
    object: fact.object,
    entities: fact.entities,
    confidence: fact.confidence,
    hints: { extractor: { valence: fact.valence, arousal: fact.arousal, urgency: fact.urgency } },
    validFrom: fact.validFrom ?? saidAt,
    sessionId: claim.sessionId,
    sourceMessageIds: sources.map((source) => source.id),
  };
}
