// The tones that Parley makes, found again by its own detector, and those of a media socket.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  informationSound,
  keySound,
  PROGRESS_TONES,
  progressSound,
  TONE_COUNTRIES,
  type ToneSound,
} from '../../src/audio/country-tones.js';
import { MU_LAW } from '../../src/codecs/g711.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import { findTones, type HeardTone } from '../../src/media/tone-events.js';
import { FAR, rtp, START_MS, WALL_MS } from './plane-under-test.js';

const QUIET_MS = 500;

/** The sound so many times, with silence around it. */
function repeated({ samples, sampleRate }: ToneSound, times: number): Float32Array {
  const quiet = (QUIET_MS * sampleRate) / 1000;
  const all = new Float32Array(2 * quiet + times * samples.length);
  for (let n = 0; n < times; n++) all.set(samples, quiet + n * samples.length);
  return all;
}

const KEYS = '0123456789*#ABCD'; // by the events of RFC 4733

test('each key that is made is heard, and only once', () => {
  const { samples, sampleRate } = keySound(KEYS, { durationMs: 40, pauseMs: 50 });
  const { keys, tones } = findTones(repeated({ samples, sampleRate }, 1), sampleRate);
  assert.equal(keys.map(({ event }) => KEYS[event]).join(''), KEYS);
  assert.deepEqual(tones, []);
  for (const { durationMs } of keys) assert.ok(Math.abs(durationMs - 40) <= 10, `${durationMs} ms`);
});

test('the same key three times is three keys, and a comma is half a second', () => {
  const sound = keySound('55,5', { durationMs: 100, pauseMs: 50 });
  const { keys } = findTones(repeated(sound, 1), sound.sampleRate);
  assert.deepEqual(
    keys.map(({ event }) => event),
    [5, 5, 5],
  );
  const [, second, third] = keys.map(({ atMs }) => atMs);
  assert.ok(Math.abs((third ?? 0) - (second ?? 0) - 650) <= 10);
});

test('what is no key is refused by its name', () => {
  assert.throws(() => keySound('5x', { durationMs: 40, pauseMs: 50 }), {
    code: 'INVALID_FIELD',
    message: 'there is no key X',
  });
});

/** Two tones of one cadence cannot be told apart, and the beginning of Spain's reorder is its busy tone. */
const HEARD_AS: Readonly<Record<string, readonly string[]>> = {
  'AU reorder': ['busy'],
  'ES reorder': ['busy', 'reorder'],
  'JP reorder': ['busy'],
  'MX reorder': ['busy'],
};

for (const country of TONE_COUNTRIES) {
  test(`the tones of ${country} that are made are known again`, () => {
    for (const tone of PROGRESS_TONES) {
      const name = `${country} ${tone}`;
      const sound = progressSound(country, tone);
      const { tones, keys } = findTones(repeated(sound, 3), sound.sampleRate, country);
      assert.deepEqual(
        tones.map(({ kind }) => kind),
        HEARD_AS[name] ?? [tone],
        name,
      );
      assert.ok(Math.abs((tones[0]?.atMs ?? 0) - QUIET_MS) <= 30, `${name} at ${tones[0]?.atMs}`);
      assert.deepEqual(keys, []);
    }
  });
}

test('the special information tone is known again', () => {
  const sound = informationSound();
  const { tones } = findTones(repeated(sound, 1), sound.sampleRate, 'US');
  assert.deepEqual(
    tones.map(({ kind }) => kind),
    ['sit'],
  );
});

test('a cycle of a tone begins and ends without a click', () => {
  for (const country of TONE_COUNTRIES) {
    for (const tone of PROGRESS_TONES) {
      const { samples } = progressSound(country, tone);
      assert.ok(Math.abs(samples[0] ?? 1) < 0.02 && Math.abs(samples.at(-1) ?? 1) < 0.02);
      assert.ok(samples.every((sample) => Math.abs(sample) < 0.5));
    }
  }
});

const FRAME_MS = 20;
const FRAME_BYTES = 160;
const FULL_SCALE = 32_767;

function muLawOf(samples: Float32Array): Uint8Array {
  return Uint8Array.from(samples, (sample) => MU_LAW[Math.round(sample * FULL_SCALE) + FULL_SCALE + 1] ?? 0);
}

interface Heard {
  readonly plane: MediaPlane;
  readonly socket: MediaSocket;
  /** The far end sends a sound of 8 kHz in G.711. */
  say(samples: Float32Array): void;
}

function openMedia(t: TestContext): Heard {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  t.after(() => plane.close());
  const socket = plane.openSocket({ mux: true });
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.learn(FAR);
  let sequence = 100;
  const say = (samples: Float32Array) => {
    const coded = muLawOf(samples);
    for (let at = 0; at + FRAME_BYTES <= coded.length; at += FRAME_BYTES, sequence++) {
      const payload = coded.subarray(at, at + FRAME_BYTES);
      socket.feed(rtp({ sequence, timestamp: FRAME_BYTES * sequence, payload }), FAR.address, FAR.port);
      plane.advance(plane.nowMs + FRAME_MS);
    }
  };
  return { plane, socket, say };
}

test('a socket that hears keys reports those in the sound, until it no longer does', (t) => {
  const { socket, say } = openMedia(t);
  const digits: string[] = [];
  socket.onDigit = (digit) => digits.push(digit);
  const sound = repeated(keySound('159D', { durationMs: 60, pauseMs: 60 }), 1);
  say(sound);
  assert.deepEqual(digits, []);
  socket.hearKeys(true);
  say(sound);
  assert.deepEqual(digits, ['1', '5', '9', 'D']);
  socket.hearKeys(false);
  say(sound);
  assert.equal(digits.length, 4);
});

test('tones go to those who follow them, and keys do not become tones', (t) => {
  const { socket, say } = openMedia(t);
  const seen: HeardTone[] = [];
  const others: HeardTone[] = [];
  const leave = socket.followTones('US', (tone) => seen.push(tone));
  const leaveToo = socket.followTones('FR', (tone) => others.push(tone));
  say(repeated(progressSound('FR', 'busy'), 3));
  assert.deepEqual(
    seen.map(({ kind }) => kind),
    ['steady', 'steady', 'busy', 'steady'],
  );
  assert.deepEqual(others, seen);
  leaveToo();
  say(repeated(progressSound('US', 'busy'), 3));
  assert.deepEqual(
    seen.slice(4).map(({ kind }) => kind),
    ['busy'],
  );
  assert.equal(others.length, 4);
  say(repeated(keySound('12', { durationMs: 200, pauseMs: 100 }), 1));
  leave();
  leave();
  say(repeated(progressSound('US', 'busy'), 3));
  assert.equal(seen.length, 5);
});

test('a closed socket hears no tones, and says so by silence', (t) => {
  const { socket } = openMedia(t);
  socket.close();
  socket.hearKeys(true);
  socket.followTones('US', () => assert.fail('nothing can be heard'))();
});
