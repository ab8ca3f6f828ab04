/**
 * English phrases that state something durable (SPEC §2.3). Patterns match a cleaned sentence, case ignored.
 * Named groups say what stands where: `subject` and `verb` where the sentence gives them, `topic` for what
 * has the value, `object` for what is said.
 */

import type { StatementRule } from './rules-pattern.js';
import { IDENTITY, PLANS, PREFERENCES } from './rules-person.js';
import { ANSWERING, CONVENTIONS, DECISIONS, ENVIRONMENT, NAMED_TOOL, PROJECT } from './rules-work.js';

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
