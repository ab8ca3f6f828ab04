/**
 * English phrases that state something durable (SPEC §2.3). Patterns match a cleaned sentence, case ignored.
 * Named groups say what stands where: `subject` and `verb` where the sentence gives them, `topic` for what
 * has the value, `object` for what is said.
 */

import type { FactKind } from './fact-text.js';
import {
  ADVERBS,
  ATTRIBUTES,
  CODE_THINGS,
  DEGREES,
  DEVICES,
  FAMILY,
  LANGUAGES,
  POSSESSIONS,
  PROJECT_NOUNS,
  SERVERS,
  TASK_VERBS,
  TECHNOLOGIES,
  TRAITS,
} from './rules-words.js';

/** A way to state something. */
export interface StatementRule {
  kind: FactKind;
  /** What the sentence says of its subject, where no `verb` is caught. */
  predicate: string;
  /** 0 … 1. */
  confidence: number;
  pattern: RegExp;
  /** True of now: it does not match where the sentence says "today", "right now" and the like. */
  state: boolean;
  /** It may be worded as an order ("always …", "call me …"), which other statements may not. */
  order: boolean;
}

interface Options {
  state?: boolean;
  order?: boolean;
}

const STATE: Options = { state: true };
const ORDER: Options = { order: true };

function rule(
  kind: FactKind,
  predicate: string,
  confidence: number,
  source: readonly string[],
  options: Options = {},
): StatementRule {
  return {
    kind,
    predicate,
    confidence,
    // An apostrophe is part of a word: `i` is none in "it's I".
    pattern: new RegExp(`(?<![\\w'])${UNCONDITIONAL}(?:${source.join('')})`, 'i'),
    state: options.state ?? false,
    order: options.order ?? false,
  };
}

/** "when I have kids", "something I love" state nothing by themselves. */
const UNCONDITIONAL =
  '(?<!\\b(?:when|if|until|till|unless|whether|once|wish|as if|something|everything|anything|everyone|everybody|things?|what|ones?|all|those|who|than|whatever|someone) )';
/** Where a clause begins, and so a subject. */
const CLAUSE =
  '(?<=^|[,;:–—-] |\\b(?:and|but|so|that|since|because|as|now|although|though|while|then|where|yes|also|think|believe) )';
const I_OR_WE = '(?:i|we)';
const TEAM = '(?:we|the team|our team|my team)';
/** Verbs of answering: an order about them is a wish of how to be talked to. */
const REPLYING =
  '(?:answer|respond|reply|write (?:to )?me|speak|talk|address|explain|call me|ask me|tell me|give me|summari[sz]e|format|phrase|' +
  'keep (?:your |the |all )?(?:answers?|replies|responses|explanations|messages|it) )';
/** What "like" and "love" mean nothing with, out of its place. */
const UNTOLD =
  '(?:to$|it|that|this|you|your|ur|u|them|these|those|him|her|his|their|its|how|what|where|when you|to hear|hearing|seeing (?:you|that|this)|' +
  'the (?:idea|way|sound|look|thought|enthusiasm|suggestion)|our friendship|talking to you|chatting with you|every (?:bit|minute|second)|know|ask|see|hear|thank|meet you|get|say)';

const ANSWERING: readonly StatementRule[] = [
  rule(
    'PREFERENCE',
    'wants',
    0.85,
    [
      "(?<=^)(?=(?:always|never|do not|don't|from now on,?|in (?:the )?future,?) )(?<object>(?:(?:always|never|do not|don't|from now on,?|in (?:the )?future,?) ){1,2}(?:please )?",
      `${REPLYING}.*)`,
    ],
    ORDER,
  ),
  rule(
    'PREFERENCE',
    'wants',
    0.8,
    [
      `(?<=^)(?<object>${REPLYING}.*\\b(?:from now on|always|in (?:the )?future|every time|by default|at all times|whenever))`,
    ],
    ORDER,
  ),
  rule(
    'PREFERENCE',
    'wants',
    0.8,
    [
      "(?<=^)(?<object>(?:always|never|do not|don't) ",
      '.*\\b(?:to me|with me|when you (?:reply|answer|respond|write|talk)|in your (?:answers|replies|responses)))',
    ],
    ORDER,
  ),
];

