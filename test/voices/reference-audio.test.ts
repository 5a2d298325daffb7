// Samples of voices: what of a file becomes sound, and what files cannot do.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { REFERENCE_RATE as RATE, ReferenceAudio } from '../../src/voices/reference-audio.js';
import { CodedReader, type Decoder } from '../../src/codecs/sound-file.js';
import { decodeReference, readAll, ReferenceSound } from '../../src/voices/reference-decoders.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { mutatedBytes, randomFrom } from '../api/mutations.js';
import { fitTone, tone } from '../audio/tones.js';
import { HALF_KNOWN, KINDS, OTHER_KINDS, sampleFile, TONE_HZ, toneWav } from './voice-samples.js';

const SOURCE_RATE = 24_000;
const NEVER = new AbortController().signal;

function open(t: TestContext, options: ConstructorParameters<typeof ReferenceAudio>[0] = {}): ReferenceAudio {
  const audio = new ReferenceAudio(options);
  t.after(() => audio.close());
  return audio;
}

const refused = (message: RegExp) => ({ code: 'AUDIO_INVALID', field: 'ref_audio', message });

for (const [kind, how] of Object.entries(KINDS)) {
  test(`a tone in ${kind}, stereo at 48 kHz, becomes the same tone, mono at 24 kHz`, async (t) => {
    const samples = await open(t).decode(sampleFile(how), 'ref_audio', NEVER);
    assert.ok(Math.abs(samples.length - 2 * SOURCE_RATE) < SOURCE_RATE / 10, String(samples.length));
    const { amplitude, snrDb } = fitTone(
      samples.subarray(SOURCE_RATE / 2, SOURCE_RATE),
      TONE_HZ,
      SOURCE_RATE,
    );
    assert.ok(
      Math.abs(amplitude - 0.5) < 0.03, // LAME takes 5 % off
      `amplitude ${amplitude}`,
    );
    assert.ok(snrDb > 30, `${snrDb} dB`);
  });
}

test('a file of floats above full scale is no square wave', async () => {
  const samples = await decodeReference(sampleFile(KINDS['wav f32'], { level: 4 }));
  assert.ok(fitTone(samples.subarray(SOURCE_RATE / 2, SOURCE_RATE), TONE_HZ, SOURCE_RATE).snrDb > 60);
});

test('mono, and the rates that files have, are taken as well', async () => {
  for (const rate of [8000, 11_025, 16_000, 22_050, 44_100, 96_000]) {
    const samples = await decodeReference(sampleFile(KINDS['wav s16'], { rate, channels: 1 }));
    assert.equal(samples.length, 2 * SOURCE_RATE);
    assert.ok(
      fitTone(samples.subarray(SOURCE_RATE / 2, SOURCE_RATE), TONE_HZ, SOURCE_RATE).snrDb > 60,
      String(rate),
    );
  }
});

for (const [kind, how] of Object.entries(OTHER_KINDS)) {
  test(`${kind} is refused with what is taken`, async (t) => {
    const decoding = open(t).decode(sampleFile(how), 'ref_audio', NEVER);
    const isRead = HALF_KNOWN.includes(kind);
    const message = isRead ? /neither PCM|not Opus/ : /WAV, MP3, FLAC, Ogg Opus and WebM Opus are taken/;
    await assert.rejects(decoding, refused(message));
  });
}

test('what is too short, too long, silent, no numbers or nothing at all is refused with the reason', async (t) => {
  const audio = open(t);
  const numbers = toneWav();
  const floats = sampleFile(KINDS['wav f32']);
  floats.writeFloatLE(NaN, floats.length - 400);
  const cases: [Uint8Array, RegExp][] = [
    [toneWav({ seconds: 0.5 }), /lasts 0\.50 s; 1 to 60 s/],
    [toneWav({ seconds: 61 }), /longer than 60 s/],
    [toneWav({ level: 0 }), /silent/],
    [toneWav({ level: 0.002 }), /silent/],
    [numbers.subarray(0, 20), /WAV file cannot be read/],
    [new Uint8Array(0), /no audio that is known/],
    [Buffer.from('<html>not audio at all</html>'), /no audio that is known/],
    [Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) & 0xff)), /no audio that is known/],
  ];
  for (const [bytes, why] of cases)
    await assert.rejects(audio.decode(bytes, 'ref_audio', NEVER), refused(why));
  await assert.rejects(audio.decode(floats, 'ref_audio', NEVER), refused(/no numbers/));
});

test('hours of silence in a small file end after a minute of it, in bounded memory', async (t) => {
  const hour = sampleFile(['-c:a', 'flac', '-f', 'flac'], {
    seconds: 3600,
    rate: 8000,
    level: 0,
    channels: 1,
  });
  assert.ok(hour.length < 1_000_000);
  await assert.rejects(open(t).decode(hour, 'ref_audio', NEVER), refused(/longer than 60 s/));
});

