// OpenAI's realtime transcription: the events in their order, as the API and its beta name them.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { realtimeSocket } from '../../../src/api/realtime/transcription-socket.js';
import { ParleyError } from '../../../src/errors.js';
import { openLiveDialect, sound, tick } from '../live/live-dialect-under-test.js';

const open = (t: TestContext, query = '?intent=transcription') =>
  openLiveDialect(t, (parts) => realtimeSocket(parts, { sessionOf: () => undefined }), query);

/** A socket with a client secret that was made with this session. */
const openWith = (t: TestContext, session: Readonly<Record<string, unknown>>, query = '') => {
  const secrets = { sessionOf: (secret: string) => (secret === 'ek_1' ? session : undefined) };
  return openLiveDialect(t, (parts) => realtimeSocket(parts, secrets), query, 'ek_1');
};

const append = (bytes: Buffer) => ({ type: 'input_audio_buffer.append', audio: bytes.toString('base64') });
const COMMIT = { type: 'input_audio_buffer.commit' };
const update = (input: object) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input } },
});
const types = (messages: readonly Readonly<Record<string, unknown>>[]) => messages.map(({ type }) => type);

const errorOf = (messages: readonly Readonly<Record<string, unknown>>[]) =>
  (messages.at(-1) ?? {})['error'] as Readonly<Record<string, string>>;

test('a session is told at once, and as it is after an update', (t) => {
  const { say, taken } = open(t);
  const [created] = taken();
  assert.equal(created?.['type'], 'session.created');
  say(
    update({
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: { model: 'gpt-4o-transcribe', language: 'en', prompt: 'Ships.' },
      turn_detection: {
        type: 'server_vad',
        silence_duration_ms: 300,
        threshold: 0.5,
        prefix_padding_ms: 200,
      },
      noise_reduction: { type: 'near_field' },
    }),
  );
  const [updated] = taken();
  assert.equal(updated?.['type'], 'session.updated');
  assert.match(String(updated['event_id']), /^event_\d+$/);
  assert.deepEqual(updated['session'], {
    id: 'sess_12345678',
    object: 'realtime.transcription_session',
    type: 'transcription',
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: 24_000 },
        transcription: { model: 'gpt-4o-transcribe', language: 'en', prompt: 'Ships.' },
        noise_reduction: null,
        turn_detection: { type: 'server_vad', silence_duration_ms: 300 },
      },
    },
    include: null,
  });
});

test('server turns: speech, commit, items, deltas of what is stable, and the whole text', async (t) => {
  const { say, taken, stream, session } = open(t);
  say(append(sound(1, 24_000)));
  stream().event('speech.started', 320);
  session().partial('Hello th', 5);
  stream().event('speech.stopped', 500);
  stream().event('speech.started', 600);
  session().partial('Hello there', 5);
  session().partial('Hello there.', 8);
  stream().event('speech.stopped', 800);
  stream().event('turn.ended', 960);
  await tick();
  const messages = taken().slice(1);
  assert.deepEqual(types(messages), [
    'input_audio_buffer.speech_started',
    'conversation.item.input_audio_transcription.delta',
    'conversation.item.input_audio_transcription.delta',
    'input_audio_buffer.speech_stopped', // once, with the commit
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.done',
    'conversation.item.input_audio_transcription.completed',
  ]);
  const ids = new Set(
    messages.flatMap((message) => [message['item_id'] ?? (message['item'] as { id: string }).id]),
  );
  assert.equal(ids.size, 1);
  assert.deepEqual([messages[0]?.['audio_start_ms'], messages[3]?.['audio_end_ms']], [320, 800]);
  assert.deepEqual([messages[1]?.['delta'], messages[2]?.['delta']], ['Hello', ' th']);
  const { transcript, content_index, usage } = messages.at(-1) ?? {};
  assert.deepEqual([transcript, content_index, usage], ['turn 0', 0, { type: 'duration', seconds: 0.64 }]);
});

