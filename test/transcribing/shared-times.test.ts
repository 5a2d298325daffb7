// The times of sentences without an aligner, against the places where flite's sentences stand in a sound,
// with the voice activity of the server.
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { toBytesS16le } from '../../src/audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from '../../src/codecs/wav.js';
import { UNHURRIED } from '../../src/engines/engine.js';
import { OpenAiRecogniser } from '../../src/engines/openai/openai-recogniser.js';
import { ServerPool } from '../../src/engines/openai/server-pool.js';
import { RingReader } from '../../src/engines/openai/ring-reader.js';
import { SoundPieces } from '../../src/engines/openai/sound-pieces.js';
import type {
  Recogniser,
  RecognitionListener,
  RecognitionOptions,
  RecognitionSession,
} from '../../src/engines/recogniser.js';
import { Scheduler } from '../../src/engines/scheduler.js';
import { Hearing } from '../../src/hearing/hearing.js';
import { createLog } from '../../src/observe/log.js';
import { systemTime } from '../../src/time.js';
import { CUE_RULES } from '../../src/transcribing/cues.js';
import { SoundDecoders } from '../../src/transcribing/sound-decoders.js';
import { SpeechSearch } from '../../src/transcribing/speech-search.js';
import { Transcriber } from '../../src/transcribing/transcriber.js';
import { Transcript } from '../../src/transcribing/transcript.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { joined, mixed, noise, silence, speech } from '../hearing/sounds.js';

const RATE = 16_000;
const NEVER = new AbortController().signal;
/** Pauses after the sentences, in milliseconds, in turn. */
const PAUSES = [300, 700, 450, 1200, 350, 2600, 500, 900, 6000, 400];
const VOICES = ['slt', 'awb', 'rms'] as const;
const SENTENCES = [
  'Good morning, and welcome to the tour of the old harbour.',
  'Please stay close.',
  'The first building on your left was a customs house.',
  'It was built in 1847, after the great fire, by a merchant from Bremen.',
  'Nobody knows who paid for it.',
  'In those days ships waited here for weeks.',
  'Some of them, the larger ones, never came back.',
  'Yes?',
  'That is a very good question.',
  'The bridge ahead of us opens twice a day, once in the morning and once at night.',
  'You may have seen it in a film.',
  'Mind the step.',
  'Over there, behind the trees, is the house where the captain lived with his seven children.',
  'His diary was found under the floor.',
  'It describes storms, debts, and a very patient cat.',
  'We will read a page of it later.',
  'Now let us cross the street.',
  'This is the oldest inn of the town, and the only one that still brews its own beer.',
  'I recommend the soup.',
  'Thank you, and good night.',
];

interface Sentence {
  readonly text: string;
  readonly beginSeconds: number;
  readonly endSeconds: number;
}

async function tour() {
  const sounds: Float32Array[] = [silence(12_000)];
  const sentences: Sentence[] = [];
  let at = 12 * RATE;
  for (const [n, text] of SENTENCES.entries()) {
    const said = await speech(text, VOICES[n % VOICES.length]);
    const [first, last] = [loudFrom(said), said.length - loudFrom(said.toReversed())];
    sentences.push({ text, beginSeconds: (at + first) / RATE, endSeconds: (at + last) / RATE });
    const pause = silence(PAUSES[n % PAUSES.length] ?? 0);
    sounds.push(said.subarray(0, last), pause);
    at += last + pause.length;
  }
  const clean = joined(...sounds);
  return { samples: mixed(clean, noise((clean.length / RATE) * 1000, -66)), sentences };
}

/** The first sample of a sound above -46 dBFS. */
function loudFrom(samples: Float32Array): number {
  return samples.findIndex((sample) => Math.abs(sample) > 0.005);
}

const { samples, sentences } = await tour();

/** The words that were said between two places, as a recogniser would write them that errs in nothing. */
function textBetween(begin: number, end: number): string {
  return sentences
    .flatMap(({ text, beginSeconds, endSeconds }) => {
      const words = text.split(' ');
      const letters = text.length + 1;
      let passed = 0;
      return words.filter((word) => {
        const middle = (passed + word.length / 2) / letters;
        passed += word.length + 1;
        const at = beginSeconds + middle * (endSeconds - beginSeconds);
        return at >= begin && at < end;
      });
    })
    .join(' ');
}

function wav(): Uint8Array {
  const bytes = new Uint8Array(WAV_HEADER_BYTES + 2 * samples.length);
  bytes.set(wavHeader(RATE, samples.length));
  toBytesS16le(samples, samples.length, bytes, WAV_HEADER_BYTES);
  return bytes;
}

async function* upload(): AsyncGenerator<Uint8Array> {
  const bytes = wav();
  for (let at = 0; at < bytes.length; at += 20_000) {
    await Promise.resolve();
    yield bytes.subarray(at, at + 20_000);
  }
}

