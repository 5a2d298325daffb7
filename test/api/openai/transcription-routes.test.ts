// The transcription and translation endpoints with a scripted transcriber: fields, formats, events, refusals.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';
import { FakeTranscriber, piece } from '../fake-transcriber.js';

const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const TRANSLATIONS = '/v1/audio/translations';
const SOUND = Buffer.from('the bytes of a sound');

class FakeTranslator {
  readonly asked: { lines: readonly string[]; from: string | undefined; to: string }[] = [];

  translate(
    lines: readonly string[],
    languages: { from: string | undefined; to: string },
  ): Promise<string[]> {
    this.asked.push({ lines, ...languages });
    return Promise.resolve(lines.map((line) => line.toUpperCase()));
  }
}

async function openEars(t: TestContext, limits: { maxBytes?: number; maxRequests?: number } = {}) {
  const transcriber = new FakeTranscriber();
  const translator = new FakeTranslator();
  const transcription = { transcriber, translator, maxBytes: 10_000, maxRequests: 4, ...limits };
  return { ...(await openServer(t, { transcription })), transcriber, translator };
}

type Fields = Readonly<Record<string, string | readonly string[]>>;

function formOf(fields: Fields, file: Uint8Array<ArrayBuffer> | Buffer = SOUND): FormData {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(file)]), 'a.wav');
  for (const [name, values] of Object.entries(fields))
    for (const value of [values].flat()) form.append(name, value);
  return form;
}

function post(url: string, path: string, fields: Fields = {}, file = SOUND): Promise<Response> {
  return fetch(url + path, { method: 'POST', body: formOf(fields, file) });
}

test('a form with nothing but a file is answered with the text in JSON', async (t) => {
  const { url, transcriber } = await openEars(t);
  const answer = await post(url, TRANSCRIPTIONS);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(await answer.json(), {
    text: 'Hello there. How are you?',
    languages: [{ code: 'en' }],
    usage: { type: 'duration', seconds: 3 },
  });
  const [asked] = transcriber.asked;
  assert.deepEqual(asked?.bytes, SOUND);
  const { language, context, times, pieceSeconds } = asked.request;
  assert.deepEqual([language, context, times, pieceSeconds], [undefined, undefined, 'shared', 60]);
});

test('fields before and after the file, with and without brackets, are heeded', async (t) => {
  const { url, transcriber } = await openEars(t);
  const fields = {
    model: 'whisper-1',
    prompt: ' A talk about ships. ',
    'keywords[]': ['Bremen', 'Hamburg'],
    language: 'German',
    response_format: 'verbose_json',
    'timestamp_granularities[]': ['word', 'segment'],
    temperature: '0.5',
    'include[]': 'logprobs',
    'known_speaker_names[]': 'Anna',
  };
  const answer = await post(url, TRANSCRIPTIONS, fields);
  assert.equal(answer.headers.get('x-timestamps'), 'accurate');
  assert.equal(answer.headers.get('x-ignored-fields'), 'temperature, known_speaker_names, include=logprobs');
  const { context, language, times } = transcriber.asked[0]?.request ?? {};
  assert.deepEqual([context, language, times], ['A talk about ships.\nBremen, Hamburg', 'de', 'aligned']);
  const body = (await answer.json()) as Record<string, unknown>;
  assert.equal(body['language'], 'english');
  assert.equal(body['duration'], 3);
  assert.deepEqual(
    (body['words'] as { word: string }[]).map(({ word }) => word).join(' '),
    'Hello there How are you',
  );
  assert.deepEqual(
    (body['segments'] as { text: string; start: number }[]).map(({ text }) => text),
    ['Hello there.', 'How are you?'],
  );
});

test('verbose JSON has the granularities that were asked for, segments by default', async (t) => {
  const { url } = await openEars(t);
  const keys = async (fields: Fields) => {
    const answer = await post(url, TRANSCRIPTIONS, { response_format: 'verbose_json', ...fields });
    return Object.keys((await answer.json()) as object).filter(
      (key) => key === 'segments' || key === 'words',
    );
  };
  assert.deepEqual(await keys({}), ['segments']);
  assert.deepEqual(await keys({ 'timestamp_granularities[]': 'word' }), ['words']);
  assert.deepEqual(await keys({ timestamp_granularities: ['word', 'segment'] }), ['segments', 'words']);
});

