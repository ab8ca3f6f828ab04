/**
 * Connections that stay open, by tenant: sockets, and streams over HTTP. A tenant has so many, whatever the others
 * have.
 */
export class StreamSlots {
  readonly #taken = new Map<string, number>();

  /** @param each most at a time for one tenant */
  constructor(readonly each: number) {}

  /**
   * @param tenantId null: who works in no tenant, all together
   * @returns gives it back, once; undefined when all are taken
   */
  take(tenantId: string | null): (() => void) | undefined {
    const key = tenantId ?? '';
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.each) return undefined;
    this.#taken.set(key, taken + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left > 0) this.#taken.set(key, left);
      else this.#taken.delete(key);
    };
  }
}
