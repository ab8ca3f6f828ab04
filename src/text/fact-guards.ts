/**
 * When two texts with nearly the same words still say different things (SPEC §2.4, Dedup).
 *
 * A word-set index cannot see order, signs or which word differs: "Alice manages Bob", "Postgres 15" or
 * "is not a smoker" are lost in it. Each guard below is a difference that makes a new fact.
 */

import { languageOf } from './languages.js';
import { segmentWords } from './segment.js';

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Words that turn a statement round. Their number must be the same on both sides. */
const NEGATIONS = words(
  'not no never none nobody nothing nowhere neither nor without hardly rarely seldom barely longer non un anti ex ' +
    'former formerly dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt shouldnt havent hasnt hadnt ' +
    'nicht nichts niemand kein keine keinen keiner keinem keines nie niemals ohne kaum weder ne pas jamais sans aucun aucune ' +
    'rien personne guère ni nunca jamás sin ninguno ninguna ningún nada nadie tampoco não nem sem nenhum nenhuma jamais ' +
    'mai senza nessuno nessuna nessun niente né niet geen nooit zonder niets niemand inte aldrig utan ingen inga inget ikke ' +
    'aldri uden uten intet ei emme ette eivät ilman nie bez nigdy nikt nic değil yok ' +
    'не нет никогда без ни нельзя ничего никто لا ليس ليست لم لن غير بدون دون ما أبدا नहीं न मत ना बिना कभी 안 못',
);

/** Negation inside a word, or where no spaces tell words apart: Chinese, Japanese, Korean, Thai. */
const NEGATION_INSIDE = /[不没沒無无未非别別勿]|ない|ません|なかった|ずに|않|없|아니|못하|ไม่|ไม่ได้|มิได้/gu;

/** Quantities and calendar words in letters. Their sequence must be the same on both sides. */
const QUANTITIES = words(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
    'seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million ' +
    'billion half quarter third once twice double triple single couple dozen first second fourth fifth sixth ' +
    'seventh eighth ninth tenth last monday tuesday wednesday thursday friday saturday sunday january february ' +
    'march april may june july august september october november december yesterday today tomorrow ' +
    'daily weekly monthly yearly hourly am pm ' +
    // German, French, Spanish, Portuguese, Italian, Dutch, Russian, Arabic, Hindi; what is an article too is left out
    'zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend halb doppelt einmal zweimal dreimal erste zweite dritte ' +
    'deux trois quatre cinq sept huit neuf dix onze douze cent mille demi double premier première deuxième troisième ' +
    'lundi mardi mercredi jeudi vendredi samedi dimanche ' +
    'dos tres cuatro cinco seis siete ocho nueve diez once doce cien mil medio doble primero primera segundo segunda tercero ' +
    'lunes martes miércoles jueves viernes sábado domingo ' +
    'dois duas três quatro sete oito nove dez doze cem meio dobro primeiro primeira terceiro terça quarta quinta sexta ' +
    'due tre quattro sette otto dieci undici dodici cento mezzo doppio primo prima secondo seconda terzo terza ' +
    'lunedì martedì mercoledì giovedì venerdì sabato domenica twee drie vijf zes zeven negen tien elf twaalf honderd duizend ' +
    'один одна два две три четыре пять шесть семь восемь девять десять сто тысяча первый второй третий ' +
    'понедельник вторник среда четверг пятница суббота воскресенье понедельникам вторникам средам четвергам пятницам ' +
    'واحد واحدة اثنان اثنين ثلاثة ثلاث أربعة أربع خمسة خمس ستة ست سبعة سبع ثمانية تسعة عشرة مئة ألف مرتين الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد ' +
    'एक दो तीन चार पाँच पांच छह सात आठ नौ दस सौ हज़ार सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार',
);

