// A voice and a recogniser on one device, whose thread serves both: neither changes what the other computes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { readWav } from '../../src/codecs/wav.js';
import type { NativeEngine } from '../../src/engines/native/native-engine.js';
import { openQwen3 } from '../../src/engines/qwen3/qwen3.js';
import { Qwen3Recogniser } from '../../src/engines/qwen3/qwen3-recogniser.js';
import { GOLDEN } from './golden.js';
import { readAll } from './read-ring.js';

const ROUNDS = 4;
const DEVICE = { device: 'cpu', threads: 2, cores: [] } as const;

async function openVoice(t: TestContext): Promise<NativeEngine> {
  const engine = await openQwen3({
    native: {
      ...DEVICE,
      directory: join(GOLDEN, 'tiny-customvoice'),
      quantize: 'none',
      maxStreams: 4,
      maxNewTokens: 0,
      maxVoices: 4,
      warmUp: false,
    },
    maxWaiting: 8,
    renderTimeoutMs: 20_000,
  });
  t.after(() => engine.close());
  await engine.load();
  return engine;
}

async function openRecogniser(t: TestContext): Promise<Qwen3Recogniser> {
  const native = {
    ...DEVICE,
    directory: join(GOLDEN, 'tiny-asr-a'),
    quantize: 'none',
    warmUp: false,
  } as const;
  const recogniser = await Qwen3Recogniser.open({ native, maxSessions: 8, stallMs: 20_000 });
  t.after(() => recogniser.close());
  await recogniser.load();
  return recogniser;
}

async function speak(engine: NativeEngine): Promise<Float32Array> {
  const ring = PcmRing.open(24_000, 24_000);
  try {
    const request = {
      text: 'Hello there.',
      voice: 'serena',
      language: 'en',
      options: { seed: 7, maxNewTokens: 40 },
    };
    const never = new AbortController().signal;
    const [{ samples }] = await Promise.all([readAll(ring), engine.synthesize(request, ring, never)]);
    return samples;
  } finally {
    ring.close();
  }
}

function sound(): Float32Array {
  const wav = readWav(readFileSync(join(GOLDEN, 'clips', 'en91.wav')));
  const samples = new Float32Array(wav.frames);
  wav.read(0, 0, samples);
  return samples;
}

async function recognise(recogniser: Qwen3Recogniser, samples: Float32Array): Promise<readonly string[]> {
  const texts: string[] = [];
  const ring = PcmRing.open(16_000, samples.length);
  try {
    const session = recogniser.open(
      { sampleRate: 16_000, use: 'file' },
      { final: ({ text }) => texts.push(text), partial: () => undefined },
    );
    ring.write(samples);
    ring.end();
    session.push(ring);
    await session.ended;
    return texts;
  } finally {
    ring.close();
  }
}

async function repeated<T>(work: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let round = 0; round < ROUNDS; round++) results.push(await work());
  return results;
}

test('a voice beside a recogniser is the voice alone, and the recogniser the recogniser alone', async (t) => {
  const [voice, recogniser] = [await openVoice(t), await openRecogniser(t)];
  assert.equal(voice.device().name, recogniser.device);
  const samples = sound();
  const alone = { sound: await speak(voice), texts: await recognise(recogniser, samples) };
  assert.ok(alone.sound.length > 0 && alone.texts.join('').length > 0);
  const [sounds, texts] = await Promise.all([
    repeated(() => speak(voice)),
    repeated(() => recognise(recogniser, samples)),
  ]);
  for (const one of sounds) assert.deepEqual(one, alone.sound);
  for (const one of texts) assert.deepEqual(one, alone.texts);
});

test('each model is unloaded by itself, while the other goes on', async (t) => {
  const [voice, recogniser] = [await openVoice(t), await openRecogniser(t)];
  const samples = sound();
  const [before] = await Promise.all([recognise(recogniser, samples), voice.unload()]);
  assert.deepEqual([voice.loaded, recogniser.loaded], [false, true]);
  const [spoken, after] = await Promise.all([speak(voice), recognise(recogniser, samples)]);
  assert.ok(spoken.length > 0);
  assert.deepEqual(after, before);
  await recogniser.unload();
  assert.deepEqual([voice.loaded, recogniser.loaded], [true, false]);
  assert.deepEqual(await speak(voice), spoken);
});
