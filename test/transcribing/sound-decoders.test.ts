// What is decoded here, and what goes through ffmpeg.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import { FlacContainer } from '../../src/codecs/flac.js';
import { systemTime } from '../../src/time.js';
import { type Ffmpeg, findFfmpeg } from '../../src/transcribing/ffmpeg.js';
import { SoundDecoders } from '../../src/transcribing/sound-decoders.js';
import { fitTone } from '../audio/tones.js';
import { ManualTime } from '../fakes/manual-time.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { until } from '../fakes/until.js';
import { KINDS, OTHER_KINDS, sampleFile, TONE_HZ, toneWav } from '../voices/voice-samples.js';

// Files of others are none of this test's business.
const folder = mkdtempSync(join(tmpdir(), 'parley-decoders-'));
process.env['TMPDIR'] = folder;
after(() => rmSync(folder, { recursive: true, force: true }));

const NEVER = new AbortController().signal;
const FFMPEG_KINDS = ['mp4', 'aac', 'vorbis'] as const;

async function* upload(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7000) {
    await Promise.resolve();
    yield bytes.subarray(at, at + 7000);
  }
}

function open(t: TestContext, ffmpeg?: Ffmpeg): SoundDecoders {
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg });
  t.after(() => decoders.close());
  return decoders;
}

async function readAll(ring: PcmRing): Promise<Float32Array> {
  const samples: number[] = [];
  const piece = new Float32Array(4096);
  for (;;) {
    const count = ring.read(piece);
    if (count > 0) samples.push(...piece.subarray(0, count));
    else if (count < 0 || ring.status()?.ended !== false) return Float32Array.from(samples);
    else await ring.readable();
  }
}

function leftovers(): string[] {
  return readdirSync(folder);
}

const all = { ...KINDS, ...OTHER_KINDS };
for (const kind of [...Object.keys(KINDS), ...FFMPEG_KINDS] as (keyof typeof all)[]) {
  test(`${kind} becomes the same tone, in mono, twice where that is asked for`, async (t) => {
    const decoders = open(t, findFfmpeg());
    const { ring, copy, done } = await decoders.open(upload(sampleFile(all[kind])), NEVER, true);
    assert(copy !== undefined);
    const [samples, copied] = await Promise.all([readAll(ring), readAll(copy)]);
    await done;
    assert.deepEqual(copied, samples);
    assert(Math.abs(samples.length / ring.rate - 2) < 0.1, String(samples.length / ring.rate));
    const { amplitude, snrDb } = fitTone(samples.subarray(ring.rate / 2, ring.rate), TONE_HZ, ring.rate);
    assert(Math.abs(amplitude - 0.5) < 0.03 && snrDb > 30, `${amplitude} ${snrDb}`);
    ring.close();
    copy.close();
    await until(() => leftovers().length === 0);
  });
}

test('without ffmpeg other kinds are refused by name', async (t) => {
  const file = sampleFile(OTHER_KINDS.mp4, { seconds: 0.5 });
  await assert.rejects(open(t).open(upload(file), NEVER), {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: /the file is MP4 \(M4A\); WAV, MP3, .* are taken, and others where the machine has ffmpeg/,
  });
  assert.equal(findFfmpeg('/nowhere/ffmpeg'), undefined);
});

test('what ffmpeg cannot read is refused in its words, without our path', async (t) => {
  const file = Buffer.concat([Buffer.from('\0\0\0\x18ftypM4A ', 'latin1'), Buffer.alloc(20_000, 7)]);
  const { ring, done } = await open(t, findFfmpeg()).open(upload(file), NEVER);
  await assert.rejects(done, {
    code: 'AUDIO_INVALID',
    message: /^the sound cannot be decoded: (?!.*parley-sound)/,
  });
  assert.equal(ring.status()?.error, 'AUDIO_INVALID');
  ring.close();
});

test('a video without sound, and an ffmpeg that cannot be started, are named', async (t) => {
  const picture = ['-f', 'lavfi', '-i', 'color=size=16x16:duration=1', '-map', '1:v', '-c:v', 'mpeg4'];
  const silent = sampleFile([...picture, '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4']);
  for (const ffmpeg of [findFfmpeg(), { path: '/nowhere/ffmpeg', version: '0' }]) {
    const { ring, done } = await open(t, ffmpeg).open(upload(silent), NEVER);
    await assert.rejects(done, { code: 'AUDIO_INVALID' });
    ring.close();
  }
});

