import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { type EngineSetup, enginesOf } from '../../src/engines/engine-setup.js';
import type { VoiceReference } from '../../src/engines/engine.js';
import { ESPEAK_PACKAGE } from '../../src/engines/espeak/espeak.js';
import { type CustomVoice, Engines, type VoiceRequest } from '../../src/engines/routing.js';
import { OPENAI_VOICES, QWEN_VOICES } from '../../src/engines/voice-names.js';
import { ParleyError } from '../../src/errors.js';
import type { PlannedLanguage } from '../../src/speaking/language-plan.js';
import { warmUpTexts } from '../../src/speaking/prepared-speech.js';
import { spokenLanguage } from '../../src/speaking/sentence-reader.js';
import { InstantEngine, type InstantEngineOptions } from '../fakes/engines.js';

const ABSENT = () => undefined;
const PRESENT = () => '/packages/espeak-ng.js';
const PULL = 'fetch a model with: npm run parley -- pull pocket-';
const INSTALL = `install the optional package ${ESPEAK_PACKAGE}`;

async function openEngines(
  t: TestContext,
  { defaultVoice, ...setup }: Partial<EngineSetup> & { defaultVoice?: string },
): Promise<Engines> {
  const engines = await enginesOf({
    engine: 'auto',
    maxWaiting: 8,
    renderTimeoutMs: 1000,
    espeak: true,
    resolvePackage: PRESENT,
    ...setup,
  });
  t.after(() => engines.close());
  if (defaultVoice !== undefined) engines.useDefault(defaultVoice);
  return engines;
}

/** `engine voice language`, or the code and message of the refusal. */
function choose(engines: Engines, request: VoiceRequest): string {
  try {
    const { engine, voice, language } = engines.resolve(request);
    return `${engine.name} ${voice} ${language}`;
  } catch (error) {
    if (error instanceof ParleyError) return `${error.code} ${error.field} ${error.message}`;
    throw error;
  }
}

function expectChoices(engines: Engines, choices: readonly (readonly [VoiceRequest, string])[]): void {
  for (const [request, choice] of choices)
    assert.equal(choose(engines, request), choice, JSON.stringify(request));
}

test('auto speaks English with flite and the rest with espeak', async (t) => {
  const engines = await openEngines(t, {});
  expectChoices(engines, [
    [{}, 'flite slt en'],
    [{ language: 'en' }, 'flite slt en'],
    [{ language: 'en-GB' }, 'flite awb en'],
    [{ language: 'en_au' }, 'flite slt en'],
    [{ language: 'fr' }, 'espeak espeak-fr fr'],
    [{ language: 'fr-ch' }, 'espeak espeak-fr-ch fr'],
    [{ language: 'FR-CA' }, 'espeak espeak-fr fr'],
    [{ language: 'zh-CN' }, 'espeak espeak-cmn zh'],
    [{ voice: 'rms' }, 'flite rms en'],
    [{ voice: ' RMS ', language: 'en-GB' }, 'flite rms en'],
    [{ voice: 'espeak-de' }, 'espeak espeak-de de'],
    [{ voice: 'espeak-en-us', language: 'en' }, 'espeak espeak-en-us en'],
    [
      { voice: 'slt', language: 'fr' },
      'LANGUAGE_UNAVAILABLE language the voice slt speaks English, not French; voices that do: espeak-fr, espeak-fr-be, espeak-fr-ch',
    ],
    [
      { language: 'tlh-x' },
      'LANGUAGE_UNAVAILABLE language no engine of this server speaks "tlh-x": flite speaks English only, espeak speaks 119 others',
    ],
  ]);
  assert.deepEqual(new Set(engines.missing.map(({ name }) => name)), new Set(['pocket']));
});

