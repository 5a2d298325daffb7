// Runs what a first call would run, so that it is loaded, compiled and tabled
// before one comes: some 100 ms that nobody then waits for.
import { Resampler } from '../audio/resampler.js';
import { TimeStretch } from '../audio/time-stretch.js';
import { CODECS, samplesPerFrame, type Codec } from '../codecs/codec.js';
import type { ContainerName } from '../codecs/container.js';
import { openContainer } from '../codecs/container-makers.js';
import { EncoderShelf, frameEncoder } from '../codecs/frame-encoder.js';
import { OPUS_SPEECH } from '../codecs/opus.js';
import { CHUNK_SAMPLES } from './segment-sound.js';

const ENGINE_RATES_HZ = [16_000, 22_050, 24_000]; // flite, espeak, qwen3
const HTTP_RATE_HZ = 24_000;
const FRAME_MS = 20;
const FRAMES = 25; // enough for the compiler to take notice

export function warmUp(): void {
  const sound = Float32Array.from({ length: CHUNK_SAMPLES }, (_, n) => 0.3 * Math.sin(n * n));
  for (const codec of Object.values(CODECS)) {
    for (const rate of ENGINE_RATES_HZ) resample(sound, rate, codec.sampleRate);
    encode(codec);
  }
  for (const name of ['mp3', 'aac', 'flac'] as const) pack(name);
  stretch(sound);
}

function resample(sound: Float32Array, from: number, to: number): void {
  const resampler = new Resampler(from, to);
  const output = new Float32Array(resampler.maxOutput(CHUNK_SAMPLES));
  for (let frame = 0; frame < FRAMES; frame++) resampler.process(sound, CHUNK_SAMPLES, output);
}

/** For HTTP: MP3, the format of requests that name none, has a program to load, and so has AAC. */
function pack(name: ContainerName): void {
  const container = openContainer(name, HTTP_RATE_HZ, {
    opus: OPUS_SPEECH,
    shelf: new EncoderShelf(),
    serial: 0,
  });
  const frame = Float32Array.from({ length: container.frameSamples }, (_, n) => 0.3 * Math.sin(n / 9));
  for (let count = 0; count < FRAMES; count++) container.encode(frame, frame.length);
  container.finish();
  container.close();
}

function stretch(sound: Float32Array): void {
  const slower = new TimeStretch(HTTP_RATE_HZ, 0.8);
  const output = new Float32Array(slower.maxOutput(CHUNK_SAMPLES));
  for (let frame = 0; frame < FRAMES; frame++) slower.process(sound, CHUNK_SAMPLES, output);
}

function encode(codec: Codec): void {
  const encoder = frameEncoder(codec, FRAME_MS, OPUS_SPEECH);
  const frame = Float32Array.from(
    { length: samplesPerFrame(codec, FRAME_MS) },
    (_, n) => 0.3 * Math.sin(n / 9),
  );
  for (let count = 0; count < FRAMES; count++) encoder.encode(frame);
}
