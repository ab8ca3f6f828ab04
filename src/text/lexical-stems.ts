/** From a folded word to the terms under which it is indexed and looked for: irregular forms, then a stemmer. */

import snowball from 'snowball-stemmers';
import { latinStem, scriptStem } from './language-stems.js';
import { LATIN_LANGUAGES, type TextLanguage } from './languages.js';
import { TwoGenerationCache } from './two-generation-cache.js';

/** Base form, then its irregular forms. Forms that are commoner as another word (rose, drew, lay) are left out. */
const IRREGULAR_FORMS = `
arise arose arisen|awake awoke awoken|beat beaten|become became|begin began begun|bend bent|bite bitten
bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought
catch caught|choose chose chosen|come came|creep crept|deal dealt|dig dug|draw drawn|dream dreamt
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden
hold held|keep kept|kneel knelt|know knew known|lead led|leap leapt|learn learnt|leave left|lend lent|lose lost
make made|mean meant|meet met|overcome overcame|pay paid|prove proven|ride rode ridden|ring rang rung|rise risen
run ran|say said|see saw seen|seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown
shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent
spin spun|spoil spoilt|stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept
swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown
understand understood|undertake undertook undertaken|wake woke woken|wear wore worn|weep wept|win won
withdraw withdrew withdrawn|write wrote written|rewrite rewrote rewritten|rebuild rebuilt
child children|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|wife wives|knife knives|wolf wolves
shelf shelves|half halves|loaf loaves|person people|index indices|vertex vertices|matrix matrices
criterion criteria|phenomenon phenomena|analysis analyses|diagnosis diagnoses|crisis crises
`;

/** One spelling of a word for its British, informal and short ones. */
const VARIANTS = `
color colour colours colors|favorite favourite favourites fav fave favs faves|neighbor neighbour|behavior behaviour
honor honour|humor humour|labor labour|flavor flavour|harbor harbour|rumor rumour|center centre|theater theatre
meter metre|liter litre|fiber fibre|gray grey|program programme|catalog catalogue|dialog dialogue|license licence
defense defence|jewelry jewellery|tire tyre|pajamas pyjamas|organize organise|realize realise|recognize recognise
apologize apologise|analyze analyse|customize customise|optimize optimise|initialize initialise|serialize serialise
mom mum mommy mummy mama|dad daddy papa|grandma granny grandmother|grandpa grandfather|business biz
birthday bday|picture pic pics|photo photograph photography|bike bicycle|fridge refrigerator|phone telephone
tv television|application app apps|repository repo repos|kubernetes k8s|postgres postgresql|javascript js|typescript ts
`;

function tableOf(lines: string): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  for (const group of lines.trim().split(/\s*[|\n]\s*/)) {
    const [base, ...forms] = group.split(' ');
    for (const form of forms) table.set(form, base!);
  }
  return table;
}

const BASE_FORMS: ReadonlyMap<string, string> = new Map([...tableOf(IRREGULAR_FORMS), ...tableOf(VARIANTS)]);

const english = snowball.newStemmer('english');

/** Longer words are no words of a language: a stemmer would only take its time. */
const LONGEST_STEMMED = 64;

const stems = new TwoGenerationCache<string>(20_000);

/**
 * The stem of a word that is already lower case and without accents: Latin letters by the language of its text, other
 * scripts by themselves, the word itself where there is no stemmer. Words with digits are names and stay whole.
 */
export function stemOf(word: string, language: TextLanguage = 'en'): string {
  if (word.length > LONGEST_STEMMED) return word;
  if (!/^[a-z]+$/.test(word)) return scriptStem(BASE_FORMS.get(word) ?? word);
  return stems.get(`${language} ${word}`, () =>
    language === 'en' ? english.stem(BASE_FORMS.get(word) ?? word) : latinStem(word, language),
  );
}

/** All terms under which a word may be indexed, whatever the language of the text that has it: the English one first. */
export function possibleStems(word: string): readonly [string, ...string[]] {
  const first = stemOf(word);
  if (!/^[a-z]+$/.test(word)) return [first];
  const others = new Set(LATIN_LANGUAGES.map((language) => stemOf(word, language)));
  others.delete(first);
  return [first, ...others];
}
