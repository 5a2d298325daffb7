// Makes voices over HTTP: forms, fields, limits and answers of the routes, then a voice from its sample to
// speech.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { Engines } from '../../../src/engines/routing.js';
import { startServer } from '../../../src/main.js';
import { fitTone } from '../../audio/tones.js';
import { InstantEngine } from '../../fakes/engines.js';
import { KINDS, sampleFile, TONE_HZ, toneWav } from '../../voices/voice-samples.js';
import { errorIn, openApp } from '../app-under-test.js';

type App = Awaited<ReturnType<typeof openApp>>['app'];
type Parts = Record<string, string | Uint8Array>;

const VOICES = '/v1/audio/voices';
const CLONE = '/v1/audio/speech/clone';
const LIMITS = { limits: { maxTextLength: 100, maxNewTokens: 2048, maxUploadBytes: 4096 } };
const SOUND = Buffer.from('sound');

async function post(app: App, url: string, parts: Parts | FormData) {
  const form = parts instanceof FormData ? parts : formOf(parts);
  const request = new Request('http://localhost/', { method: 'POST', body: form });
  const payload = Buffer.from(await request.arrayBuffer());
  return app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
  });
}

function formOf(parts: Parts): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    form.append(
      name,
      typeof part === 'string' ? part : new Blob([part]),
      ...((typeof part === 'string' ? [] : ['a.wav']) as [string]),
    );
  }
  return form;
}

test('a form with a sample makes a voice, and every field of it is kept', async (t) => {
  const { app, voices } = await openApp(t, LIMITS);
  const fields = {
    name: 'Anna',
    consent: 'letter',
    ref_text: 'Hello.',
    language: 'German',
    speaker_description: 'calm',
  };
  const answer = await post(app, VOICES, { ...fields, audio_sample: SOUND });
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(answer.json(), {
    object: 'audio.voice',
    id: 'voice_1',
    name: 'Anna',
    created_at: 1_700_000_000,
    type: 'audio_sample',
    language: 'de',
    description: 'calm',
    consent: 'letter',
    ref_text: 'Hello.',
  });
  assert.deepEqual(Buffer.from(voices.samples[0] ?? []), SOUND);
});

test('a description in JSON makes a voice without a sample', async (t) => {
  const { app, voices } = await openApp(t, LIMITS);
  const payload = { type: 'prompt', name: 'Sailor', prompt: 'An old sailor.', language: null, model: 'x' };
  const answer = await app.inject({ method: 'POST', url: VOICES, payload });
  assert.deepEqual(answer.json(), {
    object: 'audio.voice',
    id: 'voice_1',
    name: 'Sailor',
    created_at: 1_700_000_000,
    type: 'prompt',
    prompt: 'An old sailor.',
  });
  assert.deepEqual(voices.samples, [undefined]);
});

test('a voice is there until it is let go, and is let go once', async (t) => {
  const { app } = await openApp(t, LIMITS);
  const made = (await post(app, VOICES, { name: 'Anna', audio_sample: SOUND })).json<{ id: string }>();
  assert.deepEqual((await app.inject(`${VOICES}/${made.id}`)).json(), made);
  assert.deepEqual((await app.inject(`${VOICES}/Anna`)).json(), made);
  assert.deepEqual((await app.inject(VOICES)).json<{ uploaded_voices: unknown }>().uploaded_voices, [made]);
  const gone = await app.inject({ method: 'DELETE', url: `${VOICES}/Anna` });
  assert.deepEqual(gone.json(), { id: made.id, deleted: true, object: 'audio.voice.deleted', success: true });
  for (const method of ['DELETE', 'GET'] as const) {
    const again = await app.inject({ method, url: `${VOICES}/${made.id}` });
    assert.deepEqual([again.statusCode, errorIn(again.body).code], [404, 'not_found']);
  }
});