test('without its package espeak is named as what is missing', async (t) => {
  const engines = await openEngines(t, { resolvePackage: ABSENT });
  expectChoices(engines, [
    [{}, 'flite slt en'],
    [
      { language: 'fr-FR' },
      `LANGUAGE_UNAVAILABLE language no engine of this server speaks French: flite speaks English only; the engine espeak would: ${INSTALL}; the engine pocket would: ${PULL}fr`,
    ],
    [
      { voice: 'alloy', language: 'ja' },
      `LANGUAGE_UNAVAILABLE language no engine of this server speaks Japanese: flite speaks English only; the engine espeak would: ${INSTALL}`,
    ],
    [
      { language: 'xx' },
      'LANGUAGE_UNAVAILABLE language no engine of this server speaks "xx": flite speaks English only',
    ],
  ]);
  const [missing] = engines.missing;
  assert.deepEqual([missing?.name, missing?.remedy], ['espeak', INSTALL]);
});

test('espeak is used only where ESPEAK=1 says so, whether its package is there or not', async (t) => {
  const engines = await openEngines(t, { espeak: false });
  expectChoices(engines, [
    [{}, 'flite slt en'],
    [
      { language: 'fr' },
      `LANGUAGE_UNAVAILABLE language no engine of this server speaks French: flite speaks English only; the engine espeak would: set ESPEAK=1; the engine pocket would: ${PULL}fr`,
    ],
  ]);
  assert.deepEqual(engines.health(), { espeak: false, flite: true, pocket: false });
  const bare = await openEngines(t, { espeak: false, resolvePackage: ABSENT });
  assert.equal(bare.missing[0]?.remedy, `set ESPEAK=1 and ${INSTALL}`);
  const named = openEngines(t, { engine: 'espeak', espeak: false });
  await assert.rejects(named, { message: 'ENGINE=espeak lacks its engine: set ESPEAK=1' });
});

test('the language of words is that of the voice, also if the text may show another', async (t) => {
  const engines = await openEngines(t, { defaultVoice: 'espeak-fr' });
  const languages = (planned?: PlannedLanguage) =>
    [undefined, 'slt', 'espeak-de', 'alloy', 'nobody'].map((voice) =>
      spokenLanguage(planned, voice, engines),
    );
  assert.deepEqual(languages(), ['fr', 'en', 'de', 'en', 'en']);
  assert.deepEqual(languages({ tag: 'es', isSure: false }), ['es', 'en', 'de', 'es', 'es']);
  assert.deepEqual(languages({ tag: 'en', isSure: true }), ['en', 'en', 'en', 'en', 'en']);
});

test('a server that speaks English only says what other languages need', async (t) => {
  const engines = await openEngines(t, { espeak: false });
  assert.equal(
    engines.languageNotice,
    `this server speaks English only; other languages need espeak (set ESPEAK=1), or pocket (${PULL}de), or a checkpoint (set MODEL_DIR)`,
  );
  assert.equal((await openEngines(t, {})).languageNotice, undefined);
});

test('an engine that is switched off is said to be so', async (t) => {
  const flite = await openEngines(t, { engine: 'flite' });
  assert.match(
    choose(flite, { language: 'de' }),
    /the engine espeak would: set ENGINE=auto; the engine pocket would: set ENGINE=auto and fetch/,
  );
  const bare = await openEngines(t, { engine: 'flite', resolvePackage: ABSENT });
  assert.match(choose(bare, { language: 'de' }), /the engine espeak would: set ENGINE=auto and install the/);
});

test('espeak alone speaks English too, and cannot be had without its package', async (t) => {
  const engines = await openEngines(t, { engine: 'espeak' });
  expectChoices(engines, [
    [{}, 'espeak espeak-en-us en'],
    [{ language: 'en-GB' }, 'espeak espeak-en en'],
    [{ voice: 'nova' }, 'espeak espeak-en-us en'],
    [{ voice: 'nova', language: 'it' }, 'espeak espeak-it it'],
  ]);
  await assert.rejects(openEngines(t, { engine: 'espeak', resolvePackage: ABSENT }), {
    code: 'ENGINE_UNAVAILABLE',
    message: `ENGINE=espeak lacks its engine: ${INSTALL}`,
  });
});

test('every name of a voice of OpenAI is met', async (t) => {
  const engines = await openEngines(t, { resolvePackage: ABSENT });
  const names = [
    'alloy',
    'ash',
    'ballad',
    'coral',
    'echo',
    'fable',
    'onyx',
    'nova',
    'sage',
    'shimmer',
    'verse',
  ];
  for (const voice of [...names, 'marin', 'cedar', 'Alloy']) {
    assert.equal(choose(engines, { voice }), `flite ${OPENAI_VOICES[voice.toLowerCase()]} en`);
  }
});

