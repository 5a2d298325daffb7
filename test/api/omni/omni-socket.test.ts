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
  speech.outcome = { header: { replaced: 6, bytes: Buffer.from('whole file') } };
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

test('with word_timestamps the audio comes in JSON, and the times of the words after it', async () => {
  const { say, received, speech } = open({ ...CONFIG, word_timestamps: true, sample_rate: 8000 });
  const words = [
    { word: 'One', textOffset: 0, startMs: 12.4, endMs: 80.6 },
    { word: 'is', textOffset: 4, startMs: 90 },
    { word: 'here', textOffset: 7, startMs: 120 },
  ];
  speech.outcome = { sentences: [{ text: 'One is here.', startMs: 0, endMs: 200, words }] };
  const chunk = (id: number, bytes: string, fromMs: number, toMs: number, timestamps: unknown) => ({
    type: 'audio.chunk',
    utterance_index: 0,
    sentence_index: 0,
    chunk_id: id,
    chunk_start_ms: fromMs,
    chunk_end_ms: toMs,
    sample_rate: 8000,
    channels: 1,
    audio_b64: Buffer.from(bytes).toString('base64'),
    timestamps,
  });
  const sentence = `One is here${'.'.repeat(21)}`; // 32 bytes: 2 ms at 8 kHz
  say(text(sentence), DONE);
  assert.deepEqual(await received(6), [
    start(0, 0, sentence, { sample_rate: 8000, word_timestamps: true }),
    chunk(0, sentence.slice(0, 16), 0, 1, null),
    chunk(1, sentence.slice(16), 1, 2, null),
    chunk(2, '', 0, 2, [
      { word: 'One', start_ms: 12, end_ms: 81 },
      { word: 'is', start_ms: 90, end_ms: 120 },
      { word: 'here', start_ms: 120, end_ms: 200 },
    ]),
    end(0, 0, 32),
    sessionDone(0, 1),
  ]);
  speech.outcome = {};
  speech.broken.set('Two.', new ParleyError('ENGINE_FAILED', 'a secret'));
  say(text('Three. Two.'), DONE);
  const kinds = (await received(10)).map((message) => {
    const { type, timestamps, error } = message as Record<string, unknown>;
    return [type, timestamps, error].filter((field) => field !== undefined);
  });
  assert.deepEqual(kinds, [
    ['audio.start'],
    ['audio.chunk', null],
    ['audio.chunk', null],
    ['audio.chunk', null], // the engine reports no times
    ['audio.done', false],
    ['audio.start'],
    ['audio.chunk', null],
    ['error'],
    ['audio.done', true],
    ['session.done'],
  ]);
});

test('with token_level the audio of a text is one stream', async () => {
  const { say, received, speech } = open({ type: 'session.config', streaming_mode: 'token_level' });
  const first = `One is ${'very '.repeat(14)}near.`;
  say(text(`${first} T`));
  assert.deepEqual((await received(3))[0], start(0, 0, `${first.slice(0, 80)}...`));
  say(text('wo is there.'), DONE);
  const total = first.length + 'Two is there.'.length;
  assert.deepEqual(await received(4), ['Two is ', 'there.', end(0, 0, total), sessionDone(0, 1)]);
  say(DONE);
  assert.deepEqual(await received(1), [sessionDone(1, 0)]);
  speech.broken.set('One is here.', new ParleyError('ENGINE_FAILED', 'a secret of the operator'));
  say(text('So. One is here. Two.'), DONE);
  const [, , , , error, ...rest] = await received(7);
  assert.deepEqual((error as Record<string, unknown>)['partial_audio'], true);
  assert.deepEqual(rest, [end(2, 0, 9, { error: true }), sessionDone(2, 1)]);
  assert.equal(speech.active, 0);
});

