/**
 * Salience profiles as stored things (SPEC §5): reading what applies to a scope, changing, restoring, what a change
 * would be, and what earlier versions said. The rules themselves are in src/salience.
 */
export { adoptScoring } from './adopt-scoring.js';
export { changesScores, type ProfileChange, profileChanges } from './changes.js';
export { effectiveOwnerOf, readEffectiveProfile } from './effective.js';
export { changesOfVersion } from './history.js';
export {
  MAX_IDENTITY_TERMS,
  MAX_TOPICS,
  type PersonaInput,
  type ProfileInput,
  TOPIC_CHARACTERS,
} from './input.js';
export { maySeeProfileOf, type ProfileOwnerInput } from './owner.js';
export { type ProfileProposal, type ProposalRequest, proposeProfile } from './propose.js';
export {
  calibrationOf,
  createProfileReader,
  type ProfileReader,
  type ScopeProfile,
  type Supposition,
} from './reader.js';
export {
  type RestoreSalienceProfileInput,
  resetSalienceProfile,
  restoreSalienceProfile,
  type SavedProfile,
  type SetSalienceProfileInput,
  setSalienceProfile,
} from './save.js';
