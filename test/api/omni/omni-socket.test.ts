import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { omniSocket } from '../../../src/api/omni/omni-socket.js';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { type DialectUnderTest, openDialect } from '../dialect-under-test.js';

const CONFIG = { type: 'session.config', response_format: 'pcm', stream_audio: true };
const DONE = { type: 'input.done' };

function text(words: string) {
  return { type: 'input.text', text: words };
}

function start(utterance: number, sentence: number, words: string, sound: object = {}) {
  const place = { utterance_index: utterance, sentence_index: sentence };
  const format = { format: 'pcm', sample_rate: 24_000, channels: 1, ...sound };
  return { type: 'audio.start', ...place, sentence_text: words, ...format };
}

function end(utterance: number, sentence: number, bytes: number, more: object = {}) {
  const place = { utterance_index: utterance, sentence_index: sentence };
  return { type: 'audio.done', ...place, total_bytes: bytes, error: false, ...more };
}

function sessionDone(utterance: number, sentences: number) {
  return { type: 'session.done', utterance_index: utterance, total_sentences: sentences };
}

function open(config: object = CONFIG): DialectUnderTest {
  const under = openDialect(omniSocket);
  under.say(config);
  return under;
}

test('sentences sound while the text is still coming, each with its start and end', async () => {
  const { say, received, speech, firstSounds, time } = open();
  say(text('One is he'), text('re. T'));
  time.advance(70);
  assert.deepEqual(await received(4), [start(0, 0, 'One is here.'), 'One is', ' here.', end(0, 0, 12)]);
  say(text('wo is there.'), DONE);
  assert.deepEqual(await received(5), [
    start(0, 1, 'Two is there.'),
    'Two is ',
    'there.',
    end(0, 1, 13),
    sessionDone(0, 2),
  ]);
  assert.deepEqual([speech.active, firstSounds], [0, [70]]);
});

test('the end of a text is not the end of the session, and its configuration stays until the next', async () => {
  const { say, received, speech } = open({ ...CONFIG, voice: 'instant', speed: 2, language: 'Auto' });
  say(text('One.'), DONE, text('Two.'), DONE);
  assert.deepEqual(
    (await received(10)).filter((message) => typeof message !== 'string'),
    [
      start(0, 0, 'One.'),
      end(0, 0, 4),
      sessionDone(0, 1),
      start(1, 0, 'Two.'),
      end(1, 0, 4),
      sessionDone(1, 1),
    ],
  );
  say({ ...CONFIG, response_format: 'ulaw_8000', speaker: 'instant' }, text('Three.'), DONE);
  assert.deepEqual((await received(5))[0], start(2, 0, 'Three.', { format: 'ulaw_8000', sample_rate: 8000 }));
  assert.deepEqual(
    speech.requests.map(({ voice, speed, language, container, sampleRate }) => [
      voice,
      speed,
      language,
      container,
      sampleRate,
    ]),
    [
      ['instant', 2, 'en', 'pcm', 24_000],
      ['instant', 2, 'en', 'pcm', 24_000],
      ['instant', undefined, 'en', 'ulaw', 8000],
    ],
  );
});

test('without stream_audio each sentence is one message: a whole file, which states its length', async () => {
  const { say, received, conversation, peer, speech } = open({ type: 'session.config', sample_rate: 16_000 });
  const sentence = 'stream and sound.';
  speech.header = { replaced: 6, bytes: Buffer.from('whole file') };
  say(text(sentence), DONE);
  const [begin, file, ...rest] = await received(4);
  assert.deepEqual(begin, start(0, 0, sentence, { format: 'wav', sample_rate: 16_000 }));
  assert.ok(typeof file === 'string');
  assert.equal(file, 'whole file and sound.');
  assert.deepEqual(rest, [end(0, 0, file.length), sessionDone(0, 1)]);
  await conversation.closed();
  assert.deepEqual(peer.messages, []);
});

test('a sentence with more sound than one message may have is refused by name, and its work stopped', async () => {
  const { say, received, speech } = open({ type: 'session.config' });
  const sentence = 'far too long.';
  speech.held.add(sentence);
  say(text(sentence), DONE);
  await until(() => speech.active === 1);
  for (let mebibytes = 0; mebibytes < 16; mebibytes++) speech.more(sentence, Buffer.alloc(1024 * 1024));
  const [begin, refusal, ...rest] = await received(4);
  assert.deepEqual(begin, start(0, 0, sentence, { format: 'wav' }));
  assert.deepEqual(refusal, {
    type: 'error',
    message:
      'the sound of one sentence may have 16777216 bytes as one message; "stream_audio": true sends it in pieces',
    code: 'too_large',
    param: 'stream_audio',
    utterance_index: 0,
    sentence_index: 0,
  });
  assert.deepEqual(rest, [end(0, 0, 0, { error: true }), sessionDone(0, 1)]);
  assert.equal(speech.active, 0);
});

