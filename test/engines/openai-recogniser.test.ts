// The recogniser behind an OpenAI-compatible server: what it sends, what it tells, and what becomes of a
// server that fails.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import type { EngineNews } from '../../src/engines/engine-lifecycle.js';
import {
  OpenAiRecogniser,
  type OpenAiRecogniserOptions,
} from '../../src/engines/openai/openai-recogniser.js';
import { joinTexts } from '../../src/engines/openai/transcription-client.js';
import type {
  RecognisedText,
  RecognitionOptions,
  RecognitionSession,
  SpeechFinder,
} from '../../src/engines/recogniser.js';
import { ServerPool } from '../../src/engines/openai/server-pool.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { type Asked, TranscriptionServerUnderTest } from './transcription-server.js';

const RATE = 16_000;
const KEY = 'sk-0123456789abcdef';
/** For tests that move the time while a request is under way. */
const NO_TIMEOUT = { timeoutMs: 1e9 };

interface Bench {
  readonly server: TranscriptionServerUnderTest;
  readonly recogniser: OpenAiRecogniser;
  readonly news: EngineNews[];
  readonly time: ManualTime;
}

async function openBench(t: TestContext, changes: Partial<OpenAiRecogniserOptions> = {}): Promise<Bench> {
  const server = await TranscriptionServerUnderTest.open(t);
  const news: EngineNews[] = [];
  const time = new ManualTime();
  const recogniser = new OpenAiRecogniser({
    servers: { pool: ServerPool.of([server.baseUrl], KEY, time), model: 'whisper-1' },
    maxSessions: 4,
    timeoutMs: 5000,
    onNews: (one) => news.push(one),
    time,
    ...changes,
  });
  t.after(() => recogniser.close());
  return { server, recogniser, news, time };
}

interface Listened {
  readonly session: RecognitionSession;
  readonly ring: PcmRing;
  readonly finals: RecognisedText[];
  readonly partials: RecognisedText[];
  readonly pauses: RecognisedText[];
}

/** A session that reads its ring from the start. */
function listen(t: TestContext, { recogniser }: Bench, options: Partial<RecognitionOptions> = {}): Listened {
  const [finals, partials, pauses]: RecognisedText[][] = [[], [], []];
  const rate = options.sampleRate ?? RATE;
  const ring = PcmRing.open(rate, rate * 60);
  t.after(() => ring.close());
  const session = recogniser.open(
    { sampleRate: rate, use: 'live', ...options },
    {
      final: (text) => finals?.push(text),
      partial: (text) => partials?.push(text),
      pause: (text) => pauses?.push(text),
    },
  );
  session.push(ring);
  return { session, ring, finals: finals ?? [], partials: partials ?? [], pauses: pauses ?? [] };
}

/** Loud samples, with silence from one second to another. */
function sound(seconds: number, quietFrom = seconds, quietTo = quietFrom, rate = RATE): Float32Array {
  const samples = new Float32Array(Math.round(seconds * rate));
  for (let i = 0; i < samples.length; i++)
    samples[i] = i >= quietFrom * rate && i < quietTo * rate ? 0 : i % 2 === 0 ? 0.5 : -0.5;
  return samples;
}

const textsOf = (texts: readonly RecognisedText[]) => texts.map(({ text }) => text);

async function codeOf(ended: Promise<unknown>): Promise<ParleyError> {
  const error: unknown = await ended.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert(error instanceof ParleyError);
  return error;
}

/** Sends one turn of a second, and returns its request. */
async function oneTurn(t: TestContext, bench: Bench): Promise<Listened & { readonly request: Asked }> {
  const listened = listen(t, bench);
  listened.ring.write(sound(1));
  listened.ring.end();
  void listened.session.end();
  return { ...listened, request: await bench.server.request(0) };
}

test('a turn is sent as one file, and its text is told with its place', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench, { language: 'de-AT', context: 'Kundennummer' });
  ring.write(sound(1.5));
  session.turn('end');
  const request = await bench.server.request(0);
  assert.deepEqual(request.fields, {
    model: 'whisper-1',
    response_format: 'json',
    language: 'de',
    prompt: 'Kundennummer',
  });
  assert.equal(request.authorization, `Bearer ${KEY}`);
  assert.deepEqual(request.sound, sound(1.5));
  request.say(' Guten Tag. ', { language: 'german' });
  await until(() => finals.length === 1);
  const text = 'Guten Tag.';
  const place = { beginSeconds: 0, endSeconds: 1.5 };
  assert.deepEqual(finals[0], { part: 0, text, stable: text.length, language: 'de', ...place });
  assert.equal(bench.recogniser.sessions, 1);
  await session.end();
  assert.equal(bench.recogniser.sessions, 0);
  assert.equal(bench.server.asked.length, 1);
});

