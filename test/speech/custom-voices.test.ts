// Who speaks with a voice that is none of the engines' own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engines } from '../../src/speech/engine-choice.js';
import type { VoiceReference } from '../../src/speech/engine.js';
import type { CustomVoice } from '../../src/speech/routing.js';
import { InstantEngine, type InstantEngineOptions } from '../fakes/instant-engine.js';

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
  assert.throws(() => routing.resolve({ reference: SAMPLE, language: 'fr' }), {
    code: 'CAPABILITY_MISSING',
    field: 'language',
    message:
      'no engine of this server can speak with the voice of a sample in French: plain cannot clone voices, english does not speak French',
  });
  assert.throws(() => routing.checkAble('prompt', undefined, 'prompt'), {
    code: 'CAPABILITY_MISSING',
    field: 'prompt',
  });
});

test('voices made here are listed where an engine can speak with them, and proposed for mistyped names', async () => {
  const routing = await open([plain, english, many]);
  const listed = (await routing.voices()).slice(3);
  assert.deepEqual(listed, [
    { name: 'Anna', engine: 'many', languages: ['de'], description: 'calm' },
    { name: 'Sailor', engine: 'many', languages: ['de', 'en'], description: '' },
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
