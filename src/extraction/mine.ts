import type { Claim, FactRecord, MessageRecord } from '../db/index.js';
import type { DraftRefusal, FactDraft } from '../facts/index.js';
import type { TenantContext } from '../tenancy/index.js';
import { type FactKind, normalizeFactText } from '../text/index.js';
import { withEdges } from './edges.js';
import type {
  ExtractedFact,
  ExtractedSupersession,
  Extractor,
  ExtractorOutput,
  ExtractorUsage,
} from './extractor.js';
import { isSalient } from './gate.js';

/** A proposed fact, or why it may not even be tried. */
export interface Proposal {
  readonly draft: FactDraft;
  readonly refusal: DraftRefusal | null;
}

/** What one window gave (SPEC §2.2). */
export interface MinedWindow {
  readonly status: 'SKIPPED_NOT_SALIENT' | 'EXTRACTED';
  readonly messages: readonly MessageRecord[];
  readonly proposals: readonly Proposal[];
  /** Remarks of the extractor, without content. */
  readonly notes: readonly string[];
  /** What a language model was asked and gave; null where none was. */
  readonly usage: ExtractorUsage | null;
}

/** What a window is read with. */
export interface MiningContext {
  readonly extractor: Extractor;
  readonly tenant: TenantContext;
  readonly claim: Claim;
  readonly known: readonly FactRecord[];
  readonly now: Date;
}

/** Kinds that are about the user, whoever hears of it: their scope is (none, user) (SPEC §1). */
const ABOUT_THE_USER = new Set(['USER_PROFILE', 'PREFERENCE']);
/** Most facts of one window: they are stored in one transaction. */
export const WINDOW_FACTS = 400;

/**
 * Gate, then extractor, over one window. No transaction is open.
 * @throws whatever the extractor throws: a failure is never "nothing"
 */
export async function mineWindow(
  context: MiningContext,
  messages: readonly MessageRecord[],
  signal: AbortSignal,
): Promise<MinedWindow> {
  const { extractor, tenant, known, now } = context;
  const userTexts = messages.filter((message) => message.role === 'USER').map((message) => message.content);
  if (!isSalient(userTexts, tenant.settings.gate ?? {}))
    return { status: 'SKIPPED_NOT_SALIENT', messages, proposals: [], notes: [], usage: null };
  const labels = new Map(known.map((fact, index) => [`f${index + 1}`, fact]));
  const output = await extractor.extract(
    {
      referenceTime: saidBy(messages.at(-1)?.sentAt ?? null, now),
      messages: messages.map(({ id, role, speaker, content, sentAt }) => ({
        id,
        role: role as 'USER',
        speaker,
        content,
        sentAt: sentAt && saidBy(sentAt, now),
      })),
      known: [...labels].map(([label, { kind, text }]) => ({ label, kind: kind as FactKind, text })),
    },
    signal,
  );
  const { proposals: all, notes: onEdges } = withEdges(
    proposalsOf(output, context, labels, messages),
    output.edges ?? [],
  );
  const notes = [...(output.notes ?? []), ...onEdges];
  if (all.length > WINDOW_FACTS) notes.push(`${all.length - WINDOW_FACTS} facts of one window were left out`);
  return {
    status: 'EXTRACTED',
    messages,
    proposals: all.slice(0, WINDOW_FACTS),
    notes,
    usage: output.usage ?? null,
  };
}

/** Replacements first: they end what would otherwise stand beside what is new. */
function proposalsOf(
  output: ExtractorOutput,
  context: MiningContext,
  labels: ReadonlyMap<string, FactRecord>,
  messages: readonly MessageRecord[],
): Proposal[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const replacements = output.supersede.flatMap((one) =>
    replacementOf(one, context, labels.get(one.label), byId),
  );
  const added = output.add.map((fact) => ({ draft: draftOf(fact, context, byId), refusal: null }));
  return [...replacements, ...added];
}

/** None where it says what the known fact says: that changes nothing (SPEC §2.4). */
function replacementOf(
  proposed: ExtractedSupersession,
  context: MiningContext,
  target: FactRecord | undefined,
  messages: ReadonlyMap<string, MessageRecord>,
): Proposal[] {
  const { label, ...fact } = proposed;
  const kind = proposed.kind ?? (target?.kind as FactKind | undefined) ?? 'FACT';
  if (target?.kind === kind && normalizeFactText(target.text) === normalizeFactText(fact.text)) return [];
  const draft = draftOf({ confidence: 1, sourceMessageIds: [], ...fact, kind }, context, messages);
  const { claim } = context;
  const own =
    target?.userId === claim.userId &&
    (target.agentId === claim.agentId || (target.agentId === null && claim.userId !== null));
  if (!target || !own) {
    const reason = target
      ? 'the fact to replace belongs to another agent or user'
      : 'there is no fact with this label to replace';
    return [{ draft, refusal: { category: 'TARGET', reason, path: ['target'] } }];
  }
  // It stays where the fact was that it replaces.
  return [
    {
      draft: { ...draft, agentId: target.agentId, userId: target.userId, replaces: { id: target.id } },
      refusal: null,
    },
  ];
}

function draftOf(
  fact: ExtractedFact,
  { claim, extractor, now }: MiningContext,
  messages: ReadonlyMap<string, MessageRecord>,
): FactDraft {
  const sources = fact.sourceMessageIds.flatMap((id) => messages.get(id) ?? []);
  const sent = sources.flatMap(({ sentAt }) => sentAt ?? []);
  const newest = sent.length === 0 ? null : new Date(Math.max(...sent.map((at) => at.getTime())));
  const saidAt = saidBy(newest, now);
  const aboutUser = ABOUT_THE_USER.has(fact.kind) && claim.userId !== null;
  return {
    text: fact.text,
    kind: fact.kind,
    agentId: aboutUser ? null : claim.agentId,
    userId: claim.userId,
    origin: extractor.name,
    saidAt,
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

/** A message dated after now is a clock that is wrong. */
function saidBy(sentAt: Date | null, now: Date): Date {
  return sentAt && sentAt < now ? sentAt : now;
}