test('client turns: each commit is an item behind the one before, and an empty one is refused', async (t) => {
  const { say, taken, stream } = open(t);
  say(update({ turn_detection: null, format: { type: 'audio/pcm', rate: 16_000 } }));
  say({ ...COMMIT, event_id: 'mine' });
  const error = taken().at(-1);
  assert.equal(error?.['type'], 'error');
  assert.deepEqual(error['error'], {
    type: 'invalid_request_error',
    code: 'input_audio_buffer_commit_empty',
    message:
      'Error committing input audio buffer: buffer too small. ' +
      'Expected at least 100ms of audio, but buffer only has 0.00ms of audio.',
    param: null,
    event_id: 'mine',
  });
  say(append(sound(1)));
  stream().event('speech.started', 100);
  stream().event('speech.stopped', 900);
  stream().event('turn.ended', 960);
  say(COMMIT, append(sound(1)));
  stream().analyse();
  say(COMMIT);
  await tick();
  const messages = taken();
  const committed = messages.filter(({ type }) => type === 'input_audio_buffer.committed');
  assert.deepEqual(
    committed.map(({ previous_item_id }) => previous_item_id),
    [null, committed[0]?.['item_id']],
  );
  assert.deepEqual(
    messages
      .filter(({ type }) => String(type).endsWith('completed'))
      .map(({ transcript, item_id }) => [transcript, item_id]),
    committed.map(({ item_id }, n) => [['turn 0', 'turn 1'][n], item_id]),
  );
});

test('a commit of less than 100 ms is refused, and its sound stays for the next one', async (t) => {
  for (const [format, bytesPerMs] of [
    [{ type: 'audio/pcm', rate: 24_000 }, 48],
    [{ type: 'audio/pcmu' }, 8],
  ] as const) {
    const { say, taken, stream } = open(t);
    say(update({ turn_detection: null, format }));
    for (let n = 0; n < 33; n++) say(append(Buffer.alloc(3 * bytesPerMs)));
    say(COMMIT);
    const { code, message } = errorOf(taken());
    assert.equal(code, 'input_audio_buffer_commit_empty');
    assert.match(message ?? '', /Expected at least 100ms of audio, but buffer only has 99\.00ms of audio\.$/);
    say(append(Buffer.alloc(bytesPerMs)), COMMIT, COMMIT);
    stream().analyse();
    await tick();
    const after = taken();
    assert.equal(types(after).filter((type) => type === 'error').length, 1); // the second commit
    const completed = after.find(({ type }) => String(type).endsWith('completed'));
    assert.deepEqual(completed?.['usage'], { type: 'duration', seconds: 0.1 });
  }
});

test('a commit after a turn that the server has ended has only the sound since', async (t) => {
  const { say, taken, stream } = open(t);
  say(append(sound(1, 24_000)));
  stream().event('speech.started', 100);
  stream().event('turn.ended', 960);
  await tick();
  taken();
  say(COMMIT);
  const { code, message } = errorOf(taken());
  assert.equal(code, 'input_audio_buffer_commit_empty');
  assert.match(message ?? '', /only has 40\.00ms of audio/);
});

test('an update does not divide what the client has not committed, unless the format changes', async (t) => {
  const { say, taken, stream, recogniser } = open(t);
  say(update({ turn_detection: null }), append(sound(1, 24_000)));
  say(update({ transcription: { language: 'de' } }), append(sound(1, 24_000)), COMMIT);
  stream().analyse();
  await tick();
  const completed = taken().filter(({ type }) => String(type).endsWith('completed'));
  assert.deepEqual(
    completed.map(({ usage }) => usage),
    [{ type: 'duration', seconds: 2 }],
  );
  say(append(sound(1, 24_000)));
  assert.deepEqual(
    recogniser.opened.map(({ options }) => options.language),
    [undefined, 'de'],
  );
  say(update({ format: { type: 'audio/pcmu' } }), append(Buffer.alloc(8000, 0xff)));
  assert.equal(recogniser.opened.length, 3);
});

test('after ten minutes without a commit more sound is refused, until the buffer is empty', async (t) => {
  const { say, taken, stream } = open(t);
  const minutes = async (count: number) => {
    for (let n = 0; n < 20 * count; n++) {
      say(append(sound(3, 8000)));
      stream().analyse();
      await tick(); // the recogniser reads
    }
  };
  say(update({ turn_detection: null, format: { type: 'audio/pcm', rate: 8000 } }));
  taken();
  await minutes(10);
  assert.deepEqual(taken(), []);
  say(append(sound(0.1, 8000)));
  const { type, code, message } = (taken()[0] ?? {})['error'] as Readonly<Record<string, string>>;
  assert.deepEqual(
    [type, code, message],
    [
      'invalid_request_error',
      'queue_full',
      'the input audio buffer has 10 minutes of sound: commit it, or clear it',
    ],
  );
  say(COMMIT, append(sound(1, 8000)), { type: 'input_audio_buffer.clear' }, append(sound(1, 8000)));
  await tick();
  assert.equal(types(taken()).includes('error'), false);
});

