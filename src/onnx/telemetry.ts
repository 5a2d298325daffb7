// Switches the telemetry of the ONNX runtime off.
//
// Version 1.30 for Linux writes an identifier of the machine into the home folder and reports
// to its maker over HTTPS. It reads one variable of the process when it is loaded.
import { isMainThread } from 'node:worker_threads';
import { ParleyError } from '../errors.js';

const VARIABLE = 'ORT_DISABLE_TELEMETRY';

/**
 * Called in the main thread before it starts a worker that opens graphs. A worker has only a copy of the
 * variables: what it sets there does not reach the library. Throws WRONG_STATE in a worker whose main thread
 * has not called this.
 */
export function disableTelemetry(): void {
  if (process.env[VARIABLE] === '1') return;
  if (!isMainThread) {
    throw new ParleyError('WRONG_STATE', 'the main thread has not switched the telemetry of ONNX off');
  }
  process.env[VARIABLE] = '1';
}
