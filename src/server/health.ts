import { type Database, ping } from '../db/index.js';

/** How long the database may take to answer before it counts as not ready, in ms. */
const READY_WAIT_MS = 5_000;

/** Why nothing is served: the database is not open yet, migrations included; or the process is about to end. */
export type Unserved = 'starting' | 'closing';

const HEADERS = Object.freeze({ 'cache-control': 'no-store', 'content-type': 'application/json' });
/** In seconds. What comes while nothing is served may be sent again then, on another connection. */
const RETRY_AFTER = '1';

/**
 * `/healthz`: the process lives. `/readyz`: it can serve, so the database answers and it is not closing. Neither needs
 * credentials or tells more than that. While it closes, everything else is refused.
 * @returns undefined for any other path of a server that is not closing
 */
export async function answerHealth(
  path: string,
  db: Pick<Database, 'withPlatform'>,
  closing: boolean,
): Promise<Response | undefined> {
  if (closing) {
    const { status, headers, body } = answerUnserved(path, 'closing');
    return new Response(body, { status, headers });
  }
  if (path === '/healthz') return state(200, 'ok');
  if (path !== '/readyz') return undefined;
  return (await answers(db)) ? state(200, 'ready') : state(503, 'database not available');
}

/** What is answered while nothing is served. */
export function answerUnserved(
  path: string,
  why: Unserved,
): { readonly status: number; readonly headers: Record<string, string>; readonly body: string } {
  if (path === '/healthz')
    return { status: 200, headers: { ...HEADERS }, body: JSON.stringify({ status: 'ok' }) };
  const headers = { ...HEADERS, connection: 'close', 'retry-after': RETRY_AFTER };
  if (path === '/readyz') return { status: 503, headers, body: JSON.stringify({ status: why }) };
  const error = {
    message: `The server is ${why}: send the request again`,
    extensions: { code: 'UNAVAILABLE', retryable: true },
  };
  return { status: 503, headers, body: JSON.stringify({ errors: [error] }) };
}

async function answers(db: Pick<Database, 'withPlatform'>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), READY_WAIT_MS);
  });
  const asked = db.withPlatform(ping).then(
    () => true,
    () => false,
  );
  const answered = await Promise.race([asked, late]);
  clearTimeout(timer);
  return answered;
}

function state(status: number, text: string): Response {
  return Response.json({ status: text }, { status, headers: { 'cache-control': 'no-store' } });
}
