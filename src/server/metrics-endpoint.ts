import { createHash, timingSafeEqual } from 'node:crypto';
import type { Metrics } from '../telemetry/index.js';

/** Where Prometheus reads. */
export const METRICS_PATH = '/metrics';

/** Answers a reader of the metrics. @param token what it must show as `Authorization: Bearer <token>`; undefined: nothing */
export async function answerMetrics(
  request: Request,
  metrics: Metrics,
  token: string | undefined,
): Promise<Response> {
  const headers = { 'cache-control': 'no-store' };
  if (request.method !== 'GET')
    return new Response(null, { status: 405, headers: { ...headers, allow: 'GET' } });
  if (token !== undefined && !shows(request.headers.get('authorization'), token))
    return new Response(null, { status: 401, headers: { ...headers, 'www-authenticate': 'Bearer' } });
  return new Response(await metrics.text(), {
    headers: { ...headers, 'content-type': metrics.registry.contentType },
  });
}

function shows(authorization: string | null, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
