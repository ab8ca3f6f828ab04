// The other side of the sockets.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The clients of a benchmark, in a process of their own: see subscribers.mjs for what may be asked. */
export function startClients() {
  const child = fork(fileURLToPath(new URL('subscribers.mjs', import.meta.url)));
  return {
    async ask(command, input = {}) {
      const answer = new Promise((resolve, reject) => {
        const ended = () => reject(new Error('the clients ended'));
        child.once('exit', ended);
        child.once('message', ({ error, result }) => {
          child.off('exit', ended);
          if (error === undefined) resolve(result);
          else reject(new Error(error));
        });
      });
      child.send({ command, ...input });
      return answer;
    },
    stop: () => child.kill(),
  };
}
