// A text as every format, from the engine through the encoder worker to the
// reader, while it is still being spoken; decoded by ffmpeg.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { watchedHandles } from '../../src/audio/ready.js';
import { AUDIO_FORMATS, hasRate, type AudioFormat } from '../../src/speaking/audio-format.js';
import { SENTENCE_PAUSE_MS } from '../../src/speaking/speech-pipeline.js';
import { SpeechService, type SpeechStream } from '../../src/speaking/speech-stream.js';
import { AAC_FRAME_SAMPLES } from '../../src/codecs/aac.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { decoded } from '../fakes/ffmpeg.js';
import { buzz, ScriptedEngine } from '../fakes/engines.js';

const LIMITS = { maxTextLength: 4096, textIdleMs: 1000 };
const SENTENCE_MS = 600;
const TEXT = 'One here. Two here.';
const WHOLE_MS = 2 * SENTENCE_MS + SENTENCE_PAUSE_MS;

let encoders: EncoderPool;

before(async () => {
  encoders = new EncoderPool({ workers: 1 });
  await encoders.ready();
});
after(() => encoders.close());

/** An engine that says two sentences, the second of them once it is let. */
function twoSentences(): { engine: ScriptedEngine; letSecond: () => void } {
  const engine = new ScriptedEngine();
  for (const text of ['One here.', 'Two here.']) engine.sounds.set(text, buzz(SENTENCE_MS, 0.25));
  let letSecond!: () => void;
  const second = new Promise<void>((resolve) => (letSecond = resolve));
  engine.gate = (text) => (text === 'Two here.' ? second : Promise.resolve());
  return { engine, letSecond };
}

function open(
  engine: ScriptedEngine,
  format: AudioFormat,
  rate: number,
  speed: number,
): Promise<SpeechStream> {
  const request = { text: TEXT, format, sampleRate: rate, speed };
  return new SpeechService(engine, encoders, LIMITS).openStream(request, new AbortController().signal);
}

function rawArgs({ raw }: AudioFormat, rate: number): readonly string[] {
  return raw === undefined ? [] : ['-f', raw.encoding, '-ar', String(rate), '-ac', '1'];
}

async function hears(format: AudioFormat, rate: number, speed: number): Promise<void> {
  const where = `${format.name} at ${rate} Hz, speed ${speed}`;
  const { engine, letSecond } = twoSentences();
  const stream = await open(engine, format, rate, speed);
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) {
    if (chunks.length === 0) letSecond(); // held until bytes of the first are here
    chunks.push(chunk);
  }
  assert.ok(chunks.length > 1, where);
  const heardHz = format.container === 'ogg' ? 48_000 : rate;
  const sound = decoded(Buffer.concat(chunks), rawArgs(format, rate));
  const mostBeyondMs = { mp3: 380, aac: (2 * AAC_FRAME_SAMPLES * 1000) / rate }[format.name] ?? 1;
  const beyondMs = (sound.length * 1000) / heardHz - WHOLE_MS / speed;
  assert.ok(beyondMs > -1 && beyondMs < mostBeyondMs, `${beyondMs} ms too many: ${where}`);
}

for (const format of AUDIO_FORMATS) {
  test(`${format.name} is there before the last sentence is spoken, and decodes to the whole text`, async () => {
    for (const rate of [8000, 16_000, 24_000, 48_000]) {
      if (hasRate(format, rate)) await hears(format, rate, 1);
    }
    for (const speed of [0.25, 0.5, 2, 4]) await hears(format, format.defaultRate, speed);
  });
}

test('a stream that is given up midway frees its encoder session, in every format', async () => {
  for (const format of AUDIO_FORMATS) {
    const { engine } = twoSentences();
    const stream = await open(engine, format, format.defaultRate, 1.5);
    for await (const chunk of stream) {
      assert.ok(chunk.length > 0);
      break;
    }
  }
  while (encoders.sessions.some((count) => count > 0) || watchedHandles() > 0)
    await new Promise(setImmediate);
});

test('an unusual rate of every format that has it is met to the sample', async () => {
  for (const format of AUDIO_FORMATS) {
    if (hasRate(format, 13_325)) await hears(format, 13_325, 1);
  }
});
