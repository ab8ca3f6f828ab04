import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

interface SpanSent {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly status: { code?: number };
}

const MARKER = 'canary-5d1f0c';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const received: string[] = [];
let collector: Server;
let salient: TestApp;
let tenant: TestTenant;

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  salient = await testApp({ settings: { otlpEndpoint: `http://127.0.0.1:${port}` } });
  tenant = await salient.tenant();
});
afterAll(() => new Promise((resolve) => collector.close(resolve)));

function spans(): SpanSent[] {
  return received.flatMap((body) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: SpanSent[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  });
}

it('a request is a trace of its operation and its transactions, in the caller’s trace, without content', async () => {
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  await salient.ask({
    key: tenant.keys.AGENT,
    headers,
    query: `mutation Named${MARKER.replace('-', '')}($input: RememberInput!) { remember(input: $input) { fact { id } errors { code } } }`,
    variables: { input: { text: `Sam knows ${MARKER}`, entities: [MARKER] } },
  });
  await salient.send({
    key: `sal_${MARKER}`,
    headers,
    query: `{ recall(input: { query: "${MARKER}" }) { items { rank } } }`,
  });
  await salient.send({ key: tenant.keys.AGENT, headers, query: `{ fact(id: "${MARKER}") { id } ` });
  // Closing sends what is left.
  await salient[Symbol.asyncDispose]();
  const own = spans().filter(({ traceId }) => traceId === TRACE);
  const requests = own.filter(({ parentSpanId }) => parentSpanId === PARENT);
  expect(requests.map(({ name }) => name)).toEqual(Array.from({ length: 3 }, () => 'POST /graphql'));
  const operation = own.find(({ name }) => name === 'graphql mutation');
  expect(requests.map(({ spanId }) => spanId)).toContain(operation?.parentSpanId);
  expect(operation?.attributes).toContainEqual({ key: 'salient.fields', value: { stringValue: 'remember' } });
  const transactions = own.filter(({ parentSpanId }) => parentSpanId === operation?.spanId);
  expect(transactions.map(({ name }) => name)).toContain('transaction tenant');
  const failed = requests.filter(({ status }) => status.code === 2);
  expect(failed.flatMap(({ attributes }) => attributes.filter(({ key }) => key === 'error.type'))).toEqual([
    { key: 'error.type', value: { stringValue: 'UNAUTHENTICATED' } },
    { key: 'error.type', value: { stringValue: 'GRAPHQL_PARSE_FAILED' } },
  ]);
  expect(received.join()).not.toContain(MARKER);
  expect(received.join()).not.toContain(tenant.keys.AGENT);
});
