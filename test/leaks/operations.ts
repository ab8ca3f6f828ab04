import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import {
  briefOf,
  cut,
  isList,
  NOBODY,
  nodeTypesOf,
  printShape,
  ROWS,
  type Shape,
  shapeOf,
} from './selections.js';
import { faultOf } from './server-limits.js';
import { inputPaths, nodeTypeOf, type Probe, requiredValue, type ValueSource, withProbe } from './values.js';

export type Kind = 'query' | 'mutation' | 'subscription';

/** A document that the schema gave rise to. */
export interface Operation {
  readonly kind: Kind;
  /** The root field's name. */
  readonly root: string;
  /** Where an abstract root's answer was narrowed to one type: that type. */
  readonly nodeType: string | null;
  readonly document: string;
  /** The variables for a caller; `probe` sets the value at one path and leaves the rest. */
  variables(
    source: ValueSource,
    probe?: { readonly path: Probe; readonly value: unknown },
  ): Record<string, unknown>;
}

/** An argument, however deep in an input, that takes ids or texts. */
export interface Position {
  /** Reads nothing but what shows whether the id was found. */
  readonly operation: Operation;
  /** Of the argument: `['input', 'target', 'id']`. */
  readonly path: Probe;
  /** Whose ids it takes; null: those of any node, or it takes none. */
  readonly nodeType: string | null;
  /** Such as `Mutation.pinFact(input.id)`. */
  readonly name: string;
}

/** A list that is read page by page. */
export interface PagedList {
  /** `Type.field`. */
  readonly name: string;
  readonly operation: Operation;
  /** Names of the fields from the answer's `data` to the list. */
  readonly path: readonly string[];
  /** Names of the variables for `first` and `after`. */
  readonly first: string;
  readonly after: string;
}

/** Composite fields below the root's own type that one operation goes through; a type's edges and nodes do not count. */
const HOPS = 2;
/** What `connections` asks pages with. */
const PAGE_ARGUMENTS = ['first', 'after'];

export class OperationGenerator {
  /** The types that `node` finds. */
  readonly nodeTypes: readonly string[];

  constructor(readonly schema: GraphQLSchema) {
    this.nodeTypes = nodeTypesOf(schema);
  }