test('every speaker of a CustomVoice checkpoint is met without one, in every language that is spoken', async (t) => {
  const names = ['vivian', 'serena', 'uncle_fu', 'dylan', 'eric', 'ryan', 'aiden', 'ono_anna', 'sohee'];
  const english = await openEngines(t, { resolvePackage: ABSENT });
  for (const voice of [...names, ' Vivian ', 'Uncle_Fu']) {
    const standIn = QWEN_VOICES[voice.trim().toLowerCase()];
    assert.equal(choose(english, { voice }), `flite ${standIn} en`);
    assert.equal(english.resolve({ voice }).standsIn, true);
  }
  assert.equal(english.resolve({ voice: 'slt' }).standsIn, undefined);
  const all = await openEngines(t, {});
  for (const voice of names) assert.equal(choose(all, { voice, language: 'it' }), 'espeak espeak-it it');
  const first = await openEngines(t, { defaultVoice: 'vivian' });
  assert.equal(choose(first, {}), 'flite slt en');
});

test('a word that every object of JavaScript has is no voice', async (t) => {
  const engines = await openEngines(t, {});
  for (const voice of ['constructor', 'toString', '__proto__']) {
    assert.match(choose(engines, { voice }), /^VOICE_UNKNOWN/);
  }
});

test('an unknown voice is refused with the nearest names', async (t) => {
  const engines = await openEngines(t, {});
  assert.equal(
    choose(engines, { voice: 'espeak_fr' }),
    'VOICE_UNKNOWN voice there is no voice "espeak_fr"; the nearest are espeak-fr, espeak-ar, espeak-fa',
  );
  assert.match(choose(engines, { voice: 'x'.repeat(100_000) }), /^VOICE_UNKNOWN/);
});

test('the default voice is the configured one, and speaks wherever it can', async (t) => {
  const engines = await openEngines(t, { defaultVoice: 'espeak-en-gb-x-rp' });
  expectChoices(engines, [
    [{}, 'espeak espeak-en-gb-x-rp en'],
    [{ language: 'en' }, 'espeak espeak-en-us en'],
    [{ language: 'en-NZ' }, 'espeak espeak-en-gb-x-rp en'],
    [{ language: 'fr' }, 'espeak espeak-fr fr'],
  ]);
  const alias = await openEngines(t, { defaultVoice: 'Onyx' });
  assert.equal(choose(alias, {}), 'flite kal16 en');
  assert.equal(choose(alias, { language: 'en' }), 'flite kal16 en');
  await assert.rejects(openEngines(t, { defaultVoice: 'slr' }), {
    code: 'VOICE_UNKNOWN',
    message: /nearest are slt/,
  });
});

/** Cannot be loaded before the test has mended it. */
class Broken extends InstantEngine {
  override readonly name = 'broken';
  trouble: string | undefined = undefined;

  override load(): Promise<void> {
    this.trouble = 'its data are damaged';
    this.usable = false;
    return Promise.reject(new ParleyError('ENGINE_FAILED', this.trouble));
  }

  mend(): void {
    this.trouble = undefined;
    this.usable = true;
  }
}

test('an engine that cannot be loaded is missing until it can, unless it is the default', async () => {
  const german = new Broken({ languages: ['de'] });
  const engines = await Engines.of([new InstantEngine(), german]);
  assert.deepEqual(engines.missing, []);
  await engines.load();
  assert.deepEqual(engines.missing, [
    { name: 'broken', remedy: 'mend this: its data are damaged', languages: ['de'] },
  ]);
  assert.equal(choose(engines, { language: 'de' }), 'broken instant de', 'it says itself when to come back');
  assert.equal((await engines.voices()).length, 2);
  german.mend();
  assert.deepEqual([engines.missing, engines.health()], [[], { instant: true, broken: true }]);
  await engines.close();
  const first = await Engines.of([german, new InstantEngine()]);
  await assert.rejects(first.load(), { code: 'ENGINE_FAILED' });
  await assert.rejects(Engines.of([]), { code: 'ENGINE_UNAVAILABLE' });
});

