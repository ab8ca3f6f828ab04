import { describe, expect, it } from 'vitest';
import { readStatement } from '../../src/text/fact-guards.js';
import { isNearDuplicate, NEAR_DUPLICATE_JACCARD } from '../../src/text/fact-text.js';

/** A statement long enough that one word more, less or other leaves 85% of all words in common. */
interface Row {
  readonly language: string;
  readonly text: string;
  /** The same in other punctuation or case. */
  readonly same: string;
  readonly order: string;
  readonly digits: string;
  readonly number: string;
  readonly negated: string;
  readonly opposite: string;
}

const of = (
  language: string,
  text: string,
  changes: Record<
    'order' | 'digits' | 'number' | 'negated' | 'opposite',
    readonly (readonly [string, string])[]
  >,
): Row => {
  const changed = (kind: keyof typeof changes) => {
    const result = changes[kind].reduce((one, [from, to]) => {
      expect(one, `${language}: ${from}`).toContain(from);
      return one.replace(from, to);
    }, text);
    expect(result).not.toBe(text);
    return result;
  };
  return {
    language,
    text,
    same: text.toUpperCase().replace(/[.]$/u, ''),
    order: changed('order'),
    digits: changed('digits'),
    number: changed('number'),
    negated: changed('negated'),
    opposite: changed('opposite'),
  };
};

/** Exchanges two names. */
const swap = (one: string, other: string) =>
  [
    [one, '\u0001'],
    [other, one],
    ['\u0001', other],
  ] as const;

function shareOfWords(one: string, other: string): number {
  const [a, b] = [readStatement(one).words, readStatement(other).words];
  const common = [...a].filter((word) => b.has(word)).length;
  return common / (a.size + b.size - common);
}

const ROWS: readonly Row[] = [
  of(
    'English',
    'In the new office at pier 15 Alice manages Bob and his two teams of testers every single day of the week before lunch.',
    {
      order: swap('Alice', 'Bob'),
      digits: [['15', '16']],
      number: [['two', 'three']],
      negated: [['manages', 'never manages']],
      opposite: [['before', 'after']],
    },
  ),
  of(
    'German',
    'Im neuen Büro an der Mole 15 leitet Alice Bob und seine zwei Gruppen von Testern an jedem Tag der Woche immer vor dem Essen.',
    {
      order: swap('Alice', 'Bob'),
      digits: [['15', '16']],
      number: [['zwei', 'drei']],
      negated: [['leitet Alice', 'leitet nicht Alice']],
      opposite: [['vor dem', 'nach dem']],
    },
  ),
  of(
    'Spanish',
    'En la nueva oficina del muelle 15 Alicia dirige a Bruno y a sus dos equipos de pruebas todos los lunes del año antes de comer.',
    {
      order: swap('Alicia', 'Bruno'),
      digits: [['15', '16']],
      number: [['dos', 'tres']],
      negated: [['dirige', 'no dirige']],
      opposite: [['lunes', 'martes']],
    },
  ),
  of(
    'French',
    'Dans le nouveau bureau du quai 15 Alice dirige Bruno et ses deux équipes de testeurs chaque lundi de la semaine avant le repas.',
    {
      order: swap('Alice', 'Bruno'),
      digits: [['15', '16']],
      number: [['deux', 'trois']],
      negated: [['dirige', 'ne dirige pas']],
      opposite: [['avant', 'après']],
    },
  ),
  of(
    'Portuguese',
    'No novo escritório do cais 15 Alice dirige Bruno e as suas duas equipas de testes todos os dias da semana antes do almoço.',
    {
      order: swap('Alice', 'Bruno'),
      digits: [['15', '16']],
      number: [['duas', 'três']],
      negated: [['dirige', 'não dirige']],
      opposite: [['antes', 'depois']],
    },
  ),
  of(
    'Italian',
    'Nel nuovo ufficio del molo 15 Alice dirige Bruno e le sue due squadre di collaudo ogni lunedì della settimana prima di pranzo.',
    {
      order: swap('Alice', 'Bruno'),
      digits: [['15', '16']],
      number: [['due', 'tre']],
      negated: [['dirige', 'non dirige']],
      opposite: [['lunedì', 'martedì']],
    },
  ),
  of(
    'Russian',
    'В новом офисе на пирсе 15 Алиса руководит Борисом и его две группы тестировщиков каждый день недели всегда хвалят её до обеда.',
    {
      order: swap('Алиса', 'Борисом'),
      digits: [['15', '16']],
      number: [['две', 'три']],
      negated: [['руководит', 'не руководит']],
      opposite: [['до обеда', 'после обеда']],
    },
  ),
  of(
    'Arabic',
    'في المكتب الجديد على الرصيف 15 تدير ليلى فريق سامر وثلاث مجموعات من المختبرين كل يوم من أيام الأسبوع قبل موعد الغداء',
    {
      order: swap('ليلى', 'سامر'),
      digits: [['15', '16']],
      number: [['وثلاث', 'وأربع']],
      negated: [['تدير', 'لا تدير']],
      opposite: [['قبل', 'بعد']],
    },
  ),
  of('Hindi', 'घाट 15 के नए दफ़्तर में सीता हर सोमवार को राम और उसके दो दलों का काम दोपहर के खाने से पहले देखती है', {
    order: swap('सीता', 'राम'),
    digits: [['15', '16']],
    number: [['दो', 'तीन']],
    negated: [['देखती', 'नहीं देखती']],
    opposite: [['पहले', 'बाद']],
  }),
  of('Chinese', '小王在十五号码头的新办公室里每个星期一午饭之前都领导小李和他的两个测试小组检查 15 份报告', {
    order: swap('小王', '小李'),
    digits: [['15', '16']],
    number: [['两个', '三个']],
    negated: [['都领导', '都不领导']],
    opposite: [['之前', '之后']],
  }),
  of(
    'Japanese',
    '田中さんは埠頭の新しい事務所で毎週月曜日の昼食の前に鈴木さんと二つの試験班の報告書を 15 部必ず確認します',
    {
      order: swap('田中', '鈴木'),
      digits: [['15', '16']],
      number: [['二つ', '三つ']],
      negated: [['確認します', '確認しません']],
      opposite: [['の前に', 'の後に']],
    },
  ),
  of(
    'Korean',
    '민수 팀장은 부두에 있는 새 사무실에서 매주 월요일 점심 전에 영희 대리와 두 시험 팀의 보고서 15 부를 늘 꼼꼼하게 함께 확인한다',
    {
      order: swap('민수', '영희'),
      digits: [['15', '16']],
      number: [['두 시험', '세 시험']],
      negated: [['확인한다', '확인하지 않는다']],
      opposite: [['전에', '후에']],
    },
  ),
  of('Thai', 'ที่สำนักงานใหม่บนท่าเรือ 15 สมชายดูแลสมหญิงและทีมทดสอบสองทีมทุกวันจันทร์ก่อนอาหารกลางวันของสัปดาห์', {
    order: swap('สมชาย', 'สมหญิง'),
    digits: [['15', '16']],
    number: [['สองทีม', 'สามทีม']],
    negated: [['ดูแล', 'ไม่ดูแล']],
    opposite: [['ก่อน', 'หลัง']],
  }),
];

