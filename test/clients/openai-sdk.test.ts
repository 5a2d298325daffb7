// Uses the npm package `openai`, unchanged but for its base URL. Speech events are read by its stream, and
// line by line as LiveKit's agents read them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI, { APIError } from 'openai';
import { Stream } from 'openai/core/streaming';
import { ParleyError } from '../../src/errors.js';
import type { Server } from '../../src/main.js';
import { openServer } from '../api/app-under-test.js';
import { decoded, probed } from '../fakes/ffmpeg.js';
import { KEY, speakingServer, TEXT } from './speaking-server.js';

let server: Server;
let client: OpenAI;

before(async () => {
  server = await speakingServer();
  client = clientOf(server.url);
});
after(() => server.close());

function clientOf(url: string, apiKey = KEY): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey });
}

async function bytesOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer());
}

async function refusal(asked: Promise<unknown>): Promise<APIError> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof APIError, String(error));
  return error;
}

test('speech in every format is sound of that format, as long in each', async () => {
  const asked = { model: 'tts-1', voice: 'alloy', input: TEXT } as const;
  const pcm = await client.audio.speech.create({ ...asked, response_format: 'pcm' });
  const seconds = (await bytesOf(pcm)).length / 2 / 24_000;
  assert.ok(seconds > 2 && seconds < 6, `${seconds} s`);
  const cases = [
    [undefined, 'audio/mpeg', { format: 'mp3', codec: 'mp3', rate: 24_000, channels: 1 }],
    ['mp3', 'audio/mpeg', { format: 'mp3', codec: 'mp3', rate: 24_000, channels: 1 }],
    ['opus', 'audio/opus', { format: 'ogg', codec: 'opus', rate: 48_000, channels: 1 }],
    ['aac', 'audio/aac', { format: 'aac', codec: 'aac', rate: 24_000, channels: 1 }],
    ['flac', 'audio/flac', { format: 'flac', codec: 'flac', rate: 24_000, channels: 1 }],
    ['wav', 'audio/wav', { format: 'wav', codec: 'pcm_s16le', rate: 24_000, channels: 1 }],
  ] as const;
  for (const [response_format, contentType, nature] of cases) {
    const form = response_format === undefined ? {} : { response_format };
    const answer = await client.audio.speech.create({ ...asked, ...form });
    assert.equal(answer.headers.get('content-type'), contentType);
    assert.match(answer.headers.get('x-request-id') ?? '', /^req_/);
    const file = await bytesOf(answer);
    assert.deepEqual(probed(file), nature);
    const length = decoded(file).length / nature.rate;
    assert.ok(Math.abs(length - seconds) < 0.15, `${response_format}: ${length} s, not ${seconds} s`);
  }
});

test('the body of an answer can be read while it is being made, and half of it left unread', async () => {
  const long = 'And so it went on and on, and nobody knew what to do about it. '.repeat(40);
  const answer = await client.audio.speech.create({
    model: 'tts-1',
    voice: 'nova',
    input: long,
    response_format: 'pcm',
  });
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined);
  assert.ok(((await reader.read()).value?.length ?? 0) > 0);
  await reader.cancel();
});

test("each of OpenAI's voices speaks, and so do one of ours and one by its id", async () => {
  const voices = [
    'alloy',
    'ash',
    'ballad',
    'coral',
    'echo',
    'fable',
    'onyx',
    'nova',
    'sage',
    'shimmer',
    'verse',
    'marin',
    'cedar',
  ];
  for (const voice of [...voices, 'slt', { id: 'rms' }]) {
    const answer = await client.audio.speech.create({ model: 'gpt-4o-mini-tts', voice, input: 'Yes.' });
    assert.ok((await bytesOf(answer)).length > 1000, JSON.stringify(voice));
  }
});

