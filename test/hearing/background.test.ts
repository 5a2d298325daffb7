import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Background } from '../../src/hearing/background.js';
import { heard } from './heard-script.js';
import { babble, ourVoice } from './echoes.js';
import { joined, mixed, noise, silence, speech } from './sounds.js';

/** Windows of these levels that the background hides, in turn. */
const hidden = (levels: readonly number[], background = new Background()): boolean[] =>
  levels.map((level) => background.hides(level));

const steady = (level: number, windows: number) => Array.from({ length: windows }, () => level);

test('a steady sound hides itself after 672 ms, until something is 9 dB above it', () => {
  const background = new Background();
  assert.deepEqual(
    hidden(steady(-30, 20), background),
    steady(-30, 20).map(() => false),
  );
  assert.deepEqual(hidden([-30, -30, -22, -21], background), [true, true, true, false]);
});

test('a voice with gaps between its syllables is not hidden, and neither is a quiet line', () => {
  const voice = Array.from({ length: 100 }, (_, n) => (n % 8 < 6 ? -20 : -45));
  assert.ok(hidden(voice).every((isHidden, n) => !isHidden || voice[n] === -45));
  assert.ok(hidden(steady(-52, 100)).every((isHidden) => !isHidden));
});

const line = (sound: Float32Array) => mixed(sound, noise(sound.length / 16, -65));
test('while nothing of ours plays, a fluent voice stops only in its own pauses', async () => {
  const { events } = await heard({ caller: line(joined(silence(640), await ourVoice(40))) });
  assert.equal(events.filter(({ type }) => type === 'speech.stopped').length, 8);
});

const CALL_SETTINGS = { ignoreBackchannel: true };

for (const db of [-40, -35, -30]) {
  test(`a babble of eight voices at ${db} dB interrupts none of three calls`, async () => {
    const crowd = await babble(8, 24, db);
    for (const from of [0, 8, 16]) {
      const caller = line(crowd.subarray(from * 16_000, (from + 8) * 16_000));
      const { events } = await heard({ caller, ours: silence(8000) }, CALL_SETTINGS);
      assert.deepEqual(
        events.filter(({ type }) => type === 'bargein.confirmed'),
        [],
      );
    }
  });
}

test('a caller who speaks 15 dB above a babble still interrupts', async () => {
  const words = await speech('Excuse me, I would like to change the address of my order.', 'awb');
  const crowd = await babble(8, 8, -36);
  const caller = line(mixed(crowd, joined(silence(3000), words)));
  const { events } = await heard({ caller, ours: silence(8000) }, CALL_SETTINGS);
  assert.ok(
    events.some(({ type, atMs }) => type === 'bargein.confirmed' && atMs > 4000),
    events.map(({ type }) => type).join(),
  );
});
