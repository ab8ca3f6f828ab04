/** Word lists of the English rules, as alternatives of a pattern (SPEC §2.3). */

/** Joins the lines of a list. */
const alternatives = (...lines: readonly string[]): string => lines.join('|');

/** What may stand between a subject and its verb. */
export const ADVERBS = `(?:(?:${alternatives(
  'really|absolutely|also|still|always|usually|mostly|generally|strongly|personally|actually|definitely|just|truly|totally',
  'especially|particularly|very much|do|only|now|much|currently|normally|typically|kinda|kind of|honestly|simply|even|already',
  'both|all|once|finally|recently|sincerely|deeply|quite|so|pretty much|mainly|primarily|often|have|had|never',
)}) ){0,3}`;

/** Degrees between "I am" and what one is. */
export const DEGREES = `(?:(?:${alternatives(
  'also|actually|currently|now|still|just|originally|really|both|so|very|quite|pretty|not|mostly|a bit|kind of|severely|highly',
  'happily|proudly|fully|officially|already|mildly|only|basically|totally|super|always|never|more|most|no longer|a|a little',
)}) ){0,3}`;

export const FAMILY = alternatives(
  'wife|husband|spouse|partner|fiancee?|fiancée?|girlfriend|boyfriend|mom|mum|mother|dad|father|parents?|sons?|daughters?',
  'kids?|child|children|brothers?|sisters?|siblings?|twins?|grandma|grandmother|grandpa|grandfather|grandparents|grandson',
  'granddaughter|uncle|aunt|cousins?|nieces?|nephews?|mother-in-law|father-in-law|brother-in-law|sister-in-law|stepson',
  'stepdaughter|stepfather|stepmother|dogs?|cats?|puppy|kitten|pets?|parrot|horse|rabbit|hamster|turtles?|family|baby',
);

/** What one has for long: relatives, animals, illnesses, papers, homes. */
export const POSSESSIONS = alternatives(
  'kids?|child|children|sons?|daughters?|brothers?|sisters?|siblings?|dogs?|cats?|pets?|puppy|puppies|kitten|parrot|turtles?',
  'horses?|retriever|terrier|poodle|labrador|wife|husband|partner|girlfriend|boyfriend|twins?|grandchildren|grandkids',
  'asthma|diabetes|adhd|autism|anxiety|depression|allergy|allergies|celiac|coeliac|migraines?|epilepsy|arthritis|insomnia',
  "dyslexia|degree|phd|doctorate|masters?|master's|bachelor's|licen[cs]e|visa|passport|citizenship|tattoos?|phobia",
  'disability|condition|intolerance|background in|years of experience|experience (?:in|with)|nationality|house|apartment',
  'flat|garden|boat|motorcycle|car',
);

/** What one is for long. */
export const TRAITS = alternatives(
  'married|divorced|widowed|engaged|single|vegan|vegetarian|pescatarian|allergic|lactose|gluten|diabetic|pregnant|deaf|blind',
  'colou?r-?blind|left-handed|right-handed|autistic|dyslexic|gay|lesbian|bisexual|transgender|trans|non-?binary|queer|asexual',
  'jewish|muslim|christian|catholic|protestant|orthodox|hindu|buddhist|sikh|atheist|agnostic|retired|unemployed|self-employed',
  'freelance|bilingual|trilingual|fluent|new to|epileptic|asthmatic|intolerant|celiac|coeliac|sober|immunocompromised',
  'hard of hearing|afraid of|scared of|terrified of|responsible for|in charge of|certified|trained|good at|bad at|terrible at',
  'experienced|based|employed|expecting|nearsighted|short-sighted|introverted|extroverted|half \\w+|\\w+(?:ish|ese|ian)$',
  'german|french|dutch|greek|swiss|czech|thai|american|african|mexican|korean',
);

export const ATTRIBUTES = alternatives(
  'e-?mail(?: address)?|phone(?: number)?|mobile|home address|address|time ?zone|zip code|postcode|username|user ?id|handle|github',
  'twitter|linkedin|website|blog|native language|mother tongue|first language|second language|nationality|home ?town|home town',
  'religion|faith|blood type|height|weight|age|pronouns|birthday|star sign|shoe size|diet|degree|major|background|gender',
  'ethnicity|surname|nickname|job|role|title|job title|position|profession|occupation|employer|specialty|salary',
);

export const LANGUAGES = alternatives(
  'english|french|german|spanish|italian|portuguese|dutch|polish|russian|ukrainian|arabic|hebrew|hindi|urdu|bengali|tamil|chinese',
  'mandarin|cantonese|japanese|korean|vietnamese|thai|turkish|greek|swedish|norwegian|danish|finnish|hungarian|czech|romanian',
  'catalan|farsi|persian|swahili|sign language|latin|irish|welsh|icelandic|bulgarian|croatian|serbian|slovak|indonesian|malay',
  'tagalog|afrikaans|basque|estonian|latvian|lithuanian|punjabi|gujarati|telugu|marathi|esperanto',
);

