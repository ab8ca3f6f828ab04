/** Phrases about a person: who they are, what they like, what they plan (SPEC §2.3). */

import { CLAUSE, I_OR_WE, ORDER, rule, STATE, type StatementRule } from './rules-pattern.js';
import {
  ADVERBS,
  ATTRIBUTES,
  DEGREES,
  FAMILY,
  LANGUAGES,
  POSSESSIONS,
  TASK_VERBS,
  TRAITS,
} from './rules-words.js';

/** What "like" and "love" mean nothing with, out of its place. */
const UNTOLD =
  '(?:to$|it|that|this|you|your|ur|u|them|these|those|him|her|his|their|its|how|what|where|when you|to hear|hearing|seeing (?:you|that|this)|' +
  'the (?:idea|way|sound|look|thought|enthusiasm|suggestion)|our friendship|talking to you|chatting with you|every (?:bit|minute|second)|know|ask|see|hear|thank|meet you|get|say)';

/** USER_PROFILE. */
export const IDENTITY: readonly StatementRule[] = [
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

/** PREFERENCE. */
export const PREFERENCES: readonly StatementRule[] = [
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

/** Wishes of the moment, orders and the task at hand are no plans. */
const NOT_PLANNED = `(?:tell|mention|you|your|it|that|this|hear|know|see (?:you|what|how|if|it)|thank|ask|say|get back|help|be honest|catch up|talk to you|chat|stays?|understand|make sure|clarify|point out|add that|let|be able to (?:see|run)|do (?:it|that|this)|use (?:it|this|that|the)|${TASK_VERBS})`;

/** FACT: plans that reach beyond the week. */
export const PLANS: readonly StatementRule[] = [
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
