// The npm package `openai` and curl transcribe and translate with the tiny checkpoints: words and times of
// the reference, through the whole server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import type { Server } from '../../src/main.js';
import { GOLDEN } from '../engines/golden.js';
import { ChatServer } from '../transcribing/chat-server.js';
import { KEY, speakingServer } from './speaking-server.js';

const FOX = 'The quick brown fox jumps over the lazy dog.';
const FILE = join(GOLDEN, 'clips/odd37.wav');
const SRT = '1\n00:00:00,160 --> 00:00:03,520\nThe quick brown fox\njumps over the lazy dog.\n\n';
const CHECKPOINTS = {
  ASR_MODEL_DIR: join(GOLDEN, 'tiny-asr-a'),
  ALIGNER_MODEL_DIR: join(GOLDEN, 'tiny-aligner'),
  INFERENCE_THREADS: '1',
};

let server: Server;
let client: OpenAI;

before(async () => {
  server = await speakingServer(CHECKPOINTS);
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY });
});
after(() => server.close());

const ask = (more: object = {}) => ({ file: createReadStream(FILE), model: 'gpt-4o-transcribe', ...more });

test('openai transcribes into every format', async () => {
  const { transcriptions } = client.audio;
  const json = await transcriptions.create({ ...ask(), response_format: 'json' });
  assert.equal(json.text, FOX);
  assert.deepEqual(json.usage, { type: 'duration', seconds: 3.705 });
  assert.equal(await transcriptions.create({ ...ask(), response_format: 'text' }), `${FOX}\n`);
  assert.equal(await transcriptions.create({ ...ask(), response_format: 'srt' }), SRT);
  assert.equal(
    await transcriptions.create({ ...ask(), response_format: 'vtt' }),
    SRT.replace('1\n', 'WEBVTT\n\n').replaceAll(',', '.'),
  );
  const verbose = await transcriptions.create({
    ...ask(),
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
  });
  assert.deepEqual([verbose.language, verbose.duration], ['english', 3.705]);
  assert.deepEqual(verbose.words?.at(-1), { word: 'dog', start: 3.28, end: 3.52 });
  assert.deepEqual(
    verbose.segments?.map(({ id, start, end, text }) => [id, start, end, text]),
    [[0, 0.16, 3.52, FOX]],
  );
});

test('openai reads the stream of events to its end', async () => {
  const events = await client.audio.transcriptions.create({
    ...ask(),
    stream: true,
    response_format: 'json',
  });
  const types: string[] = [];
  let text = '';
  for await (const event of events) {
    types.push(event.type);
    if (event.type === 'transcript.text.delta') text += event.delta;
    if (event.type === 'transcript.text.done') assert.equal(event.text, FOX);
  }
  assert.equal(text, FOX);
  assert.deepEqual(types, ['transcript.text.delta', 'transcript.text.done']);
});

test('openai has the class and the field of a refusal', async () => {
  const bytes = readFileSync(import.meta.filename);
  await assert.rejects(
    client.audio.transcriptions.create({
      ...ask(),
      file: new File([bytes], 'a.wav'),
      response_format: 'json',
    }),
    (error: unknown) => {
      assert.ok(error instanceof OpenAI.APIError, String(error));
      assert.deepEqual([error.status, error.code, error.param], [415, 'unsupported_media_type', 'file']);
      return true;
    },
  );
});

async function translating(t: TestContext) {
  const chat = await ChatServer.open(t);
  const translation = { TRANSLATE_BASE_URL: chat.baseUrl, TRANSLATE_MODEL: 'any' };
  const own = await speakingServer({ ...CHECKPOINTS, ...translation });
  t.after(() => own.close());
  return { chat, own, client: new OpenAI({ baseURL: `${own.url}/v1`, apiKey: KEY, maxRetries: 0 }) };
}

test('openai translates text and subtitles, and the loss of the translation server is an error', async (t) => {
  const { client: translator, chat } = await translating(t);
  const asked = () => ({ file: createReadStream(FILE), model: 'whisper-1' });
  assert.equal((await translator.audio.translations.create(asked())).text, FOX.toUpperCase());
  assert.equal(
    await translator.audio.translations.create({ ...asked(), response_format: 'srt' }),
    SRT.replace(
      'The quick brown fox\njumps over the lazy dog.',
      'THE QUICK BROWN FOX\nJUMPS OVER THE LAZY DOG.',
    ),
  );
  chat.close();
  await assert.rejects(
    translator.audio.translations.create(asked()),
    ({ status, code }: { status: number; code: string }) => {
      assert.deepEqual([status, code], [502, 'translation_failed']);
      return true;
    },
  );
});

async function curl(...args: string[]): Promise<string> {
  const own = ['-sS', '--max-time', '20', '-H', `authorization: Bearer ${KEY}`];
  return (await promisify(execFile)('curl', [...own, ...args])).stdout;
}

test('curl sends a form, or the file itself with its fields in the URL', async () => {
  const url = `${server.url}/v1/audio/transcriptions`;
  assert.equal(await curl('-F', `file=@${FILE}`, '-F', 'response_format=srt', url), SRT);
  const raw = ['--data-binary', `@${FILE}`, '-H', 'content-type: audio/wav'];
  assert.equal(await curl(...raw, `${url}?response_format=srt`), SRT);
  const chunked = [...raw, '-H', 'transfer-encoding: chunked'];
  assert.equal(await curl(...chunked, `${url}?response_format=text`), `${FOX}\n`);
  assert.equal(
    await curl('--http2-prior-knowledge', '-F', `file=@${FILE}`, '-F', 'response_format=text', url),
    `${FOX}\n`,
  );
});

test('without an aligner subtitles last as long as the speech, and a header says so', async (t) => {
  const { ALIGNER_MODEL_DIR: _, ...without } = CHECKPOINTS;
  const own = await speakingServer(without);
  t.after(() => own.close());
  const args = ['-i', '-F', `file=@${FILE}`, '-F', 'response_format=srt'];
  const answer = await curl(...args, `${own.url}/v1/audio/transcriptions`);
  assert.match(answer, /^x-timestamps: fast\r$/im);
  assert.match(
    answer,
    // The last second of the file is noise.
    /1\n00:00:00,000 --> 00:00:02,7\d\d\nThe quick brown fox\njumps over the lazy dog\.\n\n$/,
  );
});
