import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import { FLITE_VOICES } from '../../src/engines/flite/flite-program.js';
import { readAll, rms, type Taken } from './read-ring.js';

const SENTENCE = 'The quick brown fox jumps over the lazy dog today.'; // ten words

const engine = fliteEngine({ maxWaiting: 64, renderTimeoutMs: 20_000 });
before(() => engine.load());
after(() => engine.close());

function say(text: string, voice = 'slt', signal = new AbortController().signal) {
  const rate = engine.sampleRate(voice);
  const ring = PcmRing.open(rate, rate / 4);
  const end = engine.synthesize({ text, voice, language: 'en' }, ring, signal);
  end.catch(() => undefined);
  return { ring, end, taken: readAll(ring).finally(() => ring.close()) };
}

function sameSound(a: Taken, b: Taken | undefined): boolean {
  return Buffer.from(a.samples.buffer).equals(Buffer.from(b?.samples.buffer ?? new ArrayBuffer(0)));
}

for (const { name, rate } of FLITE_VOICES) {
  test(`the voice ${name} says ten words at ${rate} Hz, as loud as the others`, async () => {
    const { end, taken } = say(SENTENCE, name);
    const { samples } = await taken;
    const { timing, words, ...sound } = await end;
    assert.deepEqual(sound, { samples: samples.length });
    assert.equal(words.map(({ word }) => word).join(' '), SENTENCE.slice(0, -1));
    assert.ok((timing?.inferMs ?? 0) > 0);
    const seconds = samples.length / rate;
    assert.ok(seconds > 2.5 && seconds < 4.5, `${seconds} s`);
    assert.ok(rms(samples) > 0.08 && rms(samples) < 0.1, `a level of ${rms(samples)}`);
    assert.ok(samples.every((sample) => Math.abs(sample) <= 1));
    const clipped = samples.filter((sample) => Math.abs(sample) === 1).length;
    assert.equal(clipped, 0);
  });
}

test('many requests are spoken in order, each whole and always the same', async () => {
  const begun: number[] = [];
  const sentences = Array.from({ length: 12 }, (_, n) => {
    const one = say(n % 2 === 0 ? 'Even.' : 'This one is odd.', 'kal16');
    one.ring.onReadable(() => begun.push(n));
    return one;
  });
  const sounds = await Promise.all(sentences.map(({ taken }) => taken));
  assert.deepEqual(begun, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assert.notEqual(sounds[0]?.samples.length, sounds[1]?.samples.length);
  for (const [n, sound] of sounds.entries()) assert.ok(sameSound(sound, sounds[n % 2]), `sentence ${n}`);
});

test('an abort in the middle of a sentence stops its sound, and the next one is whole', async () => {
  const controller = new AbortController();
  const { ring, end, taken } = say(SENTENCE, 'slt', controller.signal);
  await ring.readable();
  controller.abort();
  await assert.rejects(end, { code: 'ABORTED' });
  assert.notEqual((await taken).end, '');
  assert.equal((await say('Even.', 'kal16').taken).end, '');
});

test('typographic and accented text is spoken as its plain form', async () => {
  const plain = await say('"Cafe", he said - it\'s 5 euros...', 'kal16').taken;
  assert.ok(sameSound(await say('“Café”, he said - it’s €5…', 'kal16').taken, plain));
});

test('text without anything to say is an empty sound', async () => {
  for (const text of ['…', '!!', '你好', '\0']) {
    const { end, taken } = say(text);
    assert.equal((await end).samples, 0);
    assert.deepEqual(await taken, { samples: new Float32Array(0), end: '' });
  }
});

test('text that looks like an option of the program is only text', async () => {
  assert.ok((await say('-voice kal -o /x', 'kal16').taken).samples.length > 8000);
});

test('a voice that is not there is named', () => {
  assert.throws(() => engine.sampleRate('nobody'), { code: 'VOICE_UNKNOWN', message: /"nobody"/ });
});
