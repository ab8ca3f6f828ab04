export { UnreadableItem } from './batch-items.js';
export type { WriteOutcome } from './collect.js';
export {
  type DraftRefusal,
  FACT_TIERS,
  type FactDraft,
  type FactOrigin,
  isRefusal,
  MAX_ENTITIES,
  NAME_CHARACTERS,
  type PreparedFact,
  prepareFacts,
} from './draft.js';
export {
  type ForgetInput,
  forgetFact,
  type ReplaceInput,
  type RetireInput,
  replaceFact,
  retireFact,
} from './endings.js';
export { type ForgetManyInput, type ForgottenItem, forgetMany } from './forget-many.js';
export { type MemoryContext, readMemoryContext } from './memory-context.js';
export { decayOf, exactImportance, pinFact, unpinFact } from './pins.js';
export {
  type PreviewedImportance,
  type PreviewImportanceInput,
  previewImportance,
} from './preview-importance.js';
export { type ReinforceInput, reinforceFact } from './reinforce.js';
export { type RememberInput, remember } from './remember.js';
export { type RememberedItem, type RememberManyInput, rememberMany } from './remember-many.js';
export type { Statement } from './statement.js';
export { type FactTarget, findFactById } from './target.js';
export { type WriteResult, writeFacts } from './write-facts.js';
