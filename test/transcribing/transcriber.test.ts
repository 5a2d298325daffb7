// From the bytes of a file to timed pieces of text, with the tiny checkpoints and with scripted recognisers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import { UNHURRIED } from '../../src/engines/engine.js';
import { Qwen3Aligner, Qwen3Recogniser } from '../../src/engines/qwen3/qwen3-recogniser.js';
import type {
  AlignedWord,
  Aligner,
  AlignmentRequest,
  Recogniser,
  RecognitionListener,
  RecognitionOptions,
  RecognitionSession,
} from '../../src/engines/recogniser.js';
import { Scheduler } from '../../src/engines/scheduler.js';
import { ParleyError } from '../../src/errors.js';
import { CUE_RULES, cuesOf, inOrder } from '../../src/transcribing/cues.js';
import { SoundDecoders } from '../../src/transcribing/sound-decoders.js';
import { srtCue } from '../../src/transcribing/subtitle-files.js';
import { type TranscribedPiece, Transcriber } from '../../src/transcribing/transcriber.js';
import { systemTime } from '../../src/time.js';
import { GOLDEN } from '../engines/golden.js';
import { until } from '../fakes/until.js';
import { toneWav } from '../voices/voice-samples.js';

const NEVER = new AbortController().signal;

interface Bench {
  readonly transcriber: Transcriber;
  readonly decoders: SoundDecoders;
  readonly unaligned: readonly ParleyError[];
}

function openBench(t: TestContext, recogniser: Recogniser, aligner?: Aligner, maxSeconds = 100): Bench {
  const unaligned: ParleyError[] = [];
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg: undefined });
  t.after(() => decoders.close());
  const queue = new Scheduler({ engine: recogniser.name, concurrency: 4, maxWaiting: 4 });
  const onUnaligned = (error: ParleyError) => unaligned.push(error);
  const parts = {
    recogniser,
    aligner,
    decoders,
    queue,
    now: () => performance.now(),
    maxSeconds,
    onUnaligned,
  };
  return { transcriber: new Transcriber(parts), decoders, unaligned };
}

const native = { quantize: 'none', cacheFormat: 'f32', threads: 1, cores: [], warmUp: false } as const;

async function openModels(t: TestContext) {
  const options = { maxSessions: 8, stallMs: 20_000 };
  const directory = (name: string) => ({ ...options, native: { ...native, directory: join(GOLDEN, name) } });
  const recogniser = await Qwen3Recogniser.open(directory('tiny-asr-a'));
  const aligner = await Qwen3Aligner.open(directory('tiny-aligner'));
  t.after(() => recogniser.close());
  t.after(() => aligner.close());
  return { recogniser, aligner };
}

async function* upload(bytes: Uint8Array, pieceBytes = 5000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    await Promise.resolve();
    yield bytes.subarray(at, at + pieceBytes);
  }
}

async function transcribe(
  { transcriber }: Bench,
  bytes: Uint8Array,
  times: 'aligned' | 'shared' = 'aligned',
  signal = NEVER,
) {
  const pieces: TranscribedPiece[] = [];
  const request = { upload: upload(bytes), times, urgency: UNHURRIED };
  const end = await transcriber.transcribe(request, signal, (piece) => pieces.push(piece));
  return { pieces, end };
}

function golden(name: string): Buffer {
  return readFileSync(join(GOLDEN, 'clips', `${name}.wav`));
}

// A ring that is awaited keeps no process alive. A server has an open socket, which this timer stands for.
const alive = setInterval(() => undefined, 60_000);
after(() => clearInterval(alive));

