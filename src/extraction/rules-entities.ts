/** Names in a sentence: people, places, organisations, products, technical terms (SPEC §2.3). */

/** A word with the tags that the NLP library gave it. */
export interface TaggedWord {
  /** As written, without punctuation. */
  text: string;
  tags: ReadonlySet<string>;
  /** What stands between it and the next word. */
  after: string;
  /** What stands between the previous word's space and it, such as a quote. */
  before: string;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Technical names that are usually typed in small letters. */
export const TECHNICAL_NAMES = words(
  'postgres postgresql mysql mariadb sqlite redis mongodb cassandra elasticsearch clickhouse duckdb kafka rabbitmq nats ' +
    'pnpm npm yarn bun deno node nodejs typescript javascript python ruby rails rust golang java kotlin scala clojure elixir haskell ' +
    'php laravel perl lua swift dart flutter docker podman kubernetes k8s k3s helm terraform pulumi ansible vagrant kamal argocd ' +
    'jenkins git github gitlab bitbucket vim neovim nvim emacs vscode intellij tmux bash zsh fish powershell linux ubuntu debian ' +
    'fedora nixos macos windows android ios wsl nginx caddy traefik graphql prisma react vue svelte angular nextjs nuxt django flask ' +
    'fastapi nestjs express tailwind webpack vite vitest jest mocha cypress playwright eslint prettier biome aws gcp azure hetzner ' +
    'heroku vercel netlify cloudflare firebase supabase grafana prometheus sentry datadog pytorch tensorflow pandas numpy jupyter ' +
    'openai ollama chatgpt copilot figma notion obsidian slack jira',
);
/** Common words among them: `fish`, `swift`, `express` are names only after what makes them one. */
const AMBIGUOUS = words(
  'fish swift express node rust windows biome helm flask slack notion dart bun jest caddy',
);
const MAKES_TECHNICAL =
  /\b(?:use|uses|using|run|runs|running|installed?|(?:written|code|coded|program|programming|built) (?:in|with|on)|(?:shell|editor|language|framework|system|runtime) is|version of|knows?|learn(?:ing)?|switched (?:from \w+ )?to)\s+$/i;

const NOT_NAMES = words(
  "i i'm i've i'll i'd ok okay lol wow omg btw fyi tbh imo asap ps am pm tv yes no hi hey hello thanks please mr mrs ms dr prof sir madam " +
    'ceo cto cfo coo vp hr md monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march april may june july august ' +
    'september october november december jan feb mar apr jun jul aug sep sept oct nov dec pr prs ci todo n/a it its the a an ' +
    'mom mum dad mommy daddy grandma grandpa aunt uncle god english-speaking spring summer autumn fall winter christmas-time',
);

/** Small words inside a name: Bank of England, Ludwig van Beethoven. */
const LINKS = words('of the de la le del der den van von da di du al el bin ibn and & y e');
/** Only these join two capitalised words safely. */
const STRONG_LINKS = words('of de la del der den van von da di du al el bin ibn &');
const TITLES = words('mr mrs ms dr prof sir madam');

const NAME_TAGS = [
  'Person',
  'FirstName',
  'LastName',
  'Place',
  'City',
  'Country',
  'Region',
  'Organization',
  'ProperNoun',
  'Acronym',
  'Company',
];

/**
 * The names in a sentence, as written, in order, whole and without repeats (case ignored). The first word
 * counts only if the library or its own spelling says that it is a name, since every sentence begins with a
 * capital.
 */
export function entitiesOf(sentence: string, tagged: readonly TaggedWord[]): string[] {
  const found: string[] = [
    ...quotedTitles(sentence),
    ...(sentence.match(
      /@[\w-]+\/[\w.-]+|\b[\w-]+\.(?:ts|js|py|rb|go|rs|md|json|ya?ml|toml|sql|tsx|jsx)\b/g,
    ) ?? []),
  ];
  for (let at = 0; at < tagged.length; ) {
    const length = nameLength(tagged, at);
    if (length > 0) found.push(nameAt(tagged, at, length));
    at += Math.max(1, length);
  }
  for (const { text, index } of smallWords(sentence)) {
    const word = text.toLowerCase();
    if (!TECHNICAL_NAMES.has(word)) continue;
    if (!AMBIGUOUS.has(word) || MAKES_TECHNICAL.test(sentence.slice(0, index))) found.push(text);
  }
  return distinct(found);
}

function* smallWords(sentence: string): Generator<{ text: string; index: number }> {
  for (const match of sentence.matchAll(/(?<![\w./@-])[a-z][a-z0-9]*(?![\w@-])/g))
    yield { text: match[0], index: match.index };
}

function quotedTitles(sentence: string): string[] {
  return [...sentence.matchAll(/["“]([^"”]{2,60})["”]/gu)]
    .map(([, title]) => title!.replace(/[.,!?]+$/, ''))
    .filter(
      (title) =>
        /^\p{Lu}/u.test(title) &&
        title.split(' ').filter((word) => /^\p{Lu}|^\d/u.test(word)).length * 2 >= title.split(' ').length,
    );
}

/** How many words from here on are one name; 0 if none. */
function nameLength(tagged: readonly TaggedWord[], start: number): number {
  if (!beginsName(tagged, start)) return 0;
  let end = start + 1;
  while (end < tagged.length && joins(tagged[end - 1]!)) {
    if (tagged[end - 1]!.text.endsWith("'s")) break;
    if (isCapitalised(tagged, end)) end += 1;
    else if (STRONG_LINKS.has(tagged[end]!.text.toLowerCase()) && continuesAfterLink(tagged, end)) end += 2;
    else if (tagged[end]!.text === 'of' && tagged[end + 1]?.text === 'the' && isCapitalised(tagged, end + 2))
      end += 3;
    else break;
  }
  return end - start;
}

/** Punctuation ends a name, but for the full stop of a title. */
function joins({ text, after }: TaggedWord): boolean {
  return !/[.,;:!?()"]/.test(after) || (TITLES.has(text.toLowerCase()) && after.trim() === '.');
}

function continuesAfterLink(tagged: readonly TaggedWord[], at: number): boolean {
  return isCapitalised(tagged, at + 1) && tagged[at]!.after.trim() === '';
}

function beginsName(tagged: readonly TaggedWord[], at: number): boolean {
  if (!isCapitalised(tagged, at)) return false;
  const { text, tags } = tagged[at]!;
  if (isSpelledAsName(text)) return true;
  const opens = at === 0 || /[.!?:"“]\s*$/.test(tagged[at - 1]!.after) || /["“]/.test(tagged[at]!.before);
  if (!opens) return true;
  if (LINKS.has(text.toLowerCase())) return false;
  return (
    NAME_TAGS.some((tag) => tags.has(tag)) &&
    !tags.has('Verb') &&
    !tags.has('Pronoun') &&
    !tags.has('Possessive')
  );
}

/** Capitals inside, or letters with digits: GraphQL, AWS, GPT-4, iPhone. */
function isSpelledAsName(text: string): boolean {
  const bare = stripPossessive(text);
  return (
    /\p{Ll}\p{Lu}|^\p{Lu}{2,}s?$|^\p{Lu}+[-]?\d|^\p{L}*\d+\p{L}+$/u.test(bare) &&
    /\p{L}{1}/u.test(bare) &&
    bare.length > 1
  );
}

function isCapitalised(tagged: readonly TaggedWord[], at: number): boolean {
  const word = tagged[at];
  if (!word) return false;
  const bare = stripPossessive(word.text);
  if (NOT_NAMES.has(bare.toLowerCase()) && !(bare === 'May' && word.tags.has('Person'))) {
    return TITLES.has(bare.toLowerCase()) && /^\p{Lu}/u.test(tagged[at + 1]?.text ?? '');
  }
  if (/^\d+(?:st|nd|rd|th|am|pm|k|m|kg|km|h|s|ms|gb|mb|tb|x|yo|cm|mm|ft|lbs?|min|hrs?)$/i.test(bare))
    return false;
  return /^\p{Lu}/u.test(bare) || isSpelledAsName(bare);
}

function nameAt(tagged: readonly TaggedWord[], start: number, length: number): string {
  const words = tagged.slice(start, start + length);
  return stripPossessive(
    words.map(({ text, after }, index) => (index < length - 1 ? text + joint(after) : text)).join(''),
  );
}

/** What stands between two words of a name: Jean-Luc, AT&T, Dr. Smith. */
function joint(after: string): string {
  if (/^[-/&]$/.test(after)) return after;
  return after.includes('.') ? '. ' : ' ';
}

function stripPossessive(text: string): string {
  return text.replace(/(?:'s|')$/i, '');
}

/** Without repeats and without names that are a part of a longer one found. */
function distinct(names: readonly string[]): string[] {
  const kept = new Map<string, string>();
  for (const raw of names) {
    const name = raw.replace(/^[^\p{L}\p{N}@.]+|[^\p{L}\p{N}+#]+$/gu, '');
    const key = name.toLowerCase();
    if (key.length > 0 && !NOT_NAMES.has(key) && !kept.has(key)) kept.set(key, name);
  }
  return [...kept.entries()]
    .filter(([key]) => ![...kept.keys()].some((other) => other !== key && ` ${other} `.includes(` ${key} `)))
    .map(([, name]) => name);
}
