/**
 * In which language a text in Latin letters is, as far as its stems and stop words go (SPEC §8.1). A guess by its
 * commonest words and letters: it may be wrong for two words, so nothing rests on it alone. Other scripts need none.
 */

import { dan, deu, fin, fra, ita, nld, nob, por, spa, swe } from 'stopword';
import { FUNCTION_WORDS, UBIQUITOUS_WORDS } from './stop-words.js';

/** Languages in Latin letters, other than English, that have stems and stop words of their own. */
export const LATIN_LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'nb', 'fi'] as const;

export type LatinLanguage = (typeof LATIN_LANGUAGES)[number];

/** What a text's words are read as. */
export type TextLanguage = 'en' | LatinLanguage;

const words = (list: string): string[] => list.trim().split(/\s+/);

/** The words of nearly every sentence in it: not indexed, unless a text has nothing else. */
const UBIQUITOUS: Readonly<Record<LatinLanguage, readonly string[]>> = {
  de: words(
    'der die das den dem des ein eine einen einem einer eines und oder aber in im an am auf zu zum zur von vom mit für ist sind war ich du er sie es wir ihr sich',
  ),
  fr: words(
    'le la les un une des du de l d j c n s t m qu et ou à au aux en dans pour par avec est sont je tu il elle on nous vous ils elles se ce que qui',
  ),
  es: words(
    'el la los las un una unos unas de del a al y e o u en con por para es son que se su sus lo le les yo me mi',
  ),
  it: words(
    'il lo la i gli le l un uno una di del della dei delle dello dell a al alla ai alle in nel nella e ed o da dal con per su è sono che si io mi',
  ),
  pt: words(
    'o a os as um uma de do da dos das e ou em no na nos nas com por para é são que se ao à eu me seu sua',
  ),
  nl: words('de het een en of in op aan van te voor met is zijn was ik je hij ze zij we er dat die'),
  sv: words('en ett den det de och eller i på av till för med är var som att jag du han hon vi sig'),
  da: words('en et den det de og eller i på af til for med er var som at jeg du han hun vi sig'),
  nb: words('en et ei den det de og eller i på av til for med er var som at jeg du han hun vi seg'),
  fi: words('ja tai on oli se hän ei että joka minä sinä me ovat olen'),
};

/** What memories say of people and projects, beside the libraries' stop words. */
const SAID_OF_PEOPLE: Readonly<Record<LatinLanguage, readonly string[]>> = {
  de: words(
    'mag liebt hasst bevorzugt trinkt isst wohnt lebt arbeitet heißt kommt spricht fährt spielt nutzt benutzt verwendet kauft lernt reist besucht braucht schreibt liest gern gerne lieber nutzer benutzer benutzerin nutzerin kunde projekt jeden immer nie montags wir unser unsere',
  ),
  fr: words(
    "préfère aime adore déteste habite vit travaille boit mange parle joue utilise achète apprend voyage lit écrit s'appelle utilisateur utilisatrice client projet toujours jamais chaque chez très aussi pendant depuis",
  ),
  es: words(
    'prefiere odia bebe vive trabaja habla juega usa utiliza compra aprende viaja lee escribe gusta gustan encanta tiene tengo quiere necesita llama usuario usuaria cliente proyecto equipo siempre nunca cada muy son está están soy fue hay también todos todas dónde cuándo cómo cuál quién cuánto ella ellos ellas nosotros ser estar han hemos había nada otra así entonces mientras según hacia qué',
  ),
  it: words(
    'ieri oggi domani anche ancora adesso sono siamo stata stato hanno abbiamo vorrei posso bisogno casa giorno anno quando però già più molta molti molte fatto ogni suoi prossimo settimana preferisce odia beve mangia vive abita lavora parla gioca usa utilizza compra impara viaggia legge scrive piace piacciono vuole chiama utente cliente progetto sempre mai ogni molto anche',
  ),
  pt: words(
    'ontem hoje amanhã ainda agora estou temos preciso posso casa dia ano foram seus suas nossa nosso porque quando já próxima próximo semana feito prefere gosta gostam odeia bebe mora trabalha fala joga usa utiliza compra aprende viaja lê escreve tem tenho quer precisa chama usuário usuária utilizador cliente projeto projecto equipe sempre nunca cada muito também não são está estão é uma foi',
  ),
  nl: words(
    'houdt haat drinkt eet woont werkt heet spreekt speelt gebruikt koopt leert reist bezoekt schrijft leest graag liever gebruiker klant altijd nooit elke zijn',
  ),
  sv: words(
    'gillar älskar hatar föredrar dricker äter bor arbetar jobbar heter talar pratar spelar använder köper lär reser läser skriver användaren användare kunden alltid aldrig projektet',
  ),
  da: words(
    'jeg ikke hvad hvordan hvor hvorfor også efter uden deres fordi meget noget nogen aldrig altid allerede igen hver uge dag år skal kan elsker hader foretrækker drikker spiser bor arbejder hedder taler spiller bruger køber lærer rejser læser skriver brugeren kunden altid aldrig projektet',
  ),
  nb: words(
    'jeg ikke hva hvordan hvor hvorfor også etter uten deres fordi mye noe noen aldri alltid allerede igjen hver uke dag år skal kan liker elsker hater foretrekker drikker spiser bor jobber arbeider heter snakker spiller bruker kjøper lærer reiser leser skriver brukeren kunden alltid aldri prosjektet',
  ),
  fi: words(
    'pitää rakastaa vihaa juo syö asuu puhuu pelaa käyttää ostaa oppii matkustaa lukee kirjoittaa käyttäjä asiakas aina koskaan ei minun hänellä minulla',
  ),
};

