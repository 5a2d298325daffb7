// A recording worker whose disk hangs: it answers nothing.
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', () => undefined);
