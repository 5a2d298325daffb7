// Sends the fields of speech requests over HTTP, and compares the requests to the service and the responses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { errorIn, openApp } from '../app-under-test.js';
import { REFERENCE } from '../fake-speech.js';

const SPEECH = '/v1/audio/speech';
const ABLE = { engine: 'qwen3', clone: true, design: true, instruct: true, sampling: true };
const ASKED = { text: 'Hello.', container: 'mp3', sampleRate: 24_000, speed: 1, client: '127.0.0.1' };

type App = Awaited<ReturnType<typeof openApp>>;

function ask({ app }: App, fields: object) {
  return app.inject({ method: 'POST', url: SPEECH, payload: { input: 'Hello.', ...fields } });
}

async function openSpeaking(
  t: Parameters<typeof openApp>[0],
  options: Parameters<typeof openApp>[1] = {},
): Promise<App> {
  const under = await openApp(t, options);
  under.speech.whole = ['sound'];
  return under;
}

test('an engine that supports instructions gets them, under the names that it knows', async (t) => {
  const under = await openSpeaking(t);
  under.speech.can = ABLE;
  const answer = await ask(under, {
    instructions: 'cheerful',
    temperature: 0.5,
    top_p: 0.9,
    top_k: 0,
    seed: -7,
    max_new_tokens: 2048,
    normalize: true,
    trim_silence: true,
  });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['x-ignored-fields'], undefined);
  const options = {
    instructions: 'cheerful',
    temperature: 0.5,
    topP: 0.9,
    topK: 0,
    seed: -7,
    maxNewTokens: 2048,
  };
  assert.deepEqual(under.speech.requests, [{ ...ASKED, options }]);
});

test('what its engine cannot heed is left out and named, never silently dropped', async (t) => {
  const under = await openSpeaking(t);
  const fields = {
    instruct: 'sad',
    top_k: 5,
    seed: 1,
    normalize: false,
    initial_codec_chunk_frames: 4,
    trim_silence: false,
  };
  const answer = await ask(under, fields);
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['x-ignored-fields'], 'instruct, top_k, seed, initial_codec_chunk_frames');
  assert.deepEqual(under.speech.requests, [{ ...ASKED, trimSilence: false, normalize: false }]);
  under.speech.can = { ...ABLE, instruct: false };
  const partly = await ask(under, fields);
  assert.equal(partly.headers['x-ignored-fields'], 'instruct, initial_codec_chunk_frames');
  assert.deepEqual(under.speech.requests.at(-1)?.options, { topK: 5, seed: 1 });
});

test('a plain request is not asked about, and instructions that say nothing are none', async (t) => {
  const under = await openSpeaking(t);
  under.speech.abilities = () => assert.fail('nobody needs to know');
  for (const fields of [
    {},
    { instructions: '' },
    { instructions: 'None' },
    { instruct: 'None', temperature: null },
  ]) {
    const answer = await ask(under, fields);
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['x-ignored-fields'], undefined);
  }
  assert.deepEqual(under.speech.requests, [ASKED, ASKED, ASKED, ASKED]);
});

test('what is ignored is named on a rendering that was found, too', async (t) => {
  const under = await openSpeaking(t);
  under.speech.keep('kept');
  const answer = await ask(under, { temperature: 1 });
  assert.equal(answer.headers['x-cache'], 'hit');
  assert.equal(answer.headers['x-ignored-fields'], 'temperature');
});

test('languages are known by tag and by name', async (t) => {
  const under = await openSpeaking(t);
  const cases = [
    ['en', 'en'],
    ['pt-BR', 'pt-BR'],
    ['zh_Hans_CN', 'zh_Hans_CN'],
    ['English', 'en'],
    ['chinese', 'zh'],
    ['Portuguese', 'pt'],
    ['Hebrew', 'he'],
    ['Auto', undefined],
    ['auto', undefined],
    ['klingon', 'klingon'], // for the service to refuse, with what there is
  ] as const;
  for (const [language, tag] of cases) {
    await ask(under, { language });
    assert.equal(under.speech.requests.at(-1)?.language, tag, language);
  }
});

test('a sample that comes with the request is made a voice, and spoken with', async (t) => {
  const under = await openSpeaking(t);
  under.speech.can = ABLE;
  const fields = {
    ref_audio: 'data:audio/wav;base64,AA==',
    ref_text: 'Good day.',
    x_vector_only_mode: true,
    temperature: 1,
  };
  under.speech.keep('somebody else');
  const answer = await ask(under, fields);
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.body, 'sound');
  assert.deepEqual(under.speech.samples, [
    { source: fields.ref_audio, text: 'Good day.', xVectorOnly: true },
  ]);
  assert.deepEqual(under.speech.requests, [{ ...ASKED, reference: REFERENCE, options: { temperature: 1 } }]);
});

