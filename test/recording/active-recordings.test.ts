// Sound from rings into files, on a manual clock.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { readWav } from '../../src/codecs/wav.js';
import { endingOf } from '../../src/recording/recording-ending.js';
import { probed } from '../fakes/ffmpeg.js';
import { decibels, noise, rms, tone, voiceLike } from '../audio/tones.js';
import { fileAt, ActiveRecordingsUnderTest, openRing } from './active-recordings-under-test.js';
import { in16Bits, interleaved, opusChannels, wavChannels } from './recorded-sound.js';

const SECOND = 16_000; // frames

test('a WAV holds every sample of both channels in its place, and a true header', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open();
  const [caller, ours] = [noise(3 * SECOND + 77, 0.9, 1), noise(3 * SECOND + 77, 1.2, 2)];
  under.play(ring, interleaved(caller, ours));
  const result = await under.stop(id);
  assert.deepEqual(result, { end: 'stopped', frames: 3 * SECOND + 77, bytes: 44 + 4 * (3 * SECOND + 77) });
  const file = fileAt(path);
  assert.equal(file.length, result.bytes);
  const view = new DataView(file.buffer);
  assert.deepEqual([view.getUint32(4, true), view.getUint32(40, true)], [file.length - 8, file.length - 44]);
  const heard = wavChannels(file);
  assert.deepEqual(heard.caller, in16Bits(caller));
  assert.deepEqual(heard.ours, in16Bits(ours));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.ok(!existsSync(`${path}.part`));
  assert.deepEqual(probed(file), { format: 'wav', codec: 'pcm_s16le', rate: SECOND, channels: 2 });
});

test('an Ogg Opus file has the same length, and each voice in its own channel only', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open({ format: 'opus' });
  const voice = voiceLike(SECOND, 2);
  const silence = new Float32Array(2 * SECOND);
  const ending = new Float32Array(123);
  under.play(ring, interleaved(voice, silence));
  under.play(ring, interleaved(silence, voice));
  under.play(ring, interleaved(ending, ending));
  assert.equal((await under.stop(id)).frames, 4 * SECOND + 123);
  const file = fileAt(path);
  const heard = await opusChannels(file);
  assert.deepEqual([heard.rate, heard.caller.length], [48_000, 3 * (4 * SECOND + 123)]);
  const level = (samples: Float32Array, fromMs: number, toMs: number) =>
    decibels(rms(samples.subarray(48 * fromMs, 48 * toMs)));
  assert.ok(Math.abs(level(heard.caller, 0, 2000) - decibels(rms(voice))) < 1, 'the caller is as loud');
  assert.ok(Math.abs(level(heard.ours, 2000, 4000) - decibels(rms(voice))) < 1, 'we are as loud');
  assert.ok(level(heard.ours, 0, 1990) < decibels(rms(voice)) - 40, `${level(heard.ours, 0, 1990)} dB`);
  assert.ok(
    level(heard.caller, 2010, 4000) < decibels(rms(voice)) - 40,
    `${level(heard.caller, 2010, 4000)} dB`,
  );
  assert.equal(probed(file).channels, 2);
});

test('a click on each side is recorded within 1 ms of its moment, in both formats', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const [caller, ours] = [new Float32Array(2 * SECOND), new Float32Array(2 * SECOND)];
  caller[10_000] = ours[10_000] = 0.9;
  ours[20_000] = 0.9;
  for (const format of ['wav', 'opus'] as const) {
    const { id, ring, path } = under.open({ format });
    under.play(ring, interleaved(caller, ours));
    await under.stop(id);
    const heard = format === 'wav' ? wavChannels(fileAt(path)) : await opusChannels(fileAt(path));
    const peakMs = (samples: Float32Array, fromMs: number, toMs: number) => {
      const part = samples.subarray((fromMs * heard.rate) / 1000, (toMs * heard.rate) / 1000);
      const peak = part.reduce(
        (best, sample, at) => (Math.abs(sample) > Math.abs(part[best] ?? 0) ? at : best),
        0,
      );
      return fromMs + (1000 * peak) / heard.rate;
    };
    for (const [samples, atMs] of [
      [heard.caller, 625],
      [heard.ours, 625],
      [heard.ours, 1250],
    ] as const) {
      const foundMs = peakMs(samples, atMs - 100, atMs + 100);
      assert.ok(Math.abs(foundMs - atMs) <= 1, `${format}: ${foundMs} ms, not ${atMs}`);
    }
  }
});

