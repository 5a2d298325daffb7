// Short words of a caller over the echo of our voice, with the real model. The rules of turns add up the
// speech of one turn where no recogniser tells its words: an echo must add nothing, and the words must count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ECHOES, ourVoice } from './echoes.js';
import { heard } from './heard-script.js';
import { joined, silence, speech } from './sounds.js';

/** A turn interrupts from 700 ms of speech on. */
const SETTINGS = { ignoreBackchannel: true };
const FIRST_MS = 4000;

const ours = await ourVoice(12);
const [stop, wait, no] = await Promise.all(['Stop.', 'Wait.', 'No.'].map((word) => speech(word, 'awb')));

/** The events of a caller who says this over an echo, after four seconds. */
async function bargeIns(name: RegExp, ...said: readonly Float32Array[]) {
  const echo = ECHOES.find((one) => name.test(one.name)) ?? assert.fail('there is no such echo');
  const caller = echo.returned(ours).slice();
  const words = joined(silence(FIRST_MS), ...said);
  for (const [n, sample] of words.entries()) caller[n] = (caller[n] ?? 0) + sample;
  const { events } = await heard({ caller: echo.coded(caller), ours }, SETTINGS);
  return events.filter(({ type }) => type.startsWith('bargein'));
}

for (const name of [/^40 ms/, /^180 ms, /, /^500 ms/]) {
  test(`an echo of ${name.source} adds up to no speech of the caller`, async () => {
    assert.deepEqual(await bargeIns(name), []);
  });

  test(`one short word over an echo of ${name.source} pauses the voice, which then goes on`, async () => {
    const events = await bargeIns(name, stop ?? assert.fail());
    assert.deepEqual(
      events.map(({ type }) => type),
      ['bargein.paused', 'bargein.false'],
    );
  });

  test(`short words over an echo of ${name.source} add up and interrupt`, async () => {
    const gap = silence(80);
    const words = [stop, wait, no, stop].flatMap((word) => [word ?? assert.fail(), gap]);
    const events = await bargeIns(name, ...words);
    assert.equal(events[0]?.type, 'bargein.paused');
    assert.ok(
      events.some(({ type }) => type === 'bargein.confirmed'),
      events.map(({ type }) => type).join(),
    );
  });
}
