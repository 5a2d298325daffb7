import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { ByteRing, type PcmRing } from '../../src/audio/pcm-ring.js';
import { toBytesS16le } from '../../src/audio/pcm16.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { wavHeader } from '../../src/codecs/wav.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import type { SpeechEnd, SynthesisRequest } from '../../src/engines/engine.js';
import { ParleyError } from '../../src/errors.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { SpeechService, SpeechStream } from '../../src/speaking/speech-stream.js';
import { OUTCOME } from '../api/fake-speech.js';
import { randomFrom } from '../api/mutations.js';
import { joined, loud, resampled } from '../encoding/encoder-fakes.js';
import { buzz, ENGINE_RATE, InstantEngine, ScriptedEngine } from '../fakes/engines.js';
import { until } from '../fakes/until.js';
import type { SpeechRequest } from '../../src/speaking/speech-request.js';
import { formatNamed } from '../../src/speaking/audio-format.js';

const LIMITS = { maxTextLength: 4096, textIdleMs: 1000 };
const RING_BYTES = 256 * 1024;
const SOUND_RING = 2 * ENGINE_RATE; // samples of one sentence that wait
const PAUSE_MS = 160;

let encoders: EncoderPool;
/** Handles of the rings that the streams of a test wrote to. */
const sinks: number[] = [];

before(async () => {
  encoders = new EncoderPool({ workers: 1 });
  await encoders.ready();
});
after(() => encoders.close());
afterEach(async () => {
  await until(nothingLeft);
  sinks.length = 0;
});

function nothingLeft(): boolean {
  const gone = sinks.every((handle) => ByteRing.attach(handle).status() === null);
  return gone && encoders.sessions.every((count) => count === 0) && watchedHandles() === 0;
}

function serviceOf(engine: InstantEngine | ScriptedEngine): SpeechService {
  const open: EncoderPool['open'] = (sink) => {
    if (sink.kind === 'bytes') sinks.push(sink.ring);
    return encoders.open(sink);
  };
  return new SpeechService(engine, { open }, LIMITS);
}

function requestOf(text: string, changes: Partial<SpeechRequest> = {}): SpeechRequest {
  return { text, language: 'en', format: formatNamed('pcm'), sampleRate: ENGINE_RATE, ...changes };
}

const never = () => new AbortController().signal;

function s16le(...sounds: Float32Array[]): Buffer {
  const sound = joined(...sounds);
  const bytes = Buffer.alloc(sound.length * 2);
  toBytesS16le(sound, sound.length, bytes);
  return bytes;
}

const pause = (rate: number) => new Float32Array((rate * PAUSE_MS) / 1000);

async function bodyOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('a piece of sound holds no more memory than its bytes', async () => {
  const stream = await serviceOf(new InstantEngine()).openStream(requestOf('Hello there. Goodbye.'), never());
  let pieces = 0;
  for await (const piece of stream) {
    assert.equal(piece.buffer.byteLength, piece.byteLength);
    pieces++;
  }
  assert.ok(pieces > 0);
});

test('the outcome of a file has the header that states its length', async () => {
  const engine = new ScriptedEngine();
  engine.sounds.set('Hello there.', buzz(70, 0.5));
  for (const container of ['wav', 'flac', 'mp3', 'aac', 'ogg', 'pcm'] as const) {
    const stream = await serviceOf(engine).openStream(
      requestOf('Hello there.', { format: formatNamed(container) }),
      never(),
    );
    const body = await bodyOf(stream);
    const header = (await stream.outcome)?.header;
    const bytes = Buffer.from(header?.bytes ?? []);
    const stated = { wav: bytes.subarray(40), flac: bytes.subarray(22, 26), mp3: bytes.subarray(25, 29) };
    const states = {
      wav: () => assert.equal(stated.wav.readUInt32LE(), body.length - 44),
      flac: () => assert.equal(stated.flac.readUInt32BE(), buzz(70, 0.5).length),
      mp3: () => assert.equal(stated.mp3.readUInt32BE(), bytes.length + body.length),
    };
    if (container in states) states[container as keyof typeof states]();
    else assert.equal(header, undefined);
    assert.equal(
      header?.replaced,
      { wav: 44, flac: 42, mp3: 0, aac: undefined, ogg: undefined, pcm: undefined }[container],
    );
  }
});

