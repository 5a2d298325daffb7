import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beep } from '../../src/recording/beep.js';
import { fitTone } from '../audio/tones.js';

test('the beep is 400 ms of a 1 kHz tone that begins and ends without a click, at every rate', () => {
  for (const rate of [8000, 16_000, 24_000, 48_000]) {
    const sound = beep(rate);
    assert.equal(sound.length, 0.4 * rate);
    const middle = sound.subarray(0.05 * rate, 0.35 * rate);
    const { amplitude, snrDb } = fitTone(middle, 1000, rate);
    assert.ok(Math.abs(amplitude - 0.25) < 0.001, `${amplitude}`);
    assert.ok(snrDb > 80, `${snrDb} dB`);
    const edges = [...sound.subarray(0, rate / 1000), ...sound.subarray(-rate / 1000)];
    assert.ok(Math.max(...edges.map(Math.abs)) < 0.01, 'the first and last millisecond are nearly silent');
  }
});
