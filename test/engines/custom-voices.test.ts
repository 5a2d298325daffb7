// Routing of voices made over HTTP, and of voices that come with a request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warmUpTexts } from '../../src/speaking/prepared-speech.js';
import { type CustomVoice, Engines } from '../../src/engines/routing.js';
import type { VoiceReference } from '../../src/engines/engine.js';
import { InstantEngine, type InstantEngineOptions } from '../fakes/engines.js';

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

/** As a checkpoint that can only clone. */
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
  for (const wish of [{}, { language: 'de-CH' }]) {
    const { engine, language, reference } = routing.resolve(wish);
    assert.deepEqual([engine, language, reference], [many, 'de', SAMPLE]);
  }
  const { engine, reference } = routing.resolve({ language: 'fr' });
  assert.deepEqual([engine, reference, routing.figures.engine], [plain, undefined, 'many']);
  routing.useDefault('voice_2');
  assert.equal(routing.resolve({ language: 'en' }).reference, PROMPT);
});

test('a default that is let go, and one that nobody can speak with, are told of', async () => {
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