test('an engine in trouble is passed over where another speaks the language', async () => {
  const german = new Broken({ languages: ['de'] });
  const both = new InstantEngine({ languages: ['en', 'de'] });
  const engines = await Engines.of([new InstantEngine(), german, both]);
  assert.equal(choose(engines, { language: 'de' }), 'broken instant de');
  await engines.load();
  assert.equal(choose(engines, { language: 'de' }), 'instant instant de');
  german.mend();
  assert.equal(choose(engines, { language: 'de' }), 'broken instant de');
});

/** Speaks each language with a model of its own. */
class OneModelEach extends InstantEngine {
  override readonly name = 'each';
  readonly broken = new Set<string>();

  get trouble(): string | undefined {
    return this.broken.size === 0 ? undefined : [...this.broken].map((tag) => `${tag}: damaged`).join('; ');
  }

  usableFor(language: string): boolean {
    return !this.broken.has(language);
  }
}

test('an engine is passed over for a language whose model is broken, and speaks its others', async () => {
  const each = new OneModelEach({ languages: ['en', 'de'], clone: true });
  const engines = await Engines.of([each, new InstantEngine({ clone: true })]);
  const reference: VoiceReference = { kind: 'sample', hash: 'a', samples: new Float32Array(1), rate: 8000 };
  const requests = [
    {},
    { language: 'en-GB' },
    { language: 'de' },
    { reference, language: 'en' },
    { reference },
  ];
  const chosen = () =>
    requests
      .map((request) => engines.resolve(request))
      .map(({ engine, language }) => [engine.name, language]);
  assert.deepEqual(chosen(), [
    ['each', 'en'],
    ['each', 'en'],
    ['each', 'de'],
    ['each', 'en'],
    ['each', 'en'],
  ]);
  each.broken.add('en');
  assert.deepEqual(chosen(), [
    ['instant', 'en'],
    ['instant', 'en'],
    ['each', 'de'],
    ['instant', 'en'],
    ['each', 'de'],
  ]);
  assert.deepEqual(engines.missing, [{ name: 'each', remedy: 'mend this: en: damaged', languages: ['en'] }]);
  assert.deepEqual(engines.health(), { each: true, instant: true });
  each.broken.clear();
  assert.deepEqual(engines.missing, []);
});

test('without a requested language an engine of any language takes the place of one that cannot speak', async () => {
  const german = new Broken({ languages: ['de'] });
  const preferred = await Engines.of([german, new InstantEngine()]);
  assert.equal(choose(preferred, {}), 'broken instant de');
  await preferred.load().catch(() => undefined);
  assert.equal(choose(preferred, {}), 'instant instant en');
  assert.equal(
    choose(preferred, { language: 'de' }),
    'broken instant de',
    'a requested language is not replaced',
  );
});

test('the figures describe the default engine', async () => {
  const engine = new InstantEngine();
  const gpu = new InstantEngine({ languages: ['de'] });
  const memory = { allocatedBytes: 3_000_000, totalBytes: 9_000_000 };
  const work = {
    streams: 4,
    busySeconds: 2,
    busyShare: 0.5,
    eager: 1,
    captures: 2,
    launches: 3,
    listBytes: 4,
    chunksCutShort: 5,
    chunksRepeated: 6,
    chunksEndless: 7,
  };
  gpu.device = () => ({ name: 'a GPU', memory, work });
  const engines = await Engines.of([engine, gpu]);
  engines.useDefault('instant');
  const figures = { engines: { instant: true }, engine: 'instant', device: { name: 'cpu' } };
  assert.deepEqual(engines.figures, { ...figures, modelLoaded: true });
  engine.loaded = false;
  assert.deepEqual(engines.figures, { ...figures, modelLoaded: false });
  assert.deepEqual(engines.work, { ...work, memoryUsedBytes: 3_000_000, memoryTotalBytes: 9_000_000 });
});

