import { setImmediate } from 'node:timers/promises';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { type EncodeReply, type EncodeRequest, EncoderQueue } from './encoder-queue.js';
import { UseLite } from './use-lite.js';

/**
 * The worker thread of the bundled provider: requests in, replies out. Any error that leaves this file ends the
 * thread, and the provider then rejects what is pending.
 */
async function serve(port: MessagePort): Promise<void> {
  const waiting: EncodeRequest[] = [];
  let wake: (() => void) | undefined;
  port.on('message', (request: EncodeRequest) => {
    waiting.push(request);
    wake?.();
  });

  const queue = new EncoderQueue(await UseLite.load(), (reply: EncodeReply) => {
    port.postMessage(reply, 'vectors' in reply ? [reply.vectors.buffer as ArrayBuffer] : []);
  });
  for (;;) {
    // Messages are delivered between two turns of the event loop only: without this a query would not be seen
    // until the backlog is done.
    await setImmediate();
    for (const request of waiting.splice(0)) queue.add(request);
    if (await queue.step()) continue;
    if (waiting.length > 0) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    wake = undefined;
  }
}

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
await serve(parentPort);
