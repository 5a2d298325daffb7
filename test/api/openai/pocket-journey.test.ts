// Texts, temperatures and voices that Pocket TTS cannot or can hardly speak, over HTTP, while it reads a
// longer text for another client. The server is real, and the model is tiny with random weights.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { type Server, startServer } from '../../../src/main.js';
import { addVoice, pocketFolders, VOICE_OF_ANOTHER_MODEL } from '../../engines/pocket/pocket-folders.js';
import { errorIn } from '../app-under-test.js';

const RATE = 24_000; // Hz
const WAV_HEADER = 44; // bytes
const OTHER = 'Good morning, and thank you for calling. Your order left our house this evening.';

const [MODEL] = pocketFolders({ after }, { english: ['alba', 'george'] });
assert.ok(MODEL !== undefined);
addVoice(MODEL.directory, 'vera', VOICE_OF_ANOTHER_MODEL);

const VARIABLES = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', AUDIO_CACHE_MAX: '0' };
const CONFIG = readConfig({ ...VARIABLES, POCKET_MODELS: MODEL.directory, MAX_TEXT_LENGTH: '20000' });

let server: Server;
/** The sound of the other client's text while the server does nothing else. */
let alone: Buffer;

before(async () => {
  server = await startServer(CONFIG);
  alone = await soundOf(ask({ input: OTHER }));
});
after(() => server.close());

function ask(fields: Record<string, unknown>, url = server.url): Promise<Response> {
  return fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'parley', voice: 'alba', response_format: 'wav', seed: 5, ...fields }),
  });
}

async function soundOf(answer: Promise<Response>): Promise<Buffer> {
  const response = await answer;
  const body = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, body.toString());
  return body;
}

/** Asks while the other client is read its text, which must sound as it does alone. */
async function besideAnother<T>(
  fields: Record<string, unknown>,
  resultOf: (answer: Promise<Response>) => Promise<T>,
): Promise<T> {
  const [result, other] = await Promise.all([resultOf(ask(fields)), soundOf(ask({ input: OTHER }))]);
  assert.ok(other.equals(alone), 'the other client got another sound');
  return result;
}

async function refusalOf(answer: Promise<Response>) {
  const response = await answer;
  const { message, param, code } = errorIn(await response.text());
  return [response.status, code, param, message];
}

test('a text without letters is refused', async () => {
  for (const input of ['... !!! ---', '🙂🙂', '«»'])
    assert.deepEqual(await besideAnother({ input }, refusalOf), [
      400,
      'text_empty',
      'input',
      '"input" holds no letter or digit, so there is nothing to speak',
    ]);
});

test('10,000 letters without a space are spoken in pieces, each of as many frames as it may have', async () => {
  const frames = 5;
  const fields = { input: 'x'.repeat(10_000), max_new_tokens: frames };
  const sound = await besideAnother(fields, soundOf);
  const seconds = (sound.length - WAV_HEADER) / 2 / RATE;
  assert.ok(seconds > 1 && seconds < 30, `${seconds} s`);
});

test('another script than that of the language is refused, or spoken in the language that is stated', async () => {
  const input = 'Добрый день, как дела?';
  assert.deepEqual(await besideAnother({ input }, refusalOf), [
    400,
    'language_unavailable',
    'language',
    'no engine of this server speaks Russian: pocket speaks English only, flite speaks English only',
  ]);
  const sound = await besideAnother({ input, language: 'en', max_new_tokens: 9 }, soundOf);
  assert.ok(sound.length > WAV_HEADER);
});

test('temperature 0 has no noise, so that the seed changes nothing; 100 is refused', async () => {
  const input = 'Good morning.';
  const [first, second] = [
    await besideAnother({ input, temperature: 0, seed: 1 }, soundOf),
    await besideAnother({ input, temperature: 0, seed: 2 }, soundOf),
  ];
  assert.ok(first.equals(second));
  assert.ok(!first.equals(await soundOf(ask({ input, seed: 1 }))));
  assert.deepEqual(await besideAnother({ input, temperature: 100 }, refusalOf), [
    400,
    'invalid_value',
    'temperature',
    '"temperature" must be a number from 0 to 2',
  ]);
});

test('a voice of another model is unknown, and the names that it stands for have another one', async () => {
  const input = 'Good morning.';
  assert.deepEqual(await besideAnother({ input, voice: 'vera' }, refusalOf), [
    400,
    'voice_unknown',
    'voice',
    'there is no voice "vera"; the nearest are verse, alba, cedar',
  ]);
  assert.ok((await besideAnother({ input, voice: 'coral' }, soundOf)).length > WAV_HEADER);
  const voices = (await (await fetch(`${server.url}/v1/audio/voices`)).json()) as { data: { id: string }[] };
  assert.deepEqual(
    voices.data.map(({ id }) => id),
    ['alba', 'george', 'slt', 'rms', 'awb', 'kal16', 'kal'],
  );
});

