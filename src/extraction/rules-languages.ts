/**
 * Statements in languages that the English rules cannot read (SPEC §2.3): a few sure phrases per language for
 * who someone is, what they like, what was decided and what is used. All else in them is left to a model.
 */

import { deu, fra, ita, nld, por, rus, spa, swe } from 'stopword';
import type { FactKind } from '../text/index.js';

/** A language with phrases of its own here. */
export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'sv' | 'ru' | 'zh' | 'ja' | 'ko';

const STOP_WORDS: readonly (readonly [Language, ReadonlySet<string>])[] = [
  ['de', new Set(deu)],
  ['fr', new Set(fra)],
  ['es', new Set([...spa, 'y', 'en', 'me', 'mi', 'mis', 'con', 'un', 'una', 'soy', 'muy', 'para', 'tengo'])],
  ['it', new Set(ita)],
  ['pt', new Set(por)],
  ['nl', new Set(nld)],
  ['sv', new Set(swe)],
];
const RUSSIAN = new Set(rus);

/** Common English words that are none in the languages above. */
const ENGLISH = new Set(
  (
    "i i'm i've you we he she it they my your our his her their the a an and or but of to in on at for from with by as is are was were be been " +
    'have has had do does did not no this that these those what which who when where why how there here all some any so very just can will ' +
    "would should could about than then if because don't it's that's use uses always never"
  ).split(' '),
);

