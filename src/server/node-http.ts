import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FetchAPI } from 'graphql-yoga';
import type { Outlet } from './outlet.js';

/** After an answer to a request whose body was not read to its end, its sender may go on this long, in ms. */
const LINGER_MS = 2_000;

/** The URL that a request names; undefined when it is none, such as `//`. Only its path and query mean anything. */
export function urlOf(incoming: IncomingMessage): URL | undefined {
  try {
    return new URL(incoming.url ?? '/', 'http://salient');
  } catch {
    return undefined;
  }
}

/** A request as the Fetch API has it; its signal aborts when the caller goes away before the answer is complete. */
export function toRequest(
  url: URL,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  api: FetchAPI,
): Request {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  const { method = 'GET', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new api.Request(url.href, {
    method,
    headers: headers as Record<string, string>,
    signal: gone.signal,
    ...(hasBody ? { body: incoming as unknown as ReadableStream, duplex: 'half' } : {}),
  });
}

/** Sends an answer. Streams go out as fast as the caller reads them, and end when it goes away. */
export async function send(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  outlet: Outlet,
): Promise<void> {
  // Nobody is left to send to; nothing of a stream has begun before it is read.
  if (outgoing.destroyed) return;
  outgoing.statusCode = response.status;
  response.headers.forEach((value, name) => {
    outgoing.setHeader(name, value);
  });
  if (isStream(response) && response.body) await pump(response.body, outgoing, outlet);
  else outgoing.end(incoming.method === 'HEAD' ? undefined : await response.text());
  if (!incoming.complete) linger(incoming);
}

/** Whether the answer goes on as long as there is something to tell. */
export function isStream(response: Response): boolean {
  return /^(text\/event-stream|multipart\/)/.test(response.headers.get('content-type') ?? '');
}

async function pump(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  outlet: Outlet,
): Promise<void> {
  const reader = body.getReader();
  const closed = new Promise<void>((resolve) => outgoing.once('close', resolve));
  // Ends what feeds the stream, even while it waits for its next item.
  void closed.then(() => {
    outlet.close();
    return reader.cancel().catch(() => {});
  });
  outgoing.flushHeaders();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (outgoing.destroyed) return;
    outgoing.write(next.value, () => outlet.sent());
    await outlet.room();
  }
  outgoing.end();
}

/** Reads and drops the rest of a body for a while: a connection closed at once would take the answer with it. */
function linger(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.destroy(), LINGER_MS);
  incoming.once('end', () => clearTimeout(timer));
  incoming.once('close', () => clearTimeout(timer));
  incoming.resume();
}