test('the next turn begins where the last one ended', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench);
  ring.write(sound(1));
  session.turn('end');
  ring.write(sound(2));
  const ended = session.end();
  (await bench.server.request(0)).say('one');
  (await bench.server.request(1)).say('two');
  await ended;
  assert.deepEqual(
    finals.map(({ part, text, beginSeconds, endSeconds }) => [part, text, beginSeconds, endSeconds]),
    [
      [0, 'one', 0, 1],
      [1, 'two', 1, 3],
    ],
  );
});

test('a gated turn has the half second before its order, and nothing is sent between turns', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench, { gated: true });
  ring.write(sound(7));
  session.turn('begin');
  ring.write(sound(1));
  session.turn('end');
  ring.write(sound(3));
  const ended = session.end();
  const request = await bench.server.request(0);
  assert.equal(request.sound.length, 1.5 * RATE);
  request.say('yes');
  await ended;
  assert.deepEqual(textsOf(finals), ['yes']);
  assert.deepEqual([finals[0]?.beginSeconds, finals[0]?.endSeconds], [6.5, 8]);
  assert.equal(bench.server.asked.length, 1);
});

test('the text is asked for at the pause, and told at the end of the turn', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench, { gated: true });
  session.turn('begin');
  ring.write(sound(1));
  session.turn('pause');
  const request = await bench.server.request(0);
  request.say('wait');
  ring.write(sound(0.5));
  await until(() => ring.status()?.readable === 0 || (bench.time.advance(100), false));
  assert.equal(finals.length, 0);
  session.turn('end');
  await until(() => finals.length === 1);
  assert.deepEqual([finals[0]?.text, finals[0]?.endSeconds], ['wait', 1]);
  assert.equal(bench.server.asked.length, 1);
  session.close();
});

test('the text of a pause is told while it lasts, also an empty one', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals, partials, pauses } = listen(t, bench, { gated: true });
  session.turn('begin');
  for (const [index, text] of ['My number is', '', 'My number is 017'].entries()) {
    ring.write(sound(1));
    session.turn('pause');
    (await bench.server.request(index)).say(text);
    await until(() => pauses.length === index + 1);
    session.turn('resume');
  }
  assert.deepEqual(textsOf(pauses), ['My number is', '', 'My number is 017']);
  assert.deepEqual(
    pauses.map(({ part, endSeconds, stable }) => [part, endSeconds, stable]),
    [
      [0, 1, 0],
      [0, 2, 0],
      [0, 3, 0],
    ],
  );
  assert.deepEqual([partials, finals], [[], []]);
  session.close();
});

test('the text of a pause that is over is not told', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals, pauses } = listen(t, bench, { gated: true });
  session.turn('begin');
  ring.write(sound(1));
  session.turn('pause');
  session.turn('end');
  (await bench.server.request(0)).say('Yes.');
  await until(() => finals.length === 1);
  assert.deepEqual(pauses, []);
  session.close();
});

test('speech that goes on gives the early request up', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench, { gated: true });
  session.turn('begin');
  ring.write(sound(1));
  session.turn('pause');
  const early = await bench.server.request(0);
  session.turn('resume');
  await until(() => early.gone);
  ring.write(sound(1));
  session.turn('end');
  const request = await bench.server.request(1);
  assert.equal(request.sound.length, 2 * RATE);
  request.say('both');
  await until(() => finals.length === 1);
  assert.deepEqual(textsOf(finals), ['both']);
  session.close();
});

test('sound after a pause is that of the next turn', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench);
  ring.write(sound(1));
  session.turn('pause');
  ring.write(sound(0.75));
  session.turn('end');
  (await bench.server.request(0)).say('one');
  const ended = session.end();
  const rest = await bench.server.request(1);
  assert.equal(rest.sound.length, 0.75 * RATE);
  rest.say('two');
  await ended;
  assert.deepEqual([finals[1]?.beginSeconds, finals[1]?.endSeconds], [1, 1.75]);
});

test('other rates are converted, and short sounds padded', async (t) => {
  const bench = await openBench(t);
  const { session, ring } = listen(t, bench, { sampleRate: 8000 });
  ring.write(sound(1, 1, 1, 8000));
  session.turn('end');
  const request = await bench.server.request(0);
  // The converter holds the last 3 ms until more sound comes.
  assert.equal(request.sound.length, RATE - 48);
  request.say('');
  ring.write(new Float32Array(1));
  void session.end();
  const short = await bench.server.request(1);
  assert.equal(short.sound.length, RATE / 2);
  short.say('');
  await session.ended;
});