/** Pairs that must not face each other across the two texts. */
const OPPOSITES: ReadonlyMap<string, ReadonlySet<string>> = opposites(
  'always/never like/dislike likes/dislikes liked/disliked love/hate loves/hates loved/hated prefer/avoid ' +
    'prefers/avoids enable/disable enables/disables enabled/disabled allow/forbid allows/forbids allowed/forbidden ' +
    'allow/deny allows/denies allowed/denied accept/reject accepts/rejects accepted/rejected with/without ' +
    'before/after above/below over/under left/right up/down in/out on/off more/less most/least more/fewer ' +
    'increase/decrease increases/decreases increased/decreased add/remove adds/removes added/removed start/stop ' +
    'starts/stops started/stopped open/closed opens/closes public/private internal/external minimum/maximum ' +
    'min/max early/late earlier/later old/new young/old big/small large/small high/low higher/lower fast/slow hot/cold ' +
    'light/dark true/false yes/no good/bad better/worse best/worst easy/hard buy/sell buys/sells bought/sold ' +
    'win/lose wins/loses won/lost married/divorced single/married brother/sister mother/father son/daughter ' +
    'wife/husband he/she his/her him/her all/none every/no everyone/nobody somebody/nobody and/or to/from ' +
    'required/optional must/may tabs/spaces vegetarian/vegan morning/evening day/night summer/winter ' +
    'north/south east/west required/forbidden can/cannot pass/fail passes/fails passed/failed push/pull ' +
    'client/server read/write reads/writes read/written source/target import/export upload/download ' +
    'local/remote production/staging staging/development production/development mine/yours',
);

function opposites(list: string): ReadonlyMap<string, ReadonlySet<string>> {
  const map = new Map<string, Set<string>>();
  const put = (word: string, other: string) => map.set(word, (map.get(word) ?? new Set()).add(other));
  for (const pair of list.split(/\s+/)) {
    const [one, other] = pair.split('/') as [string, string];
    put(one, other);
    put(other, one);
  }
  return map;
}

const NEGATIVE_PREFIXES = ['un', 'dis', 'non', 'in', 'im', 'ir', 'il', 'mis', 'anti', 'ex'] as const;

/** Capital letters at the start of a sentence say nothing about these. */
const COMMON_STARTERS = words(
  'a an the i my our your his her its their this that these those it he she they we you there here and or but so ' +
    'if when while after before since because as at in on for to from with without of by every each all some any ' +
    'no not never always usually often sometimes currently also both most many new user users team project repo is ' +
    'are was were has have had does do did can will would should must may please only even just then',
);

const ARTICLES = words('a an the');

/** A word of one text. */
interface Token {
  readonly word: string;
  readonly nameLike: boolean;
}

const CONTRACTION = /^(.+?)(n't|'(?:s|m|re|ve|ll|d))$/u;
const CONTRACTION_TAILS: Readonly<Record<string, string>> = {
  "n't": 'not',
  "'m": 'am',
  "'re": 'are',
  "'ve": 'have',
  "'ll": 'will',
};
const IRREGULAR_STEMS: Readonly<Record<string, string>> = { wo: 'will', ca: 'can', sha: 'shall' };

const WORD = /[\p{L}\p{M}\p{N}_]+(?:'[\p{L}\p{M}]+)*/gu;
const CASELESS = /\p{Lo}/u;
const SENTENCE_END = /[.!?:;\n"“(]\s*$/u;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(WORD)) {
    const raw = match[0];
    if (CASELESS.test(raw)) {
      for (const word of segmentWords(raw)) tokens.push({ word, nameLike: false });
      continue;
    }
    const folded = raw.toLowerCase();
    const starts =
      SENTENCE_END.test(text.slice(Math.max(0, match.index - 3), match.index)) || match.index < 2;
    const [base, tail] = uncontract(folded);
    tokens.push({ word: base, nameLike: isNameLike(raw, base, starts) });
    if (tail) tokens.push({ word: tail, nameLike: false });
  }
  return tokens;
}

function uncontract(word: string): [base: string, tail: string | undefined] {
  if (word === 'cannot') return ['can', 'not'];
  const parts = CONTRACTION.exec(word);
  if (!parts) return [word, undefined];
  const base = parts[1]!;
  return [IRREGULAR_STEMS[base] ?? base, CONTRACTION_TAILS[parts[2]!]];
}

function isNameLike(raw: string, base: string, startsSentence: boolean): boolean {
  if (!/\p{Lu}/u.test(raw) || base === 'i') return false;
  if (/^\P{Lu}.*\p{Lu}|\p{Lu}.*\p{Lu}/u.test(raw)) return true;
  return !(startsSentence && COMMON_STARTERS.has(base));
}

/** One spelling of the apostrophe and of thousands; case kept, since names are read from it. */
function prepare(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u02bc]/gu, "'")
    .replace(/(\p{Nd}),(?=\p{Nd}{3}(?!\p{Nd}))/gu, '$1');
}

