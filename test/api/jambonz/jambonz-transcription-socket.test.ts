// The recogniser socket of jambonz, by the messages of its custom speech API.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { jambonzSocket } from '../../../src/api/jambonz/jambonz-transcription-socket.js';
import { openLiveDialect, sound, tick } from '../live/live-dialect-under-test.js';

const open = (t: TestContext) => openLiveDialect(t, jambonzSocket);
const START = {
  type: 'start',
  language: 'en-US',
  format: 'raw',
  encoding: 'LINEAR16',
  sampleRateHz: 8000,
  interimResults: true,
  options: { hints: ['Bremen', 'Hamburg'] },
};

test('a call is transcribed in interim and final results, until it stops', async (t) => {
  const { say, taken, stream, session, closedWith } = open(t);
  say(START, sound(1, 8000));
  const { language, context } = session().options;
  assert.deepEqual([language, context], ['en-US', 'Bremen, Hamburg']);
  stream().event('speech.started', 100);
  session().partial('Hello', 0);
  stream().event('turn.ended', 900);
  await tick();
  const result = (is_final: boolean, transcript: string) => ({
    type: 'transcription',
    is_final,
    alternatives: [{ transcript, confidence: 1 }],
    channel: 1,
    language: 'en',
  });
  assert.deepEqual(taken(), [result(false, 'Hello'), result(true, 'turn 0')]);
  say({ type: 'stop' }, { type: 'stop' });
  stream().analyse();
  await tick();
  session().read();
  await tick();
  assert.deepEqual(closedWith[0], [1000, '']);
});

for (const [what, message, error] of [
  ['an unknown type', { type: 'pause' }, '"type" must be "start" or "stop"'],
  [
    'an unknown encoding',
    { ...START, encoding: 'MP3' },
    '"encoding" must be one of "LINEAR16", "MULAW", "ALAW"',
  ],
  [
    'a wrong rate',
    { ...START, sampleRateHz: 1 },
    '"sampleRateHz" must be a whole number from 8000 to 192000',
  ],
  ['sound before the start', sound(1), 'sound came before its description'],
  ['a text for sound', 'hello', 'a message must be JSON'],
] as const) {
  test(`${what} is an error, and the socket goes on`, (t) => {
    const { say, taken, closedWith } = open(t);
    say(message);
    assert.deepEqual(taken(), [{ type: 'error', error }]);
    say(START);
    assert.deepEqual([taken(), closedWith], [[], []]);
  });
}
