import { type Database, ping } from '../db/index.js';

/** How long the database may take to answer before it counts as not ready, in ms. */
const READY_WAIT_MS = 5_000;

/**
 * `/healthz`: the process lives. `/readyz`: it can serve, so the database answers and it is not closing. Neither needs
 * credentials or tells more than that.
 * @returns undefined for any other path
 */
export async function answerHealth(
  path: string,
  db: Pick<Database, 'withPlatform'>,
  closing: boolean,
): Promise<Response | undefined> {
  if (path === '/healthz') return state(200, 'ok');
  if (path !== '/readyz') return undefined;
  if (closing) return state(503, 'closing');
  return (await answers(db)) ? state(200, 'ready') : state(503, 'database not available');
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