const log = createLog({ level: 'error', logText: false });
const hearing = await Hearing.open({
  plane: { handle: 1 },
  openEars: () => ({ handle: 1, close: () => undefined }),
  script: new URL('../hearing/scripted-worker.js', import.meta.url),
  log,
  time: systemTime,
});
after(() => hearing.close());

async function transcript(t: TestContext, recogniser: Recogniser, times: 'aligned' | 'shared' = 'shared') {
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg: undefined });
  t.after(() => decoders.close());
  const transcriber = new Transcriber({
    recogniser,
    aligner: undefined,
    decoders,
    queue: new Scheduler({ engine: recogniser.name, concurrency: 1, maxWaiting: 1 }),
    now: () => performance.now(),
    maxSeconds: 1000,
    speech: new SpeechSearch({ activity: hearing, settings: HEARING_SETTINGS, time: systemTime }),
  });
  const written = new Transcript(CUE_RULES);
  const request = { upload: upload(), times, urgency: UNHURRIED } as const;
  await transcriber.transcribe(request, NEVER, (piece) => written.add(piece));
  return written;
}

function check(written: Transcript): void {
  assert.equal(written.text, SENTENCES.join(' '));
  const found = written.sentences();
  const errors = sentences.map(({ text, beginSeconds, endSeconds }, n) => {
    const one = found[n];
    assert.equal(one?.text, text);
    return Math.max(Math.abs(one.beginSeconds - beginSeconds), Math.abs(one.endSeconds - endSeconds));
  });
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  assert.ok(mean <= 0.3, `the mean error is ${mean} s`);
  assert.ok(Math.max(...errors) <= 1, `the worst error is ${Math.max(...errors)} s`);
  for (const { beginMs, lines } of written.cues()) {
    const isSpoken = sentences.some(
      (one) => beginMs >= one.beginSeconds * 1000 - 150 && beginMs <= one.endSeconds * 1000 + 150,
    );
    assert.ok(isSpoken, `the cue "${lines.join(' ')}" begins in silence, at ${beginMs} ms`);
  }
}

/** Finds a piece of the sound by its samples. */
function placeOf(piece: Float32Array): number {
  const key = piece.subarray(0, 32);
  const quantised = Int16Array.from(key, (sample) => Math.round(sample * 32_768));
  for (let at = 0; at + key.length <= samples.length; at++) {
    let n = 0;
    while (n < key.length && Math.abs((samples[at + n] ?? 0) * 32_768 - (quantised[n] ?? 0)) <= 1.5) n++;
    if (n === key.length) return at / RATE;
  }
  return assert.fail('the piece is no part of the sound');
}

test('a transcription server that tells no times gives subtitles at the time of the speech', async (t) => {
  const server = await TranscriptionServerUnderTest.open(t);
  const recogniser = new OpenAiRecogniser({
    servers: { pool: ServerPool.of([server.baseUrl], undefined, systemTime), model: 'whisper-1' },
    maxSessions: 1,
    timeoutMs: 60_000,
  });
  t.after(() => recogniser.close());
  let answered = 0;
  const timer = setInterval(() => {
    for (; answered < server.asked.length; answered++) {
      const asked = server.asked[answered];
      if (asked === undefined) continue;
      const begin = placeOf(asked.sound);
      asked.say(textBetween(begin, begin + asked.sound.length / RATE));
    }
  }, 5);
  t.after(() => clearInterval(timer));
  check(await transcript(t, recogniser));
});

/** Cuts a file at quiet places, and errs in no word. It tells silence from speech by itself. */
class ExactRecogniser implements Recogniser {
  readonly name = 'exact';
  readonly languages = ['en'];
  readonly tellsPartials = false;
  readonly usable = true;
  readonly loaded = true;
  readonly sessions = 0;

  open({ pieceSeconds = 60 }: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    let settle: (error?: Error) => void = () => undefined;
    const ended = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    const pieces = new SoundPieces(RATE, pieceSeconds);
    let [part, passed] = [0, 0];
    const tell = (piece: Float32Array) => {
      const [beginSeconds, endSeconds] = [passed / RATE, (passed += piece.length) / RATE];
      const text = textBetween(beginSeconds, endSeconds);
      const more = { part: part++, stable: text.length, language: 'en', beginSeconds, endSeconds };
      listener.final({ text, ...more });
    };
    const options = {
      rate: RATE,
      everyMs: 0,
      time: systemTime,
      hasRoom: () => true,
      take: (taken: Float32Array) => {
        const piece = pieces.add(taken);
        if (piece !== undefined) tell(piece);
      },
      over: (error?: Error) => {
        if (error === undefined) tell(pieces.take());
        settle(error);
      },
    };
    const push: RecognitionSession['push'] = (ring) => void new RingReader(ring, options);
    return { push, turn: () => undefined, end: () => ended, ended, close: () => undefined };
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

for (const [what, times] of [
  ['of twenty seconds', 'shared'],
  ['of a minute, which no aligner can time,', 'aligned'],
] as const) {
  test(`pieces ${what} of a recogniser without times give subtitles at the time of the speech`, async (t) => {
    check(await transcript(t, new ExactRecogniser(), times));
  });
}