test('two sentences are a WAV of both with 160 ms between, sample for sample', async () => {
  const engine = new ScriptedEngine();
  engine.sounds.set('Hello there.', buzz(70, 0.5));
  engine.sounds.set('Goodbye.', buzz(50, 0.25));
  const request = requestOf('Hello there. Goodbye.', { format: formatNamed('wav') });
  const stream = await serviceOf(engine).openStream(request, never());
  assert.equal(stream.contentType, 'audio/wav');
  const sound = s16le(buzz(70, 0.5), new Float32Array(8 * PAUSE_MS), buzz(50, 0.25));
  assert.deepEqual(await bodyOf(stream), Buffer.concat([wavHeader(ENGINE_RATE), sound]));
});

test('sound at another rate is resampled as one piece, whatever pieces it came in', async () => {
  const engine = new ScriptedEngine();
  const sounds = [loud(4001, 1), loud(2000, 2)] as const;
  engine.sounds.set('First.', sounds[0]);
  engine.sounds.set('Second.', sounds[1]);
  const stream = await serviceOf(engine).openStream(
    requestOf('First. Second.', { sampleRate: 24_000 }),
    never(),
  );
  assert.equal(stream.contentType, 'audio/pcm');
  const [first, second] = sounds.map((sound) => resampled(sound, ENGINE_RATE, 24_000)) as [
    Float32Array,
    Float32Array,
  ];
  assert.deepEqual(await bodyOf(stream), s16le(first, pause(24_000), second));
});

test('hundreds of streams read in the smallest pieces lose not one byte', async () => {
  const engine = new InstantEngine({ rate: ENGINE_RATE, msPerCharacter: 11 });
  engine.behaviour = { kind: 'pace', portion: 160, next: () => new Promise(setImmediate) };
  const service = serviceOf(engine);
  let reads = 0;
  const oneStream = async (number: number) => {
    const text = `Number ${'so '.repeat(number % 13)}many.`;
    const chunks: Uint8Array[] = [];
    for await (const chunk of await service.openStream(requestOf(text), never())) chunks.push(chunk);
    reads += chunks.length;
    assert.deepEqual(Buffer.concat(chunks), s16le(engine.soundOf(text)), `stream ${number}`);
  };
  for (let number = 0; number < 400; number += 8) {
    await Promise.all(Array.from({ length: 8 }, (_, index) => oneStream(number + index)));
  }
  assert.ok(reads > 2 * 400, `${reads} reads`);
});

// A thread beside the reader does this once in many thousand streams. Here it happens to every one.
test('bytes and the end that come between a read that finds nothing and the look at the ring are all read', async () => {
  const random = randomFrom(4);
  for (let round = 0; round < 300; round++) {
    const ring = ByteRing.open(4096);
    const body = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 3000) }, (_, n) => n % 251));
    const before = Math.floor(random() * body.length);
    ring.write(body.subarray(0, before));
    let written: () => void = () => undefined;
    const run = new Promise<void>((resolve) => (written = resolve)).then(() => OUTCOME);
    const read = ring.read.bind(ring);
    ring.read = (into) => {
      const taken = read(into);
      if (taken === 0 && ring.status()?.ended === false) {
        ring.write(body.subarray(before));
        ring.end('');
        written();
      }
      return taken;
    };
    const stream = new SpeechStream('audio/pcm', ring, new AbortController(), run);
    assert.deepEqual(await bodyOf(stream), body, `round ${round}`);
  }
});

