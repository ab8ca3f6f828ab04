import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { ConfigError } from '../config/index.js';
import { SalientError } from '../errors.js';

/** What clients send, with what names a document that the server has. */
interface Params {
  readonly query?: string | null;
  readonly extensions?: Readonly<Record<string, unknown>> | null;
  readonly documentId?: unknown;
}

export interface PersistedDocuments {
  /**
   * The text to run: that of the document which the request names by `documentId`, or by
   * `extensions.persistedQuery.sha256Hash`; else its own `query`.
   * @throws GraphQLError PERSISTED_DOCUMENT_NOT_FOUND, PERSISTED_DOCUMENT_REQUIRED
   */
  textOf(params: Params): string;
}

/**
 * Documents that the operator has laid down: a JSON file of id → document, or a directory of `.graphql` files, each known
 * by the SHA-256 of its text in hexadecimal digits. All are held to the schema now, not when a client comes.
 * @param path undefined: there are none
 * @param only whether anything else is refused
 * @throws ConfigError where they cannot be read, or one does not fit the schema
 */
export function loadDocuments(
  path: string | undefined,
  only: boolean,
  schema: GraphQLSchema,
): PersistedDocuments {
  const documents = path === undefined ? new Map<string, string>() : read(path);
  for (const [id, text] of documents) {
    if (faultsOf(text, schema)) throw fault(`the document ${id} is not valid by this version's schema`);
  }
  return {
    textOf(params) {
      const id = idOf(params);
      if (id === undefined) {
        if (only)
          throw refusal(
            'PERSISTED_DOCUMENT_REQUIRED',
            'Only documents that the server has are run: send an id',
          );
        return params.query ?? '';
      }
      const text = documents.get(id);
      if (text === undefined)
        throw refusal('PERSISTED_DOCUMENT_NOT_FOUND', 'The server has no document of this id');
      return text;
    },
  };
}

/** Puts the document in the place of its id, for requests over HTTP. */
export function usePersistedDocuments(documents: PersistedDocuments): Plugin {
  return {
    onParams({ params, setParams }) {
      const { documentId: _id, ...rest } = params as GraphQLParams & Params;
      const query = documents.textOf(params as Params);
      // What names no document and has none is refused by the library, in its own words.
      setParams(query === '' ? rest : { ...rest, query });
    },
  };
}

function idOf({ documentId, extensions }: Params): string | undefined {
  if (typeof documentId === 'string') return documentId;
  const persisted = extensions?.persistedQuery as { readonly sha256Hash?: unknown } | undefined;
  return typeof persisted?.sha256Hash === 'string' ? persisted.sha256Hash : undefined;
}

function read(path: string): Map<string, string> {
  try {
    if (!statSync(path).isDirectory()) {
      const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>);
      if (!entries.every(([, text]) => typeof text === 'string'))
        throw fault('must hold an object of id → document');
      return new Map(entries as [string, string][]);
    }
    const names = readdirSync(path).filter((name) => /\.(graphql|gql)$/.test(name));
    const texts = names.map((name) => readFileSync(join(path, name), 'utf8'));
    return new Map(texts.map((text) => [createHash('sha256').update(text).digest('hex'), text]));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw fault('must be a directory of .graphql files, or a JSON file of id → document, that can be read');
  }
}

function faultsOf(text: string, schema: GraphQLSchema): boolean {
  try {
    return validate(schema, parse(text)).length > 0;
  } catch {
    return true;
  }
}

function fault(reason: string): ConfigError {
  return new ConfigError(`SALIENT_PERSISTED_DOCUMENTS: ${reason}`);
}

function refusal(
  code: 'PERSISTED_DOCUMENT_NOT_FOUND' | 'PERSISTED_DOCUMENT_REQUIRED',
  message: string,
): GraphQLError {
  return new GraphQLError(message, {
    originalError: new SalientError(code, message),
    extensions: { code, http: { status: 400 } },
  });
}