describe('what two statements of nearly the same words may not differ in (SPEC §2.4, CASE 32)', () => {
  const GUARDED = ['order', 'digits', 'number', 'negated', 'opposite'] as const;
  const CASES = ROWS.flatMap((row) =>
    GUARDED.map((guard) => [row.language, guard, row.text, row[guard]] as const),
  );

  it.each(CASES)('%s, %s: %j and %j are two', (_language, _guard, one, other) => {
    // Their words alone would make one of them.
    expect(shareOfWords(one, other)).toBeGreaterThanOrEqual(NEAR_DUPLICATE_JACCARD);
    expect(isNearDuplicate(one, other)).toBe(false);
    expect(isNearDuplicate(other, one)).toBe(false);
  });

  it.each(ROWS.map((row) => [row.language, row.text, row.same] as const))(
    '%s: %j and %j are one',
    (_language, one, other) => {
      expect(isNearDuplicate(one, other)).toBe(true);
      expect(isNearDuplicate(other, one)).toBe(true);
    },
  );

  // A word more that changes nothing still is the same: the guards do not turn near-duplicates off.
  it.each([
    ['German', ROWS[1]!.text, ROWS[1]!.text.replace('immer', 'wirklich immer')],
    ['Spanish', ROWS[2]!.text, ROWS[2]!.text.replace('del año', 'del largo año')],
    ['French', ROWS[3]!.text, ROWS[3]!.text.replace('le repas', 'le bon repas')],
    ['Portuguese', ROWS[4]!.text, ROWS[4]!.text.replace('novo', 'belo novo')],
    ['Italian', ROWS[5]!.text, ROWS[5]!.text.replace('nuovo', 'bel nuovo')],
    ['Russian', ROWS[6]!.text, ROWS[6]!.text.replace('новом', 'совсем новом')],
  ])('%s: %j and %j are one all the same', (_language, one, other) => {
    expect(isNearDuplicate(one, other)).toBe(true);
  });
});
