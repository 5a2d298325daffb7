import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallerAudio, type CallerSound } from '../../src/media/caller-audio.js';
import { G722, OPUS, type Codec } from '../../src/codecs/codec.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from '../../src/codecs/g711.js';
import type { HeardPayload } from '../../src/media/media-socket.js';
import { encoderOf } from '../encoding/line-fakes.js';

/** The only sound of a batch, if there is one. */
function one(sounds: readonly CallerSound[]): CallerSound | undefined {
  assert.ok(sounds.length <= 1);
  return sounds[0];
}

const START = 2 ** 32 + 800;

function heard(frame: number, code: number, options: Partial<HeardPayload> = {}): HeardPayload {
  return {
    timestamp: START + frame * 160,
    payloadType: 0,
    lostBefore: 0,
    atMs: 1000 + frame * 20,
    payload: new Uint8Array(160).fill(code),
    ...options,
  };
}

function audio(): CallerAudio {
  return new CallerAudio([
    [0, 'PCMU'],
    [8, 'PCMA'],
  ]);
}

/** Value and length of each run of equal samples. */
function runs(samples: Int16Array | undefined): [number, number][] {
  const found: [number, number][] = [];
  for (const value of samples ?? []) {
    const last = found.at(-1);
    if (last?.[0] === value) last[1]++;
    else found.push([value, 1]);
  }
  return found;
}

const mu = (code: number): number => MU_LAW_VALUES[code] ?? 0;

test('frames in order are one sound, each by its own codec', () => {
  const caller = audio();
  const sound = one(caller.take([heard(0, 10), heard(1, 20)]));
  assert.deepEqual(runs(sound?.samples), [
    [mu(10), 160],
    [mu(20), 160],
  ]);
  const other = one(caller.take([heard(2, 30, { payloadType: 8 })]));
  assert.deepEqual(runs(other?.samples), [[A_LAW_VALUES[30] ?? 0, 160]]);
  assert.deepEqual([sound?.atMs, sound?.concealed], [1000, 0]);
});

test('a lost packet is bridged by the sound before it, fading, and takes its own time', () => {
  const caller = audio();
  caller.take([heard(0, 10)]);
  const sound = one(caller.take([heard(3, 20, { lostBefore: 2 })]));
  assert.deepEqual([sound?.samples.length, sound?.concealed], [3 * 160, 320]);
  const bridge = sound?.samples.subarray(0, 320) ?? new Int16Array();
  assert.equal(bridge[0], mu(10));
  assert.ok(Math.abs((bridge[240] ?? 0) - mu(10) / 2) <= 1);
  assert.ok(bridge.every((value, n) => n === 0 || Math.abs(value) <= Math.abs(bridge[n - 1] ?? 0)));
  assert.deepEqual(runs(sound?.samples.subarray(320)), [[mu(20), 160]]);
});

test('a pause that was not sent is silence of its length, comfort noise or not', () => {
  const caller = audio();
  caller.take([heard(0, 10)]);
  assert.deepEqual(caller.take([heard(1, 0, { payloadType: 13, payload: Uint8Array.of(60) })]), []);
  const sound = one(caller.take([heard(11, 20)]));
  assert.deepEqual(runs(sound?.samples), [
    [0, 10 * 160],
    [mu(20), 160],
  ]);
  assert.equal(sound?.concealed, 0);
});

test('payloads that come too late are left out, and time never runs back', () => {
  const caller = audio();
  caller.take([heard(0, 10)]);
  caller.take([heard(2, 20, { lostBefore: 1 })]);
  assert.deepEqual(caller.take([heard(1, 15)]), []);
  assert.deepEqual(runs(one(caller.take([heard(3, 30)]))?.samples), [[mu(30), 160]]);
});

test('a jump of minutes is a new beginning, forwards and back', () => {
  const caller = audio();
  caller.take([heard(0, 10)]);
  assert.deepEqual(runs(one(caller.take([heard(60_000, 20)]))?.samples), [[mu(20), 160]]);
  assert.deepEqual(runs(one(caller.take([heard(60_001, 21)]))?.samples), [[mu(21), 160]]);
  assert.deepEqual(runs(one(caller.take([heard(5, 30)]))?.samples), [[mu(30), 160]]);
  assert.deepEqual(runs(one(caller.take([heard(6, 40)]))?.samples), [[mu(40), 160]]);
});

const TONE_HZ = 500;

/** Frames of 20 ms of a tone, as a far end sends them. */
function toneFrames(codec: Codec, count: number): Uint8Array[] {
  const encoder = encoderOf(codec, 20);
  return Array.from({ length: count }, (_frame, n) => {
    const at = n * encoder.frameSamples;
    const wave = (i: number) => 0.5 * Math.sin((2 * Math.PI * TONE_HZ * (at + i)) / codec.sampleRate);
    return Uint8Array.from(
      encoder.encode(Float32Array.from({ length: encoder.frameSamples }, (_s, i) => wave(i))),
    );
  });
}

for (const codec of [G722, OPUS]) {
  test(`${codec.name} is heard at 16 kHz, and a codec after it begins anew`, () => {
    const caller = new CallerAudio([
      [9, codec.name],
      [0, 'PCMU'],
    ]);
    const ticks = codec.clockRate / 50;
    const payloads = toneFrames(codec, 10).map((payload, n) =>
      heard(0, 0, { payloadType: 9, payload, timestamp: START + n * ticks }),
    );
    const [tone, law, ...more] = caller.take([...payloads, heard(50_000, 20)]);
    assert.deepEqual([tone?.sampleRate, tone?.samples.length, law?.sampleRate], [16_000, 10 * 320, 8000]);
    assert.deepEqual([runs(law?.samples), more], [[[mu(20), 160]], []]);
    const steady = tone?.samples.subarray(1600, 3200) ?? new Int16Array();
    const crossings = steady.filter((value, n) => n > 0 && value >= 0 && (steady[n - 1] ?? 0) < 0).length;
    assert.ok(Math.abs(crossings - TONE_HZ / 10) <= 1, String(crossings));
    const peak = Math.max(...steady);
    assert.ok(peak > 14_000 && peak < 19_000, String(peak));
  });

  test(`a lost packet of ${codec.name} takes its own time`, () => {
    const caller = new CallerAudio([[9, codec.name]]);
    const ticks = codec.clockRate / 50;
    const [first = new Uint8Array(), , third = new Uint8Array()] = toneFrames(codec, 3);
    caller.take([heard(0, 0, { payloadType: 9, payload: first })]);
    const lost = { payloadType: 9, payload: third, timestamp: START + 2 * ticks, lostBefore: 1 };
    const sound = one(caller.take([heard(0, 0, lost)]));
    assert.deepEqual([sound?.samples.length, sound?.concealed], [640, 320]);
  });
}

test('a malformed Opus packet gives no sound', () => {
  const caller = new CallerAudio([[96, 'opus']]);
  for (const payload of [new Uint8Array(), Uint8Array.of(0xff), new Uint8Array(1400).fill(0xfb)]) {
    const sound = one(caller.take([heard(0, 0, { payloadType: 96, payload })]));
    assert.ok((sound?.samples.length ?? 0) <= 16 * 120);
  }
});
