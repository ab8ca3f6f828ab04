/** Sentences that state nothing durable, whatever they are about (SPEC §2.3). English; matched when cleaned. */

import { TASK_VERBS } from './rules-words.js';

const pattern = (...parts: readonly string[]): RegExp => new RegExp(parts.join(''), 'i');

export const QUESTION = pattern(
  '\\?["\')\\s]*$|^(?:what(?! (?:i|we|my) )|why|how|where(?! (?:i|we|my) )|who(?! (?:i|we) )|whom|whose|which|can|could|would|will|shall|',
  'do(?! not\\b)|does|did|are|is|was|were|has|have (?:you|we|they|i)|am i|any (?:idea|chance|tips|advice|suggestions|thoughts|recommendations|plans)|',
  'got any|wanna|care to|mind if|when (?:is|are|was|were|do|does|did|will|can|should))\\b',
);

export const HYPOTHETICAL = pattern(
  "^(?:if|suppose|supposing|imagine|assuming|let's say|what if|unless|say you|in case|even if|wish i)\\b",
);

/** Said of or to the listener. */
export const ADDRESSED = pattern(
  "^(?:you|your|you're|you've|you'll|you'd|u|ur|yours|both of you)\\b|\\b(?:hope|hoping) (?:you|your|all is|everything|it|that|to hear)\\b|",
  "^(?:i'm|i am|i was|so|really|very|just) (?:(?:so|really|very|just|truly|super|also|always) )*",
  '(?:happy|glad|proud|sorry|excited|thrilled|grateful|thankful|sure|here|impressed|amazed|rooting|cheering) ',
  '(?:(?:for|of|to|that|about|by|if) )?(?:you|your|hear|see|help|it|that|this)\\b|\\bfor you$',
);

/** Feelings and whereabouts of the moment. */
export const MOMENTARY = pattern(
  "^i(?:'m| am| was|'ve been| feel| felt)(?: (?:so|really|very|just|still|a bit|a little|not|pretty|super|also|all|feeling|kinda|quite|too|totally|completely|already|almost)){0,3} ",
  '(?:sure|sorry|glad|happy|fine|good(?! at)|ok|okay|well|great|ready|here|back|done|stuck|confused|lost|curious|wondering|excited|thrilled|tired|',
  'exhausted|hungry|thirsty|bored|busy|late|better|nervous|stressed|overwhelmed|free|available|home|awake|asleep|sick|ill|cold|hot|impressed|',
  'amazed|surprised|shocked|jealous|grateful|thankful|afraid (?:so|not|that)|aware|certain|convinced|off|out|in (?:a|the) (?:meeting|hurry|car|office|bus|train|middle)|',
  'at (?:the|home|work|a)|on (?:my way|it|the (?:phone|bus|train|way|road)|vacation|holiday|call)|right|wrong|kidding|joking|serious|saying|talking about|',
  'asking|about to|going to bed|leaving|heading|all ears|all set|doing (?:well|good|great|fine|ok|okay)|with you|hoping|sad|upset|angry|annoyed|',
  'proud of (?:you|myself)|positive|blown away|in (?:awe|love with (?:it|that|this)))\\b',
);

/** Whatever holds now will not next week. */
export const NOW = pattern(
  '\\b(?:today|tonight|tomorrow|right now(?!,)|at the moment|this (?:morning|afternoon|evening|minute|instant)|later|in a (?:minute|moment|sec|second|bit|few|while)|',
  'just now|for now|currently down|any ?minute|brb|soon enough)\\b',
);

