// The speech socket of jambonz, by the messages of its custom speech API. The sound of a sentence is its
// text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jambonzVoiceSocket } from '../../../src/api/jambonz/jambonz-voice-socket.js';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { type DialectUnderTest, openDialect } from '../dialect-under-test.js';

const QUERY = '?voice=instant&language=English&sampleRate=16000';
const FLUSH = { type: 'flush' };
const CONNECT = { type: 'connect', data: { sample_rate: 16_000, base64_encoding: false } };

const stream = (text: string) => ({ type: 'stream', text });
const refusal = (code: string, error: string) => ({ type: 'error', error, code });

/** Opens the socket and takes its first message. */
function open(query = QUERY): DialectUnderTest {
  const under = openDialect(jambonzVoiceSocket, query);
  const [connect] = under.peer.taken();
  assert.equal((connect as Record<string, unknown>)['type'], 'connect');
  return under;
}

test('the server says first which sound will come, and speaks as the address says', async () => {
  const { say, received, peer, speech } = openDialect(jambonzVoiceSocket, QUERY);
  assert.deepEqual(peer.taken(), [CONNECT]);
  say(stream('Hello there.'), FLUSH);
  assert.deepEqual(await received(2), ['Hello ', 'there.']);
  assert.deepEqual(speech.requests, [
    {
      text: 'Hello there.',
      voice: 'instant',
      language: 'en',
      container: 'pcm',
      sampleRate: 16_000,
      client: 'key 0',
      kind: 'interactive',
    },
  ]);
});

test('without parameters the sound is that of a telephone, in the default voice', async () => {
  const { say, received, peer, speech } = openDialect(jambonzVoiceSocket, '?voice=&language=&sampleRate=');
  assert.deepEqual(peer.taken(), [{ type: 'connect', data: { sample_rate: 8000, base64_encoding: false } }]);
  say(stream('Hello.'), FLUSH);
  await received(2);
  const [request] = speech.requests;
  assert.deepEqual([request?.sampleRate, request?.voice], [8000, 'instant']);
});

for (const [query, field, message] of [
  ['?sampleRate=7', 'sampleRate', '"sampleRate" must be 8000 to 48000 in steps of 25 (Hz)'],
  ['?sampleRate=fast', 'sampleRate', '"sampleRate" must be 8000 to 48000 in steps of 25 (Hz)'],
  [
    '?language=%21',
    'language',
    '"language" must be a tag such as "en" or "fr", a name such as "English", or "auto"',
  ],
  [`?voice=${'x'.repeat(201)}`, 'voice', '"voice" must be a name of 1 to 200 characters'],
] as const) {
  test(`an address with a wrong ${field} (${query.slice(0, 20)}) opens no socket`, () => {
    assert.throws(
      () => openDialect(jambonzVoiceSocket, query),
      (error) =>
        error instanceof ParleyError &&
        error.code === 'INVALID_FIELD' &&
        error.field === field &&
        error.message === message,
    );
  });
}

test('a sentence is spoken at once when it is certain to be one, and else with what follows', async () => {
  const { say, received, speech, firstSounds, time } = open();
  say(stream('Good morning.'));
  time.advance(20);
  assert.deepEqual(await received(2), ['Good mo', 'rning.']);
  assert.deepEqual(firstSounds, [20]);
  say(stream('I saw Dr.'));
  await nextTurn();
  say(stream('Smith today.'));
  await received(2);
  assert.deepEqual(speech.texts, ['Good morning.', 'I saw Dr. Smith today.']);
});

test('spaces that were lost on the way between two texts are put back', async () => {
  const { say, received, speech } = open();
  say(stream('The train'), stream(' leaves '), stream('   '), stream('at nine'), FLUSH);
  await received(2);
  assert.deepEqual(speech.texts, ['The train leaves at nine']);
});

test('half a sentence is spoken after half a second without more of it', async () => {
  const { say, received, speech, time } = open();
  say(stream('One moment'));
  time.advance(499);
  await nextTurn();
  assert.deepEqual(speech.texts, []);
  say(stream('please'));
  time.advance(499);
  await nextTurn();
  assert.deepEqual(speech.texts, []);
  time.advance(1);
  assert.deepEqual(await received(2), ['One momen', 't please']);
  assert.equal(time.waiting, 0);
});

test('a flush without text, and marks alone, are nothing to speak and no error', async () => {
  const { say, received, peer } = open();
  say(FLUSH, stream(''), stream('…'), FLUSH, FLUSH, stream('Hi.'), FLUSH);
  assert.deepEqual(await received(2), ['Hi', '.']);
  assert.deepEqual(peer.taken(), []);
});

test('a text that follows before the one before it was heard begins with the pause of a sentence', async () => {
  const { say, received, speech, time } = open();
  speech.held.add('One.');
  say(stream('One.'), FLUSH);
  await received(1);
  speech.more('One.', new Uint8Array(32_000)); // one second at 16 kHz
  speech.finish('One.');
  await received(2);
  say(stream('Two.'), FLUSH);
  await received(2);
  const [, two] = speech.requests;
  assert.deepEqual([two?.leadMs, Math.round(two?.dueAtMs ?? 0)], [160, 1100]);
  time.advance(2000);
  say(stream('Three.'), FLUSH);
  await received(2);
  assert.deepEqual([speech.requests[2]?.leadMs, speech.requests[2]?.dueAtMs], [undefined, undefined]);
});

