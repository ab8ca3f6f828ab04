import type {
  BlockedSetting,
  BlockReason,
  EffectiveIdentity,
  EffectiveTopic,
  MergePolicy,
  TopicSetting,
} from './effective.js';
import { claimsOf, type Layer, MERGE_RULES } from './merge-rules.js';
import { topicKey } from './topic-key.js';
import type { ProfileOrigin, TopicList } from './topics.js';

/**
 * The union of the layers' topics (SPEC §5.1), ancestors' first, each in its owner's order, interests before
 * disinterests. One topic stands once: where an ancestor has it already, in either list, the child's is blocked,
 * or takes its place under FULL_OVERRIDE. What had no effect is added to `blocked`.
 *
 * A profile that holds a topic twice, which saving refuses, counts by its first entry.
 */
export function mergeTopics(
  policy: MergePolicy,
  layers: readonly Layer[],
  fallbackThreshold: number,
  blocked: BlockedSetting[],
): readonly EffectiveTopic[] {
  const standing = new Map<string, EffectiveTopic>();
  const thresholds = topicThresholds(policy, layers, fallbackThreshold);
  layers.forEach(({ origin, settings }, index) => {
    const similarityThreshold = thresholds[index] ?? fallbackThreshold;
    const own = new Set<string>();
    const add = (list: TopicList, { topic, level, ref }: TopicSetting): void => {
      const key = topicKey(topic);
      if (own.has(key)) return;
      own.add(key);
      const ancestor = standing.get(key);
      const reason = whyBlocked(policy, origin, list, ancestor);
      if (reason !== null) {
        blocked.push({ origin, setting: list, topic, level, reason });
        return;
      }
      // Taken out first: the entry stands where its new owner's do.
      standing.delete(key);
      const overrides = ancestor
        ? [...ancestor.overrides, { origin: ancestor.origin, list: ancestor.list, level: ancestor.level }]
        : [];
      standing.set(key, { topic, level, ref, list, origin, similarityThreshold, overrides });
    };
    for (const entry of settings.interests) add('INTEREST', entry);
    for (const entry of settings.disinterests) add('DISINTEREST', entry);
  });
  return [...standing.values()];
}

/**
 * The threshold of each layer's topics: the one that holds at that level of the hierarchy, so that a child that
 * raises it does not silence its ancestors' topics; under FULL_OVERRIDE that of the whole (SPEC §5.1).
 */
function topicThresholds(policy: MergePolicy, layers: readonly Layer[], fallback: number): readonly number[] {
  const claimed = (upTo: number): number => {
    const claims = claimsOf(layers.slice(0, upTo), (settings) => settings.similarityThreshold);
    return MERGE_RULES[policy].similarityThreshold(claims).chosen?.value ?? fallback;
  };
  return layers.map((_, index) => claimed(policy === 'FULL_OVERRIDE' ? layers.length : index + 1));
}

function whyBlocked(
  policy: MergePolicy,
  origin: ProfileOrigin,
  list: TopicList,
  ancestor: EffectiveTopic | undefined,
): BlockReason | null {
  if (policy === 'TENANT_ONLY' && origin !== 'TENANT') return 'TENANT_ONLY';
  if (policy === 'FULL_OVERRIDE' || ancestor === undefined) return null;
  return ancestor.list === list ? 'ANCESTOR_TOPIC' : 'OPPOSITE_TOPIC';
}

/**
 * The union of the layers' identity terms (SPEC §5.1), ancestors' first. A term that an ancestor has too stays
 * the ancestor's and is not blocked: it has the effect that the child wants. Under TENANT_ONLY the tenant's alone.
 */
export function mergeIdentity(
  policy: MergePolicy,
  layers: readonly Layer[],
  blocked: BlockedSetting[],
): readonly EffectiveIdentity[] {
  const standing = new Map<string, EffectiveIdentity>();
  for (const { origin, settings } of layers) {
    for (const { term, ref } of settings.persona.identity) {
      if (policy === 'TENANT_ONLY' && origin !== 'TENANT') {
        blocked.push({ origin, setting: 'IDENTITY', topic: term, level: null, reason: 'TENANT_ONLY' });
        continue;
      }
      const key = topicKey(term);
      if (!standing.has(key)) standing.set(key, { term, ref, origin });
    }
  }
  return [...standing.values()];
}