for (const [path, language] of [
  [TRANSCRIPTIONS, 'language'],
  [TRANSLATIONS, 'source_language'],
] as const) {
  test(`${path} says that accurate times are not to be had without an aligner`, async (t) => {
    const { url, transcriber } = await openEars(t);
    transcriber.canAlign = false;
    transcriber.pieces = [piece('Hello there.', 0, 3, { isAligned: false })];
    const asked = { response_format: 'srt', timestamps: 'accurate' };
    const answer = await post(url, path, asked);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-ignored-fields'), 'timestamps');
    assert.equal(answer.headers.get('x-timestamps'), 'fast');
    assert.deepEqual(
      [transcriber.asked[0]?.request.times, transcriber.asked[0]?.request.isTimed],
      ['shared', true],
    );
    const streamed = await post(url, path, { ...asked, stream: 'true' });
    assert.equal(streamed.headers.get('x-ignored-fields'), 'timestamps');
    assert.match(await streamed.text(), /"timestamps":"fast"/);
    for (const fields of [
      { response_format: 'srt' },
      { ...asked, timestamps: 'fast' },
      { timestamps: 'accurate' },
    ])
      assert.equal((await post(url, path, fields)).headers.get('x-ignored-fields'), null);
  });

  test(`${path} says that a recogniser has no use for a prompt and keywords`, async (t) => {
    const { url, transcriber } = await openEars(t);
    const told = async (fields: Fields) => (await post(url, path, fields)).headers.get('x-ignored-fields');
    assert.equal(await told({ prompt: 'Names.' }), null);
    Object.assign(transcriber, { ignoresContext: true });
    assert.equal(await told({ prompt: 'Names.' }), 'prompt');
    assert.equal(await told({}), null);
  });

  test(`${path} says that the aligner does not know the language, and aligns nevertheless`, async (t) => {
    const { url, transcriber } = await openEars(t);
    Object.assign(transcriber, { alignedLanguages: ['en', 'fr'] });
    const times = async (fields: Fields) => {
      const answer = await post(url, path, { response_format: 'srt', ...fields });
      return [answer.headers.get('x-ignored-fields'), transcriber.asked.at(-1)?.request.times];
    };
    assert.deepEqual(await times({ [language]: 'de' }), [language, 'aligned']);
    assert.deepEqual(await times({ [language]: 'fr-CA' }), [null, 'aligned']);
    assert.deepEqual(await times({}), [null, 'aligned']);
    assert.deepEqual(await times({ [language]: 'de', timestamps: 'fast' }), [null, 'shared']);
    assert.deepEqual(await times({ [language]: 'de', response_format: 'json' }), [null, 'shared']);
    if (language === 'language')
      assert.deepEqual(await times({ 'languages[]': 'de' }), ['languages', 'aligned']);
  });
}

for (const [format, contentType, body] of [
  ['text', 'text/plain; charset=utf-8', 'Hello there. How are you?\n'],
  [
    'srt',
    'application/x-subrip; charset=utf-8',
    '1\n00:00:00,000 --> 00:00:01,159\nHello there.\n\n2\n00:00:01,841 --> 00:00:03,000\nHow are you?\n\n',
  ],
  [
    'vtt',
    'text/vtt; charset=utf-8',
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.159\nHello there.\n\n00:00:01.841 --> 00:00:03.000\nHow are you?\n\n',
  ],
] as const) {
  test(`the format ${format} is answered in its content type`, async (t) => {
    const { url } = await openEars(t);
    const answer = await post(url, TRANSCRIPTIONS, { response_format: format });
    assert.equal(answer.headers.get('content-type'), contentType);
    const text = await answer.text();
    if (format === 'text') assert.equal(text, body);
    else
      assert.equal(
        text.replaceAll(/\d\d:\d\d:\d\d[.,]\d{3}/g, 'T'),
        body.replaceAll(/\d\d:\d\d:\d\d[.,]\d{3}/g, 'T'),
      );
  });
}

