// Cost of one 20 ms frame on one core: encoding and resampling.
//
//   npm run bench -- encode
//
// Five seconds of a voice-like sound, the median of several runs.
import { Resampler } from '../../src/audio/resampler.js';
import { OPUS, PCMU, type Codec } from '../../src/codecs/codec.js';
import { frameEncoder } from '../../src/codecs/frame-encoder.js';
import { OPUS_SPEECH, type OpusSettings } from '../../src/codecs/opus.js';
import { voiceLike } from '../audio/tones.js';

const SECONDS = 5;
const FRAMES = SECONDS * 50;
const RUNS = 7;

interface Row {
  readonly name: string;
  readonly microseconds: number;
  readonly note: string;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}

/** Median microseconds of one call of `frame`, which is given the number of the frame. */
function measure(frame: (index: number) => void): number {
  const runs: number[] = [];
  for (let run = 0; run <= RUNS; run++) {
    const before = process.hrtime.bigint();
    for (let index = 0; index < FRAMES; index++) frame(index);
    const after = process.hrtime.bigint();
    if (run > 0) runs.push(Number(after - before) / 1000 / FRAMES); // the first run warms up
  }
  return median(runs);
}

function encoding(name: string, codec: Codec, settings: OpusSettings): Row {
  const encoder = frameEncoder(codec, 20, settings);
  const sound = voiceLike(codec.sampleRate, SECONDS);
  const frame = new Float32Array(encoder.frameSamples);
  let bytes = 0;
  const microseconds = measure((index) => {
    const at = index * encoder.frameSamples;
    for (let i = 0; i < frame.length; i++) frame[i] = sound[at + i] as number;
    bytes += encoder.encode(frame).length;
  });
  return { name, microseconds, note: `${Math.round(bytes / FRAMES / (RUNS + 1))} bytes` };
}

function resampling(from: number, to: number): Row {
  const resampler = new Resampler(from, to);
  const count = from / 50;
  const sound = voiceLike(from, SECONDS);
  const chunk = new Float32Array(count);
  const output = new Float32Array(resampler.maxOutput(count));
  const microseconds = measure((index) => {
    for (let i = 0; i < count; i++) chunk[i] = sound[index * count + i] as number;
    resampler.process(chunk, count, output);
  });
  return { name: `resample ${from} to ${to} Hz`, microseconds, note: '' };
}

function rows(): Row[] {
  const table: Row[] = [];
  for (const application of ['audio', 'voip'] as const) {
    for (const complexity of [0, 3, 5, 6, 7, 9, 10]) {
      for (const bitsPerSecond of [24_000, 32_000, 64_000]) {
        const name = `Opus ${application}, complexity ${complexity}, ${bitsPerSecond / 1000} kb/s`;
        table.push(encoding(name, OPUS, { ...OPUS_SPEECH, application, complexity, bitsPerSecond }));
      }
    }
  }
  const fec = { ...OPUS_SPEECH, application: 'voip' as const, inBandFec: true, expectedLossPercent: 10 };
  table.push(encoding('Opus voip, complexity 5, with error correction', OPUS, fec));
  table.push(encoding('PCMU', PCMU, OPUS_SPEECH));
  for (const [from, to] of [
    [16_000, 48_000],
    [16_000, 8000],
    [22_050, 48_000],
    [24_000, 48_000],
    [24_000, 8000],
  ] as const) {
    table.push(resampling(from, to));
  }
  return table;
}

console.log('| 20 ms of sound | µs, median of 7 | streams a core | |');
console.log('|---|--:|--:|---|');
for (const { name, microseconds, note } of rows()) {
  console.log(`| ${name} | ${microseconds.toFixed(1)} | ${Math.floor(20_000 / microseconds)} | ${note} |`);
}
