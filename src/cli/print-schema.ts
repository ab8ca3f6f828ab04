import { lexicographicSortSchema, printSchema as print } from 'graphql';
import { schema } from '../schema/index.js';

/** `salient schema`: the GraphQL schema as text, types and fields in alphabetical order. */
export function printSchema(): void {
  process.stdout.write(`${print(lexicographicSortSchema(schema))}\n`);
}