test('what is missing or not allowed is named', async (t) => {
  const { app, voices } = await openApp(t, LIMITS);
  const forms: [Parts, string][] = [
    [{ audio_sample: SOUND }, 'name'],
    [{ name: '', audio_sample: SOUND }, 'name'],
    [{ name: 'x'.repeat(65), audio_sample: SOUND }, 'name'],
    [{ name: 'Anna' }, 'audio_sample'],
    [{ name: 'Anna', audio_sample: 'a text' }, 'audio_sample'],
    [{ name: 'Anna', audio_sample: SOUND, language: '!!' }, 'language'],
    [{ name: 'Anna', audio_sample: SOUND, consent: 'x'.repeat(1001) }, 'consent'],
  ];
  for (const [parts, field] of forms) {
    const answer = await post(app, VOICES, parts);
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, field], field);
  }
  const bodies: [object, string][] = [
    [{ type: 'audio_sample', name: 'a', prompt: 'b' }, 'type'],
    [{ type: 'prompt', name: 'a' }, 'prompt'],
    [{ type: 'prompt', prompt: 'a' }, 'name'],
  ];
  for (const [payload, field] of bodies) {
    const answer = await app.inject({ method: 'POST', url: VOICES, payload });
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, field], field);
  }
  assert.deepEqual(voices.samples, []);
});

test('bodies that are no form, or no form that can be read, are refused', async (t) => {
  const { app } = await openApp(t, LIMITS);
  const cases: [string, string, number][] = [
    ['text/plain', 'a', 415],
    ['multipart/form-data', 'a', 400],
    ['multipart/form-data; boundary=x', 'no boundary at all', 400],
    ['multipart/form-data; boundary=x', '--x\r\n'.repeat(100), 400],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="name"\r\n\r\nAnna',
      400,
    ],
  ];
  for (const url of [VOICES, CLONE]) {
    for (const [type, payload, status] of cases) {
      const answer = await app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } });
      assert.equal(answer.statusCode, status, `${url} ${type} ${payload}`);
      assert.equal(typeof errorIn(answer.body).message, 'string');
    }
  }
  const none = await app.inject({ method: 'POST', url: VOICES });
  assert.equal(none.statusCode, 415);
  const loud = { 'content-type': 'Application/JSON; charset=utf-8' };
  const wrong = await app.inject({ method: 'POST', url: VOICES, payload: '{"name":1}', headers: loud });
  assert.equal(wrong.statusCode, 400);
  const json = await app.inject({ method: 'POST', url: CLONE, payload: { input: 'a' } });
  assert.equal(json.statusCode, 415);
});

test('a file or a body above the limit is refused with the limit', async (t) => {
  const { app, voices, speech } = await openApp(t, LIMITS);
  for (const url of [VOICES, CLONE]) {
    const name = url === VOICES ? 'audio_sample' : 'file';
    const file = await post(app, url, { name: 'Anna', input: 'a', [name]: Buffer.alloc(4097) });
    assert.equal(file.statusCode, 413);
    assert.match(errorIn(file.body).message, /4096 bytes at most/);
    const body = await post(app, url, { name: 'Anna', input: 'a', [name]: Buffer.alloc(2 * 1024 * 1024) });
    assert.equal(body.statusCode, 413);
    assert.match(errorIn(body.body).message, /at most 1052672 bytes/);
  }
  assert.deepEqual([voices.samples, speech.samples], [[], []]);
});

test('where no engine can, the answer is 501 before the form is looked at', async (t) => {
  const { app, voices } = await openApp(t, LIMITS);
  voices.cannot = 'sample';
  for (const url of [VOICES, CLONE]) {
    const answer = await post(app, url, { nothing: 'right' });
    assert.deepEqual([answer.statusCode, errorIn(answer.body).code], [501, 'capability_missing']);
  }
});

test('a text and a file under any of their names are spoken as they say', async (t) => {
  const { app, speech } = await openApp(t, LIMITS);
  speech.whole = ['spoken'];
  speech.can = { ...speech.can, clone: true };
  for (const name of ['ref_audio', 'file', 'audio', 'reference_audio']) {
    const fields = {
      response_format: 'wav',
      speed: '1.5',
      language: 'en',
      ref_text: 'Hi.',
      x_vector_only_mode: 'true',
    };
    const answer = await post(app, CLONE, { text: 'Hello.', ...fields, [name]: SOUND });
    assert.deepEqual(
      [answer.statusCode, answer.headers['content-type'], answer.body],
      [200, 'audio/wav', 'spoken'],
      name,
    );
    const { source, ...rest } = speech.samples.at(-1) ?? { source: '' };
    assert.deepEqual(
      [Buffer.from(source as Uint8Array), rest],
      [SOUND, { text: 'Hi.', xVectorOnly: true, language: 'en' }],
    );
    const { text, container, speed, language, reference } = speech.requests.at(-1) ?? {};
    assert.deepEqual([text, container, speed, language, reference?.hash], ['Hello.', 'wav', 1.5, 'en', 'a']);
  }
});

