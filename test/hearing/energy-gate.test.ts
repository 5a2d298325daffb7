import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENCE_DB } from '../../src/hearing/ear-source.js';
import { EnergyGate } from '../../src/hearing/energy-gate.js';

/** Windows of a level that pass. */
function passed(gate: EnergyGate, levelDb: number, windows: number, holdFloor = false): number {
  let open = 0;
  for (let n = 0; n < windows; n++) if (gate.isOpen(levelDb, holdFloor)) open++;
  return open;
}

test('a silent line passes no window to the model', () => {
  const gate = new EnergyGate();
  assert.equal(passed(gate, SILENCE_DB, 10_000), 0);
  assert.equal(passed(gate, -62, 10_000), 0);
});

test('a voice passes at once, and 320 ms of what follows it', () => {
  const gate = new EnergyGate();
  passed(gate, -70, 100);
  assert.equal(passed(gate, -30, 50), 50);
  assert.equal(passed(gate, -70, 100), 10);
});

test('steady noise is learned within some seconds; a voice above it still passes', () => {
  const gate = new EnergyGate();
  const windows = passed(gate, -50, 2000);
  assert.ok(windows > 0 && windows < 200, `${windows} windows of noise passed`);
  assert.ok(Math.abs(gate.thresholdDb + 44) < 0.2, `a threshold of ${gate.thresholdDb} dB`);
  assert.equal(passed(gate, -35, 5), 5);
});

test('a long sentence does not raise the floor, and a pause lowers it', () => {
  const gate = new EnergyGate();
  assert.equal(passed(gate, -25, 1000, true), 1000);
  assert.equal(gate.thresholdDb, -54);
  passed(gate, -70, 20);
  assert.equal(gate.thresholdDb, -60);
});
