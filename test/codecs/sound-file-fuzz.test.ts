// Damaged sound files of every kind, mostly with other numbers in their headers: each becomes sound, or is
// refused by code, and the decoders serve the next one.
//
//   npm run build && FUZZ_SECONDS=3600 node --test dist/test/codecs/sound-file-fuzz.test.js
//
// FUZZ_SEED begins another series. A failure names the seed and writes the file.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import { ParleyError } from '../../src/errors.js';
import { systemTime } from '../../src/time.js';
import { SoundDecoders } from '../../src/transcribing/sound-decoders.js';
import { decodeReference } from '../../src/voices/reference-decoders.js';
import { mutatedBytes, randomFrom } from '../api/mutations.js';
import { SEED } from '../fakes/long-run.js';
import { KINDS, sampleFile, toneWav } from '../voices/voice-samples.js';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 8);
const MOST_SAMPLES = 4_000_000; // of one file: a damaged one may state hours of silence
const HEADER_BYTES = 128;
const REFUSALS = ['AUDIO_INVALID', 'UNSUPPORTED_MEDIA_TYPE', 'ABORTED'];
const EXTREMES = [
  0, 1, 2, 7, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x00ff_ffff, 0x7fff_ffff, 0x8000_0000,
];

const goods = [
  ...Object.values(KINDS).map((how) => sampleFile(how, { seconds: 0.3, rate: 48_000 })),
  sampleFile(KINDS.flac, { seconds: 0.3, rate: 16_000, channels: 1 }),
  sampleFile(KINDS.mp3, { seconds: 0.3, rate: 16_000, channels: 1 }),
  toneWav({ seconds: 0.2, rate: 8000 }),
];

/** A number of the header becomes an extreme one, or a near one. */
function headerChanged(good: Buffer, random: () => number): Buffer {
  const bytes = Buffer.from(good);
  const size = [1, 2, 4][Math.floor(3 * random())] ?? 1;
  for (let count = 1 + Math.floor(3 * random()); count > 0; count--) {
    const at = Math.floor(random() * (Math.min(HEADER_BYTES, bytes.length) - size));
    const extreme = EXTREMES[Math.floor(random() * EXTREMES.length)] ?? 0xffff_ffff;
    const value = random() < 0.2 ? bytes.readUIntLE(at, size) + 1 : extreme;
    const kept = value % 2 ** (8 * size);
    if (random() < 0.5) bytes.writeUIntLE(kept, at, size);
    else bytes.writeUIntBE(kept, at, size);
  }
  return bytes;
}

function damaged(seed: number): Buffer {
  const random = randomFrom(seed);
  const good = goods[Math.floor(random() * goods.length)] ?? Buffer.alloc(0);
  const changed = random() < 0.7 ? headerChanged(good, random) : Buffer.from(good);
  return random() < 0.5 ? Buffer.from(mutatedBytes(changed, random)) : changed;
}

async function* upload(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 20_000) {
    await Promise.resolve();
    yield bytes.subarray(at, at + 20_000);
  }
}

/** Reads until the end or the limit. */
async function drain(ring: PcmRing): Promise<void> {
  const piece = new Float32Array(16_384);
  for (let count = 0; count < MOST_SAMPLES;) {
    const taken = ring.read(piece);
    if (taken > 0) count += taken;
    else if (taken < 0 || ring.status()?.ended !== false) return;
    else await ring.readable();
  }
  ring.abort();
}

/** Returns the code of the refusal; undefined if it became sound. */
async function outcome(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    assert(error instanceof ParleyError, String((error as Error).stack));
    assert(REFUSALS.includes(error.code), error.message);
    assert(error.message.length < 300, error.message);
    return error.code;
  }
}

test('every damaged sound file becomes sound or is refused by code', async (t) => {
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg: undefined });
  const alive = setInterval(() => undefined, 1000); // rings keep no process alive
  t.after(() => {
    clearInterval(alive);
    return decoders.close();
  });
  const untilMs = performance.now() + 1000 * SECONDS;
  let sounds = 0;
  let seed = SEED;
  for (; performance.now() < untilMs; seed++) {
    const file = damaged(seed);
    try {
      const code = await outcome(async () => {
        const { ring, done } = await decoders.open(upload(file), new AbortController().signal);
        try {
          await drain(ring);
          await done;
        } finally {
          ring.close();
        }
      });
      if (code === undefined) sounds++;
      if (seed % 8 === 0) await outcome(() => decodeReference(file));
    } catch (error) {
      const path = join(tmpdir(), `parley-fuzz-${seed}`);
      writeFileSync(path, file);
      throw new Error(`seed ${seed}, kept as ${path}`, { cause: error });
    }
  }
  t.diagnostic(`${seed - SEED} files, of which ${sounds} became sound`);
  assert(seed - SEED > 10 && sounds > 0);
});