/** What one works at or with. */
export const DEVICES = alternatives(
  'laptop|machine|computer|pc|mac|macbook|workstation|desktop|editor|ide|shell|terminal|os|operating system|setup|set-up',
  'environment|keyboard|monitor|phone|tablet|browser|server|homelab|nas|router|vps|distro|package manager|prompt|window manager',
  'node version|python version|ruby version|java version|kernel|cpu|gpu|graphics card|ram|stack|toolchain',
);

export const SERVERS = alternatives(
  'server|servers|database|db|service|api|app|backend|frontend|cluster|container|proxy|cache|broker|queue|registry|dashboard',
  'instance|site|host|machine|machines|runners?|agents?|box|bucket|gateway|daemon|worker|port|endpoint|cdn|vpn|load balancer',
);

export const PROJECT_NOUNS = alternatives(
  'project|repo|repository|codebase|code base|code|app|application|services?|backend|back-?end|front-?end|api|product|company|startup',
  'monorepo|package|library|sdk|cli|site|website|platform|database|db|schema|cluster|pipeline|ci|ci pipeline|deployment',
  'customers?|clients?|deadline|release date|launch date|milestone|roadmap|stack|tech stack|architecture|infrastructure|infra',
  'module|plugin|extension|game|team|bot|docs|documentation|tests|test suite|licen[cs]e|budget|build|system|framework|firmware',
  'dataset|model|store|shop|business|studio',
);

export const CODE_THINGS = alternatives(
  'commits?|messages?|branch(?:es)?|prs|pull requests|merge requests|tests|migrations|functions|files|filenames|file names|variables',
  'components|endpoints|releases|deploys?|deployments|secrets|modules|classes|interfaces|types|tables|columns|keys|packages',
  'services|tags|versions|constants|docs|comments|imports|exports|requests?|reviews?',
);

/** Tools of one's trade, also when typed in small letters: "I use" them makes the set-up. */
export const TECHNOLOGIES = alternatives(
  'macos(?: \\w+)?|mac|macbook|os x|windows(?: \\d+| xp)?|linux|ubuntu|debian|fedora|arch|arch linux|nixos|gentoo|mint|centos|rhel',
  'alpine|freebsd|openbsd|wsl2?|android|ios|ipados|chromeos|vim|neovim|nvim|emacs|vs ?code|visual studio(?: code)?|intellij',
  'pycharm|webstorm|goland|android studio|xcode|sublime|helix|zed|cursor|nano|jetbrains|bash|zsh|fish|powershell|tmux|iterm2?',
  'alacritty|kitty|ghostty|wezterm|git|github|gitlab|bitbucket|gitea|docker|podman|kubernetes|k8s|k3s|helm|terraform|pulumi',
  'ansible|vagrant|kamal|argocd|jenkins|circleci|node(?:\\.?js)?|deno|bun|npm|pnpm|yarn|typescript|javascript|python|ruby|rails',
  'rust|golang|go(?= \\d| for|$)|java|kotlin|scala|clojure|elixir|erlang|haskell|php|laravel|perl|lua|swift|c\\+\\+|c#|\\.net',
  'dart|flutter|zig|julia|matlab|postgres(?:ql)?|mysql|mariadb|sqlite|redis|mongodb|cassandra|elasticsearch|opensearch',
  'clickhouse|duckdb|kafka|rabbitmq|nats|dynamodb|supabase|firebase|react|vue|svelte|angular|next\\.?js|nuxt|astro|remix|solid',
  'django|flask|fastapi|spring(?: boot)?|express|nestjs|tailwind|graphql|prisma|vite|vitest|jest|webpack|eslint|prettier|biome',
  'cypress|playwright|aws|gcp|azure|hetzner|digitalocean|heroku|vercel|netlify|fly\\.io|cloudflare|raspberry pi|arduino|nginx',
  'caddy|traefik|apache|obsidian|notion|slack|jira|linear|figma|photoshop|blender|firefox|chrome|chromium|safari|brave|edge',
  'chatgpt|claude|copilot|gpt-\\d\\w*|ollama|pytorch|tensorflow|jupyter|pandas|excel|dvorak|colemak|qwertz|azerty',
  'm[1-4](?: (?:pro|max|mac|laptop|macbook|chip))?|\\w+ v?\\d+\\.\\d[\\w.]*',
);

/** Work on the task at hand: over within the hour. */
export const TASK_VERBS = alternatives(
  'try|test|run|fix|check|look|push|commit|merge|refactor|debug|restart|deploy|build|compile|rebase|update|upgrade|install|rename',
  'delete|remove|add|change|create|implement|write (?:the|a|some) (?:test|code|function|script|query)|rewrite|rerun|retry',
  'investigate|review|open (?:the|a) (?:file|pr|issue)|close|start (?:the|with)|stop|finish|send|see|find out|figure out|use|get',
  'make|do|go with|set up|move on|rework|migrate the|revert|clean up|double check|read (?:the|through)|reply|call you|talk about',
  'discuss|ask|show|print|log|parse|generate|convert|copy|paste|click|download|upload|search|know|understand',
);
