// A client that asks more often than it may, a process of its own: so many requests a second until it is told to stop.
import { setTimeout as sleep } from 'node:timers/promises';

const counts = { sent: 0, refused: 0, other: 0 };
let going = false;

async function ask({ url, key, body }) {
  counts.sent += 1;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body,
  });
  const { errors } = await response.json();
  if (response.status === 429) counts.refused += 1;
  else if (errors) counts.other += 1;
}

async function go({ perSecond, ...request }) {
  going = true;
  const open = new Set();
  const begin = performance.now();
  for (let n = 0; going; n += 1) {
    const wait = begin + (n * 1_000) / perSecond - performance.now();
    if (wait > 1) await sleep(wait);
    // Who is answered slowly has so many requests open and no more.
    if (open.size >= 32) await Promise.race(open);
    const one = ask(request)
      .catch(() => {
        counts.other += 1;
      })
      .finally(() => open.delete(one));
    open.add(one);
  }
  await Promise.all(open);
  process.send({ counts });
}

process.on('message', (message) => {
  if (message.go) void go(message.go);
  else going = false;
});
process.on('disconnect', () => process.exit());
