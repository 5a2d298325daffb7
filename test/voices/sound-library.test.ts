// Sounds by name: files of a folder, decoded once, and a tune of our own.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { soundPiece } from '../../src/speaking/speech-piece.js';
import { type DecodedSound, ReferenceAudio } from '../../src/voices/reference-audio.js';
import { SoundLibrary } from '../../src/voices/sound-library.js';
import { findTones } from '../../src/media/tone-events.js';
import { wavOf } from './wav-file.js';

interface Opened {
  readonly folder: string;
  readonly library: SoundLibrary;
  /** Files that were decoded. */
  readonly decoded: () => number;
}

function openLibrary(t: TestContext, limits: { maxFileBytes?: number; cacheBytes?: number } = {}): Opened {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sounds-'));
  const audio = new ReferenceAudio();
  t.after(async () => {
    await audio.close();
    rmSync(folder, { recursive: true });
  });
  let decoded = 0;
  const counted = {
    decodeForLibrary: (...file: Parameters<ReferenceAudio['decodeForLibrary']>): Promise<DecodedSound> => {
      decoded++;
      return audio.decodeForLibrary(...file);
    },
  };
  const library = new SoundLibrary({ folder, audio: counted, ...limits });
  return { folder, library, decoded: () => decoded };
}

/** Whole periods of 100 Hz in 16 bits. */
function sine(seconds: number, rate: number): Int16Array {
  return Int16Array.from({ length: seconds * rate }, (_, n) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 100 * n) / rate)),
  );
}

test('a file is decoded once for all who ask, at its own rate and to the last sample', async (t) => {
  const { folder, library, decoded } = openLibrary(t);
  for (const rate of [8000, 44_100, 48_000]) {
    const samples = sine(0.5, rate);
    writeFileSync(join(folder, `music ${rate}.wav`), wavOf(samples, rate));
    const asked = () => library.sound(`music ${rate}.wav`, 'music');
    const [one, two] = await Promise.all([asked(), asked()]);
    const three = await asked();
    assert.equal(one.samples, two.samples);
    assert.equal(one.samples, three.samples);
    assert.equal(one.sampleRate, rate);
    assert.deepEqual(
      Int16Array.from(one.samples, (sample) => Math.round(sample * 32_768)),
      samples,
    );
  }
  assert.equal(decoded(), 3);
});

test('a sound that is played again begins with the sample behind its last one', async (t) => {
  const { folder, library } = openLibrary(t);
  const samples = sine(0.1, 16_000);
  writeFileSync(join(folder, 'loop.wav'), wavOf(samples, 16_000));
  const sound = await library.sound('loop.wav', 'music');
  const ring = PcmRing.open(sound.sampleRate, 16_000);
  t.after(() => ring.close());
  const end = await soundPiece({ ...sound, times: 3 }).write(
    ring,
    new AbortController().signal,
    () => undefined,
  );
  assert.equal(end.samples, 3 * samples.length);
  const played = new Float32Array(3 * samples.length);
  assert.equal(ring.read(played), played.length);
  for (const [n, sample] of played.entries()) assert.equal(sample, sound.samples[n % samples.length]);
});

test('a sound that is played for ever ends when it is interrupted, and two players have places of their own', async (t) => {
  const { library } = openLibrary(t);
  const controller = new AbortController();
  const rings = [1, 2].map(() => PcmRing.open(library.tune.sampleRate, 1000));
  const runs = rings.map((ring) =>
    soundPiece({ ...library.tune, times: Infinity }).write(ring, controller.signal, () => undefined),
  );
  const [first, second] = rings;
  assert.equal(first?.read(new Float32Array(600)), 600);
  await new Promise((resolve) => setImmediate(resolve));
  const here = new Float32Array(200);
  const there = new Float32Array(200);
  assert.equal(first?.read(here), 200);
  assert.equal(second?.read(there), 200);
  assert.deepEqual(here, library.tune.samples.subarray(600, 800));
  assert.deepEqual(there, library.tune.samples.subarray(0, 200));
  controller.abort();
  for (const run of runs) await assert.rejects(run, { code: 'ABORTED' });
  for (const ring of rings) ring.close();
});

