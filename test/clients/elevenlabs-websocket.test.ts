// ElevenLabs' WebSockets on a whole server, as its clients use them: the frames
// that LiveKit's and Pipecat's plug-ins send, what they make of the answers, and
// the messages as ElevenLabs' own library writes and reads them.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import * as sdk from '@elevenlabs/elevenlabs-js/serialization/index.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { readConfig } from '../../src/config/config.js';
import { startServer, type Server } from '../../src/main.js';
import { decoded } from '../fakes/ffmpeg.js';
import { until } from '../fakes/until.js';
import { SocketClient } from '../api/http/socket-client.js';

const SENTENCES = [
  'Thank you for calling, your order has shipped.',
  'It will arrive on Tuesday morning.',
  'Is there anything else?',
];
const TEXT = SENTENCES.join(' ');
const VOICE_SETTINGS = {
  stability: 0.71,
  similarity_boost: 0.5,
  style: 0,
  use_speaker_boost: true,
  speed: 1,
};

let server: Server;
let idleHandles = 0;

before(async () => {
  server = await startServer(
    readConfig({ PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', LOG_LEVEL: 'silent' }),
  );
  idleHandles = watchedHandles();
});
after(() => server.close());

interface Answer {
  readonly audio?: string | null;
  readonly isFinal?: boolean | null;
  readonly contextId?: string;
  readonly error?: string;
  readonly message?: string;
  readonly code?: number;
  readonly alignment?: Times | null;
}

interface Times {
  readonly chars: string[];
  readonly charStartTimesMs: number[];
  readonly charDurationsMs: number[];
}

function connect(t: TestContext, path: string, headers: Record<string, string> = {}): Promise<SocketClient> {
  return SocketClient.open(t, `${server.url}/v1/text-to-speech/${path}`, { headers });
}

function answers(client: SocketClient, contextId?: string): Answer[] {
  return (client.received as Answer[]).filter(
    (answer) => contextId === undefined || answer.contextId === contextId,
  );
}

function isFinal(client: SocketClient, contextId?: string): boolean {
  return answers(client, contextId).some((answer) => answer.isFinal === true);
}

function soundIn(received: readonly Answer[]): Buffer {
  return Buffer.concat(received.map(({ audio }) => Buffer.from(audio ?? '', 'base64')));
}

function heard(received: readonly Answer[]): string {
  return received.flatMap(({ alignment }) => alignment?.chars ?? []).join('');
}

function alignedMs(received: readonly Answer[]): number {
  return received
    .flatMap(({ alignment }) => alignment?.charDurationsMs ?? [])
    .reduce((sum, ms) => sum + ms, 0);
}

async function freed(): Promise<void> {
  await until(
    () => server.encoders.sessions.every((sessions) => sessions === 0) && watchedHandles() === idleHandles,
  );
}

/** Words and when they begin, in seconds, as Pipecat's plug-in works them out of the messages. */
function pipecatWords(received: readonly Answer[]): { words: [string, number][]; seconds: number } {
  const words: [string, number][] = [];
  let seconds = 0;
  let partial = '';
  let partialAt = 0;
  for (const { alignment } of received) {
    if (!alignment) continue;
    const before = words.length;
    for (const [index, char] of alignment.chars.entries()) {
      if (char !== ' ') {
        if (partial === '') partialAt = seconds + (alignment.charStartTimesMs[index] ?? 0) / 1000;
        partial += char;
      } else if (partial !== '') {
        words.push([partial, partialAt]);
        partial = '';
      }
    }
    if (words.length > before) {
      seconds += ((alignment.charStartTimesMs.at(-1) ?? 0) + (alignment.charDurationsMs.at(-1) ?? 0)) / 1000;
    }
  }
  return { words, seconds };
}

/** A turn as each plug-in sends it. */
const TURNS: readonly { name: string; query: string; messages: (context_id: string) => object[] }[] = [
  {
    name: 'Pipecat (sentences, auto_mode)',
    query: 'model_id=eleven_turbo_v2_5&output_format=pcm_24000&auto_mode=true',
    messages: (context_id) => [
      { text: '' }, // its keep-alive before there is a context
      { text: ' ', context_id, voice_settings: { stability: 0.5, speed: 1 } },
      ...SENTENCES.map((text) => ({ text: `${text} `, context_id })),
      { context_id, flush: true },
      { context_id, close_context: true },
    ],
  },
  {
    name: 'Pipecat (tokens)',
    query: 'model_id=eleven_turbo_v2_5&output_format=pcm_24000&auto_mode=false&apply_text_normalization=auto',
    messages: (context_id) => [
      { text: ' ', context_id },
      ...(TEXT.match(/\s*\S{1,4}/g) ?? []).map((text) => ({ text, context_id })),
      { text: '', context_id }, // its keep-alive
      { context_id, flush: true },
      { context_id, close_context: true },
    ],
  },
  {
    name: 'LiveKit (sentences, auto_mode)',
    query:
      'model_id=eleven_turbo_v2_5&output_format=pcm_24000&language_code=en&enable_ssml_parsing=false' +
      '&enable_logging=true&inactivity_timeout=180&apply_text_normalization=auto&sync_alignment=true&auto_mode=true',
    messages: (context_id) => [
      { text: ' ', voice_settings: {}, context_id },
      ...SENTENCES.map((text) => ({ text: `${text} `, context_id, flush: true })),
      { text: '', context_id, flush: true },
      { context_id, close_context: true },
    ],
  },
  {
    name: 'LiveKit (words, with a schedule)',
    query: 'model_id=eleven_turbo_v2_5&output_format=pcm_24000&inactivity_timeout=180&sync_alignment=true',
    messages: (context_id) => [
      {
        text: ' ',
        voice_settings: VOICE_SETTINGS,
        context_id,
        generation_config: { chunk_length_schedule: [80, 120, 200, 260] },
      },
      ...TEXT.split(' ').map((word) => ({ text: `${word} `, context_id })),
      { text: '', context_id, flush: true },
      { context_id, close_context: true },
    ],
  },
];

for (const { name, query, messages } of TURNS) {
  test(`a turn of ${name} is spoken whole, with the time of every word`, async (t) => {
    const client = await connect(t, `slt/multi-stream-input?${query}`, { 'xi-api-key': 'whatever' });
    for (const message of messages('turn-1')) client.send(message);
    await until(() => isFinal(client, 'turn-1'));
    const received = answers(client);
    assert.ok(received.every(({ error, contextId }) => error === undefined && contextId === 'turn-1'));
    assert.deepEqual(received.at(-1), { isFinal: true, contextId: 'turn-1' });
    assert.equal(heard(received), `${TEXT} `);
    const soundMs = soundIn(received).length / 48;
    assert.ok(soundMs > 4000 && soundMs < 12_000, `${soundMs} ms`);
    const { words, seconds } = pipecatWords(received);
    assert.deepEqual(
      words.map(([word]) => word),
      TEXT.split(' '),
    );
    assert.ok(Math.abs(seconds * 1000 - soundMs) < 0.15 * soundMs, `${seconds} s of ${soundMs} ms`);
    for (const { audio, alignment } of received) {
      if (!alignment) continue;
      const ms = alignment.charDurationsMs.reduce((sum, duration) => sum + duration, 0);
      assert.ok(Math.abs(ms - Buffer.from(audio ?? '', 'base64').length / 48) <= 1 && ms <= 500);
    }
    client.send({ close_socket: true });
    assert.deepEqual(await client.closed(), [1000, '']);
    await freed();
  });
}

test('LiveKit’s older frames on stream-input: MP3 that decodes to as long a sound as its characters', async (t) => {
  const query = 'model_id=eleven_turbo_v2_5&output_format=mp3_22050_32&optimize_streaming_latency=3';
  const client = await connect(t, `slt/stream-input?${query}&enable_ssml_parsing=false`);
  client.send({
    text: ' ',
    try_trigger_generation: true,
    voice_settings: VOICE_SETTINGS,
    generation_config: { chunk_length_schedule: [80, 120, 200, 260] },
  });
  for (const word of TEXT.split(' ')) client.send({ text: `${word} `, try_trigger_generation: false });
  client.send({ text: '' });
  assert.deepEqual(await client.closed(), [1000, '']);
  const received = answers(client);
  assert.equal(heard(received), `${TEXT} `);
  assert.deepEqual(received.at(-1), {
    audio: null,
    isFinal: true,
    normalizedAlignment: null,
    alignment: null,
  });
  const seconds = decoded(soundIn(received)).length / 22_050;
  assert.ok(Math.abs(seconds * 1000 - alignedMs(received)) < 200, `${seconds} s, ${alignedMs(received)} ms`);
});

for (const [format, bytesPerMs] of [
  ['ulaw_8000', 8],
  ['alaw_8000', 8],
  ['pcm_44100', 88.2],
] as const) {
  test(`${format}: the times of the characters fill the sound`, async (t) => {
    const client = await connect(t, `slt/stream-input?output_format=${format}`);
    client.send({ text: `${TEXT} ` });
    client.send({ text: '' });
    await client.closed();
    const received = answers(client);
    const nulls = received.filter(({ audio, alignment }) => audio !== null && alignment === null);
    const filled = soundIn(received).length - soundIn(nulls).length;
    assert.ok(Math.abs(filled / bytesPerMs - alignedMs(received)) < 10);
    assert.equal(heard(received), `${TEXT} `);
  });
}

test('Opus: every sentence is a stream of its own, cut between pages, and as long as its characters', async (t) => {
  const client = await connect(t, 'slt/stream-input?output_format=opus_48000_64');
  client.send({ text: `${SENTENCES[0]} ` });
  client.send({ text: '' });
  await client.closed();
  const received = answers(client);
  const pieces = received.filter(({ audio }) => audio !== null && audio !== '');
  assert.ok(pieces.length > 3);
  for (const { audio } of pieces)
    assert.equal(Buffer.from(audio ?? '', 'base64').toString('latin1', 0, 4), 'OggS');
  const seconds = decoded(soundIn(received)).length / 48_000;
  const nulls = pieces.filter(({ alignment }) => alignment === null);
  assert.ok(Math.abs(seconds * 1000 - alignedMs(received)) < 20 + 500 * nulls.length);
});

test('the same text asked again comes from the cache, with the same sound and characters', async (t) => {
  const speak = async () => {
    const client = await connect(t, 'slt/stream-input?output_format=pcm_16000');
    client.send({ text: 'Twice is better than once. ' });
    client.send({ text: '' });
    await client.closed();
    return answers(client);
  };
  const [first, second] = [await speak(), await speak()];
  assert.deepEqual(soundIn(second), soundIn(first));
  assert.equal(heard(second), heard(first));
});

test('ten interruptions, each while the old turn still sounds, on one socket', async (t) => {
  const client = await connect(t, 'slt/multi-stream-input?output_format=pcm_24000&auto_mode=true');
  for (let turn = 0; turn < 10; turn++) {
    const context_id = `turn-${turn}`;
    client.send({ text: ' ', context_id, voice_settings: VOICE_SETTINGS });
    for (const sentence of [...SENTENCES, ...SENTENCES]) {
      client.send({ text: `${sentence} `, context_id, ...(turn % 2 === 0 ? {} : { flush: true }) });
    }
    await until(() => answers(client, context_id).length > 1);
    client.send({ context_id, close_context: true });
  }
  client.send({ text: 'At last. ', context_id: 'last', flush: true });
  client.send({ context_id: 'last', close_context: true });
  await until(() => isFinal(client, 'last'));
  assert.equal(heard(answers(client, 'last')), 'At last. ');
  await until(() =>
    Array.from({ length: 10 }, (_, turn) => `turn-${turn}`).every((id) => isFinal(client, id)),
  );
  for (let turn = 0; turn < 10; turn++) {
    const received = answers(client, `turn-${turn}`);
    assert.equal(
      received.findIndex((answer) => answer.isFinal === true),
      received.length - 1,
    );
  }
  assert.equal(client.end, undefined);
  client.socket.close();
  await freed();
});

test('a client that goes in mid-sentence frees everything', async (t) => {
  const client = await connect(t, 'slt/multi-stream-input?output_format=pcm_24000');
  for (const context_id of ['a', 'b', 'c'])
    client.send({ text: `${TEXT} ${TEXT} `, context_id, flush: true });
  await until(() => client.messages.length > 2);
  client.socket.terminate();
  await freed();
});

test('an unknown voice is refused with the nearest ones', async (t) => {
  const client = await connect(t, 'slx/stream-input?output_format=pcm_24000');
  client.send({ text: 'Hello. ', flush: true });
  const [code] = await client.closed();
  const [received] = answers(client);
  assert.deepEqual([code, received?.error, received?.code], [1008, 'voice_not_found', 1008]);
  assert.match(received?.message ?? '', /slx.*slt/s);
});

test('an address with a wrong parameter is refused by name', async (t) => {
  const client = await connect(t, 'slt/multi-stream-input?output_format=pcm_24001');
  assert.equal((await client.closed())[0], 1008);
  assert.match(answers(client)[0]?.message ?? '', /"output_format"/);
});

test('where a key is needed, the header, or the first message may carry it', async (t) => {
  const key = 'key-of-a-test-client';
  const locked = await startServer(
    readConfig({ PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', LOG_LEVEL: 'silent', API_KEYS: key }),
  );
  t.after(() => locked.close());
  const url = `${locked.url}/v1/text-to-speech/slt/multi-stream-input?output_format=pcm_8000`;
  const ways: readonly [headers: Record<string, string>, fields: object, opens: boolean][] = [
    [{ 'xi-api-key': key }, {}, true],
    [{}, { xi_api_key: key }, true],
    [{}, { 'xi-api-key': key }, true],
    [{}, { authorization: `Bearer ${key}` }, true],
    [{}, { xi_api_key: 'key-of-nobody-at-all' }, false],
    [{}, {}, false],
  ];
  for (const [headers, fields, opens] of ways) {
    const client = await SocketClient.open(t, url, { headers });
    client.send({ text: 'Hello. ', context_id: 'a', flush: true, ...fields });
    if (opens) {
      client.send({ context_id: 'a', close_context: true });
      await until(() => isFinal(client, 'a'));
      assert.equal(heard(answers(client)), 'Hello. ');
    } else {
      assert.equal((await client.closed())[0], 1008);
      assert.deepEqual([answers(client)[0]?.error, heard(answers(client))], ['invalid_api_key', '']);
    }
  }
});

test('ElevenLabs’ own library writes what is understood here, and reads what is answered', async (t) => {
  const client = await connect(t, 'slt/stream-input?output_format=pcm_24000');
  const written = [
    sdk.SendMessage.jsonOrThrow({
      text: ' ',
      voiceSettings: { stability: 0.5, similarityBoost: 0.8, useSpeakerBoost: false, speed: 1.1 },
      generationConfig: { chunkLengthSchedule: [50, 120] },
      xiApiKey: 'whatever',
    }),
    sdk.SendMessage.jsonOrThrow({ text: `${TEXT} `, tryTriggerGeneration: true }),
    sdk.SendMessage.jsonOrThrow({ text: '' }),
  ];
  for (const message of written) client.send(message as object);
  await client.closed();
  const read = client.received.map((message) =>
    sdk.ReceiveMessage.parseOrThrow(message, { unrecognizedObjectKeys: 'strip' }),
  );
  assert.deepEqual(read.at(-1), { isFinal: true });
  const sounds = read.slice(0, -1).map((message) => {
    assert.ok('audio' in message);
    return message;
  });
  assert.equal(sounds.flatMap(({ alignment }) => alignment?.chars ?? []).join(''), `${TEXT} `);
});

test('the library’s messages of several contexts, too', async (t) => {
  const client = await connect(t, 'slt/multi-stream-input?output_format=pcm_24000');
  const written = [
    sdk.SendMessageMulti.jsonOrThrow({ text: ' ', contextId: 'a', voiceSettings: { speed: 1 } }),
    sdk.SendMessageMulti.jsonOrThrow({ text: `${TEXT} `, contextId: 'a', flush: true }),
    sdk.SendMessageMulti.jsonOrThrow({ text: '', contextId: 'a' }),
    sdk.SendMessageMulti.jsonOrThrow({ contextId: 'a', flush: true }),
    sdk.SendMessageMulti.jsonOrThrow({ contextId: 'a', closeContext: true }),
    sdk.SendMessageMulti.jsonOrThrow({ closeSocket: true }),
  ];
  for (const message of written) client.send(message as object);
  assert.deepEqual(await client.closed(), [1000, '']);
  const read = client.received.map((message) =>
    sdk.ReceiveMessageMulti.parseOrThrow(message, { unrecognizedObjectKeys: 'strip' }),
  );
  assert.deepEqual(read.at(-1), { isFinal: true, contextId: 'a' });
  assert.ok(read.every(({ contextId }) => contextId === 'a'));
  assert.equal(
    read.flatMap((message) => ('alignment' in message && message.alignment?.chars) || []).join(''),
    `${TEXT} `,
  );
});
