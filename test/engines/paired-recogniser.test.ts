// Two recognisers for one live sound: which texts come from which, and what becomes of it when one fails.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { PairedRecogniser } from '../../src/engines/paired-recogniser.js';
import type { RecognisedText } from '../../src/engines/recogniser.js';
import { ParleyError } from '../../src/errors.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';

const LIVE = { use: 'live', gated: true, partials: true, sampleRate: 16_000 } as const;
const tick = () => new Promise((resolve) => setImmediate(resolve));

function open(t: TestContext) {
  const [main, fast] = [new ScriptedRecogniser(), new ScriptedRecogniser()];
  const failures: string[] = [];
  const paired = new PairedRecogniser({ main, fast, onFastFailed: ({ code }) => failures.push(code) });
  const told: unknown[][] = [];
  const tell = (what: string) => (text: RecognisedText) =>
    told.push([what, text.part, text.text, text.stable]);
  const ring = PcmRing.open(16_000, 16_000);
  t.after(() => ring.close());
  const start = () => {
    const session = paired.open(LIVE, { partial: tell('partial'), final: tell('final') });
    session.push(ring);
    return session;
  };
  return { main, fast, paired, failures, told, ring, start };
}

test('partial texts come from the fast one, final texts from the other, with the orders at one place', async (t) => {
  const { main, fast, told, ring, start } = open(t);
  const session = start();
  ring.write(new Float32Array(1000));
  session.turn('begin');
  ring.write(new Float32Array(2000));
  fast.opened[0]?.partial('Good mor', 4);
  session.turn('end');
  ring.write(new Float32Array(500));
  await tick();
  fast.opened[0]?.partial('too late', 8, 0);
  assert.deepEqual(told, [
    ['partial', 0, 'Good mor', 0],
    ['final', 0, 'turn 0', 6],
  ]);
  for (const one of [main, fast]) {
    assert.deepEqual(one.opened[0]?.orders, [
      ['begin', 1000],
      ['end', 3000],
    ]);
  }
  assert.deepEqual([main.opened[0]?.options.partials, fast.opened[0]?.options.partials], [false, true]);
  const ended = session.end();
  await tick();
  main.opened[0]?.read();
  fast.opened[0]?.read();
  await ended;
  assert.equal(main.opened[0]?.sound.length, 3500);
  assert.deepEqual([main.sessions, fast.sessions], [0, 0]);
});

test('files, and sounds without partial texts, are the main one alone', (t) => {
  const { main, fast, paired } = open(t);
  const listener = { final: () => undefined };
  paired.open({ use: 'file', sampleRate: 16_000 }, listener).close();
  paired.open({ ...LIVE, partials: false }, listener).close();
  assert.deepEqual([main.opened.length, fast.opened.length], [2, 0]);
});

test('when the fast one fails the session goes on, and when the main one fails it ends', async (t) => {
  const { main, fast, failures, told, start } = open(t);
  const session = start();
  fast.opened[0]?.fail(new ParleyError('ENGINE_LOST', 'gone'));
  await tick();
  assert.deepEqual(failures, ['ENGINE_LOST']);
  session.turn('begin');
  session.turn('end');
  await tick();
  assert.deepEqual(told, [['final', 0, 'turn 0', 6]]);
  main.opened[0]?.fail(new ParleyError('ENGINE_FAILED', 'no more'));
  await assert.rejects(session.ended, { code: 'ENGINE_FAILED' });
  assert.deepEqual([main.sessions, fast.sessions], [0, 0]);
});

