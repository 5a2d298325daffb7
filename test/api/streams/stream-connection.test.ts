// A call and its bot: the WebSocket between them is real, as are the call, its encoder and its ear.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { mediaStreamOpener } from '../../../src/api/streams/stream-connection.js';
import type { Talk } from '../../../src/call/call-handler.js';
import { MU_LAW, MU_LAW_VALUES } from '../../../src/codecs/g711.js';
import type { MediaStreamConfig } from '../../../src/config/media-stream-config.js';
import { type HandledCallUnderTest, openHandledCall, settle } from '../../agents/handled-call.js';
import { FRAME_MS, openCalls } from '../../fakes/call-under-test.js';
import { CountedConnections } from '../../fakes/counted-connections.js';
import { until } from '../../fakes/until.js';
import { FAR, rtp } from '../../media/plane-under-test.js';
import { type BotStream, StreamBot } from './stream-bot.js';
import { SILENT_LOG } from '../../../src/log.js';

const calls = openCalls();
const SILENCE = 0xff;
const TOKEN = 'auth-token-of-a-test';
const PHRASE = 'Sorry, goodbye.';

interface ConnectionUnderTest extends HandledCallUnderTest {
  readonly talk: Talk;
  readonly warnings: string[];
  /** The error numbers of the warnings. */
  readonly errors: unknown[];
  /** Counts of the connection. */
  readonly counted: readonly string[];
  /** Lets so many frames leave, and what they cause happen. */
  leave(frames: number): Promise<void>;
  /** Mu-law that left since the last time, without the silent packets. */
  heard(): Buffer;
}

interface StreamUnderTest extends ConnectionUnderTest {
  readonly bot: StreamBot;
  readonly stream: BotStream;
}

function openStream(url: string, change: Partial<MediaStreamConfig> = {}): ConnectionUnderTest {
  const under = openHandledCall(calls);
  const warnings: string[] = [];
  const errors: unknown[] = [];
  const log = {
    ...SILENT_LOG,
    warn: (fields: Record<string, unknown>, message: string) => {
      warnings.push(message);
      errors.push(fields['error']);
    },
  };
  const config: MediaStreamConfig = {
    name: 'bot',
    url,
    authToken: TOKEN,
    parameters: { tenant: 'acme' },
    track: 'inbound_track',
    failurePhrase: PHRASE,
    voice: undefined,
    language: 'en',
    ...change,
  };
  const randomBytes = (count: number) => Buffer.alloc(count, 7);
  const connections = new CountedConnections();
  const talk = mediaStreamOpener({ time: under.time, connections, log, randomBytes })(under.handled, config);
  const leave = async (frames: number) => {
    for (let frame = 0; frame < frames; frame++) {
      under.pass(FRAME_MS);
      await settle();
    }
  };
  const heard = () => {
    const loud = under.sent().filter(({ payload }) => payload.some((code) => code !== SILENCE));
    return Buffer.concat(loud.map(({ payload }) => payload));
  };
  return { ...under, talk, warnings, errors, counted: connections.noted, leave, heard };
}

async function open(t: TestContext, change: Partial<MediaStreamConfig> = {}): Promise<StreamUnderTest> {
  const bot = await StreamBot.open(t);
  const under = openStream(bot.url, change);
  return { ...under, bot, stream: await bot.stream() };
}

/** The caller sends a tone, 20 ms a packet; returns a function for one more packet. */
function caller({ port, pass }: ConnectionUnderTest): () => void {
  const socket = port.socket ?? assert.fail();
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.learn(FAR);
  let sequence = 100;
  let at = 0;
  return () => {
    const payload = Uint8Array.from(
      { length: 160 },
      () => MU_LAW[Math.round(8000 * wave(at++)) + 32_768] ?? 0,
    );
    socket.feed(rtp({ sequence, timestamp: 160 * sequence, payload }), FAR.address, FAR.port);
    sequence++;
    pass(FRAME_MS);
  };
}

/** 440 Hz at 8 kHz. */
function wave(sample: number): number {
  return Math.sin((2 * Math.PI * 440 * sample) / 8000);
}

function ramp(samples: number, from = 0): Uint8Array {
  return Uint8Array.from({ length: samples }, (_, n) => (from + n) % 100);
}

