import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExtractorInput, ExtractorMessage } from '../../src/extraction/extractor.js';
import { createRulesExtractor } from '../../src/extraction/rules-extractor.js';
import { FACT_KINDS } from '../../src/text/fact-text.js';
import { HELD_OUT, type Labelled, TUNED } from './rules-corpus.js';

const extractor = createRulesExtractor();
const REFERENCE = new Date('2026-06-15T12:00:00Z');

const say = (content: string, extra: Partial<ExtractorMessage> = {}): ExtractorMessage => ({
  id: 'm1',
  role: 'USER',
  content,
  sentAt: REFERENCE,
  ...extra,
});

const extract = (messages: readonly ExtractorMessage[] | string, known: ExtractorInput['known'] = []) =>
  extractor.extract(
    { referenceTime: REFERENCE, messages: typeof messages === 'string' ? [say(messages)] : messages, known },
    new AbortController().signal,
  );

const texts = async (messages: readonly ExtractorMessage[] | string) =>
  (await extract(messages)).add.map(({ text }) => text);
const only = async (messages: readonly ExtractorMessage[] | string) => {
  const { add } = await extract(messages);
  expect(add).toHaveLength(1);
  return add[0]!;
};

async function kindOf(text: string): Promise<string> {
  const { add } = await extract(text);
  return add[0]?.kind ?? 'NOTHING';
}

async function misses(corpus: readonly Labelled[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const { expected, text } of corpus) {
    const kind = await kindOf(text);
    if (kind !== expected) wrong.push(`${text} is ${expected}, not ${kind}`);
  }
  return wrong;
}

