import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import type { SpeechEngine } from '../../src/engines/engine.js';
import { readableText, withEnds, wordTimes } from '../../src/engines/espeak/espeak-text.js';
import { ESPEAK_VOICES } from '../../src/engines/espeak/espeak-voices.js';
import {
  ESPEAK_LANGUAGES,
  ESPEAK_PACKAGE,
  espeakEngine,
  type EspeakOptions,
  installedPackage,
} from '../../src/engines/espeak/espeak.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { readAll, rms } from './read-ring.js';

const ODD_CHILD = fileURLToPath(new URL('./odd-child.js', import.meta.url));
const packageFile = installedPackage(ESPEAK_PACKAGE) ?? '';

type Setup = Partial<EspeakOptions>;

function openEngine(t: TestContext, { renderTimeoutMs = 20_000, ...setup }: Setup = {}): SpeechEngine {
  const engine = espeakEngine({ maxWaiting: 16, renderTimeoutMs, packageFile, ...setup });
  t.after(() => engine.close());
  return engine;
}

function say(engine: SpeechEngine, text: string, voice = 'espeak-fr', language = 'fr') {
  const rate = engine.sampleRate(voice);
  const ring = PcmRing.open(rate, rate / 4);
  const end = engine.synthesize({ text, voice, language }, ring, new AbortController().signal);
  end.catch(() => undefined);
  return { end, taken: readAll(ring).finally(() => ring.close()) };
}

/** Processes whose parent is this one. */
function children(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
        return Number(parent) === process.pid;
      } catch {
        return false; // it ended meanwhile
      }
    })
    .map(Number);
}

test('French is spoken, with the time of each word', async (t) => {
  const engine = openEngine(t);
  const text = 'Bonjour 😀 le monde, ça va bien ?';
  const { end, taken } = say(engine, text);
  const { samples } = await taken;
  const { words, samples: count } = await end;
  assert.equal(count, samples.length);
  const seconds = samples.length / 22_050;
  assert.ok(seconds > 1.2 && seconds < 3.5, `${seconds} s`);
  assert.ok(rms(samples) > 0.04, `a level of ${rms(samples)}`);
  assert.deepEqual(
    words.map(({ word }) => word),
    ['Bonjour', 'le', 'monde', 'ça', 'va', 'bien'],
  );
  let before = -1;
  for (const { word, textOffset, startMs } of words) {
    assert.equal(text.slice(textOffset, textOffset + word.length), word);
    assert.ok(startMs > before && startMs < seconds * 1000, `${word} at ${startMs} ms`);
    before = startMs;
  }
});

test('a pause between two words is no part of either', async (t) => {
  const engine = openEngine(t);
  const { end, taken } = say(engine, 'Bonjour le monde, ça va bien, et toi ?');
  await taken;
  const { words } = await end;
  const pauses = words.map(
    ({ word, endMs = 0 }, index) => [word, (words[index + 1]?.startMs ?? endMs) - endMs] as const,
  );
  for (const [word, ms] of pauses) {
    if (word === 'monde' || word === 'bien') assert.ok(ms > 100 && ms < 300, `${ms} ms behind ${word}`);
    else assert.ok(ms < 20, `${ms} ms behind ${word}`);
  }
});

test('markup, entities and phonemes are text, not orders', async (t) => {
  const engine = openEngine(t);
  for (const text of ['un [[ deux ]] trois', 'un <b>deux</b> trois', '<speak>un deux &amp; trois']) {
    const { end, taken } = say(engine, text);
    await taken;
    const words = (await end).words.map(({ word }) => word);
    for (const word of ['un', 'deux', 'trois']) assert.ok(words.includes(word), `${word} of ${text}`);
  }
});

test('the voices listed are the voices of the package', async () => {
  interface Lister {
    list_voices(): { identifier: string }[];
  }
  type Load = () => Promise<{ eSpeakNGWorker: new () => Lister }>;
  const { default: load } = (await import(pathToFileURL(packageFile).href)) as { default: Load };
  const { eSpeakNGWorker } = await load();
  const theirs = new eSpeakNGWorker().list_voices().map(({ identifier }) => identifier);
  const ours = ESPEAK_VOICES.map(({ identifier }) => identifier);
  assert.deepEqual(ours.toSorted(), theirs.filter((identifier) => identifier !== 'art/xex').toSorted());
  assert.equal(new Set(ESPEAK_VOICES.map(({ name }) => name)).size, ours.length);
  for (const language of ['zh', 'en', 'ja', 'ko', 'de', 'fr', 'ru', 'pt', 'es', 'it']) {
    assert.ok(ESPEAK_LANGUAGES.includes(language), language);
    const first = ESPEAK_VOICES.filter(({ languages }) => languages.includes(language));
    assert.equal(first.length, 1, `${language} has one first choice`);
  }
});

