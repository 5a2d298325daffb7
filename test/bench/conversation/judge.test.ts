// The judge of conversations, on recordings that are made with known answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cue, judge, type Span } from './judge.js';
import { type Packet, PACKET_MS, type Recording, stereoWav } from './recording.js';

const RATE = 8000;
const LOUD = 0.1;

/** Packets from one time to another, which carry a level in these stretches and silence elsewhere. */
function packets(toMs: number, stretches: readonly (readonly [number, number])[], level = LOUD): Packet[] {
  return Array.from({ length: toMs / PACKET_MS }, (_, n) => {
    const atMs = (n + 1) * PACKET_MS;
    const isLoud = stretches.some(([from, to]) => atMs >= from && atMs < to);
    return { atMs, rate: RATE, samples: new Float32Array(160).fill(isLoud ? level : 0) };
  });
}

/** A packet of the caller leaves when it was said: its sound lies in the 20 ms before. */
function recording(
  caller: readonly (readonly [number, number])[],
  ours: readonly (readonly [number, number])[],
): Recording {
  return {
    caller: packets(
      20_000,
      caller.map(([from, to]) => [from + PACKET_MS, to + PACKET_MS]),
    ),
    ours: packets(20_000, ours),
  };
}

const question = (fromMs: number, toMs: number, pauses: readonly Span[] = []): Cue => {
  return { kind: 'question', fromMs, toMs, pauses };
};

test("a reply lasts from the caller's last loud sample to our first packet with sound", () => {
  const heard = recording([[1000, 2000]], [[2600, 4000]]);
  assert.deepEqual(judge(heard, [question(1000, 2000)]).replies, [600]);
});

test('the last loud sample may lie within a packet', () => {
  const heard = recording([[1000, 2000]], [[2600, 4000]]);
  const last = heard.caller.find(({ atMs }) => atMs === 2000) ?? assert.fail();
  last.samples.fill(0.005, 80); // from the middle of the packet on it is quieter than -40 dBFS
  assert.deepEqual(judge(heard, [question(1000, 2000)]).replies, [610]);
});

test('noise of a codec is no sound of ours, and a question without an answer within 5 s has no reply', () => {
  const quiet = { ...recording([[1000, 2000]], []), ours: packets(20_000, [[2100, 20_000]], 0.002) };
  const { replies, unanswered } = judge(quiet, [question(1000, 2000)]);
  assert.deepEqual([replies, unanswered], [[], 1]);
  const late = recording([[1000, 2000]], [[7100, 8000]]);
  assert.equal(judge(late, [question(1000, 2000)]).unanswered, 1);
});

test('a stop lasts from the first loud sample of the interrupter to our last old packet', () => {
  const heard = recording(
    [[3000, 4000]],
    [
      [1000, 3130],
      [6000, 7000],
    ],
  );
  const cue: Cue = { kind: 'interruption', fromMs: 2990, toMs: 4000, heldMs: 5800 };
  const { stops, interruptions } = judge(heard, [cue]);
  assert.deepEqual([stops, interruptions], [[120], 1]);
});

test('a voice that resumes before the answer, or goes on for more than 1 s, has not stopped', () => {
  const cue: Cue = { kind: 'interruption', fromMs: 3000, toMs: 4000, heldMs: 5800 };
  const resumed = recording(
    [[3000, 4000]],
    [
      [1000, 3120],
      [4500, 7000],
    ],
  );
  const late = recording([[3000, 4000]], [[1000, 4040]]);
  for (const heard of [resumed, late]) assert.deepEqual(judge(heard, [cue]).stops, []);
  const early = recording([[3000, 4000]], [[1000, 4020]]);
  assert.deepEqual(judge(early, [cue]).stops, [1000]);
});