describe('kinds', () => {
  it.each(TUNED)('$expected: $text', async ({ expected, text }) => expect(await kindOf(text)).toBe(expected));

  it('holds on sentences that it was not tuned on: 95 of 98', async () => {
    expect(HELD_OUT).toHaveLength(98);
    expect((await misses(HELD_OUT)).length).toBeLessThanOrEqual(3);
  });

  it('tells durable from not on all but one of them', async () => {
    const wrong = (await misses(HELD_OUT)).filter((line) => /is NOTHING|not NOTHING/.test(line));
    expect(wrong.length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['USER_PROFILE', 'Ich heiße Jörg und wohne in Graz.'],
    ['PREFERENCE', 'Ich trinke lieber Tee als Kaffee.'],
    ['DECISION', 'Wir haben uns für PostgreSQL entschieden.'],
    ['USER_PROFILE', "J'habite à Lyon avec ma femme."],
    ['PREFERENCE', "Je préfère les réponses courtes et j'adore le jazz."],
    ['USER_PROFILE', 'Me llamo Lucía y vivo en Sevilla.'],
    ['PREFERENCE', 'Me encantan los gatos y la playa.'],
    ['PREFERENCE', 'Ho deciso: preferisco il tè al caffè della mattina.'],
    ['USER_PROFILE', 'Eu moro em Recife com a minha família.'],
    ['PREFERENCE', 'Я люблю гулять в парке.'],
    ['USER_PROFILE', 'Меня зовут Олег.'],
    ['PREFERENCE', '我喜欢深色模式'],
    ['USER_PROFILE', '我住在杭州。'],
    ['PREFERENCE', '私は猫が大好きです。'],
    ['USER_PROFILE', '저는 부산에 살아요.'],
    ['NOTHING', '你喜欢什么颜色？'],
    ['NOTHING', 'Kannst du mir bitte helfen?'],
    ['NOTHING', 'Merci beaucoup pour votre aide !'],
  ])('%s in other languages: %s', async (expected, text) => expect(await kindOf(text)).toBe(expected));
});

describe('whose words', () => {
  it('reads users only', async () => {
    const { add } = await extract([
      say('I live in Kyoto.', { role: 'ASSISTANT' }),
      say('I live in Kyoto.', { role: 'SYSTEM' }),
      say('I live in Kyoto.', { role: 'TOOL' }),
    ]);
    expect(add).toEqual([]);
  });

  it('keeps the user’s words without greetings and fillers', async () => {
    expect(await texts('Hey there! So, please remember that I’m allergic to latex. Thanks!')).toEqual([
      "I'm allergic to latex",
    ]);
    expect(await texts('hi ⏎\nI prefer tabs over spaces')).toEqual(['I prefer tabs over spaces']);
    expect(await texts('by the way, my editor is Helix 🙂')).toEqual(['My editor is Helix']);
    expect(await texts('I prefer my seat on the right.')).toEqual(['I prefer my seat on the right']);
    expect(await texts('I like my eggs soft, please')).toEqual(['I like my eggs soft']);
    expect(await texts('pnpm is my favourite package manager')).toEqual([
      'pnpm is my favourite package manager',
    ]);
    expect(await texts('FYI: the repo uses pnpm, ok?')).toEqual([]);
  });

  it('names the speaker where there is one', async () => {
    const fact = await only([say('I adopted a cat in May.', { speaker: 'Ann' })]);
    expect(fact.text).toBe('Ann: I adopted a cat in May');
    expect(fact.subject).toBe('Ann');
    expect(fact.entities).toContain('Ann');
  });

  it.each(['User', 'system', 'ASSISTANT', '', '  ', null])('takes %j for no name', async (speaker) => {
    expect((await only([say('I adopted a cat in May.', { speaker })])).text).toBe('I adopted a cat in May');
  });

  it('tells two speakers apart, and joins what one says twice', async () => {
    const { add } = await extract([
      say('I love opera.', { id: 'a', speaker: 'Ann' }),
      say('I love opera!', { id: 'b', speaker: 'Bo' }),
      say('Well, I love opera.', { id: 'c', speaker: 'Ann' }),
    ]);
    expect(add.map(({ text, sourceMessageIds }) => [text, sourceMessageIds])).toEqual([
      ['Ann: I love opera', ['a', 'c']],
      ['Bo: I love opera', ['b']],
    ]);
  });

  it('joins a sentence about the same person to the one that names them', async () => {
    expect(await texts('My sister Vera moved to Rome. She teaches Latin at a school there.')).toEqual([
      'My sister Vera moved to Rome. She teaches Latin at a school there',
    ]);
    expect(await texts('She teaches Latin at a school there.')).toEqual([]);
  });
});

describe('what is not the user’s statement', () => {
  it.each([
    ['a code block', '```\nI prefer spaces\n```'],
    ['an open code block', 'look:\n~~~sh\nI prefer spaces'],
    ['a quotation', '> I prefer spaces\n> The repo uses Maven.'],
    ['an example', 'Example:\nThe project uses Java 8.\nI live in Springfield.'],
    ['an example in line', 'for example: I use Windows 95'],
    ['a log', '2026-06-01T10:00:00 I use Windows 95\n[INFO] The project uses Java 8'],
    ['a stack trace', '    at I.prefer (spaces.js:1:1)'],
    ['a heading', '# The project uses Java 8'],
    ['a table', '| I prefer spaces | The project uses Java 8 |'],
    ['a command', '$ we use rsync here for backups'],
    ['reported speech', 'She said "I hate my job in Oslo".'],
    ['source code', 'const text = call("I live in Rome"); if (x) { return [y]; }'],
  ])('%s', async (_, content) => expect((await extract(content)).add).toEqual([]));

  it('goes on after it', async () => {
    expect(
      await texts('```\nI prefer spaces\n```\nI prefer tabs.\n\nExample:\nI use vi.\n\nI use Emacs 29.'),
    ).toEqual(['I prefer tabs', 'I use Emacs 29']);
  });

  it('trusts a pasted document less, and a hedged sentence', async () => {
    const typed = await only('The project uses Java 21.');
    const pasted = await only('# Guide\n\nThe project uses Java 21.\n\n# Appendix');
    const hedged = await only('I think the project probably uses Java 21.');
    expect(pasted.confidence).toBeLessThan(typed.confidence);
    expect(hedged.confidence).toBeLessThan(typed.confidence);
  });

  it('reads lists and wrapped lines', async () => {
    expect(await texts('My set-up:\n- I use macOS 15\n- my shell is zsh\n1. The repo uses Bazel')).toEqual([
      'I use macOS 15',
      'My shell is zsh',
      'The repo uses Bazel',
    ]);
    const wrapped =
      'We decided to move the whole build of the mobile application to\nBazel because Gradle was too slow for us.';
    expect(await texts(wrapped)).toEqual([
      'We decided to move the whole build of the mobile application to Bazel because Gradle was too slow for us',
    ]);
  });
});

describe('the parts of a fact', () => {
  it.each([
    ['I prefer tabs over spaces', 'user', 'prefers', 'tabs over spaces'],
    ['My wife is a violinist', "user's wife", 'is', 'a violinist'],
    ['My favourite band is Portishead', 'user', 'has favourite band', 'Portishead'],
    ['I live in Rotterdam', 'user', 'lives', 'in Rotterdam'],
    ['I don’t eat pork', 'user', 'does not eat', 'pork'],
    ['The repo uses pnpm', 'the repo', 'uses', 'pnpm'],
    ['My editor is Neovim', "user's editor", 'is', 'Neovim'],
    ['Nadia works for Siemens', 'Nadia', 'works', 'for Siemens'],
    [
      'We decided to drop Redis because it is slow',
      'we',
      'decision',
      'decided to drop Redis because it is slow',
    ],
    ['Never push to main', undefined, 'convention', 'Never push to main'],
  ])('%s', async (text, subject, predicate, object) => {
    const fact = await only(text);
    expect({ subject: fact.subject, predicate: fact.predicate, object: fact.object }).toEqual({
      subject,
      predicate,
      object,
    });
  });

  it.each([
    [
      'I work with Jean-Luc Moreau at the Bank of England in London.',
      ['Jean-Luc Moreau', 'Bank of England', 'London'],
    ],
    [
      'We use PostgreSQL 16, pnpm and GitHub Actions on k8s.',
      ['PostgreSQL', 'GitHub Actions', 'pnpm', 'k8s'],
    ],
    ['Dr. Okafor prescribed metformin for my father.', ['Dr. Okafor']],
    ['Yesterday I visited the Van Gogh Museum with Ana and Ben.', ['Van Gogh Museum', 'Ana', 'Ben']],
    ['I love Tolkien\'s books and the film "Spirited Away".', ['Spirited Away', 'Tolkien']],
    ['On Monday I met the CEO of AT&T in March.', ['AT&T']],
    ['I prefer tabs over spaces', []],
    ['My shell is fish.', ['fish']],
    ['I love fish and chips.', []],
    ['Our entry point lives in src/main.ts and needs @acme/core.', ['main.ts', '@acme/core']],
  ])('names in: %s', async (text, entities) => {
    const fact = await only(text);
    expect([...fact.entities].sort()).toEqual([...entities].sort());
  });

  it.each([
    ["I've worked at Nokia since March 2021", '2021-03-01'],
    ['I have lived in Graz since 2019', '2019-01-01'],
    ['My brother moved to Canada on 5 May 2023', '2023-05-05'],
    ['We decided on May 7th, 2024 to drop Redis', '2024-05-07'],
    ['I was born in 1988', '1988-01-01'],
    ['The project uses Java as of 2025-11-30', '2025-11-30'],
  ])('validFrom of: %s', async (text, date) => {
    expect((await only(text)).validFrom?.toISOString().slice(0, 10)).toBe(date);
  });

  it.each([
    'I live in Graz',
    'I moved to Graz last year',
    "I'm planning to move to Spain in 2031",
    'I have lived in Graz since 31 June 2020',
    'My favourite year is 1984',
  ])('no validFrom: %s', async (text) => expect((await only(text)).validFrom).toBeUndefined());
});

describe('what replaces a known fact', () => {
  const known = (text: string, kind: (typeof FACT_KINDS)[number] = 'USER_PROFILE') => [
    { label: 'f1', kind, text },
  ];

  it.each([
    ['I live in Munich', 'I moved to Hamburg last month.'],
    ['I live in Munich', 'I live in Hamburg now.'],
    ['My email is a@example.org', 'My email is b@example.org'],
    ['My favourite band is Portishead', 'My favourite band is Low.'],
    ['I work at Nokia', 'I work for Siemens now.'],
    ['We use npm for installs', 'We switched from npm to pnpm.'],
    ['My editor is Vim', 'My editor is Helix.'],
  ])('%s → %s', async (old, text) => {
    const { add, supersede } = await extract(text, known(old));
    expect(supersede.map(({ label }) => label)).toEqual(['f1']);
    expect(add).toEqual([]);
  });

  it.each([
    ['I live in Munich', 'I live in Munich.'],
    ['I live in Munich', 'I lived in Hamburg as a child.'],
    ['I live in Munich', 'My sister lives in Hamburg.'],
    ['My favourite band is Portishead', 'My favourite season is autumn.'],
    ['I have a dog', 'I have two cats.'],
    ['Ann: I live in Munich', 'I live in Hamburg.'],
    ['We use npm for installs', 'We use pnpm for the monorepo.'],
    ['My name is Ann', 'My dog’s name is Rex.'],
    ['My editor is Vim', 'My shell is fish.'],
  ])('%s stays with %s', async (old, text) => {
    expect((await extract(text, known(old))).supersede).toEqual([]);
  });

  it('keeps speakers apart', async () => {
    const facts = [
      { label: 'f1', kind: 'USER_PROFILE' as const, text: 'Ann: I live in Munich' },
      { label: 'f2', kind: 'USER_PROFILE' as const, text: 'Bo: I live in Bremen' },
    ];
    const { supersede } = await extract([say('I moved to Hamburg.', { speaker: 'Bo' })], facts);
    expect(supersede).toMatchObject([
      { label: 'f2', text: 'Bo: I moved to Hamburg', kind: 'USER_PROFILE', entities: ['Hamburg', 'Bo'] },
    ]);
  });

  it('does not choose among several', async () => {
    const facts = [
      ...known('I use npm at work', 'ENV'),
      { label: 'f2', kind: 'PROJECT' as const, text: 'The repo uses npm' },
    ];
    expect((await extract('We switched from npm to pnpm.', facts)).supersede).toEqual([]);
  });
});

describe('the extractor', () => {
  it('says what it is', () => expect(extractor.name).toBe('RULES'));

  it('takes a hundred facts of one message at most, and says how many it left out', async () => {
    const lines = Array.from({ length: 130 }, (_, n) => `I live in room ${n + 1} of the Graz house.`);
    const { add, notes } = await extract(lines.join(' '));
    expect(add).toHaveLength(100);
    expect(notes).toEqual(['30 statements of one message were left out']);
  });

  it('stops when it is told to', async () => {
    const input = { referenceTime: REFERENCE, messages: [say('I live in Graz.')], known: [] };
    await expect(extractor.extract(input, AbortSignal.abort(new Error('stopped')))).rejects.toThrow(
      'stopped',
    );
  });

  it('gives well-formed facts for any text, the same each time', async () => {
    const fragments = fc.constantFrom(
      'I ',
      'live ',
      'in ',
      'Graz',
      '. ',
      'My ',
      'name ',
      'is ',
      '"',
      "'s ",
      '\n',
      '- ',
      '> ',
      '```',
      'We ',
      'decided ',
      '猫',
      'が好き',
      '😀',
      ': ',
      '? ',
      'ik ben ',
      '2021 ',
      'since ',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.array(fragments, { maxLength: 30 }).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const output = await extract(content);
        expect(output).toEqual(await extract(content));
        for (const fact of output.add) {
          expect(fact.text.trim()).toBe(fact.text);
          expect(fact.text).not.toBe('');
          expect(FACT_KINDS).toContain(fact.kind);
          expect(fact.confidence).toBeGreaterThanOrEqual(0.4);
          expect(fact.confidence).toBeLessThanOrEqual(1);
          expect(fact.sourceMessageIds).toEqual(['m1']);
          expect(new Set(fact.entities.map((name) => name.toLowerCase())).size).toBe(fact.entities.length);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('comes to an end on hostile text', async () => {
    const units = [
      'a',
      'a ',
      '. ',
      '.',
      '"',
      "'",
      '猫',
      'I am ',
      'my the ',
      'the ',
      'I use ',
      '- ',
      '(',
      '[',
      '](',
      '<a',
      '*',
      '`',
      '> ',
      ', ',
      'we really ',
      'hi ',
      'I ',
      "n't",
      '\n',
      '1.',
    ];
    for (const unit of units) await extract(unit.repeat(20_000 / unit.length));
  }, 120_000);
});