test('an engine that fails before the first byte refuses the stream with its own code', async () => {
  const engine = new InstantEngine({ rate: ENGINE_RATE });
  const service = serviceOf(engine);
  for (const code of ['ENGINE_FAILED', 'ENGINE_BUSY'] as const) {
    engine.behaviour = { kind: 'fail', code };
    for (const container of ['wav', 'pcm'] as const) {
      await assert.rejects(
        service.openStream(requestOf('Hello.', { format: formatNamed(container) }), never()),
        {
          code,
        },
      );
      await until(nothingLeft);
    }
  }
});

test('an engine that fails after the first byte makes the reading fail, with nothing wrong before', async () => {
  const engine = new ScriptedEngine();
  engine.failing.add('Bad.');
  let fail: () => void = () => undefined;
  engine.gate = (text) => (text === 'Bad.' ? new Promise((resolve) => (fail = resolve)) : Promise.resolve());
  const stream = await serviceOf(engine).openStream(requestOf('Good. Bad. Never.'), never());
  const heard: Uint8Array[] = [];
  await assert.rejects(
    async () => {
      for await (const chunk of stream) {
        heard.push(chunk);
        await until(() => engine.begun.includes('Bad.'));
        fail();
      }
    },
    { code: 'ENGINE_FAILED' },
  );
  const whole = s16le(buzz(20 * 5, 0.5), pause(ENGINE_RATE), buzz(20 * 4, 0.5));
  const bytes = Buffer.concat(heard);
  assert.ok(bytes.length > 0);
  assert.deepEqual(bytes, whole.subarray(0, bytes.length));
  assert.ok(!engine.begun.includes('Never.'));
});

test('without an encoder the stream is refused', async () => {
  const engine = new ScriptedEngine();
  const open = () => {
    throw new ParleyError('ENCODER_FAILED', 'no encoder worker can be started');
  };
  const service = new SpeechService(engine, { open }, LIMITS);
  await assert.rejects(service.openStream(requestOf('Hello.'), never()), { code: 'ENCODER_FAILED' });
});

test('what can be known of a request is refused before an engine or an encoder sees it', async () => {
  const engine = new InstantEngine({ rate: ENGINE_RATE });
  const service = serviceOf(engine);
  const refused = (request: SpeechRequest) => service.openStream(request, never());
  await assert.rejects(refused(requestOf('x'.repeat(4097))), { code: 'TEXT_TOO_LONG', field: 'text' });
  await assert.rejects(refused(requestOf(' ... ')), { code: 'TEXT_EMPTY', field: 'text' });
  await assert.rejects(refused(requestOf('Hello.', { voice: 'nobody' })), { code: 'VOICE_UNKNOWN' });
  await assert.rejects(refused(requestOf('Bonjour.', { language: 'fr' })), { code: 'LANGUAGE_UNAVAILABLE' });
  assert.deepEqual([engine.requests.length, sinks.length], [0, 0]);
});

/** Notes the ring that each sentence was written to. */
class WatchedEngine extends InstantEngine {
  readonly rings: PcmRing[] = [];

  override synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    this.rings.push(out);
    return super.synthesize(request, out, signal);
  }
}

const LONG = 'And so it went on and on and on. '.repeat(20); // far longer than the rings

test('a stop, in whatever way, frees the rings, the encoder session and the engine', async () => {
  const ways: Record<string, (stream: SpeechStream, leave: () => void) => Promise<void>> = {
    'cancel before reading': async (stream) => stream.cancel(),
    'cancel twice while reading': async (stream) => {
      const chunks = stream[Symbol.asyncIterator]();
      await chunks.next();
      stream.cancel();
      stream.cancel();
    },
    'leave the loop': async (stream) => {
      for await (const chunk of stream) if (chunk.length > 0) break;
    },
    'abort the request': async (_stream, leave) => leave(),
  };
  for (const [way, stop] of Object.entries(ways)) {
    const engine = new WatchedEngine({ rate: ENGINE_RATE, msPerCharacter: 200 });
    const client = new AbortController();
    const stream = await serviceOf(engine).openStream(requestOf(LONG), client.signal);
    await until(() => engine.active > 0);
    assert.deepEqual(encoders.sessions, [1], way);
    await stop(stream, () => client.abort());
    stream.cancel();
    await until(nothingLeft);
    await until(() => engine.active === 0);
    await until(() => engine.rings.every((ring) => ring.status() === null));
  }
});

