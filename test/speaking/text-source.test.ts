// Texts that are read as sentences: in tokens, at once or in turns, each sentence with its language and
// voice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SpeechRouting } from '../../src/engines/routing.js';
import { ParleyError } from '../../src/errors.js';
import { isStatedLanguage, tagOfStated } from '../../src/speaking/language-plan.js';
import type { SpeechPiece } from '../../src/speaking/sentence-run.js';
import type { TextSettings } from '../../src/speaking/speech-request.js';
import { readingOf, readText } from '../../src/speaking/text-reading.js';
import {
  atOnce,
  inTurns,
  sentencesFrom,
  sentencesOf,
  SLICE,
  TextTurns,
  TokenStream,
  type Turn,
} from '../../src/speaking/text-source.js';
import { VoicePlan } from '../../src/speaking/voice-plan.js';
import { checkText, piecesOf, wholeText } from '../../src/speaking/whole-text.js';
import { Lexicon } from '../../src/text/lexicon.js';
import { SentenceStream } from '../../src/text/sentences.js';
import { openCalls } from '../fakes/call-under-test.js';
import { ScriptedEngine } from '../fakes/engines.js';
import { ManualTime } from '../fakes/manual-time.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';

const LIMITS = { maxTextLength: 40, textIdleMs: 1000 };

function open() {
  const tokens = new TokenSource();
  const time = new ManualTime();
  const controller = new AbortController();
  const pauses: number[] = [];
  const sentences = sentencesFrom(tokens, {
    limits: LIMITS,
    time,
    signal: controller.signal,
    onPause: () => void pauses.push(time.now()),
  });
  return { tokens, time, controller, sentences, pauses };
}

test('a whole text becomes its sentences', () => {
  assert.deepEqual(
    atOnce(sentencesOf('One is here. Two is there.', LIMITS)).map(({ text }) => text),
    ['One is here.', 'Two is there.'],
  );
});

test('a whole text over the limit is refused with the limit named', () => {
  assert.throws(() => atOnce(sentencesOf('x'.repeat(41), LIMITS)), {
    code: 'TEXT_TOO_LONG',
    message: /40 characters/,
  });
});

test('a text with nothing to speak is refused', () => {
  assert.throws(() => atOnce(sentencesOf(' … !!! 🙂 ', LIMITS)), { code: 'TEXT_EMPTY' });
});

test('a sentence comes as soon as its end is certain, before the text has ended', async () => {
  const { tokens, sentences } = open();
  tokens.push('One is he');
  tokens.push('re. T');
  const { value } = await sentences.next();
  assert.equal(value?.text, 'One is here.');
  tokens.push('wo.');
  tokens.end();
  assert.equal((await sentences.next()).value?.text, 'Two.');
  assert.equal((await sentences.next()).done, true);
});

test('a wait for the producer is reported as a pause, tokens that are there already are none', async () => {
  const { tokens, sentences, pauses, time } = open();
  tokens.push('One is here. ');
  tokens.push('Two is');
  await sentences.next();
  assert.deepEqual(pauses, []);
  const next = sentences.next();
  await new Promise((resolve) => setImmediate(resolve));
  time.advance(500);
  assert.deepEqual(pauses, [0]);
  tokens.push(' there. And');
  assert.equal((await next).value?.text, 'Two is there.');
});

test('tokens over the limit fail the text', async () => {
  const { tokens, sentences } = open();
  tokens.push('a'.repeat(30));
  tokens.push('b'.repeat(11));
  await assert.rejects(sentences.next(), { code: 'TEXT_TOO_LONG' });
  assert.equal(tokens.returned, true);
});

test('a producer that falls silent fails the text after the idle time, and no timer is left', async () => {
  const { tokens, time, sentences } = open();
  tokens.push('One is here. An');
  await sentences.next();
  const next = assert.rejects(sentences.next(), { code: 'TIMEOUT', message: /1000 ms/ });
  await Promise.resolve();
  time.advance(1000);
  await next;
  assert.equal(time.waiting, 0);
});

test('an abort ends the wait for the next token at once', async () => {
  const { time, controller, sentences, tokens } = open();
  const next = assert.rejects(sentences.next(), { code: 'ABORTED' });
  await Promise.resolve();
  controller.abort();
  await next;
  assert.equal(time.waiting, 0);
  assert.equal(tokens.returned, true);
});

test('tokens without a letter or digit fail as empty when they end', async () => {
  const { tokens, sentences } = open();
  tokens.push('...');
  tokens.end();
  await assert.rejects(sentences.next(), { code: 'TEXT_EMPTY' });
});