  rootFields(kind: Kind): GraphQLField<unknown, unknown>[] {
    return Object.values(this.#rootType(kind)?.getFields() ?? {});
  }

  /** Operations that between them select every field that a root field leads to, as deep as {@link HOPS}. */
  reading(kind: Kind, field: GraphQLField<unknown, unknown>): Operation[] {
    const type = getNamedType(field.type);
    // Pages are followed to their end; a subscription is asked with every argument.
    const given = field.args.filter(
      (arg) => isRequiredArgument(arg) || kind === 'subscription' || /^(first|after)$/.test(arg.name),
    );
    const lists = Number(isList(field));
    // Many nodes lead to what one leads to.
    const hops = type.name === 'Node' && lists > 0 ? 0 : HOPS;
    // Of an interface with many types, such as Node, each is asked for on its own.
    const narrowed =
      isAbstractType(type) && type.name === 'Node' ? this.schema.getPossibleTypes(type) : [null];
    return narrowed.flatMap((only) => {
      const shape = only
        ? {
            leaves: ['__typename'],
            branches: [],
            fragments: [[only.name, shapeOf(this.schema, only, hops, lists)] as const],
          }
        : shapeOf(this.schema, type, hops, lists);
      return this.#split(shape, (part) => {
        const document = this.#document(kind, [{ field, given }], printShape(part));
        return this.#operation(kind, [{ field, given }], document, only?.name ?? null);
      });
    });
  }

  /** The shortest operation of a root field: what it must be given and, of a subscription, may be. */
  shortest(kind: Kind, field: GraphQLField<unknown, unknown>): Operation {
    const given = field.args.filter((arg) => isRequiredArgument(arg) || kind === 'subscription');
    const chain = [{ field, given }];
    const nodeType = getNamedType(field.type).name === 'Node' ? (this.nodeTypes[0] ?? null) : null;
    return this.#operation(kind, chain, this.#document(kind, chain, briefOf(this.schema, field)), nodeType);
  }

  /** Every place where an id, or a text, may be given: of root fields and, for queries, of the fields that they lead to. */
  positions(kind: Kind, scalar: 'ID' | 'String'): Position[] {
    const positions: Position[] = [];
    this.#walk(kind, (chain, field, parent) => {
      for (const arg of field.args) {
        for (const { path, owner, name } of inputPaths(scalar, arg.type, field.name, [arg.name])) {
          const given = [arg, ...field.args.filter((other) => other !== arg && isRequiredArgument(other))];
          const whole = [...chain, { field, given }];
          positions.push({
            operation: this.#operation(
              kind,
              whole,
              this.#document(kind, whole, briefOf(this.schema, field)),
              null,
            ),
            path,
            nodeType: scalar === 'ID' ? nodeTypeOf(owner, name, this.nodeTypes) : null,
            name: `${parent}.${field.name}(${path.join('.')})`,
          });
        }
      }
    });
    return positions;
  }

  /** Every list with pages. */
  connections(): PagedList[] {
    const lists: PagedList[] = [];
    this.#walk('query', (chain, field, parent) => {
      const paging = field.args.filter((arg) => PAGE_ARGUMENTS.includes(arg.name));
      if (paging.length < PAGE_ARGUMENTS.length) return;
      const given = [...paging, ...field.args.filter(isRequiredArgument)];
      const whole = [...chain, { field, given }];
      const [first, after] = PAGE_ARGUMENTS.map(
        (name) => `${name}${whole.length > 1 ? whole.length - 1 : ''}`,
      );
      lists.push({
        name: `${parent}.${field.name}`,
        operation: this.#operation(
          'query',
          whole,
          this.#document('query', whole, briefOf(this.schema, field)),
          null,
        ),
        path: whole.map((link) => link.field.name),
        first: first as string,
        after: after as string,
      });
    });
    return lists;
  }

  /** Visits the fields that have an object's or list's type, each once, by the shortest way from a root field. */
  #walk(
    kind: Kind,
    visit: (chain: readonly Link[], field: GraphQLField<unknown, unknown>, parent: string) => void,
  ): void {
    const seen = new Set<string>();
    const linkOf = (field: GraphQLField<unknown, unknown>): Link => ({
      field,
      given: field.args.filter(isRequiredArgument),
    });
    let level: { chain: readonly Link[]; type: GraphQLNamedType }[] = [];
    for (const field of this.rootFields(kind)) {
      visit([], field, this.#rootType(kind)?.name ?? kind);
      if (kind === 'query') level.push({ chain: [linkOf(field)], type: getNamedType(field.type) });
    }
    while (level.length > 0) {
      const next: typeof level = [];
      for (const { chain, type } of level) {
        if (!isObjectType(type) || seen.has(type.name)) continue;
        seen.add(type.name);
        for (const field of Object.values(type.getFields())) {
          if (isLeafType(getNamedType(field.type))) continue;
          visit(chain, field, type.name);
          next.push({ chain: [...chain, linkOf(field)], type: getNamedType(field.type) });
        }
      }
      level = next;
    }
  }

  /** `Type.field` of every field that any operation can reach, payloads and interfaces' types included. */
  reachableFields(): Set<string> {
    const fields = new Set<string>();
    const visit = (type: GraphQLNamedType) => {
      if (isAbstractType(type)) {
        for (const possible of this.schema.getPossibleTypes(type)) visit(possible);
        return;
      }
      if (!isObjectType(type)) return;
      for (const field of Object.values(type.getFields())) {
        const name = `${type.name}.${field.name}`;
        if (fields.has(name)) continue;
        fields.add(name);
        visit(getNamedType(field.type));
      }
    };
    for (const kind of ['query', 'mutation', 'subscription'] as const) {
      const root = this.#rootType(kind);
      if (root) visit(root);
    }
    return fields;
  }

  #rootType(kind: Kind): GraphQLObjectType | null | undefined {
    if (kind === 'query') return this.schema.getQueryType();
    return kind === 'mutation' ? this.schema.getMutationType() : this.schema.getSubscriptionType();
  }

  /** A document for a way from the root; every argument on it is a variable. */
  #document(kind: Kind, chain: readonly Link[], selection: string): string {
    const definitions: string[] = [];
    const heads = chain.map(({ field, given }, level) => {
      const parts = given.map((arg) => {
        definitions.push(`$${variableOf(level, arg)}: ${String(arg.type)}`);
        return `${arg.name}: $${variableOf(level, arg)}`;
      });
      return `${field.name}${parts.length > 0 ? `(${parts.join(', ')})` : ''}`;
    });
    const body = heads.reduceRight((inner, head) => `{ ${head} ${inner} }`, selection);
    return `${kind} ${definitions.length > 0 ? `(${definitions.join(', ')})` : ''} ${body}`;
  }

  #operation(kind: Kind, chain: readonly Link[], document: string, nodeType: string | null): Operation {
    const nodeTypes = this.nodeTypes;
    return {
      kind,
      root: chain[0]?.field.name ?? '',
      nodeType,
      document,
      variables(source, probe) {
        const narrowed = nodeType ? { ...source, id: () => source.id(nodeType) } : source;
        // The probed argument is one of the last field's.
        const last = chain.length - 1;
        return Object.fromEntries(
          chain.flatMap(({ field, given }, level) =>
            given.map((arg) => {
              const probed = level === last && probe && probe.path[0] === arg.name ? probe : undefined;
              const owner = nodeType && /^ids?$/.test(arg.name) ? nodeType : field.name;
              if (probed)
                return [
                  variableOf(level, arg),
                  withProbe(arg.type, probed.path, 1, probed, narrowed, nodeTypes),
                ];
              if (arg.name === 'first') return [variableOf(level, arg), ROWS[0]];
              const value = isRequiredArgument(arg)
                ? requiredValue(owner, arg, narrowed, nodeTypes, probe?.path)
                : null;
              return [variableOf(level, arg), value];
            }),
          ),
        );
      },
    };
  }

  /** Cuts a shape into parts whose documents are valid and within the server's limits. */
  #split(shape: Shape, operationOf: (part: Shape) => Operation): Operation[] {
    const operation = operationOf(shape);
    const fault = faultOf(this.schema, operation.document, operation.variables(NOBODY));
    if (fault === null) return [operation];
    const parts = cut(shape);
    if (parts.length > 1) return parts.flatMap((part) => this.#split(part, operationOf));
    if (fault.refused) return [];
    throw new Error(`The leak suite made a document that is not valid: ${fault.why}\n${operation.document}`);
  }
}

/** One step of a way from the root, and the arguments given there. */
interface Link {
  readonly field: GraphQLField<unknown, unknown>;
  readonly given: readonly GraphQLArgument[];
}

function variableOf(level: number, arg: GraphQLArgument): string {
  return level === 0 ? arg.name : `${arg.name}${level}`;
}