test('WAV headers that lie about every length are answered, not believed', async () => {
  const good = toneWav();
  for (let at = 4; at < 44; at++) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
      const bad = Buffer.from(good);
      bad[at] = value;
      await decodeReference(bad).then(
        (samples) => assert.ok(samples.length <= 60 * SOURCE_RATE),
        (error: { code: string }) => assert.equal(error.code, 'AUDIO_INVALID'),
      );
    }
  }
});

test('damaged files of each kind become sound or are refused, and the server goes on', async (t) => {
  const audio = open(t);
  const random = randomFrom(7);
  for (const kind of ['wav s16', 'mp3', 'opus', 'flac', 'webm'] as const) {
    const good = sampleFile(KINDS[kind], { seconds: 1.2, rate: 24_000, channels: 1 });
    for (let round = 0; round < 12; round++) {
      await audio.decode(mutatedBytes(good, random), 'ref_audio', NEVER).then(
        (samples) => assert.ok(samples.every((sample) => Math.abs(sample) <= 1)),
        (error: { code: string }) => assert.equal(error.code, 'AUDIO_INVALID'),
      );
    }
  }
});

test('a decoder that hangs is ended, and one that crashes affects no other', async (t) => {
  const hangs = new URL('data:text/javascript,for(;;);');
  const dies = new URL('data:text/javascript,throw new Error("broken");');
  const eats = new URL('data:text/javascript,const all = []; for (;;) all.push(new Array(1e5).fill(0.5));');
  const wav = toneWav();
  await assert.rejects(
    open(t, { script: hangs, timeoutMs: 200 }).decode(wav, 'ref_audio', NEVER),
    refused(/could not be decoded within 0\.2 s/),
  );
  await assert.rejects(
    open(t, { script: dies }).decode(wav, 'ref_audio', NEVER),
    refused(/cannot be decoded/),
  );
  await assert.rejects(
    open(t, { script: eats }).decode(wav, 'ref_audio', NEVER),
    refused(/cannot be decoded/),
  );
});

/** Answers with the number of its thread, crashes at a file that begins with 1, exits at a 2, refuses a 3. */
const NUMBERED = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads';
    parentPort.on('message', ({ bytes: [first] }) => {
      if (first === 2) process.exit(0);
      const failed = { code: 'AUDIO_INVALID', message: 'broken', hasCrashed: first === 1 };
      parentPort.postMessage(first === 0 ? { samples: Float32Array.of(threadId) } : failed);
    });`)}`,
);

test('one thread decodes file after file, and ends after a minute without one', async (t) => {
  const time = new ManualTime();
  const audio = open(t, { script: NUMBERED, time });
  const thread = async () => (await audio.decode(Uint8Array.of(0), 'audio', NEVER, 'play'))[0];
  const first = await thread();
  time.advance(59_999);
  assert.equal(await thread(), first);
  time.advance(59_999);
  assert.equal(await thread(), first);
  time.advance(60_000);
  assert.notEqual(await thread(), first);
  await audio.close();
  assert.equal(time.waiting, 0);
});

test('two files at once take two threads, and later ones the same two', async (t) => {
  const audio = open(t, { script: NUMBERED });
  const threads = async (count: number) =>
    new Set(
      (
        await Promise.all(Array.from({ length: count }, () => audio.decode(Uint8Array.of(0), 'audio', NEVER)))
      ).map(([thread]) => thread),
    );
  const first = await threads(2);
  assert.equal(first.size, 2);
  assert.deepEqual(new Set([...(await threads(6)), ...first]), first);
});

test('a file that is refused leaves its thread to the next one', async (t) => {
  const time = new ManualTime();
  const audio = open(t, { script: NUMBERED, time });
  const decode = (first: number) => audio.decode(Uint8Array.of(first), 'ref_audio', NEVER);
  const [one] = await decode(0);
  await assert.rejects(decode(3), refused(/^broken$/));
  assert.deepEqual(await decode(0), Float32Array.of(one ?? NaN));
  await assert.rejects(decode(3), refused(/^broken$/));
  time.advance(60_000); // it ends after a minute, as behind a file that was decoded
  assert.notDeepEqual(await decode(0), Float32Array.of(one ?? NaN));
});

for (const [what, file] of [
  ['of a kind that is not decoded', () => sampleFile(OTHER_KINDS.mp4)],
  ['that is too long', () => toneWav({ seconds: 61 })],
  ['of another encoding', () => sampleFile(OTHER_KINDS['wav ADPCM'])],
  ['that is too short', () => sampleFile(KINDS.flac, { seconds: 0.2 })],
] as const) {
  test(`the next file after one ${what} needs no other thread`, async (t) => {
    const time = new ManualTime();
    const audio = open(t, { time });
    await assert.rejects(audio.decode(file(), 'ref_audio', NEVER), { code: 'AUDIO_INVALID' });
    assert.equal(time.waiting, 1); // the minute of a thread that waits
  });
}

test('a file that fails or ends its thread fails alone, and the next one gets a new thread', async (t) => {
  const audio = open(t, { script: NUMBERED });
  const decode = (first: number) => audio.decode(Uint8Array.of(first), 'ref_audio', NEVER);
  const [one] = await decode(0);
  await assert.rejects(decode(1), refused(/^broken$/));
  const [two] = await decode(0);
  await assert.rejects(decode(2), refused(/cannot be decoded/));
  const [three] = await decode(0);
  assert.equal(new Set([one, two, three]).size, 3);
});