// Long texts and the main thread: these tests measure how long other work waits for them.

const LONG_LIMITS = { maxTextLength: 4096, textIdleMs: 1000 };
const WORST = '0-'.repeat(2000);
const TEXTS = [
  WORST,
  'Your order 4711 of $3.50 has shipped. It comes at 10:30, Dr. Smith says! Wirklich? Ja, am 3. Mai. '.repeat(
    40,
  ),
  '😀 안녕하세요. こんにちは。'.repeat(150),
];
const ENGINE = new ScriptedEngine();
const ROUTING: SpeechRouting = {
  resolve: ({ voice = 'any', language = 'en' }) => {
    if (voice === 'nobody') throw new ParleyError('VOICE_UNKNOWN', 'there is no voice "nobody"');
    return { engine: ENGINE, voice, language };
  },
  voices: () => Promise.resolve([]),
};
const calls = openCalls();
const NOW: Turn = () => Promise.resolve();

function longText(text: string, settings: TextSettings, turn: Turn): Promise<SpeechPiece[]> {
  return inTurns(piecesOf(text, settings, ROUTING, LONG_LIMITS), turn);
}

function refused(code: string) {
  return (error: unknown) => error instanceof ParleyError && error.code === code;
}

test('a text that is read in turns has the pieces that it has at once', async () => {
  const markup = `<speak>${'One $3.50. <break time="1s"/> Two. <mark name="m"/> '.repeat(40)}</speak>`;
  for (const text of [...TEXTS, markup]) {
    const settings = { markup: text === markup };
    const pieces = await longText(text, settings, NOW);
    assert.ok(pieces.length > 1);
    assert.equal(JSON.stringify(pieces), JSON.stringify(wholeText(text, settings, ROUTING, LONG_LIMITS)));
    const read = await inTurns(readingOf({ text }, LONG_LIMITS), NOW);
    assert.equal(JSON.stringify(read), JSON.stringify(readText({ text }, LONG_LIMITS)));
  }
});

test('what is wrong with a text is refused in turns as it is at once', async () => {
  const cases = [
    ['a'.repeat(4097), {}],
    ['-'.repeat(4000), {}],
    [`<speak>${'One. '.repeat(200)}<break time="soon"/>`, { markup: true }],
    [`<speak>${'One. '.repeat(200)}<voice name="nobody">Two.</voice></speak>`, { markup: true }],
  ] as const;
  for (const [text, settings] of cases) {
    let thrown: unknown;
    try {
      wholeText(text, settings, ROUTING, LONG_LIMITS);
    } catch (error) {
      thrown = error;
    }
    assert.ok(thrown instanceof ParleyError);
    const { code, message } = thrown;
    await assert.rejects(longText(text, settings, NOW), { code, message });
  }
});

