/** A command cannot go on; the message says what to do, and is shown without a stack. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly code: 'USAGE' | 'BAD_FILE' | 'REFUSED' | 'UNREACHABLE' = 'USAGE',
  ) {
    super(message);
    this.name = new.target.name;
  }
}
