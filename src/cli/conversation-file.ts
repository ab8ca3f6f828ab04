import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { CliError } from './cli-error.js';
import { lineAt, lineOf } from './json-position.js';
import {
  type GivenConversation,
  type GivenMessage,
  isLocomo,
  readLocomo,
  sessionDateTime,
  text,
} from './locomo-file.js';
import { sessionTime } from './session-time.js';

/** A message as the API takes it, and the line of the file that it is from. */
export interface ImportMessage {
  readonly role: 'USER' | 'ASSISTANT' | 'SYSTEM' | 'TOOL';
  readonly content: string;
  readonly externalId: string;
  readonly speaker: string | null;
  /** ISO 8601. */
  readonly sentAt: string | null;
  readonly line: number;
}

/** Messages of one session in the order in which they were said. */
export interface ImportSession {
  readonly externalId: string;
  readonly messages: readonly ImportMessage[];
}

/** A question about a conversation, and the messages that answer it. */
export interface Question {
  readonly question: string;
  readonly category: number;
  /** External ids of messages. */
  readonly evidence: readonly string[];
}

export interface Conversation {
  /** Unique among the files of a directory. */
  readonly id: string;
  readonly file: string;
  readonly sessions: readonly ImportSession[];
  readonly messageCount: number;
  readonly questions: readonly Question[];
}

const schema = z.object({
  id: text.optional(),
  messages: z
    .array(
      z.object({
        session: z.number().int().min(0),
        sessionDateTime: sessionDateTime.optional(),
        speaker: text.max(200).optional(),
        diaId: text.max(200),
        text: z.string(),
        imageCaption: z.string().optional(),
      }),
    )
    .min(1),
  questions: z
    .array(z.object({ question: text, category: z.number().int(), evidence: z.array(z.string()) }))
    .default([]),
});

/** Conversation files: the one that is named, or every `*.json` of a directory, in the order of their names. */
export async function conversationFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new CliError(`${path}: no such file or directory`, 'BAD_FILE');
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.json')).sort();
  if (names.length === 0) throw new CliError(`${path}: holds no .json file`, 'BAD_FILE');
  return names.map((name) => join(path, name));
}

/**
 * Reads all conversations before anything is done with the first.
 * @throws CliError naming file, line and field; also for two conversations with one id
 */
export async function readConversations(path: string): Promise<Conversation[]> {
  const conversations: Conversation[] = [];
  for (const file of await conversationFiles(path)) {
    for (const conversation of parseConversations(file, await readFile(file, 'utf8'))) {
      const twin = conversations.find(({ id }) => id === conversation.id);
      if (twin)
        throw new CliError(`${file}: the id ${conversation.id} is one of ${twin.file} too`, 'BAD_FILE');
      conversations.push(conversation);
    }
  }
  return conversations;
}

/** The one conversation of a file. @throws CliError as {@link parseConversations} does, and for several */
export function parseConversation(file: string, json: string): Conversation {
  const [conversation, another] = parseConversations(file, json);
  if (!conversation || another) throw at(file, 1, 'holds several conversations');
  return conversation;
}

/**
 * Conversations from the text of a file: one in Salient's own form, or those of LoCoMo as it is published. A session a
 * number, in the order of their first messages; what a picture shows is told in the text, `[shares …]`, so that it is
 * found by it.
 * @throws CliError naming file, line and field
 */
export function parseConversations(file: string, json: string): Conversation[] {
  const given = parseJson(file, json);
  try {
    const conversations = isLocomo(given) ? readLocomo(given) : [ownForm(given)];
    return conversations.map((conversation, index) => {
      const name = basename(file, '.json');
      return toConversation(file, json, conversation, index === 0 ? name : `${name}-${index + 1}`);
    });
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    const path = issue?.path ?? [];
    throw at(file, lineOf(json, path), `${path.join('.') || 'the file'}: ${issue?.message}`);
  }
}

function ownForm(given: unknown): GivenConversation {
  const { id, messages, questions } = schema.parse(given);
  return {
    id,
    messages: messages.map((message, index) => ({ ...message, path: ['messages', index] })),
    questions,
  };
}

function toConversation(
  file: string,
  json: string,
  { id: named, messages, questions }: GivenConversation,
  otherwise: string,
): Conversation {
  const id = named ?? otherwise;
  const sessions = new Map<number, ImportMessage[]>();
  const seen = new Set<string>();
  for (const message of messages) {
    const line = () => lineOf(json, message.path);
    const where = message.path.join('.');
    const content = contentOf(message);
    if (content === '') throw at(file, line(), `${where}: neither text nor the caption of a picture`);
    const key = JSON.stringify([message.session, message.diaId]);
    if (seen.has(key)) throw at(file, line(), `${where}: its id is twice in the session`);
    seen.add(key);
    const held = message.sessionDateTime === undefined ? null : sessionTime(message.sessionDateTime);
    const session = sessions.get(message.session) ?? [];
    sessions.set(message.session, session);
    session.push({
      role: 'USER',
      content,
      externalId: message.diaId,
      speaker: message.speaker ?? null,
      sentAt: held?.toISOString() ?? null,
      get line() {
        return line();
      },
    });
  }
  return {
    id,
    file,
    messageCount: messages.length,
    sessions: [...sessions].map(([number, list]) => ({ externalId: `${id}/${number}`, messages: list })),
    questions,
  };
}

function contentOf({ text, imageCaption }: GivenMessage): string {
  const caption = imageCaption?.trim();
  return [text.trim(), ...(caption ? [`[shares ${caption}]`] : [])].filter(Boolean).join(' ');
}

function parseJson(file: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    // V8 names the offset; its message may quote the text, which is content.
    const offset = /position (\d+)/.exec((error as Error).message)?.[1];
    throw at(
      file,
      offset === undefined ? lineAt(json, json.length) : lineAt(json, Number(offset)),
      'not JSON',
    );
  }
}

/** An error that points into a file. */
export function at(file: string, line: number, what: string): CliError {
  return new CliError(`${file}:${line}: ${what}`, 'BAD_FILE');
}