test('between two slices of twenty long texts the event loop goes round', async () => {
  const turns = new TextTurns();
  let rounds = 0;
  let isOver = false;
  const look = () => {
    rounds++;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  let slices = 0;
  const counted = (turn: Turn) => longText(WORST, {}, () => (slices++, turn()));
  await Promise.all(Array.from({ length: 20 }, () => turns.read('client', WORST.length, counted)));
  isOver = true;
  assert.ok(slices >= 20 * 20, `${slices} slices`);
  assert.ok(rounds >= slices, `${rounds} rounds of ${slices} slices`);
});

test('a client may have so many characters in work, another one its own, and one text is always taken', async () => {
  const turns = new TextTurns(1000);
  let finish: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (finish = resolve));
  const first = turns.read('a', 800, () => held);
  await assert.rejects(
    turns.read('a', 300, () => held),
    refused('QUEUE_FULL'),
  );
  const others = [turns.read('a', 200, () => held), turns.read('b', 5000, () => held)];
  finish();
  await Promise.all([first, ...others]);
  assert.equal(await turns.read('a', 1000, () => Promise.resolve('read')), 'read');
  await assert.rejects(
    turns.read('a', 1000, () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(
    await turns.read('a', 1000, () => Promise.resolve('read')),
    'read',
    'what failed counts no more',
  );
});

test('a text that is given up is read no further', async () => {
  const turns = new TextTurns();
  const controller = new AbortController();
  let slices = 0;
  const reading = turns.read(
    'client',
    WORST.length,
    (turn) => longText(WORST, {}, () => (slices++, turn())),
    controller.signal,
  );
  controller.abort();
  await assert.rejects(reading, refused('ABORTED'));
  assert.equal(slices, 1);
});

test('a long text of a call is read in turns, and refused at once where that is possible', async () => {
  const { call, engine } = calls.open();
  const long = 'One is here. '.repeat(60);
  const first = call.speak(long);
  const second = call.speak('Two is there.');
  assert.deepEqual(engine.begun, []);
  assert.throws(() => call.speak('x'.repeat(5000)), refused('TEXT_TOO_LONG'));
  assert.throws(() => call.speak('-'.repeat(1000)), refused('TEXT_EMPTY'));
  const reader = { routing: ROUTING, limits: LONG_LIMITS };
  assert.throws(() => checkText(long, { voice: 'nobody' }, reader), refused('VOICE_UNKNOWN'));
  await until(() => engine.begun.includes('One is here.'));
  assert.deepEqual([first.state, second.state], ['waiting', 'waiting']);
  call.interrupt('enough');
  await Promise.all([first.ended, second.ended]);
});

test('a long token is read in slices, with a round of the event loop between two of them', async () => {
  const time = new ManualTime(0);
  const { signal } = new AbortController();
  let rounds = 0;
  let isOver = false;
  const look = () => {
    rounds++;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const one = async function* () {
    yield WORST;
  };
  const sentences: string[] = [];
  const options = { limits: LONG_LIMITS, time, signal, onPause: () => undefined };
  for await (const { text } of sentencesFrom(one(), options)) sentences.push(text);
  isOver = true;
  assert.ok(rounds >= WORST.length / SLICE - 1, `${rounds} rounds`);
  const stream = new SentenceStream();
  const whole = [...stream.push(WORST), ...stream.end()];
  assert.deepEqual(
    sentences,
    whole.map(({ text }) => text),
  );
  assert.deepEqual(atOnce(sentencesOf(WORST, LONG_LIMITS)), whole);
});

async function allOf(tokens: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const token of tokens) all.push(token);
  return all;
}

test('what waits is read in one piece, what comes later as it comes', async () => {
  const tokens = new TokenStream();
  tokens.push('One ');
  tokens.push('two ');
  const iterator = tokens[Symbol.asyncIterator]();
  assert.equal((await iterator.next()).value, 'One two ');
  const next = iterator.next();
  tokens.push('three');
  assert.equal((await next).value, 'three');
  tokens.end();
  tokens.push('too late');
  assert.equal((await iterator.next()).done, true);
});

test('a text that is refused drops what was not read of it', async () => {
  const tokens = new TokenStream();
  tokens.push('One');
  tokens.fail(new Error('refused'));
  await assert.rejects(allOf(tokens), /refused/);
});

/** Answers with the language it was asked for; `xx` where none was. Speaks all but Italian. */
const routing: SpeechRouting = {
  resolve: ({ voice = 'any', language = 'xx' }) => {
    if (language === 'it') throw new ParleyError('LANGUAGE_UNAVAILABLE', 'no Italian here');
    return { engine: new ScriptedEngine(), voice, language };
  },
  voices: () => Promise.resolve([]),
};

function languages(texts: readonly string[], language?: string): string[] {
  const plan = new VoicePlan(routing, language === undefined ? {} : { language });
  return atOnce(plan.whole(texts.map((text) => ({ text })))).map(({ voice }) => voice.language);
}

test('a sentence without proof is spoken in the language that leads clearly, if a voice speaks it', () => {
  assert.deepEqual(languages(['Le vol a du retard.']), ['fr']);
  assert.deepEqual(languages(['Scelga un nuovo codice.']), ['xx']); // nobody here speaks Italian
  assert.deepEqual(languages(['Das weiß ich leider nicht.', 'Le vol a du retard.']), ['de', 'de']);
  assert.deepEqual(languages(['x = 5, y = 3', '12, 15, 18, 21']), ['xx', 'xx']);
});

test('English takes the default voice', () => {
  assert.deepEqual(languages(['How can I help you today?', 'Yes.']), ['xx', 'xx']);
});

test('a language that was stated wins over every guess', () => {
  assert.deepEqual(languages(['Bonjour tout le monde, comment allez-vous ?'], 'de'), ['de']);
});

test('a sentence that is clearly foreign is spoken by its own language, and unclear ones follow it', () => {
  assert.deepEqual(languages(['Votre commande est partie ce matin, elle arrive mardi.', 'Oui.', 'Paris.']), [
    'fr',
    'fr',
    'fr',
  ]);
});

test('an unclear beginning of a text is part of what follows it', () => {
  assert.deepEqual(languages(['OK.', 'Berlin.', 'Ich habe das gefunden und schicke es Ihnen.']), [
    'de',
    'de',
    'de',
  ]);
  assert.deepEqual(
    languages(['OK.', 'I found it and will send it over.', 'Ich schicke es Ihnen heute noch.']),
    ['xx', 'xx', 'de'],
  );
});

test('a whole sentence of English comes back to the default voice', () => {
  assert.deepEqual(
    languages([
      'Votre commande est partie ce matin, elle arrive mardi.',
      'Is there anything else I can do for you?',
    ]),
    ['fr', 'xx'],
  );
});

test('a courtesy alone is spoken by its own language, one before English is part of it', () => {
  assert.deepEqual(languages(['Merci beaucoup.']), ['fr']);
  assert.deepEqual(languages(['Hola!', 'How can I help you today?']), ['xx', 'xx']);
});

test('a clearly foreign sentence that nobody speaks refuses the whole text', () => {
  assert.throws(() => languages(['One moment.', 'Il suo ordine è partito questa mattina.']), {
    code: 'LANGUAGE_UNAVAILABLE',
  });
});

test('sentences that arrive are judged as they come', async () => {
  const plan = new VoicePlan(routing, {});
  async function* arriving() {
    yield { text: 'Hola!', isOnly: false };
    yield { text: 'Votre commande est partie ce matin, elle arrive mardi.', isOnly: false };
  }
  const heard: string[] = [];
  for await (const { voice } of plan.arriving(arriving())) heard.push(voice.language);
  assert.deepEqual(heard, ['xx', 'fr']);
});

test('a sentence has the words of the region that is stated, from a voice of its language', () => {
  const portuguese: SpeechRouting = {
    voices: () => Promise.resolve([]),
    resolve: () => ({ engine: new ScriptedEngine(), voice: 'a', language: 'pt' }),
  };
  const words = (text: string, language?: string) =>
    wholeText(text, language === undefined ? {} : { language }, portuguese, LIMITS).map((piece) =>
      'text' in piece ? piece.spoken?.text : undefined,
    );
  assert.deepEqual(words('São 16.', 'pt-PT'), ['São dezasseis.']);
  assert.deepEqual(words('São 16.', 'pt_br'), ['São dezesseis.']);
  assert.deepEqual(words('São 16.'), ['São dezesseis.']);
});

test('the rest of a sentence is spoken by the voice of its first clause, and read as the whole sentence', async () => {
  const plan = new VoicePlan(routing, {});
  async function* arriving() {
    const text = 'Si vous voulez changer votre commande, ';
    yield { text: text.trim(), isOnly: false };
    yield { text: 'see you on the 5th of May.', isOnly: false, continues: true, beginning: text };
    yield { text: 'Il suo ordine.', isOnly: false };
  }
  const heard: unknown[] = [];
  for await (const { voice, continues } of plan.arriving(arriving())) heard.push([voice.language, continues]);
  assert.deepEqual(heard, [
    ['fr', undefined],
    ['fr', true],
    ['fr', undefined],
  ]);
});

test('a language is stated by its tag, its English name, or as what the text turns out to be', () => {
  for (const [stated, tag] of [
    ['en', 'en'],
    ['pt-BR', 'pt-BR'],
    ['zh_CN', 'zh_CN'],
    ['English', 'en'],
    ['chinese', 'zh'],
    ['Hebrew', 'he'],
    ['Auto', undefined],
    ['auto', undefined],
    ['Klingonish', 'Klingonish'],
    [' en ', 'en'],
    ['\tFrench\n', 'fr'],
    ['GERMAN', 'de'],
    ['deu', 'de'],
    ['ger', 'de'],
    ['ENG', 'en'],
    ['zho', 'zh'],
    ['deu_AT', 'de-AT'],
    ['yue', 'yue'],
    ['Haitian Creole', 'ht'],
    ['norwegian_bokmål', 'nb'],
    ['Brazilian Portuguese', 'pt-BR'],
    ['Mandarin', 'zh'],
  ] as const) {
    assert.equal(isStatedLanguage(stated), true, stated);
    assert.equal(tagOfStated(stated), tag, stated);
  }
  for (const stated of ['', 'e', 'en US', '../..', `en${'-abcdefgh'.repeat(4)}`, 'x'.repeat(21)]) {
    assert.equal(isStatedLanguage(stated), false, stated);
  }
});

test('speech does not begin with a clause that ends within a word of a lexicon', () => {
  const lexicon = new Lexicon([{ word: 'Baker, Young', say: 'B and Y' }]);
  const plan = new VoicePlan(routing, { language: 'en', lexicon });
  assert.equal(plan.mayBegin('Please send it to the house of Baker,', ' Young and their friends'), false);
  assert.equal(plan.mayBegin('Please send it to the house of Baker,', ' which is near the river'), true);
});
