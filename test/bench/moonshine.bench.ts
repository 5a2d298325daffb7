// Measures live callers of the recogniser Moonshine: the share of a core that a speaking caller takes, and
// the time from a pause to its text. Graphs of the real size with random weights have the cost of real ones:
//
//   python3 test/tools/make_light_ears.py --real small FOLDER
//   npm run bench -- moonshine FOLDER [callers] [workers] [seconds]
//
// The texts are those of a script (moonshine-worker.ts), because random weights would never end one.
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { MoonshineRecogniser } from '../../src/engines/moonshine/moonshine-recogniser.js';
import { writePieces } from './moonshine-folder.js';
import { machine, type Row, table } from './table.js';

const [directory, callersText = '1', workersText = '1', secondsText = '60'] = process.argv.slice(2);
const [callers, workers, seconds] = [callersText, workersText, secondsText].map(Number);
const RATE = 16_000;
const FRAME = RATE / 50;
const TURN_FRAMES = 200; // four seconds of speech
const PAUSE_FRAMES = 10; // after which the turn may be over
const TURN_AND_REST_FRAMES = 250;

/** A frame of a sound that rises and falls as speech does. */
function frame(n: number): Float32Array {
  const loudness = n % TURN_AND_REST_FRAMES < TURN_FRAMES && n % 15 < 11 ? 0.3 : 0.001;
  return Float32Array.from({ length: FRAME }, () => loudness * (2 * Math.random() - 1));
}

/** Speaks as a caller does, and gives the milliseconds from each pause to its text. */
async function call(recogniser: MoonshineRecogniser, first: number, frames: number): Promise<number[]> {
  const ring = PcmRing.open(RATE, RATE * 4);
  const times: number[] = [];
  let pausedAt = 0;
  const session = recogniser.open(
    { sampleRate: RATE, use: 'live', gated: true, partials: true },
    { final: () => undefined, pause: () => times.push(performance.now() - pausedAt) },
  );
  session.push(ring);
  const begin = performance.now();
  for (let n = 0; n < frames; n++) {
    await new Promise((resolve) => setTimeout(resolve, begin + n * 20 - performance.now()));
    const place = (n + first) % TURN_AND_REST_FRAMES;
    ring.write(frame(n + first));
    if (place === 0) session.turn('begin');
    if (place === TURN_FRAMES + PAUSE_FRAMES) {
      pausedAt = performance.now();
      session.turn('pause');
    }
    if (place === TURN_AND_REST_FRAMES - 1) session.turn('end');
  }
  await session.end();
  ring.close();
  return times;
}

if (directory === undefined || callers === undefined || workers === undefined || seconds === undefined)
  throw new Error(
    'the folder of a model must be stated: npm run bench -- moonshine FOLDER [callers] [workers]',
  );
writePieces(directory);
const recogniser = await MoonshineRecogniser.open({
  models: [{ directory, language: 'en' }],
  workers,
  partialIntervalMs: 480,
  maxSessions: 1000,
  stallMs: 60_000,
  workerFile: new URL('./moonshine-worker.js', import.meta.url),
});
await recogniser.load();
const before = process.cpuUsage();
const frames = seconds * 50;
const calls = Array.from({ length: callers }, (_, n) => call(recogniser, n * 61, frames));
const times = (await Promise.all(calls)).flat().toSorted((a, b) => a - b);
const { user, system } = process.cpuUsage(before);
const speaking = (seconds * callers * TURN_FRAMES) / TURN_AND_REST_FRAMES;
const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? NaN).toFixed(0);
const row: Row = {
  callers: String(callers),
  workers: String(workers),
  'most live callers': String(recogniser.mostLive),
  'core per speaking caller': `${(((user + system) / 1e6 / speaking) * 100).toFixed(1)} %`,
  'pause to text p50': `${at(0.5)} ms`,
  p95: `${at(0.95)} ms`,
  'resident memory': `${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
};
console.log(machine());
console.log(table([row]));
await recogniser.close();