test('a file becomes exact subtitles by the times of the reference', async (t) => {
  const { recogniser, aligner } = await openModels(t);
  const { pieces, end } = await transcribe(openBench(t, recogniser, aligner), golden('odd37'));
  assert.deepEqual(
    pieces.map(({ text, language, isAligned }) => [text, language, isAligned]),
    [['The quick brown fox jumps over the lazy dog.', 'en', true]],
  );
  assert.equal(end.seconds, 59_279 / 16_000);
  const [piece] = pieces;
  assert(piece !== undefined);
  const manifest = JSON.parse(readFileSync(join(GOLDEN, 'recognition/manifest.json'), 'utf8')) as {
    readonly transcribe: {
      readonly timestamps_odd37: { readonly items: readonly [string, number, number][] };
    };
  };
  assert.deepEqual(
    piece.words.map(({ start, end: stop, beginSeconds, endSeconds }) => [
      piece.text.slice(start, stop),
      beginSeconds,
      endSeconds,
    ]),
    manifest.transcribe.timestamps_odd37.items.map(([word, begin, finish]) => [
      word.replace(/\.$/, ''),
      begin,
      finish,
    ]),
  );
  const cues = inOrder(cuesOf(piece, CUE_RULES, piece.language));
  assert.equal(
    cues.map((cue, n) => srtCue(cue, n + 1)).join(''),
    '1\n00:00:00,160 --> 00:00:03,520\nThe quick brown fox\njumps over the lazy dog.\n\n',
  );
});

/** Says one word for each second of the sound, a piece for each two seconds. */
class CountingRecogniser implements Recogniser {
  readonly name = 'counting';
  readonly languages = ['en'];
  readonly tellsPartials = false;
  readonly usable = true;
  readonly loaded = true;
  sessions = 0;
  closed = 0;
  asked: RecognitionOptions[] = [];
  /** Second at which it fails. */
  failsAt = Infinity;
  /** It reads only while this is true. */
  reads = true;

  says = (part: number, seconds: number): string =>
    Array.from({ length: Math.ceil(seconds) }, (_, n) => `word${part * 2 + n}`).join(' ');

  open(options: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    this.asked.push(options);
    this.sessions++;
    let give: (error: ParleyError) => void = () => undefined;
    const given = new Promise<never>((_, reject) => (give = reject));
    given.catch(() => undefined);
    let start: (ring: PcmRing) => void = () => undefined;
    const pushed = new Promise<PcmRing>((resolve) => (start = resolve));
    const ended = pushed
      .then((ring) => Promise.race([given, this.#read(ring, listener)]))
      .finally(() => this.sessions--);
    ended.catch(() => undefined);
    return {
      push: start,
      turn: () => undefined,
      end: () => ended,
      ended,
      close: () => {
        this.closed++;
        give(new ParleyError('ABORTED', 'closed'));
      },
    };
  }

  async #read(ring: PcmRing, listener: RecognitionListener): Promise<void> {
    const piece = new Float32Array(2 * ring.rate);
    for (let part = 0; ; part++) {
      let filled = 0;
      for (;;) {
        await until(() => this.reads);
        const count = ring.read(piece.subarray(filled));
        if (count > 0) filled += count;
        if (filled === piece.length || count < 0) break;
        if (count === 0 && ring.status()?.ended !== false) break;
        if (count === 0) await ring.readable();
      }
      const seconds = filled / ring.rate;
      if (part * 2 + seconds > this.failsAt) throw new ParleyError('ENGINE_FAILED', 'no more');
      if (filled === 0) return;
      const text = this.says(part, seconds);
      const times = { beginSeconds: part * 2, endSeconds: part * 2 + seconds };
      listener.final({ part, text, stable: text.length, language: 'en', ...times });
    }
  }

  load(): Promise<void> {
    return Promise.resolve();
  }
  unload(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

test('a sound whose speech is not found has texts that share the time of their pieces', async (t) => {
  const recogniser = new CountingRecogniser();
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg: undefined });
  t.after(() => decoders.close());
  const unknown: string[] = [];
  let searches = 0;
  const transcriber = new Transcriber({
    recogniser,
    aligner: undefined,
    decoders,
    queue: new Scheduler({ engine: 'counting', concurrency: 1, maxWaiting: 1 }),
    now: () => performance.now(),
    maxSeconds: 100,
    speech: {
      find: () => {
        searches++;
        return Promise.reject(new ParleyError('HEARING_FAILED', 'no worker'));
      },
    },
    onSpeechUnknown: ({ code }) => unknown.push(code),
  });
  const bench = { transcriber, decoders, unaligned: [] };
  const { pieces } = await transcribe(bench, toneWav({ seconds: 10, rate: 16_000 }), 'shared');
  assert.deepEqual(
    pieces
      .filter(({ text }) => text !== '')
      .map(({ text, words }) => [text, words.at(0)?.beginSeconds, words.at(-1)?.endSeconds]),
    [0, 2, 4, 6, 8].map((at) => [`word${at} word${at + 1}`, at, at + 2]),
  );
  // Each search may take its time limit: a sound waits for three at most.
  assert.equal(searches, 3);
  assert.deepEqual(unknown, Array(3).fill('HEARING_FAILED'));
});

test('a search for speech ends with the transcription that wanted it', async (t) => {
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg: undefined });
  t.after(() => decoders.close());
  const given = new AbortController();
  const transcriber = new Transcriber({
    recogniser: new CountingRecogniser(),
    aligner: undefined,
    decoders,
    queue: new Scheduler({ engine: 'counting', concurrency: 1, maxWaiting: 1 }),
    now: () => performance.now(),
    maxSeconds: 100,
    speech: {
      find: () => {
        given.abort();
        return Promise.reject(new ParleyError('ABORTED', 'given up'));
      },
    },
    onSpeechUnknown: assert.fail,
  });
  const wav = toneWav({ seconds: 4, rate: 16_000 });
  const bench = { transcriber, decoders, unaligned: [] };
  await assert.rejects(transcribe(bench, wav, 'shared', given.signal), { code: 'ABORTED' });
});

