// The real hearing worker with scripted ears. The number of a socket decides what its caller says. Every
// track of a playout can be faded. The socket 666 kills the worker, and the work
// of the socket 667 fails.
import { serveHearing } from '../../src/hearing/hearing-service.js';
import { ScriptedEars } from './scripted-ears.js';
import { joined, noise, silence, speech } from './sounds.js';

const FATAL_SOCKET = 666;
const ODD_SOCKET = 667;
const STEP_MS = 4; // eight times the speed of a call

class DyingEars extends ScriptedEars {
  override add(socket: number): boolean {
    if (socket === FATAL_SOCKET) {
      setImmediate(() => {
        throw new Error('the fatal socket came');
      });
    }
    if (socket === ODD_SOCKET) throw new Error('the odd socket came');
    return super.add(socket);
  }
}

const words = await speech('I would like to speak to somebody, please.');
const ears = new DyingEars(
  new Map([
    [1, { caller: joined(silence(320), words, silence(3000)) }],
    [2, { caller: silence(6000) }],
    [3, { caller: noise(6000, -40) }],
  ]),
);

const timer = setInterval(() => {
  if (ears.closed > 0) clearInterval(timer);
  else if (ears.sockets.length > 0) ears.release(1);
}, STEP_MS);

await serveHearing({ openEars: () => ears, fade: () => true });
