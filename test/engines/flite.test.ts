import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { FLITE_VOICES, FliteProgram, type Sound } from '../../src/engines/flite/flite-program.js';
import { asciiText, wordsOfPhones } from '../../src/engines/flite/flite-text.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import { type SpokenSegment, spokenText } from '../../src/speaking/spoken-text.js';
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

const CASES: readonly (readonly [string, string])[] = [
  ['plain ASCII stays: $3.50, 50%, a-b & c.', 'plain ASCII stays: $3.50, 50%, a-b & c.'],
  ['‘single’ “double” „low” «angle»', '\'single\' "double" "low" "angle"'],
  ['Zoë’s naïve façade', "Zoe's naive facade"],
  ['Straße, Łódź, Ærø, œuvre', 'Strasse, Lodz, Aero, oeuvre'],
  ['wait—no – never', 'wait, no, never'],
  ['and then…', 'and then...'],
  ['€5.50, £ 3 or ¥1,000', '5.50 euros, 3 pounds or 1,000 yen'],
  ['20 °C, ½ × 2', '20 degrees C, one half times 2'],
  ['ﬁne ² Ⅳ', 'fine 2 IV'],
  ['a\u00a0b\u200bc\td\n\ne\0f', 'a b c d e f'],
  ['hello 你好 😀 world', 'hello world'],
  ['你好', ''],
];

for (const [text, plain] of CASES) {
  test(`"${plain}" is what flite reads of ${JSON.stringify(text)}`, () => {
    assert.equal(asciiText(text), plain);
  });
}

// The tests below compare the times of words with those of flite for each word alone.

const VOICE = 'kal16';
const FRAME_MS = 20;
const CLEAR_MS = 40; // between a cut and the middle of a word
const TEXTS = [
  'The quick brown fox jumps over the lazy dog today.',
  'Good morning, and thank you for calling our office in Boston.',
  "I don't know whether she'll come, but we can ask her brother.",
  'One of us knew that the knight wrote a psalm about the whole island.',
  'Unfortunately, eight people laughed at the ghost through the night.',
  'We use unusual music in the university, although nobody listens.',
  'She sells sea shells, and he sells sharp scissors.',
  'To our knowledge, the answer is neither yes nor no.',
  'A big black bug bit a big black bear on his big black nose.',
  'Charge it to my credit card, please, and send me the receipt.',
  'Who would have guessed that queue and quay sound so different?',
  'The judge adjourned the meeting because the jury was late.',
  'He asked us six questions, and we answered them all.',
  'My favorite vegetables are asparagus, broccoli and zucchini.',
  'An honest hour of honor is worth more than gold.',
  'Few few crew chew through new blue shoes.',
  "It isn't easy being green, is it, said the frog to the pig.",
  'They ate eight apples, two pears, too, and went to bed.',
  'Every evening an owl hooted in the oak above our house.',
  'The yacht sailed around the cape, beyond the coral reef.',
  'Just say yes, or no, or maybe, and I will understand.',
  "My mother's old house burned down in October, didn't it?",
  'Ah, so you would rather have the other one, would you?',
  'I owe you an apology, and I owe her one as well.',
  'Enough is enough, although rough dough needs a thorough kneading.',
  'Is it I who am to go, or is it you?',
  'Psychology and physics are both taught on the second floor.',
  'A European union of unusual ideas usually yields useful results.',
  'Mexican food is spicy, while Swedish food is rather mild.',
  'How many eggs are in an ounce of egg yolk?',
  'Only a few of them ever saw the aurora over Iceland.',
  'Go away and do it again another day.',
  'The salmon, the calf and the lamb were shown at the fair.',
  'Yes, yes, the year is young, and you are too.',
  'Walk, talk, chalk and folk share a silent letter.',
  'You can reach us at extension four four one seven.',
  'Antarctica is icy and enormous, Asia is even more enormous.',
  'The bough of the tree fell through the roof, with a loud cough.',
  'An uncle of ours owns an orange orchard in Ohio.',
  'In an hour, or in two, the evening edition is issued.',
];

interface Spoken {
  readonly sound: Sound;
  /** Span of each word: from the start of its first phone to the end of its last. */
  readonly truth: readonly { readonly startMs: number; readonly endMs: number }[];
}

const spoken = new Map<string, Spoken>();

