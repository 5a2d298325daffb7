// Sends damaged and half-valid bodies over HTTP and damaged messages over sockets, the same in every run.
// None may crash the process or be answered as an internal error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from '../fakes/properties.js';
import { ServerEvents } from '../../src/call/server-events.js';
import { readOffer } from '../../signaling/offer.js';
import { jambonzVoiceSocket } from '../../src/api/jambonz/jambonz-voice-socket.js';
import { legacySocket } from '../../src/api/legacy/legacy-socket.js';
import { omniSocket } from '../../src/api/omni/omni-socket.js';
import { TIMES } from '../fakes/long-run.js';
import { until } from '../fakes/until.js';
import { chromiumOffer } from '../signaling/chromium-offer.js';
import { errorIn, openApp } from './app-under-test.js';
import { type DialectUnderTest, openDialect } from './dialect-under-test.js';
import { mutated, randomFrom } from './mutations.js';
import { documentOf, operationsOf, type Schema } from './openapi-document.js';

const CALLS = '/v1/realtime/calls';

function assertWellBehaved(status: number, body: string, input: string): void {
  assert.ok(status < 500, `status ${status} for ${JSON.stringify(input.slice(0, 300))}`);
  if (status >= 400) assert.equal(typeof errorIn(body).message, 'string');
}

test('3000 damaged offers are each answered with a call or with what is wrong', async (t) => {
  const { app, calls } = await openApp(t);
  calls.check = readOffer; // a real server reads the offer first
  const random = randomFrom(1);
  const statuses = new Map<number, number>();
  for (let round = 0; round < 3000; round++) {
    const payload = mutated(chromiumOffer(), random);
    const headers = { 'content-type': 'application/sdp' };
    const answer = await app.inject({ method: 'POST', url: CALLS, headers, payload });
    assertWellBehaved(answer.statusCode, answer.body, payload);
    statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
  }
  // The damage is neither harmless nor total, or the test would show nothing.
  assert.ok((statuses.get(201) ?? 0) > 100);
  assert.ok((statuses.get(400) ?? 0) + (statuses.get(422) ?? 0) > 100);
});

