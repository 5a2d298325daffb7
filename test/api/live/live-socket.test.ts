// The socket /v1/audio/transcriptions/stream: its messages, and what it refuses.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { liveSocket } from '../../../src/api/live/live-socket.js';
import { OPUS } from '../../../src/codecs/codec.js';
import { ParleyError } from '../../../src/errors.js';
import { openLiveDialect, sound, tick } from './live-dialect-under-test.js';

const open = (t: TestContext) => openLiveDialect(t, liveSocket);

test('a configuration, sound, and texts of its turns until the end', async (t) => {
  const { say, taken, session, stream, closedWith } = open(t);
  say({ type: 'config', sample_rate: 16_000, language: 'German', prompt: 'Ships.', keywords: ['Bremen'] });
  assert.deepEqual(taken(), [{ type: 'ready', encoding: 'pcm_s16le', sample_rate: 16_000, partials: true }]);
  const { options } = session();
  assert.deepEqual([options.language, options.context, options.partials], ['de', 'Ships.\nBremen', true]);
  say(sound(1));
  stream().event('speech.started', 320);
  session().partial('Guten T', 6);
  stream().event('speech.stopped', 800);
  stream().event('turn.ended', 992);
  stream().analyse();
  await tick();
  assert.deepEqual(taken(), [
    { type: 'speech_started', turn: 0, start: 0.32 },
    { type: 'partial', turn: 0, text: 'Guten T', language: 'en', start: 0.32, end: 1.32, stable: 6 },
    { type: 'speech_stopped', turn: 0, end: 0.8 },
    { type: 'final', turn: 0, text: 'turn 0', language: 'en', start: 0.32, end: 0.992 },
  ]);
  say({ type: 'end' }, { type: 'end' });
  stream().analyse();
  await tick();
  session().read();
  await tick();
  assert.deepEqual(taken(), [{ type: 'done', seconds: 1 }]);
  assert.deepEqual(closedWith, [[1000, '']]);
});

test('a flush ends the turn at once', async (t) => {
  const { say, taken, stream } = open(t);
  say({ type: 'config', turn_detection: 'server' }, sound(1));
  stream().event('speech.started', 100);
  stream().analyse();
  say({ type: 'flush' });
  await tick();
  assert.deepEqual(taken().at(-1), {
    type: 'final',
    turn: 0,
    text: 'turn 0',
    language: 'en',
    start: 0.1,
    end: 1,
  });
});

test('without turn detection only the client ends turns', async (t) => {
  const { say, taken, stream, session } = open(t);
  say({ type: 'config', turn_detection: 'none' }, sound(0.512));
  stream().event('speech.started', 64);
  stream().event('turn.ended', 320);
  stream().analyse();
  say({ type: 'flush' });
  await tick();
  assert.deepEqual(session().orders.slice(0, 2), [
    ['begin', 0],
    ['end', 8192],
  ]);
  assert.equal(taken().at(-1)?.['type'], 'final');
});

test('without turn detection a flush has the text of all its sound, also if no speech was found in it', async (t) => {
  const { say, taken, stream } = open(t);
  say({ type: 'config', turn_detection: 'none' }, sound(0.5), { type: 'flush' });
  stream().analyse();
  await tick();
  const { type, text, start, end } = taken().at(-1) ?? {};
  assert.deepEqual([type, text, start, end], ['final', 'turn 0', 0, 0.5]);
});

for (const [encoding, rate, bytes, samples] of [
  ['pcm_s16le', 8000, sound(1, 8000), 16_000],
  ['pcm_s16le', 48_000, sound(1, 48_000), 16_000],
  ['mulaw', 8000, Buffer.alloc(8000, 0xff), 16_000],
  ['alaw', 8000, Buffer.alloc(8000, 0xd5), 16_000],
  ['opus', 48_000, Buffer.from(OPUS.silence(20)), 320],
] as const) {
  test(`${encoding} of ${rate} Hz becomes sound of the recogniser`, async (t) => {
    const { say, stream, session } = open(t);
    say({ type: 'config', encoding, sample_rate: rate }, bytes, { type: 'end' });
    stream().analyse();
    await tick();
    session().read();
    assert.equal(session().sound.length, samples);
  });
}

test('samples may be cut between messages', async (t) => {
  const { say, session, stream } = open(t);
  const bytes = Buffer.from(Int16Array.of(1, -2, 300, -400, 32_767).buffer);
  say({ type: 'config' });
  for (const byte of bytes) say(Uint8Array.of(byte));
  say({ type: 'end' });
  stream().analyse();
  await tick();
  session().read();
  assert.deepEqual(
    session().sound.map((sample) => sample * 32_768),
    [1, -2, 300, -400, 32_767],
  );
});

