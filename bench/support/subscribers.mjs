// The clients' side of the benchmark of fan-out, a process of its own: it opens sockets, and tells when what came in.
import WebSocket from 'ws';

const now = () => performance.timeOrigin + performance.now();
/** By group: the sockets of Salient's subscribers, and bare ones. */
const sockets = { salient: [], bare: [] };
const received = [];

/** By index: how many changes of importance a subscriber got, and what they were, in order. */
let digests = [];

/** Adds a change to what a subscriber got: another order or another change gives another sum. */
function digest(index, data) {
  const text = data.toString();
  const at = text.indexOf('"factId":"');
  if (at < 0) return;
  digests[index] ??= { count: 0, sum: 0 };
  const of = digests[index];
  of.count += 1;
  for (let place = at + 10; text[place] !== '"'; place += 1)
    of.sum = Math.imul(of.sum ^ text.charCodeAt(place), 0x01000193) >>> 0;
}

/** The event that a message tells of; nothing for what is no event. */
function subjectIn(text) {
  const at = text.indexOf('"subjectId":"');
  return at < 0 ? undefined : text.slice(at + 13, text.indexOf('"', at + 13));
}

function take(group, index, data) {
  const at = now();
  const subject = subjectIn(data.toString());
  if (subject !== undefined) received.push([group, index, subject, at]);
}

async function openSocket(url, protocol) {
  const socket = new WebSocket(url, protocol);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return socket;
}

async function subscribe({ url, key, query, variables, digests: digesting }, index) {
  const socket = await openSocket(url, 'graphql-transport-ws');
  const next = () => new Promise((resolve) => socket.once('message', (data) => resolve(data.toString())));
  const accepted = next();
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  await accepted;
  const live = next();
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
  const first = await live;
  if (!first.includes('FeedCheckpoint')) throw new Error(`not live: ${first}`);
  socket.on('message', digesting ? (data) => digest(index, data) : (data) => take('salient', index, data));
  sockets.salient.push(socket);
}

async function listen({ url }, index) {
  const socket = await openSocket(`${url}/?${index}`);
  socket.on('message', (data) => take('bare', index, data));
  sockets.bare.push(socket);
}

const commands = {
  async subscribe({ from, subscriptions }) {
    for (const [n, subscription] of subscriptions.entries()) await subscribe(subscription, from + n);
  },
  async listen({ url, count }) {
    for (let n = 0; n < count; n += 1) await listen({ url }, n);
  },
  async close() {
    for (const socket of sockets.salient.splice(0)) socket.terminate();
    digests = [];
  },
  async digests() {
    return digests;
  },
  /** Hands over what came in since the last time. */
  async collect() {
    return received.splice(0);
  },
};

process.on('message', async ({ command, ...input }) => {
  try {
    process.send({ result: (await commands[command](input)) ?? null });
  } catch (error) {
    process.send({ error: error.message });
  }
});
process.on('disconnect', () => process.exit());