test('2000 damaged forms are each answered with a call or with what is wrong', async (t) => {
  const { app } = await openApp(t);
  const random = randomFrom(2);
  const part = (name: string, type: string, body: string) =>
    `--edge\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
  const form = `${part('sdp', 'application/sdp', chromiumOffer())}${part('session', 'application/json', '{"type":"realtime"}')}--edge--\r\n`;
  for (let round = 0; round < 2000; round++) {
    const payload = mutated(form, random);
    const boundary = random() < 0.9 ? 'edge' : mutated('edge', random).replace(/[^\x21-\x7e]/g, '');
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const answer = await app.inject({ method: 'POST', url: CALLS, headers, payload });
    assertWellBehaved(answer.statusCode, answer.body, payload);
  }
});

test('2000 damaged speech requests are each answered with sound or with what is wrong', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['RIFF'];
  const random = randomFrom(3);
  const good = JSON.stringify(
    { model: 'tts-1', input: 'Your order has shipped.', voice: 'slt', response_format: 'wav', speed: 1 },
    null,
    1,
  ).replaceAll('\n', '\r\n');
  let spoken = 0;
  for (let round = 0; round < 2000; round++) {
    const payload = mutated(good, random);
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: '/v1/audio/speech', headers, payload });
    assertWellBehaved(answer.statusCode, answer.body, payload);
    if (answer.statusCode === 200) spoken++;
  }
  assert.ok(spoken > 50);
});

test('addresses of calls that nobody made are not found, whatever they hold', async (t) => {
  const { app } = await openApp(t);
  const random = randomFrom(4);
  for (let round = 0; round < 500; round++) {
    const id = mutated('rtc_0123456789abcdef', random).replace(/[^\x21-\x7e]/g, '?');
    for (const request of [
      { method: 'DELETE', url: `${CALLS}/${id}` },
      { method: 'POST', url: `${CALLS}/${id}/hangup` },
      { method: 'GET', url: `/v1/models/${id}` },
    ] as const) {
      const answer = await app.inject(request);
      assert.ok(
        answer.statusCode >= 400 && answer.statusCode < 500,
        `${answer.statusCode} for ${request.url}`,
      );
    }
  }
});

const RUNS = 300 * TIMES; // per endpoint; the same in every run
const LONGEST = 60; // characters of a made text; limits are met from both sides

/** Values that the schema allows, as far as it is made of keywords of the document. */
function allowed(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(allowed));
  const { minimum: min, maximum: max } = schema;
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Math.max(min ?? -1000, -(2 ** 31)), max: Math.min(max ?? 1000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: min ?? -10, max: max ?? 10, noNaN: true });
    case 'array':
      return fc.array(allowed(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      });
    case 'object':
      return objects(schema);
    default:
      return texts(schema);
  }
}

function texts({
  pattern,
  examples = [],
  minLength = 0,
  maxLength = LONGEST,
}: Schema): fc.Arbitrary<unknown> {
  if (pattern !== undefined) return fc.constantFrom(...examples, 'en', 'English', 'pt-BR', 'auto', 'x_y_z');
  const made = fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, LONGEST) });
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom('Hello.', 'slt', '…', '🙂', ...examples) }, made);
}

/** Objects with all required fields and up to four optional ones. */
function objects({ properties = {}, required = [] }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return fc.subarray(optional, { maxLength: Math.min(4, optional.length) }).chain((names) => {
    const fields = [...required, ...names].map((name) => [name, allowed(properties[name] ?? {})] as const);
    return fc.record(Object.fromEntries(fields));
  });
}

/** The same, half of the time with one field that is most likely wrong. */
function bodies(schema: Schema): fc.Arbitrary<unknown> {
  const names = Object.entries(schema.properties ?? {});
  const damage = fc.constantFrom(...names).chain(([name, field]) => fc.record({ [name]: wrong(field) }));
  const damaged = fc.tuple(objects(schema), damage).map(([body, field]) => ({ ...body, ...field }));
  return fc.oneof(
    { weight: 10, arbitrary: objects(schema) },
    { weight: 9, arbitrary: damaged },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

/** Beside a limit, or anything. */
function wrong({ minimum, maximum, maxLength }: Schema): fc.Arbitrary<unknown> {
  const beside = [minimum, maximum].flatMap((limit) => (limit === undefined ? [] : [limit - 1, limit + 1]));
  const long = maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)];
  return fc.oneof(
    fc.constantFrom<unknown>(null, '', 0, {}, [], ...beside, ...long),
    fc.jsonValue({ maxDepth: 3 }),
  );
}

test('every address that takes JSON answers every body, and refuses with an error object', async (t) => {
  const incoming = { answer: () => undefined }; // every call waits for a decision
  const under = await openApp(t, { follow: { events: new ServerEvents(Date.now), incoming } });
  under.speech.whole = ['sound'];
  under.phone.add('slt');
  under.speech.can = { engine: 'all', clone: true, design: false, instruct: true, sampling: true };
  const taking = operationsOf(await documentOf(under)).flatMap(({ path, method, operation }) => {
    const schema = operation.requestBody?.content['application/json']?.schema;
    if (path.endsWith('/recording')) return []; // this server records nothing
    return schema === undefined ? [] : [{ url: path.replace(/\{\w+\}/g, 'slt'), method, operation, schema }];
  });
  assert.ok(taking.some(({ url }) => url === '/v1/audio/speech'));
  for (const { url, method, operation, schema } of taking) {
    const counts = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(bodies(schema), async (body) => {
        const request = { method: method as 'POST', url, headers: { 'content-type': 'application/json' } };
        const answer = await under.app.inject({ ...request, payload: JSON.stringify(body) });
        const { statusCode: status } = answer;
        counts.set(status, (counts.get(status) ?? 0) + 1);
        assert.ok(status < 500 || Object.hasOwn(operation.responses, status), `${status}: ${answer.body}`);
        if (status < 400) return;
        const { message, type, param, code } = errorIn(answer.body);
        assert.ok(message.length > 0 && type.endsWith('_error') && typeof code === 'string');
        assert.ok(param === null || message.includes(`"${param}"`), message);
      }),
      { numRuns: RUNS },
    );
    // Neither all right nor all wrong, or nothing would be shown. A body that names another call, a room or a
    // queue is right if only that is missing: this server has one call.
    const isRight = (status: number) => status < 300 || status === 404;
    const right = [...counts].reduce((sum, [status, count]) => sum + (isRight(status) ? count : 0), 0);
    const shown = `${url}: ${JSON.stringify([...counts])}`;
    assert.ok(right > RUNS / 100 && (counts.get(400) ?? 0) > RUNS / 100, shown);
  }
});

const ROUNDS = 500;

const SPOKEN = { model: 'tts-1', input: 'Your order has shipped.', voice: 'slt', speed: 1, language: 'en' };
const TEXT = {
  text: 'Your order has shipped.',
  model_id: 'eleven_turbo_v2_5',
  voice_settings: { stability: 0.5, similarity_boost: 0.8, speed: 1 },
  language_code: 'en',
};

const CASES = [
  ['/v1/audio/speech/stream', SPOKEN],
  ['/v1/audio/speech/pcm', SPOKEN],
  [
    '/v1/audio/speech/batch',
    { ...SPOKEN, items: [{ input: 'One.' }, { input: 'Two.', response_format: 'mp3' }] },
  ],
  ['/v1/text-to-speech/slt?output_format=pcm_16000', TEXT],
  ['/v1/text-to-speech/slt/with-timestamps?output_format=mp3_44100_128', TEXT],
  ['/v1/text-to-speech/slt/stream/with-timestamps', TEXT],
] as const;

for (const [number, [url, body]] of CASES.entries()) {
  test(`${ROUNDS} damaged requests to ${url} are each answered with sound or with what is wrong`, async (t) => {
    const { app, speech } = await openApp(t);
    speech.whole = ['RIFF'];
    const random = randomFrom(100 + number);
    const good = JSON.stringify(body, null, 1).replaceAll('\n', '\r\n');
    let spoken = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const payload = mutated(good, random);
      const address = random() < 0.7 ? url : mutated(url, random).replace(/[^\x21-\x7e]/g, '%20');
      const headers = { 'content-type': 'application/json' };
      const path = address.startsWith('/') ? address : `/${address}`;
      const answer = await app.inject({ method: 'POST', url: path, headers, payload });
      assert.ok(answer.statusCode < 500, `${answer.statusCode} for ${path} ${payload}`);
      if (answer.statusCode >= 400) assert.equal(typeof errorIn(answer.body).message, 'string');
      else spoken++;
    }
    // The damage is neither harmless nor total, or the test would show nothing.
    assert.ok(spoken > ROUNDS / 50 && spoken < ROUNDS / 2, `${spoken} were spoken`);
  });
}

// After the damaged messages a socket still speaks.

const LEGACY = [
  '{"input":"One is here. Two is there.","voice":"instant","speed":1.5,"language":"en"}',
  '{"text":"Hello.","sample_rate":8000,"instructions":"calm","seed":7,"top_p":0.5,"cache":false}',
  '{"event":"cancel"}',
  '{"type":"cancel"}',
  '{"input":"\\ud83d\\ude00 \\u0000 and so on.","voice":{"id":"instant"},"max_new_tokens":100}',
];
const OMNI = [
  '{"type":"session.config","voice":"instant","language":"English","response_format":"pcm","stream_audio":true}',
  '{"type":"session.config","response_format":"wav","sample_rate":16000,"speed":2,"task_type":"CustomVoice"}',
  '{"type":"input.text","text":"One is here. And "}',
  '{"type":"input.text","text":"so on. "}',
  '{"type":"session.config","voice":"instant","response_format":"pcm","stream_audio":true,"word_timestamps":true}',
  '{"type":"session.config","voice":"instant","streaming_mode":"sentence_commit"}',
  '{"type":"input.commit","commit_id":"a"}',
  '{"type":"input.done"}',
  '{"type":"input.cancel"}',
];
const JAMBONZ = [
  '{"type":"stream","text":"One is here. And so"}',
  '{"type":"stream","text":"on. \\ud83d\\ude00 \\u0000"}',
  '{"type":"stream","text":"<speak>Hello.</speak>"}',
  '{"type":"flush"}',
  '{"type":"clear"}',
];
const MESSAGES = 6000;

/** Sends damaged copies of the messages, some as bytes; returns the kinds of what was answered. */
async function hear(under: DialectUnderTest, samples: readonly string[], seed: number): Promise<Set<string>> {
  const random = randomFrom(seed);
  const kinds = new Set<string>();
  for (let round = 0; round < MESSAGES; round++) {
    const sample = samples[Math.floor(random() * samples.length)] ?? '';
    const message = random() < 0.4 ? sample : mutated(sample, random);
    under.conversation.message(random() < 0.02 ? Buffer.from(message) : message);
    if (round % 5 === 0) await nextTurn();
    for (const received of under.peer.taken()) {
      if (typeof received !== 'string')
        kinds.add(String(received['code'] ?? received['event'] ?? received['type']));
    }
  }
  return kinds;
}

test('6,000 damaged messages of the legacy dialect are each understood or refused by code', async () => {
  const under = openDialect(legacySocket);
  const kinds = await hear(under, LEGACY, 11);
  const known = ['cancelled', 'done', 'invalid_value', 'malformed', 'queue_full'];
  assert.deepEqual([...kinds].toSorted(), [...known, 'text_too_long', 'voice_unknown']);
  assert.deepEqual(under.failures, []);
  under.say({ event: 'cancel' });
  await until(() => under.peer.messages.length > 0);
  under.peer.taken();
  under.say({ input: 'Still here.' });
  assert.deepEqual(await under.received(3), ['Still ', 'here.', { event: 'done' }]);
  await under.conversation.closed();
  assert.deepEqual([under.speech.active, under.time.waiting], [0, 0]);
});

test('6,000 damaged messages of vLLM-Omni’s dialect are each understood or refused by code', async () => {
  const under = openDialect(omniSocket);
  const kinds = await hear(under, OMNI, 12);
  const known = ['audio.chunk', 'audio.done', 'audio.start', 'input.cancelled', 'input.committed'];
  const errors = ['text_empty', 'text_too_long', 'voice_unknown'];
  assert.deepEqual([...kinds].toSorted(), [
    ...known,
    'invalid_value',
    'malformed',
    'session.done',
    ...errors,
  ]);
  assert.deepEqual(under.failures, []);
  under.say({ type: 'input.cancel' });
  await until(() =>
    under.peer.messages.some(
      (received) => typeof received !== 'string' && received['type'] === 'input.cancelled',
    ),
  );
  under.peer.taken();
  const config = { type: 'session.config', response_format: 'pcm', stream_audio: true };
  under.say(config, { type: 'input.text', text: 'Still here.' }, { type: 'input.done' });
  const [, ...rest] = await under.received(5);
  assert.deepEqual(rest.slice(0, 2), ['Still ', 'here.']);
  await under.conversation.closed();
  await until(() => under.time.waiting === 0);
  assert.equal(under.speech.active, 0);
});

test('6,000 damaged messages of jambonz are each understood or refused by code', async () => {
  const under = openDialect(jambonzVoiceSocket, '?voice=instant&language=en');
  const kinds = await hear(under, JAMBONZ, 13);
  assert.deepEqual([...kinds].toSorted(), ['connect', 'invalid_value', 'malformed', 'text_too_long']);
  assert.deepEqual(under.failures, []);
  under.say({ type: 'clear' });
  await until(() => under.speech.active === 0);
  under.peer.taken();
  under.say({ type: 'stream', text: 'Still here.' }, { type: 'flush' });
  assert.deepEqual(await under.received(2), ['Still ', 'here.']);
  await under.conversation.closed();
  assert.deepEqual([under.speech.active, under.time.waiting], [0, 0]);
});
