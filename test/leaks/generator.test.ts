import {
  buildSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/schema/index.js';
import { type Kind, OperationGenerator } from './operations.js';
import type { ValueSource } from './values.js';

const KINDS: readonly Kind[] = ['query', 'mutation', 'subscription'];
const source: ValueSource = { id: (type) => `id of ${type}`, word: () => 'word', prefers: [] };
const generator = new OperationGenerator(schema);

/** `Type.field` of everything that a document selects. */
function fieldsIn(document: string): string[] {
  const found: string[] = [];
  const info = new TypeInfo(schema);
  visit(
    parse(document),
    visitWithTypeInfo(info, {
      Field() {
        const parent = info.getParentType();
        const field = info.getFieldDef();
        if (parent && field && !field.name.startsWith('__')) found.push(`${parent.name}.${field.name}`);
      },
    }),
  );
  return found;
}

describe('the operations that the leak suite sends', () => {
  it('select every field that the schema has', () => {
    const selected = new Set<string>();
    let operations = 0;
    for (const kind of KINDS) {
      for (const field of generator.rootFields(kind)) {
        for (const operation of generator.reading(kind, field)) {
          operations++;
          for (const name of fieldsIn(operation.document)) selected.add(name);
          // Fails, naming the argument, where nobody said what to give for it.
          expect(operation.variables(source)).toBeTypeOf('object');
        }
      }
    }
    console.log(`leak suite: ${operations} operations select ${selected.size} fields`);
    expect([...generator.reachableFields()].filter((name) => !selected.has(name))).toEqual([]);
  });

  it('try every argument and input field that takes an id', () => {
    const tried = KINDS.flatMap((kind) => generator.positions(kind, 'ID')).map(({ name }) => name);
    const wanted = Object.values(schema.getTypeMap()).flatMap((type) => {
      if (type.name.startsWith('__')) return [];
      if (isInputObjectType(type)) {
        return Object.values(type.getFields())
          .filter((field) => getNamedType(field.type).name === 'ID')
          .map((field) => field.name);
      }
      if (!isObjectType(type)) return [];
      return Object.values(type.getFields()).flatMap((field) =>
        field.args
          .filter((arg) => getNamedType(arg.type).name === 'ID')
          .map((arg) => `${type.name}.${field.name}(${arg.name})`),
      );
    });
    const isTried = (name: string) =>
      name.includes('(') ? tried.includes(name) : tried.some((one) => one.endsWith(`.${name})`));
    expect(wanted.length).toBeGreaterThan(10);
    expect(wanted.filter((name) => !isTried(name))).toEqual([]);
  });

  it('put the probed id, and nothing else, where it belongs', () => {
    const deep = generator
      .positions('mutation', 'ID')
      .find(({ name }) => name === 'Mutation.retireFact(input.target.match.agentId)');
    expect(deep?.nodeType).toBe('Agent');
    expect(deep?.operation.variables(source, { path: deep.path, value: 'probe' })).toEqual({
      input: {
        target: { match: { kind: 'CONVENTION', text: 'service', agentId: 'probe' } },
        reason: expect.any(String),
      },
    });
  });

  it('fail for a required argument that nobody told them of, saying where to tell', () => {
    const stranger = new OperationGenerator(
      buildSchema(`
        interface Node { id: ID! }
        type Thing implements Node { id: ID! }
        type Query { node(id: ID!): Node  weigh(kilograms: Float!): Thing }
      `),
    );
    const weigh = stranger.rootFields('query').find(({ name }) => name === 'weigh');
    expect(() => stranger.reading('query', weigh!)).toThrow(/add a rule for 'weigh\.kilograms' to RULES/);
  });
});
