import {
  astFromValue,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  print,
} from 'graphql';
import { requiredValue, type ValueSource } from './values.js';

/** What is selected of a type: its own values, what its fields lead to, and, of an abstract type, each type's part. */
export interface Shape {
  readonly leaves: readonly string[];
  readonly branches: readonly Branch[];
  readonly fragments: readonly (readonly [type: string, shape: Shape])[];
}

/** A field with its arguments, and what is selected of what it leads to. */
interface Branch {
  readonly head: string;
  readonly shape: Shape;
}

/** Rows asked for of a list, of one in its rows, and of one in theirs: together they must not cost too much. */
export const ROWS = [20, 3, 2] as const;

/** For documents that only have to be printed. */
export const NOBODY: ValueSource = { id: () => 'nobody', word: () => 'word', prefers: [] };

/** The types that `node` finds. */
export function nodeTypesOf(schema: GraphQLSchema): string[] {
  const node = schema.getType('Node');
  return isAbstractType(node) ? schema.getPossibleTypes(node).map((type) => type.name) : [];
}

/**
 * Everything of a type: its own values, and what its fields lead to, no field twice on one way.
 * @param hops how many fields of composite types to go through; a list's edges and nodes do not count
 * @param lists in how many lists the type is already
 */
export function shapeOf(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  hops: number,
  lists: number,
  seen: readonly string[] = [],
): Shape {
  if (isAbstractType(type)) {
    const fragments = schema
      .getPossibleTypes(type)
      .map((possible) => [possible.name, shapeOf(schema, possible, hops, lists, seen)] as const);
    const common = isInterfaceType(type) ? Object.values(type.getFields()) : [];
    const leaves = common.filter((field) => isLeafType(getNamedType(field.type))).map(({ name }) => name);
    return { leaves: ['__typename', ...leaves], branches: [], fragments };
  }
  const shape = { leaves: ['__typename'], branches: [] as Branch[], fragments: [] };
  if (!isObjectType(type)) return shape;
  for (const field of Object.values(type.getFields())) {
    const edge = `${type.name}.${field.name}`;
    const head = `${field.name}${literalsOf(schema, field, lists)}`;
    const target = getNamedType(field.type);
    if (isLeafType(target)) {
      shape.leaves.push(head);
      continue;
    }
    const rest = isConnectionPart(type) ? hops : hops - 1;
    if (rest < 0 || seen.includes(edge)) continue;
    const within = lists + Number(isList(field));
    shape.branches.push({ head, shape: shapeOf(schema, target, rest, within, [...seen, edge]) });
  }
  return shape;
}

/** A field's selection that tells whether it found something: the ids of one level. */
export function briefOf(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>): string {
  const fieldsOf = (type: GraphQLNamedType, depth: number): string => {
    if (isAbstractType(type)) {
      // Ids alone: other fields of one name may be of different types.
      const namesOf = (one: GraphQLObjectType | GraphQLInterfaceType, only: (name: string) => boolean) =>
        Object.values(one.getFields()).flatMap((own) =>
          only(getNamedType(own.type).name) ? [own.name] : [],
        );
      const common = isInterfaceType(type) ? namesOf(type, (name) => isLeafType(schema.getType(name))) : [];
      const parts = schema.getPossibleTypes(type).flatMap((one) => {
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
      return into ? [`${one.name}${literalsOf(schema, one, 1)} ${fieldsOf(target, depth - 1)}`] : [];
    });
    return `{ __typename ${parts.join(' ')} }`;
  };
  const type = getNamedType(field.type);
  // What has no id is looked into, to the ids that it holds.
  return fieldsOf(type, isObjectType(type) && 'id' in type.getFields() ? 0 : 1);
}

/** The arguments that a field inside a document must be given, and how many rows. */
function literalsOf(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>, lists: number): string {
  const given = field.args.flatMap((arg) => {
    if (arg.name === 'first') return [`first: ${ROWS[Math.min(lists, 2)]}`];
    if (!isRequiredArgument(arg)) return [];
    const value = requiredValue(field.name, arg, NOBODY, nodeTypesOf(schema));
    const literal = astFromValue(value, arg.type);
    return literal ? [`${arg.name}: ${print(literal)}`] : [];
  });
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

export function printShape({ leaves, branches, fragments }: Shape): string {
  const parts = [
    ...leaves,
    ...branches.map(({ head, shape }) => `${head} ${printShape(shape)}`),
    ...fragments.map(([type, shape]) => `... on ${type} ${printShape(shape)}`),
  ];
  return `{ ${parts.join(' ')} }`;
}

/** Two or more parts that together select what the whole does; one where it cannot be cut. */
export function cut(shape: Shape): Shape[] {
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

/** Whether a field gives many rows: a list, or a page of one. */
export function isList(field: GraphQLField<unknown, unknown>): boolean {
  const type = isNonNullType(field.type) ? field.type.ofType : field.type;
  return field.name !== 'edges' && (isListType(type) || field.args.some((arg) => arg.name === 'first'));
}

/** The types of Relay's connections: a page, its rows, and where it stands. */
function isConnectionPart(type: GraphQLObjectType): boolean {
  const fields = type.getFields();
  return ('edges' in fields && 'pageInfo' in fields) || ('node' in fields && 'cursor' in fields);
}