test('the fields of a clone are held to the same as those of speech', async (t) => {
  const { app, speech } = await openApp(t, LIMITS);
  const cases: [Parts, string][] = [
    [{ ref_audio: SOUND }, 'input'],
    [{ ref_audio: SOUND, input: 'x'.repeat(101) }, 'input'],
    [{ ref_audio: SOUND, input: 'a', speed: '9' }, 'speed'],
    [{ ref_audio: SOUND, input: 'a', speed: 'fast' }, 'speed'],
    [{ ref_audio: SOUND, input: 'a', response_format: 'midi' }, 'response_format'],
    [{ ref_audio: SOUND, input: 'a', stream: 'maybe' }, 'stream'],
    [{ input: 'a' }, 'ref_audio'],
    [{ input: 'a', ref_audio: 'file:///etc/passwd' }, 'ref_audio'],
  ];
  for (const [parts, field] of cases) {
    const answer = await post(app, CLONE, parts);
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, field], field);
  }
  assert.deepEqual(speech.samples, []);
});

test('the routes stand in the OpenAPI document with both forms of their bodies', async (t) => {
  const { app } = await openApp(t, LIMITS);
  const { paths } = (await app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
  }>();
  const bodyTypes = Object.keys(paths[VOICES]?.['post']?.requestBody?.content ?? {});
  assert.deepEqual(bodyTypes.sort(), ['application/json', 'multipart/form-data']);
  assert.deepEqual(Object.keys(paths[CLONE]?.['post']?.requestBody?.content ?? {}), ['multipart/form-data']);
  assert.deepEqual(Object.keys(paths[`${VOICES}/{id}`] ?? {}).sort(), ['delete', 'get']);
});

// The tests below make a voice on the real server and speak with it.

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-voices-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function serve(t: TestContext, folder: string, can: boolean, environment: Record<string, string> = {}) {
  const engine = new InstantEngine({ clone: can, design: can });
  const config = readConfig({
    PORT: '0',
    SIP_ENABLED: '0',
    LOG_LEVEL: 'silent',
    VOICES_DIR: folder,
    ...environment,
  });
  const server = await startServer(config, { engines: await Engines.of([engine]) });
  t.after(() => server.close());
  const at = (path: string) => `${server.url}${path}`;
  return {
    server,
    engine,
    get: async (path: string) => (await fetch(at(path))).json() as Promise<Record<string, unknown>>,
    remove: (id: string) => fetch(at(`/v1/audio/voices/${id}`), { method: 'DELETE' }),
    form: (path: string, parts: Record<string, string | Uint8Array>) => {
      const body = new FormData();
      for (const [name, part] of Object.entries(parts))
        body.append(name, typeof part === 'string' ? part : new Blob([part]));
      return fetch(at(path), { method: 'POST', body });
    },
    speak: (fields: object) =>
      fetch(at('/v1/audio/speech'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'Good day to you all.', response_format: 'pcm', ...fields }),
      }),
  };
}

interface Made {
  readonly id: string;
}