test('an engine that cannot do it is named with 501', async (t) => {
  const under = await openSpeaking(t);
  const sample = await ask(under, { task_type: 'Base', ref_audio: 'data:,' });
  assert.equal(sample.statusCode, 501);
  assert.deepEqual(errorIn(sample.body), {
    message: 'the engine flite cannot speak with the voice of a sample ("ref_audio")',
    type: 'server_error',
    param: 'ref_audio',
    code: 'capability_missing',
  });
  assert.equal(sample.headers['x-should-retry'], 'false');
  const design = await ask(under, { task_type: 'VoiceDesign', instructions: 'an old man' });
  assert.equal(design.statusCode, 501);
  assert.match(errorIn(design.body).message, /^the engine flite cannot make a voice from a description/);
  assert.equal(under.speech.requests.length, 0);
});

test('a voice is made from its description, which is then no manner of speaking', async (t) => {
  const under = await openSpeaking(t);
  under.speech.can = ABLE;
  const answer = await ask(under, { task_type: 'VoiceDesign', instructions: 'an old man' });
  assert.equal(answer.statusCode, 200);
  const [request] = under.speech.requests;
  assert.equal(request?.options, undefined);
  assert.ok(request?.reference?.kind === 'prompt');
  assert.equal(request.reference.prompt, 'an old man');
  assert.match(request.reference.hash, /^[0-9a-f]{64}$/);
});

test('fields that do not go together are refused with what would', async (t) => {
  const under = await openSpeaking(t);
  const cases: [object, string, RegExp][] = [
    [{ task_type: 'Base' }, 'ref_audio', /must be given with "task_type" "Base" unless "voice" names one$/],
    [
      { task_type: 'CustomVoice', ref_audio: 'data:,' },
      'ref_audio',
      /goes with "task_type" "Base", not "CustomVoice"$/,
    ],
    [{ task_type: 'VoiceDesign' }, 'instructions', /must describe the voice/],
    [{ task_type: 'VoiceDesign', instructions: 'None' }, 'instructions', /must describe the voice/],
    [{ stream: false, stream_format: 'sse' }, 'stream', /must be true or absent/],
    [{ response_format: 'mp3', sample_rate: 10_000 }, 'sample_rate', /of mp3 must be 8000, /],
  ];
  for (const [fields, field, message] of cases) {
    const answer = await ask(under, fields);
    assert.equal(answer.statusCode, 400, JSON.stringify(fields));
    assert.equal(errorIn(answer.body).param, field);
    assert.match(errorIn(answer.body).message, message);
  }
  assert.equal((await ask(under, { task_type: 'Base', voice: 'mine' })).statusCode, 200);
  assert.equal((await ask(under, { task_type: 'CustomVoice', voice: 'slt' })).statusCode, 200);
});

test('fields out of range are refused before anything is asked', async (t) => {
  const under = await openSpeaking(t);
  const cases: [object, string][] = [
    [{ temperature: 2.1 }, '"temperature" must be a number from 0 to 2'],
    [{ top_p: -0.1 }, '"top_p" must be a number from 0 to 1'],
    [{ top_k: 1.5 }, `"top_k" must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`],
    [{ max_new_tokens: 2049 }, '"max_new_tokens" must be a whole number from 1 to 2048'],
    [{ instructions: 'x'.repeat(4097) }, '"instructions" must be a string of at most 4096 characters'],
    [{ normalize: 1 }, '"normalize" must be true or false'],
    [{ task_type: 'base' }, '"task_type" must be one of "CustomVoice", "VoiceDesign", "Base"'],
    [{ ref_audio: '' }, '"ref_audio" must be a string that is not empty'],
  ];
  for (const [fields, message] of cases) {
    const answer = await ask(under, fields);
    assert.equal(answer.statusCode, 400);
    assert.equal(errorIn(answer.body).message, message);
  }
  assert.equal(under.speech.requests.length, 0);
});

test('every name of a model is taken, and a strict server takes its own and those of OpenAI', async (t) => {
  const any = await openSpeaking(t, { models: { id: 'qwen3-tts', strict: false } });
  assert.equal((await ask(any, { model: 'whatever' })).statusCode, 200);
  const strict = await openSpeaking(t, { models: { id: 'Qwen/Qwen3-TTS', strict: true } });
  for (const model of [
    'Qwen/Qwen3-TTS',
    'tts-1',
    'tts-1-hd',
    'tts-1-1106',
    'gpt-4o-mini-tts',
    'gpt-4o-mini-tts-2025-12-15',
    undefined,
  ]) {
    assert.equal((await ask(strict, { model })).statusCode, 200, model);
  }
  const other = await ask(strict, { model: 'gpt-4o' });
  assert.equal(other.statusCode, 404);
  assert.deepEqual(errorIn(other.body), {
    message: 'there is no model "gpt-4o"; there is "Qwen/Qwen3-TTS"',
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  });
  const listed = await strict.app.inject(`/v1/models/${encodeURIComponent('Qwen/Qwen3-TTS')}`);
  assert.equal(listed.json<{ id: string }>().id, 'Qwen/Qwen3-TTS');
  assert.equal((await strict.app.inject('/v1/models/parley')).statusCode, 404);
});

