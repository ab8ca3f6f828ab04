import { describe, expect, it } from 'vitest';
import {
  type EncodeReply,
  type EncodeRequest,
  EncoderQueue,
  type WindowEncoder,
} from '../../src/embedding/encoder-queue.js';
import type { Part, Window } from '../../src/embedding/use-lite.js';

/**
 * Windows are separated by `|`, parts by `+`, tokens are characters. The vector's direction tells a text's first
 * character. A text with `?` cannot be encoded, one with `!` traps, one with `#` cannot even be cut.
 */
class TestEncoder implements WindowEncoder {
  readonly batches: string[][] = [];

  windows(text: string): Window[] {
    if (text.includes('#')) throw new Error('cannot cut');
    if (text === '') return [];
    return text
      .split('|')
      .map((window) => window.split('+').map((part) => ({ text: part, tokens: part.length })));
  }

  async encode(parts: readonly Part[]): Promise<Float32Array[]> {
    this.batches.push(parts.map((part) => part.text));
    if (parts.some((part) => part.text.includes('!'))) {
      throw Object.assign(new Error('unreachable'), { name: 'RuntimeError' });
    }
    if (parts.some((part) => part.text.includes('?'))) throw new Error('no');
    return parts.map((part) => (part.text[0]! < 'n' ? Float32Array.of(1, 0) : Float32Array.of(0, 1)));
  }
}

function setUp() {
  const encoder = new TestEncoder();
  const replies: EncodeReply[] = [];
  const queue = new EncoderQueue(encoder, (reply) => replies.push(reply));
  const add = (id: number, kind: EncodeRequest['kind'], ...texts: string[]) => queue.add({ id, kind, texts });
  const drain = async () => {
    while (await queue.step()) {}
  };
  return { encoder, queue, replies, add, drain };
}

describe('EncoderQueue', () => {
  it('replies in the order of the texts, with none for what has no windows', async () => {
    const { add, drain, replies } = setUp();
    add(1, 'embed', 'zz', '', 'aaaa');
    await drain();
    expect(replies).toEqual([{ id: 1, counts: [1, 0, 1], vectors: Float32Array.of(0, 1, 1, 0) }]);
  });

  it('averages windows and parts, or keeps the windows apart', async () => {
    const { add, drain, replies } = setUp();
    add(1, 'embed', 'aa|zz');
    add(2, 'windows', 'aa|zz', 'b+y');
    await drain();
    const half = Math.fround(Math.SQRT1_2);
    expect(replies).toContainEqual({ id: 1, counts: [1], vectors: Float32Array.of(half, half) });
    expect(replies).toContainEqual({
      id: 2,
      counts: [2, 1],
      vectors: Float32Array.of(1, 0, 0, 1, half, half),
    });
  });

  it('encodes only parts of the same number of tokens together, the oldest first', async () => {
    const { add, drain, encoder } = setUp();
    add(1, 'embed', 'aaa', 'b', 'ccc');
    add(2, 'embed', 'd', 'eee');
    await drain();
    expect(encoder.batches).toEqual([
      ['aaa', 'ccc', 'eee'],
      ['b', 'd'],
    ]);
  });

  it('keeps batches small, the smaller the longer their parts', async () => {
    const { add, drain, encoder } = setUp();
    add(1, 'embed', ...Array.from({ length: 20 }, (_, i) => `a${i % 10}`));
    add(2, 'embed', ...Array.from({ length: 7 }, () => 'b'.repeat(128)));
    await drain();
    expect(encoder.batches.map((batch) => batch.length)).toEqual([8, 8, 4, 3, 3, 1]);
  });

  it('lets a query go before a backlog that has begun, batch by batch', async () => {
    const { add, drain, encoder, queue, replies } = setUp();
    add(1, 'embed', ...Array.from({ length: 500 }, (_, i) => `a${String(i).padStart(3, '0')}`));
    await queue.step();
    add(2, 'query', 'query');
    await queue.step();
    expect(encoder.batches[1]).toEqual(['query']);
    expect(replies).toEqual([{ id: 2, counts: [1], vectors: Float32Array.of(0, 1) }]);
    await drain();
    expect(replies.map((reply) => reply.id)).toEqual([2, 1]);
    expect(encoder.batches.flat().slice(0, 8)).toEqual(encoder.batches[0]);
  });

  it('refuses only the requests whose texts cannot be encoded', async () => {
    const { add, drain, replies } = setUp();
    add(1, 'embed', 'ok', 'a?');
    add(2, 'embed', 'go', 'ab');
    add(3, 'embed', '#', 'ac');
    add(4, 'query', '#');
    await drain();
    expect(replies).toContainEqual({ id: 1, refused: true });
    expect(replies).toContainEqual({ id: 2, counts: [1, 1], vectors: Float32Array.of(1, 0, 1, 0) });
    expect(replies).toContainEqual({ id: 3, refused: true });
    expect(replies).toContainEqual({ id: 4, refused: true });
    expect(replies).toHaveLength(4);
  });

  it('stops at a trap, after which the encoder cannot be trusted', async () => {
    const { add, drain, replies } = setUp();
    add(1, 'embed', 'a!');
    await expect(drain()).rejects.toThrow('unreachable');
    expect(replies).toEqual([]);
  });
});