test('a long turn is sent in pieces, and told as one text', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench);
  const first = sound(59, 57, 57.5);
  ring.write(first);
  session.turn('resume'); // the ring is read
  ring.write(sound(2));
  const ended = session.end();
  await bench.server.request(1);
  const [rest, piece] = bench.server.asked.toSorted((a, b) => a.sound.length - b.sound.length);
  assert(rest !== undefined && piece !== undefined);
  const cut = piece.sound.length / RATE;
  assert(cut > 57 && cut < 57.5, `${cut} s`);
  rest.say('and the end.');
  piece.say('The beginning', { language: 'en' });
  await ended;
  assert.deepEqual(textsOf(finals), ['The beginning and the end.']);
  assert.equal(finals[0]?.language, 'en');
  assert.equal(rest.sound.length, 61 * RATE - piece.sound.length);
});

test('a file is read in pieces, no faster than they are recognised, and told in order', async (t) => {
  const bench = await openBench(t);
  const { session, ring, finals } = listen(t, bench, { use: 'file', pieceSeconds: 10 });
  // It grows louder, so the pieces end where the search for a quiet place begins.
  ring.write(Float32Array.from({ length: 60 * RATE }, (_, i) => Math.floor(i / RATE) / 64));
  ring.end();
  await bench.server.request(3);
  assert((ring.status()?.readable ?? 0) > 30 * RATE, 'the ring holds what no request may carry yet');
  const second = (asked: Asked) => String(Math.round((asked.sound[0] ?? 0) * 64));
  for (const asked of bench.server.asked.toReversed()) asked.say(second(asked));
  let answered = 4;
  const answerMore = () => {
    for (const asked of bench.server.asked.slice(answered)) {
      asked.say(second(asked));
      answered++;
    }
    return bench.recogniser.sessions === 0;
  };
  await until(answerMore);
  await session.ended;
  assert.deepEqual(
    finals.map(({ text }) => Number(text)),
    finals.map(({ beginSeconds }) => Math.floor(beginSeconds)),
  );
  assert.equal(finals.length, bench.server.asked.length);
  const samples = bench.server.asked.reduce((sum, { sound: piece }) => sum + piece.length, 0);
  assert.equal(samples, 60 * RATE);
  assert.equal(finals.at(-1)?.endSeconds, 60);
});

/** Finds speech where the samples are not 0. */
const LOUD: SpeechFinder = {
  find: (samples, rate) => {
    const stretches: { beginSeconds: number; endSeconds: number }[] = [];
    for (let at = 0; at < samples.length; at += rate / 100) {
      if (samples[at] === 0) continue;
      const last = stretches.at(-1);
      const [beginSeconds, endSeconds] = [at / rate, at / rate + 0.01];
      if (last !== undefined && beginSeconds - last.endSeconds < 0.2) last.endSeconds = endSeconds;
      else stretches.push({ beginSeconds, endSeconds });
    }
    return Promise.resolve(stretches);
  },
};

/** A file whose speech is found, with the loud stretches that are stated, in seconds. */
function listenToFile(
  t: TestContext,
  bench: Bench,
  loud: readonly (readonly [from: number, to: number])[],
  seconds: number,
  options: Partial<RecognitionOptions> = {},
): Listened {
  const listened = listen(t, bench, { use: 'file', pieceSeconds: 20, speech: LOUD, ...options });
  const samples = new Float32Array(seconds * RATE);
  for (const [from, to] of loud) samples.set(sound(to - from), from * RATE);
  void listened.ring.writeAll(samples).then(() => listened.ring.end());
  return listened;
}

const placesOf = (texts: readonly RecognisedText[]) =>
  texts.map(({ text, beginSeconds, endSeconds }) => [text, beginSeconds, endSeconds]);

test('of a file nothing is sent without speech, and the silence has no text', async (t) => {
  const bench = await openBench(t);
  const { session, finals } = listenToFile(t, bench, [], 130);
  await session.ended;
  assert.equal(bench.server.asked.length, 0);
  assert.equal(finals.map(({ text }) => text).join(''), '');
  assert.equal(finals.at(-1)?.endSeconds, 130);
});