/** Times each word of a piece by its own loudness, as far as it is not told to fail. */
class SecondsAligner implements Aligner {
  readonly name = 'seconds';
  readonly languages = ['en'];
  usable = true;
  readonly loaded = true;
  /** Words at which it fails. */
  fails: RegExp = /^$/;
  heard: number[] = [];

  async align(
    { text }: AlignmentRequest,
    ring: PcmRing,
    signal: AbortSignal,
  ): Promise<readonly AlignedWord[]> {
    await Promise.resolve();
    if (signal.aborted) throw new ParleyError('ABORTED', 'not wanted');
    if (this.fails.test(text)) throw new ParleyError('ENGINE_BUSY', 'too much to do');
    const samples = new Float32Array(ring.status()?.readable ?? 0);
    ring.read(samples);
    this.heard.push(samples.length / ring.rate);
    return text.split(' ').map((word, n) => ({ word, beginSeconds: n, endSeconds: n + 0.5 }));
  }

  load(): Promise<void> {
    return Promise.resolve();
  }
  unload(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function timesOf(pieces: readonly TranscribedPiece[]): string[] {
  return pieces.flatMap(({ text, words }) =>
    words.map(({ start, end, beginSeconds }) => `${beginSeconds} ${text.slice(start, end)}`),
  );
}

test('pieces are told in order, each with the aligned times of its own sound', async (t) => {
  const aligner = new SecondsAligner();
  const bench = openBench(t, new CountingRecogniser(), aligner);
  const { pieces, end } = await transcribe(bench, toneWav({ seconds: 7 }));
  assert.deepEqual(timesOf(pieces), [
    '0 word0',
    '1 word1',
    '2 word2',
    '3 word3',
    '4 word4',
    '5 word5',
    '6 word6',
  ]);
  assert.deepEqual(aligner.heard, [2, 2, 2, 1]);
  assert.equal(end.seconds, 7);
  assert.deepEqual(
    pieces.map(({ isAligned }) => isAligned),
    [true, true, true, true],
  );
});

test('a piece that cannot be aligned has its time shared out, and the others keep theirs', async (t) => {
  const aligner = new SecondsAligner();
  aligner.fails = /word2/;
  const bench = openBench(t, new CountingRecogniser(), aligner);
  const { pieces } = await transcribe(bench, toneWav({ seconds: 6 }));
  assert.deepEqual(
    pieces.map(({ isAligned }) => isAligned),
    [true, false, true],
  );
  assert.deepEqual(timesOf(pieces), ['0 word0', '1 word1', '2 word2', '3 word3', '4 word4', '5 word5']);
  assert.deepEqual(
    bench.unaligned.map(({ code }) => code),
    ['ENGINE_BUSY'],
  );
});

test('without an aligner, and where none is wanted, times are shared out in shorter pieces', async (t) => {
  const recogniser = new CountingRecogniser();
  const aligner = new SecondsAligner();
  const without = await transcribe(openBench(t, recogniser), toneWav({ seconds: 2 }));
  const unwanted = await transcribe(openBench(t, recogniser, aligner), toneWav({ seconds: 2 }), 'shared');
  aligner.usable = false;
  const broken = await transcribe(openBench(t, recogniser, aligner), toneWav({ seconds: 2 }));
  for (const { pieces } of [without, unwanted, broken]) {
    assert.deepEqual(
      pieces.map(({ isAligned }) => isAligned),
      [false],
    );
    assert.deepEqual(timesOf(pieces), ['0 word0', '1 word1']);
  }
  assert.deepEqual(aligner.heard, []);
  assert.deepEqual(
    recogniser.asked.map(({ pieceSeconds }) => pieceSeconds),
    [60, 20, 60],
  );
});

test('silence is not kept for the aligner', async (t) => {
  const recogniser = new CountingRecogniser();
  recogniser.says = () => '';
  const { pieces, end } = await transcribe(
    openBench(t, recogniser, new SecondsAligner(), 2000),
    toneWav({ seconds: 1000, rate: 8000 }),
  );
  assert.equal(end.seconds, 1000); // longer than what may be kept: 480 s
  assert.equal(pieces.length, 500);
});

test('an upload is read no faster than it is recognised', async (t) => {
  const recogniser = new CountingRecogniser();
  recogniser.reads = false;
  const bench = openBench(t, recogniser);
  let read = 0;
  async function* slow(): AsyncGenerator<Uint8Array> {
    for await (const bytes of upload(toneWav({ seconds: 60 }))) {
      read += bytes.length;
      yield bytes;
    }
  }
  const pieces: TranscribedPiece[] = [];
  const request = { upload: slow(), times: 'shared', urgency: UNHURRIED } as const;
  const done = bench.transcriber.transcribe(request, NEVER, (piece) => pieces.push(piece));
  await until(() => recogniser.sessions === 1);
  await until(() => read > 100_000);
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve));
  assert(read < 60 * 24_000, String(read)); // of 2.9 MB
  recogniser.reads = true;
  assert.equal((await done).seconds, 60);
  assert.equal(pieces.length, 30);
});