test('a thread that dies while it waits for a file is replaced', async (t) => {
  const dies = new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort, threadId } from 'node:worker_threads';
      parentPort.once('message', () => {
        parentPort.postMessage({ samples: Float32Array.of(threadId) });
        setTimeout(() => process.exit(0));
      });`)}`,
  );
  const time = new ManualTime();
  const audio = open(t, { script: dies, time });
  const decode = () => audio.decode(Uint8Array.of(0), 'audio', NEVER);
  const [first] = await decode();
  await until(() => time.waiting === 0); // its minute of rest is cancelled
  assert.notEqual((await decode())[0], first);
});

test('two files are decoded at once, sixteen wait, and more are refused', async (t) => {
  const hangs = new URL('data:text/javascript,setInterval(() => 0, 1e6);');
  const audio = new ReferenceAudio({ script: hangs });
  t.after(() => audio.close());
  const gone = new AbortController();
  const decode = () => audio.decode(new Uint8Array(1), 'ref_audio', gone.signal);
  const taken = Array.from({ length: 18 }, () => assert.rejects(decode(), { code: 'ABORTED' }));
  await assert.rejects(decode(), { code: 'QUEUE_FULL' });
  gone.abort();
  await Promise.all(taken);
});

test('closing ends what is being decoded', async () => {
  const hangs = new URL('data:text/javascript,for(;;);');
  const audio = new ReferenceAudio({ script: hangs });
  const decoding = assert.rejects(audio.decode(new Uint8Array(1), 'ref_audio', NEVER), { code: 'ABORTED' });
  await audio.close();
  await decoding;
  await assert.rejects(audio.decode(toneWav(), 'ref_audio', NEVER), { code: 'ABORTED' });
});

// Checks of a decoded sample.

function finished(samples: Float32Array): Float32Array {
  const sound = new ReferenceSound();
  sound.add([samples], RATE);
  return sound.finish();
}

const SILENT = { code: 'AUDIO_INVALID', message: /silent, or all but; 0\.5 s of sound/ };

test('sound above full scale keeps its form and becomes as loud as there is room for', () => {
  for (const amplitude of [1.5, 4, 32_768, 1e30]) {
    const samples = finished(tone(440, RATE, 2 * RATE, amplitude));
    const fit = fitTone(samples.subarray(RATE / 2, RATE), 440, RATE);
    assert.ok(Math.abs(fit.amplitude - 1) < 0.01, `${amplitude}: ${fit.amplitude}`);
    assert.ok(fit.snrDb > 80, `${amplitude}: ${fit.snrDb} dB`);
    assert.ok(samples.every((sample) => Math.abs(sample) <= 1));
  }
});

test('sound within full scale stays as loud as it is', () => {
  const samples = finished(tone(440, RATE, 2 * RATE, 0.25));
  assert.ok(Math.abs(fitTone(samples.subarray(RATE / 2, RATE), 440, RATE).amplitude - 0.25) < 1e-4);
});

test('one sample of a size that nothing is beside leaves silence', () => {
  const samples = tone(440, RATE, 2 * RATE);
  samples[RATE] = 1e30;
  assert.throws(() => finished(samples), SILENT);
});

test('a click, a constant voltage, a short word and the noise of an open input are no sample of a voice', () => {
  const click = new Float32Array(2 * RATE);
  click[RATE] = 1;
  const word = new Float32Array(2 * RATE);
  word.set(tone(440, RATE, 0.4 * RATE), RATE);
  const step = new Float32Array(2 * RATE).fill(0.5, RATE);
  const level = new Float32Array(2 * RATE).fill(0.5);
  for (const samples of [click, word, step, level, tone(440, RATE, 2 * RATE, 0.003)])
    assert.throws(() => finished(samples), SILENT);
});

test('half a second of sound among silence, and sound on a constant voltage, are enough', () => {
  const word = new Float32Array(2 * RATE);
  word.set(tone(440, RATE, 0.6 * RATE), RATE);
  assert.equal(finished(word).length, 2 * RATE);
  assert.equal(finished(tone(440, RATE, 2 * RATE, 0.01).map((sample) => sample + 0.5)).length, 2 * RATE);
});

/** A decoder like WebAssembly after a crash: no function of it can be called. */
class Crashed implements Decoder {
  readonly ready: Promise<void> = Promise.resolve();
  freed = 0;

  decode(): never {
    throw new Error('memory access out of bounds');
  }

  free(): never {
    this.freed++;
    throw new Error('table index is out of bounds');
  }
}

test('a decoder that crashed and cannot be freed says nothing of its own', async () => {
  const decoder = new Crashed();
  const reader = new CodedReader(decoder, 'flac', () => undefined);
  await assert.rejects(readAll(reader, new Uint8Array(10)), {
    code: 'AUDIO_INVALID',
    message: 'the FLAC file is damaged',
  });
  assert.equal(decoder.freed, 1);
});