test('a voice made of a sample is spoken with, outlives a restart, and is unknown once it is let go', async (t) => {
  const folder = await folderFor(t);
  const first = await serve(t, folder, true);
  const making = await first.form('/v1/audio/voices', {
    name: 'Anna',
    audio_sample: sampleFile(KINDS.mp3),
    ref_text: 'La.',
  });
  assert.equal(making.status, 200);
  const { id } = (await making.json()) as Made;
  const twice = await first.form('/v1/audio/voices', { name: 'anna', audio_sample: toneWav() });
  assert.deepEqual([twice.status, errorIn(await twice.text()).param], [409, 'name']);
  for (const name of ['alloy', 'instant']) {
    assert.equal((await first.form('/v1/audio/voices', { name, audio_sample: toneWav() })).status, 409, name);
  }
  await first.server.close();

  const { get, speak, engine, remove } = await serve(t, folder, true);
  const { voices, uploaded_voices: made } = (await get('/v1/audio/voices')) as {
    voices: Made[];
    uploaded_voices: Made[];
  };
  assert.deepEqual(
    [voices.map((voice) => voice.id), made.map((voice) => voice.id)],
    [['instant', 'Anna'], [id]],
  );
  const answer = await speak({ voice: 'Anna' });
  assert.equal(answer.status, 200);
  assert.ok((await answer.arrayBuffer()).byteLength > 0);
  const reference = engine.requests[0]?.reference;
  assert.ok(reference?.kind === 'sample');
  assert.deepEqual([reference.rate, reference.text], [24_000, 'La.']);
  assert.ok(fitTone(reference.samples.subarray(12_000, 24_000), TONE_HZ, 24_000).snrDb > 30);

  assert.equal((await remove(id)).status, 200);
  assert.equal((await remove(id)).status, 404);
  const gone = await speak({ voice: 'Anna', cache: false });
  assert.deepEqual([gone.status, errorIn(await gone.text()).code], [400, 'voice_unknown']);
  assert.deepEqual(await readdir(folder), []);
});

test('a kept voice may be the default, and one that is not there keeps the server from starting', async (t) => {
  const folder = await folderFor(t);
  const unknown = serve(t, folder, true, { DEFAULT_VOICE: 'Anna' });
  await assert.rejects(unknown, {
    code: 'CONFIG_INVALID',
    message: /^DEFAULT_VOICE: there is no voice "Anna"/,
  });
  const first = await serve(t, folder, true);
  const made = await first.form('/v1/audio/voices', { name: 'Anna', audio_sample: toneWav() });
  const { id } = (await made.json()) as Made;
  for (const DEFAULT_VOICE of ['anna', id]) {
    const { speak, engine } = await serve(t, folder, true, { DEFAULT_VOICE });
    assert.equal((await speak({})).status, 200);
    assert.equal(engine.requests[0]?.reference?.kind, 'sample');
  }
  const unable = serve(t, folder, false, { DEFAULT_VOICE: 'Anna' });
  await assert.rejects(unable, { code: 'CONFIG_INVALID', message: /instant cannot clone voices/ });
});

test('a sample is not decoded for a language that no engine speaks with it', async (t) => {
  const { speak, form } = await serve(t, await folderFor(t), true);
  const ref_audio = `data:audio/wav;base64,${Buffer.from('no sound').toString('base64')}`;
  const answers = [
    await speak({ ref_audio, language: 'fr' }),
    await form('/v1/audio/speech/clone', {
      input: 'Bonjour.',
      language: 'fr',
      ref_audio: Buffer.from('no sound'),
    }),
    await form('/v1/audio/voices', { name: 'Anna', language: 'fr', audio_sample: Buffer.from('no sound') }),
  ];
  for (const answer of answers) {
    const { code, param, message } = errorIn(await answer.text());
    assert.deepEqual([answer.status, code, param], [400, 'language_unavailable', 'language']);
    assert.match(message, /in French: instant speaks English$/);
  }
});

test('a rendering in a kept voice is kept under what the voice is, and health counts voices in memory', async (t) => {
  const { form, speak, remove, get } = await serve(t, await folderFor(t), true, { VOICE_CACHE_MAX: '3' });
  const make = (level: number) =>
    form('/v1/audio/voices', { name: 'Anna', audio_sample: toneWav({ level }) });
  const heard = async () => {
    const answer = await speak({ voice: 'Anna', stream: false });
    await answer.arrayBuffer();
    return answer.headers.get('x-cache');
  };
  const { id } = (await (await make(0.5)).json()) as Made;
  assert.deepEqual([await heard(), await heard()], ['miss', 'hit']);
  await remove(id);
  await make(0.25);
  assert.deepEqual([await heard(), await heard()], ['miss', 'hit'], 'the name is the same, the voice is not');
  const { voice_cache_size: size, voice_cache_max: max } = await get('/health');
  assert.equal(max, 3);
  assert.equal(typeof size, 'number');
});

