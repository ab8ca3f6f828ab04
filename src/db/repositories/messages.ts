import { hexOf } from '../content/index.js';
import { Prisma } from '../generated/client.js';
import { type Range, rangeCondition } from './conditions.js';
import type { ScopeOwner } from './scopes.js';
import type { SessionRow } from './sessions.js';
import type { Unit } from './unit.js';

/** A message, content opened; `content` is empty once it was redacted. */
export interface MessageRecord extends ScopeOwner {
  readonly id: string;
  readonly sessionId: string;
  readonly scopeId: number;
  readonly seq: number;
  readonly role: string;
  readonly content: string;
  readonly speaker: string | null;
  readonly externalId: string | null;
  readonly flags: readonly string[];
  readonly sentAt: Date | null;
  readonly recordedAt: Date;
  readonly redactedAt: Date | null;
}

/** A row as selected by {@link messageColumns}: content still in its envelope. */
export type MessageRow = Omit<MessageRecord, 'content' | 'speaker'> & {
  content: Uint8Array;
  speaker: Uint8Array | null;
};

const COLUMNS: Readonly<Record<keyof MessageRow, string>> = {
  id: 'm.id',
  sessionId: 'm.session_id',
  scopeId: 'm.scope_id',
  seq: 'm.seq',
  role: 'm.role',
  content: 'm.content',
  speaker: 'm.speaker',
  externalId: 'm.external_id',
  flags: 'm.flags',
  sentAt: 'm.sent_at',
  recordedAt: 'm.recorded_at',
  redactedAt: 'm.redacted_at',
  agentId: 'e.agent_id',
  userId: 'e.user_id',
};

/**
 * The columns that {@link MessageRow} names, for `SELECT ${messageColumns()} FROM message m JOIN session e …`.
 * @param prefix what their names begin with, where a row holds more than a message
 */
export function messageColumns(prefix = ''): Prisma.Sql {
  return Prisma.raw(
    Object.entries(COLUMNS)
      .map(([name, column]) => `${column} AS "${prefix}${name}"`)
      .join(', '),
  );
}

/** Opens a row's content. */
export function toMessage(unit: Unit, row: MessageRow): MessageRecord {
  return { ...row, content: unit.content.open(row.content), speaker: unit.content.openOptional(row.speaker) };
}

/** Messages by id, in no order; ids that do not exist in this tenant are left out. One statement. */
export async function messagesByIds(unit: Unit, ids: readonly string[]): Promise<MessageRecord[]> {
  if (ids.length === 0) return [];
  const rows = await unit.tx.$queryRaw<MessageRow[]>`
    SELECT ${messageColumns()}
    FROM message m JOIN session e ON e.tenant_id = m.tenant_id AND e.id = m.session_id
    WHERE m.tenant_id = ${unit.tenantId}::uuid AND m.id = ANY(${[...ids]}::uuid[])`;
  return rows.map((row) => toMessage(unit, row));
}

