import { readdirSync, readFileSync } from 'node:fs';
import { type DocumentNode, Kind, type OperationDefinitionNode, parse, print } from 'graphql';

const directory = new URL('./contract/', import.meta.url);

/** The documents that clients send, by the file that holds them. */
export function contractFiles(): { file: string; document: DocumentNode }[] {
  return readdirSync(directory)
    .sort()
    .map((file) => ({ file, document: parse(readFileSync(new URL(file, directory), 'utf8')) }));
}

/** Every operation of the contract by its name, as a document of its own. */
export function contractOperations(): Map<string, string> {
  const operations = new Map<string, string>();
  for (const { document } of contractFiles()) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.OPERATION_DEFINITION)
        operations.set(nameOf(definition), print(definition));
    }
  }
  return operations;
}

function nameOf(operation: OperationDefinitionNode): string {
  if (!operation.name) throw new Error('an operation of the contract without a name');
  return operation.name.value;
}