const DECISIONS: readonly StatementRule[] = [
  rule('DECISION', 'decided', 0.85, [
    `(?:i|${TEAM}|they|(?:the|our) (?:board|committee|company|management|department|group|council|family))(?:'ve| have| has| had|'d)? ${ADVERBS}`,
    '(?<object>(?:decided|agreed|chose|chosen|settled|opted|resolved|voted|picked(?! (?:up|me|him|her|it))|elected|concluded|standardi[sz]ed|committed to|went with|ruled out)',
    '(?! (?:with|that you|with you))\\b.+)',
  ]),
  rule('DECISION', 'decided', 0.85, [
    '(?:the|our) (?:final )?(?:decision|conclusion|verdict) (?:is|was|has been)(?: made)?:? (?<object>.+)',
  ]),
  rule('DECISION', 'decided', 0.85, ['(?<=^)(?:decision|decided|resolved): ?(?<object>.+)'], ORDER),
  rule(
    'DECISION',
    'decided',
    0.85,
    ["(?:it was|it has been|it's been) (?:decided|agreed) (?:that |to )?(?<object>.+)"],
    ORDER,
  ),
  rule('DECISION', 'decided', 0.8, [
    `${TEAM}(?:'re| are|'ll be| will be) ${ADVERBS}(?<object>(?:going with|sticking with|moving (?:to|off|away)|migrating|switching|adopting (?!an?\\b)|dropping|replacing|standardi[sz]ing) .+)`,
  ]),
  rule('DECISION', 'decided', 0.8, [
    `${TEAM}(?:'ve| have)? ${ADVERBS}(?<object>(?:switched|migrated) (?:from|to|off|away|over) .+|moved (?:from .+ to|off|away from) .+)`,
  ]),
];

const CONVENTIONS: readonly StatementRule[] = [
  rule(
    'CONVENTION',
    'convention',
    0.8,
    [
      "(?<=^)(?<imperative>(?<object>(?:always|never|do not ever|don't ever) (?!say never|give up|look back|mind|been|again|thought|knew|seen|had|heard)[a-z].+))",
    ],
    ORDER,
  ),
  rule(
    'CONVENTION',
    'convention',
    0.8,
    ['(?<=^)(?:from now on|going forward|henceforth),? (?<object>.+)'],
    ORDER,
  ),
  rule('CONVENTION', 'convention', 0.8, [
    '(?:the|our|my|team|a|one) (?:(?:team|project|repo|coding|code|company|naming|commit|branch|review|style|house|general|strict|main|golden|only|first) ){0,2}',
    '(?:convention|standard|rule|policy|style guide|styleguide|guideline|guide|practice|norm|principle|requirement)s? ',
    '(?:is|are|was|says?|requires?|prefers?|demands?|forbids?|prohibits?|uses?|mandates?|for)\\b:? ?(?<object>.+)',
  ]),
  rule('CONVENTION', 'convention', 0.8, [
    '(?:the|our|my|this) (?:team|project|repo|repository|codebase|company|organi[sz]ation) (?:always |never |generally |strictly )?',
    '(?<object>(?:prefers|mandates|forbids|prohibits|enforces|follows|insists|bans|disallows|expects) .+)',
  ]),
  rule('CONVENTION', 'convention', 0.8, [
    `${TEAM} (?:also )?(?<object>(?:always|never|only ever|only|usually|generally|normally|consistently) (?!been|had|have fun|thought|knew|wanted|met|got|went|saw|gets?|love|like|enjoy|hate)[a-z]+ .+)`,
  ]),
  rule('CONVENTION', 'convention', 0.75, [
    `${TEAM} (?:also |strictly )?(?<object>(?:follow|enforce|require|adhere to|stick to|don't allow|do not allow|forbid|ban|never allow|prefix|name our|name the|format) .+)`,
  ]),
  rule('CONVENTION', 'convention', 0.75, [
    '(?:all|every|each|any|no) (?:[\\w-]+ ){1,4}(?<object>(?:must|should|shall|needs? to|has to|have to|may|is required to|are required to) (?!be (?:fine|ok|good|ready|done)|work|pass now).+)',
  ]),
  rule(
    'CONVENTION',
    'convention',
    0.7,
    [
      `(?<=^)(?:the |our )?(?:(?:feature|release|commit|pull|merge|unit|integration|new|public|private|shared|test|environment|database) ){0,2}(?:${CODE_THINGS}) `,
      '(?<object>(?:must|should|shall|need to|have to|are always|are never|may not|always|never|go in|live in) .+)',
    ],
    ORDER,
  ),
  rule(
    'CONVENTION',
    'convention',
    0.6,
    [
      '(?<=^)(?<object>(?:use|prefer) (?!the other|this|that|it\\b).+ (?:instead of|rather than|over|,? ?(?:and )?not|,? never) .+)',
    ],
    ORDER,
  ),
];