test('chunks of all engines are counted together, also of an engine without a loaded model', async () => {
  const counts = { chunksCutShort: 1, chunksRepeated: 2, chunksEndless: 3 };
  const work = {
    streams: 1,
    busySeconds: 2,
    busyShare: 0.5,
    eager: 0,
    captures: 0,
    launches: 0,
    listBytes: 0,
  };
  const [first, second, unloaded] = [new InstantEngine(), new InstantEngine(), new InstantEngine()];
  first.device = () => ({
    name: 'cpu',
    work: { ...work, chunksCutShort: 0, chunksRepeated: 0, chunksEndless: 0 },
  });
  second.device = () => ({ name: 'cpu', work: { ...work, ...counts }, chunks: counts });
  unloaded.device = () => ({
    name: 'cpu',
    chunks: { chunksCutShort: 10, chunksRepeated: 20, chunksEndless: 30 },
  });
  const engines = await Engines.of([first, second, unloaded]);
  const { chunksCutShort, chunksRepeated, chunksEndless } = engines.work;
  assert.deepEqual([chunksCutShort, chunksRepeated, chunksEndless], [11, 22, 33]);
});

test('waiting sentences are counted by class', async (t) => {
  const engines = await openEngines(t, {});
  const { engine, voice } = engines.resolve({});
  const gone = new AbortController();
  const rings = (['http', 'http', 'call', 'interactive'] as const).map((kind) => {
    const ring = PcmRing.open(engine.sampleRate(voice), 100);
    const urgency = { class: kind, client: '', deadlineMs: 0, begun: false };
    const request = { text: 'Hello.', voice, language: 'en', urgency };
    engine.synthesize(request, ring, gone.signal).catch(() => undefined);
    return ring;
  });
  assert.deepEqual(engines.waitingByClass(), { call: 1, interactive: 1, http: 1 });
  assert.equal(engines.waiting, 3);
  gone.abort();
  assert.equal(engines.waiting, 0);
  for (const ring of rings) ring.close();
});

test('health is asked of the engines each time, and what is missing is no engine', async (t) => {
  const speaking = new InstantEngine();
  const engines = await Engines.of([speaking], [{ name: 'espeak', remedy: 'install it', languages: ['fr'] }]);
  assert.deepEqual(engines.health(), { espeak: false, instant: true });
  speaking.usable = false;
  assert.deepEqual(engines.health(), { espeak: false, instant: false });
  speaking.usable = true;
  assert.deepEqual(engines.health(), { espeak: false, instant: true });
  const real = await openEngines(t, { engine: 'flite' });
  assert.deepEqual(real.health(), { espeak: false, flite: true, pocket: false });
  await real.close();
  assert.deepEqual(real.health(), { espeak: false, flite: false, pocket: false });
});

test('an engine that cannot be loaded stays in health, as one that cannot speak', async () => {
  const engines = await Engines.of([new InstantEngine(), new Broken({ languages: ['de'] })]);
  assert.deepEqual(engines.health(), { instant: true, broken: true });
  await engines.load();
  assert.deepEqual(engines.health(), { broken: false, instant: true });
});

// The tests below route voices made over HTTP, and voices that come with a request.

class NamedEngine extends InstantEngine {
  override readonly name: string;

  constructor(name: string, options: InstantEngineOptions = {}) {
    super(options);
    this.name = name;
  }

  override async voices() {
    return (await super.voices()).map((voice) => ({
      ...voice,
      engine: this.name,
      name: `${this.name}-voice`,
    }));
  }
}

const SAMPLE: VoiceReference = { kind: 'sample', hash: 's', samples: new Float32Array(1), rate: 24_000 };
const PROMPT: VoiceReference = { kind: 'prompt', hash: 'p', prompt: 'An old sailor.' };
const ANNA: CustomVoice = {
  id: 'voice_1',
  name: 'Anna',
  language: 'de',
  description: 'calm',
  reference: SAMPLE,
};
const SAILOR: CustomVoice = { id: 'voice_2', name: 'Sailor', description: '', reference: PROMPT };

async function open(engines: readonly InstantEngine[], custom: readonly CustomVoice[] = [ANNA, SAILOR]) {
  const routing = await Engines.of(engines);
  routing.useCustom({
    named: (name) =>
      custom.find((voice) => voice.id === name || voice.name.toLowerCase() === name.toLowerCase()),
    customVoices: () => custom,
  });
  return routing;
}

