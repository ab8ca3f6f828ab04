/** Phrases about work: decisions, conventions, the project, the tools, and how to be answered (SPEC §2.3). */

import { CLAUSE, I_OR_WE, ORDER, rule, STATE, type StatementRule } from './rules-pattern.js';
import { ADVERBS, CODE_THINGS, DEVICES, PROJECT_NOUNS, SERVERS, TECHNOLOGIES } from './rules-words.js';

const TEAM = '(?:we|the team|our team|my team)';
/** Verbs of answering: an order about them is a wish of how to be talked to. */
const REPLYING =
  '(?:answer|respond|reply|write (?:to )?me|speak|talk|address|explain|call me|ask me|tell me|give me|summari[sz]e|format|phrase|' +
  'keep (?:your |the |all )?(?:answers?|replies|responses|explanations|messages|it) )';

/** PREFERENCE: how to be talked to. */
export const ANSWERING: readonly StatementRule[] = [
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

/** DECISION. */
export const DECISIONS: readonly StatementRule[] = [
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

/** CONVENTION. */
export const CONVENTIONS: readonly StatementRule[] = [
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

/** ENV. */
export const ENVIRONMENT: readonly StatementRule[] = [
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

/** PROJECT. */
export const PROJECT: readonly StatementRule[] = [
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

/** A tool that only its capital gives away: "I use Kamal". */
export const NAMED_TOOL: StatementRule = {
  kind: 'ENV',
  predicate: 'uses',
  confidence: 0.75,
  pattern:
    /(?:^|[ ,])(?:I|i)(?:'ve)?(?: (?:mostly|mainly|usually|always|also|still|now|currently|only))* (?<verb>use|run|deploy (?:with|to)|code in|work with|rely on) (?:the )?(?<object>[A-Z][\w.+#-]*.*)/,
  state: false,
  order: false,
};