const IDENTITY: readonly StatementRule[] = [
  rule('USER_PROFILE', 'is named', 0.95, [
    "my (?:full |first |last |middle |real |user|maiden |preferred |legal |family )?name(?:'s| is| was) (?<object>.+)",
  ]),
  rule(
    'USER_PROFILE',
    'is called',
    0.95,
    [
      "(?:(?:you can |just |everyone |everybody |people |friends |they |most people )*calls? me|i go by|i'm called|i am called|my friends call me) ",
      '(?!back|later|tomorrow|when|if|at|on|tonight|asap|anytime|crazy|old|again|an? |the |for|in |from|to |now|and )(?<object>(?:[a-z]|[^\\x00-\\x7f]).*)',
    ],
    ORDER,
  ),
  rule(
    'USER_PROFILE',
    'has',
    0.9,
    [
      `${CLAUSE}my (?:\\w+ )?(?<topic>${ATTRIBUTES})(?:'s| is| are|:) (?!(?:so|really|very|too|hard|tough|great|awesome|amazing|stressful|boring|over|going|killing|getting)\\b)(?<object>.+)`,
    ],
    STATE,
  ),
  rule('USER_PROFILE', 'is aged', 0.9, [
    "i(?:'m| am| just turned| turned| turn| will turn) (?<object>\\d{1,3}(?: years? old| yo)?)(?=$|[,.;]| and| years| as| this| next| in )",
  ]),
  rule('USER_PROFILE', 'was born', 0.9, ['i was born (?<object>.+)']),
  rule('USER_PROFILE', 'lives', 0.9, [
    `${I_OR_WE}(?:'ve| have)? ${ADVERBS}(?<verb>lived?|reside|been living|am living|are living) (?<object>(?:in|at|near|on|with|outside|by|close to|alone|downtown|abroad|together|above)\\b.*)`,
  ]),
  rule(
    'USER_PROFILE',
    'lives',
    0.85,
    [`${I_OR_WE}(?:'m|'re| am| are)? ${ADVERBS}(?:living|based) (?<object>(?:in|at|near|with|outside)\\b.*)`],
    STATE,
  ),
  rule('USER_PROFILE', 'moved', 0.85, [
    `${I_OR_WE}(?:'ve| have)? ${ADVERBS}(?:moved|relocated|emigrated|immigrated|settled)(?: back| here| out| in with| away)?(?: with \\w+ \\w+)? `,
    '(?!to the (?:next|other|new (?:file|task|version)))(?<object>(?:to|from|in|near)\\b.*)',
  ]),
  rule('USER_PROFILE', 'is from', 0.9, [
    `(?:i(?:'m| am) ${DEGREES}from|i (?:originally |actually )?c[ao]me from) (?!a meeting|work|there|here)(?<object>.+)`,
  ]),
  rule('USER_PROFILE', 'grew up', 0.9, ['i (?:grew up|was raised|was brought up) (?<object>.+)']),
  rule('USER_PROFILE', 'works', 0.9, [
    `i(?:'ve| have)? ${ADVERBS}(?<verb>work|worked(?= (?:as|at|for)\\b)) (?<object>(?:as|at|for|in|with|from home|remotely|part[- ]time|full[- ]time|night shifts|nights|on (?:the|an?) [\\w -]*?(?:team|project|farm|ship|rig|ward|desk))(?=$|[ ,.]).*)`,
  ]),
  rule('USER_PROFILE', 'does', 0.85, [
    `i(?:'ve| have)? ${ADVERBS}(?<verb>teach|taught|stud(?:y|ied)|major(?:ed)? in|minored in|graduated|coach|volunteer|served? in|own(?= an?)|run(?= an?)|manage(?= an?| the)|lead(?= an?| the)|co-?founded|founded|retired|practi[sc]e) `,
    '(?!script|command|it\\b|that\\b|this\\b|the (?:docs|documentation|code|logs|error)|a (?:script|command|test|query))(?<object>.+)',
  ]),
  rule('USER_PROFILE', 'is', 0.9, [`i(?:'m| am) ${DEGREES}(?<object>(?:${TRAITS})\\b.*)`], STATE),
  rule('USER_PROFILE', 'is', 0.9, [
    "i(?:'m| am)(?: (?:also|actually|currently|now|still|just|both|only|basically))* (?<object>(?:an?|the) (?!(?:bit|little|mix|combination|ball|lot|few|same|one|best|worst|first|last|loss|couple|step|while|hurry|mess|wreck|idiot|fool|sucker)\\b|",
    '(?:\\w+ )?fan\\b|(?:huge|big|massive|real) (?:fan|sucker)|firm believer|only one|bad mood|good mood|total mess)[\\w-].*)',
  ]),
  rule('USER_PROFILE', 'has been', 0.8, [
    "i(?:'ve| have) been (?<object>(?:an? |the |married|divorced|vegan|vegetarian|sober|with (?:my|the)|into |\\w+ing )(?!(?:on )?(?:it|this|that|for|a lot|so)\\b|on for)",
    '.*\\b(?:for (?:the (?:last|past) )?(?:over |about |almost |nearly |more than )?(?:an? (?!while)|\\w+ )?(?:years?|months|decades?|long time)|since|as long as|all my life|my whole life)\\b.*)',
  ]),
  rule('USER_PROFILE', 'has', 0.9, [
    "i(?:'ve| have|'m| am| was| got| just got| recently got)?(?: been)?(?: (?:just|recently|officially))? (?<object>diagnosed with .+)",
  ]),
  rule('USER_PROFILE', 'takes', 0.85, [
    'i (?:still |also |occasionally |often )?(?<verb>suffer from|struggle with|live with|take|use) (?<object>(?:[\\w-]+ ){0,3}?(?:insulin|metformin|medication|pills|antidepressants|vitamins|inhaler|hearing aids?|wheelchair|crutches|',
    'glasses|cane|pacemaker|\\w+(?:ol|in|ine|ide|pril|statin|mycin) (?:twice|once|every|daily|for|three|in the)|migraines?|anxiety|depression|insomnia|asthma|arthritis|allerg\\w+|pain|adhd|dyslexia)\\b.*)',
  ]),
  rule('USER_PROFILE', 'has', 0.85, [
    "i(?:'ve got| have got|'ve| have| got) (?:(?:also|now|only|always|never|both|just) )*(?<object>(?:(?:an?|one|two|three|four|five|six|seven|many|several|\\d+|my|own|no|severe|mild|chronic|type|older|younger|little|big|small|",
    `adopted|twin|rescue|food|bad|the|some|over|about|golden|black|white|brown|lovely|beautiful|teenage|grown-up) ){0,4}(?:[\\w-]+ )?(?:${POSSESSIONS})\\b(?!').*)`,
  ]),
  rule(
    'USER_PROFILE',
    'is',
    0.8,
    [
      `${CLAUSE}(?<subject>my (?:(?:older|younger|elder|little|big|late|ex|step|twin|oldest|youngest|eldest|new|two|three|four|own|first|second|best|whole|entire|adopted)[ -]){0,2}(?:${FAMILY})(?:'s name)?(?:,? (?!is\\b|are\\b|has\\b|have\\b)[a-z]+,?| and \\w+)?)`,
      `(?<verb>'s(?= (?:an?|the|not|been|also|from|in|at|into|very|\\d+|named|called|\\w+ing|${TRAITS})\\b)|'re| is| are| has| have| works?| lives?| speaks?| teach(?:es)?| stud(?:y|ies)| owns?| runs?| suffers?| needs| hates?| loves?| likes?| can't| cannot| doesn't| don't| goes to) `,
      '(?!(?:here|there|so cute|coming|visiting|calling|waiting|sick today|asleep|sleeping|in town|doing (?:well|great|fine|good)|fine|ok|great|the best|so|really|always there|very|such)\\b)(?<object>.+)',
    ],
    STATE,
  ),
  rule('USER_PROFILE', 'speaks', 0.9, [
    `i ${ADVERBS}(?<verb>(?:can |don't |do not |can't )?(?:speak|understand|read and write)) (?<object>(?:(?:fluent|some|a little|a bit of|basic|native|good|both|only|very|decent|broken) )*(?:${LANGUAGES})\\b.*)`,
  ]),
  rule(
    'USER_PROFILE',
    'abstains',
    0.85,
    [
      `i ${ADVERBS}(?<verb>(?:don't|do not|can't|cannot|no longer|stopped|quit|gave up|never) (?:eat|drink|smoke|tolerate|digest|consume|eating|drinking|smoking))\\b(?<object>.*)`,
    ],
    STATE,
  ),
];