test('at every moment the file on disk plays to within 2 s of the sound, and its header is true', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const wav = under.open();
  const opus = under.open({ format: 'opus' });
  const sound = interleaved(noise(SECOND / 4, 0.5, 3), noise(SECOND / 4, 0.5, 4));
  for (let fedMs = 250; fedMs <= 5000; fedMs += 250) {
    wav.ring.write(sound);
    opus.ring.write(sound);
    under.time.advance(250);
    const file = fileAt(`${wav.path}.part`);
    const { caller } = wavChannels(file);
    assert.equal(caller.length, (file.length - 44) / 4, 'the header states what is there');
    assert.ok(caller.length / 16 >= fedMs - 2000, `${fedMs} ms: ${caller.length / 16} ms`);
    const heard = fedMs < 2000 ? 0 : (await opusChannels(fileAt(`${opus.path}.part`))).caller.length / 48;
    assert.ok(heard >= fedMs - 2000, `${fedMs} ms: ${heard} ms of Opus`);
  }
  assert.ok(under.posted.filter(({ type }) => type === 'grown').length >= 4);
});

test('a pause is silence from its moment to the resumption, however late the worker reads', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open();
  const sound = tone(440, SECOND, 2 * SECOND, 0.5, 0.1);
  ring.write(interleaved(sound.subarray(0, 16_000), sound.subarray(0, 16_000))); // one second at once
  // The pause was asked for 300 ms ago, and the resumption 100 ms ago.
  under.recordings.take({ type: 'mute', id, muted: true, atMs: under.time.now() - 300 });
  under.recordings.take({ type: 'mute', id, muted: false, atMs: under.time.now() - 100 });
  under.play(ring, interleaved(sound.subarray(16_000), sound.subarray(16_000)));
  await under.stop(id);
  const expected = in16Bits(sound).fill(0, 700 * 16, 900 * 16);
  const heard = wavChannels(fileAt(path));
  assert.deepEqual(heard.caller, expected);
  assert.deepEqual(heard.ours, expected);
});

test('a recording that reaches its longest time ends there, and another one goes on', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const short = under.open({ maxFrames: SECOND + 5 });
  const witness = under.open();
  const sound = interleaved(noise(2 * SECOND), noise(2 * SECOND));
  witness.ring.write(sound);
  under.play(short.ring, sound);
  const result = await under.ended(short.id);
  assert.deepEqual(result, { end: 'too-long', frames: SECOND + 5, bytes: 44 + 4 * (SECOND + 5) });
  assert.equal(wavChannels(fileAt(short.path)).caller.length, SECOND + 5);
  assert.equal((await under.stop(witness.id)).frames, 2 * SECOND);
});

test('a call that moves continues in the same file, and silence fills the time between', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open();
  const [before, after] = [noise(SECOND, 0.5, 5), noise(SECOND, 0.5, 6)];
  under.play(ring, interleaved(before, before));
  ring.end();
  under.time.advance(640);
  const next = openRing(t);
  under.recordings.take({ type: 'follow', id, ring: next.handle });
  under.play(next, interleaved(after, after));
  await under.stop(id);
  const { caller } = wavChannels(fileAt(path));
  const gap = caller.length - 2 * SECOND;
  // The first quantum is taken to have begun when it was read, at most one tick of the clock after it came.
  assert.ok(Math.abs(gap / 16 - 640) <= 16, `${gap / 16} ms`);
  assert.deepEqual(caller.subarray(0, SECOND), in16Bits(before));
  assert.ok(caller.subarray(SECOND, SECOND + gap).every((sample) => sample === 0));
  assert.deepEqual(caller.subarray(SECOND + gap), in16Bits(after));
});

test('half a frame in the ring waits for its other half', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open();
  const sound = interleaved(noise(1000, 0.5, 7), noise(1000, 0.5, 8));
  for (let at = 0; at < sound.length; at += 333) {
    ring.write(sound.subarray(at, at + 333));
    under.time.advance(200);
  }
  assert.equal((await under.stop(id)).frames, 1000);
  const heard = wavChannels(fileAt(path));
  assert.deepEqual(interleaved(heard.caller, heard.ours), in16Bits(sound));
});