test('a sample that comes with a request is spoken with and nothing of the speech is kept', async (t) => {
  const { speak, engine, get } = await serve(t, await folderFor(t), true);
  const ref_audio = `data:audio/wav;base64,${toneWav().toString('base64')}`;
  for (let round = 1; round <= 2; round++) {
    const answer = await speak({ ref_audio, ref_text: 'La.' });
    await answer.arrayBuffer();
    assert.deepEqual([answer.status, answer.headers.get('x-cache')], [200, null]);
    assert.equal(engine.requests.length, round);
  }
  assert.equal(engine.requests[1]?.reference?.kind, 'sample');
  const { voice_cache_size: size, voice_cache_hits: hits, audio_cache_size: kept } = await get('/health');
  assert.deepEqual([size, hits, kept], [1, 1, 0]);
});

for (const kind of ['wav s16', 'mp3', 'opus', 'flac'] as const) {
  test(`speech in the voice of a file in ${kind}`, async (t) => {
    const { form, engine } = await serve(t, await folderFor(t), true);
    const parts = { text: 'Hello to you.', response_format: 'wav', ref_audio: sampleFile(KINDS[kind]) };
    const answer = await form('/v1/audio/speech/clone', parts);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'audio/wav']);
    assert.equal(
      Buffer.from(await answer.arrayBuffer())
        .subarray(0, 4)
        .toString(),
      'RIFF',
    );
    assert.equal(engine.requests[0]?.reference?.kind, 'sample');
  });
}

test('what is no usable sample is refused with the field and the reason, and nothing is kept', async (t) => {
  const folder = await folderFor(t);
  const { form, speak } = await serve(t, folder, true);
  const cases: [Uint8Array, RegExp][] = [
    [Buffer.from('not audio'), /WAV, MP3, FLAC, Ogg Opus and WebM Opus are taken/],
    [toneWav({ level: 0 }), /silent/],
    [toneWav({ seconds: 0.3 }), /1 to 60 s are taken/],
  ];
  for (const [file, why] of cases) {
    const made = await form('/v1/audio/voices', { name: 'Anna', audio_sample: file });
    const cloned = await form('/v1/audio/speech/clone', { input: 'Hello.', file });
    const spoken = await speak({ ref_audio: `data:;base64,${Buffer.from(file).toString('base64')}` });
    for (const [answer, field] of [
      [made, 'audio_sample'],
      [cloned, 'ref_audio'],
      [spoken, 'ref_audio'],
    ] as const) {
      const error = errorIn(await answer.text());
      assert.deepEqual([answer.status, error.code, error.param], [400, 'audio_invalid', field]);
      assert.match(error.message, why);
    }
  }
  assert.deepEqual(await readdir(folder), []);
});

test('where no engine can, every way to a voice is answered with 501 and the engines there are', async (t) => {
  const folder = await folderFor(t);
  const { form, speak, server } = await serve(t, folder, false);
  const prompt = await fetch(`${server.url}/v1/audio/voices`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'prompt', name: 'Sailor', prompt: 'An old sailor.' }),
  });
  const answers = [
    await form('/v1/audio/voices', { name: 'Anna', audio_sample: Buffer.from('not even audio') }),
    await form('/v1/audio/speech/clone', { input: 'Hello.', ref_audio: Buffer.from('not even audio') }),
    await speak({ ref_audio: 'data:;base64,AAAA' }),
    prompt,
  ];
  for (const answer of answers) {
    const { code, message } = errorIn(await answer.text());
    assert.deepEqual([answer.status, code], [501, 'capability_missing']);
    assert.match(message, /no engine of this server can .*: instant cannot (clone|design) voices/);
  }
  assert.deepEqual(await readdir(folder), []);
});

test('a voice made of a description is spoken with as it was described', async (t) => {
  const { server, speak, engine } = await serve(t, await folderFor(t), true);
  const made = await fetch(`${server.url}/v1/audio/voices`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'prompt', name: 'Sailor', prompt: 'An old sailor.' }),
  });
  assert.equal(made.status, 200);
  await (await speak({ voice: { id: ((await made.json()) as Made).id } })).arrayBuffer();
  const reference = engine.requests[0]?.reference;
  assert.ok(reference?.kind === 'prompt');
  assert.equal(reference.prompt, 'An old sailor.');
});