const plain = new NamedEngine('plain', { languages: ['en', 'de', 'fr'] });
const english = new NamedEngine('english', { clone: true });
const many = new NamedEngine('many', { clone: true, design: true, languages: ['de', 'en'] });

test('a voice that comes along is spoken with by the first engine that can, in the language asked for', async () => {
  const routing = await open([plain, english, many]);
  const first = routing.resolve({ reference: SAMPLE });
  assert.deepEqual(
    [first.engine, first.voice, first.language, first.reference],
    [english, 'english-voice', 'en', SAMPLE],
  );
  const german = routing.resolve({ reference: SAMPLE, language: 'de-AT' });
  assert.deepEqual([german.engine, german.language], [many, 'de']);
  assert.equal(routing.resolve({ reference: PROMPT }).engine, many);
});

test('it counts more than a voice that is named with it', async () => {
  const routing = await open([plain, many]);
  assert.equal(routing.resolve({ reference: SAMPLE, voice: 'plain-voice' }).engine, many);
});

test('a voice made here is named by name or id, speaks its language, or the one asked for', async () => {
  const routing = await open([plain, english, many]);
  for (const voice of ['Anna', 'anna', 'voice_1']) {
    const { engine, language, reference } = routing.resolve({ voice });
    assert.deepEqual([engine, language, reference], [many, 'de', SAMPLE]);
  }
  assert.deepEqual(routing.resolve({ voice: 'Anna', language: 'en' }).engine, english);
  assert.equal(routing.resolve({ voice: 'Sailor' }).reference, PROMPT);
});

test('an engine in trouble is passed over, and stands in only for itself', async () => {
  const sick = new NamedEngine('sick', { clone: true });
  sick.usable = false;
  assert.equal((await open([sick, english])).resolve({ reference: SAMPLE }).engine, english);
  assert.equal((await open([sick, plain])).resolve({ reference: SAMPLE }).engine, sick);
});

test('where none can, every engine is named with what it lacks', async () => {
  const routing = await open([plain, english]);
  assert.throws(() => routing.resolve({ voice: 'Sailor' }), {
    code: 'CAPABILITY_MISSING',
    message:
      'no engine of this server can make a voice from a description: plain cannot design voices, english cannot design voices',
  });
  assert.throws(() => routing.checkAble('prompt', undefined, 'prompt'), {
    code: 'CAPABILITY_MISSING',
    field: 'prompt',
  });
});

test('where those that can do not speak the language, it is said what they speak', async () => {
  const routing = await open([plain, english, many]);
  const refusal = {
    code: 'LANGUAGE_UNAVAILABLE',
    field: 'language',
    message:
      'no engine of this server can speak with the voice of a sample in French: english speaks English; many speaks German, English',
  };
  assert.throws(() => routing.resolve({ reference: SAMPLE, language: 'fr' }), refusal);
  assert.throws(() => routing.checkAble('sample', 'fr', 'ref_audio'), refusal);
  const all = Array.from({ length: 22 }, (_, i) => `x${i}`);
  const polyglot = await open([new NamedEngine('polyglot', { clone: true, languages: all })]);
  assert.throws(() => polyglot.checkAble('sample', 'fr', 'ref_audio'), { message: /, \S+ and 2 others$/ });
});

/** An engine like a checkpoint that can only clone. */
class VoicelessEngine extends NamedEngine {
  override voices() {
    return Promise.resolve([]);
  }
}

test('an engine without voices of its own speaks with those of samples, and is named where it cannot', async () => {
  const base = new VoicelessEngine('base', { clone: true, languages: ['en', 'de'] });
  const routing = await open([plain, base]);
  const { engine, voice, language, reference } = routing.resolve({ voice: 'Anna' });
  assert.deepEqual([engine, voice, language, reference], [base, '', 'de', SAMPLE]);
  assert.equal(routing.resolve({ reference: SAMPLE }).language, 'en');
  assert.throws(() => routing.resolve({ voice: 'Sailor' }), {
    message: /: plain cannot design voices, base cannot design voices$/,
  });
  assert.deepEqual(routing.health(), { plain: true, base: true });
  assert.equal((await routing.voices()).find(({ name }) => name === 'Anna')?.engine, 'base');
});