test('a recogniser that lags holds the sound back in the ring, and the orders keep their places', async (t) => {
  const { main, fast, ring, start } = open(t);
  const session = start();
  const slow = fast.opened[0] ?? assert.fail();
  slow.reads = false;
  let written = 0;
  for (let n = 0; n < 40; n++) written += Math.max(0, ring.write(new Float32Array(4000)));
  session.turn('begin');
  for (let n = 0; n < 200; n++) {
    await tick();
    written += Math.max(0, ring.write(new Float32Array(4000)));
  }
  // The ring of a second, four seconds before the slow one, and what waits for it.
  assert.ok(written < 7 * 16_000, String(written));
  slow.reads = true;
  for (let n = 0; n < 200; n++) {
    slow.read();
    await tick();
  }
  assert.deepEqual(slow.orders, main.opened[0]?.orders);
  assert.equal(slow.sound.length, main.opened[0]?.sound.length);
});

test('what the fast one refuses leaves nothing open', (t) => {
  const { main, fast, start } = open(t);
  fast.refusal = new ParleyError('ENGINE_BUSY', 'too many');
  assert.throws(start, { code: 'ENGINE_BUSY' });
  assert.equal(main.sessions, 0);
});

test('it is as usable as the main one, and loaded when both are', () => {
  const [main, fast] = [new ScriptedRecogniser(), new ScriptedRecogniser()];
  const paired = new PairedRecogniser({ main, fast, onFastFailed: () => undefined });
  assert.deepEqual(
    [paired.name, paired.languages, paired.usable, paired.loaded, paired.tellsPartials, paired.trouble],
    ['scripted', ['en', 'de'], true, true, true, undefined],
  );
});

for (const which of ['main', 'fast'] as const) {
  test(`an order that throws in the ${which} one ends that session with an error, and no other`, async (t) => {
    const opened = open(t);
    const { main, fast, ring, start, paired, told } = opened;
    const [session, other] = [start(), paired.open(LIVE, { final: ({ text }) => told.push([text]) })];
    const quiet = PcmRing.open(16_000, 16_000);
    t.after(() => quiet.close());
    other.push(quiet);
    const broken = opened[which].opened[0] ?? assert.fail();
    broken.turn = () => {
      throw new Error('a defect');
    };
    const rejections = await rejectionsOf(async () => {
      ring.write(new Float32Array(100));
      session.turn('begin');
      await assert.rejects(session.ended, { code: 'ENGINE_FAILED', message: 'a defect' });
    });
    assert.deepEqual(rejections.map(String), ['Defect: recognition: a defect']);
    assert.deepEqual([main.sessions, fast.sessions], [1, 1]);
    other.turn('begin');
    other.turn('end');
    await tick();
    assert.deepEqual(told, [['turn 0']]);
  });
}

test('a session whose feed throws when there is room again ends with an error', async (t) => {
  const { main, fast, ring, start } = open(t);
  const session = start();
  const slow = fast.opened[0] ?? assert.fail();
  slow.reads = false;
  slow.turn = () => {
    throw new Error('a defect');
  };
  const rejections = await rejectionsOf(async () => {
    for (let n = 0; n < 20; n++) {
      ring.write(new Float32Array(4000));
      await tick();
    }
    session.turn('begin');
    slow.reads = true;
    for (let n = 0; n < 20; n++) {
      slow.read();
      await tick();
    }
    await assert.rejects(session.ended, { code: 'ENGINE_FAILED', message: 'a defect' });
  });
  assert.deepEqual(rejections.map(String), ['Defect: recognition: a defect']);
  assert.deepEqual([main.sessions, fast.sessions], [0, 0]);
});

test('the text of a pause is that of the main recogniser', (t) => {
  const { main, fast, paired, told } = open(t);
  const tell = ({ part, text }: RecognisedText) => told.push(['pause', part, text]);
  paired.open(LIVE, { pause: tell, final: () => undefined });
  const times = { stable: 0, language: 'en', beginSeconds: 0, endSeconds: 1 };
  fast.opened[0]?.listener.pause?.({ part: 0, text: 'Yet', ...times });
  main.opened[0]?.listener.pause?.({ part: 0, text: 'Yes.', ...times });
  assert.deepEqual(told, [['pause', 0, 'Yes.']]);
});
