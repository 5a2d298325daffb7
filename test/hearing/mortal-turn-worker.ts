// A worker of end-of-turn models that does what the first sample of a sound says: 0.1 throws, 0.2 never
// answers, 0.3 exits. It is ready at once.
import { parentPort } from 'node:worker_threads';
import type { FromTurnWorker, ToTurnWorker } from '../../src/hearing/turn-service.js';

const port = parentPort;
const post = (message: FromTurnWorker) => port?.postMessage(message);
let isSilent = false;
let sounds = 0;

port?.on('message', (message: ToTurnWorker) => {
  if (message.type === 'close') return port.close();
  if (message.type === 'push') {
    const order = Math.round(10 * (message.sound[0] ?? 0));
    if (order === 1) throw new Error('the test ended this worker');
    if (order === 3) process.exit(7);
    isSilent = order === 2;
    sounds++;
    if (!isSilent) post({ type: 'taken' });
  }
  if (message.type === 'ask' && !isSilent) {
    post({ type: 'answer', question: message.question, probability: Math.min(1, sounds / 10) });
  }
});
post({ type: 'ready', models: [{ name: 'turn-1-mini' }] });
