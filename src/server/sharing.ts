import { type DocumentNode, type ExecutionArgs, type ExecutionResult, Kind, visit } from 'graphql';

/**
 * How long after it was resolved for the first subscriber an item's result serves others, in ms: as long as it takes
 * to hand it to all who wait. Who comes later is told of things as they are then.
 */
const SHARED_MS = 250;

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
  readonly #results = new WeakMap<object, Map<string, Promise<ExecutionResult>>>();
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

  /** The item's result for that key, resolved when it is the first that is asked for. */
  get(item: object, key: string, resolve: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
    let results = this.#results.get(item);
    if (!results) {
      results = new Map();
      this.#results.set(item, results);
      setTimeout(() => this.#results.delete(item), SHARED_MS).unref();
    }
    const known = results.get(key);
    if (known) return known;
    const result = resolve();
    results.set(key, result);
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