test('of a file the stretches between long silences are sent, and told with their places', async (t) => {
  const bench = await openBench(t);
  const loud = [
    [12, 15],
    [16, 18],
    [33, 34],
    [39.5, 41],
  ] as const;
  const { session, finals } = listenToFile(t, bench, loud, 70, { context: 'ships' });
  for (const [n, text] of ['one two', 'three', 'four'].entries()) {
    const request = await bench.server.request(n);
    assert.equal(request.fields['prompt'], 'ships');
    request.say(text);
  }
  await session.ended;
  const told = finals.filter(({ text }) => text !== '');
  assert.deepEqual(placesOf(told), [
    ['one two', 11.75, 18.25],
    ['three', 32.75, 34.25],
    ['four', 39.25, 41.25],
  ]);
  assert.deepEqual(
    told[0]?.speech?.map(({ beginSeconds, endSeconds }) => [beginSeconds, endSeconds].map(Math.round)),
    [
      [12, 15],
      [16, 18],
    ],
  );
  assert.deepEqual(
    bench.server.asked.map((asked) => asked.sound.length / RATE),
    [6.5, 1.5, 2],
  );
  // The pieces follow each other without a gap.
  for (const [n, { beginSeconds }] of finals.entries())
    assert.equal(beginSeconds, n === 0 ? 0 : finals[n - 1]?.endSeconds);
  assert.equal(finals.at(-1)?.endSeconds, 70);
});

test('long speech is cut at the longest pause of the later half of a piece', async (t) => {
  const bench = await openBench(t);
  const loud = [
    [0, 7],
    [8.5, 13],
    [13.5, 16],
    [17, 19],
    [19.3, 30],
  ] as const;
  const { session, finals } = listenToFile(t, bench, loud, 30);
  for (const n of [0, 1]) (await bench.server.request(n)).say(`text ${n}`);
  await session.ended;
  assert.deepEqual(placesOf(finals), [
    ['text 0', 0, 16.5],
    ['', 16.5, 16.75],
    ['text 1', 16.75, 30],
  ]);
});

test('what the speech of a piece is too short for is cut out of its text, and logged', async (t) => {
  const bench = await openBench(t);
  const context = 'Parley, Kestrel, opus, telephone, trunk, codec, jitter, Reynard, turn';
  const loud = [
    [10, 11],
    [30, 30.5],
    [50, 52],
  ] as const;
  const { session, finals } = listenToFile(t, bench, loud, 60, { context });
  const last = 'Hello there, my dear old friend.';
  (await bench.server.request(0)).say(`${last} ${context}`);
  (await bench.server.request(1)).say(last);
  (await bench.server.request(2)).say('Thank you. '.repeat(20));
  await session.ended;
  assert.deepEqual(
    textsOf(finals).filter((text) => text !== ''),
    [last, 'Thank you.'],
  );
  assert.deepEqual(
    bench.news.map((news) => news.what === 'runaway' && news.reason),
    ['context_echo', 'copy', 'repetition'],
  );
});

test('a finder of speech that fails ends the session of a file', async (t) => {
  const bench = await openBench(t);
  const speech = { find: () => Promise.reject(new ParleyError('HEARING_FAILED', 'no worker')) };
  const { session, finals } = listenToFile(t, bench, [[1, 2]], 30, { speech });
  assert.equal((await codeOf(session.ended)).code, 'HEARING_FAILED');
  assert.deepEqual(finals, []);
});

test('a search for speech that breaks ends the session of a file, in the middle and at the end', async (t) => {
  for (const seconds of [10, 30]) {
    const bench = await openBench(t);
    const speech = { find: () => Promise.resolve(undefined as never) };
    const { session, finals } = listenToFile(t, bench, [[1, 2]], seconds, { speech });
    assert.equal((await codeOf(session.ended)).code, 'ENGINE_FAILED');
    assert.deepEqual(finals, []);
  }
});

test('the texts of live turns are guarded, too, and each turn has one', async (t) => {
  const bench = await openBench(t);
  const context = 'Parley, Kestrel, opus, telephone, trunk, codec, jitter, Reynard, turn';
  const { session, ring, finals } = listen(t, bench, { gated: true, context });
  const last = 'I would like a table for two.';
  for (const [n, text] of [`Yes. ${context}`, last, last].entries()) {
    ring.write(sound(1));
    session.turn('begin');
    ring.write(sound(n === 1 ? 3 : 0.2));
    session.turn('end');
    (await bench.server.request(n)).say(text);
    await until(() => finals.length === n + 1);
  }
  assert.deepEqual(textsOf(finals), ['Yes.', last, '']);
  assert.deepEqual(
    bench.news.map((news) => news.what === 'runaway' && news.reason),
    ['context_echo', 'copy'],
  );
  session.close();
});