for (const [what, bytes, code, message] of [
  [
    'is no sound',
    Buffer.from('<html>nothing</html>'),
    'UNSUPPORTED_MEDIA_TYPE',
    /no sound that is known here; WAV, MP3/,
  ],
  ['is empty', Buffer.alloc(0), 'UNSUPPORTED_MEDIA_TYPE', /no sound that is known here/],
  ['has no samples', toneWav({ seconds: 1 }).subarray(0, 44), 'AUDIO_INVALID', /the file has no sound/],
  ['is cut in its head', toneWav({ seconds: 1 }).subarray(0, 30), 'AUDIO_INVALID', /it holds no samples/],
  [
    'is of zeros',
    Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(100_000)]),
    'AUDIO_INVALID',
    /the file has no sound|damaged/,
  ],
] as const) {
  test(`a file that ${what} is refused by name, and the next one is transcribed`, async (t) => {
    const bench = openBench(t, new CountingRecogniser());
    await assert.rejects(transcribe(bench, bytes), { code, message });
    assert.equal((await transcribe(bench, toneWav({ seconds: 1 }))).end.seconds, 1);
    await until(() => bench.decoders.size === 0);
  });
}

test('where the upload breaks off, so does the transcription', async (t) => {
  const bench = openBench(t, new CountingRecogniser());
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield* upload(toneWav({ seconds: 3 }));
    throw new ParleyError('TOO_LARGE', 'the file may have 100 bytes at most');
  }
  const request = { upload: broken(), times: 'shared', urgency: UNHURRIED } as const;
  const done = bench.transcriber.transcribe(request, NEVER, () => undefined);
  await assert.rejects(done, { code: 'TOO_LARGE' });
  await until(() => bench.decoders.size === 0);
});

