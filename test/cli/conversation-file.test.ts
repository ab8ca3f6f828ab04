import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Conversation, parseConversations, readConversations } from '../../src/cli/conversation-file.js';
import { lineOf } from '../../src/cli/json-position.js';
import { meanRecall, recallByCategory, sharesFound } from '../../src/cli/recall-metric.js';
import { sessionTime } from '../../src/cli/session-time.js';

describe('the time of a session', () => {
  test.each([
    ['1:56 pm on 8 May, 2023', '2023-05-08T13:56:00.000Z'],
    ['12:05 am on 1 January, 2024', '2024-01-01T00:05:00.000Z'],
    ['12:30 pm on 29 February, 2024', '2024-02-29T12:30:00.000Z'],
    ['2023-05-08T13:56:00+02:00', '2023-05-08T11:56:00.000Z'],
    ['2023-05-08 13:56', '2023-05-08T13:56:00.000Z'],
    ['2023-05-08', '2023-05-08T00:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(sessionTime(text)?.toISOString()).toBe(expected);
  });

  test.each([
    '',
    'yesterday',
    '13:00 pm on 8 May, 2023',
    '1:00 pm on 31 June, 2023',
    '2023-02-30',
    '1:00 pm on 8 Mai, 2023',
  ])('is none: "%s"', (text) => {
    expect(sessionTime(text)).toBeNull();
  });
});

test('the line of any value of a JSON text is found', () => {
  const key = fc.stringMatching(/^[a-z"\\{[,:]{1,4}$/);
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(json, (value) => {
      const marked: (string | number)[][] = [];
      const walk = (at: unknown, path: (string | number)[]) => {
        marked.push(path);
        if (Array.isArray(at)) {
          for (const [i, each] of at.entries()) walk(each, [...path, i]);
        }
        if (typeof at === 'object' && at !== null && !Array.isArray(at))
          for (const [name, each] of Object.entries(at)) walk(each, [...path, name]);
      };
      walk(value, []);
      // Each value is where a mark in its place is.
      for (const path of marked) {
        const text = JSON.stringify(value, null, 1);
        const copy = structuredClone({ root: value }) as Record<string, unknown>;
        let parent: Record<string | number, unknown> = copy;
        let name: string | number = 'root';
        for (const step of path) {
          parent = parent[name] as Record<string | number, unknown>;
          name = step;
        }
        parent[name] = '\u2603mark';
        const before = JSON.stringify(copy['root'], null, 1).split('\u2603mark')[0] ?? '';
        expect(lineOf(text, path)).toBe(before.split('\n').length);
      }
    }),
    { numRuns: 200 },
  );
});

describe('R@k', () => {
  test('is the share of the evidence within the first k ids, repeats dropped', () => {
    const many = Array.from({ length: 9 }, (_, i) => [`x${i}`]);
    expect(sharesFound(['a', 'b'], [['a'], ['a', 'x'], ...many, ['b']])).toEqual([0.5, 0.5, 1, 1]);
    expect(sharesFound(['a', 'a'], [['a']])).toEqual([1, 1, 1, 1]);
    expect(sharesFound(['a'], [])).toEqual([0, 0, 0, 0]);
    expect(sharesFound([], [['a']])).toBeNull();
  });

  test('is a mean over questions, of all and of each category', () => {
    const answered = [
      { category: 4, shares: [0, 1, 1, 1] },
      { category: 1, shares: [0, 0, 0.5, 1] },
      { category: 4, shares: [1, 1, 1, 1] },
      { category: 4, shares: [1, 1, 1, 1] },
    ];
    expect(meanRecall(answered)).toEqual({ questions: 4, at: [50, 75, 87.5, 100] });
    expect([...recallByCategory(answered)].map(([category, { questions }]) => [category, questions])).toEqual(
      [
        [1, 1],
        [4, 3],
      ],
    );
  });
});

/** A conversation of the repository in the form in which LoCoMo publishes its own. */
function asPublished(own: OwnForm) {
  const conversation: Record<string, unknown> = { speaker_a: 'A', speaker_b: 'B' };
  for (const { session, sessionDateTime, speaker, diaId, text, imageCaption } of own.messages) {
    conversation[`session_${session}_date_time`] = sessionDateTime;
    const turn = { speaker, dia_id: diaId, text, ...(imageCaption ? { blip_caption: imageCaption } : {}) };
    conversation[`session_${session}`] = [
      ...((conversation[`session_${session}`] as unknown[]) ?? []),
      { ...turn, img_url: ['https://example.org/1.jpg'], query: 'a search' },
    ];
  }
  // Written in another order than that of their numbers, with the time of a session that was never held.
  const shuffled = Object.fromEntries(Object.entries(conversation).reverse());
  return {
    sample_id: own.id,
    conversation: { ...shuffled, session_99_date_time: '1:00 pm on 1 May, 2023' },
    qa: own.questions.map(({ evidence, ...one }, n) => ({
      ...one,
      answer: n,
      evidence: n % 2 === 0 ? [evidence.join('; ')] : evidence,
    })),
    event_summary: {},
    observation: {},
    session_summary: {},
  };
}

interface OwnForm {
  readonly id: string;
  readonly messages: {
    session: number;
    sessionDateTime: string;
    speaker: string;
    diaId: string;
    text: string;
    imageCaption?: string;
  }[];
  readonly questions: { question: string; category: number; evidence: string[] }[];
}

/** Without the lines, which belong to a file. */
const contentOf = ({ file: _file, sessions, ...rest }: Conversation) => ({
  ...rest,
  sessions: sessions.map(({ externalId, messages }) => ({
    externalId,
    messages: messages.map(({ role, content, externalId: id, speaker, sentAt }) => [
      role,
      content,
      id,
      speaker,
      sentAt,
    ]),
  })),
});

describe('conversations as LoCoMo publishes them', () => {
  const data = new URL('../recall/data/', import.meta.url);
  const own = ['harbour', 'studio', 'siblings'].map(
    (name) => JSON.parse(readFileSync(new URL(`${name}.json`, data), 'utf8')) as OwnForm,
  );
  const expected = own.map((one) => contentOf(parseConversations('own.json', JSON.stringify(one))[0]!));

  test('say the same as in the form of this project, several in one file', () => {
    const file = JSON.stringify(own.map(asPublished), null, 2);
    expect(parseConversations('locomo10.json', file).map(contentOf)).toEqual(expected);
    const [first] = own.map(asPublished);
    expect(parseConversations('one.json', JSON.stringify(first)).map(contentOf)).toEqual([expected[0]]);
  });

  test('are read from a directory with others, and two with one id are refused', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'salient-locomo-'));
    try {
      await writeFile(join(directory, 'b.json'), JSON.stringify(own.slice(1).map(asPublished)));
      await writeFile(join(directory, 'a.json'), JSON.stringify(own[0]));
      expect((await readConversations(directory)).map(contentOf)).toEqual(expected);
      await writeFile(join(directory, 'c.json'), JSON.stringify(asPublished(own[1]!)));
      await expect(readConversations(directory)).rejects.toThrow(
        /c\.json: the id studio is one of .*b\.json too/,
      );
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test.each<[string, (given: ReturnType<typeof asPublished>) => void, RegExp]>([
    [
      'no session',
      (given) => Object.assign(given, { conversation: { speaker_a: 'A' } }),
      /:\d+: 1\.conversation: has no session_1/,
    ],
    [
      'a turn without an id',
      (given) => delete first(given)['dia_id'],
      /:\d+: 1\.conversation\.session_1\.0\.dia_id: /,
    ],
    [
      'a turn that says nothing',
      (given) => Object.assign(first(given), { text: ' ' }),
      /:\d+: 1\.conversation\.session_1\.0: neither/,
    ],
    [
      'a time that is none',
      (given) => Object.assign(given.conversation, { session_1_date_time: 'noon' }),
      /:\d+: 1\.conversation\.session_1_date_time: must be a time/,
    ],
  ])('with %s are refused, with the line', (_name, spoil, message) => {
    const given = structuredClone(own.map(asPublished));
    spoil(given[1]!);
    const json = JSON.stringify(given, null, 1);
    const told = (() => {
      try {
        parseConversations('locomo10.json', json);
        return 'nothing';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(told).toMatch(message);
    // The line is one of the second sample's.
    const line = Number(/:(\d+):/.exec(told)?.[1]);
    expect(line).toBeGreaterThan(JSON.stringify(given[0], null, 1).split('\n').length);
  });

  function first({ conversation }: ReturnType<typeof asPublished>): Record<string, unknown> {
    return (conversation as unknown as Record<string, Record<string, unknown>[]>)['session_1']![0]!;
  }
});