/** Signs that carry meaning between words: C++ is not C, `<` not `>`, 50% not 50, one emoji not another. */
function signs(text: string): string {
  return (text.match(/[\p{Sm}\p{Sc}\p{So}%#@&/\\?]/gu) ?? []).join('');
}

/** Everything with a digit in it, in order, without the punctuation round it. */
function numbers(text: string): string {
  return text
    .toLowerCase()
    .split(/\s+/u)
    .filter((chunk) => /\p{N}/u.test(chunk))
    .map((chunk) => chunk.replace(/^(?![-+]\p{N})[\p{P}\p{S}]+/u, '').replace(/[\p{P}\p{S}]+$/u, ''))
    .join(' ');
}

const only = (tokens: readonly Token[], set: ReadonlySet<string>) =>
  tokens.filter((token) => set.has(token.word)).map((token) => token.word);

/** What the comparison of statements needs of a text, read once however often it is compared. */
export interface StatementWords {
  /** Its distinct words. */
  readonly words: ReadonlySet<string>;
  readonly tokens: readonly Token[];
  /** What must be equal on both sides, whatever the words in common. */
  readonly fixed: string;
  /** Whether it may be in English, whose opposites and names are known here. */
  readonly english: boolean;
}

/** Letters of other scripts than Latin. */
const UNKNOWN_SCRIPT = /(?!\p{Script=Latin})\p{L}/u;

/** Reads a text for {@link sayTheSame}. */
export function readStatement(raw: string): StatementWords {
  const text = prepare(raw);
  const tokens = tokenize(text);
  const quantities = only(tokens, QUANTITIES).join(' ');
  return {
    words: new Set(tokens.map((token) => token.word)),
    tokens,
    english: !UNKNOWN_SCRIPT.test(text) && (languageOf(text) ?? 'en') === 'en',
    fixed: [speakerOf(text), numbers(text), signs(text), quantities, negationCount(text, tokens)].join('\n'),
  };
}

/**
 * Whether the texts share at least `threshold` of their distinct words (Jaccard) and differ in nothing that
 * a guard protects.
 *
 * @param threshold 0 … 1
 */
export function sayTheSame(a: StatementWords, b: StatementWords, threshold: number): boolean {
  if (jaccard(a.words, b.words) < threshold || a.fixed !== b.fixed) return false;
  if (!sameOrder(a.tokens, b.tokens, a.words, b.words)) return false;
  const onlyA = a.tokens.filter((token) => !b.words.has(token.word));
  const onlyB = b.tokens.filter((token) => !a.words.has(token.word));
  // Which words of another language are opposites, numbers or names is not known: no exchange is taken for the same.
  if (onlyA.length > 0 && onlyB.length > 0 && !(a.english && b.english)) return false;
  return !contradicts(onlyA, onlyB);
}

/** "ann: I love opera" is another's than "bo: I love opera", whatever their length. */
function speakerOf(text: string): string {
  return /^[^\s:]{1,40}(?: [^\s:]{1,40}){0,3}: /u.exec(text)?.[0].toLowerCase() ?? '';
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let common = 0;
  for (const word of a) if (b.has(word)) common += 1;
  return common / (a.size + b.size - common);
}

function negationCount(text: string, tokens: readonly Token[]): number {
  return only(tokens, NEGATIONS).length + (text.match(NEGATION_INSIDE)?.length ?? 0);
}

/** Who did what to whom is the order of the words that both share. */
function sameOrder(
  tokensA: readonly Token[],
  tokensB: readonly Token[],
  setA: ReadonlySet<string>,
  setB: ReadonlySet<string>,
): boolean {
  const shared = (tokens: readonly Token[], other: ReadonlySet<string>) =>
    tokens
      .map((token) => token.word)
      .filter((word) => other.has(word) && !ARTICLES.has(word))
      .filter((word, index, all) => word !== all[index - 1])
      .join(' ');
  return shared(tokensA, setB) === shared(tokensB, setA);
}

/** The words that only one side has: a name on either, or opposites across. */
function contradicts(onlyA: readonly Token[], onlyB: readonly Token[]): boolean {
  if ([...onlyA, ...onlyB].some((token) => token.nameLike)) return true;
  return onlyA.some(({ word: one }) => onlyB.some(({ word: other }) => areOpposites(one, other)));
}

function areOpposites(one: string, other: string): boolean {
  if (OPPOSITES.get(one)?.has(other)) return true;
  return NEGATIVE_PREFIXES.some((prefix) => one === prefix + other || other === prefix + one);
}
