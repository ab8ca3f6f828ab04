import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  Lexer,
  parse,
  print,
  Source,
  TokenKind,
  validate,
} from 'graphql';
import { MAX_COST } from '../../src/schema/builder.js';
import { LIMITS } from '../../src/server/limits.js';
import { nodeTypeOf, type Probe, requiredValue, type ValueSource } from './values.js';

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

/** Composite fields below the root's own type that one operation goes through; a type's edges and nodes do not count. */
const HOPS = 2;
/** Rows asked for of a list, of one in its rows, and of one in theirs: together they must not cost too much. */
const ROWS = [20, 3, 2] as const;

export class OperationGenerator {
  /** The types that `node` finds. */
  readonly nodeTypes: readonly string[];

  constructor(readonly schema: GraphQLSchema) {
    const node = schema.getType('Node');
    this.nodeTypes = isAbstractType(node) ? schema.getPossibleTypes(node).map((type) => type.name) : [];
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
            fragments: [[only.name, this.#shape(only, hops, lists)] as const],
          }
        : this.#shape(type, hops, lists);
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
    return this.#operation(kind, chain, this.#document(kind, chain, this.#brief(field)), nodeType);
  }

  /** Every place where an id, or a text, may be given: of root fields and, for queries, of the fields that they lead to. */
  positions(kind: Kind, scalar: 'ID' | 'String'): Position[] {
    const positions: Position[] = [];
    const seen = new Set<string>();
    const visit = (chain: readonly Link[], field: GraphQLField<unknown, unknown>, parent: string) => {
      for (const arg of field.args) {
        for (const { path, owner, name } of inputPaths(scalar, arg.type, field.name, [arg.name])) {
          const given = [arg, ...field.args.filter((other) => other !== arg && isRequiredArgument(other))];
          const whole = [...chain, { field, given }];
          positions.push({
            operation: this.#operation(kind, whole, this.#document(kind, whole, this.#brief(field)), null),
            path,
            nodeType: scalar === 'ID' ? nodeTypeOf(owner, name, this.nodeTypes) : null,
            name: `${parent}.${field.name}(${path.join('.')})`,
          });
        }
      }
    };
    let level: { chain: readonly Link[]; type: GraphQLNamedType }[] = [];
    for (const field of this.rootFields(kind)) {
      visit([], field, this.#rootType(kind)?.name ?? kind);
      if (kind !== 'query') continue;
      level.push({
        chain: [{ field, given: field.args.filter(isRequiredArgument) }],
        type: getNamedType(field.type),
      });
    }
    // Level by level: each type's fields are tried once, by the shortest way to it.
    while (level.length > 0) {
      const next: typeof level = [];
      for (const { chain, type } of level) {
        if (!isObjectType(type) || seen.has(type.name)) continue;
        seen.add(type.name);
        for (const field of Object.values(type.getFields())) {
          if (isLeafType(getNamedType(field.type))) continue;
          visit(chain, field, type.name);
          next.push({
            chain: [...chain, { field, given: field.args.filter(isRequiredArgument) }],
            type: getNamedType(field.type),
          });
        }
      }
      level = next;
    }
    return positions;
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

  /** Everything of a type: its own values, and what its fields lead to, no field twice on one way. */
  #shape(type: GraphQLNamedType, hops: number, lists: number, seen: readonly string[] = []): Shape {
    if (isAbstractType(type)) {
      const fragments = this.schema
        .getPossibleTypes(type)
        .map((possible) => [possible.name, this.#shape(possible, hops, lists, seen)] as const);
      const common = isInterfaceType(type) ? Object.values(type.getFields()) : [];
      const leaves = common.filter((field) => isLeafType(getNamedType(field.type))).map(({ name }) => name);
      return { leaves: ['__typename', ...leaves], branches: [], fragments };
    }
    const shape = { leaves: ['__typename'], branches: [] as Branch[], fragments: [] };
    if (!isObjectType(type)) return shape;
    for (const field of Object.values(type.getFields())) {
      const edge = `${type.name}.${field.name}`;
      const head = `${field.name}${this.#literals(field, lists)}`;
      const target = getNamedType(field.type);
      if (isLeafType(target)) {
        shape.leaves.push(head);
        continue;
      }
      const rest = isConnectionPart(type) ? hops : hops - 1;
      if (rest < 0 || seen.includes(edge)) continue;
      const within = lists + Number(isList(field));
      shape.branches.push({ head, shape: this.#shape(target, rest, within, [...seen, edge]) });
    }
    return shape;
  }

  /** A field's selection that tells whether it found something: the ids of one level. */
  #brief(field: GraphQLField<unknown, unknown>): string {
    const fieldsOf = (type: GraphQLNamedType, depth: number): string => {
      if (isAbstractType(type)) {
        // Ids alone: other fields of one name may be of different types.
        const namesOf = (one: GraphQLObjectType | GraphQLInterfaceType, only: (name: string) => boolean) =>
          Object.values(one.getFields()).flatMap((own) =>
            only(getNamedType(own.type).name) ? [own.name] : [],
          );
        const common = isInterfaceType(type)
          ? namesOf(type, (name) => isLeafType(this.schema.getType(name)))
          : [];
        const parts = this.schema.getPossibleTypes(type).flatMap((one) => {
          const ids = namesOf(one, (name) => name === 'ID');
          return ids.length > 0 ? [`... on ${one.name} { ${ids.join(' ')} }`] : [];
        });
        return `{ __typename ${[...common, ...parts].join(' ')} }`;
      }
      if (!isObjectType(type)) return '';
      const parts = Object.values(type.getFields()).flatMap((one) => {
        const target = getNamedType(one.type);
        if (one.args.some(isRequiredArgument)) return [];
        if (isLeafType(target)) return [one.name];
        const into = depth > 0 || isConnectionPart(type) || one.name === 'errors';
        return into ? [`${one.name}${this.#literals(one, 1)} ${fieldsOf(target, depth - 1)}`] : [];
      });
      return `{ __typename ${parts.join(' ')} }`;
    };
    const type = getNamedType(field.type);
    const payload = isObjectType(type) && 'errors' in type.getFields();
    return fieldsOf(type, payload || type.name.endsWith('Result') ? 1 : 0);
  }

  #literals(field: GraphQLField<unknown, unknown>, lists: number): string {
    const given = field.args.flatMap((arg) => {
      if (arg.name === 'first') return [`first: ${ROWS[Math.min(lists, 2)]}`];
      if (!isRequiredArgument(arg)) return [];
      const value = requiredValue(field.name, arg, NOBODY, this.nodeTypes);
      const literal = astFromValue(value, arg.type);
      return literal ? [`${arg.name}: ${print(literal)}`] : [];
    });
    return given.length === 0 ? '' : `(${given.join(', ')})`;
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
    const fault = this.#fault(operation);
    if (fault === null) return [operation];
    const parts = cut(shape);
    if (parts.length > 1) return parts.flatMap((part) => this.#split(part, operationOf));
    if (fault.refused) return [];
    throw new Error(`The leak suite made a document that is not valid: ${fault.why}\n${operation.document}`);
  }

  /** Why the server would not run an operation, the cheap questions first; `refused`: it is beyond a limit. */
  #fault({ document, variables }: Operation): { readonly refused: boolean; readonly why: string } | null {
    if (countTokens(document) > LIMITS.tokens) return { refused: true, why: 'tokens' };
    if (depthOf(document) > LIMITS.depth) return { refused: true, why: 'depth' };
    const ast = parse(document);
    const asked = { schema: this.schema, variables: variables(NOBODY), ctx: {} };
    const { complexity, breadth } = complexityFromQuery(ast, asked);
    if (complexity > MAX_COST || breadth > 1_000) return { refused: true, why: 'cost' };
    const [error] = validate(this.schema, ast);
    return error ? { refused: false, why: error.message } : null;
  }
}

/** One step of a way from the root, and the arguments given there. */
interface Link {
  readonly field: GraphQLField<unknown, unknown>;
  readonly given: readonly GraphQLArgument[];
}

interface Shape {
  readonly leaves: readonly string[];
  readonly branches: readonly Branch[];
  readonly fragments: readonly (readonly [type: string, shape: Shape])[];
}

interface Branch {
  readonly head: string;
  readonly shape: Shape;
}

/** For documents that only have to be printed. */
const NOBODY: ValueSource = { id: () => 'nobody', word: () => 'word', prefers: [] };

function printShape({ leaves, branches, fragments }: Shape): string {
  const parts = [
    ...leaves,
    ...branches.map(({ head, shape }) => `${head} ${printShape(shape)}`),
    ...fragments.map(([type, shape]) => `... on ${type} ${printShape(shape)}`),
  ];
  return `{ ${parts.join(' ')} }`;
}

/** Two or more parts that together select what the whole does; one where it cannot be cut. */
function cut(shape: Shape): Shape[] {
  const { leaves, fragments } = shape;
  // Every part of a page says where it stands, and whether there is another.
  const place = leaves.filter((leaf) => /^(hasMore|endCursor|cursor)$/.test(leaf));
  const kept = shape.branches.filter(({ head }) => head === 'pageInfo');
  const branches = shape.branches.filter(({ head }) => head !== 'pageInfo');
  const bare = { leaves: ['__typename', ...place], branches: kept, fragments: [] };
  if (branches.length + fragments.length > 1) {
    const middle = Math.ceil(branches.length / 2);
    const half = Math.ceil(fragments.length / 2);
    return [
      { leaves, branches: [...kept, ...branches.slice(0, middle)], fragments: fragments.slice(0, half) },
      { ...bare, branches: [...kept, ...branches.slice(middle)], fragments: fragments.slice(half) },
    ].filter((part) => part.branches.length + part.fragments.length > kept.length);
  }
  const [branch] = branches;
  const [fragment] = fragments;
  if (branch || fragment) {
    const own = leaves.length > bare.leaves.length ? [{ ...bare, leaves }] : [];
    const inner = cut(branch ? branch.shape : (fragment?.[1] as Shape));
    if (inner.length < 2 && own.length === 0) return [shape];
    const wrapped = inner.map((part) =>
      branch
        ? { ...bare, branches: [...kept, { head: branch.head, shape: part }] }
        : { ...bare, fragments: [[fragment?.[0] as string, part] as const] },
    );
    return [...own, ...wrapped];
  }
  const rest = leaves.filter((leaf) => !bare.leaves.includes(leaf));
  if (rest.length < 2) return [shape];
  const middle = Math.ceil(rest.length / 2);
  return [rest.slice(0, middle), rest.slice(middle)].map((some) => ({
    ...bare,
    leaves: [...bare.leaves, ...some],
  }));
}

/** The ways into an input that end at a scalar of this name. */
function* inputPaths(
  scalar: string,
  type: GraphQLInputType,
  owner: string,
  path: Probe,
  seen: readonly string[] = [],
): Generator<{ path: Probe; owner: string; name: string }> {
  const named = getNamedType(type);
  if (named.name === scalar) yield { path, owner, name: path.at(-1) ?? '' };
  if (!isInputObjectType(named) || seen.includes(named.name)) return;
  for (const field of Object.values(named.getFields())) {
    yield* inputPaths(scalar, field.type, named.name, [...path, field.name], [...seen, named.name]);
  }
}

/** Whether a field gives many rows: a list, or a page of one. */
function isList(field: GraphQLField<unknown, unknown>): boolean {
  const type = isNonNullType(field.type) ? field.type.ofType : field.type;
  return field.name !== 'edges' && (isListType(type) || field.args.some((arg) => arg.name === 'first'));
}

/** The types of Relay's connections: a page, its rows, and where it stands. */
function isConnectionPart(type: GraphQLObjectType): boolean {
  const fields = type.getFields();
  return ('edges' in fields && 'pageInfo' in fields) || ('node' in fields && 'cursor' in fields);
}

function variableOf(level: number, arg: GraphQLArgument): string {
  return level === 0 ? arg.name : `${arg.name}${level}`;
}

/** An argument's value with the probe in its place and, around it, whatever must be given. */
function withProbe(
  type: GraphQLInputType,
  path: Probe,
  depth: number,
  probe: { readonly path: Probe; readonly value: unknown },
  source: ValueSource,
  nodeTypes: readonly string[],
): unknown {
  if (isNonNullType(type)) return withProbe(type.ofType, path, depth, probe, source, nodeTypes);
  if (isListType(type)) {
    const several = depth === path.length && Array.isArray(probe.value);
    return several ? probe.value : [withProbe(type.ofType, path, depth, probe, source, nodeTypes)];
  }
  if (depth === path.length) return probe.value;
  const named = getNamedType(type);
  if (!isInputObjectType(named)) throw new Error(`${path.join('.')} is no path of ${named.name}`);
  const fields = Object.values(named.getFields()).filter(
    (field) => field.name === path[depth] || (!named.isOneOf && isRequiredInputField(field)),
  );
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      field.name === path[depth]
        ? withProbe(field.type, path, depth + 1, probe, source, nodeTypes)
        : requiredValue(named.name, field, source, nodeTypes, probe.path),
    ]),
  );
}

function countTokens(document: string): number {
  const lexer = new Lexer(new Source(document));
  let count = 0;
  while (lexer.advance().kind !== TokenKind.EOF) count++;
  return count;
}

/** Fields inside fields: fragments add none. */
function depthOf(document: string): number {
  let depth = 0;
  let deepest = 0;
  const open: boolean[] = [];
  let inFragment = false;
  const lexer = new Lexer(new Source(document));
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    if (token.kind === TokenKind.SPREAD) inFragment = true;
    if (token.kind === TokenKind.BRACE_L) {
      open.push(inFragment);
      if (!inFragment) depth++;
      inFragment = false;
      deepest = Math.max(deepest, depth);
    }
    if (token.kind === TokenKind.BRACE_R && !open.pop()) depth--;
  }
  return deepest;
}