test('the bot gets a signed handshake, then "connected", then "start" with the call and its parameters', async (t) => {
  const { bot, stream } = await open(t);
  const wanted = createHmac('sha1', TOKEN).update(bot.url).digest('base64');
  assert.equal(stream.headers['x-twilio-signature'], wanted);
  const streamSid = `MZ${'07'.repeat(16)}`;
  assert.deepEqual(stream.messages.slice(0, 2), [
    { event: 'connected', protocol: 'Call', version: '1.0.0' },
    {
      event: 'start',
      sequenceNumber: '1',
      streamSid,
      start: {
        streamSid,
        accountSid: `AC${'0'.repeat(32)}`,
        callSid: 'call-1',
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: { tenant: 'acme' },
      },
    },
  ]);
});

test('without a token the handshake has no signature', async (t) => {
  const { stream } = await open(t, { authToken: undefined });
  assert.equal(stream.headers['x-twilio-signature'], undefined);
});

test('a bot that echoes gets the caller back what it heard, to the sample', async (t) => {
  const under = await open(t);
  const { stream } = under;
  stream.onMessage = ({ event, streamSid, media }) => {
    if (event === 'media') stream.send({ event, streamSid, media: { payload: media?.payload } });
  };
  const say = caller(under);
  for (let packet = 0; packet < 40; packet++) {
    say();
    await settle();
  }
  await until(() => stream.of('media').length >= 35);
  stream.onMessage = () => undefined;
  const given = stream.heard();
  await stream.read();
  let heard = Buffer.alloc(0);
  await until(async () => {
    await under.leave(1);
    heard = Buffer.concat([heard, under.heard()]);
    return loudPart(heard).length > 30 * 160;
  });
  assert.ok(given.includes(loudPart(heard)), 'the sound that left is not what the bot gave');
});

/** From the first whole period to the last, so that silence around it does not count. */
function loudPart(codes: Buffer): Buffer {
  const isLoud = (code: number) => Math.abs(MU_LAW_VALUES[code] ?? 0) > 1000;
  const first = codes.findIndex(isLoud);
  return codes.subarray(first, codes.findLastIndex(isLoud) + 1);
}

test('applications learn each time that the bot cannot hear the call, and the log once', async (t) => {
  const bot = await StreamBot.open(t);
  const under = openStream(bot.url);
  const socket = under.port.socket ?? assert.fail();
  const rings = Array.from({ length: 8 }, () => socket.openEar({ channels: 1, capacityMs: 100 }));
  t.after(() => rings.forEach((ring) => ring.close()));
  const told: string[] = [];
  under.call.observe((event) => {
    if (event.type === 'agent.failed') told.push(`${event.error.code} ${event.error.message}`);
  });
  await bot.stream();
  const one =
    'QUEUE_FULL the bot does not hear the call for now: the call has the 8 listeners that it can have';
  await until(() => told.length === 1);
  under.time.advance(1000);
  assert.deepEqual(told, [one, one]);
  assert.deepEqual(under.warnings, ['the bot does not hear the call for now']);
});

test('the bot hears the caller: the tone, at its loudness, numbered and timed every 20 ms', async (t) => {
  const under = await open(t);
  const { stream } = under;
  const say = caller(under);
  for (let packet = 0; packet < 60; packet++) {
    say();
    await settle();
  }
  await until(() => stream.of('media').length >= 55);
  const media = stream.of('media');
  assert.deepEqual(
    media.slice(0, 55).map(({ sequenceNumber, media: one }) => [sequenceNumber, one]),
    media
      .slice(0, 55)
      .map(({ media: one }, n) => [
        String(n + 2),
        { track: 'inbound', chunk: String(n + 1), timestamp: String(20 * n), payload: one?.payload },
      ]),
  );
  const samples = [...stream.heard().subarray(4000, 8000)].map((code) => MU_LAW_VALUES[code] ?? 0);
  const level = Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
  assert.ok(Math.abs(level - 8000 / Math.SQRT2) < 200, `level ${level}`);
  const [sine, cosine] = [0, 0.25].map((turn) =>
    samples.reduce((sum, value, n) => sum + value * Math.sin(2 * Math.PI * ((440 * n) / 8000 + turn)), 0),
  ) as [number, number];
  const amplitude = (2 * Math.hypot(sine, cosine)) / samples.length;
  assert.ok(Math.abs(amplitude - 8000) < 100, `amplitude ${amplitude}`);
});

test('what the bot says is heard to the sample, and marks come back when all before them has left', async (t) => {
  const under = await open(t);
  const { stream, call, leave } = under;
  stream.speak(ramp(1600));
  stream.mark('first');
  stream.speak(ramp(1600, 50));
  stream.mark('second');
  await until(() => call.stats().queuedMs === 400);
  await leave(9);
  await stream.read();
  assert.deepEqual(stream.marks, []);
  await leave(1);
  await until(() => stream.marks.length === 1);
  await leave(9);
  await stream.read();
  assert.deepEqual(stream.marks, ['first']);
  await leave(1);
  await until(() => stream.marks.length === 2);
  assert.deepEqual(stream.marks, ['first', 'second']);
  assert.deepEqual(under.heard(), Buffer.concat([ramp(1600), ramp(1600, 50)]));
});

