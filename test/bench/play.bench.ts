// Cost of reading the sound of `play`: processor time, latency and memory of 60 plays, one after the other.
//
//   npm run bench -- play       60 plays a line
//   npm run bench -- play 600   so many
//
// Each line is a process of its own, so that it begins with the same memory. "Same" plays one file again and
// again; "different" plays as many files. The processor time is that of all threads, and the memory is VmRSS
// before the first play, at its highest after a play, and five seconds after the last one.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ReferenceAudio } from '../../src/voices/reference-audio.js';
import { PlayedSounds } from '../../src/voices/references.js';
import { SoundLibrary } from '../../src/voices/sound-library.js';
import { KINDS, sampleFile } from '../voices/voice-samples.js';
import { spreadOf } from './arrivals.js';
import { machine, type Row, table } from './table.js';

const [given = '60', line] = process.argv.slice(2);
const PLAYS = Number(given);
const SECONDS = 3;
const REST_MS = 5000;
const KIND_NAMES = ['wav s16', 'mp3', 'opus', 'flac'] as const;
const NEVER = new AbortController().signal;
const MOST_BYTES = 10 * 1024 * 1024;

function residentMb(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}

/** Files that differ in their length only, by a hundredth of a second each. */
function filesOf(kind: keyof typeof KINDS, count: number): Buffer[] {
  const options = { rate: 16_000, channels: 1 };
  return Array.from({ length: count }, (_, n) =>
    sampleFile(KINDS[kind], { ...options, seconds: SECONDS + n / 100 }),
  );
}

async function measured(kind: keyof typeof KINDS, isSame: boolean): Promise<Row> {
  const files = filesOf(kind, isSame ? 1 : PLAYS);
  const audio = new ReferenceAudio();
  const library = new SoundLibrary({ folder: undefined, audio });
  const sounds = new PlayedSounds({ audio, library, maxBytes: MOST_BYTES, urls: false });
  const before = residentMb();
  const tookMs: number[] = [];
  let highest = before;
  const cpu = process.cpuUsage();
  for (let n = 0; n < PLAYS; n++) {
    const beganMs = performance.now();
    await sounds.read(files[n % files.length] as Buffer, 'audio', NEVER);
    tookMs.push(performance.now() - beganMs);
    highest = Math.max(highest, residentMb());
  }
  const { user, system } = process.cpuUsage(cpu);
  await sleep(REST_MS);
  const after = residentMb();
  await audio.close();
  const { p50, p99, max } = spreadOf(tookMs);
  return {
    file: `${isSame ? 'same' : 'different'}, ${kind}`,
    plays: PLAYS,
    'CPU ms a play': (user + system) / 1000 / PLAYS,
    'p50 ms': p50,
    'p99 ms': p99,
    'max ms': max,
    'RSS before MB': Math.round(before),
    'highest MB': Math.round(highest),
    'after MB': Math.round(after),
  };
}

async function lineOf(name: string): Promise<Row> {
  const child = fork(fileURLToPath(import.meta.url), [given, name], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the line ended with ${code}`)),
  );
  const [row] = (await Promise.race([once(child, 'message'), ended])) as [Row];
  ended.catch(() => undefined);
  return row;
}

if (line === undefined) {
  console.log(`${machine()}; sounds of ${SECONDS} s and more\n`);
  const names = KIND_NAMES.flatMap((kind) => [`same ${kind}`, `different ${kind}`]);
  const rows: Row[] = [];
  for (const name of names) rows.push(await lineOf(name));
  console.log(table(rows));
} else {
  const [which, ...kind] = line.split(' ');
  process.send?.(await measured(kind.join(' ') as keyof typeof KINDS, which === 'same'), () =>
    process.exit(0),
  );
}