test('a stop ends the sound at once and closes the socket', async () => {
  const { say, received, speech, peer, time } = open();
  speech.held.add('One is here.');
  say(stream('One is here. Two is'));
  assert.deepEqual(await received(1), ['One is']);
  say(stream('there.'), FLUSH, stream('Three.'), { type: 'stop' });
  assert.deepEqual(peer.closedWith, [1000, '']);
  speech.finish('One is here.');
  await until(() => speech.active === 0);
  await nextTurn();
  assert.deepEqual([peer.taken(), speech.texts, time.waiting], [[], ['One is here.'], 0]);
});

test('a stop ends the sound within one chunk, even if the client reads nothing', async () => {
  const { say, received, speech, peer, conversation } = open();
  peer.stall();
  say(stream('One is here.'), FLUSH);
  assert.deepEqual(await received(1), ['One is']);
  say({ type: 'stop' });
  assert.equal(speech.active, 0);
  peer.read();
  await conversation.closed();
  assert.deepEqual(peer.taken(), []);
});

test('a clear ends the sound at once, and the socket goes on', async () => {
  const { say, received, speech, peer } = open();
  speech.held.add('One is here.');
  say(stream('One is here.'), FLUSH, stream('Two.'), FLUSH);
  assert.deepEqual(await received(1), ['One is']);
  say({ type: 'clear' }, stream('Three.'), FLUSH);
  assert.deepEqual(await received(2), ['Thr', 'ee.']);
  assert.deepEqual([speech.texts, speech.active], [['One is here.', 'Three.'], 0]);
  assert.equal(speech.requests[1]?.leadMs, undefined, 'nothing is heard before it');
  assert.equal(peer.closedWith, undefined);
});

test('a lost socket frees everything', async () => {
  const { say, received, speech, conversation, time } = open();
  speech.held.add('One.');
  say(stream('One.'), FLUSH, stream('Two'));
  await received(1);
  await conversation.closed();
  assert.deepEqual([speech.active, time.waiting, speech.texts], [0, 0, ['One.']]);
});

test('an answer longer than a text may be is divided between two messages', async () => {
  const { say, received, speech, peer } = open();
  const half = `${'word '.repeat(11)}end.`; // 59 characters; 100 are the most
  say(stream(half), stream(half), FLUSH);
  await received(4);
  assert.deepEqual([speech.texts, peer.taken()], [[half, half], []]);
});

test('more texts than may wait are refused by name, and the socket goes on', async () => {
  const { say, received, speech, peer } = open();
  speech.held.add('One.');
  say(stream('One.'), FLUSH, stream('Two.'), FLUSH, stream('Three.'), FLUSH);
  await received(1);
  say(stream('Four.'), FLUSH);
  const full = '2 texts wait on this socket already';
  assert.deepEqual(peer.taken(), [refusal('queue_full', full)]);
  speech.finish('One.');
  assert.deepEqual(await received(5), ['e.', 'Tw', 'o.', 'Thr', 'ee.']);
});

test('what is wrong with a message is said, and the next one is heard', async () => {
  const { say, received, peer, conversation } = open();
  const types = '"type" must be one of "stream", "flush", "stop", "clear"';
  for (const [message, code, error] of [
    ['{', 'malformed', 'a message must be JSON'],
    ['[]', 'malformed', 'a message must be a JSON object'],
    [{}, 'invalid_value', types],
    [{ type: 'dance' }, 'invalid_value', types],
    [{ type: 'stream' }, 'invalid_value', '"text" must be a string: the text to speak'],
    [{ type: 'stream', text: 7 }, 'invalid_value', '"text" must be a string'],
    [
      stream('<speak>Hello.</speak>'),
      'invalid_value',
      '"text" must not be SSML; POST /v1/jambonz/tts takes it',
    ],
    [stream('x'.repeat(101)), 'text_too_long', '"text" is longer than the 100 characters that are allowed'],
  ] as const) {
    say(message);
    assert.deepEqual(peer.taken(), [refusal(code, error)], JSON.stringify(message));
  }
  conversation.message(Buffer.from('{}'));
  assert.deepEqual(peer.taken(), [refusal('malformed', 'a message must be text, not binary')]);
  say(stream('Hi.'), FLUSH);
  assert.deepEqual(await received(2), ['Hi', '.']);
});

test('a text that fails is told without the secrets of the operator, and what comes next is spoken', async () => {
  const { say, received, speech, failures } = open();
  speech.broken.set('One is here.', new ParleyError('ENGINE_FAILED', 'a secret'));
  say(stream('One is here.'));
  const hidden = 'the speech engine failed at this text; the log has more under request req_1';
  assert.deepEqual(await received(2), ['One is', refusal('engine_failed', hidden)]);
  say(stream('Two.'), FLUSH);
  assert.deepEqual([await received(2), failures], [['Tw', 'o.'], ['req_1 ENGINE_FAILED']]);
});

test('an unknown voice is told with each text, and leaves nothing behind', async () => {
  const { say, received, time, conversation } = open('?voice=nobody');
  say(stream('One.'));
  const [first] = (await received(1)) as Record<string, unknown>[];
  assert.deepEqual([first?.['type'], first?.['code']], ['error', 'voice_unknown']);
  say(stream('Two.'), FLUSH);
  const [second] = (await received(1)) as Record<string, unknown>[];
  assert.equal(second?.['code'], 'voice_unknown');
  await conversation.closed();
  assert.equal(time.waiting, 0);
});