/** Whom sessions and messages belong to, by id. One statement. */
export async function sourceOwners(
  unit: Unit,
  sessionIds: readonly string[],
  messageIds: readonly string[],
): Promise<Map<string, ScopeOwner>> {
  const rows = await unit.tx.$queryRaw<(ScopeOwner & { id: string })[]>`
    SELECT s.id, s.agent_id AS "agentId", s.user_id AS "userId" FROM session s
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.id = ANY(${[...sessionIds]}::uuid[])
    UNION ALL
    SELECT m.id, s.agent_id, s.user_id
    FROM message m JOIN session s ON s.tenant_id = m.tenant_id AND s.id = m.session_id
    WHERE m.tenant_id = ${unit.tenantId}::uuid AND m.id = ANY(${[...messageIds]}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** The messages of a session that have one of these externalIds, by externalId. */
export async function messagesByExternalIds(
  unit: Unit,
  sessionId: string,
  externalIds: readonly string[],
): Promise<Map<string, string>> {
  if (externalIds.length === 0) return new Map();
  const rows = await unit.tx.message.findMany({
    where: { tenantId: unit.tenantId, sessionId, externalId: { in: [...externalIds] } },
    select: { id: true, externalId: true },
  });
  return new Map(rows.map((row) => [row.externalId as string, row.id]));
}

/** A message to add, with what the indexes hold of it. */
export interface NewMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly characters: number;
  readonly speaker: string | null;
  readonly externalId: string | null;
  readonly flags: readonly string[];
  readonly sentAt: Date | null;
  readonly terms: readonly { readonly term: bigint; readonly count: number }[];
  readonly length: number;
  /** A unit vector for each window of the content; none where the encoder cannot read it. */
  readonly windows: readonly Float32Array[];
}

/**
 * Adds messages to a locked session, after its newest, with postings and vectors. One statement.
 * @param extract whether they are to be mined
 */
export async function insertMessages(
  unit: Unit,
  session: SessionRow,
  messages: readonly NewMessage[],
  options: { readonly modelId: number; readonly at: Date; readonly extract: boolean },
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map((message, index) => ({
    ...message,
    terms: undefined,
    windows: undefined,
    seq: session.lastSeq + index + 1,
    content: hexOf(unit.content.seal(message.content)),
    speaker: message.speaker === null ? null : hexOf(unit.content.seal(message.speaker)),
  }));
  const postings = messages.flatMap((message) =>
    message.terms.map(({ term, count }) => ({
      term: String(term),
      id: message.id,
      frequency: Math.min(count, 32_767),
      length: message.length,
    })),
  );
  const vectors = messages.flatMap((message) =>
    message.windows.map((window, position) => ({ id: message.id, position, embedding: Array.from(window) })),
  );
  await unit.tx.$queryRaw`
    WITH added AS (
      INSERT INTO message (tenant_id, id, session_id, scope_id, seq, role, content, characters, speaker, external_id,
                           flags, extract, sent_at, recorded_at)
      SELECT ${unit.tenantId}::uuid, id, ${session.id}::uuid, ${session.scopeId}::int, seq, role, content, characters,
             speaker, "externalId", flags, ${options.extract}::boolean, "sentAt", ${options.at}::timestamptz
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
        id uuid, seq int, role text, content bytea, characters int, speaker bytea, "externalId" text, flags text[],
        "sentAt" timestamptz)
    ), posted AS (
      INSERT INTO posting (tenant_id, term, document_id, document_kind, scope_id, frequency, length)
      SELECT ${unit.tenantId}::uuid, p.term, p.id, 'MESSAGE', ${session.scopeId}::int, p.frequency, p.length
      FROM jsonb_to_recordset(${JSON.stringify(postings)}::jsonb) AS p(term int8, id uuid, frequency smallint, length int)
    ), embedded AS (
      INSERT INTO message_embedding (tenant_id, model_id, message_id, position, scope_id, embedding, signature)
      SELECT ${unit.tenantId}::uuid, ${options.modelId}::int, v.id, v.position, ${session.scopeId}::int, v.embedding,
             binary_quantize(v.embedding)
      FROM jsonb_to_recordset(${JSON.stringify(vectors)}::jsonb) AS v(id uuid, position smallint, embedding halfvec)
    )
    UPDATE session SET last_seq = last_seq + ${messages.length}::int, updated_at = ${options.at}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${session.id}::uuid`;
}

/** Messages to mine, in order. */
export interface MiningRound {
  readonly messages: readonly MessageRecord[];
  /** Whether more are to be mined after these. */
  readonly cut: boolean;
}

/**
 * The messages of a session beyond a sequence that are to be mined, up to a number and up to where their characters
 * reach a limit: at least one, if there is one. One statement.
 */
export async function messagesToMine(
  unit: Unit,
  sessionId: string,
  afterSeq: number,
  limit: { readonly messages: number; readonly characters: number },
): Promise<MiningRound> {
  const rows = await unit.tx.$queryRaw<(Omit<MessageRow, 'content'> & { content: Uint8Array | null })[]>`
    SELECT m.id, m.session_id AS "sessionId", m.scope_id AS "scopeId", m.seq, m.role,
           -- what is beyond is only counted, not read
           CASE WHEN sum(m.characters) OVER (ORDER BY m.seq) - m.characters < ${limit.characters}::int THEN m.content END AS content,
           m.speaker, m.external_id AS "externalId", m.flags, m.sent_at AS "sentAt", m.recorded_at AS "recordedAt",
           m.redacted_at AS "redactedAt", s.agent_id AS "agentId", s.user_id AS "userId"
    FROM message m JOIN session s ON s.tenant_id = m.tenant_id AND s.id = m.session_id
    WHERE m.tenant_id = ${unit.tenantId}::uuid AND m.session_id = ${sessionId}::uuid AND m.seq > ${afterSeq}::int
      AND m.extract AND m.redacted_at IS NULL
    ORDER BY m.seq LIMIT ${limit.messages + 1}::int`;
  const messages = rows
    .slice(0, limit.messages)
    .flatMap(({ content, ...row }) => (content ? [toMessage(unit, { ...row, content })] : []));
  return { messages, cut: messages.length < rows.length };
}

/** Part of a session's messages, by their sequences; `limit + 1` of them in the page's direction. */
export interface MessagePage {
  readonly limit: number;
  readonly after: number | null;
  readonly before: number | null;
  readonly backward: boolean;
}

/** A page of the messages of each session, in its direction. One statement. */
export async function messagesOfSessions(
  unit: Unit,
  sessionIds: readonly string[],
  { limit, after, before, backward }: MessagePage,
): Promise<Map<string, MessageRecord[]>> {
  const direction = backward ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const rows = await unit.tx.$queryRaw<MessageRow[]>`
    SELECT ${messageColumns()}
    FROM session e CROSS JOIN LATERAL (
      SELECT * FROM message g
      WHERE g.tenant_id = ${unit.tenantId}::uuid AND g.session_id = e.id
        ${after === null ? Prisma.empty : Prisma.sql`AND g.seq > ${after}::int8`}
        ${before === null ? Prisma.empty : Prisma.sql`AND g.seq < ${before}::int8`}
      ORDER BY g.seq ${direction} LIMIT ${limit + 1}::int) AS m
    WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.id = ANY(${[...sessionIds]}::uuid[])
    ORDER BY m.session_id, m.seq ${direction}`;
  const bySession = new Map<string, MessageRecord[]>();
  for (const row of rows) {
    const messages = bySession.get(row.sessionId) ?? [];
    messages.push(toMessage(unit, row));
    bySession.set(row.sessionId, messages);
  }
  return bySession;
}

/** A source's place among those of a fact: when it was added, in milliseconds, and the message. */
export type SourcePlace = readonly [at: number, id: string];

/**
 * The sources of each fact in the order in which they were added, `limit + 1` a fact in the page's direction: those
 * within the reader's range, for what one agent heard is not another's to read where the fact that came of it is
 * shared. One statement.
 */
export async function sourcesOfFacts(
  unit: Unit,
  factIds: readonly string[],
  range: Range,
  page: {
    readonly limit: number;
    readonly after: SourcePlace | null;
    readonly before: SourcePlace | null;
    readonly backward: boolean;
  },
): Promise<Map<string, (MessageRecord & { readonly addedAt: Date })[]>> {
  const direction = page.backward ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const beyond = (place: SourcePlace | null, operator: '<' | '>') =>
    place === null
      ? Prisma.sql`true`
      : Prisma.sql`(fs.added_at, fs.message_id) ${Prisma.raw(operator)} (to_timestamp(${place[0]}::float8 / 1000), ${place[1]}::uuid)`;
  const rows = await unit.tx.$queryRaw<(MessageRow & { factId: string; addedAt: Date })[]>`
    SELECT * FROM (
      SELECT fs.fact_id AS "factId", fs.added_at AS "addedAt", ${messageColumns()},
             row_number() OVER (PARTITION BY fs.fact_id ORDER BY fs.added_at ${direction}, fs.message_id ${direction}) AS place
      FROM fact_source fs
      JOIN message m ON m.tenant_id = fs.tenant_id AND m.id = fs.message_id
      JOIN session e ON e.tenant_id = m.tenant_id AND e.id = m.session_id
      WHERE fs.tenant_id = ${unit.tenantId}::uuid AND fs.fact_id = ANY(${[...factIds]}::uuid[])
        AND ${rangeCondition('e', range)}
        AND ${beyond(page.after, '>')} AND ${beyond(page.before, '<')}
    ) ranked WHERE place <= ${page.limit + 1}::int ORDER BY "factId", place`;
  const byFact = new Map<string, (MessageRecord & { addedAt: Date })[]>();
  for (const { factId, ...row } of rows) {
    const sources = byFact.get(factId) ?? [];
    sources.push({ ...toMessage(unit, row), addedAt: row.addedAt });
    byFact.set(factId, sources);
  }
  return byFact;
}