test('a described voice is made for the session', async () => {
  const { say, received, speech } = open({ ...CONFIG, task_type: 'VoiceDesign', instructions: 'an old sailor' });
  say(text('Hi.'), DONE);
  await received(5);
  const [request] = speech.requests;
  assert.deepEqual([request?.reference?.kind, request?.options], ['prompt', undefined]);
});

test('an empty text is done at once, one of marks alone is an error and then done', async () => {
  const { say, received } = open();
  say(DONE, text(' \n'), DONE, text('…'), DONE);
  const [first, second, error, third] = await received(4);
  assert.deepEqual([first, second, third], [sessionDone(0, 0), sessionDone(1, 0), sessionDone(2, 0)]);
  const { message: _message, ...fields } = error as Record<string, unknown>;
  assert.deepEqual(fields, { type: 'error', code: 'text_empty', param: 'text', utterance_index: 2 });
});

test('a cancellation drops every text that is not at its end, and the next one begins after the answer', async () => {
  const { say, received, speech, peer } = open();
  speech.held.add('One is here.');
  say(text('One is here. And so on.'), DONE, text('Two.'), DONE, text('Thr'));
  assert.deepEqual(await received(2), [start(0, 0, 'One is here.'), 'One is']);
  say({ type: 'input.cancel' }, text('Four.'), DONE);
  assert.equal(speech.active, 0, 'freed at once');
  assert.deepEqual(await received(7), [
    end(0, 0, 6, { error: true, cancelled: true }),
    { type: 'input.cancelled', utterances: [0, 1, 2] },
    start(3, 0, 'Four.'),
    'Fou',
    'r.',
    end(3, 0, 5),
    sessionDone(3, 1),
  ]);
  say({ type: 'input.cancel' });
  assert.deepEqual(peer.taken(), [{ type: 'input.cancelled', utterances: [] }]);
  assert.deepEqual(speech.texts, ['One is here.', 'And so on.', 'Four.']);
});

test('an engine that fails in a sentence costs that sentence; one that fails before costs the text', async () => {
  const { say, received, speech, failures } = open();
  speech.broken.set('One is here.', new ParleyError('ENGINE_FAILED', 'a secret of the operator'));
  const message = 'the speech engine failed at this text; the log has more under request req_1';
  const error = { type: 'error', message, code: 'engine_failed', param: null, utterance_index: 0 };
  say(text('One is here. Two is there.'), DONE);
  assert.deepEqual(await received(9), [
    start(0, 0, 'One is here.'),
    'One is',
    { ...error, sentence_index: 0, partial_audio: true, action: 'discard' },
    end(0, 0, 6, { error: true }),
    start(0, 1, 'Two is there.'),
    'Two is ',
    'there.',
    end(0, 1, 13),
    sessionDone(0, 2),
  ]);
  speech.refused.set('Two.', new ParleyError('ENGINE_FAILED', 'a secret'));
  say(text('One. Two. Three.'), DONE, text('Four.'), DONE);
  const rest = await received(11);
  assert.deepEqual(rest.slice(4, 6), [{ ...error, utterance_index: 1 }, sessionDone(1, 1)]);
  assert.deepEqual(rest.at(-1), sessionDone(2, 1));
  assert.deepEqual(failures, ['req_1 ENGINE_FAILED', 'req_1 ENGINE_FAILED']);
  assert.equal(speech.active, 0);
});

test('a producer that falls silent is told so; the session stays, and the rest of that text is passed over', async () => {
  const { say, received, time, speech } = open();
  say(text('One is here. And then'));
  await received(4);
  await nextTurn();
  time.advance(1000);
  const [error] = (await received(1)) as Record<string, unknown>[];
  assert.deepEqual([error?.['type'], error?.['code'], error?.['utterance_index']], ['error', 'timeout', 0]);
  assert.match(String(error?.['message']), /1000 ms/);
  say(text(' it came back.'), DONE);
  assert.deepEqual(await received(1), [sessionDone(0, 1)]);
  say(text('Two.'), DONE);
  assert.deepEqual((await received(5)).at(-1), sessionDone(1, 1));
  assert.deepEqual([speech.texts, time.waiting], [['One is here.', 'Two.'], 0]);
});

test('a text over the limit, and one too many, are refused by name up to their end', async () => {
  const { say, received, speech } = open();
  say(text('x'.repeat(60)), text('y'.repeat(60)), text('z'), DONE);
  const [long, done] = (await received(2)) as Record<string, unknown>[];
  assert.deepEqual([long?.['code'], long?.['param'], done], ['text_too_long', 'text', sessionDone(0, 0)]);
  speech.held.add('One.');
  say(text('One.'), DONE, text('Two.'), DONE, text('Three.'), DONE, text('Fo'), text('ur.'), DONE);
  const messages = (await received(4)) as Record<string, unknown>[];
  const { message, ...full } = messages[0] ?? {};
  assert.deepEqual(full, { type: 'error', code: 'queue_full', param: null, utterance_index: 4 });
  assert.match(String(message), /2 texts wait .* MAX_WAITING_UTTERANCES/);
  assert.deepEqual(messages[1], sessionDone(4, 0));
  speech.finish('One.');
  const rest = await received(13);
  assert.deepEqual(rest.at(-1), sessionDone(3, 1));
  assert.deepEqual(speech.texts, ['One.', 'Two.', 'Three.']);
});