test('with sentence_commit a text is spoken commit by commit, in one stream', async () => {
  const { say, received, speech, peer } = open({ type: 'session.config', streaming_mode: 'sentence_commit' });
  const commit = { type: 'input.commit' };
  const committed = (utterance: number, sentence: number, id: string | null, characters: number) => ({
    type: 'input.committed',
    utterance_index: utterance,
    sentence_index: sentence,
    commit_id: id,
    chars_committed: characters,
  });
  say(commit);
  const [empty] = peer.taken() as Record<string, unknown>[];
  assert.deepEqual([empty?.['code'], empty?.['param']], ['text_empty', 'text']);
  say(text('One is here.'), text(' It was Dr.'), { ...commit, commit_id: 'a' });
  assert.deepEqual(await received(6), [
    committed(0, 0, 'a', 23),
    start(0, 0, 'One is here.'),
    'One is',
    ' here.',
    'It wa',
    's Dr.',
  ]);
  say(commit);
  assert.equal((peer.taken() as Record<string, unknown>[])[0]?.['code'], 'text_empty');
  say(text('Lee '), commit, text('came'), DONE);
  const rest = await received(8);
  assert.deepEqual(rest.slice(0, 2), [committed(0, 1, null, 4), committed(0, 2, null, 4)]);
  assert.deepEqual(rest.slice(-2), [end(0, 0, 29), sessionDone(0, 3)]);
  assert.deepEqual(speech.texts, ['One is here.', 'It was Dr.', 'Lee', 'came']);
  speech.held.add('Four.');
  say(text('Four.'), commit, text('Five.'));
  await received(3);
  say({ type: 'input.cancel' }, text('Six.'), DONE);
  assert.deepEqual((await received(6)).slice(0, 4), [
    committed(2, 0, null, 4),
    end(1, 0, 3, { error: true, cancelled: true }),
    { type: 'input.cancelled', utterances: [1] },
    start(2, 0, 'Six.'),
  ]);
});

test('with sentence_commit the limit counts the characters of the client alone', async () => {
  const { say, received, speech, firstSounds } = open({
    type: 'session.config',
    streaming_mode: 'sentence_commit',
  });
  const sentence = `${'x'.repeat(24)}.`;
  for (let quarter = 0; quarter < 4; quarter++) say(text(sentence), { type: 'input.commit' });
  say(DONE); // 100 characters are the limit
  const messages = (await received(15)).filter((message) => typeof message !== 'string');
  assert.deepEqual(messages.slice(4), [start(0, 0, sentence), end(0, 0, 100), sessionDone(0, 4)]);
  assert.deepEqual([speech.texts.length, firstSounds.length], [4, 1]);
});

test('with sentence_commit a text over the limit loses what waits, and its later commits are ignored', async () => {
  const { say, received, speech } = open({ type: 'session.config', streaming_mode: 'sentence_commit' });
  const commit = { type: 'input.commit' };
  say(text('x'.repeat(60)), text('y'.repeat(60)), commit, text('z'), commit, DONE);
  const [long, done] = (await received(2)) as Record<string, unknown>[];
  assert.deepEqual([long?.['code'], done], ['text_too_long', sessionDone(0, 0)]);
  assert.deepEqual(speech.texts, []);
});

test('with sentence_commit the time to the first sound begins at the first commit', async () => {
  const { say, received, firstSounds, time } = open({
    type: 'session.config',
    streaming_mode: 'sentence_commit',
  });
  say(text(' '));
  time.advance(40);
  say({ type: 'input.commit' }, text('One.'));
  time.advance(50);
  say({ type: 'input.commit' });
  time.advance(6);
  await received(5);
  assert.deepEqual(firstSounds, [6]);
});

test('a described voice is made for the session', async () => {
  const { say, received, speech } = open({
    ...CONFIG,
    task_type: 'VoiceDesign',
    instructions: 'an old sailor',
  });
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

test('a producer that falls silent gets an error; the session stays, and the rest of that text is ignored', async () => {
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
  assert.match(String(message), /^2 texts wait on this socket already$/);
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
    [{ word_timestamps: 'yes' }, 'word_timestamps'],
    [{ word_timestamps: true, stream_audio: false }, 'word_timestamps'],
    [{ word_timestamps: true, response_format: 'wav' }, 'word_timestamps'],
    [{ word_timestamps: true, streaming_mode: 'token_level' }, 'word_timestamps'],
    [{ streaming_mode: 'token' }, 'streaming_mode'],
    [{ streaming_mode: 'token_level', response_format: 'wav' }, 'response_format'],
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
  refused({ type: 'input.commit', commit_id: 7 }, 'invalid_value', 'commit_id', /must be a string/);
  refused({ type: 'input.commit' }, 'invalid_value', 'type', /first message/);
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