test('a cleared buffer has no item', async (t) => {
  const { say, taken } = open(t);
  say(update({ turn_detection: null }), append(sound(1, 24_000)), { type: 'input_audio_buffer.clear' });
  say(COMMIT);
  await tick();
  assert.deepEqual(types(taken()).slice(2), ['input_audio_buffer.cleared', 'error']);
});

test('sound after an update has the new session, and the times go on', async (t) => {
  const { say, taken, stream, session, recogniser } = open(t);
  say(
    append(sound(2, 24_000)),
    update({ format: { type: 'audio/pcmu' }, transcription: { language: 'de' } }),
  );
  say(append(Buffer.alloc(8000, 0xff)));
  await tick();
  assert.equal(recogniser.opened.length, 2);
  assert.equal(session(1).options.language, 'de');
  stream(1).event('speech.started', 500);
  assert.equal(taken().at(-1)?.['audio_start_ms'], 2500);
  stream(0).analyse();
  await tick();
  session(0).read();
  await tick();
  assert.equal(session(0).closed, true);
});

test('an update before the commit leaves the sound that came, and null fields are absent ones', async (t) => {
  const { say, taken, stream } = open(t);
  say(update({ turn_detection: null, format: null, transcription: null }), append(sound(1, 24_000)));
  stream().event('speech.started', 100);
  stream().analyse();
  say(update({ turn_detection: { type: 'server_vad', silence_duration_ms: null } }), COMMIT);
  await tick();
  assert.equal(types(taken()).at(-1), 'conversation.item.input_audio_transcription.completed');
});

test('the beta has its own names', async (t) => {
  const { say, taken, stream } = open(t);
  say({
    type: 'transcription_session.update',
    session: {
      input_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'whisper-1', language: '' },
      turn_detection: null,
    },
  });
  say(append(Buffer.alloc(8000, 0xff)));
  stream().event('speech.started', 100);
  stream().analyse();
  say(COMMIT);
  await tick();
  const messages = taken();
  assert.deepEqual(types(messages).slice(1), [
    'transcription_session.updated',
    'input_audio_buffer.committed',
    'conversation.item.created',
    'conversation.item.input_audio_transcription.delta',
    'conversation.item.input_audio_transcription.completed',
  ]);
});

for (const [what, message, code, said] of [
  [
    'an unknown type',
    { type: 'response.create' },
    'invalid_value',
    /"session.update", "input_audio_buffer.append"/,
  ],
  ['sound that is not base64', { type: 'input_audio_buffer.append', audio: '§' }, 'invalid_value', /base64/],
  [
    'sound that is a number',
    { type: 'input_audio_buffer.append', audio: 7 },
    'invalid_value',
    /must be a string/,
  ],
  ['a text', 'hello', 'malformed', /must be JSON/],
  ['binary sound', Buffer.alloc(10), 'malformed', /must be text, not binary/],
  [
    'a session of another type',
    { type: 'session.update', session: { type: 'realtime' } },
    'invalid_value',
    /"transcription"/,
  ],
  ['a wrong format', update({ format: { type: 'audio/mp3' } }), 'invalid_value', /"audio\/pcm"/],
  ['a wrong rate', update({ format: { type: 'audio/pcm', rate: 1 } }), 'invalid_value', /8000 to 192000/],
  ['a wrong detector', update({ turn_detection: { type: 'x' } }), 'invalid_value', /"server_vad"/],
  ['a long prompt', update({ transcription: { prompt: 'x'.repeat(5000) } }), 'invalid_value', /4096/],
  ['a wrong language', update({ transcription: { language: '!' } }), 'invalid_value', /a tag such as/],
  ['an unknown model', update({ transcription: { model: 'unknown' } }), 'model_not_found', /no such model/],
] as const) {
  test(`${what} is an error event, and the session goes on`, (t) => {
    const { say, taken, closedWith } = open(t);
    taken();
    say(message);
    const [event] = taken();
    const error = event?.['error'] as { code: string; message: string };
    assert.equal(error.code, code);
    assert.match(error.message, said);
    say(append(sound(0.1, 24_000)));
    assert.deepEqual(taken(), []);
    assert.deepEqual(closedWith, []);
  });
}

