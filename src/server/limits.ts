import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import { type ASTNode, GraphQLError, Kind, type ValidationRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { SalientError } from '../errors.js';

/** What one operation may be, over whatever transport it comes. Its cost is limited by the schema. */
export const LIMITS = {
  /** Fields inside fields; introspection is not counted. */
  depth: 12,
  /** Renamed fields, counted wherever their fragment is used. */
  aliases: 30,
  /** Lexical tokens of the document. */
  tokens: 2_000,
  /** Characters of the document; long texts belong into variables. */
  documentCharacters: 100_000,
  /** Arrays and objects inside each other, in variables and in literals; more would exhaust the database's stack. */
  jsonDepth: 64,
  /** Items of one list in the variables. */
  jsonItems: 1_000,
} as const;

/** An operation exceeds a limit; the message names the limit and its value. */
export function limitError(message: string, status = 400): GraphQLError {
  return new GraphQLError(message, {
    originalError: new SalientError('LIMIT_EXCEEDED', message),
    extensions: { code: 'LIMIT_EXCEEDED', http: { status } },
  });
}

/**
 * Refuses documents that are cheap to send and dear to work on: long ones cost parsing, deep ones and those with many
 * aliases multiply the work of resolvers.
 */
export function useLimits(): Plugin[] {
  return [
    {
      onParse({ params }) {
        const length = params.source.toString().length;
        if (length > LIMITS.documentCharacters) {
          throw limitError(`The document has more than ${LIMITS.documentCharacters} characters`);
        }
      },
      onValidate({ addValidationRule }) {
        addValidationRule(literalDepthRule);
      },
    },
    maxTokensPlugin({
      n: LIMITS.tokens,
      onReject: [reject(() => `The document has more than ${LIMITS.tokens} tokens`)],
    }),
    maxDepthPlugin({
      n: LIMITS.depth,
      flattenFragments: true,
      onReject: [reject((found) => `The operation is ${found} fields deep, more than ${LIMITS.depth}`)],
    }),
    maxAliasesPlugin({
      n: LIMITS.aliases,
      onReject: [reject((found) => `The operation has ${found} aliases, more than ${LIMITS.aliases}`)],
    }),
  ];
}

/**
 * @throws GraphQLError LIMIT_EXCEEDED when arrays and objects are nested deeper than {@link LIMITS.jsonDepth}, or an
 *   array is longer than {@link LIMITS.jsonItems}: ids are decoded before a field's own limits are looked at
 */
export function assertJsonDepth(value: unknown, what: string): void {
  // By hand, not by recursion: the depth is what the sender chose.
  const open: { readonly value: object; readonly depth: number }[] = [];
  const visit = (child: unknown, depth: number) => {
    if (typeof child !== 'object' || child === null) return;
    if (depth > LIMITS.jsonDepth) throw limitError(`${what}: nested deeper than ${LIMITS.jsonDepth} levels`);
    if (Array.isArray(child) && child.length > LIMITS.jsonItems)
      throw limitError(`${what}: a list has ${child.length} items, more than ${LIMITS.jsonItems}`);
    open.push({ value: child, depth });
  };
  visit(value, 1);
  for (let next = open.pop(); next; next = open.pop()) {
    for (const child of Object.values(next.value)) visit(child, next.depth + 1);
  }
}

const literalDepthRule: ValidationRule = (context) => {
  let depth = 0;
  const enter = (node: ASTNode) => {
    depth++;
    if (depth !== LIMITS.jsonDepth + 1) return undefined;
    const message = `A literal is nested deeper than ${LIMITS.jsonDepth} levels`;
    const { originalError, extensions } = limitError(message);
    context.reportError(new GraphQLError(message, { nodes: node, originalError, extensions }));
    return undefined;
  };
  const leave = () => {
    depth--;
  };
  return { [Kind.LIST]: { enter, leave }, [Kind.OBJECT]: { enter, leave } };
};

/** Makes the armour's errors ours: it says "Syntax Error: Query depth limit of 12 exceeded, found 13." */
function reject(text: (found: string) => string): (context: unknown, error: GraphQLError) => void {
  return (_context, error) => {
    const found = /found (\d+)/.exec(error.message)?.[1] ?? '';
    const { message, extensions, originalError } = limitError(text(found));
    Object.assign(error, { message, extensions });
    Object.defineProperty(error, 'originalError', { value: originalError });
  };
}
