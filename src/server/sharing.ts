import { type DocumentNode, type ExecutionArgs, type ExecutionResult, Kind, visit } from 'graphql';

/**
 * How long after it was asked for an item's result serves others, in ms: all who wait ask in one go. It bounds what
 * writes of other processes do, of which this one does not know at once; its own end the sharing at once.
 */
const SHARED_MS = 10;

/** What a delivered item is to the server. */
export interface StreamItem {
  /** The place behind it, for who has to resume. */
  readonly cursor: string;
  /** The same object for every subscriber who is delivered this item; absent when each has an item of its own. */
  readonly shared?: object;
}

/** Which results may serve several subscribers. */
export interface Sharing<Context> {
  /** Undefined: nothing is known of such a value, and its result serves nobody else. */
  readonly itemOf: (value: unknown) => StreamItem | undefined;
  /** Equal for those alone to whom every document's answer is the same; undefined: never shared. */
  readonly readerOf: (context: Context) => string | undefined;
  /** What is known now of writes that change answers; undefined: nothing is, and no result is shared. */
  readonly newsOf: (context: Context) => News | undefined;
}

/** Counters of writes that may change the answers to a reader. */
export interface News {
  /** Another number after every write: results from before serve nobody who asks after it. */
  readonly writes: number;
  /** Another number after every write that removed content for good: results from before are not delivered at all. */
  readonly removals: number;
}

interface Shared {
  readonly writes: number;
  /** As of `performance.now()`. */
  readonly until: number;
  readonly result: Promise<ExecutionResult>;
}

/** What names an operation among the others of its document. */
interface Shape {
  readonly id: number;
  /** The variables that the answer depends on: not those of the subscription's own arguments, such as its filter. */
  readonly variables: readonly string[];
}

/**
 * Results of items by who may see them and how: subscribers with the same document, the same variables in its
 * selection and the same right to see get one result, and for each of the others there is one of its own.
 */
export class SharedResults {
  readonly #results = new WeakMap<object, Map<string, Shared>>();
  readonly #shapes = new WeakMap<DocumentNode, Map<string, Shape>>();
  #lastShape = 0;

  /**
   * The key under which a subscription's results are shared.
   * @param reader from {@link Sharing.readerOf}
   */
  keyOf({ document, operationName, variableValues }: ExecutionArgs, reader: string): string {
    const { id, variables } = this.#shapeOf(document, operationName ?? '');
    const values: [string, unknown][] = [];
    for (const name of variables) {
      // A variable that was left out has its default; one that is null has not.
      if (variableValues && Object.hasOwn(variableValues, name)) values.push([name, variableValues[name]]);
    }
    return JSON.stringify([id, reader, values]);
  }

  /**
   * The item's result for that key; resolved when it is the first that is asked for, or the first after a write.
   * @param writes from {@link News}, as of now
   */
  get(
    item: object,
    key: string,
    writes: number,
    resolve: () => Promise<ExecutionResult>,
  ): Promise<ExecutionResult> {
    const now = performance.now();
    let results = this.#results.get(item);
    if (!results) {
      results = new Map();
      this.#results.set(item, results);
      // For the memory alone: a timer that is late must not keep a result in use.
      setTimeout(() => this.#results.delete(item), SHARED_MS).unref();
    }
    const known = results.get(key);
    if (known && known.writes === writes && now < known.until) return known.result;
    const result = resolve();
    results.set(key, { writes, until: now + SHARED_MS, result });
    return result;
  }

  #shapeOf(document: DocumentNode, operationName: string): Shape {
    const shapes = this.#shapes.get(document) ?? new Map<string, Shape>();
    this.#shapes.set(document, shapes);
    const known = shapes.get(operationName);
    if (known) return known;
    const shape = { id: ++this.#lastShape, variables: variablesOf(document) };
    shapes.set(operationName, shape);
    return shape;
  }
}

/** All variables of the document but those that occur in nothing but the arguments of an operation's own fields. */
function variablesOf(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  for (const definition of document.definitions) {
    visit(definition, {
      VariableDefinition: () => false,
      Argument: (_node, _key, _parent, _path, ancestors) => {
        // Operation, its selection set, the selections, a field, the field's arguments.
        const [top, , , field] = ancestors;
        const root = ancestors.length === 4 && top && 'kind' in top && field && 'kind' in field;
        return root && top.kind === Kind.OPERATION_DEFINITION && field.kind === Kind.FIELD
          ? false
          : undefined;
      },
      Variable: ({ name }) => void names.add(name.value),
    });
  }
  return [...names].sort();
}
