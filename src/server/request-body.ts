import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { assertJsonDepth, limitError } from './limits.js';

/**
 * Reads the parameters of POST requests: JSON in UTF-8 only (no forms: browsers send those across origins without
 * asking), at most `maxBytes` of it counted as it comes in, nested no deeper than the limit, one operation.
 */
export function useJsonBody(maxBytes: number): Plugin {
  return {
    onRequestParse({ request, url, setRequestParser }) {
      if (request.method === 'GET') assertJsonParameters(url.searchParams);
      if (request.method !== 'POST') return;
      setRequestParser(async (received) => {
        const type = received.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
        if (type !== 'application/json') throw badRequest('Content-Type must be application/json', 415);
        const params = parse(await readBody(received, maxBytes));
        if (Array.isArray(params)) throw badRequest('One operation per request: batches are not taken', 400);
        if (typeof params !== 'object' || params === null)
          throw badRequest('The body must be a JSON object', 400);
        return params as GraphQLParams;
      });
    },
    onParams({ params }) {
      assertJsonDepth(params.variables, 'variables');
      assertJsonDepth(params.extensions, 'extensions');
    },
  };
}

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => limitError(`The body has more than ${maxBytes} bytes`, 413);
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Not `for await`: leaving it would destroy the connection before the answer could be sent.
  const reader = request.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    size += next.value.byteLength;
    if (size > maxBytes) throw tooLarge();
    chunks.push(next.value);
  }
  return Buffer.concat(chunks, size);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body.
    throw badRequest('The body is not JSON in UTF-8', 400);
  }
}

/** In a GET request variables and extensions are JSON in the URL. */
function assertJsonParameters(parameters: URLSearchParams): void {
  for (const name of ['variables', 'extensions']) {
    const text = parameters.get(name);
    if (text === null) continue;
    try {
      JSON.parse(text);
    } catch {
      throw badRequest(`${name} is not JSON`, 400);
    }
  }
}

function badRequest(message: string, status: number): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_INPUT', http: { status } } });
}