test('what is wrong with a message is said by field, and the session goes on', async () => {
  const { say, conversation, peer, received } = openDialect(omniSocket);
  const refused = (message: object | string, code: string, param: string | null, words: RegExp) => {
    say(message);
    const [answer] = peer.taken() as Record<string, unknown>[];
    assert.deepEqual(
      [answer?.['type'], answer?.['code'], answer?.['param']],
      ['error', code, param],
      JSON.stringify(message),
    );
    assert.match(String(answer?.['message']), words);
  };
  refused(text('too early'), 'invalid_value', 'type', /"session.config" in the first message/);
  refused(DONE, 'invalid_value', 'type', /first message/);
  refused('{"type":', 'malformed', null, /JSON/);
  refused('7', 'malformed', null, /object/);
  refused({}, 'invalid_value', 'type', /session.config, input.text/);
  refused({ type: 'input.dance' }, 'invalid_value', 'type', /"input.cancel"/);
  for (const [fields, param] of [
    [{ response_format: 'vox' }, 'response_format'],
    [{ response_format: 7 }, 'response_format'],
    [{ sample_rate: 44_100, response_format: 'ulaw_8000' }, 'sample_rate'],
    [{ speed: 0 }, 'speed'],
    [{ voice: {} }, 'voice'],
    [{ speaker: '' }, 'speaker'],
    [{ task_type: 'VoiceDesign' }, 'instructions'],
    [{ instructions: 'x'.repeat(4097) }, 'instructions'],
    [{ stream_audio: 'yes' }, 'stream_audio'],
    [{ split_granularity: 'word' }, 'split_granularity'],
    [{ word_timestamps: true }, 'word_timestamps'],
    [{ ref_text: 'hello' }, 'ref_text'],
    [{ x_vector_only_mode: true }, 'x_vector_only_mode'],
    [{ speaker_embedding: [1, 2] }, 'speaker_embedding'],
    [{ language: '' + 'x'.repeat(40) }, 'language'],
  ] as const) {
    refused({ ...CONFIG, ...fields }, 'invalid_value', param, new RegExp(`"${param}"`));
  }
  for (const field of ['vioce', 'stream_format', 'input', '__proto__x', 'x'.repeat(200)]) {
    const named = field.slice(0, 100);
    refused(
      { ...CONFIG, [field]: 1 },
      'invalid_value',
      named,
      new RegExp(`"${named}" is no field of "session.config"`),
    );
  }
  refused(
    { type: 'input.text', text: 'One', txet: 'Two' },
    'invalid_value',
    'txet',
    /is no field of "input.text", which may have type, text/,
  );
  refused({ type: 'input.done', reason: 'end' }, 'invalid_value', 'reason', /is no field of "input.done"/);
  refused({ ...CONFIG, model: 'unknown' }, 'model_not_found', 'model', /no such model/);
  conversation.message(new Uint8Array([1, 2]));
  assert.equal((peer.taken() as Record<string, unknown>[])[0]?.['code'], 'malformed');
  say({ ...CONFIG, initial_codec_chunk_frames: 1, non_streaming_mode: true, x_vector_only_mode: false });
  refused({ type: 'input.text' }, 'invalid_value', 'text', /"text" must be a string/);
  say(text('One'));
  refused(CONFIG, 'invalid_value', 'type', /send "input.done" first/);
  say(DONE);
  assert.deepEqual((await received(5)).at(-1), sessionDone(0, 1));
});

test('session.close speaks what was said before it, and hears nothing after it', async () => {
  const { say, received, peer, speech } = open();
  say(text('One.'), DONE, text('Two'), { type: 'session.close' }, text('Three.'), CONFIG, '{');
  assert.deepEqual(
    (await received(10)).filter((message) => typeof message !== 'string').map(({ type }) => type),
    ['audio.start', 'audio.done', 'session.done', 'audio.start', 'audio.done', 'session.done'],
  );
  await until(() => peer.closedWith !== undefined);
  assert.deepEqual(peer.closedWith, [1000, '']);
  assert.deepEqual(speech.texts, ['One.', 'Two']);
});

test('a peer that vanishes in the middle frees everything', async () => {
  const { say, received, speech, conversation, peer, time } = open();
  speech.held.add('One.');
  say(text('One. And so on. And then'), text(' it'));
  await received(2);
  await until(() => speech.active === 2);
  await conversation.closed();
  await until(() => time.waiting === 0);
  assert.equal(speech.active, 0);
  peer.taken();
  say(text('nobody hears this'), DONE);
  await nextTurn();
  assert.deepEqual(peer.taken(), []);
});
