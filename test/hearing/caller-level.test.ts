import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallerLevel } from '../../src/hearing/caller-level.js';

/** A turn of so many windows of this level. */
function turn(level: CallerLevel, db: number, windows = 10): boolean {
  for (let n = 0; n < windows; n++) level.speech(db);
  return level.isDistant;
}

function levelOf(...turnsDb: readonly number[]): CallerLevel {
  const level = new CallerLevel();
  for (const db of turnsDb) {
    turn(level, db);
    level.turnEnded('caller');
  }
  return level;
}

test('before the first turn nobody knows how loud the caller is', () => {
  assert.equal(turn(new CallerLevel(), -50), false);
});

test('a voice 10 dB below the turns of the caller is distant, and one of 9 dB is not', () => {
  assert.equal(turn(levelOf(-20, -20), -31), true);
  assert.equal(turn(levelOf(-20, -20), -29), false);
});

test('two windows tell nothing, and neither does a click within a weak voice', () => {
  assert.equal(turn(levelOf(-20), -40, 2), false);
  const level = levelOf(-20);
  level.speech(-10);
  level.speech(-10);
  assert.equal(turn(level, -40), true);
  level.speech(-12);
  assert.equal(level.isDistant, false);
});

test('the level follows a caller who becomes softer from turn to turn', () => {
  const level = levelOf(-20);
  for (let db = -26; db >= -44; db -= 3) {
    assert.equal(turn(level, db), false, `${db} dB`);
    level.turnEnded('caller');
  }
});

test('sound over our voice that does not interrupt tells nothing of the caller', () => {
  const level = levelOf(-20);
  turn(level, -28);
  level.turnEnded('unknown');
  assert.equal(turn(level, -31), true);
});

test('a distant voice in our silence hardly moves the level', () => {
  const level = levelOf(-20, -34, -34);
  assert.equal(turn(level, -33), true);
});

test('after a change of the way that the sound comes, the level is learned anew', () => {
  const level = levelOf(-20);
  level.restart();
  assert.equal(turn(level, -40), false);
});

test('a sound that was too short for a turn is not part of the next one', () => {
  const level = levelOf(-20);
  turn(level, -10, 3);
  level.forget();
  assert.equal(turn(level, -34), true);
});

test('a caller who put the telephone down is heard again after some turns that were ignored', () => {
  const level = levelOf(-20);
  let ignored = 0;
  while (turn(level, -35)) {
    ignored++;
    level.turnEnded('distant');
  }
  assert.equal(ignored, 5);
});