test('what is wrong with a request arrives as the class, code and field that the package has for it', async () => {
  const good = { model: 'tts-1', voice: 'alloy', input: 'Hello.' } as const;
  const cases = [
    [{ ...good, speed: 9 }, OpenAI.BadRequestError, 'invalid_value', 'speed', /0\.25 to 4/],
    [
      { ...good, response_format: 'vox' as 'mp3' },
      OpenAI.BadRequestError,
      'invalid_value',
      'response_format',
      /"mp3"/,
    ],
    [{ ...good, voice: 'slit' }, OpenAI.BadRequestError, 'voice_unknown', 'voice', /nearest are slt/],
    [{ ...good, input: 'x'.repeat(4097) }, OpenAI.BadRequestError, /./, 'input', /4096/],
    [{ ...good, input: '...' }, OpenAI.BadRequestError, 'text_empty', 'input', /letter or digit/],
  ] as const;
  for (const [body, kind, code, field, message] of cases) {
    const error = await refusal(client.audio.speech.create(body));
    assert.ok(error instanceof kind, error.constructor.name);
    if (typeof code === 'string') assert.equal(error.code, code);
    assert.equal(error.param, field);
    assert.equal(error.type, 'invalid_request_error');
    assert.match(error.message, message);
    assert.match(error.requestID ?? '', /^req_/);
  }
});

test('a wrong key, a model that is not there and an address that is not there have classes of their own', async () => {
  const stranger = await refusal(clientOf(server.url, 'not-one-of-the-keys').models.list());
  assert.ok(stranger instanceof OpenAI.AuthenticationError);
  assert.equal(stranger.code, 'invalid_api_key');
  const model = await refusal(client.models.retrieve('gpt-4o'));
  assert.ok(model instanceof OpenAI.NotFoundError);
  const address = await refusal(client.embeddings.create({ model: 'x', input: 'y' }));
  assert.ok(address instanceof OpenAI.NotFoundError);
  assert.equal(address.code, 'not_found');
});

test('the models are a page that can be iterated, with the id of the request', async () => {
  const { data: page, request_id: requestId } = await client.models.list().withResponse();
  assert.match(requestId ?? '', /^req_/);
  const ids: string[] = [];
  for await (const model of page) {
    assert.equal(model.object, 'model');
    assert.equal(typeof model.created, 'number');
    ids.push(model.id);
  }
  assert.equal(ids.length, 1);
  const model = await client.models.retrieve(ids[0] ?? '');
  assert.equal(model.id, ids[0]);
  assert.match(model._request_id ?? '', /^req_/);
});

test('a busy server is asked again after the milliseconds it names, three times in all', async (t) => {
  const { url, speech } = await openServer(t);
  speech.refusal = new ParleyError('ENGINE_BUSY', 'busy', { retryAfterSeconds: 0.01 });
  const asked = clientOf(url).audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello.' });
  const startedAt = performance.now();
  const error = await refusal(asked);
  assert.ok(performance.now() - startedAt < 1000); // retry-after alone would be a second each
  assert.ok(error instanceof OpenAI.InternalServerError);
  assert.deepEqual([error.status, error.code], [503, 'engine_busy']);
  assert.equal(speech.requests.length, 3);
});

test('a server that is free again answers the second attempt', async (t) => {
  const { url, speech } = await openServer(t);
  const open = speech.openStream.bind(speech);
  speech.whole = ['sound'];
  speech.openStream = (request, signal) => {
    speech.openStream = open;
    const busy = new ParleyError('QUEUE_FULL', 'full', { retryAfterSeconds: 0.01 });
    return request.text === 'Hello.' ? Promise.reject(busy) : open(request, signal);
  };
  const asked = { model: 'tts-1', voice: 'alloy', input: 'Hello.' } as const;
  const answer = await clientOf(url).audio.speech.create(asked);
  assert.equal((await bytesOf(answer)).toString(), 'sound');
});

test('what would fail again is not asked again', async (t) => {
  const { url, speech } = await openServer(t);
  for (const [code, status] of [
    ['ENGINE_FAILED', 500],
    ['TIMEOUT', 504],
    ['CAPABILITY_MISSING', 501],
  ] as const) {
    speech.requests.length = 0;
    speech.refusal = new ParleyError(code, 'no');
    const asked = clientOf(url).audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello.' });
    const error = await refusal(asked);
    assert.equal(error.status, status);
    assert.equal(speech.requests.length, 1, code);
  }
});

