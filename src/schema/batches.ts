import DataLoader from 'dataloader';

/**
 * The loaders of one operation, made on first use and named by what they load. Lists ask one by one, each loader
 * asks the database once per level of the query.
 */
export class Batches {
  readonly #loaders = new Map<string, unknown>();

  /**
   * Loads by id, once per id and operation.
   * @param name what is loaded, with the arguments that change it: `sources:{"first":10}`
   * @param load gets distinct ids; returns what it found, by id
   */
  byId<T>(
    name: string,
    load: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    id: string,
  ): Promise<T | null> {
    const loader = this.#loader<string, T | null>(name, () => {
      return new DataLoader<string, T | null>(async (ids) => {
        const found = await load(ids);
        return ids.map((key) => found.get(key) ?? null);
      });
    });
    return loader.load(id);
  }

  /**
   * Runs what is asked for in the same tick by one call of `run`, whose results are in the order of `asked`; an Error
   * among them fails its asker alone.
   */
  together<Ask, T>(
    name: string,
    run: (asked: readonly Ask[]) => Promise<unknown[]>,
    ask: Ask & ((...args: never[]) => Promise<T>),
  ): Promise<T> {
    const loader = this.#loader<Ask, unknown>(name, () => {
      return new DataLoader<Ask, unknown>((asked) => run(asked), { cache: false });
    });
    return loader.load(ask) as Promise<T>;
  }

  #loader<K, V>(name: string, make: () => DataLoader<K, V>): DataLoader<K, V> {
    const known = this.#loaders.get(name) as DataLoader<K, V> | undefined;
    if (known) return known;
    const made = make();
    this.#loaders.set(name, made);
    return made;
  }
}
