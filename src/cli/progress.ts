const WIDTH = 28;
/** How often a line is written where nobody watches a terminal, in milliseconds. */
const LINE_EVERY_MS = 5_000;

/** What progress is written to: standard error, or whatever a test brings. */
export type ProgressStream = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean };

/** A bar that is drawn over itself on a terminal, and a line now and then elsewhere. */
export class Progress {
  #last = 0;
  #shown = false;

  constructor(private readonly stream: ProgressStream = process.stderr) {}

  /** @param total null where it is not known */
  show(label: string, done: number, total: number | null): void {
    const text = `${label} ${total === null ? String(done) : `${bar(done / Math.max(total, 1))} ${done}/${total}`}`;
    if (this.stream.isTTY) {
      this.stream.write(`\r\x1b[2K${text}`);
      this.#shown = true;
      return;
    }
    if (Date.now() - this.#last < LINE_EVERY_MS) return;
    this.#last = Date.now();
    this.stream.write(`${text}\n`);
  }

  /** Leaves a last line. */
  end(text: string): void {
    this.stream.write(`${this.#shown ? '\r\x1b[2K' : ''}${text}\n`);
    this.#shown = false;
  }
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`;
}