test('sound that the ring lost ends the recording with what came before it', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open();
  under.play(ring, interleaved(noise(SECOND), noise(SECOND)));
  ring.end('QUEUE_FULL');
  under.time.advance(1000);
  const { end, error, frames } = await under.ended(id);
  assert.deepEqual([end, error?.code, frames], ['failed', 'RECORDING_FAILED', SECOND]);
  assert.match(error?.message ?? '', /lost sound of the call \(QUEUE_FULL\)/);
  assert.ok(wavChannels(fileAt(`${path}.part`)).caller.length > 0);
});

test('a ring that is gone is silence until the call says where its sound continues', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  for (const leave of ['abort', 'close', 'end'] as const) {
    const { id, ring } = under.open();
    ring.write(new Float32Array(320));
    under.time.advance(200);
    ring[leave]();
    under.time.advance(2000);
    assert.equal(under.resultOf(id), undefined, leave);
    assert.deepEqual(await under.stop(id), { end: 'stopped', frames: 160, bytes: 44 + 640 }, leave);
  }
});

test('the end of all recordings completes every file', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const open = Array.from({ length: 10 }, (_, n) => under.open({ format: n % 2 === 0 ? 'wav' : 'opus' }));
  for (const { ring } of open) ring.write(new Float32Array(2 * 800));
  await under.recordings.close();
  for (const { id, path } of open) {
    assert.deepEqual([under.resultOf(id)?.end, under.resultOf(id)?.frames], ['call-ended', 800]);
    assert.ok(existsSync(path) && !existsSync(`${path}.part`));
  }
  assert.equal(under.time.waiting, 0);
});

test('a ring that overflowed is silence until the next one, with the right length, and the loss is told', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open();
  const [before, after] = [noise(SECOND, 0.5, 9), noise(SECOND, 0.5, 10)];
  under.play(ring, interleaved(before, before));
  ring.end('LISTENER_SLOW');
  under.time.advance(4800);
  assert.deepEqual(
    under.posted.filter(({ type }) => type === 'starved'),
    [{ type: 'starved', id }],
  );
  const next = openRing(t);
  under.recordings.take({ type: 'follow', id, ring: next.handle });
  under.play(next, interleaved(after, after));
  assert.equal((await under.stop(id)).end, 'stopped');
  const { caller } = wavChannels(fileAt(path));
  const gapMs = (caller.length - 2 * SECOND) / 16;
  assert.ok(Math.abs(gapMs - 4800) <= 16, `${gapMs} ms`);
  assert.deepEqual(caller.subarray(0, SECOND), in16Bits(before));
  assert.ok(caller.subarray(SECOND, -SECOND).every((sample) => sample === 0));
  assert.deepEqual(caller.subarray(-SECOND), in16Bits(after));
  assert.deepEqual(
    under.posted.filter(({ type }) => type === 'filled'),
    [{ type: 'filled', id, ms: gapMs }],
  );
});

test('a file of the caller alone keeps the part that is asked for, and states its length', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open({ channels: 1 });
  const caller = noise(3 * SECOND);
  under.play(ring, caller);
  const result = await under.stop(id, { beginMs: 500, endMs: 2250 });
  assert.deepEqual(result, { end: 'stopped', frames: 28_000, bytes: 44 + 2 * 28_000 });
  const wav = readWav(fileAt(path));
  assert.deepEqual([wav.channels, wav.frames], [1, 28_000]);
  const heard = new Float32Array(28_000);
  wav.read(0, 0, heard);
  assert.deepEqual(heard, in16Bits(caller.subarray(8000, 36_000)));
  assert.equal((await endingOf(path, 'wav')).durationMs, 1750);
});

test('a part beyond the end of the sound is empty, and its file is whole', async (t) => {
  const under = new ActiveRecordingsUnderTest(t);
  const { id, ring, path } = under.open({ channels: 1 });
  under.play(ring, noise(SECOND));
  const result = await under.stop(id, { beginMs: 5000 });
  assert.deepEqual([result.frames, fileAt(path).length], [0, 44]);
});
