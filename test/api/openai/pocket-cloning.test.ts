// Voices of recordings with Pocket TTS, over HTTP: a file of the request, a stored voice, and recordings of
// which no voice can be made, while the server reads to another client. The model is tiny with random
// weights, so that only what depends on the recording is tested, and not whether the voices are alike.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { wavHeader } from '../../../src/codecs/wav.js';
import { readConfig } from '../../../src/config/config.js';
import { type Server, startServer } from '../../../src/main.js';
import { dropEncoder, pocketFolders } from '../../engines/pocket/pocket-folders.js';
import { toneWav } from '../../voices/voice-samples.js';
import { errorIn } from '../app-under-test.js';

const VOICES = '/v1/audio/voices';
const SPEECH = '/v1/audio/speech';
const CLONE = '/v1/audio/speech/clone';
const TEXT = 'Good morning.';
const OTHER = 'Good morning, and thank you for calling. Your order left our house this evening.';
const RATE = 24_000; // Hz

const MODELS = pocketFolders({ after }, { english: ['alba'], german: ['juergen'] });
const [ENGLISH, GERMAN] = MODELS.map(({ directory }) => directory);
dropEncoder(GERMAN ?? '');
const VARIABLES = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', AUDIO_CACHE_MAX: '0' };

let server: Server;
/** The sound of another client's text while the server does nothing else. */
let alone: Buffer;

before(async () => {
  server = await startServer(
    readConfig({
      ...VARIABLES,
      POCKET_MODELS: `${ENGLISH},${GERMAN}`,
      VOICES_DIR: join(GERMAN ?? '', '..', 'voices'),
    }),
  );
  alone = await soundOf(speech({ input: OTHER, voice: 'alba' }));
});
after(() => server.close());

function form(path: string, parts: Readonly<Record<string, string | Uint8Array>>): Promise<Response> {
  const body = new FormData();
  for (const [name, part] of Object.entries(parts))
    body.append(name, typeof part === 'string' ? part : new Blob([part]));
  return fetch(server.url + path, { method: 'POST', body });
}

function clone(file: Uint8Array, more: Readonly<Record<string, string>> = {}): Promise<Response> {
  return form(CLONE, { input: TEXT, response_format: 'wav', seed: '5', ref_audio: file, ...more });
}

function speech(fields: object): Promise<Response> {
  return fetch(server.url + SPEECH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: TEXT, response_format: 'wav', seed: 5, ...fields }),
  });
}

async function soundOf(answer: Promise<Response>): Promise<Buffer> {
  const response = await answer;
  const body = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, body.toString());
  assert.equal(body.toString('latin1', 0, 4), 'RIFF');
  return body;
}

async function refusalOf(answer: Promise<Response>) {
  const response = await answer;
  const { message, param, code } = errorIn(await response.text());
  return [response.status, code, param, message];
}

/** A chord that swells and fades, as music does. */
function music(seconds: number, rate = RATE): Buffer {
  const samples = Int16Array.from({ length: seconds * rate }, (_, n) => {
    const at = (2 * Math.PI * n) / rate;
    const chord = [262, 330, 392, 523].reduce((sum, hz) => sum + Math.sin(hz * at), 0);
    return Math.round(6000 * chord * (1 - 0.5 * Math.cos(at / 2)));
  });
  return Buffer.concat([wavHeader(rate, samples.length), Buffer.from(samples.buffer)]);
}

test('a file, a data URL and a stored voice of one recording sound the same, with or without its words', async () => {
  const file = music(4);
  const cloned = await soundOf(clone(file));
  assert.ok(!cloned.equals(await soundOf(speech({ voice: 'alba' }))), 'alba speaks');
  assert.ok(!cloned.equals(await soundOf(clone(toneWav({ seconds: 4 })))), 'all recordings are one voice');
  assert.ok(cloned.equals(await soundOf(clone(file, { ref_text: 'What was said.' }))));
  const ref_audio = `data:audio/wav;base64,${file.toString('base64')}`;
  assert.ok(cloned.equals(await soundOf(speech({ ref_audio }))));
  const consent = 'letter of 3 May';
  const made = await form(VOICES, { name: 'Anna', consent, audio_sample: file });
  const { id, consent: kept } = (await made.json()) as { id: string; consent: string };
  assert.deepEqual([made.status, kept], [200, consent]);
  for (const voice of ['Anna', id]) assert.ok(cloned.equals(await soundOf(speech({ voice }))), voice);
  const listed = (await (await fetch(server.url + VOICES)).json()) as { uploaded_voices: { id: string }[] };
  assert.deepEqual(
    listed.uploaded_voices.map((voice) => voice.id),
    [id],
  );
  assert.equal((await fetch(`${server.url}${VOICES}/${id}`, { method: 'DELETE' })).status, 200);
  assert.equal((await refusalOf(speech({ voice: 'Anna' })))[1], 'voice_unknown');
});

test('music, telephone sound of 8 kHz and the first 30 s of a longer recording give a voice', async () => {
  for (const file of [music(3), toneWav({ seconds: 4, rate: 8000 })])
    assert.ok((await soundOf(clone(file))).length > 44);
  const long = await soundOf(clone(music(32)));
  assert.ok(long.equals(await soundOf(clone(music(30)))));
});

test('silence, 0.1 s, less than 3 s and 10 minutes give no voice, and another client hears on', async () => {
  const unfit = 'no voice can be made of this audio';
  const cases = [
    [
      toneWav({ seconds: 4, level: 0 }),
      `${unfit}: it is silent, or all but; 0.5 s of sound are needed at least`,
    ],
    [toneWav({ seconds: 0.1 }), `${unfit}: it lasts 0.10 s; 1 to 60 s are taken`],
    [toneWav({ seconds: 2 }), `${unfit}: it lasts 2.00 s; 3 s are the least`],
    [toneWav({ seconds: 600, rate: 8000 }), `${unfit}: it is longer than 60 s; 1 to 60 s are taken`],
  ] as const;
  for (const [file, message] of cases) {
    const [once, stored, other] = await Promise.all([
      refusalOf(clone(file)),
      refusalOf(form(VOICES, { name: 'Unfit', audio_sample: file })),
      soundOf(speech({ input: OTHER, voice: 'alba' })),
    ]);
    assert.deepEqual(once, [400, 'audio_invalid', 'ref_audio', message]);
    assert.deepEqual(stored, [400, 'audio_invalid', 'audio_sample', message]);
    assert.ok(other.equals(alone), message);
  }
});

test('only languages whose models have the encoder clone, and without one no recording is taken', async (t) => {
  const german =
    'no engine of this server can speak with the voice of a sample in German: pocket speaks English';
  const refusal = [400, 'language_unavailable', 'language', german];
  assert.deepEqual(await refusalOf(clone(music(4), { language: 'de' })), refusal);
  assert.deepEqual(
    await refusalOf(form(VOICES, { name: 'Anna', language: 'de', audio_sample: music(4) })),
    refusal,
  );
  const open = await startServer(readConfig({ ...VARIABLES, POCKET_MODELS: GERMAN ?? '' }));
  t.after(() => open.close());
  const body = new FormData();
  body.append('input', TEXT);
  body.append('ref_audio', new Blob([music(4)]));
  const answer = await fetch(open.url + CLONE, { method: 'POST', body });
  const { code, message } = errorIn(await answer.text());
  assert.deepEqual(
    [answer.status, code, message],
    [
      501,
      'capability_missing',
      'no engine of this server can speak with the voice of a sample: pocket cannot clone voices, flite cannot clone voices',
    ],
  );
});
