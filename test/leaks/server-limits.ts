import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type GraphQLSchema, Lexer, parse, Source, TokenKind, validate } from 'graphql';
import { MAX_COST } from '../../src/schema/builder.js';
import { LIMITS } from '../../src/server/limits.js';

/** Fields side by side that one operation may have. */
const MAX_BREADTH = 1_000;

/** Why the server would not run an operation, the cheap questions first; `refused`: it is beyond a limit. */
export function faultOf(
  schema: GraphQLSchema,
  document: string,
  variables: Record<string, unknown>,
): { readonly refused: boolean; readonly why: string } | null {
  if (countTokens(document) > LIMITS.tokens) return { refused: true, why: 'tokens' };
  if (depthOf(document) > LIMITS.depth) return { refused: true, why: 'depth' };
  const ast = parse(document);
  const { complexity, breadth } = complexityFromQuery(ast, { schema, variables, ctx: {} });
  if (complexity > MAX_COST || breadth > MAX_BREADTH) return { refused: true, why: 'cost' };
  const [error] = validate(schema, ast);
  return error ? { refused: false, why: error.message } : null;
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