test('clear silences within a frame, brings the marks back, and ten of them change nothing', async (t) => {
  const under = await open(t);
  const { stream, call, leave } = under;
  for (let turn = 0; turn < 10; turn++) {
    stream.speak(ramp(80_000));
    stream.mark(`said ${turn}`);
    await until(() => call.stats().queuedMs >= 1000);
    await leave(3);
    under.heard();
    stream.clear();
    await until(() => stream.marks.length === turn + 1);
    await leave(5);
    assert.equal(under.heard().length, 0);
  }
  assert.deepEqual(
    stream.marks,
    Array.from({ length: 10 }, (_, turn) => `said ${turn}`),
  );
  stream.speak(ramp(1600, 7));
  await until(() => call.stats().queuedMs === 200);
  await leave(10);
  assert.deepEqual(under.heard(), Buffer.from(ramp(1600, 7)));
});

test('the keys of the caller are told', async (t) => {
  const { stream, call } = await open(t);
  call.pressed('5');
  call.pressed('#');
  await until(() => stream.of('dtmf').length === 2);
  assert.deepEqual(
    stream.of('dtmf').map(({ dtmf, streamSid }) => [dtmf, streamSid]),
    ['5', '#'].map((digit) => [{ track: 'inbound_track', digit }, stream.streamSid]),
  );
});

test('messages that cannot be read are warned of once a kind, dropped, and the stream goes on', async (t) => {
  const under = await open(t);
  const { stream, call } = under;
  for (let n = 0; n < 12; n++) {
    stream.send('{');
    stream.send({ label: 'rtvi-ai', type: 'bot-ready' });
    stream.send({ event: 'clear', streamSid: 'MZ9' });
    stream.socket.send(Uint8Array.of(1, 2, 3));
  }
  await stream.read();
  assert.deepEqual(under.errors, ['31951', '31950']);
  stream.speak(ramp(1600));
  await until(() => call.stats().queuedMs === 200);
});

test('sound beyond ten minutes is dropped with 31931, and the stream goes on', async (t) => {
  const { stream, warnings, errors } = await open(t);
  const minute = ramp(480_000);
  for (let n = 0; n < 12; n++) stream.speak(minute);
  stream.mark('end');
  await stream.read();
  assert.deepEqual(errors, ['31931']);
  assert.match(warnings[0] ?? '', /more than 10 minutes of sound would wait/);
  stream.clear();
  await until(() => stream.marks.length === 1);
});

test('a caller who hangs up ends the stream with "stop", and the socket normally', async (t) => {
  const { stream, call, time } = await open(t);
  await call.close('caller hung up');
  await until(() => stream.closeCode !== undefined);
  assert.equal(stream.closeCode, 1000);
  assert.deepEqual(stream.messages.at(-1)?.['stop'], {
    accountSid: `AC${'0'.repeat(32)}`,
    callSid: 'call-1',
  });
  assert.equal(time.waiting, 0);
});

for (const [how, code] of [
  ['normally', 1000],
  ['without a code', undefined],
] as const) {
  test(`a bot that closes its socket ${how} is heard to its last word, then the call ends`, async (t) => {
    const under = await open(t);
    const { stream, call, orders, leave, time } = under;
    stream.speak(ramp(8000));
    await until(() => call.stats().queuedMs === 1000);
    stream.socket.close(code);
    await until(() => stream.closeCode !== undefined);
    await settle();
    await leave(49);
    assert.deepEqual(orders, []);
    await until(async () => (await leave(1), orders.length > 0));
    assert.deepEqual(orders, ['hang up']);
    assert.deepEqual(under.heard(), Buffer.from(ramp(8000)));
    assert.deepEqual([under.engine.begun, under.warnings], [[], []]);
    await call.closed;
    await settle();
    assert.equal(time.waiting, 0);
  });
}

test('a bot that is lost is silent within a frame; the caller hears the phrase, and the call ends', async (t) => {
  const under = await open(t);
  const { stream, call, orders } = under;
  stream.speak(ramp(80_000));
  await until(() => call.stats().queuedMs >= 1000);
  await under.leave(5);
  stream.socket.terminate();
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.engine.begun, [PHRASE]);
  assert.deepEqual(under.errors, ['31921']);
  const failed = ['media_stream opened', 'media_stream failed: lost', 'media_stream closed'];
  assert.deepEqual(under.counted, failed);
  await under.passUntil(() => orders.length > 0);
  assert.deepEqual(orders, ['hang up']);
  const spoken = under.events.filter(({ type }) => type === 'utterance.spoken');
  assert.deepEqual(
    spoken.map((event) => ('text' in event ? event.text : '')),
    [PHRASE],
  );
  assert.equal(under.count('utterance.interrupted'), 1);
});