before(async () => {
  const flite = await FliteProgram.load();
  for (const text of TEXTS) {
    const sound = flite.speak(text, VOICE);
    // flite pauses after a comma, so that each word's phones stand alone.
    const alone = flite.speak(`${wordsIn(text).join(', ')}.`, VOICE);
    const counts = alone.phones
      .map(({ name }) => (name === 'pau' ? ' ' : 'x'))
      .join('')
      .trim()
      .split(/ +/);
    spoken.set(text, { sound, truth: placed(sound, counts) });
  }
});

function wordsIn(text: string): string[] {
  return text.match(/[a-z']+/gi) ?? [];
}

function placed({ phones }: Sound, counts: readonly string[]): Spoken['truth'] {
  const sounding = phones
    .map(({ name, endMs }, index) => ({ name, endMs, startMs: phones[index - 1]?.endMs ?? 0 }))
    .filter(({ name }) => name !== 'pau');
  assert.equal(counts.join('').length, sounding.length);
  let at = 0;
  return counts.map(({ length }) => {
    const startMs = sounding[at]?.startMs ?? 0;
    at += length;
    return { startMs, endMs: sounding[at - 1]?.endMs ?? 0 };
  });
}

test('every word of 40 texts begins and ends with its own phones', () => {
  for (const [text, { sound, truth }] of spoken) {
    const words = wordsOfPhones(text, sound.phones);
    assert.deepEqual(
      words.map(({ word, startMs, endMs }) => ({ word, startMs, endMs })),
      wordsIn(text).map((word, index) => ({ word, ...truth[index] })),
    );
    for (const { word, textOffset } of words)
      assert.equal(text.slice(textOffset, textOffset + word.length), word);
  }
});

test('an interruption at any place of 40 texts tells exactly the words whose half was sent', () => {
  let cuts = 0;
  for (const [text, { sound, truth }] of spoken) {
    const soundMs = (sound.samples.length * 1000) / sound.rate;
    const frames = Math.ceil(soundMs / FRAME_MS);
    const words = wordsOfPhones(text, sound.phones);
    const segment: SpokenSegment = {
      text,
      firstFrame: 0,
      frames,
      soundMs,
      madeMs: soundMs,
      trimmedStartMs: 0,
      words,
      pauses: [],
    };
    const middles = truth.map(({ startMs, endMs }) => (startMs + endMs) / 2);
    for (let sent = 1; sent < frames; sent++) {
      const sentMs = sent * FRAME_MS;
      if (middles.some((middle) => Math.abs(middle - sentMs) < CLEAR_MS)) continue;
      const heard = middles.filter((middle) => middle <= sentMs).length;
      assert.equal(wordsIn(spokenText([segment], sent, FRAME_MS)).length, heard, `${text} at ${sentMs} ms`);
      cuts++;
    }
  }
  assert.ok(cuts > 1500, `${cuts} places`);
});

test('numbers, symbols and capitals are as long as what is said for them', async () => {
  const flite = await FliteProgram.load();
  const text = 'It costs $42.50 or €100, at 10:30 on the 4th of July, says the BBC.';
  const { phones } = flite.speak(
    'It costs $42.50 or 100 euros, at 10:30 on the 4th of July, says the BBC.',
    VOICE,
  );
  const sounds = wordsOfPhones(text, phones).map(({ word, startMs, endMs = 0 }) => {
    const own = phones.filter((phone) => phone.endMs > startMs && phone.endMs <= endMs);
    return [word, own.map(({ name }) => name).join(' ')];
  });
  assert.deepEqual(Object.fromEntries(sounds), {
    It: 'ih t',
    costs: 'k aa s t s',
    '$42.50': 'f ao r t iy t uw d aa l er z f ih f t iy s eh n t s',
    or: 'ao r',
    '€100': 'w ah n hh ah n d r ax d y uw r ow z',
    at: 'ae t',
    '10:30': 't eh n th er d iy',
    on: 'aa n',
    the: 'dh ax',
    '4th': 'f ao r th',
    of: 'ah v',
    July: 'jh uw l ay',
    says: 's eh z',
    BBC: 'b iy b iy s iy',
  });
});

test('what says nothing has no time', () => {
  assert.deepEqual(wordsOfPhones('', []), []);
  assert.deepEqual(wordsOfPhones('你好', [{ name: 'pau', endMs: 100 }]), []);
});
