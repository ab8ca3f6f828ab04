import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  cosine,
  createEmbeddingProvider,
  type EmbeddingProvider,
  isUnit,
} from '../../src/embedding/index.js';

let provider: EmbeddingProvider;
beforeAll(async () => {
  provider = await createEmbeddingProvider({ kind: 'bundled' });
});
afterAll(() => provider[Symbol.asyncDispose]());

async function similarityOf(a: string, b: string): Promise<number> {
  const [x, y] = await provider.embed([a, b]);
  return provider.similarity(cosine(x!, y!));
}

describe('the bundled encoder', () => {
  it('has a stable name and 512 dimensions', () => {
    expect(provider.model).toBe('bundled/use-lite-en-0.2');
    expect(provider.dimensions).toBe(512);
  });

  it('gives unit vectors in the order of the texts', async () => {
    const texts = ['Anna is allergic to nuts.', '', 'The server crashed last night.', '   ', 'tabs'];
    const vectors = await provider.embed(texts);
    expect(vectors.map((vector) => vector !== null && vector.length === 512 && isUnit(vector))).toEqual([
      true,
      false,
      true,
      false,
      true,
    ]);
    expect(await provider.embed(['The server crashed last night.'])).toEqual([vectors[2]]);
  });

  it('gives a text the same bits whatever it is encoded with', async () => {
    const text = 'We use PostgreSQL as our database.';
    const [alone] = await provider.embed([text]);
    const others = Array.from({ length: 12 }, (_, i) => `Sentence number ${i} is ${'very '.repeat(i)}long.`);
    const together = await provider.embed([...others, text]);
    expect(together[12]).toEqual(alone);
    expect(await provider.embedQuery(text)).toEqual(alone);
    await using second = await createEmbeddingProvider({ kind: 'bundled' });
    expect(await second.embed([text])).toEqual([alone]);
  });

  it.each([
    ['Chinese', '昨天晚上病人被给予了错误剂量的药物。'],
    ['Japanese', '会議は木曜日の三時に変更されました。'],
    ['Korean', '우리 고양이는 부엌 식탁 위에서 잡니다.'],
    ['Russian', 'Наша кошка спит на кухонном столе.'],
    ['Ukrainian', 'Зустріч перенесли на четвер на третю годину.'],
    ['Greek', 'Η γάτα μας κοιμάται στο τραπέζι της κουζίνας.'],
    ['Arabic', 'نُقل الاجتماع إلى يوم الخميس في الساعة الثالثة.'],
    ['Hebrew', 'הפגישה הועברה ליום חמישי בשעה שלוש.'],
    ['Hindi', 'हमारी बिल्ली रसोई की मेज पर सोती है।'],
    ['Thai', 'แมวของเรานอนบนโต๊ะในครัว'],
    ['emoji', '😀🎉 🚀'],
    ['a Chinese sentence with a number', '我的电话是 13800138000'],
  ])('has no vector for what it cannot read: %s', async (_, text) => {
    expect(await provider.embed([text])).toEqual([null]);
    expect(await provider.embedWindows([text])).toEqual([[]]);
    expect(await provider.embedQuery(text)).toBeNull();
  });

  it.each([
    ['German', 'Unsere Katze schläft auf dem Küchentisch.', 'Der Patient bekam die falsche Dosis.'],
    ['Spanish', 'La reunión se trasladó al jueves a las tres.', 'Ana es alérgica a las nueces.'],
    [
      'French',
      'Le serveur est tombé en panne hier soir.',
      'Elle est végétarienne et ne mange pas de viande.',
    ],
    ['Vietnamese', 'Cuộc họp được chuyển sang thứ năm lúc ba giờ.', 'Con mèo ngủ trên bàn bếp.'],
    ['Polish', 'Nasz kot śpi na stole w kuchni.', 'Klient skarżył się na wolną stronę internetową.'],
    ['mixed', 'The user prefers 深色模式 in the editor', 'Our office is in 北京 and Shanghai'],
    ['with emoji', 'I love my cat 🐈❤️', 'Great job on the release 🎉🎉🎉🎉🎉🎉🎉🎉'],
  ])('reads %s, and keeps unrelated statements apart', async (_, a, b) => {
    const [x, y] = await provider.embed([a, b]);
    expect(x && isUnit(x) && y && isUnit(y)).toBe(true);
    expect(await similarityOf(a, b)).toBeLessThan(0.5);
  });

  it.each([
    ['I prefer tabs over spaces', 'I prefer tabs over spaces!'],
    ['I prefer tabs over spaces.', '  I prefer\ttabs over\n spaces '],
    ['The user’s name is Sam Miller.', "The user's name is Sam Miller"],
    ['Cafe\u0301 Central is closed today', 'Caf\u00e9 Central is closed today'],
    ['Ich bevorzuge Tabulatoren statt Leerzeichen', 'Ich bevorzuge Tabulatoren statt Leerzeichen!'],
  ])('finds a statement familiar in another spelling: %j %j', async (a, b) => {
    expect(await similarityOf(a, b)).toBeGreaterThanOrEqual(0.75);
  });

  it('finds a topic in a statement about it, and not in another', async () => {
    const wrongDose = 'The patient was given the wrong dose of medication';
    expect(await similarityOf('patient safety', wrongDose)).toBeGreaterThan(0.5);
    expect(await similarityOf('database performance', wrongDose)).toBeLessThan(0.5);
    expect(await similarityOf('meeting notes', wrongDose)).toBeLessThan(0.5);
  });

  it('reads a long text to its end, window by window', async () => {
    const about = (subject: string) =>
      `The report says a lot about ${subject} and gives some examples. `.repeat(9);
    const text = about('database backups') + about('the garden') + about('football players');
    const [windows] = await provider.embedWindows([text]);
    expect(windows!.length).toBeGreaterThanOrEqual(4);
    const query = await provider.embedQuery('a report about football players');
    expect(cosine(query!, windows!.at(-1)!)).toBeGreaterThan(cosine(query!, windows![0]!) + 0.2);
    const [mean] = await provider.embed([text]);
    for (const window of windows!) expect(cosine(mean!, window)).toBeGreaterThan(0.5);
  });

  it('cuts a language with many tokens into shorter windows, so that each is read whole', async () => {
    const sentence = 'Der Patient erhielt gestern Abend die falsche Dosis des Medikaments. ';
    const german = sentence.repeat(6).trim();
    const english = 'The patient was given the wrong dose of medication yesterday night. '.repeat(6).trim();
    const [germanWindows, englishWindows] = await provider.embedWindows([german, english]);
    expect(englishWindows).toHaveLength(1);
    expect(germanWindows!.length).toBeGreaterThan(1);
  });

  it('caches queries by their normalised text and gives each caller a vector of its own', async () => {
    const first = await provider.embedQuery('Where does Anna live?');
    const again = await provider.embedQuery(' Where does   Anna live? ');
    expect(again).toEqual(first);
    again!.fill(0);
    expect(await provider.embedQuery('Where does Anna live?')).toEqual(first);
  });

  it('answers a query before the texts that wait', async () => {
    const order: string[] = [];
    const backlog = provider
      .embed(Array.from({ length: 60 }, (_, i) => `Statement ${i} of a large import is waiting.`))
      .then(() => order.push('backlog'));
    const query = provider.embedQuery('Who is on call tonight?').then(() => order.push('query'));
    await Promise.all([backlog, query]);
    expect(order).toEqual(['query', 'backlog']);
  });

  it('takes any text: surrogates, control characters, huge words', async () => {
    const texts = [
      'a\ud800b c',
      '\u0000\u0007 bell',
      'x'.repeat(3_000),
      '{"json": [1, 2]}',
      "'; DROP TABLE --",
    ];
    for (const vector of await provider.embed(texts)) expect(vector && isUnit(vector)).toBe(true);
  });
});