/** Words of the lists that English texts have as well, as words or in names. They tell nothing. */
const ALSO_ENGLISH = new Set(
  words(
    `all also am an are arm art as at ben bald bald bin bare be bebe been ben bin but by care client come compra dank dag dare
     de del den der des die dig dir dire dock dog dom do done door dove du due el elf em en end ens era eras et fair far fast fat fin fin fire
     for fort four from full fun gang ger gift god gut had ham hade han hans hare hat have he hem hen her here hey hit ho hon
     hos hot hun ii in ind ins is it jo just kan kind kun la lad lad last le led leg legs lei let like los low ma mag man main mal
     mange me mean men mens mere met mia mig mine minor mod most name nei no nod nor note now nu of ok okay on once one or over pace
     par per plus pour pro real sage san se sea seine sei self sent set side sin sit so solo som some son sous stare store sur tack
     tag tale tar te ten tender that the ting till time to toe ton tot tout tu ty under unser uns until up usa ut van vi via vid
     vive vivo von want war warm was we well were wider wie will with won yet ya you zo da di fra al io si lo ni hi ha ad ed non con sia
     per tra san ana ann ali mai ai ora oro sole stia ta tan tar voyage lit hater elsker projekt kunde cliente lever ville ses hade
     bo alls ja nej ned op ind ny nye old mere mod lige lav ting stor var ser ur inga ingen van hans hon`,
  ),
);

const LISTED: Readonly<Record<LatinLanguage, readonly string[]>> = {
  de: deu,
  fr: fra,
  es: spa,
  it: ita,
  pt: por,
  nl: nld,
  sv: swe,
  da: dan,
  nb: nob,
  // Its list has English words.
  fi: fin.filter((word) => word !== 'the' && word !== 'of'),
};

/** Words of these languages that are in names of people and places, or that English has borrowed: they say little. */
const IN_NAMES = new Set(
  words('de del der den la le el los du di da dos das van von en vive sin con una san por'),
);
const IN_NAMES_WEIGHT = 0.5;

interface Lists {
  readonly common: ReadonlySet<string>;
  readonly ubiquitous: ReadonlySet<string>;
}

const LISTS: ReadonlyMap<LatinLanguage, Lists> = new Map(
  LATIN_LANGUAGES.map((language) => [
    language,
    {
      common: new Set(
        [...LISTED[language], ...UBIQUITOUS[language]].filter((word) => /^\p{L}+$/u.test(word)),
      ),
      ubiquitous: new Set(UBIQUITOUS[language]),
    },
  ]),
);

/** Whether a word, lower case with its accents, is a stop word of the language, and of the commonest. */
export function stopWordsOf(language: LatinLanguage): Lists {
  return LISTS.get(language)!;
}

type Evidence = readonly (readonly [language: LatinLanguage, weight: number])[];

/** How much each word speaks for each language: less the more languages share it. */
const WORD_EVIDENCE: ReadonlyMap<string, Evidence> = evidenceOfWords();

/** Danish, Norwegian and Swedish share their words: which of them it is matters less than that it is one. */
function kinOf(language: LatinLanguage): string {
  return /^(?:sv|da|nb)$/.test(language) ? 'nordic' : language;
}

function evidenceOfWords(): ReadonlyMap<string, Evidence> {
  const languagesOf = new Map<string, Set<LatinLanguage>>();
  for (const language of LATIN_LANGUAGES) {
    for (const word of [...LISTS.get(language)!.common, ...SAID_OF_PEOPLE[language]]) {
      const isName = IN_NAMES.has(word);
      if (word.length < 2 || (ALSO_ENGLISH.has(word) && !isName)) continue;
      languagesOf.set(word, (languagesOf.get(word) ?? new Set()).add(language));
    }
  }
  return new Map(
    [...languagesOf].map(([word, languages]) => {
      const weight = IN_NAMES.has(word) ? IN_NAMES_WEIGHT : 1;
      return [
        word,
        [...languages].map(
          (language) => [language, weight / Math.sqrt(new Set([...languages].map(kinOf)).size)] as const,
        ),
      ];
    }),
  );
}