/** The language of a text, by its script and its commonest words; English when nothing says otherwise. */
export function languageOf(text: string): Language {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  if (/\p{Script=Hangul}/u.test(text)) return 'ko';
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if ((text.match(/\p{Script=Han}/gu)?.length ?? 0) * 3 > letters) return 'zh';
  const words = text.toLowerCase().match(/[\p{L}\p{M}']+/gu) ?? [];
  if ((text.match(/\p{Script=Cyrillic}/gu)?.length ?? 0) * 2 > letters)
    return words.some((word) => RUSSIAN.has(word)) || letters > 0 ? 'ru' : 'en';
  let best: Language = 'en';
  let most = words.filter((word) => ENGLISH.has(word)).length;
  for (const [language, stopWords] of STOP_WORDS) {
    const hits = words.filter((word) => stopWords.has(word)).length;
    if (hits > most) [best, most] = [language, hits];
  }
  return best;
}

type Phrases = readonly (readonly [FactKind, string, RegExp])[];

const phrases = (rows: readonly (readonly [FactKind, string, string])[]): Phrases =>
  rows.map(([kind, predicate, source]) => [kind, predicate, new RegExp(source, 'iu')]);

const START = String.raw`(?<![\p{L}\p{M}])`;

const PHRASES: Readonly<Record<Exclude<Language, 'en'>, Phrases>> = {
  de: phrases([
    [
      'DECISION',
      'decided',
      `${START}wir (?:haben|hatten) (?:uns )?(?<object>.*(?:entschieden|beschlossen|geeinigt|entschlossen).*)`,
    ],
    [
      'CONVENTION',
      'convention',
      `^(?:bitte )?(?:immer|niemals|nie|verwende immer|benutze immer|verwende nie)\\b(?<object>.+)|${START}wir (?:\\p{L}+ )?(?:immer|nie|niemals) .+`,
    ],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:ich heiße|mein name ist|ich wohne|ich lebe|ich komme aus|ich arbeite (?:als|bei|für|in)|ich bin (?:allergisch|verheiratet|vegetarier(?:in)?|veganer(?:in)?|geboren|\\d+ jahre|ein|eine|\\p{L}+(?:er|erin|ist|istin|in) (?:bei|in|von|aus)|von beruf)|ich habe (?:eine? |zwei |drei )?(?:\\p{L}+ )?(?:kinder?|söhne?|töchter|tochter|hund|katze|allergie)|meine? (?:frau|mann|tochter|sohn|mutter|vater|schwester|bruder) (?:heißt|ist|arbeitet|wohnt))(?<object>.*)`,
    ],
    [
      'PREFERENCE',
      'likes',
      `${START}ich (?:mag|liebe|hasse|bevorzuge|ziehe|verabscheue|genieße|trinke (?:am liebsten|lieber)|esse (?:gern|lieber|am liebsten|kein)|hätte lieber|(?:\\p{L}+ )(?:gern|gerne|lieber|am liebsten|ungern))(?<object>.+)|${START}meine? lieblings(?<favourite>.+)`,
    ],
    ['ENV', 'uses', `${START}ich (?:verwende|nutze|benutze|arbeite (?:mit|unter|auf)) (?<object>.+)`],
    [
      'PROJECT',
      'uses',
      `${START}(?:wir (?:verwenden|nutzen|benutzen|setzen)|(?:das|unser|unsere) (?:projekt|repo|repository|team|anwendung|app|backend|frontend) (?:verwendet|nutzt|benutzt|ist|läuft|braucht|hat)) (?<object>.+)`,
    ],
  ]),
  fr: phrases([
    [
      'DECISION',
      'decided',
      `${START}(?:nous avons|on a|j'ai) (?:finalement )?(?<object>(?:décidé|choisi|convenu|opté).+)`,
    ],
    [
      'CONVENTION',
      'convention',
      `^(?:s'il (?:te|vous) plaît,? )?(?:toujours|jamais|ne jamais|utilise[zr]? toujours|n'utilise[zr]? jamais)(?<object>.+)`,
    ],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:je m'appelle|mon nom est|j'habite|je vis (?:à|en|au|dans)|je viens d|je travaille (?:comme|chez|pour|à|dans)|je suis (?:allergique|marié|végétarien|végane|né|une? |originaire|\\p{L}+(?:eur|euse|ien|ienne|iste) )|j'ai \\d+ ans|j'ai (?:une?|deux|trois) (?:enfants?|fils|filles?|frères?|sœurs?|chiens?|chats?|allergie)|m(?:a|on) (?:femme|mari|fille|fils|mère|père|sœur|frère) (?:s'appelle|est|travaille|habite))(?<object>.*)`,
    ],
    [
      'PREFERENCE',
      'likes',
      `${START}(?:je (?:préfère|déteste|n'aime pas|raffole)|j'(?:aime|adore|apprécie))(?<object>.+)|${START}m(?:on|a|es) \\p{L}+ préférée?s? (?<favourite>.+)`,
    ],
    ['ENV', 'uses', `${START}(?:j'utilise|je travaille (?:sous|sur|avec)) (?<object>.+)`],
    [
      'PROJECT',
      'uses',
      `${START}(?:(?:nous utilisons|on utilise)|(?:le|notre) (?:projet|dépôt|équipe|application|backend) (?:utilise|est|tourne|nécessite)) (?<object>.+)`,
    ],
  ]),
  es: phrases([
    [
      'DECISION',
      'decided',
      `${START}(?<object>(?:(?:hemos|he) (?:decidido|elegido|acordado|optado)|decidimos|acordamos|elegimos|optamos) .+)`,
    ],
    [
      'CONVENTION',
      'convention',
      '^(?:por favor,? )?(?:siempre|nunca|usa siempre|no uses nunca) (?<object>.+)',
    ],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:me llamo|mi nombre es|vivo en|soy (?:alérgic|vegetarian|vegan|de |un |una |\\p{L}+(?:ero|era|or|ora|ista|ico|ica)(?:\\s|$))|trabajo (?:como|en|para)|nací|tengo \\d+ años|tengo (?:un|una|dos|tres) (?:hij|herman|perr|gat|alergia)|estoy casad|mi (?:mujer|esposa|marido|esposo|hija|hijo|madre|padre|hermana|hermano) (?:se llama|es|trabaja|vive))(?<object>.*)`,
    ],
    [
      'PREFERENCE',
      'likes',
      `${START}(?:prefiero|(?:no )?me (?:gusta|gustan|encanta|encantan)|odio|detesto|adoro)(?<object>.+)|${START}mi \\p{L}+ favorit[oa] (?<favourite>.+)`,
    ],
    ['ENV', 'uses', `${START}(?:uso|utilizo|trabajo con) (?<object>.+)`],
    [
      'PROJECT',
      'uses',
      `${START}(?:(?:usamos|utilizamos)|(?:el|nuestro) (?:proyecto|repositorio|equipo|backend) (?:usa|utiliza|es|requiere)) (?<object>.+)`,
    ],
  ]),
  it: phrases([
    ['DECISION', 'decided', `${START}(?:abbiamo|ho) (?<object>(?:deciso|scelto|concordato|optato) .+)`],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:mi chiamo|il mio nome è|vivo a|abito a|vengo da|lavoro (?:come|in|per|a)|sono (?:allergic|vegetarian|vegan|un |una |nat|sposat)|ho \\d+ anni|ho (?:un|una|due|tre) (?:figli|figlia|fratell|sorell|can|gatt))(?<object>.*)`,
    ],
    [
      'PREFERENCE',
      'likes',
      `${START}(?:preferisco|(?:non )?mi piac(?:e|ciono)|adoro|odio|detesto|amo)(?<object>.+)`,
    ],
    ['ENV', 'uses', `${START}(?:uso|utilizzo) (?<object>.+)`],
    [
      'PROJECT',
      'uses',
      `${START}(?:usiamo|utilizziamo|il (?:nostro )?progetto (?:usa|utilizza|è)) (?<object>.+)`,
    ],
  ]),
  pt: phrases([
    ['DECISION', 'decided', `${START}(?<object>(?:decidimos|escolhemos|concordamos|optamos) .+)`],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:(?:eu )?me chamo|chamo-me|meu nome é|moro em|vivo em|trabalho (?:como|em|para|na|no)|(?:eu )?sou (?:alérgic|vegetarian|vegan|de |um |uma |\\p{L}+(?:eiro|eira|or|ora|ista)(?:\\s|$))|tenho \\d+ anos|tenho (?:um|uma|dois|duas|três) (?:filh|irmã|cachorr|cã|gat|alergia))(?<object>.*)`,
    ],
    [
      'PREFERENCE',
      'likes',
      `${START}(?:(?:eu )?prefiro|(?:eu )?(?:não )?gosto|adoro|odeio|detesto|amo)(?<object>.+)`,
    ],
    ['ENV', 'uses', `${START}(?:eu )?(?:uso|utilizo) (?<object>.+)`],
    ['PROJECT', 'uses', `${START}(?:usamos|utilizamos|o (?:nosso )?projeto (?:usa|utiliza|é)) (?<object>.+)`],
  ]),
  nl: phrases([
    ['DECISION', 'decided', `${START}we hebben (?<object>.*(?:besloten|gekozen|afgesproken).*)`],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:ik heet|mijn naam is|ik woon|ik kom uit|ik werk (?:als|bij|voor|in)|ik ben (?:allergisch|getrouwd|vegetariër|veganist|geboren|\\d+ jaar|een)|ik heb (?:een |twee |drie )?(?:\\p{L}+ )?(?:kinderen|zoon|dochters?|hond|kat|allergie))(?<object>.*)`,
    ],
    [
      'PREFERENCE',
      'likes',
      `${START}ik (?:hou van|haat|geef de voorkeur|vind .+ (?:leuk|lekker|vreselijk)|drink liever|eet liever|\\p{L}+ (?:graag|liever|het liefst))(?<object>.*)`,
    ],
    ['ENV', 'uses', `${START}ik gebruik (?<object>.+)`],
    ['PROJECT', 'uses', `${START}(?:we gebruiken|(?:het|ons) project (?:gebruikt|is)) (?<object>.+)`],
  ]),
  sv: phrases([
    ['DECISION', 'decided', `${START}vi (?:har )?(?<object>(?:bestämt|beslutat|valt|kommit överens) .+)`],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:jag heter|mitt namn är|jag bor|jag kommer från|jag jobbar (?:som|på|för)|jag är (?:allergisk|gift|vegetarian|vegan|född|\\d+ år|en )|jag har (?:en|två|tre) (?:barn|son|dotter|hund|katt))(?<object>.*)`,
    ],
    ['PREFERENCE', 'likes', `${START}jag (?:gillar|älskar|hatar|föredrar|tycker (?:inte )?om)(?<object>.+)`],
    ['ENV', 'uses', `${START}jag använder (?<object>.+)`],
    ['PROJECT', 'uses', `${START}(?:vi använder|projektet (?:använder|är)) (?<object>.+)`],
  ]),
  ru: phrases([
    ['DECISION', 'decided', `${START}мы (?<object>(?:решили|договорились|выбрали) .+)`],
    ['CONVENTION', 'convention', '^(?:пожалуйста,? )?(?:всегда|никогда не) (?<object>.+)'],
    [
      'USER_PROFILE',
      'is',
      `${START}(?:меня зовут|мо[её] имя|я живу|я родил|я работаю|я переехал|мне \\d+|у меня (?:аллергия|есть|двое|трое|один|одна|два|две)|я (?:веган|вегетариан|женат|замужем|врач|учитель|программист|инженер|студент))(?<object>.*)`,
    ],
    [
      'PREFERENCE',
      'likes',
      `${START}(?:(?:я )?(?:не )?(?:люблю|ненавижу|предпочитаю|обожаю|терпеть не могу)|мне (?:не )?нравится)(?<object>.+)`,
    ],
    ['ENV', 'uses', `${START}я (?:использую|пользуюсь) (?<object>.+)`],
    ['PROJECT', 'uses', `${START}(?:мы используем|(?:наш )?проект использует) (?<object>.+)`],
  ]),
  zh: phrases([
    [
      'DECISION',
      'decided',
      '我们(?:已经)?(?<object>(?:决定|同意|选择了|商定).+)|我們(?:已經)?(?:決定|同意|選擇了).+',
    ],
    [
      'CONVENTION',
      'convention',
      '^(?:请|請)?(?:总是|總是|始终|始終|永远不要|永遠不要|千万不要)(?<object>.+)',
    ],
    [
      'USER_PROFILE',
      'is',
      '我叫(?!你|他|她)(?<name>.+)|我的名字(?<name2>.+)|我住在(?<home>.+)|我来自(?<from>.+)|我來自.+|我是(?!说|說|不是|想|在|问|問|要)(?<role>.+)|我对(?<allergy>.+)过敏|我對.+過敏|我有(?<family>.{0,6}(?:孩子|儿子|女儿|兒子|女兒|狗|猫|貓|哥哥|姐姐|弟弟|妹妹).*)|我在.+工作|我今年\\d+',
    ],
    [
      'PREFERENCE',
      'likes',
      '我(?:很|非常|最|更|也|比较|不|不太|特别)?(?:喜欢|喜歡|爱|愛|讨厌|討厭|偏好|偏爱|热爱)(?!你)(?<object>.+)',
    ],
    ['ENV', 'uses', '我(?:用|使用|在用)(?<object>.+)'],
    ['PROJECT', 'uses', '(?:我们|我們|项目|專案|项目组)(?:用|使用|采用|採用)(?<object>.+)'],
  ]),
  ja: phrases([
    ['DECISION', 'decided', '(?<object>.+(?:ことに(?:決め|し)(?:まし)?た|に決めました|に決まりました).*)'],
    [
      'USER_PROFILE',
      'is',
      '(?<object>.+(?:に住んで(?:い|る|ます)|出身です|アレルギー(?:です|があります|がある)|と申します|で働いて(?:い|る|ます)|歳です).*)|私の名前は.+|(?:私|僕|俺)は.+(?:です|だ)$',
    ],
    [
      'PREFERENCE',
      'likes',
      '(?<object>.+(?:が|は)(?:大|一番)?(?:好き|嫌い|苦手)(?:です|だ|じゃ|では)?.*)|.+(?:の方が|ほうが)(?:いい|好き).*',
    ],
    ['ENV', 'uses', '(?:私|僕|俺)?は?(?<object>.+を使って(?:い|る|ます).*)'],
  ]),
  ko: phrases([
    ['DECISION', 'decided', '(?<object>.+(?:하기로 (?:했|결정)|로 결정).*)'],
    [
      'USER_PROFILE',
      'is',
      '(?:제|내) 이름은(?<name>.+)|(?<object>.+(?:에 살(?:아요|고|아|며)|에서 일(?:해|하)|알레르기가 있|출신(?:이|입)).*)|저는 .+(?:입니다|이에요|예요)$',
    ],
    ['PREFERENCE', 'likes', '(?<object>.+(?:좋아(?:해|합|하)|싫어(?:해|합|하)|선호).*)'],
    ['ENV', 'uses', '(?:저는|나는) (?<object>.+(?:사용(?:해|합|하)|써요|씁니다).*)'],
  ]),
};

const ASKS = /[?？؟]\s*$|(?:吗|嗎|呢|か)[。\s]*$/u;

/** Shared words make neighbours of these languages, while the phrases are sure: all of them are tried. */
const LATIN: readonly Exclude<Language, 'en'>[] = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'sv'];

/** What a sentence in another language states; null for nothing that the phrases know, or for a question. */
export function foreignStatement(
  sentence: string,
  language: Exclude<Language, 'en'>,
): { kind: FactKind; predicate: string; object: string | undefined } | null {
  if (ASKS.test(sentence)) return null;
  for (const candidate of LATIN.includes(language) ? [language, ...LATIN] : [language]) {
    for (const [kind, predicate, pattern] of PHRASES[candidate]) {
      const match = pattern.exec(sentence);
      if (!match) continue;
      const object = Object.values(match.groups ?? {}).find((value) => value?.trim());
      return { kind, predicate, object: object?.trim() };
    }
  }
  return null;
}