test('a body that is the file has its fields in the URL', async (t) => {
  const { url, transcriber } = await openEars(t);
  const query = 'response_format=vtt&timestamp_granularities[]=word&max_line_chars=20&language=en';
  const answer = await fetch(`${url}${TRANSCRIPTIONS}?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'audio/wav' },
    body: SOUND,
  });
  assert.match(await answer.text(), /^WEBVTT\n\n.*\nHello <00:00:00\.\d{3}>there\.\n/);
  assert.deepEqual(transcriber.asked[0]?.bytes, SOUND);
});

test('subtitles are timed fast where that is asked for, where there is no aligner, and where it failed', async (t) => {
  const { url, transcriber } = await openEars(t);
  const times = async (fields: Fields) => {
    const answer = await post(url, TRANSCRIPTIONS, { response_format: 'srt', ...fields });
    await answer.text();
    return [transcriber.asked.at(-1)?.request.times, answer.headers.get('x-timestamps')];
  };
  assert.deepEqual(await times({ timestamps: 'accurate' }), ['aligned', 'accurate']);
  const [first, second] = [piece('One.', 0, 1), piece('Two.', 1, 2, { isAligned: false })];
  transcriber.pieces = [first, second];
  assert.deepEqual(await times({}), ['aligned', 'mixed']);
  transcriber.pieces = [second];
  assert.deepEqual(await times({ timestamps: 'fast' }), ['shared', 'fast']);
  transcriber.canAlign = false;
  assert.deepEqual(await times({}), ['shared', 'fast']);
});

test('a stream tells each piece as it goes on, and all of it at the end', async (t) => {
  const { url, transcriber } = await openEars(t);
  transcriber.pieces = [piece('Hello there.', 0, 1), piece('', 1, 2), piece('And bye.', 2, 3)];
  const fields = { stream: 'true', 'timestamp_granularities[]': 'segment', 'include[]': 'progress' };
  const answer = await post(url, TRANSCRIPTIONS, fields);
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.deepEqual(eventsIn(await answer.text()), [
    { type: 'transcript.text.delta', delta: 'Hello there.' },
    { type: 'transcript.text.segment', id: 'seg_001', text: 'Hello there.', start: 0, end: 1 },
    { type: 'transcript.progress', bytes: 20, total_bytes: 20, seconds: 1 },
    { type: 'transcript.progress', bytes: 20, total_bytes: 20, seconds: 2 },
    { type: 'transcript.text.delta', delta: ' And bye.' },
    { type: 'transcript.text.segment', id: 'seg_002', text: 'And bye.', start: 2, end: 3 },
    { type: 'transcript.progress', bytes: 20, total_bytes: 20, seconds: 3 },
    {
      type: 'transcript.text.done',
      text: 'Hello there. And bye.',
      languages: [{ code: 'en' }],
      usage: { type: 'duration', seconds: 3 },
      timestamps: 'accurate',
    },
  ]);
});

function eventsIn(body: string): unknown[] {
  return body
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as unknown);
}

test('a stream of subtitles has them at the end, and of a translation only that', async (t) => {
  const { url } = await openEars(t);
  const fields = { stream: 'true', response_format: 'vtt' };
  const [delta, done] = eventsIn(await (await post(url, TRANSCRIPTIONS, fields)).text()) as {
    type: string;
    subtitles?: string;
  }[];
  assert.equal(delta?.type, 'transcript.text.delta');
  assert.match(done?.subtitles ?? '', /^WEBVTT\n\n.*\nHello there\.\n\n/);
  const all = eventsIn(await (await post(url, TRANSLATIONS, { ...fields, 'include[]': 'progress' })).text());
  assert.deepEqual(
    all.map((event) => (event as { type: string }).type),
    ['transcript.progress', 'transcript.text.done'],
  );
  const { text, subtitles } = all[1] as { text: string; subtitles: string };
  assert.equal(text, 'HELLO THERE. HOW ARE YOU?');
  assert.match(subtitles, /^WEBVTT\n\n.*\nHELLO THERE\.\n\n/);
});

test('a stream that breaks off says so in an event, and one that cannot begin in its status', async (t) => {
  const { url, transcriber, logLines } = await openEars(t);
  transcriber.failure = new ParleyError('ENGINE_LOST', 'the machine is on fire');
  const broken = await post(url, TRANSCRIPTIONS, { stream: 'true' });
  assert.equal(broken.status, 200);
  const [delta, error] = eventsIn(await broken.text()) as [{ type: string }, { type: string; error: object }];
  assert.equal(delta.type, 'transcript.text.delta');
  assert.equal(error.type, 'error');
  assert.deepEqual(error.error, {
    message: 'the machine is on fire',
    type: 'server_error',
    param: null,
    code: 'engine_lost',
  });
  transcriber.refusal = new ParleyError('ENGINE_BUSY', 'later', { retryAfterSeconds: 7 });
  const refused = await post(url, TRANSCRIPTIONS, { stream: 'true' });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get('retry-after'), '7');
  assert.equal(errorIn(await refused.text()).code, 'engine_busy');
  await until(() => logLines.some((line) => line.includes('"code":"engine_lost"')));
});

for (const [stated, tag] of [
  [' en ', 'en'],
  ['deu', 'de'],
  ['ENGLISH', 'en'],
  ['Haitian Creole', 'ht'],
  ['Brazilian Portuguese', 'pt-BR'],
  [' auto ', undefined],
] as const) {
  test(`the language "${stated}" is understood in each field of files`, async (t) => {
    const { url, transcriber, translator } = await openEars(t);
    for (const [path, field] of [
      [TRANSCRIPTIONS, 'language'],
      [TRANSCRIPTIONS, 'languages[]'],
      [TRANSLATIONS, 'source_language'],
    ] as const) {
      assert.equal((await post(url, path, { [field]: stated })).status, 200, field);
      assert.equal(transcriber.asked.at(-1)?.request.language, tag, field);
    }
    assert.equal((await post(url, TRANSLATIONS, { language: stated })).status, 200);
    assert.equal(translator.asked.at(-1)?.to, tag ?? 'en');
  });
}

test('a language to translate into that nobody knows is refused with the list', async (t) => {
  const { url, transcriber } = await openEars(t);
  for (const language of ['klingonish', 'xx', 'old high valyrian']) {
    const answer = await post(url, TRANSLATIONS, { language });
    assert.equal(answer.status, 400);
    const { message, param } = errorIn(await answer.text());
    assert.equal(param, 'language');
    assert.match(message, /its English name, or a tag such as .*\bde, .*\ben, /);
  }
  assert.equal(transcriber.asked.length, 0);
});

test('translated subtitles keep `max_line_chars`, in a file and in a stream', async (t) => {
  const { url, transcriber } = await openEars(t);
  const said = 'We were there, and we have seen all of it with our own two eyes.';
  transcriber.pieces = [piece(said, 2, 6)];
  for (const stream of ['false', 'true']) {
    const fields = { response_format: 'vtt', language: 'fr', max_line_chars: '12', stream };
    const body = await (await post(url, TRANSLATIONS, fields)).text();
    const [done] = stream === 'true' ? (eventsIn(body) as { subtitles: string }[]) : [];
    const file = done?.subtitles ?? body;
    const lines = file.split('\n').filter((line) => /[A-Z]/.test(line) && line !== 'WEBVTT');
    for (const line of lines) assert.ok(line.length <= 12, line);
    assert.equal(lines.join(' '), said.toUpperCase());
    const times = Array.from(file.matchAll(/(\S+) --> (\S+)/g), ([, from, to]) => [from, to]);
    assert.equal(times[0]?.[0], '00:00:02.000');
    assert.equal(times.at(-1)?.[1], '00:00:06.000');
    for (const cue of file.split('\n\n').slice(1)) assert.ok(cue.trim().split('\n').length <= 3, cue);
  }
});

test('a translation keeps numbers and times of subtitles, and has the language of `language`', async (t) => {
  const { url, translator, transcriber } = await openEars(t);
  const subtitles = await post(url, TRANSLATIONS, { response_format: 'srt', language: 'fr' });
  const original = await post(url, TRANSCRIPTIONS, { response_format: 'srt' });
  assert.equal(
    await subtitles.text(),
    (await original.text()).replace('Hello there.', 'HELLO THERE.').replace('How are you?', 'HOW ARE YOU?'),
  );
  assert.deepEqual(translator.asked, [{ lines: ['Hello there.', 'How are you?'], from: 'en', to: 'fr' }]);
  const text = await post(url, TRANSLATIONS, { source_language: 'de' });
  assert.deepEqual(await text.json(), {
    text: 'HELLO THERE. HOW ARE YOU?',
    languages: [{ code: 'en' }],
    usage: { type: 'duration', seconds: 3 },
  });
  assert.equal(transcriber.asked.at(-1)?.request.language, 'de');
  const verbose = (await (await post(url, TRANSLATIONS, { response_format: 'verbose_json' })).json()) as {
    task: string;
    segments: { text: string }[];
  };
  assert.equal(verbose.task, 'translate');
  assert.deepEqual(
    verbose.segments.map((segment) => segment.text),
    ['HELLO THERE.', 'HOW ARE YOU?'],
  );
});

test('what a server cannot do is refused by name', async (t) => {
  const { url } = await openServer(t);
  const deaf = await post(url, TRANSCRIPTIONS);
  assert.equal(deaf.status, 501);
  assert.equal(errorIn(await deaf.text()).message, 'this server recognises no speech');
  const { url: mute } = await openServer(t, {
    transcription: {
      transcriber: new FakeTranscriber(),
      translator: undefined,
      maxBytes: 1000,
      maxRequests: 1,
    },
  });
  const untranslated = await post(mute, TRANSLATIONS);
  assert.equal(untranslated.status, 501);
  assert.equal(errorIn(await untranslated.text()).message, 'this server does not translate');
  const { url: able } = await openEars(t);
  const diarized = await post(able, TRANSLATIONS, { response_format: 'diarized_json' });
  assert.equal(diarized.status, 400);
  assert.match(errorIn(await diarized.text()).message, /of a translation must not be "diarized_json"/);
});

for (const [name, value, message] of [
  ['response_format', 'ass', /one of "json", "text", "srt"/],
  ['max_line_chars', '9', /a whole number from 10 to 200/],
  ['max_line_chars', 'wide', /a whole number from 10 to 200/],
  ['timestamps', 'exact', /one of "accurate", "fast"/],
  ['stream', 'maybe', /true or false/],
  ['prompt', 'x'.repeat(1_000_000), /at most 4096 characters/],
  ['language', 'no language!', /a tag such as "en"/],
  ['timestamp_granularities[]', 'letter', /one of "word", "segment"/],
  ['keywords[]', 'x'.repeat(101), /at most 100 characters/],
] as const) {
  test(`the field ${name} with a wrong value of ${value.length} characters is refused`, async (t) => {
    const { url, transcriber } = await openEars(t, { maxBytes: 2_000_000 });
    const answer = await post(url, TRANSCRIPTIONS, { [name]: value });
    assert.equal(answer.status, 400);
    const error = errorIn(await answer.text());
    assert.match(error.message, message);
    assert.match(error.param ?? '', new RegExp(`^${name.replace('[]', '')}`));
    assert.equal(transcriber.asked.length, 0);
  });
}

test('a cue may not be shorter at most than at least', async (t) => {
  const { url } = await openEars(t);
  const answer = await post(url, TRANSCRIPTIONS, { min_cue_seconds: '5', max_cue_seconds: '2' });
  assert.equal(errorIn(await answer.text()).param, 'min_cue_seconds');
});

test('a file that is too large is refused, by its stated length or as it comes', async (t) => {
  const { url, transcriber } = await openEars(t, { maxBytes: 1000 });
  const form = await post(url, TRANSCRIPTIONS, {}, Buffer.alloc(1001));
  assert.deepEqual([form.status, errorIn(await form.text()).param], [413, 'file']);
  const huge = await post(url, TRANSCRIPTIONS, {}, Buffer.alloc(2 << 20));
  assert.equal(huge.status, 413);
  const raw = { method: 'POST', headers: { 'content-type': 'audio/wav' } };
  assert.equal((await fetch(url + TRANSCRIPTIONS, { ...raw, body: Buffer.alloc(1001) })).status, 413);
  assert.equal(transcriber.asked.length, 0);
  // Without a length the limit is met while the file is read.
  const pieces = new ReadableStream({
    start: (controller) => {
      for (let n = 0; n < 11; n++) controller.enqueue(Buffer.alloc(100));
      controller.close();
    },
  });
  const chunked = await fetch(url + TRANSCRIPTIONS, { ...raw, body: pieces, duplex: 'half' });
  assert.equal(chunked.status, 413);
});

test('more requests than may wait are refused, and let in again when one is over', async (t) => {
  const { url, transcriber } = await openEars(t, { maxRequests: 4 }); // two of one client
  let finish: () => void = () => undefined;
  transcriber.until = new Promise((resolve) => (finish = resolve));
  const both = [post(url, TRANSCRIPTIONS), post(url, TRANSCRIPTIONS)];
  await until(() => transcriber.asked.length === 2);
  const third = await post(url, TRANSCRIPTIONS);
  assert.equal(third.status, 503);
  const { code, message } = errorIn(await third.text());
  assert.equal(code, 'queue_full');
  assert.equal(message, '2 sounds of this client are in work or wait, and no more may');
  finish();
  for (const answer of await Promise.all(both)) assert.equal(answer.status, 200);
  assert.equal((await post(url, TRANSCRIPTIONS)).status, 200);
});

test('a client that leaves gives its work up', async (t) => {
  const { url, transcriber } = await openEars(t);
  transcriber.until = new Promise(() => undefined);
  const gone = new AbortController();
  const body = formOf({ stream: 'true' });
  const asked = fetch(url + TRANSCRIPTIONS, { method: 'POST', body, signal: gone.signal });
  await asked;
  assert.equal(transcriber.asked[0]?.signal.aborted, false);
  gone.abort();
  await until(() => transcriber.asked[0]?.signal.aborted === true);
});

test('a body that is the file is transcribed while it arrives', async (t) => {
  const { url, transcriber } = await openEars(t);
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  const head = `POST ${TRANSCRIPTIONS} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: audio/wav\r\n`;
  socket.write(`${head}Content-Length: 10\r\n\r\nfirst`);
  await until(() => transcriber.asked[0]?.bytes.toString() === 'first');
  socket.write('again');
  const answer = String((await once(socket, 'data'))[0]);
  assert.match(answer, /^HTTP\/1\.1 200 OK/);
  assert.equal(transcriber.asked[0]?.bytes.toString(), 'firstagain');
});

test('the model of the recogniser is listed beside that of the voice', async (t) => {
  const { url } = await openEars(t);
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as {
    data: { id: string; task: string }[];
  };
  assert.deepEqual(
    data.map(({ id, task }) => [id, task]),
    [
      ['parley', 'text-to-speech'],
      ['fake-asr', 'automatic-speech-recognition'],
    ],
  );
  const one = (await (await fetch(`${url}/v1/models/fake-asr`)).json()) as { language: string[] };
  const whisper = (await (await fetch(`${url}/v1/models/whisper-1`)).json()) as object;
  assert.deepEqual(whisper, { ...one, id: 'whisper-1' });
  assert.deepEqual(one.language, ['en', 'de']);
});

test('a strict server takes the names of transcription models of OpenAI, and its own', async (t) => {
  const transcription = {
    transcriber: new FakeTranscriber(),
    translator: undefined,
    maxBytes: 1000,
    maxRequests: 4,
  };
  const { url } = await openServer(t, { transcription, models: { id: 'parley', strict: true } });
  for (const model of ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe-2025-03-20', 'fake-asr'])
    assert.equal((await post(url, TRANSCRIPTIONS, { model })).status, 200, model);
  const other = await post(url, TRANSCRIPTIONS, { model: 'tts-1' });
  assert.deepEqual([other.status, errorIn(await other.text()).code], [404, 'model_not_found']);
});

test('the log has the figures of a transcription without its words, and the metrics count it', async (t) => {
  const { url, logLines, metrics } = await openEars(t);
  await post(url, TRANSCRIPTIONS, { response_format: 'srt' });
  await until(() => logLines.some((line) => line.includes('request answered')));
  const line = logLines.find((one) => one.includes('request answered')) ?? '';
  assert.doesNotMatch(line, /Hello/);
  const { audioMs, queueMs, firstTextMs, inferMs, characters, format, language, times } = JSON.parse(
    line,
  ) as Record<string, unknown>;
  assert.deepEqual(
    [audioMs, queueMs, firstTextMs, inferMs, characters, format, language, times],
    [3000, 1, 2, 3, 25, 'srt', 'en', 'accurate'],
  );
  const exposition = await metrics.exposition();
  for (const sample of [
    `asr_requests_total{endpoint="${TRANSCRIPTIONS}",format="srt",status="200"} 1`,
    'asr_audio_seconds_total 3',
    'asr_queue_seconds_sum 0.001',
    'asr_first_text_seconds_sum 0.002',
    'asr_inference_duration_seconds_sum 0.003',
    'asr_real_time_factor_sum 0.001',
  ])
    assert.ok(exposition.includes(`${sample}\n`), sample);
});

test('figures are written where they are asked for, and the words stay as they were heard', async (t) => {
  const { url, transcriber } = await openEars(t);
  transcriber.pieces = [piece('It is four two oh seven.', 0, 3)];
  const asked = { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] };
  const textOf = async (fields: Fields) =>
    (await (await post(url, TRANSCRIPTIONS, fields)).json()) as {
      readonly text: string;
      readonly segments: readonly { readonly text: string }[];
      readonly words: readonly { readonly word: string }[];
    };
  assert.equal((await textOf(asked)).text, 'It is four two oh seven.');
  const { text, segments, words } = await textOf({ ...asked, smart_format: 'true' });
  assert.equal(text, 'It is 4207.');
  assert.equal(segments[0]?.text, 'It is 4207.');
  assert.equal(words.map(({ word }) => word).join(' '), 'It is four two oh seven');
  const streamed = await (await post(url, TRANSCRIPTIONS, { stream: 'true', smart_format: 'true' })).text();
  assert.match(streamed, /"delta":"It is 4207\."/);
});
