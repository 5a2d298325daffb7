import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DialogTable } from '../../../sip/session/dialog-table.js';
import { ManualTime } from '../../fakes/manual-time.js';

function one(localTag: string, confirmed = false, remoteTag = 'r') {
  return { dialog: { callId: 'c', localTag, remoteTag }, confirmed };
}

void test('dialogs are found by all three parts of their id, and counted', () => {
  const table = new DialogTable<ReturnType<typeof one>>(new ManualTime(), 1000);
  const [early, confirmed] = [one('a'), one('b', true)];
  table.add(early);
  table.add(confirmed);
  assert.equal(table.find({ callId: 'c', localTag: 'b', remoteTag: 'r' }), confirmed);
  assert.equal(table.find({ callId: 'c', localTag: 'b', remoteTag: 'x' }), undefined);
  assert.equal(table.find({ callId: 'x', localTag: 'b', remoteTag: 'r' }), undefined);
  assert.deepEqual(table.counts, { early: 1, confirmed: 1 });
  assert.deepEqual(table.all, [early, confirmed]);
});

void test('a dialog that ended is remembered for a while, and not one that never was', () => {
  const time = new ManualTime();
  const table = new DialogTable<ReturnType<typeof one>>(time, 1000);
  const ended = one('a');
  table.add(ended);
  assert.equal(table.hasEnded(ended.dialog), false);
  table.remove(ended);
  table.remove(ended);
  assert.equal(table.find(ended.dialog), undefined);
  assert.equal(table.hasEnded(ended.dialog), true);
  assert.equal(table.hasEnded(one('b').dialog), false);
  time.advance(1000);
  assert.equal(table.hasEnded(ended.dialog), false);
});

void test('removing a dialog leaves another that has taken its id', () => {
  const table = new DialogTable<ReturnType<typeof one>>(new ManualTime(), 1000);
  const [first, second] = [one('a'), one('a')];
  table.add(first);
  table.add(second);
  table.remove(first);
  assert.equal(table.find(second.dialog), second);
});

void test('a dialog whose peer left out its tag is found with any tag and without, until it ends', () => {
  const table = new DialogTable<ReturnType<typeof one>>(new ManualTime(), 1000);
  const [untagged, tagged, lost] = [one('a', true, ''), one('b', true), one('c', true)];
  for (const each of [untagged, tagged, lost]) table.add(each);
  table.lostTag(lost);
  const find = (localTag: string, remoteTag: string) => table.find({ callId: 'c', localTag, remoteTag });
  assert.deepEqual([find('a', ''), find('a', 'x')], [untagged, untagged]);
  assert.deepEqual([find('b', ''), find('b', 'x')], [undefined, undefined]);
  assert.deepEqual([find('c', ''), find('c', 'r')], [lost, lost]);
  assert.deepEqual(table.counts, { early: 0, confirmed: 3 });
  for (const each of [untagged, tagged, lost]) table.remove(each);
  assert.deepEqual([find('a', ''), find('c', '')], [undefined, undefined]);
  const ended = (localTag: string, remoteTag: string) => table.hasEnded({ callId: 'c', localTag, remoteTag });
  assert.deepEqual([ended('a', 'x'), ended('b', 'x'), ended('c', '')], [true, false, true]);
});