/** Letters that English does not have, and who has them. */
const LETTER_EVIDENCE: readonly (readonly [RegExp, Evidence])[] = [
  [/ß/u, [['de', 1]]],
  [
    /[üöä]/u,
    [
      ['de', 0.6],
      ['sv', 0.4],
      ['fi', 0.4],
    ],
  ],
  [
    /å/u,
    [
      ['sv', 0.8],
      ['da', 0.8],
      ['nb', 0.8],
    ],
  ],
  [
    /[øæ]/u,
    [
      ['da', 0.9],
      ['nb', 0.9],
    ],
  ],
  [/[ñ¿¡]/u, [['es', 1]]],
  [/[ãõ]/u, [['pt', 1]]],
  [
    /ç/u,
    [
      ['fr', 0.6],
      ['pt', 0.6],
    ],
  ],
  [
    /[áíóú]/u,
    [
      ['es', 0.6],
      ['pt', 0.5],
    ],
  ],
  [
    /[àèìòù]/u,
    [
      ['it', 0.6],
      ['fr', 0.6],
    ],
  ],
  [
    /é/u,
    [
      ['fr', 0.6],
      ['es', 0.4],
      ['pt', 0.4],
      ['it', 0.3],
    ],
  ],
  [
    /[êâîôûëïœ]/u,
    [
      ['fr', 0.6],
      ['pt', 0.4],
    ],
  ],
  [/aa|ää|yy|kk[aä]$|ss[aä]$|ll[aä]$/u, [['fi', 0.4]]],
];

/** Letters of languages that are not known here: Czech, Polish, Hungarian, Romanian, Turkish, Vietnamese, … */
const OTHER_LETTERS = /[ěščřžůťďňőűąęłńśźżğşıățșđơưāēīūķļņģėįų\u1e00-\u1eff]/u;

/** An article or pronoun that has lost its vowel: l'hôtel, j'aime, dell'arte. */
const ELIDED =
  /^(?:([cdjmnst]|qu|jusqu|lorsqu|puisqu)|(l)|(un|dell|all|nell|sull|dall|quell))['’](?=\p{L})/iu;

/** Without an elided article. */
export function withoutElision(word: string): string {
  return word.replace(ELIDED, '');
}

/** Texts are judged by their beginning, in UTF-16 code units. */
const JUDGED_LENGTH = 2_000;

/** What a foreign language needs at least: one word of its own. */
const LEAST_EVIDENCE = 0.9;

/** And as much for each of a text's words: a quotation does not make the text around it foreign. */
const LEAST_SHARE = 0.09;

/**
 * The language that a text is most likely in; null where it says too little, as keywords and names do, or is in one that
 * is not known here. Letters of other scripts do not count.
 */
export function languageOf(text: string): TextLanguage | null {
  const scores = new Map<LatinLanguage, number>();
  const add = (evidence: Evidence) => {
    for (const [language, weight] of evidence) scores.set(language, (scores.get(language) ?? 0) + weight);
  };
  let english = 0;
  let other = 0;
  const distinct = new Set(
    text
      .slice(0, JUDGED_LENGTH)
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{Script=Latin}¿¡]+(?:['’]\p{Script=Latin}+)*/gu),
  );
  for (const token of distinct) {
    if (OTHER_LETTERS.test(token)) other += 1;
    const elided = ELIDED.exec(token);
    if (elided)
      add(
        elided[1]
          ? [['fr', 0.8]]
          : elided[3]
            ? [['it', 0.9]]
            : [
                ['fr', 0.6],
                ['it', 0.6],
              ],
      );
    const word = withoutElision(token);
    const evidence = WORD_EVIDENCE.get(word);
    if (evidence) add(evidence);
    if (UBIQUITOUS_WORDS.has(word) || FUNCTION_WORDS.has(word) || /['’](?:s|re|ve|ll|m)$|n['’]t$/u.test(word))
      english += isShared(word) ? 0.5 : 1;
    if (!/^[a-z'’]+$/.test(word) || evidence === undefined)
      for (const [letters, speaks] of LETTER_EVIDENCE) if (letters.test(word)) add(speaks);
  }
  const [best, most] = [...scores].reduce<readonly [LatinLanguage | null, number]>(
    (one, [language, score]) => (score > one[1] ? [language, score] : one),
    [null, 0],
  );
  if (
    best &&
    most >= Math.max(LEAST_EVIDENCE, LEAST_SHARE * distinct.size) &&
    most > Math.max(english, other)
  )
    return best;
  return english >= Math.max(1, most) ? 'en' : null;
}

/** Whether an English word is a stop word elsewhere too: "in", "an", "me". */
function isShared(word: string): boolean {
  return LATIN_LANGUAGES.some((language) => LISTS.get(language)!.common.has(word));
}
