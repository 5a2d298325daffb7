// Sound as events, read the ways in which clients read it: by the stream of the
// npm package `openai`, and line by line as LiveKit's agents do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { Stream } from 'openai/core/streaming';
import { ParleyError } from '../../src/errors.js';
import type { Server } from '../../src/main.js';
import { decoded, probed } from '../fakes/ffmpeg.js';
import { openServer } from '../api/app-under-test.js';
import { KEY, speakingServer, TEXT } from './speaking-server.js';

interface SpeechEvent {
  readonly type: string;
  readonly audio?: string;
  readonly usage?: { input_tokens: number; output_tokens: number; total_tokens: number };
}

let server: Server;

before(async () => {
  server = await speakingServer();
});
after(() => server.close());

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
    const told: SpeechEvent[] = [];
    for await (const event of Stream.fromSSEResponse<SpeechEvent>(answer, new AbortController()))
      told.push(event);
    const last = told.pop();
    assert.ok(told.length > 1);
    assert.ok(told.every(({ type }) => type === 'speech.audio.delta'));
    assert.equal(last?.type, 'speech.audio.done');
    const { input_tokens = 0, output_tokens = 0, total_tokens = 0 } = last?.usage ?? {};
    assert.ok([input_tokens, output_tokens].every((count) => Number.isInteger(count) && count > 0));
    assert.equal(total_tokens, input_tokens + output_tokens);
    const sound = Buffer.concat(told.map(({ audio = '' }) => Buffer.from(audio, 'base64')));
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
  const told: string[] = [];
  const reading = (async () => {
    for await (const event of Stream.fromSSEResponse<SpeechEvent>(answer, new AbortController())) {
      told.push(event.type);
    }
  })();
  await assert.rejects(reading, OpenAI.APIError);
  assert.deepEqual(told, ['speech.audio.delta']);
});

test('what is refused before the first piece is an ordinary error', async () => {
  await assert.rejects(events(server.url, { input: '...' }), (error: unknown) => {
    return error instanceof OpenAI.BadRequestError && error.code === 'text_empty';
  });
});

// LiveKit agents for Python, openai.TTS: MP3 in events by default, speed always. The content type decides how the
// answer is read; of its lines those that begin with "data: " count.
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
