import { describe, expect, it } from 'vitest';
import { DocumentCache } from '../../src/server/document-cache.js';

describe('the cache of documents', () => {
  it('forgets what was used longest ago, by the characters that all have together', () => {
    const cache = new DocumentCache<number>(10);
    cache.set('aaaa', 1);
    cache.set('bbbb', 2);
    expect(cache.get('aaaa')).toBe(1);
    cache.set('cccc', 3);
    expect([cache.get('aaaa'), cache.get('bbbb'), cache.get('cccc')]).toEqual([1, undefined, 3]);
    cache.set('dd', 4);
    expect([cache.get('aaaa'), cache.get('cccc'), cache.get('dd')]).toEqual([1, 3, 4]);
  });

  it('keeps nothing that is larger than itself, and counts a replaced one once', () => {
    const cache = new DocumentCache<number>(10);
    cache.set('aaaa', 1);
    cache.set('x'.repeat(11), 2);
    expect(cache.get('x'.repeat(11))).toBeUndefined();
    for (let n = 0; n < 5; n++) cache.set('bbbbbb', n);
    expect([cache.get('aaaa'), cache.get('bbbbbb')]).toEqual([1, 4]);
  });
});
