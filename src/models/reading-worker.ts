// A thread that reads memory as fast as it can, and reports the bytes of each second. It searches a byte that
// is absent: the search of Node runs at the speed of memory.
import { parentPort, workerData } from 'node:worker_threads';

const { bytes, ms } = workerData as { readonly bytes: number; readonly ms: number };

const memory = Buffer.alloc(bytes, 1); // written once: untouched pages are all the same page of zeros
parentPort?.once('message', () => {
  const begin = performance.now();
  let read = 0;
  let end = begin;
  while (end - begin < ms) {
    memory.indexOf(2);
    read += bytes;
    end = performance.now();
  }
  parentPort?.postMessage((read / (end - begin)) * 1000);
});
parentPort?.postMessage('ready');