test('a recogniser that fails, and a listener that throws, end the transcription', async (t) => {
  const recogniser = new CountingRecogniser();
  const bench = openBench(t, recogniser, new SecondsAligner());
  recogniser.failsAt = 3;
  await assert.rejects(transcribe(bench, toneWav({ seconds: 60 })), {
    code: 'ENGINE_FAILED',
    message: 'no more',
  });
  recogniser.failsAt = Infinity;
  const request = { upload: upload(toneWav({ seconds: 60 })), times: 'aligned', urgency: UNHURRIED } as const;
  const done = bench.transcriber.transcribe(request, NEVER, () => {
    throw new TypeError('mine');
  });
  await assert.rejects(done, /mine/);
  await until(() => bench.decoders.size === 0 && recogniser.sessions === 0);
});

test('a client that leaves takes its work with it', async (t) => {
  const recogniser = new CountingRecogniser();
  const bench = openBench(t, recogniser, new SecondsAligner());
  const gone = new AbortController();
  recogniser.reads = false;
  const done = transcribe(bench, toneWav({ seconds: 60 }), 'aligned', gone.signal);
  await until(() => recogniser.sessions === 1);
  gone.abort();
  await assert.rejects(done, { code: 'ABORTED' });
  recogniser.reads = true;
  await until(() => bench.decoders.size === 0 && recogniser.sessions === 0);
  assert.equal(recogniser.closed, 1);
});

test('an upload that stalls holds nothing once its client has left', async (t) => {
  const recogniser = new CountingRecogniser();
  const bench = openBench(t, recogniser);
  for (const bytes of [10, 50_000]) {
    const gone = new AbortController();
    async function* stalls(): AsyncGenerator<Uint8Array> {
      yield toneWav({ seconds: 5 }).subarray(0, bytes);
      await new Promise(() => undefined);
    }
    const request = { upload: stalls(), times: 'shared', urgency: UNHURRIED } as const;
    const done = bench.transcriber.transcribe(request, gone.signal, () => undefined);
    if (bytes > 10) await until(() => recogniser.sessions === 1);
    gone.abort();
    await assert.rejects(done, { code: 'ABORTED' });
    await until(() => bench.decoders.size === 0 && recogniser.sessions === 0);
  }
});

test('as many sounds are transcribed at once as may, and more wait or are refused', async (t) => {
  const recogniser = new CountingRecogniser();
  recogniser.reads = false;
  const bench = openBench(t, recogniser);
  const all = Array.from({ length: 8 }, () => transcribe(bench, toneWav({ seconds: 1 })));
  await until(() => recogniser.sessions === 4);
  await assert.rejects(transcribe(bench, toneWav({ seconds: 1 })), { code: 'ENGINE_BUSY' });
  recogniser.reads = true;
  for (const { pieces, end } of await Promise.all(all)) {
    assert.equal(pieces.length, 1);
    assert(end.queuedMs >= 0);
  }
});

test('a decoder that hangs or dies ends its own sound alone', async (t) => {
  const recogniser = new CountingRecogniser();
  const hangs = new URL('data:text/javascript,for(;;);');
  const dies = new URL('data:text/javascript,throw new Error("broken");');
  for (const [script, stallMs, message] of [
    [hangs, 200, /nothing came within 0\.2 s/],
    [dies, 60_000, /cannot be decoded/],
  ] as const) {
    const options = { time: systemTime, ffmpeg: undefined, script, stallMs };
    const decoders = new SoundDecoders(options);
    t.after(() => decoders.close());
    const decoding = decoders.open(upload(toneWav({ seconds: 1 })), NEVER);
    await assert.rejects(decoding, { code: 'AUDIO_INVALID', message });
    await until(() => decoders.size === 0);
  }
  assert.equal((await transcribe(openBench(t, recogniser), toneWav({ seconds: 1 }))).end.seconds, 1);
});