test('an ffmpeg that hangs is ended', async (t) => {
  const path = join(folder, 'hangs.sh');
  writeFileSync(path, '#!/bin/sh\nexec sleep 1000\n', { mode: 0o700 });
  t.after(() => rmSync(path));
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg: { path, version: '0' }, stallMs: 200 });
  t.after(() => decoders.close());
  const { ring, done } = await decoders.open(upload(sampleFile(OTHER_KINDS.mp4)), NEVER);
  await assert.rejects(done, { code: 'AUDIO_INVALID', message: /nothing came within 0\.2 s/ });
  ring.close();
});

test('a sound that is not wanted any more leaves no process and no file', async (t) => {
  const gone = new AbortController();
  const file = sampleFile(OTHER_KINDS.mp4, { seconds: 60 });
  const { ring, done } = await open(t, findFfmpeg()).open(upload(file), gone.signal);
  gone.abort();
  await assert.rejects(done, { code: 'ABORTED' });
  ring.close();
  await until(() => leftovers().length === 0);
});

test('a thread decodes file after file, and ends after a minute without one', async (t) => {
  const time = new ManualTime();
  const decoders = new SoundDecoders({ time, ffmpeg: undefined });
  t.after(() => decoders.close());
  const decode = async () => {
    const { ring, done } = await decoders.open(upload(sampleFile(KINDS['wav s16'])), NEVER);
    await readAll(ring);
    await done;
    await until(() => decoders.size === 0);
  };
  const threads = () => readdirSync('/proc/self/task').length;
  await decode();
  const one = threads();
  await decode();
  assert.equal(threads(), one);
  time.advance(60_000);
  await until(() => threads() < one);
  await decode();
});

/** A WAV file of a short sound that states this rate, as little-endian bytes at 24. */
function wavOf(rate: number): Buffer {
  const wav = Buffer.from(toneWav({ seconds: 0.1 }));
  wav.writeUInt32LE(rate, 24);
  return wav;
}

/** A FLAC file of this rate, which its frames state as well. */
function flacOf(rate: number): Buffer {
  const flac = new FlacContainer(rate);
  const frame = new Float32Array(flac.frameSamples).fill(0.1);
  const frames = Array.from({ length: 20 }, () => Buffer.from(flac.encode(frame, frame.length)));
  return Buffer.concat([flac.header, ...frames, flac.finish()]);
}

const ODD_RATES = [0, 1, 7999, 192_001, 67_108_864, 67_108_865, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

test('a stated sample rate that no sound has refuses the file, and the next file is decoded', async (t) => {
  const decoders = open(t);
  const refused = {
    code: 'AUDIO_INVALID',
    message: /the sample rate of the sound is \d+ Hz; 8000 to 192000 Hz/,
  };
  for (const rate of ODD_RATES)
    await assert.rejects(decoders.open(upload(wavOf(rate)), NEVER, true), refused);
  for (const rate of [400, 7999]) await assert.rejects(decoders.open(upload(flacOf(rate)), NEVER), refused);
  await until(() => decoders.size === 0);
  for (const rate of [8000, 192_000]) {
    const { ring, done } = await decoders.open(upload(wavOf(rate)), NEVER);
    assert.equal(ring.rate, rate);
    await readAll(ring);
    await done;
    ring.close();
  }
});

test('a decoder thread that states an impossible rate fails its sound, and the process goes on', async (t) => {
  for (const rate of ['0', '67108865', 'NaN', '-1', '"x"', 'undefined']) {
    const program = `const { parentPort } = await import('node:worker_threads');
      parentPort.once('message', () => parentPort.postMessage({ type: 'rate', rate: ${rate} }));`;
    const script = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    const decoders = new SoundDecoders({ time: systemTime, ffmpeg: undefined, script });
    t.after(() => decoders.close());
    const rejections = await rejectionsOf(() =>
      assert.rejects(decoders.open(upload(toneWav()), NEVER), { code: 'AUDIO_INVALID' }),
    );
    assert.equal(rejections.length, 1);
    assert.match(String(rejections[0]), /Defect: sound file: the sample rate/);
  }
});