test('an abort while nothing is there yet refuses the stream', async () => {
  const engine = new WatchedEngine({ rate: ENGINE_RATE });
  engine.behaviour = { kind: 'hang' };
  const client = new AbortController();
  const opening = serviceOf(engine).openStream(requestOf('Hello.'), client.signal);
  await until(() => engine.active === 1);
  client.abort();
  await assert.rejects(opening, { code: 'ABORTED' });
  await until(() => engine.active === 0 && engine.rings.every((ring) => ring.status() === null));
  const late = serviceOf(engine).openStream(requestOf('Hello.'), client.signal);
  await assert.rejects(late, { code: 'ABORTED' });
});

test('a reader that takes its time holds the engine up: no more is kept than the rings hold, and nothing is lost', async () => {
  const engine = new WatchedEngine({ rate: ENGINE_RATE, msPerCharacter: 2000 });
  const text = 'Twenty-six is what I say.'; // 50 s, 800,000 bytes
  const service = serviceOf(engine);
  const stream = await service.openStream(requestOf(text), never());
  const [bytes = -1] = sinks;
  const [sound] = engine.rings;
  // A writer is woken when half of its ring is free.
  const waits = () => (sound?.status()?.writable ?? Infinity) < SOUND_RING / 2;
  await until(() => ByteRing.attach(bytes).status()?.readable === RING_BYTES && waits());
  const written = sound?.status()?.written ?? Infinity;
  const onItsWay = 4000; // samples: a chunk, what the trimmer and the frame hold
  assert.ok(written <= RING_BYTES / 2 + SOUND_RING + onItsWay, `${written} samples`);
  assert.deepEqual(await bodyOf(stream), s16le(engine.soundOf(text)));
});

const RATE = 8000;

for (const maxEntries of [0, 8]) {
  const how = maxEntries === 0 ? 'without a cache' : 'through the cache';

  test(`a sentence is reported with its words before the next one is made, ${how}`, async () => {
    const engine = new InstantEngine({ rate: RATE, msPerCharacter: 10, words: true });
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const synthesize = engine.synthesize.bind(engine);
    engine.synthesize = async (request, out, signal) => {
      if (request.text === 'Goodbye.') await held;
      return await synthesize(request, out, signal);
    };
    const cache = new AudioCache({ maxEntries, maxBytes: 1_000_000 });
    const speech = new CachedSpeech(new SpeechService(engine, encoders, LIMITS), {
      cache,
      routing: engine,
      settings: encoders.settings,
    });
    const asked = {
      text: 'Hello there. Goodbye.',
      language: 'en',
      format: formatNamed('pcm'),
      sampleRate: RATE,
    } as const;
    const stream = await speech.openStream(asked, new AbortController().signal);
    const chunks = stream[Symbol.asyncIterator]();
    await chunks.next();
    const placed = () => stream.placed?.() ?? [];
    await until(() => placed().length > 0);
    const first = {
      text: 'Hello there.',
      startMs: 0,
      endMs: 120,
      words: [
        { word: 'Hello', textOffset: 0, startMs: 0 },
        { word: 'there.', textOffset: 6, startMs: 60 },
      ],
    };
    assert.deepEqual(placed(), [first]);
    letGo();
    while ((await chunks.next()).done !== true);
    const outcome = await stream.outcome;
    assert.deepEqual(placed(), outcome?.sentences);
    assert.equal(placed().length, 2);
    assert.equal(placed()[1]?.startMs, 280); // after 160 ms of pause
  });
}