const CONFIG = { type: 'config' };
for (const [what, messages, code, message, param] of [
  ['sound before the configuration', [sound(1)], 'malformed', /sound came before its description/, null],
  ['a flush before the configuration', [{ type: 'flush' }], 'malformed', /the first message must be/, null],
  ['a text that is no JSON', ['hello'], 'malformed', /must be JSON/, null],
  ['a list', ['[]'], 'malformed', /must be a JSON object/, null],
  ['an unknown type', [{ type: 'stop' }], 'invalid_value', /"config", "flush" or "end"/, 'type'],
  ['an unknown field', [{ ...CONFIG, rate: 8000 }], 'invalid_value', /"rate" is no field/, 'rate'],
  [
    'a rate that is too low',
    [{ ...CONFIG, sample_rate: 7999 }],
    'invalid_value',
    /8000 to 192000/,
    'sample_rate',
  ],
  ['a rate that is a text', [{ ...CONFIG, sample_rate: '16000' }], 'invalid_value', /8000 to/, 'sample_rate'],
  [
    'an unknown encoding',
    [{ ...CONFIG, encoding: 'mp3' }],
    'invalid_value',
    /"pcm_s16le", "mulaw"/,
    'encoding',
  ],
  [
    'a prompt of a megabyte',
    [{ ...CONFIG, prompt: 'x'.repeat(1e6) }],
    'invalid_value',
    /4096 char/,
    'prompt',
  ],
  ['keywords that are no list', [{ ...CONFIG, keywords: 'a' }], 'invalid_value', /a list of/, 'keywords'],
  ['a silence out of range', [{ ...CONFIG, silence_ms: 5 }], 'invalid_value', /100 to 10000/, 'silence_ms'],
  ['an unknown model', [{ ...CONFIG, model: 'unknown' }], 'model_not_found', /no such model/, 'model'],
  ['a second configuration', [CONFIG, CONFIG], 'malformed', /only once/, null],
  [
    'a packet that is not Opus',
    [{ ...CONFIG, encoding: 'opus' }, sound(1)],
    'audio_invalid',
    /one packet of Opus/,
    null,
  ],
  [
    'an empty packet',
    [{ ...CONFIG, encoding: 'opus' }, new Uint8Array(0)],
    'audio_invalid',
    /one packet/,
    null,
  ],
] as const) {
  test(`${what} is answered with an error, and the socket goes on`, (t) => {
    const { say, taken, closedWith } = open(t);
    say(...messages);
    const error = taken().at(-1) ?? {};
    assert.deepEqual([error['type'], error['code'], error['param']], ['error', code, param]);
    assert.match(String(error['message']), message);
    assert.deepEqual(closedWith, []);
  });
}

test('a recogniser that is busy or lost is told, and a lost one closes the socket', async (t) => {
  const { say, taken, recogniser, session, closedWith, failures } = open(t);
  recogniser.refusal = new ParleyError('ENGINE_BUSY', 'too many sounds');
  say(CONFIG);
  assert.deepEqual(taken(), [
    { type: 'error', code: 'engine_busy', message: 'too many sounds', param: null },
  ]);
  recogniser.refusal = undefined;
  say(CONFIG);
  taken();
  session().fail(new ParleyError('ENGINE_FAILED', 'secret'));
  await tick();
  assert.deepEqual(
    taken().map(({ code }) => code),
    ['engine_failed'],
  );
  assert.deepEqual(failures, ['req_12345678 ENGINE_FAILED']);
  assert.deepEqual(closedWith, [[1011, 'engine_failed']]);
});

test('a client that sends nothing for five minutes is disconnected', (t) => {
  const { say, time, closedWith } = open(t);
  say(CONFIG);
  time.advance(299_000);
  say(sound(0.1));
  time.advance(299_000);
  assert.deepEqual(closedWith, []);
  time.advance(1000);
  assert.deepEqual(closedWith, [[1000, 'no message came for 300 s']]);
});

test('a socket that closes frees its session', async (t) => {
  const { say, conversation, recogniser, stream } = open(t);
  say(CONFIG, sound(1));
  await conversation.closed();
  assert.equal(recogniser.sessions, 0);
  assert.equal(stream().isClosed, true);
});

test('a server without a recogniser refuses the upgrade', () => {
  const dialect = liveSocket({
    live: undefined,
    checkModel: () => undefined,
    time: { now: () => 0, after: () => () => undefined },
    failed: () => undefined,
    finalText: () => undefined,
  });
  const handshake = { url: new URL('ws://a/'), params: {}, client: '', requestId: '', authorize: () => true };
  assert.throws(() => dialect.check?.(handshake), { code: 'CAPABILITY_MISSING' });
});
