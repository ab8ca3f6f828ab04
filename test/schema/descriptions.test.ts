import { isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema/index.js';

test('every type, field, argument and value says what it is, for who builds a console', () => {
  const silent: string[] = [];
  const hear = (place: string, description: string | null | undefined) => {
    if (!description || description.trim() === '') silent.push(place);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    hear(type.name, type.description);
    if (isEnumType(type))
      for (const value of type.getValues()) hear(`${type.name}.${value.name}`, value.description);
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        hear(`${type.name}.${field.name}`, field.description);
        for (const argument of field.args)
          hear(`${type.name}.${field.name}(${argument.name})`, argument.description);
      }
    }
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        hear(`${type.name}.${field.name}`, field.description);
    }
  }
  expect(silent).toEqual([]);
});

test('`node` knows every type that implements Node', async () => {
  const { isNodeType } = await import('../../src/schema/global-id.js');
  const node = schema.getType('Node');
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map((type) => type.name) : [];
  expect(types.length).toBeGreaterThan(5);
  expect(types.filter((name) => !isNodeType(name))).toEqual([]);
});
