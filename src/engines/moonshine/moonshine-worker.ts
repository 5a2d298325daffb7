// Runs in a worker thread of the recogniser Moonshine.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { collectWithOthers } from '../../encoding/idle-memory.js';
import { systemTime } from '../../time.js';
import type { FromMoonshine, MoonshineWorkerData, ToMoonshine } from './moonshine-messages.js';
import { MoonshineService } from './moonshine-service.js';

const port = parentPort;
if (port === null) throw new Error('moonshine-worker runs in a worker thread');

collectWithOthers();
const service = await MoonshineService.open(workerData as MoonshineWorkerData, {
  post: (message: FromMoonshine) => port.postMessage(message),
  takeMessages: () => {
    for (let got = next(); got !== undefined; got = next()) service?.take(got);
  },
  end: () => process.exit(), // of this thread
  time: systemTime,
});

function next(): ToMoonshine | undefined {
  return port === null ? undefined : (receiveMessageOnPort(port)?.message as ToMoonshine | undefined);
}

if (service !== undefined) port.on('message', (message: ToMoonshine) => service.take(message));
