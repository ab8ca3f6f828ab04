import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** What is stored, and what people ask for it with: its own words, and other forms of them. */
interface Statement {
  readonly language: string;
  readonly text: string;
  readonly byItsWords: readonly string[];
  readonly byOtherForms: readonly string[];
}

// Queries of one or two words tell no language; sentences may tell the wrong one. Both must find what was said.
const STATEMENTS: readonly Statement[] = [
  {
    language: 'German',
    text: 'Die Nutzerin trinkt am liebsten Kräutertee und besucht dreimal im Jahr die Städte an der Ostsee.',
    byItsWords: ['Kräutertee', 'kräutertee ostsee', 'Wer trinkt Kräutertee?', 'KRAUTERTEE'],
    byOtherForms: [
      'Kräutertees trinken',
      'Stadt',
      'Besuche',
      'Wird viel Kräutertee getrunken und eine Stadt besucht?',
    ],
  },
  {
    language: 'German, short',
    text: 'Herr Müller arbeitet dienstags',
    byItsWords: ['müller', 'Müller Dienstags', 'muller'],
    byOtherForms: ['Mueller', 'arbeiten', 'gearbeitet'],
  },
  {
    language: 'Spanish',
    text: 'El usuario prefiere las canciones de flamenco y es alérgico a las nueces.',
    byItsWords: ['canciones', 'canciones flamenco', '¿qué canciones le gustan?', 'alergico'],
    byOtherForms: ['canción', 'cancion flamenco', 'nuez', 'alérgica', 'alergia a la nuez'],
  },
  {
    language: 'French',
    text: "L'utilisatrice préfère les fromages affinés et habite près de l'église de Montmartre.",
    byItsWords: ['église', "l'église", 'eglise montmartre', 'Quel fromage préfère-t-elle ?'],
    byOtherForms: ['fromage', 'fromage affiné', 'habiter', 'églises', 'préférée'],
  },
  {
    language: 'Portuguese',
    text: 'A usuária gosta de pães caseiros e trabalha com animais selvagens.',
    byItsWords: ['pães', 'paes caseiros', 'animais selvagens'],
    byOtherForms: ['pão', 'pão caseiro', 'trabalhar', 'animal selvagem', 'trabalhava com um animal'],
  },
  {
    language: 'Italian',
    text: "L'utente lavora di notte e colleziona vecchi orologi svizzeri.",
    byItsWords: ['orologi', 'orologi svizzeri', 'Chi lavora di notte?'],
    byOtherForms: ['orologio', 'orologio svizzero', 'lavorare', 'collezionare'],
  },
  {
    language: 'Dutch',
    text: 'De gebruiker woont in een van de oude huizen langs de gracht.',
    byItsWords: ['huizen', 'gracht', 'huizen gracht'],
    byOtherForms: ['huis', 'wonen', 'oud huis', 'grachten'],
  },
  {
    language: 'Swedish',
    text: 'Användaren samlar på gamla bilar och läser deckare varje kväll.',
    byItsWords: ['bilar', 'deckare', 'gamla bilar'],
    byOtherForms: ['bilen', 'bil', 'kvällar', 'kvällen'],
  },
  {
    language: 'Russian',
    text: 'Пользователь живёт в Москве, держит двух кошек и пьёт зелёный чай.',
    byItsWords: ['кошек', 'зелёный чай', 'зеленый чай', 'Кто живёт в Москве?'],
    byOtherForms: ['кошка', 'Москва', 'зелёного чая', 'пользователи'],
  },
  {
    language: 'Arabic',
    text: 'المستخدم يشرب القهوة كل صباح ويملك ثلاث سيارات قديمة.',
    byItsWords: ['القهوة', 'سيارات قديمة', 'من يشرب القهوة؟'],
    byOtherForms: ['قهوة', 'قَهْوَة', 'سيارة', 'والقهوة', 'تشرب القهوة', 'مستخدمين'],
  },
  {
    language: 'Hindi',
    text: 'उपयोगकर्ता को किताबें पढ़ना पसंद है और उसके पास दो बिल्लियाँ हैं।',
    byItsWords: ['किताबें', 'दो बिल्लियाँ'],
    byOtherForms: ['किताब', 'किताबों', 'बिल्ली', 'पढ़ता'],
  },
  {
    language: 'Chinese',
    text: '用户喜欢深色模式，住在杭州的西湖附近。',
    byItsWords: ['深色模式', '深色', '杭州', '西湖', '谁住在杭州？'],
    byOtherForms: ['喜欢深色', '杭州西湖'],
  },
  {
    language: 'Japanese',
    text: 'ユーザーは毎朝、近所の公園を走り、抹茶を飲みます。',
    byItsWords: ['公園', '抹茶', '毎朝', '公園はどこですか'],
    byOtherForms: ['抹茶を飲む', '飲みました', '近所を走る'],
  },
  {
    language: 'Korean',
    text: '사용자는 고양이를 두 마리 키우고 바다가 보이는 집에서 산다.',
    byItsWords: ['고양이', '바다', '고양이를'],
    byOtherForms: ['고양이가', '바다는', '집', '집을', '키운다 고양이'],
  },
  {
    language: 'Thai',
    text: 'ผู้ใช้ชอบกาแฟเย็นและอาศัยอยู่ที่เชียงใหม่',
    byItsWords: ['กาแฟ', 'เชียงใหม่', 'กาแฟเย็น'],
    byOtherForms: ['ชอบกาแฟ'],
  },
  {
    language: 'Turkish',
    text: 'Kullanıcı İzmir’de yaşıyor ve her sabah simit yiyor.',
    byItsWords: ['izmir', 'İzmir simit', 'SİMİT', 'yasiyor'],
    byOtherForms: [],
  },
  {
    language: 'Polish',
    text: 'Użytkownik mieszka w Łodzi i gra na skrzypcach.',
    byItsWords: ['Łodzi', 'lodzi', 'skrzypcach'],
    byOtherForms: [],
  },
  {
    language: 'English',
    text: 'The user collects vintage typewriters and is allergic to shellfish.',
    byItsWords: ['typewriters', 'vintage typewriters', 'What does the user collect?'],
    byOtherForms: ['typewriter', 'collecting', 'shellfish allergies'],
  },
];