test('a child that crashes fails its sentence and is replaced', async (t) => {
  const engine = openEngine(t, { childFile: ODD_CHILD });
  const before = (await say(engine, 'hello').taken).samples;
  assert.equal(before.length, 500);
  const crashed = say(engine, 'crash');
  assert.equal((await crashed.taken).end, 'ENGINE_FAILED');
  await assert.rejects(crashed.end, { code: 'ENGINE_FAILED', message: /its process ended \(3\)/ });
  const { samples } = await say(engine, 'hello').taken;
  assert.equal(samples.length, 500);
  assert.notEqual(samples[0], before[0]); // another process
});

test('a child that hangs is killed after the time a sentence may take, and replaced', async (t) => {
  const engine = openEngine(t, { childFile: ODD_CHILD, renderTimeoutMs: 300 });
  await engine.load();
  const hung = say(engine, 'hang');
  await assert.rejects(hung.end, { code: 'ENGINE_FAILED', message: /did not answer within 300 ms/ });
  assert.equal((await say(engine, 'hello').taken).samples.length, 500);
  assert.equal(children().length, 1);
});

test('an answer that belongs to nothing is a failure', async (t) => {
  const engine = openEngine(t, { childFile: ODD_CHILD });
  await assert.rejects(say(engine, 'nonsense').end, { code: 'ENGINE_FAILED', message: /nonsense/ });
});

test('an engine whose child cannot be started any more says so, until it can', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-espeak-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const childFile = join(folder, 'child.mjs');
  copyFileSync(ODD_CHILD, childFile);
  const time = new ManualTime();
  const engine = openEngine(t, { childFile, time });
  assert.equal((await say(engine, 'hello').taken).samples.length, 500);
  rmSync(childFile);
  await say(engine, 'crash').taken;
  assert.deepEqual([engine.usable, engine.loaded], [true, true], 'a sentence failed, and nothing else yet');
  await assert.rejects(say(engine, 'hello').end, { code: 'ENGINE_FAILED', message: /its process ended/ });
  await until(() => !engine.usable);
  await assert.rejects(say(engine, 'hello').end, { code: 'ENGINE_UNAVAILABLE' });
  copyFileSync(ODD_CHILD, childFile);
  time.advance(3000); // when it is tried again by itself
  await until(() => engine.loaded);
  assert.equal(engine.usable, true);
  assert.equal((await say(engine, 'hello').taken).samples.length, 500);
  assert.equal(children().length, 1);
});

test('no process is left after close, also of a child that hangs', async (t) => {
  const engine = openEngine(t, { childFile: ODD_CHILD });
  await engine.load();
  assert.equal(children().length, 1);
  const hung = say(engine, 'hang');
  await new Promise((resolve) => setImmediate(resolve)); // the sentence is on its way to the child
  await engine.close();
  await assert.rejects(hung.end, { code: 'ABORTED' });
  assert.deepEqual(children(), []);
});

test('a package that cannot be loaded is a failure of the engine', async (t) => {
  const engine = espeakEngine({ maxWaiting: 1, renderTimeoutMs: 1000, packageFile: '/nowhere/espeak.js' });
  t.after(() => engine.close());
  await assert.rejects(engine.load(), { code: 'ENGINE_FAILED', message: /its process ended \(1\)/ });
});

test('what espeak would obey is replaced by as many spaces', () => {
  for (const [text, readable] of [
    ['<b>5 < 6</b>', ' b 5   6 /b '],
    ['AT&T &amp; Co &#65; R&D', 'AT&T  amp; Co  #65; R&D'],
    ['[[h@]] [ok]', '  h@   [ok]'],
    ['ok 👍 fine\nnext', 'ok   fine next'],
    ['© 2026, 1 # 2 *', '© 2026, 1 # 2 *'],
  ] as const) {
    assert.equal(readableText(text), readable);
  }
});

function event(text_position: number, word_length: number, audio_position: number) {
  return { text_position, word_length, audio_position };
}

test('positions in code points become offsets in UTF-16', () => {
  assert.deepEqual(wordTimes('a 😀 bé c', [event(1, 1, 0), event(5, 2, 10), event(8, 1, 20)]), [
    { word: 'a', textOffset: 0, startMs: 0 },
    { word: 'bé', textOffset: 5, startMs: 10 },
    { word: 'c', textOffset: 8, startMs: 20 },
  ]);
});

test('a word ends with its last sample that is not silence, before the pause behind it', () => {
  const samples = new Int16Array(1000); // 1 s
  samples.fill(3000, 100, 300).fill(-3000, 500, 700).fill(90, 700, 1000);
  const words = [
    { word: 'a', textOffset: 0, startMs: 100 },
    { word: 'b', textOffset: 2, startMs: 480 },
    { word: 'c', textOffset: 4, startMs: 2000 },
  ];
  assert.deepEqual(
    withEnds(words, samples, 1000).map(({ endMs }) => endMs),
    [300, 700, 1000],
  );
});

test('a word that espeak reports several times counts once, at its first time', () => {
  const events = [
    event(1, 4, 0),
    event(1, 4, 30),
    event(3, 2, 40),
    event(5, 1, 50),
    event(6, 9, 60),
    event(40, 2, 70),
  ];
  assert.deepEqual(wordTimes('1999 bc', events), [
    { word: '1999', textOffset: 0, startMs: 0 },
    { word: 'bc', textOffset: 5, startMs: 60 },
  ]);
});