test('a turn that is ended by order before speech was found is not sent, and has an empty text', async (t) => {
  for (const realtime of [undefined, 'openai'] as const) {
    const bench = await openBench(t, { realtime });
    const { session, ring, finals } = listen(t, bench, { gated: true, partials: true });
    const peer = realtime === undefined ? undefined : await bench.server.socket();
    peer?.send({ type: 'session.created' });
    ring.write(sound(3));
    session.turn('begin');
    session.turn('end');
    await until(() => finals.length === 1);
    ring.write(sound(0.3));
    session.turn('begin');
    ring.write(sound(1));
    session.turn('end');
    if (peer === undefined) {
      const request = await bench.server.request(0);
      assert.equal(request.sound.length, 1.5 * RATE);
      request.say('yes');
    } else {
      await peer.message('input_audio_buffer.commit');
      peer.send({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'yes' });
      await until(() => finals.length === 2);
      assert.equal(peer.samples, 1.5 * 24_000);
    }
    await until(() => finals.length === 2);
    assert.deepEqual(
      finals.map(({ part, text }) => [part, text]),
      [
        [0, ''],
        [1, 'yes'],
      ],
    );
    session.close();
  }
});

for (const { status, body, code, field, text } of [
  {
    status: 401,
    body: { error: { message: `the key ${KEY} is wrong` } },
    code: 'ENGINE_UNAVAILABLE',
    field: 'ASR_API_KEY',
    text: /answered 401: the key … is wrong/,
  },
  { status: 403, body: '', code: 'ENGINE_UNAVAILABLE', field: undefined, text: /answered 403$/ },
  {
    status: 404,
    body: { error: { message: 'no such model' } },
    code: 'ENGINE_UNAVAILABLE',
    field: 'ASR_MODEL',
    text: /404: no such model/,
  },
  { status: 413, body: 'too large', code: 'TOO_LARGE', field: 'file', text: /413/ },
  {
    status: 422,
    body: { detail: [{ input: 'secret words' }] },
    code: 'ENGINE_FAILED',
    field: undefined,
    text: /answered 422$/,
  },
  { status: 302, body: '', code: 'ENGINE_UNAVAILABLE', field: 'ASR_BASE_URL', text: /cannot be reached/ },
  { status: 200, body: '{"text":', code: 'ENGINE_FAILED', field: undefined, text: /without a "text"/ },
  {
    status: 200,
    body: { transcript: 'x' },
    code: 'ENGINE_FAILED',
    field: undefined,
    text: /without a "text"/,
  },
  {
    status: 200,
    body: `{"text":"${'x'.repeat(5 << 20)}"}`,
    code: 'ENGINE_FAILED',
    field: undefined,
    text: /over 4 MiB/,
  },
] as const) {
  test(`a server that answers ${status} ${JSON.stringify(body).slice(0, 24)} ends the session with ${code}`, async (t) => {
    const bench = await openBench(t, NO_TIMEOUT);
    const { session, request, finals } = await oneTurn(t, bench);
    const headers = status === 302 ? { location: 'http://127.0.0.1:9/elsewhere' } : {};
    request.answer(status, body, headers as Record<string, string>);
    // A redirection is a failure like any other of the connection, which is tried again.
    for (let again = 1; status === 302 && again < 3; again++) {
      await until(() => bench.server.asked.length > again || (bench.time.advance(1000), false));
      bench.server.asked[again]?.answer(status, body, headers as Record<string, string>);
    }
    const error = await codeOf(session.ended);
    assert.deepEqual([error.code, error.field], [code, field]);
    assert.match(error.message, text);
    assert(!error.message.includes(KEY));
    assert.deepEqual(finals, []);
    assert.equal(bench.recogniser.sessions, 0);
  });
}

test('a server that fails is asked again, and its text is told', async (t) => {
  const bench = await openBench(t, NO_TIMEOUT);
  const { session, request, finals } = await oneTurn(t, bench);
  request.answer(500, '');
  await until(() => bench.server.asked.length > 1 || (bench.time.advance(300), false));
  (await bench.server.request(1)).cut();
  await until(() => bench.server.asked.length > 2 || (bench.time.advance(1000), false));
  (await bench.server.request(2)).say('at last');
  await session.ended;
  assert.deepEqual(textsOf(finals), ['at last']);
});

test('a server that is busy is asked again when it says, unless that is too late', async (t) => {
  const bench = await openBench(t, NO_TIMEOUT);
  const { session, request } = await oneTurn(t, bench);
  const answered = bench.time.now();
  request.answer(429, { error: { message: 'slow down' } }, { 'retry-after': '7' });
  await until(() => bench.server.asked.length > 1 || (bench.time.advance(100), false));
  assert(bench.time.now() - answered >= 7000);
  (await bench.server.request(1)).answer(503, '', { 'retry-after': '60' });
  const error = await codeOf(session.ended);
  assert.deepEqual([error.code, error.retryAfterSeconds], ['ENGINE_BUSY', 60]);
});

