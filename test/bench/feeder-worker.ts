// Keeps playouts full from a worker thread, as the encoder workers of the
// product do, whatever the main thread is doing.
import { parentPort, workerData } from 'node:worker_threads';
import { PlayoutWriter } from '../../src/media/playout.js';

export interface FeederData {
  readonly playouts: readonly {
    readonly handle: number;
    readonly generation: number;
    readonly payload: Uint8Array;
  }[];
}

const TRACK = 1; // one utterance that never ends

const { playouts } = workerData as FeederData;
for (const { handle, generation, payload } of playouts) {
  const writer = new PlayoutWriter(handle);
  const fill = (): void => {
    while (writer.push(generation, TRACK, payload) === 1);
    writer.onRoom(fill);
  };
  fill();
}
parentPort?.postMessage('fed');
// Watching a playout keeps no thread alive; this does, until the bench ends it.
parentPort?.on('message', () => process.exit(0));
