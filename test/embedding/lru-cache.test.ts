import { describe, expect, it } from 'vitest';
import { LruCache } from '../../src/embedding/lru-cache.js';

describe('LruCache', () => {
  it('forgets what was used longest ago, and never holds more than its capacity', () => {
    const cache = new LruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    expect(cache.get('a')).toBe(1);
    cache.set('c', 3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
    expect(cache.size).toBe(2);
  });

  it('replaces, deletes and clears', () => {
    const cache = new LruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('a', 2);
    expect([cache.get('a'), cache.size]).toEqual([2, 1]);
    cache.delete('a');
    cache.delete('never there');
    expect(cache.size).toBe(0);
    cache.set('b', 1);
    cache.clear();
    expect(cache.get('b')).toBeUndefined();
  });

  it('refuses a capacity that makes no sense', () => {
    expect(() => new LruCache(0)).toThrow(RangeError);
    expect(() => new LruCache(1.5)).toThrow(RangeError);
  });
});