test('names of OpenAI and Qwen, and names and ids of ElevenLabs, have a voice of the language', async (t) => {
  const models = pocketFolders(t, { english: ['alba', 'george'], german: ['juergen', 'alba'] });
  const folders = models.map(({ directory }) => directory).join(',');
  const both = await startServer(readConfig({ ...VARIABLES, POCKET_MODELS: folders }));
  t.after(() => both.close());
  const texts = { en: 'Good morning, how are you?', de: 'Guten Morgen, wie geht es Ihnen?' };
  const sent = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(both.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 200, await answer.text());
    return answer.headers.get('x-voice');
  };
  const voicesFor = async (name: string) => {
    const { en, de } = texts;
    const voice = [
      await sent('/v1/audio/speech', { model: 'parley', voice: name, input: en }),
      await sent('/v1/audio/speech', { model: 'parley', voice: name, input: de }),
      await sent(`/v1/text-to-speech/${name}`, { text: en }),
      await sent(`/v1/text-to-speech/${name}`, { text: de }),
      await sent(`/v1/text-to-speech/${name}/stream`, { text: en, language_code: 'en' }),
    ];
    return voice.join(' ');
  };
  for (const male of ['onyx', 'Ryan', 'Adam', 'pNInz6obpgDQGcFmaJgB'])
    assert.equal(await voicesFor(male), 'george juergen george juergen george', male);
  for (const female of ['alloy', 'vivian', 'rachel', '21m00Tcm4TlvDq8ikWAM'])
    assert.equal(await voicesFor(female), 'alba alba alba alba alba', female);
  const one = await fetch(`${both.url}/v1/voices/pNInz6obpgDQGcFmaJgB`);
  const { voice_id: id, name } = (await one.json()) as { voice_id: string; name: string };
  assert.deepEqual([one.status, id, name], [200, 'pNInz6obpgDQGcFmaJgB', 'george']);
  assert.equal((await fetch(`${both.url}/v1/voices/21m00Tcm4TlvDq8ikWAN`)).status, 404);
});

test('the letters of a text are timed by an estimate, in order and within the sound', async () => {
  const text = 'Good morning, thank you for calling. How may I help?';
  const answer = await fetch(`${server.url}/v1/text-to-speech/alba/with-timestamps?output_format=pcm_24000`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, seed: 5 }),
  });
  assert.equal(answer.status, 200);
  const { audio_base64: sound, alignment } = (await answer.json()) as {
    readonly audio_base64: string;
    readonly alignment: Readonly<Record<'characters', readonly string[]>> &
      Readonly<Record<'character_start_times_seconds' | 'character_end_times_seconds', readonly number[]>>;
  };
  const seconds = Buffer.from(sound, 'base64').length / 2 / RATE;
  const starts = alignment.character_start_times_seconds;
  const ends = alignment.character_end_times_seconds;
  assert.equal(alignment.characters.join(''), text);
  assert.deepEqual([starts.length, ends.length], [text.length, text.length]);
  for (const [n, end] of ends.entries()) assert.ok((starts[n] ?? NaN) <= end && end <= seconds + 0.001);
  for (const [n, start] of starts.slice(1).entries()) assert.ok((starts[n] ?? NaN) <= start);
  // The second sentence begins behind the first one, and not at its beginning.
  assert.ok((starts[text.indexOf('How')] ?? 0) > (starts[text.indexOf('calling')] ?? NaN));
  assert.ok((starts[text.indexOf('calling')] ?? 0) > 0);
});

test('a client is told neither variables nor paths of a voice that does not speak', async (t) => {
  const [model] = pocketFolders(t, { english: ['alba', 'jean', 'marius'] });
  assert.ok(model !== undefined);
  const own = await startServer(readConfig({ ...VARIABLES, POCKET_MODELS: model.directory }));
  t.after(() => own.close());
  const refusal = (voice: string) => refusalOf(ask({ input: 'Good morning.', voice }, own.url));
  assert.deepEqual(await refusal('jean'), [
    501,
    'capability_missing',
    'voice',
    'the voice jean does not speak here: its licence, CC BY-NC 4.0, forbids commercial use',
  ]);
  rmSync(join(model.directory, 'embeddings', 'marius.safetensors'));
  const removed = await ask({ input: 'Good morning.', voice: 'marius' }, own.url);
  assert.equal(removed.ok, false);
  const text = await removed.text();
  assert.ok(!text.includes(model.directory) && !text.includes('embeddings'), text);
});