const PREFERENCES: readonly StatementRule[] = [
  rule(
    'PREFERENCE',
    'prefers',
    0.85,
    [
      `${I_OR_WE}(?:'d| would)? ${ADVERBS}(?<verb>prefer|favou?r)(?:red)? (?!not to say|that you|if you|you\\b|it if)(?<object>.+)`,
    ],
    STATE,
  ),
  rule(
    'PREFERENCE',
    'would rather',
    0.8,
    [`${I_OR_WE}(?:'d| would) ${ADVERBS}rather (?!you\\b|not say)(?<object>.+)`],
    STATE,
  ),
  rule('PREFERENCE', 'dislikes', 0.85, [
    `${I_OR_WE} ${ADVERBS}(?:don't|do not|didn't|never|no longer) (?:(?:really|particularly|much|actually|even) )*(?:like|love|enjoy|care for|trust|fancy|appreciate) `,
    '(?!(?:it|that|this|you|your|them|those|these|him|her|how|the (?:idea|sound|look))(?:$|[.,! ]))(?<object>.+)',
  ]),
  rule('PREFERENCE', 'dislikes', 0.85, [
    `${I_OR_WE} ${ADVERBS}(?:hate|dislike|detest|loathe|despise|(?:can't|cannot|can not) (?:stand|bear|tolerate)) `,
    '(?!(?:it|that|this|you|your|them|him|her|to (?:say|ask|bother|interrupt|see you|admit))(?:$|[.,! ])(?!when))(?<object>.+)',
  ]),
  rule('PREFERENCE', 'likes', 0.85, [
    `${I_OR_WE}(?:'ve| have)? ${ADVERBS}(?:like|love|enjoy|adore|cherish|appreciate|relish)d?(?! for (?:you|that))(?: to)? (?!${UNTOLD}(?:$|[.,!' ]))(?<object>.+)`,
  ]),
  rule('PREFERENCE', 'likes', 0.85, [
    `i(?:'m| am|'ve been| have been) ${DEGREES}(?<object>(?:(?:(?:big|huge|massive|great|real|lifelong|die-hard|total|avid) )*fan of|into|passionate about|fond of|obsessed with|crazy about|keen on|interested in|addicted to|partial to|picky about|`,
    'sensitive to|particular about|fascinated by|drawn to|enthusiastic about) (?!(?:it|that|this|you|your|the idea)(?:$|[.,! ])).+)',
  ]),
  rule('PREFERENCE', 'has', 0.9, [
    "(?:my|our) (?:(?:all-time|absolute|current|personal|own|two|three|top|least) )*(?:favou?rite|fave|fav|go-to|preferred|ideal|dream) (?<topic>(?!was\\b|is\\b|are\\b).{2,60}?)(?: is| are|'s| was| include| includes) (?<object>.+)",
  ]),
  rule('PREFERENCE', 'has', 0.85, [
    "(?:my|our) (?:(?:main|biggest|greatest|only|two|current|personal|true) )*(?<topic>favou?rites?|preference|pet peeve|hobby|hobbies|passions?|guilty pleasure|comfort food|fear|happy place|interests|go-to)(?: is| are|'s| was| include| includes) (?<object>.+)",
  ]),
  rule('PREFERENCE', 'is favourite', 0.85, [
    "(?<=^)(?!that\\b|this\\b|it\\b|it's|those\\b|these\\b)(?<object>.{2,80}?)(?: is| are|'s|'re| has always been| was always) (?:(?:also|always|definitely|still|probably|pretty much|by far) )*(?:my|our) ",
    '(?:(?:all-time|absolute|current|personal|own|top|biggest|greatest|true|new|old|favou?rite|main) )*(?:favou?rites?|fave|fav|go-to|passion|hobby|guilty pleasure|comfort food|happy place|escape|thing to do|jam|pet peeve|weakness|way to (?:relax|unwind|de-?stress))\\b.*',
  ]),
  rule('PREFERENCE', 'habitually', 0.7, [
    `i (?:also )?(?<object>(?:always|never|usually|often|rarely|typically|generally|mostly|normally|hardly ever|seldom|only ever|almost always|almost never|sometimes|tend to|can't live without|can't start the day without|make sure to|try to avoid|avoid) `,
    '(?!said|knew|thought|mind|meant|imagined|heard|seen|told|got|had|have (?:fun|time)|want|been|saw|expect|reali[sz]|did|know|forg[eo]t|wonder|appreciate|remember|felt|feel|believe|get to|end up)[a-z]+.*)',
  ]),
];