test('a turn whose engine is lost fails by name, and the socket closes', async (t) => {
  const { say, taken, stream, session, closedWith } = open(t);
  say(append(sound(1, 24_000)));
  stream().event('speech.started', 100);
  taken();
  session().fail(new ParleyError('ENGINE_LOST', 'gone'));
  await tick();
  assert.deepEqual(types(taken()), ['conversation.item.input_audio_transcription.failed', 'error']);
  assert.deepEqual(closedWith, [[1011, 'engine_lost']]);
});

test('the session of a client secret transcribes from the first sound on, whatever the URL says', async (t) => {
  for (const query of ['', '?model=gpt-realtime&agent=sales', '?intent=transcription']) {
    const transcription = { model: 'gpt-4o-transcribe', language: 'de', prompt: 'Ships.' };
    const input = { format: { type: 'audio/pcmu' }, transcription, turn_detection: null };
    const { say, taken, session, stream } = openWith(t, { type: 'transcription', audio: { input } }, query);
    const [created, ...more] = taken();
    assert.deepEqual(
      [created?.['type'], created?.['session'], more],
      [
        'session.created',
        {
          id: 'sess_12345678',
          object: 'realtime.transcription_session',
          type: 'transcription',
          audio: { input: { ...input, noise_reduction: null } },
          include: null,
        },
        [],
      ],
    );
    say(append(Buffer.alloc(8000, 0xff)));
    stream().event('speech.started', 100);
    stream().analyse();
    const { language, context } = session().options;
    assert.deepEqual([language, context], ['de', 'Ships.']);
    say(COMMIT);
    await tick();
    assert.deepEqual(types(taken()), [
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
    ]);
    say({ type: 'response.create' });
    assert.deepEqual(types(taken()), ['error']);
  }
});

test('a mistake in the session of a client secret is told, and the usual session holds', (t) => {
  const input = { format: { type: 'audio/pcmu' }, turn_detection: { type: 'x' } };
  const { taken } = openWith(t, { type: 'transcription', audio: { input } });
  const [created, error] = taken();
  const { audio } = (created ?? {})['session'] as { audio: { input: { format: object } } };
  assert.deepEqual(audio.input.format, { type: 'audio/pcm', rate: 24_000 });
  assert.match(((error ?? {})['error'] as { message: string }).message, /"server_vad"/);
});

test('the session of a client secret for conversations is none of transcription', (t) => {
  const conversation = { type: 'realtime', audio: { input: { format: { type: 'audio/pcmu' } } } };
  assert.throws(() => openWith(t, conversation), { code: 'INVALID_FIELD', field: 'intent' });
  const { taken } = openWith(t, conversation, '?intent=transcription');
  const [created, ...more] = taken();
  const { audio } = (created ?? {})['session'] as { audio: { input: { format: object } } };
  assert.deepEqual([audio.input.format, more], [{ type: 'audio/pcm', rate: 24_000 }, []]);
});

test('a URL without the intent of transcription is refused, unless its model transcribes', (t) => {
  assert.throws(() => open(t, ''), { code: 'INVALID_FIELD', field: 'intent' });
  assert.throws(() => open(t, '?model=gpt-realtime'), { code: 'INVALID_FIELD' });
  assert.throws(() => open(t, '?intent=transcription&model=unknown'), { code: 'MODEL_UNKNOWN' });
  open(t, '?model=gpt-4o-transcribe');
  open(t, '?intent=transcription&model=whisper-1');
});

test('a session that asks for figures is told so, and one that asks wrongly is refused', (t) => {
  const { say, taken } = open(t);
  taken();
  say(update({ transcription: { language: 'en', smart_format: true } }));
  const session = taken()[0]?.['session'] as {
    readonly audio: { readonly input: { readonly transcription: Readonly<Record<string, unknown>> } };
  };
  assert.equal(session.audio.input.transcription['smart_format'], true);
  say(update({ transcription: { smart_format: 'yes' } }));
  assert.match(errorOf(taken())?.['message'] ?? '', /smart_format/);
});
