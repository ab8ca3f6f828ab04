export {
  type Conclusion,
  type ConclusionStanding,
  givesReason,
  isBareConclusion,
  isGuarded,
  standingOf,
} from './bare-conclusion.js';
export { judgeOlderFacts } from './judge-older-facts.js';
export { type ConclusionFigures, type MemoryQuality, readMemoryQuality } from './memory-quality.js';