test('a name that is a path, a link, a folder or nothing is refused by name', async (t) => {
  const { folder, library } = openLibrary(t);
  symlinkSync('/etc/hostname', join(folder, 'link.wav'));
  execFileSync('mkfifo', [join(folder, 'pipe.wav')]);
  for (const name of [
    '../a.wav',
    '/etc/hostname',
    '.hidden',
    'a/b.wav',
    'a..wav',
    '',
    'x'.repeat(101),
    'a\0.wav',
  ]) {
    await assert.rejects(library.sound(name, 'music'), {
      code: 'INVALID_FIELD',
      field: 'music',
      message: '"music" must be the name of a file, without a path',
    });
  }
  for (const name of ['link.wav', 'pipe.wav', 'absent.wav']) {
    await assert.rejects(library.sound(name, 'music'), {
      code: 'INVALID_FIELD',
      message: `there is no sound "${name}" on this server`,
    });
  }
});

test('without a folder there is only the tune', async (t) => {
  const audio = new ReferenceAudio();
  t.after(() => audio.close());
  const library = new SoundLibrary({ folder: undefined, audio });
  assert.equal(await library.sound(undefined, 'music'), library.tune);
  await assert.rejects(library.sound('a.wav', 'music'), { code: 'INVALID_FIELD', message: /SOUNDS_DIR/ });
});

test('what is no sound, too big or too long is refused, and does not stay', async (t) => {
  const { folder, library, decoded } = openLibrary(t, { maxFileBytes: 10_000_000 });
  writeFileSync(join(folder, 'text.wav'), 'this is no sound');
  writeFileSync(join(folder, 'big.wav'), Buffer.alloc(10_000_001));
  writeFileSync(join(folder, 'long.wav'), wavOf(new Int16Array(601 * 8000), 8000));
  for (let n = 0; n < 2; n++)
    await assert.rejects(library.sound('text.wav', 'music'), { code: 'AUDIO_INVALID', field: 'music' });
  assert.equal(decoded(), 2);
  await assert.rejects(library.sound('big.wav', 'music'), { code: 'TOO_LARGE', message: /10000001 bytes/ });
  await assert.rejects(library.sound('long.wav', 'music'), {
    code: 'AUDIO_INVALID',
    message: /longer than 600 s/,
  });
});

test('a file that changes is decoded anew, and who plays it keeps what it has', async (t) => {
  const { folder, library, decoded } = openLibrary(t);
  const path = join(folder, 'music.wav');
  writeFileSync(path, wavOf(sine(0.1, 8000), 8000));
  const before = await library.sound('music.wav', 'music');
  const kept = before.samples.slice();
  writeFileSync(path, wavOf(new Int16Array(1600).fill(1000), 8000));
  utimesSync(path, 1000, 1000);
  const after = await library.sound('music.wav', 'music');
  assert.equal(after.samples.length, 1600);
  assert.deepEqual(before.samples, kept);
  assert.equal(decoded(), 2);
});

test('sounds beyond the memory for them are forgotten, the oldest first', async (t) => {
  const { folder, library, decoded } = openLibrary(t, { cacheBytes: 2 * 800 * 4 });
  for (const name of ['a.wav', 'b.wav', 'c.wav'])
    writeFileSync(join(folder, name), wavOf(sine(0.1, 8000), 8000));
  for (const name of ['a.wav', 'b.wav', 'a.wav', 'c.wav', 'a.wav', 'c.wav'])
    await library.sound(name, 'music');
  assert.equal(decoded(), 3);
  await library.sound('b.wav', 'music');
  assert.equal(decoded(), 4);
});

test('the tune joins its end to its beginning, and holds no tone that a detector knows', () => {
  const { samples, sampleRate } = new SoundLibrary({
    folder: undefined,
    audio: { decodeForLibrary: () => assert.fail('the tune is made') },
  }).tune;
  const step = (a = 0, b = 0) => Math.abs(a - b);
  const most = samples.reduce(
    (largest, sample, n) => Math.max(largest, n === 0 ? 0 : step(sample, samples[n - 1])),
    0,
  );
  assert.ok(step(samples[0], samples.at(-1)) <= most);
  assert.ok(samples.every((sample) => Math.abs(sample) < 0.7));
  const { keys, tones } = findTones(samples, sampleRate, 'US');
  assert.deepEqual([keys, tones], [[], []]);
});
