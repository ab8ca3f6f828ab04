import { z } from 'zod';
import { sessionTime } from './session-time.js';

/** A conversation as its file gives it, in one form whatever the file's. */
export interface GivenConversation {
  readonly id: string | undefined;
  readonly messages: readonly GivenMessage[];
  readonly questions: readonly {
    readonly question: string;
    readonly category: number;
    readonly evidence: readonly string[];
  }[];
}

export interface GivenMessage {
  readonly session: number;
  readonly sessionDateTime?: string | undefined;
  readonly speaker?: string | undefined;
  readonly diaId: string;
  readonly text: string;
  readonly imageCaption?: string | undefined;
  /** Where in the file it is. */
  readonly path: readonly (string | number)[];
}

/** Text that says something. */
export const text = z.string().refine((value) => value.trim() !== '', 'must not be blank');
/** When a session was held. */
export const sessionDateTime = z
  .string()
  .refine(
    (value) => sessionTime(value) !== null,
    'must be a time, like "1:56 pm on 8 May, 2023" or 2023-05-08T13:56:00Z',
  );

const SESSION = /^session_(\d+)$/;

const message = z.object({
  speaker: text.max(200).optional(),
  dia_id: text.max(200),
  text: z.string().default(''),
  blip_caption: z.string().optional(),
});
const sample = z.object({
  sample_id: text.optional(),
  // Its keys are numbered, and others stand between them.
  conversation: z
    .record(z.string(), z.unknown())
    .refine((value) => Object.keys(value).some((key) => SESSION.test(key)), 'has no session_1, session_2, …'),
  qa: z
    .array(
      z.object({ question: text, category: z.number().int(), evidence: z.array(z.string()).default([]) }),
    )
    .default([]),
});

/** Whether a file is in the form in which LoCoMo is published: `locomo10.json`, or one of its samples. */
export function isLocomo(given: unknown): boolean {
  return (
    Array.isArray(given) ||
    (typeof given === 'object' && given !== null && Object.hasOwn(given, 'conversation'))
  );
}

/**
 * Conversations from the form in which LoCoMo is published: `sample_id`, `conversation` with `session_1`,
 * `session_1_date_time` and so on, `qa`. Summaries and observations that stand beside them are not read.
 * @throws ZodError with paths in the file
 */
export function readLocomo(given: unknown): GivenConversation[] {
  const root = Array.isArray(given) ? [] : null;
  const samples = root ? z.array(sample).min(1).parse(given) : [sample.parse(given)];
  return samples.map(({ sample_id, conversation, qa }, index) => {
    const path = [...(root ? [index] : []), 'conversation'];
    return {
      id: sample_id,
      messages: sessionsOf(conversation).flatMap((number) => messagesOf(conversation, number, path)),
      questions: qa.map((one) => ({ ...one, evidence: one.evidence.flatMap(idsIn) })),
    };
  });
}

function sessionsOf(conversation: Record<string, unknown>): number[] {
  const numbers = Object.keys(conversation).flatMap((key) => SESSION.exec(key)?.[1] ?? []);
  return numbers.map(Number).sort((a, b) => a - b);
}

function messagesOf(
  conversation: Record<string, unknown>,
  session: number,
  path: readonly (string | number)[],
): GivenMessage[] {
  const key = `session_${session}`;
  const messages = placed([...path, key], () => z.array(message).parse(conversation[key]));
  const held = placed([...path, `${key}_date_time`], () =>
    sessionDateTime.optional().parse(conversation[`${key}_date_time`]),
  );
  return messages.map(({ dia_id, blip_caption, ...rest }, index) => ({
    ...rest,
    session,
    sessionDateTime: held,
    diaId: dia_id,
    imageCaption: blip_caption,
    path: [...path, key, index],
  }));
}

/** Runs a parser of a part; the paths of its errors are those in the whole. */
function placed<T>(path: readonly (string | number)[], parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
  }
}

/** The published evidence now and then names several messages in one text: `D8:6; D9:17`. */
function idsIn(evidence: string): string[] {
  return evidence.match(/D\d+:\d+/g) ?? [];
}