test('a server that does not answer ends the session after three attempts', async (t) => {
  const bench = await openBench(t);
  const { session } = await oneTurn(t, bench);
  for (let index = 0; index < 3; index++) {
    const request = await bench.server.request(index);
    await until(() => request.gone || (bench.time.advance(6000), false));
    if (index < 2)
      await until(() => bench.server.asked.length > index + 1 || (bench.time.advance(300), false));
  }
  const error = await codeOf(session.ended);
  assert.equal(error.code, 'TIMEOUT');
  assert.match(error.message, /did not answer within 6000 ms/);
});

test('a server that is away ends the session', async (t) => {
  const bench = await openBench(t, NO_TIMEOUT);
  bench.server.close();
  const { session, ring } = listen(t, bench);
  ring.write(sound(1));
  const ended = codeOf(session.end());
  let error: ParleyError | undefined;
  void ended.then((one) => (error = one));
  await until(() => error !== undefined || (bench.time.advance(1000), false));
  assert.equal(error?.code, 'ENGINE_UNAVAILABLE');
  assert.equal(error.message, 'the transcription server cannot be reached: it refuses connections');
  assert.match((error.cause as Error).message, /127\.0\.0\.1/, 'for the log');
});

test('the words of a server lose the addresses of its network on their way to a client', async (t) => {
  for (const [said, told] of [
    ['dial tcp 10.1.2.3:8000: refused', 'dial tcp …: refused'],
    ['no answer from http://gpu-3.local:8000/v1?a=b', 'no answer from …'],
    ['[fd00::17]:8000 and ::1 are away', '… and … are away'],
    ['localhost:11434 or ollama:11434 is away', '… or … is away'],
    ['error:404 at 10:20:30 in model a/b:8b', 'error:404 at 10:20:30 in model a/b:8b'],
  ] as const) {
    const bench = await openBench(t, NO_TIMEOUT);
    const { session, request } = await oneTurn(t, bench);
    request.answer(422, { error: { message: said } });
    const error = await codeOf(session.ended);
    assert.equal(error.message, `the transcription server answered 422: ${told}`);
  }
});

test('a server that is too slow for a caller ends the session', async (t) => {
  const bench = await openBench(t);
  const { session, ring } = listen(t, bench);
  for (let turn = 0; turn < 9; turn++) {
    ring.write(sound(0.5));
    session.turn('end');
  }
  const error = await codeOf(session.ended);
  assert.equal(error.code, 'ENGINE_BUSY');
  assert.equal(bench.recogniser.sessions, 0);
});

test('sound that cannot be used is refused', async (t) => {
  const bench = await openBench(t);
  const damaged = listen(t, bench);
  damaged.ring.write(new Float32Array([0, NaN]));
  assert.equal((await codeOf(damaged.session.end())).code, 'AUDIO_INVALID');
  assert.equal(damaged.ring.status()?.aborted, true);
  const empty = listen(t, bench, { use: 'file' });
  assert.equal((await codeOf(empty.session.end())).code, 'AUDIO_INVALID');
  const broken = listen(t, bench);
  broken.ring.end('CALL_CLOSED');
  broken.session.turn('resume');
  assert.match((await codeOf(broken.session.ended)).message, /broke off: CALL_CLOSED/);
  assert.equal(bench.server.asked.length, 0);
});

test('a session that is given up takes its requests back', async (t) => {
  const bench = await openBench(t);
  const { session, request, ring } = await oneTurn(t, bench);
  session.close();
  assert.equal((await codeOf(session.ended)).code, 'ABORTED');
  await until(() => request.gone);
  assert.throws(() => session.push(ring), { code: 'WRONG_STATE' });
  const other = listen(t, bench);
  await bench.recogniser.close();
  assert.equal((await codeOf(other.session.ended)).code, 'ABORTED');
  assert.equal(other.ring.status()?.aborted, true);
  assert.throws(() => listen(t, bench), { code: 'ENGINE_UNAVAILABLE' });
});

test('options out of range and sessions above the limit are refused', async (t) => {
  const bench = await openBench(t, { maxSessions: 1 });
  for (const options of [{ sampleRate: 7999 }, { sampleRate: 192_001 }, { pieceSeconds: 9 }]) {
    const all = { sampleRate: RATE, use: 'file' as const, ...options };
    assert.throws(() => bench.recogniser.open(all, { final: () => undefined }), { code: 'INVALID_FIELD' });
  }
  listen(t, bench).session.turn('pause');
  assert.throws(() => listen(t, bench), { code: 'ENGINE_BUSY' });
});

test('a key that the server refuses is known at the start', async (t) => {
  const bench = await openBench(t);
  const load = bench.recogniser.load();
  await until(() => bench.server.probes.length === 1);
  bench.server.probes[0]?.writeHead(401).end();
  const error = await codeOf(load);
  assert.deepEqual([error.code, error.field], ['ENGINE_UNAVAILABLE', 'ASR_API_KEY']);
  assert.equal(bench.recogniser.usable, false);
});

