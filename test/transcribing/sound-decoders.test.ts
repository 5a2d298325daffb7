// Some kinds of sound are decoded here, and others go through ffmpeg.
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
import { randomFrom } from '../api/mutations.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { until } from '../fakes/until.js';
import { KINDS, OTHER_KINDS, sampleFile, TONE_HZ, toneWav } from '../voices/voice-samples.js';
import { channelsAu, channelsWav, tone } from './two-channels.js';

// Files of others are none of this test's business.
const folder = mkdtempSync(join(tmpdir(), 'parley-decoders-'));
process.env['TMPDIR'] = folder;
after(() => rmSync(folder, { recursive: true, force: true }));

const NEVER = new AbortController().signal;

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
for (const kind of Object.keys(all) as (keyof typeof all)[]) {
  test(`${kind} becomes the same tone, in mono, twice where that is asked for`, async (t) => {
    const decoders = open(t, findFfmpeg());
    const { ring, copy, done } = await decoders.open(upload(sampleFile(all[kind])), NEVER, true);
    assert(copy !== undefined);
    const [samples, copied] = await Promise.all([readAll(ring), readAll(copy)]);
    await done;
    assert.deepEqual(copied, samples);
    assert(Math.abs(samples.length / ring.rate - 2) < 0.1, String(samples.length / ring.rate));
    const { amplitude, snrDb } = fitTone(samples.subarray(ring.rate / 2, ring.rate), TONE_HZ, ring.rate);
    const least = kind === 'wav GSM' || kind === 'wav ADPCM' ? 10 : 30; // their noise
    assert(Math.abs(amplitude - 0.5) < 0.05 && snrDb > least, `${amplitude} ${snrDb}`);
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

test('what ffmpeg cannot read is refused in our words', async (t) => {
  const file = Buffer.concat([Buffer.from('\0\0\0\x18ftypM4A ', 'latin1'), Buffer.alloc(20_000, 7)]);
  const { ring, done } = await open(t, findFfmpeg()).open(upload(file), NEVER);
  await assert.rejects(done, {
    code: 'AUDIO_INVALID',
    message: 'the MP4 (M4A) file cannot be decoded: it is damaged, or its encoding is not known',
  });
  assert.equal(ring.status()?.error, 'AUDIO_INVALID');
  ring.close();
});

test('a video without sound, and an ffmpeg that cannot be started, are named', async (t) => {
  const picture = ['-f', 'lavfi', '-i', 'color=size=16x16:duration=1', '-map', '1:v', '-c:v', 'mpeg4'];
  const silent = sampleFile([...picture, '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4']);
  for (const [ffmpeg, refused] of [
    [findFfmpeg(), { code: 'AUDIO_INVALID', message: 'the file has no sound' }],
    [
      { path: '/nowhere/ffmpeg', version: '0' },
      { code: 'DECODER_FAILED', message: /cannot be started/ },
    ],
  ] as const) {
    const { ring, done } = await open(t, ffmpeg).open(upload(silent), NEVER);
    await assert.rejects(done, refused);
    ring.close();
  }
});

test('an ffmpeg that is killed is no fault of the file', async (t) => {
  for (const last of ['kill -9 $$', 'echo "Exiting normally, received signal 15." >&2; exit 255']) {
    const path = join(folder, 'killed.sh');
    writeFileSync(path, `#!/bin/sh\n${last}\n`, { mode: 0o700 });
    const { ring, done } = await open(t, { path, version: '0' }).open(
      upload(sampleFile(OTHER_KINDS.mp4)),
      NEVER,
    );
    await assert.rejects(done, { code: 'DECODER_FAILED', message: /killed .* no fault of the file/ });
    ring.close();
    rmSync(path);
  }
});

test('a file that no decoder reads is refused by the first one, and ffmpeg is not quoted', async (t) => {
  const wav = Buffer.from(toneWav({ seconds: 0.5 }));
  wav.writeUInt16LE(0x1234, 20); // an encoding that does not exist
  const decoders = open(t, findFfmpeg());
  const { ring, done } = await decoders.open(upload(wav), NEVER);
  await assert.rejects(done, { code: 'AUDIO_INVALID', message: /its encoding \(4660\) is neither PCM/ });
  ring.close();
});

test('without ffmpeg an encoding that is not decoded here is named with what is missing', async (t) => {
  for (const [kind, message] of [
    ['wav ADPCM', /its encoding \(2\) is neither PCM nor float nor G\.711; .* where the machine has ffmpeg/],
    ['webm vorbis', /the sound of the WebM file is vorbis, not Opus; .* where the machine has ffmpeg/],
  ] as const) {
    const opening = open(t).open(upload(sampleFile(OTHER_KINDS[kind], { seconds: 0.5 })), NEVER);
    await assert.rejects(opening, { code: 'AUDIO_INVALID', message });
  }
  for (const [kind, name] of [
    ['ts', 'MPEG transport stream'],
    ['ac3', 'AC-3'],
    ['au', 'AU'],
    ['w64', 'Wave64'],
  ] as const) {
    const opening = open(t).open(upload(sampleFile(OTHER_KINDS[kind], { seconds: 0.5 })), NEVER);
    await assert.rejects(opening, {
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: new RegExp(`the file is ${name};`),
    });
  }
});

test('what comes before an MP3 file is left out', async (t) => {
  const mp3 = sampleFile(KINDS.mp3, { seconds: 1 });
  const random = randomFrom(5);
  const noise = Buffer.from(Array.from({ length: 60_000 }, () => Math.floor(256 * random())));
  const tag = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x05', 'latin1'), Buffer.alloc(5)]);
  for (const junk of [Buffer.alloc(3000), noise, Buffer.concat([tag, tag, Buffer.alloc(500)])]) {
    const { ring, done } = await open(t).open(upload(Buffer.concat([junk, mp3])), NEVER);
    const samples = await readAll(ring);
    await done;
    assert(Math.abs(samples.length / ring.rate - 1) < 0.1, String(samples.length / ring.rate));
    ring.close();
  }
  await assert.rejects(open(t).open(upload(noise), NEVER), { code: 'UNSUPPORTED_MEDIA_TYPE' });
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

const KINDS_OF_CHANNELS = [
  ['here', channelsWav],
  ['by ffmpeg', channelsAu],
] as const;
for (const [where, fileOf] of KINDS_OF_CHANNELS) {
  test(`one channel of a stereo file is decoded by itself, ${where}`, async (t) => {
    const decoders = open(t, findFfmpeg());
    const read = async (file: Uint8Array, channel?: number) => {
      const { ring, channels, done } = await decoders.open(upload(file), NEVER, false, channel);
      const samples = await readAll(ring);
      await done;
      const snrDb = (hz: number) => fitTone(samples.subarray(4000, 12_000), hz, ring.rate).snrDb;
      ring.close();
      return { channels: channels(), seconds: samples.length / ring.rate, snrDb };
    };
    const [low, high] = [tone(440, 1), tone(1000, 1)];
    const stereo = fileOf([low, high]);
    const [left, right] = [await read(stereo, 0), await read(stereo, 1)];
    assert.deepEqual([left.channels, right.channels, left.seconds, right.seconds], [2, 2, 1, 1]);
    assert.ok(left.snrDb(440) > 50 && right.snrDb(1000) > 50);
    assert.equal((await read(stereo)).channels, undefined);
    assert.equal((await read(fileOf([low]), 0)).channels, 1, 'mono');
    assert.equal((await read(fileOf([low, low]), 0)).channels, 1, 'the same in both');
  });
}

for (const [where, fileOf] of KINDS_OF_CHANNELS)
  test(`a channel of a file with more than two is refused, and their mix is not, ${where}`, async (t) => {
    const decoders = open(t, findFfmpeg());
    const file = fileOf([tone(440, 0.1), tone(500, 0.1), tone(600, 0.1)]);
    const opened = await decoders.open(upload(file), NEVER, false, 0);
    await assert.rejects(opened.done, {
      code: 'AUDIO_INVALID',
      message: 'the file has 3 channels: speakers are told apart in a file of two',
    });
    opened.ring.close();
    const { ring, done } = await decoders.open(upload(file), NEVER);
    assert.equal((await readAll(ring)).length, 1600);
    await done;
    ring.close();
  });