test('a sample may be as large in the body as the server takes samples', async (t) => {
  const limits = { maxTextLength: 4096, maxNewTokens: 2048, maxUploadBytes: 3_000_000 };
  const under = await openSpeaking(t, { limits });
  under.speech.can = ABLE;
  assert.equal((await ask(under, { ref_audio: 'A'.repeat(4_000_000) })).statusCode, 200);
  const over = await ask(under, { ref_audio: 'A'.repeat(5_100_000) });
  assert.equal(over.statusCode, 413);
  assert.match(errorIn(over.body).message, /at most 5048576 bytes$/);
});

test('what is wrong with a sample is what the service says of it', async (t) => {
  const under = await openSpeaking(t);
  under.speech.reference = () =>
    Promise.reject(new ParleyError('AUDIO_INVALID', 'that is silence', { field: 'ref_audio' }));
  const answer = await ask(under, { ref_audio: 'data:,' });
  assert.equal(answer.statusCode, 400);
  assert.equal(errorIn(answer.body).code, 'audio_invalid');
});

// The tests below are about the text: SSML or plain, and pronunciations.

const MARKED = '<speak>Hi.</speak>';

test('a text that begins with <speak is SSML, unless the request says what it is', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  for (const [input, format, isMarkup] of [
    [MARKED, undefined, true],
    [MARKED, 'auto', true],
    [MARKED, 'text', undefined],
    ['Hi.', undefined, undefined],
    ['<speak>Ho.</speak>', 'ssml', true],
  ] as const) {
    const answer = await app.inject({
      method: 'POST',
      url: SPEECH,
      payload: { input, input_format: format ?? null },
    });
    assert.equal(answer.statusCode, 200);
    assert.equal(speech.requests.at(-1)?.markup, isMarkup, `${input} ${format}`);
    assert.equal(speech.requests.at(-1)?.text, input);
  }
});

test('SSML reaches the service from the other addresses, too', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  for (const [url, payload] of [
    ['/v1/audio/speech/pcm', { input: MARKED }],
    ['/v1/audio/speech/batch', { items: [{ input: MARKED }] }],
    ['/v1/text-to-speech/slt', { text: MARKED }],
  ] as const) {
    const answer = await app.inject({ method: 'POST', url, payload });
    assert.equal(answer.statusCode, 200, url);
    assert.equal(speech.requests.at(-1)?.markup, true, url);
  }
});

test('a refusal of the text names the field as whoever asked calls it', async (t) => {
  const { app, speech } = await openApp(t);
  speech.refusal = new ParleyError(
    'INVALID_FIELD',
    '"text" is no SSML that can be spoken: line 1, column 8: no',
    {
      field: 'text',
    },
  );
  const answer = await app.inject({ method: 'POST', url: SPEECH, payload: { input: MARKED } });
  assert.equal(answer.statusCode, 400);
  const { message, param } = errorIn(answer.body);
  assert.equal(message, '"input" is no SSML that can be spoken: line 1, column 8: no');
  assert.equal(param, 'input');
});

test('markup that has no effect is named in a header, each kind once, and what is no SSML is refused at once', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  const post = (input: string) =>
    app.inject({ method: 'POST', url: SPEECH, payload: { input, normalize: false } });
  const body = '<emphasis>a</emphasis><prosody pitch="high" rate="fast">b</prosody><emphasis>c</emphasis>';
  const answer = await post(`<speak>${body}</speak>`);
  assert.equal(answer.headers['x-ignored-fields'], 'SSML <emphasis>, SSML pitch of <prosody>');
  assert.equal((await post(MARKED)).headers['x-ignored-fields'], undefined);
  const refused = await post('<speak>a');
  assert.equal(refused.statusCode, 400);
  assert.match(
    errorIn(refused.body).message,
    /^"input" is no SSML .* line 1, column 1: <speak> is not closed$/,
  );
});

test('a lexicon comes with the request, and is refused entry by entry', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  const post = (lexicon: unknown) =>
    app.inject({ method: 'POST', url: SPEECH, payload: { input: 'SQL', lexicon } });
  assert.equal((await post([{ word: 'SQL', say: 'sequel' }])).statusCode, 200);
  const { lexicon } = speech.requests.at(-1) ?? {};
  assert.deepEqual(lexicon?.claims('SQL', 'en'), [{ start: 0, end: 3, spoken: 'sequel', rule: 'lexicon' }]);
  const refused = await post([{ word: 'SQL', say: 'sequel' }, { word: 'SQL' }]);
  assert.equal(refused.statusCode, 400);
  assert.equal(errorIn(refused.body).param, 'lexicon[1].say');
  const many = await post(Array.from({ length: 1001 }, (_, index) => ({ word: `w${index}`, say: 'x' })));
  assert.match(errorIn(many.body).message, /has 1001 entries, 1000 is the most/);
});

test('a form that is none is refused with what there is', async (t) => {
  const { app } = await openApp(t);
  const answer = await app.inject({
    method: 'POST',
    url: SPEECH,
    payload: { input: 'a', input_format: 'html' },
  });
  assert.equal(errorIn(answer.body).message, '"input_format" must be one of "auto", "text", "ssml"');
});