test('a server that is away, or lists no models for this key, may serve later', async (t) => {
  const bench = await openBench(t);
  for (const [index, status] of [404, 403].entries()) {
    const load = bench.recogniser.load();
    await until(() => bench.server.probes.length === index + 1);
    bench.server.probes[index]?.writeHead(status).end();
    await load;
  }
  bench.server.close();
  await bench.recogniser.load();
  assert.deepEqual(
    bench.news.map(({ what }) => what),
    ['load failed', 'loaded', 'load failed'],
  );
  assert.match(JSON.stringify(bench.news[0]), /models was answered with 404: does ASR_BASE_URL end in .v1\?/);
  assert.equal(bench.recogniser.usable, true);
  assert.match(bench.recogniser.trouble ?? '', /cannot be reached/);
});

test('a language is sent by its tag of two letters, and one that is unknown is refused with the list', async (t) => {
  const bench = await openBench(t);
  const stated = ['German', ' de ', 'deu', 'de-AT', 'ger'];
  for (const [n, language] of stated.entries()) {
    const { session, ring } = listen(t, bench, { language });
    ring.write(sound(1));
    session.turn('end');
    assert.equal((await bench.server.request(n)).fields['language'], 'de', language);
    session.close();
  }
  for (const language of ['klingonish', 'xx', 'en US'])
    assert.throws(() => listen(t, bench, { language }), {
      code: 'INVALID_FIELD',
      field: 'language',
      message: /its English name, or a tag such as .*\bde, .*\ben, /,
    });
  assert.equal(bench.recogniser.sessions, 0);
});

test('texts are joined with spaces, except beside CJK characters', () => {
  assert.equal(joinTexts(['one', ' two ', '', 'three']), 'one two three');
  assert.equal(joinTexts(['你好。', '再见']), '你好。再见');
  assert.equal(joinTexts(['OK', '好']), 'OK好');
  assert.equal(joinTexts(['', ' ']), '');
});

test("OpenAI's realtime socket tells the text while the caller speaks", async (t) => {
  const bench = await openBench(t, { realtime: 'openai' });
  const { session, ring, finals, partials } = listen(t, bench, { partials: true, language: 'en-GB' });
  const peer = await bench.server.socket();
  assert.equal(peer.url, '/v1/realtime?intent=transcription');
  assert.equal(peer.authorization, `Bearer ${KEY}`);
  ring.write(sound(1));
  session.turn('resume'); // the ring is read
  peer.send({ type: 'session.created' });
  const { session: settings } = await peer.message('session.update');
  assert.deepEqual(settings, {
    type: 'transcription',
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: 24_000 },
        transcription: { model: 'whisper-1', language: 'en' },
        turn_detection: null,
      },
    },
  });
  peer.send({ type: 'conversation.item.input_audio_transcription.delta', delta: 'Good' });
  peer.send({ type: 'conversation.item.input_audio_transcription.delta', delta: ' day' });
  await until(() => partials.length === 2);
  assert.deepEqual(textsOf(partials), ['Good', 'Good day']);
  assert.deepEqual(
    partials.map(({ part, stable }) => [part, stable]),
    [
      [0, 0],
      [0, 0],
    ],
  );
  session.turn('pause'); // asks nothing: the socket has the sound
  session.turn('end');
  await peer.message('input_audio_buffer.commit');
  assert.equal(peer.samples, 24_000);
  // The next turn waits until the text of this one came.
  ring.write(sound(1));
  session.turn('end');
  peer.send({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'Good day.' });
  await peer.message('input_audio_buffer.commit', 1);
  assert.equal(peer.samples, 48_000);
  peer.send({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'Bye.' });
  await session.end();
  assert.deepEqual(textsOf(finals), ['Good day.', 'Bye.']);
  assert.equal(bench.server.asked.length, 0);
  await until(() => peer.socket.readyState === peer.socket.CLOSED);
  assert.deepEqual(bench.news, []);
});

