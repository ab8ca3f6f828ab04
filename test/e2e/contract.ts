import { readdirSync, readFileSync } from 'node:fs';
import { type DocumentNode, Kind, type OperationDefinitionNode, parse, print, visit } from 'graphql';

const directory = new URL('./contract/', import.meta.url);

/** The documents that clients send, by the file that holds them. */
export function contractFiles(): { file: string; document: DocumentNode }[] {
  return readdirSync(directory)
    .sort()
    .map((file) => ({ file, document: parse(readFileSync(new URL(file, directory), 'utf8')) }));
}

/** Every operation of the contract, or of these files of it, by its name, as a document of its own with its fragments. */
export function contractOperations(files?: readonly string[]): Map<string, string> {
  const operations = new Map<string, string>();
  for (const { file, document } of contractFiles()) {
    if (files && !files.includes(file)) continue;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.OPERATION_DEFINITION)
        operations.set(nameOf(definition), print(withFragments(definition, document)));
    }
  }
  return operations;
}

/** The operation with the fragments that it needs, and those alone: clients send no unused ones. */
function withFragments(operation: OperationDefinitionNode, document: DocumentNode): DocumentNode {
  const needed = new Set<string>();
  visit(operation, {
    FragmentSpread: ({ name }) => {
      needed.add(name.value);
    },
  });
  const fragments = document.definitions.filter(
    (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && needed.has(definition.name.value),
  );
  return { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
}

function nameOf(operation: OperationDefinitionNode): string {
  if (!operation.name) throw new Error('an operation of the contract without a name');
  return operation.name.value;
}