interface SpeechEvent {
  readonly type: string;
  readonly audio?: string;
  readonly usage?: { input_tokens: number; output_tokens: number; total_tokens: number };
}

function events(url: string, form: Record<string, unknown> = {}): Promise<Response> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY });
  const asked = { model: 'gpt-4o-mini-tts', voice: 'alloy', input: TEXT, stream_format: 'sse' } as const;
  return client.audio.speech.create({ ...asked, ...form });
}

test('the package reads events of every format, and the pieces make one sound', async () => {
  for (const [response_format, codec] of [
    ['mp3', 'mp3'],
    ['opus', 'opus'],
    ['flac', 'flac'],
    ['wav', 'pcm_s16le'],
  ] as const) {
    const answer = await events(server.url, { response_format });
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.match(answer.headers.get('cache-control') ?? '', /no-cache/);
    assert.equal(answer.headers.get('x-accel-buffering'), 'no');
    const received: SpeechEvent[] = [];
    for await (const event of Stream.fromSSEResponse<SpeechEvent>(answer, new AbortController()))
      received.push(event);
    const last = received.pop();
    assert.ok(received.length > 1);
    assert.ok(received.every(({ type }) => type === 'speech.audio.delta'));
    assert.equal(last?.type, 'speech.audio.done');
    const { input_tokens = 0, output_tokens = 0, total_tokens = 0 } = last?.usage ?? {};
    assert.ok([input_tokens, output_tokens].every((count) => Number.isInteger(count) && count > 0));
    assert.equal(total_tokens, input_tokens + output_tokens);
    const sound = Buffer.concat(received.map(({ audio = '' }) => Buffer.from(audio, 'base64')));
    assert.equal(probed(sound).codec, codec);
    assert.ok(decoded(sound).length > 2 * 24_000);
  }
});

test('what breaks off in the middle is thrown at whoever reads, after the pieces before it', async (t) => {
  const { url, speech } = await openServer(t);
  const answering = events(url);
  const stream = await speech.stream();
  stream.push('half');
  const answer = await answering;
  stream.end(new ParleyError('TIMEOUT', 'the sentence waited too long'));
  const received: string[] = [];
  const reading = (async () => {
    for await (const event of Stream.fromSSEResponse<SpeechEvent>(answer, new AbortController())) {
      received.push(event.type);
    }
  })();
  await assert.rejects(reading, OpenAI.APIError);
  assert.deepEqual(received, ['speech.audio.delta']);
});

test('what is refused before the first piece is an ordinary error', async () => {
  await assert.rejects(events(server.url, { input: '...' }), (error: unknown) => {
    return error instanceof OpenAI.BadRequestError && error.code === 'text_empty';
  });
});

// LiveKit agents for Python, openai.TTS: MP3 in events by default, speed always. The content type decides how
// the answer is read; of its lines those that begin with "data: " count.
test('LiveKit reads the events line by line', async () => {
  const answer = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${KEY}`,
      accept: 'application/octet-stream',
    },
    body: JSON.stringify({
      input: TEXT,
      model: 'gpt-4o-mini-tts',
      voice: 'ash',
      response_format: 'mp3',
      speed: 1.0,
      stream_format: 'sse',
    }),
  });
  assert.equal(answer.status, 200);
  const [contentType] = (answer.headers.get('content-type') ?? '').split(';');
  assert.equal(contentType, 'text/event-stream');
  const sound: Buffer[] = [];
  for (const line of (await answer.text()).split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const data = line.slice('data: '.length).trim();
    if (data === '[DONE]') break;
    const { audio, delta } = JSON.parse(data) as { audio?: string; delta?: string };
    const piece = audio ?? delta;
    if (piece !== undefined) sound.push(Buffer.from(piece, 'base64'));
  }
  assert.equal(probed(Buffer.concat(sound)).codec, 'mp3');
});