test('our voice cuts a caller off if it begins in a pause, or over what follows', () => {
  const pauses = [
    { fromMs: 1500, toMs: 2100 },
    { fromMs: 2600, toMs: 3600 },
  ];
  const said = [
    [1000, 1500],
    [2100, 2600],
    [3600, 4000],
  ] as const;
  const cutOffs = (ours: readonly (readonly [number, number])[]) =>
    judge(recording(said, ours), [question(1000, 4000, pauses)]).pauses;
  assert.deepEqual(cutOffs([[4600, 5000]]), [
    { ms: 600, isCutOff: false },
    { ms: 1000, isCutOff: false },
  ]);
  const inFirst = cutOffs([[2000, 2040]]).map(({ isCutOff }) => isCutOff);
  const overRest = cutOffs([[3700, 4500]]).map(({ isCutOff }) => isCutOff);
  assert.deepEqual(
    [inFirst, overRest],
    [
      [true, false],
      [false, true],
    ],
  );
});

test('a reply that begins before the end of the question is none', () => {
  const heard = recording([[1000, 2000]], [[1600, 2400]]);
  const { replies, unanswered } = judge(heard, [question(1000, 2000)]);
  assert.deepEqual([replies, unanswered], [[], 0]);
});

test('a noise interrupts if our voice is silent for more than 1 s after it', () => {
  const cue: Cue = { kind: 'noise', noise: 'cough', fromMs: 3000, toMs: 3400 };
  const silentMs = (ours: readonly (readonly [number, number])[]) =>
    judge(recording([[3000, 3400]], ours), [cue]).noises.map((one) => [one.silentMs, one.isFalse]);
  assert.deepEqual(silentMs([[1000, 9000]]), [[0, false]]);
  assert.deepEqual(
    silentMs([
      [1000, 3100],
      [4000, 9000],
    ]),
    [[900, false]],
  );
  assert.deepEqual(
    silentMs([
      [1000, 3100],
      [4120, 9000],
    ]),
    [[1020, true]],
  );
  assert.deepEqual(silentMs([[1000, 3100]]), [[3300, true]], 'it is dropped');
  assert.deepEqual(silentMs([[1000, 2000]]), [], 'nothing was there to interrupt');
});

test('an answer to words for somebody else is told', () => {
  const cue: Cue = { kind: 'aside', aside: 'television', fromMs: 3000, toMs: 5000 };
  const isAnswered = (ours: readonly (readonly [number, number])[]) =>
    judge(recording([[3000, 5000]], ours), [cue]).asides.map((one) => one.isAnswered);
  assert.deepEqual(
    [isAnswered([]), isAnswered([[5600, 6000]]), isAnswered([[8200, 9000]])],
    [[false], [true], [false]],
  );
});

test('a recording is a WAV file with the caller on the left, each at its time', () => {
  const wav = stereoWav(recording([[1000, 1100]], [[1500, 1600]]));
  assert.equal(wav.readUInt16LE(22), 2);
  assert.equal(wav.readUInt32LE(24), 16_000);
  const level = (channel: number, ms: number) => Math.abs(wav.readInt16LE(44 + 4 * 16 * ms + 2 * channel));
  const half = 0.05 * 32_768;
  // The recording begins 20 ms before its first packet, which is at 20 ms.
  assert.deepEqual(
    [1050, 1550].map((ms) => [level(0, ms) > half, level(1, ms) > half]),
    [
      [true, false],
      [false, true],
    ],
  );
});

test('an answer before the last word is no reply, and is counted', () => {
  const heard = recording([[1000, 2000]], [[1500, 4000]]);
  const { replies, early, unanswered } = judge(heard, [question(1000, 2000)]);
  assert.deepEqual([replies, early, unanswered], [[], 1, 0]);
});

test('words while our voice is silent interrupt nothing', () => {
  const heard = recording([[3000, 4000]], [[1000, 2000]]);
  const cue: Cue = { kind: 'interruption', fromMs: 3000, toMs: 4000, heldMs: 6000 };
  assert.deepEqual([judge(heard, [cue]).stops, judge(heard, [cue]).interruptions], [[], 0]);
});

test('a noise after which the model was asked is a false interruption, however soon a voice follows', () => {
  const heard = recording([[3000, 3300]], [[1000, 9000]]);
  const cue: Cue = { kind: 'noise', noise: 'cough', fromMs: 3000, toMs: 3300 };
  const isFalse = (one: Cue) => judge(heard, [one]).noises.map((noise) => noise.isFalse);
  assert.deepEqual([isFalse(cue), isFalse({ ...cue, isAsked: true })], [[false], [true]]);
});
