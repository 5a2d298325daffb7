// Making voices over HTTP, as far as the routes decide: forms, fields, limits, answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
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
