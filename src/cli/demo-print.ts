/** A heading with a line under it. */
export function heading(text: string): void {
  console.log(`\n${text}\n${'─'.repeat(Math.min(110, text.length))}`);
}

/** With two decimals, right-aligned. */
export function number(value: number, width: number): string {
  return value.toFixed(2).padStart(width);
}

/** The same in four columns, a dash for what is not there. */
export function optional(value: number | null): string {
  return value === null ? '   –' : number(value, 4);
}

export function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
