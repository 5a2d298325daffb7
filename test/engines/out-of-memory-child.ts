// Asks the addon for more memory than its process may have, says what came of it, and is gone.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { NativeSpeech } from '../../src/engines/native/native-speech.js';
import { GOLDEN } from './golden.js';

const RATE = 24_000;
const SAMPLES = 100_000_000; // 400 MB, which are to be copied
const LEFT_BYTES = 300 * 2 ** 20;

const speech = await NativeSpeech.open({
  directory: join(GOLDEN, 'tiny-base'),
  quantize: 'none',
  codecFormat: 'f32',
  threads: 1,
  cores: [],
  maxStreams: 1,
  maxNewTokens: 0,
  maxVoices: 1,
  warmUp: false,
});
const recording = { hash: 'long', rate: RATE, samples: new Float32Array(SAMPLES) };
const ring = PcmRing.open(RATE, RATE);
const kilobytes = Number(/VmSize:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
execFileSync('prlimit', ['--pid', `${process.pid}`, `--as=${kilobytes * 1024 + LEFT_BYTES}`]);
try {
  speech.start(
    { text: 'Hello.', language: 'auto', seed: 1, dueInMs: 0, overdueInMs: Infinity, speaker: '', recording },
    ring,
  );
  writeSync(1, 'started');
} catch (error) {
  writeSync(1, String(error));
}
// Nothing else is to run with so little: JavaScript itself would end here.
process.kill(process.pid, 'SIGKILL');