const ENVIRONMENT: readonly StatementRule[] = [
  rule(
    'ENV',
    'is',
    0.8,
    [
      `${CLAUSE}(?<subject>my (?:(?:work|home|personal|main|primary|current|new|old|default|office|dev|development|preferred|local|gaming|company) ){0,2}(?:${DEVICES}))(?<verb>'s| is| are| runs?| has| uses?)\\b `,
      '(?!(?:broken|slow|crashing|dead|not working|down|frozen|full|acting|making|being|so|getting|really|too)\\b)(?<object>.+)',
    ],
    STATE,
  ),
  rule('ENV', 'uses', 0.8, [
    `i(?:'m| am) (?:(?:currently|also|still|now|mostly|usually|always) )*(?:on|running|using|working (?:on|with|in)|developing (?:on|with|in)) (?<object>(?:an? |the )?(?:${TECHNOLOGIES})\\b.*)`,
  ]),
  rule('ENV', 'uses', 0.8, [
    `i(?:'ve| have)? ${ADVERBS}(?<verb>use|run|code (?:in|with|on)|program in|develop (?:in|on|with)|write (?:code )?in|work (?:on|with|in)|switched (?:from .{1,40} )?to|moved (?:from .{1,40} )?to|have|got|have installed|installed|deploy (?:to|with|on)|build (?:with|on)|host (?:with|on)|rely on) `,
    `(?<object>(?:an? |the |my |both |only |\\w+ as my |\\w+ )?(?:${TECHNOLOGIES})\\b.*)`,
  ]),
  rule('ENV', 'has', 0.75, [
    `${I_OR_WE} (?:have|have got|'ve got) (?<object>(?:${TECHNOLOGIES})(?: [v\\d][\\w.]*)? (?:installed|running|set up|configured|available)\\b.*)`,
  ]),
  rule(
    'ENV',
    'runs',
    0.8,
    [
      `(?<subject>(?:the|our|my|a) (?:[\\w-]+ ){0,3}?(?:${SERVERS}))(?<verb>'s| is| are| has| uses?)? (?<object>(?:runs?|running|listens?|listening|hosted|available|reachable|located|lives?|exposed|served|deployed|installed|bound|sits?|at|on|version) `,
      `(?:on |at |in |to |under |behind |inside |by |with )?(?:.*\\b(?:port|localhost|https?:|\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}|:\\d{2,5}|node|region|version|v?\\d+(?:\\.\\d+)+|[a-z]{2}-[a-z]+-\\d)\\b.*))`,
    ],
    STATE,
  ),
  rule('ENV', 'runs', 0.7, [
    `${TEAM} (?<verb>have|run|use|build on|develop on|deploy on) (?<object>(?:${TECHNOLOGIES})(?: v?\\d[\\w.]*)? .*\\b(?:on|in) (?:the |our |all )?(?:build|ci|dev|development|staging|production|prod|test|local|office)?\\s?(?:machines?|servers?|runners?|laptops?|boxes|environments?|hosts?|containers?|agents?|nodes?)\\b.*)`,
  ]),
];