test("vLLM's realtime socket gets its own messages", async (t) => {
  const bench = await openBench(t, { realtime: 'vllm' });
  const { session, ring, finals, partials } = listen(t, bench, { partials: true });
  const peer = await bench.server.socket();
  assert.equal(peer.url, '/v1/realtime');
  peer.send({ type: 'session.created' });
  ring.write(sound(1));
  session.turn('resume');
  await peer.message('input_audio_buffer.commit');
  peer.send({ type: 'transcription.delta', delta: 'Hello' });
  await until(() => partials.length === 1);
  session.turn('end');
  await peer.message('input_audio_buffer.commit', 1);
  assert.deepEqual(peer.messages, [
    { type: 'session.update', model: 'whisper-1' },
    { type: 'input_audio_buffer.commit', final: false },
    { type: 'input_audio_buffer.commit', final: true },
  ]);
  assert.equal(peer.samples, RATE);
  peer.send({ type: 'transcription.done', text: 'Hello.' });
  await until(() => finals.length === 1);
  assert.deepEqual(textsOf(finals), ['Hello.']);
  session.close();
});

for (const [what, fail] of [
  ['breaks', (peer) => peer.socket.terminate()],
  [
    'answers an error',
    (peer) => peer.send({ type: 'error', error: { code: 'server_error', message: 'words' } }),
  ],
  ['sends what is no JSON', (peer) => peer.socket.send('{')],
] as readonly (readonly [
  string,
  (peer: Awaited<ReturnType<TranscriptionServerUnderTest['socket']>>) => void,
])[]) {
  test(`the whole turn is sent to the endpoint when the realtime socket ${what}`, async (t) => {
    const bench = await openBench(t, { realtime: 'openai' });
    const { session, ring, finals } = listen(t, bench, { partials: true });
    const peer = await bench.server.socket();
    peer.send({ type: 'session.created' });
    ring.write(sound(1));
    session.turn('resume');
    await until(() => peer.samples > 0);
    fail(peer);
    await until(() => bench.news.length === 1);
    assert(!JSON.stringify(bench.news).includes('words'));
    ring.write(sound(1));
    session.turn('end');
    const request = await bench.server.request(0);
    assert.equal(request.sound.length, 2 * RATE);
    request.say('all of it');
    ring.write(sound(1));
    void session.end();
    (await bench.server.request(1)).say('and more');
    await session.ended;
    assert.deepEqual(textsOf(finals), ['all of it', 'and more']);
    assert.equal(bench.server.sockets.length, 1);
  });
}

test('a realtime socket that failed is opened again for a later turn', async (t) => {
  const bench = await openBench(t, { realtime: 'openai' });
  const { session, ring, finals } = listen(t, bench, { partials: true });
  const first = await bench.server.socket();
  first.socket.terminate();
  await until(() => bench.news.length === 1);
  ring.write(sound(1));
  session.turn('end');
  (await bench.server.request(0)).say('by file');
  await until(() => finals.length === 1);
  bench.time.advance(5000);
  ring.write(sound(1));
  session.turn('end'); // the next turn begins with a socket
  (await bench.server.request(1)).say('by file, too');
  const peer = await bench.server.socket(1);
  peer.send({ type: 'session.created' });
  ring.write(sound(1));
  session.turn('end');
  await peer.message('input_audio_buffer.commit');
  peer.send({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'by socket' });
  await until(() => finals.length === 3);
  session.close();
  assert.deepEqual(textsOf(finals), ['by file', 'by file, too', 'by socket']);
});

test('a session that is given up sends nothing more', async (t) => {
  const bench = await openBench(t, { realtime: 'openai' });
  const { session, ring } = listen(t, bench, { partials: true });
  const peer = await bench.server.socket();
  peer.send({ type: 'session.created' });
  ring.write(sound(1));
  session.turn('end');
  await peer.message('input_audio_buffer.commit');
  session.close();
  await until(() => peer.socket.readyState === peer.socket.CLOSED);
  const { session: next, request } = await oneTurn(t, bench);
  assert.equal(bench.server.asked.length, 1, 'the endpoint was asked for the turn of the next session only');
  request.say('');
  await next.ended;
});

test('a realtime socket that is not ready in time, or tells no text, is given up', async (t) => {
  const bench = await openBench(t, { realtime: 'openai' });
  const silent = listen(t, bench, { partials: true });
  silent.ring.write(sound(1));
  silent.session.turn('end');
  await bench.server.socket();
  bench.time.advance(5000);
  (await bench.server.request(0)).say('without it');
  await until(() => silent.finals.length === 1);
  assert.match(JSON.stringify(bench.news), /not ready within 5000 ms/);
  silent.session.close();

  const mute = listen(t, bench, { partials: true });
  await until(() => bench.server.sockets.length === 2);
  const [, peer] = bench.server.sockets;
  peer?.send({ type: 'session.created' });
  mute.ring.write(sound(1));
  mute.session.turn('end');
  await peer?.message('input_audio_buffer.commit');
  bench.time.advance(5000);
  (await bench.server.request(1)).say('after all');
  await until(() => mute.finals.length === 1);
  assert.deepEqual(textsOf(mute.finals), ['after all']);
  mute.session.close();
});