/** Reactions, politeness, and subjects that mean nothing alone. */
export const REACTION = pattern(
  '^(?:thanks|thank you|thx|cheers|congrats|congratulations|well done|good (?:luck|job|idea|point|night|morning|question|to)|great (?:job|idea|work|to)|',
  'nice (?:to|one|job|work)|sounds|looks|seems|glad|happy to|sorry|no (?:problem|worries|idea|way)|you bet|sure|of course|absolutely|definitely|agreed|',
  "same here|me too|take care|see you|talk (?:to you )?(?:later|soon)|bye|welcome|my pleasure|wow|omg|that|it|it's|its|that's|",
  'this(?! (?:project|repo|repository|codebase|app|service|team|company|product|package|library|api|site|monorepo|year|summer|winter|week|month))|',
  "these|those|there|there's|here|here's|what a|how (?:cool|nice|great|lovely)|can't wait|keep (?:it|up|me)|have (?:a|fun)|enjoy|hang in|let's|let me|",
  "don't worry|feel free|hope|hopefully|wish|maybe|perhaps|probably|guess|no need|fair enough|makes sense|got it|understood|i see|i agree|i understand|",
  "i know(?! how)|i don't know|i do not know|i don't understand|i don't think|i think (?:so|you|it|that|this|we should)|i guess|i bet|i mean|i hope|i wonder|i doubt|i suppose|",
  'i appreciate (?:it|your|that|the)|i need (?:help|you|your|to|this|that|it|a hand|some help|advice)|i want (?:you|this|that|it)\\b|i get it|i got it|i can see|',
  "i can't believe|i can't wait to (?:hear|see)|i feel you|i'll|i will|i'd (?:say|suggest|recommend|guess)|i would (?:say|suggest|recommend)|i have to|i had to|",
  "i've got to|i gotta|i can (?:help|try|do|see|imagine|relate)|i could|i should|i might|i may|i must|we should|we could|we might|we need to|we have to|we can|we'll|",
  'we will|they|he|she|him|her)\\b',
);

/** Orders, by their first word: those that are not tagged reliably. */
export const IMPERATIVE = pattern(
  '^(?:please|pls|kindly|just)?\\s?(?:add|fix|write|run|create|make|show|tell|give|explain|help|try|look|see|go|do|check|update|delete|remove|rename|move|open|close|',
  'start|stop|build|deploy|install|test|find|list|print|describe|summari[sz]e|translate|convert|refactor|implement|generate|review|use|set|change|put|send|get|let|',
  'take|think|consider|imagine|wait|keep|call|ask|read|note|ignore|skip|continue|commit|push|merge|revert|copy|paste|click|download|upload|search|sort|count|format|',
  'rewrite|improve|optimi[sz]e|debug|compare|calculate|draw|design|plan|pick|choose|remind|schedule|book|order|buy|turn|switch|enable|disable|configure|clean|replace|',
  "redo|undo|repeat|suggest|recommend|name|say|stay|come|follow|believe|trust|remember|forget|bring|leave|hold|listen|watch|play|avoid|prefer|don't|do not)\\b",
  "(?!s|ed|ing|'s| (?:is|are|was|were)\\b)",
);

/** Progress of the task at hand. */
export const TASK_WORK = pattern(
  "\\b(?:i|we)(?:'m|'re| am| are| was| were)? ?(?:'ll|will|going to|gonna|need to|have to|should|must|just|about to|trying to|try to|will try to|can try to|(?:now|still|already|currently)) ",
  `(?:(?:just|now|also|quickly|first|then|go|try to|have to) )*(?:${TASK_VERBS})\\b|`,
  "\\b(?:i|we)(?:'ve| have)? ?(?:(?:just|already|finally|now|also|then) )*(?:fixed|tested|ran (?:the |it|npm|tests?\\b|into)|checked|looked (?:at|into)|pushed|committed|merged|",
  'refactored|debugged|restarted|deployed|built the|compiled|rebased|updated|upgraded|renamed|deleted|removed the|added (?:an? |the |some )(?:test|log|file|line|function|check|flag|comment|button)|',
  'changed the|rewrote the|reverted|retried|scrolled|clicked|copied|pasted)\\b|',
  "\\b(?:i'm|i am|we're|we are|i was) (?:(?:just|now|still|currently|also|already) )*\\w+ing (?:on |at |into )?",
  '(?:it|this|that|the (?:bug|tests?|build|code|error|issue|fix|file|server|function|script|branch|pr|ticket|logs?|query|config|hotfix|deployment|feature|task|problem|page|option|second|first|next))\\b|',
  '^(?:running|testing|checking|building|deploying|installing|fixing|working on|looking|trying|waiting|debugging|compiling|updating|going to|gonna|about to|heading|still|almost|done|finished with|all done)\\b',
);

export const HEDGE = pattern(
  '\\b(?:maybe|perhaps|probably|possibly|might|i think|i guess|i suppose|kind of|sort of|kinda|not sure|seems?|apparently|allegedly|i believe|could be|or something|supposedly|rumou?r)\\b',
);

/** A word whose meaning stands in an earlier sentence, where a statement needs its own. */
export const UNRESOLVED = pattern(
  '\\b(?:it|this|that|them|those|these|him|her|there)$|\\b(?:love|like|enjoy|hate|made|got|had|did|used|bought|took|saw|finished|started|chose|picked|with|of) (?:it|this|that|them|those|these)\\b',
);