const PROJECT: readonly StatementRule[] = [
  rule(
    'PROJECT',
    'uses',
    0.8,
    [
      `we(?:'ve| have|'re| are)? ${ADVERBS}(?<verb>use|using|run|running|deploy|host|hosting|ship|build|building|built|maintain|maintaining|support|supporting|store|rely on|relying on|depend on|target|targeting|develop|developing|write|serve|monitor|test with|compile|package|publish|sell|operate) `,
      '(?!(?:it|this|that|them|the same|into|out of|a lot|each other|together)\\b)(?<object>.+)',
    ],
    STATE,
  ),
  rule(
    'PROJECT',
    'is',
    0.8,
    [
      `${CLAUSE}(?<subject>(?:the|our|this|my) (?:(?:new|old|current|main|whole|entire|side|open-source|team's|company's|client|customer|web|mobile|legacy|internal|public|core|shared|biggest|first|final|next|go-live|launch|release|build|frontend|backend|data|design|test|deployment|staging|production|primary) ){0,2}(?:${PROJECT_NOUNS})) `,
      '(?:(?:still|also|currently|mainly|mostly|now|only|always|entirely|completely|already|will|must|probably) )*(?<verb>uses?|is|are|has|have|requires?|needs|runs?|depends?|lives?|targets?|consists?|contains?|supports?|deploys?|ships?|works with|talks? to|relies|written|built|follows|exposes|stores?|sells?|serves?|starts?|ends?|goes live|belongs|includes?|provides?|handles?|compiles?|focuses|launch(?:es)?|comes?|was (?:written|built|created|started|founded|designed)) ',
      '(?!(?:broken|down|failing|slow|slower|ready|done|red|green|stuck|crashing|hanging|working|not working|fine|ok|okay|good|great|up|back|running (?:again|now|fine)|going|doing|looking|getting|being|almost|nearly|too|so|really|very|super|pretty|coming along|in progress|wrong|fixed|failing again|still|amazing|awesome|cool|nice|an? (?:mess|bug|error|issue|problem|typo)|bugs?|errors?|issues?|problems?|to be (?:fixed|updated))\\b)(?<object>.+)',
    ],
    STATE,
  ),
];

