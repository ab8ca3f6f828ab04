import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { at, type ImportMessage } from './conversation-file.js';

/** A message and the session that it belongs to. */
export interface SessionMessage {
  readonly session: string;
  readonly message: ImportMessage;
}

const ROLES = ['USER', 'ASSISTANT', 'SYSTEM', 'TOOL'] as const;

const line = z.object({
  session: z.union([z.string().min(1).max(200), z.number().int()]),
  externalId: z.string().min(1).max(200).nullish(),
  role: z.string().toUpperCase().pipe(z.enum(ROLES)),
  speaker: z.string().min(1).max(200).nullish(),
  content: z.string().refine((value) => value.trim() !== '', 'must not be blank'),
  sentAt: z.iso.datetime({ offset: true, error: 'must be an ISO 8601 time with a zone' }).nullish(),
});

/**
 * Messages from lines of JSON, each `{session, externalId?, role, speaker?, content, sentAt?}`; blank lines are
 * skipped. One without an external id gets one from what it says and how often the session has said so before: the
 * same lines again are the same messages.
 * @param name of the input, for errors
 * @throws CliError naming the line and the field, when it is reached
 */
export async function* readMessageLines(
  name: string,
  input: NodeJS.ReadableStream,
): AsyncGenerator<SessionMessage> {
  const said = new Map<string, number>();
  let number = 0;
  for await (const json of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (json.trim() === '') continue;
    const given = parsed(json);
    if (given === undefined) throw at(name, number, 'not JSON');
    const result = line.safeParse(given);
    if (!result.success) {
      const [issue] = result.error.issues;
      throw at(name, number, `${issue?.path.join('.') || 'the line'}: ${issue?.message}`);
    }
    const { role, content, externalId, speaker, sentAt } = result.data;
    const session = String(result.data.session);
    yield {
      session,
      message: {
        role,
        content,
        speaker: speaker ?? null,
        sentAt: sentAt ?? null,
        externalId: externalId ?? idOf(said, session, [role, speaker ?? null, content, sentAt ?? null]),
        line: number,
      },
    };
  }
}

function idOf(said: Map<string, number>, session: string, message: readonly (string | null)[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([session, ...message]))
    .digest('hex')
    .slice(0, 32);
  const times = (said.get(hash) ?? 0) + 1;
  said.set(hash, times);
  return `import:${hash}:${times}`;
}

/** Undefined for what is not JSON; the parser's own message would quote it. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