test('where no engine has a voice of its own, one must be named', async () => {
  const base = new VoicelessEngine('base', { clone: true });
  const routing = await open([base]);
  assert.equal(routing.resolve({ reference: SAMPLE }).engine, base);
  assert.throws(() => routing.resolve({}), { code: 'VOICE_UNKNOWN', message: /name one that was made here/ });
  assert.throws(() => routing.resolve({ language: 'en' }), {
    code: 'VOICE_UNKNOWN',
    message: /for English;/,
  });
  assert.throws(() => routing.resolve({ language: 'fr' }), { code: 'LANGUAGE_UNAVAILABLE' });
  assert.equal(routing.figures.engine, 'base');
  warmUpTexts(routing);
});

test('a voice made here may be the default, and speaks where it can', async () => {
  const routing = await open([plain, english, many]);
  routing.useDefault('anna');
  for (const request of [{}, { language: 'de-CH' }]) {
    const { engine, language, reference } = routing.resolve(request);
    assert.deepEqual([engine, language, reference], [many, 'de', SAMPLE]);
  }
  const { engine, reference } = routing.resolve({ language: 'fr' });
  assert.deepEqual([engine, reference, routing.figures.engine], [plain, undefined, 'many']);
  routing.useDefault('voice_2');
  assert.equal(routing.resolve({ language: 'en' }).reference, PROMPT);
});

test('a default voice that was removed, or that no engine can speak with, is refused by name', async () => {
  const custom = [ANNA];
  const routing = await open([plain, many], custom);
  routing.useDefault('Anna');
  custom.pop();
  assert.throws(() => routing.resolve({}), { code: 'VOICE_UNKNOWN', message: /"Anna"/ });
  assert.equal(routing.resolve({ language: 'de' }).engine, plain);
  const unable = await open([plain]);
  assert.throws(() => unable.useDefault('Anna'), { code: 'CAPABILITY_MISSING' });
  assert.throws(() => unable.useDefault('Ana'), { code: 'VOICE_UNKNOWN' });
});

test('voices made here are listed where an engine can speak with them, and proposed for mistyped names', async () => {
  const routing = await open([plain, english, many]);
  const listed = (await routing.voices()).slice(3);
  assert.deepEqual(listed, [
    {
      name: 'Anna',
      engine: 'many',
      languages: ['de'],
      description: 'calm',
      made: { id: 'voice_1', kind: 'sample' },
    },
    {
      name: 'Sailor',
      engine: 'many',
      languages: ['de', 'en'],
      description: '',
      made: { id: 'voice_2', kind: 'prompt' },
    },
  ]);
  assert.deepEqual((await (await open([plain])).voices()).length, 1);
  assert.throws(() => routing.resolve({ voice: 'Ana' }), { code: 'VOICE_UNKNOWN', message: /Anna/ });
});

test('names of engines, and those that OpenAI has, are known to be taken', async () => {
  const routing = await open([plain]);
  for (const name of ['plain-voice', ' PLAIN-VOICE ', 'alloy', 'Nova'])
    assert.equal(routing.isNamed(name), true, name);
  for (const name of ['Anna', 'constructor']) assert.equal(routing.isNamed(name), false, name);
});

test('a speaker of a checkpoint, or a voice made here, goes before the stand-in of its name', async () => {
  class Checkpoint extends InstantEngine {
    override async voices() {
      return (await super.voices()).map((voice) => ({ ...voice, name: 'vivian' }));
    }
  }
  const ryan: CustomVoice = { id: 'voice_3', name: 'Ryan', description: '', reference: SAMPLE };
  const routing = await open([new Checkpoint({ clone: true })], [ryan]);
  const spokenBy = (voice: string) => {
    const { voice: name, reference, standsIn } = routing.resolve({ voice });
    return [name, reference?.kind, standsIn];
  };
  assert.deepEqual(spokenBy('Vivian'), ['vivian', undefined, undefined]);
  assert.deepEqual(spokenBy('ryan'), ['vivian', 'sample', undefined]);
  assert.deepEqual(spokenBy('serena'), ['vivian', undefined, true]);
  assert.equal(routing.isNamed('Serena'), false);
  routing.useDefault('Ryan');
  assert.equal(routing.resolve({}).reference?.kind, 'sample');
});
