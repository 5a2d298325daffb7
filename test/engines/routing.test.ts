import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { ParleyError } from '../../src/errors.js';
import { enginesOf } from '../../src/engines/engine-setup.js';
import { Engines, type VoiceRequest } from '../../src/engines/routing.js';
import type { EngineSetup } from '../../src/engines/engine-setup.js';
import { ESPEAK_PACKAGE } from '../../src/engines/espeak/espeak.js';
import { OPENAI_VOICES, QWEN_VOICES } from '../../src/engines/voice-names.js';
import { InstantEngine } from '../fakes/engines.js';

const ABSENT = () => undefined;
const PRESENT = () => '/packages/espeak-ng.js';
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
function choose(engines: Engines, wish: VoiceRequest): string {
  try {
    const { engine, voice, language } = engines.resolve(wish);
    return `${engine.name} ${voice} ${language}`;
  } catch (error) {
    if (error instanceof ParleyError) return `${error.code} ${error.field} ${error.message}`;
    throw error;
  }
}

function expectChoices(engines: Engines, choices: readonly (readonly [VoiceRequest, string])[]): void {
  for (const [wish, choice] of choices) assert.equal(choose(engines, wish), choice, JSON.stringify(wish));
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
  assert.deepEqual(engines.missing, []);
});

test('without its package espeak is named as what is missing', async (t) => {
  const engines = await openEngines(t, { resolvePackage: ABSENT });
  expectChoices(engines, [
    [{}, 'flite slt en'],
    [
      { language: 'fr-FR' },
      `LANGUAGE_UNAVAILABLE language no engine of this server speaks French: flite speaks English only; the engine espeak would: ${INSTALL}`,
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
      'LANGUAGE_UNAVAILABLE language no engine of this server speaks French: flite speaks English only; the engine espeak would: set ESPEAK=1',
    ],
  ]);
  assert.deepEqual(engines.health(), { espeak: false, flite: true });
  const bare = await openEngines(t, { espeak: false, resolvePackage: ABSENT });
  assert.equal(bare.missing[0]?.remedy, `set ESPEAK=1 and ${INSTALL}`);
  const named = openEngines(t, { engine: 'espeak', espeak: false });
  await assert.rejects(named, { message: 'ENGINE=espeak lacks its engine: set ESPEAK=1' });
});

test('a server that speaks English only says what other languages need', async (t) => {
  const engines = await openEngines(t, { espeak: false });
  assert.equal(
    engines.languageNotice,
    'this server speaks English only; other languages need espeak (set ESPEAK=1), or a checkpoint (set MODEL_DIR)',
  );
  assert.equal((await openEngines(t, {})).languageNotice, undefined);
});

test('an engine that is switched off is said to be so', async (t) => {
  const flite = await openEngines(t, { engine: 'flite' });
  assert.match(choose(flite, { language: 'de' }), /the engine espeak would: set ENGINE=auto$/);
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

test('what the engines are at is told of the one that speaks by default', async () => {
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

test('what waits is told by class', async (t) => {
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
  assert.deepEqual(real.health(), { espeak: false, flite: true });
  await real.close();
  assert.deepEqual(real.health(), { espeak: false, flite: false });
});

test('an engine that cannot be loaded stays in health, as one that cannot speak', async () => {
  const engines = await Engines.of([new InstantEngine(), new Broken({ languages: ['de'] })]);
  assert.deepEqual(engines.health(), { instant: true, broken: true });
  await engines.load();
  assert.deepEqual(engines.health(), { broken: false, instant: true });
});