const QUERIES = STATEMENTS.flatMap(({ language, text, byItsWords, byOtherForms }) =>
  [...byItsWords, ...byOtherForms].map((query) => [language, query, text] as const),
);

let salient: TestApp;
let tenant: TestTenant;

beforeAll(async () => {
  salient = await testApp();
  tenant = await salient.tenant('languages');
  for (const { text } of STATEMENTS)
    await salient.ask({
      key: tenant.keys.TENANT_ADMIN,
      query:
        'mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { message } } }',
      variables: { input: { text } },
    });
  await salient.ask({
    key: tenant.keys.TENANT_ADMIN,
    query: `mutation ($input: AppendMessagesInput!) {
      appendMessages(input: $input) { messages { id } errors { message } }
    }`,
    variables: {
      input: {
        session: { create: {} },
        extract: 'NEVER',
        messages: STATEMENTS.map(({ text }) => ({ role: 'USER', content: text })),
      },
    },
  });
});
afterAll(() => salient[Symbol.asyncDispose]());

interface Item {
  readonly scores: { readonly lexical: number | null };
  readonly node: {
    readonly __typename: 'Fact' | 'Message';
    readonly text?: string;
    readonly content?: string;
  };
}

/** What the lexical arm finds of each source, best first. */
async function found(query: string): Promise<{ facts: string[]; messages: string[] }> {
  const { recall } = await salient.ask<{ recall: { items: Item[] } }>({
    key: tenant.keys.TENANT_ADMIN,
    query: `query ($input: RecallInput!) { recall(input: $input) { items {
      scores { lexical } node { __typename ... on Fact { text } ... on Message { content } } } } }`,
    variables: { input: { query, k: 100 } },
  });
  const worded = recall.items
    .flatMap(({ scores: { lexical }, node }) => (lexical === null ? [] : [{ lexical, node }]))
    .sort((one, other) => other.lexical - one.lexical);
  return {
    facts: worded.flatMap(({ node }) => node.text ?? []),
    messages: worded.flatMap(({ node }) => node.content ?? []),
  };
}

/** The texts of the facts that have all words of a text. */
async function listed(text: string): Promise<string[]> {
  const { facts } = await salient.ask<{ facts: { edges: { node: { text: string } }[] } }>({
    key: tenant.keys.TENANT_ADMIN,
    query: 'query ($text: String!) { facts(filter: { text: $text }, first: 50) { edges { node { text } } } }',
    variables: { text },
  });
  return facts.edges.map(({ node }) => node.text);
}

describe('a statement is recalled by its words, and by other forms of them (SPEC §8.1, CASE 21)', () => {
  it.each(QUERIES)('%s: %j', async (_language, query, text) => {
    const { facts, messages } = await found(query);
    expect(facts[0]).toBe(text);
    expect(messages[0]).toBe(text);
  });

  it('finds nothing for words that nobody said', async () => {
    for (const query of [
      'Schneeschaufel',
      'paraguas',
      'parapluie',
      'велосипед',
      'دراجة',
      '自転車',
      '자전거',
      'bicycle',
    ])
      expect(await found(query), query).toEqual({ facts: [], messages: [] });
  });

  it.each(STATEMENTS.map((statement) => [statement.language, statement] as const))(
    'lists facts in %s by a word',
    async (_language, { text, byItsWords, byOtherForms }) => {
      const unspaced = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Thai}]/u.test(text);
      // A filter asks for all words of a text: those that are one. Without spaces nothing tells where a form ends.
      const single = [...byItsWords, ...(unspaced ? [] : byOtherForms)].filter(
        (query) => !/[\s?？]|か$/.test(query),
      );
      expect(single.length).toBeGreaterThan(0);
      for (const word of single) expect(await listed(word), word).toContain(text);
      expect(await listed('Schneeschaufel')).toEqual([]);
    },
  );
});

describe('any text is a query (CASE 36)', () => {
  it.each([
    '"Kräutertee" OR (x:*) -- \\',
    'kräutertee-ostsee/städte',
    "O'Brien & «église» %_ \\ ';",
    '🙂 抹茶 🙂',
    '(((',
    '„Ostsee“',
    "l'",
    '-',
  ])('%j', async (query) => {
    await expect(found(query)).resolves.toBeDefined();
  });
});