test('a bot that answers no ping is lost', async (t) => {
  const bot = await StreamBot.open(t, 0, false);
  const under = openStream(bot.url);
  await bot.stream();
  under.time.advance(20_000);
  under.time.advance(20_000);
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.engine.begun, [PHRASE]);
});

test('a message beyond a mebibyte ends the socket, and the caller hears the phrase', async (t) => {
  const under = await open(t);
  under.stream.send({ event: 'media', media: { payload: 'A'.repeat(1024 * 1024) } });
  await until(() => under.engine.begun.length === 1);
  assert.equal(under.errors.at(-1), '31921');
});

test('a bot that starts a moment late is reached', async (t) => {
  const first = await StreamBot.open(t);
  const { port, url } = first;
  await first.close();
  const under = openStream(url);
  await until(() => under.warnings.length === 1);
  const bot = await StreamBot.open(t, port);
  under.time.advance(250);
  const stream = await bot.stream();
  assert.equal(stream.of('connected').length, 1);
  assert.deepEqual(under.engine.begun, []);
});

test('a bot that cannot be reached within five seconds is given up with the phrase', async (t) => {
  const first = await StreamBot.open(t);
  const { url } = first;
  await first.close();
  const under = openStream(url);
  await until(async () => {
    await settle();
    under.time.advance(50);
    return under.errors.includes('31920');
  });
  assert.deepEqual(under.counted, ['media_stream failed: unreachable'], 'it was never opened');
  await under.passUntil(() => under.orders.length > 0);
  assert.deepEqual([under.engine.begun, under.orders], [[PHRASE], ['hang up']]);
});

test('a redirection is not followed', async (t) => {
  const bot = await StreamBot.open(t);
  const server = createServer((_, reply) => reply.writeHead(302, { location: bot.url }).end());
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const under = openStream(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/media`);
  await until(() => under.warnings.length > 0);
  assert.match(under.warnings[0] ?? '', /the bot has an error/);
  assert.equal(bot.streams.length, 0);
});

test('a text of the page is refused by name: the bot reads nothing', async (t) => {
  const { talk } = await open(t);
  assert.throws(() => talk.typed('Hello?'), { code: 'CALL_STATE' });
});

test('a call that ends while its bot is dialled leaves no timer and no warning', async (t) => {
  const first = await StreamBot.open(t);
  const { url } = first;
  await first.close();
  const under = openStream(url);
  await under.call.close('caller hung up');
  await settle();
  assert.deepEqual([under.time.waiting, under.warnings], [0, []]);
});

test('Pipecat reads the call in "start", sound in "media" and keys in "dtmf", and is heard and obeyed', async (t) => {
  const under = await open(t);
  const { stream, call, leave } = under;
  const say = caller(under);
  for (let packet = 0; packet < 10; packet++) say();
  await until(() => stream.of('media').length > 0);
  call.pressed('1');
  await until(() => stream.of('dtmf').length > 0);
  // Its parser and its TwilioFrameSerializer.deserialize read these messages.
  const read = stream.messages.flatMap(({ event, start, media, dtmf }) => {
    if (event === 'start') return Object.entries(start as object).filter(([name]) => name.endsWith('Sid'));
    if (event === 'media') return [Buffer.from(media?.payload ?? '', 'base64').length];
    return event === 'dtmf' ? [(dtmf as { digit: unknown }).digit] : [];
  });
  assert.deepEqual(read.slice(0, 4), [
    ['streamSid', stream.streamSid],
    ['accountSid', `AC${'0'.repeat(32)}`],
    ['callSid', 'call-1'],
    160,
  ]);
  assert.ok(read.includes('1'));
  // Its serialize writes these for AudioRawFrame and InterruptionFrame, with the spaces of json.dumps.
  const { streamSid } = stream;
  const payload = Buffer.from(ramp(4000)).toString('base64');
  stream.send(`{"event": "media", "streamSid": "${streamSid}", "media": {"payload": "${payload}"}}`);
  await until(() => call.stats().queuedMs === 500);
  await leave(2);
  stream.send(`{"event": "clear", "streamSid": "${streamSid}"}`);
  await until(() => under.count('utterance.interrupted') === 1);
  assert.deepEqual([call.stats().queuedMs, under.warnings], [0, []]);
});
