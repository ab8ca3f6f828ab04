import { contentOf, type NewMessage } from '../db/index.js';
import { embedLeniently } from '../embedding/index.js';
import { BadInputError, type InputPath } from '../errors.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import { checkOptionalName, type TenantContext } from '../tenancy/index.js';
import { analyzeDocument, countCharacters, scanMessage, turnMarks } from '../text/index.js';

export interface MessageInput {
  readonly role: 'USER' | 'ASSISTANT' | 'SYSTEM' | 'TOOL';
  readonly content: string;
  readonly externalId?: string | null;
  readonly speaker?: string | null;
  readonly sentAt?: Date | null;
}

/** Most messages of one append, and the longest content of one, in characters (Unicode code points). */
export const MAX_MESSAGES = 200;
export const MAX_MESSAGE_CHARACTERS = 32_000;
const MAX_APPEND_CHARACTERS = 1_000_000;

/**
 * Checks the messages of an append. What they say is kept whatever it is (SPEC §2.5); only what cannot be stored is
 * refused: blank, NUL and other control characters but line breaks and tabs, broken Unicode.
 * @throws BadInputError naming the message and the limit; nothing is stored then
 */
export function checkMessages(messages: readonly MessageInput[]): MessageInput[] {
  if (messages.length === 0 || messages.length > MAX_MESSAGES) {
    throw new BadInputError(`messages must be 1 to ${MAX_MESSAGES}, not ${messages.length}`, ['messages']);
  }
  const total = messages.reduce((sum, message) => sum + countCharacters(message.content), 0);
  if (total > MAX_APPEND_CHARACTERS) {
    throw new BadInputError(
      `messages must have at most ${MAX_APPEND_CHARACTERS} characters together, not ${total}`,
      ['messages'],
    );
  }
  return messages.map((message, index) => {
    const path = ['messages', index, 'content'];
    const content = message.content.normalize('NFC');
    if (content.trim() === '') throw new BadInputError('content must not be blank', path);
    const characters = countCharacters(content);
    if (characters > MAX_MESSAGE_CHARACTERS) {
      throw new BadInputError(
        `content must have at most ${MAX_MESSAGE_CHARACTERS} characters, not ${characters}`,
        path,
      );
    }
    if (!content.isWellFormed())
      throw new BadInputError('content must be well-formed Unicode, without lone surrogates', path);
    if (/[^\P{Cc}\n\r\t]/u.test(content))
      throw new BadInputError('content must not hold control characters', path);
    return {
      role: message.role,
      content,
      externalId: checkNamed(message.externalId, 'externalId', ['messages', index, 'externalId']),
      speaker: checkNamed(message.speaker, 'speaker', ['messages', index, 'speaker']),
      sentAt: message.sentAt ?? null,
    };
  });
}

/** `checkOptionalName` of a field inside the input. @throws BadInputError with this path */
export function checkNamed(value: string | null | undefined, field: string, path: InputPath): string | null {
  try {
    return checkOptionalName(value, field);
  } catch (error) {
    throw error instanceof BadInputError ? new BadInputError(error.message, path) : error;
  }
}

/**
 * Computes flags, terms and vectors of checked messages, outside of any transaction. A message at which the encoder
 * fails has no vector: it is kept, and found by its words.
 */
export async function prepareMessages(
  deps: Pick<Services, 'embedding' | 'log'>,
  tenant: TenantContext,
  messages: readonly MessageInput[],
): Promise<NewMessage[]> {
  const content = contentOf(tenant.hashKey);
  // Without its speaker: a name would weigh more in the vector than all that is said. A query is turned round instead.
  const { vectors, failed, code } = await embedLeniently(
    messages.map(({ content }) => content),
    (texts) => deps.embedding.embedWindows(texts),
  );
  if (failed > 0)
    deps.log.warn(
      { tenantId: tenant.id, messages: failed, code },
      'the encoder failed: messages are kept without vectors',
    );
  return messages.map((message, index) => {
    const { terms, length } = analyzeDocument(message.content);
    return {
      id: newId(),
      role: message.role,
      content: message.content,
      characters: countCharacters(message.content),
      speaker: message.speaker ?? null,
      externalId: message.externalId ?? null,
      flags: [...new Set([...scanMessage(message.content), ...scanMessage(message.speaker ?? '')])],
      sentAt: message.sentAt ?? null,
      terms: [
        ...terms.map(({ term, count }) => ({ term: content.term(term), count })),
        // Found like words, but none of them: they count for nothing in what the message holds.
        ...turnMarks({ content: message.content, speaker: message.speaker ?? null }).map((mark) => ({
          term: content.term(mark),
          count: 0,
        })),
      ],
      length,
      windows: vectors[index] ?? [],
    };
  });
}