const NOT_PLANNED = `(?:tell|mention|you|your|it|that|this|hear|know|see (?:you|what|how|if|it)|thank|ask|say|get back|help|be honest|catch up|talk to you|chat|stays?|understand|make sure|clarify|point out|add that|let|be able to (?:see|run)|do (?:it|that|this)|use (?:it|this|that|the)|${TASK_VERBS})`;

const PLANS: readonly StatementRule[] = [
  rule(
    'FACT',
    'plans',
    0.6,
    [
      `${I_OR_WE}(?:'m|'re| am| are|'ve been| have been|'ve| have)? (?:(?:also|actually|really|currently|now|still|both|finally|seriously|thinking about|thinking of|definitely|always) )*`,
      "(?<object>(?:planning|hoping|aiming|saving up|saving|looking forward|dreaming|thinking of|thinking about|considering|plan|intend|aspire|dream|aim|hope(?= to\\b)|want|wanted|would love|am determined|can't wait)(?: to| of| about| for| on| up for| up to)? ",
      `(?!${NOT_PLANNED}\\b).+)`,
    ],
    STATE,
  ),
  rule(
    'FACT',
    'plans',
    0.55,
    [`${I_OR_WE}(?:'d| would) ${ADVERBS}(?:like|love) to (?!${NOT_PLANNED}\\b)(?<object>.+)`],
    STATE,
  ),
  rule('FACT', 'does', 0.65, [
    "(?:i|we)(?:'m|'re| am| are)(?: (?:also|actually|currently|now|still|both|finally|slowly|just|really|busy))* (?<object>(?:learning|studying|training (?:for|to|as)|taking (?:an? |some )?(?:[\\w-]+ )?(?:class|classes|course|courses|lessons)|",
    'writing (?:an? |my )(?:[\\w-]+ ){0,2}(?:book|novel|thesis|memoir|blog|dissertation|phd|screenplay|script|album|song)|starting (?:an? |my |our )(?:own |new )?(?:[\\w-]+ ){0,2}(?:business|company|studio|job|family|shop|store|school|degree|course|band|',
    'foundation|charity|phd|blog|channel|podcast|garden|bakery|cafe|restaurant|program|group)|opening (?:an? |my |our )|launching|founding|adopting an?|getting (?:married|divorced|a divorce)|moving (?:to|back|in|out)|relocating|retiring|expecting|dating|',
    'engaged|raising|fostering|building (?:an? |my |our )(?:[\\w-]+ ){0,2}(?:house|cabin|boat|home|treehouse|shed)|renovating|remodell?ing|recovering|working towards?|volunteering|mentoring|coaching|hosting|organi[sz]ing|running for|competing|applying (?:to|for)|',
    'pursuing|preparing for|rehearsing for|caring for|looking after)\\b .+)',
  ]),
];

/** A tool that only its capital gives away: "I use Kamal". */
const NAMED_TOOL: StatementRule = {
  kind: 'ENV',
  predicate: 'uses',
  confidence: 0.75,
  pattern:
    /(?:^|[ ,])(?:I|i)(?:'ve)?(?: (?:mostly|mainly|usually|always|also|still|now|currently|only))* (?<verb>use|run|deploy (?:with|to)|code in|work with|rely on) (?:the )?(?<object>[A-Z][\w.+#-]*.*)/,
  state: false,
  order: false,
};

/**
 * The rules in order of precedence: the first that matches decides. Decisions and conventions come before what
 * they are about, since they are told in its words ("we decided to use", "we always deploy").
 */
export const STATEMENT_RULES: readonly StatementRule[] = [
  ...ANSWERING,
  ...DECISIONS,
  ...CONVENTIONS,
  ...IDENTITY,
  ...PREFERENCES,
  ...ENVIRONMENT,
  ...PROJECT,
  ...PLANS,
  NAMED_TOOL,
];
