// Which voices of Pocket TTS stand for the names of other services, and what is said of the voices.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaultPocketVoice,
  firstPocketVoices,
  isNonCommercial,
  POCKET_MODELS,
  POCKET_VOICES,
  pocketVoiceNamed,
} from '../../../src/config/pocket-catalog.js';
import { POCKET_FOREIGN_NAMES, pocketStandIn } from '../../../src/engines/pocket/pocket-voices.js';
import { OPENAI_VOICES, QWEN_VOICES } from '../../../src/engines/voice-names.js';

const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'pt'];

test('every name of OpenAI and Qwen has a voice in every language', () => {
  for (const name of [...Object.keys(OPENAI_VOICES), ...Object.keys(QWEN_VOICES)]) {
    for (const language of LANGUAGES) assert.ok(pocketStandIn(name, language) !== undefined, name);
  }
});

test('a name stands for a voice that the pull of its language begins with', () => {
  for (const language of LANGUAGES) {
    const first = firstPocketVoices(language);
    for (const name of POCKET_FOREIGN_NAMES) {
      const voice = pocketStandIn(name, language) ?? '';
      assert.ok(first.includes(voice), `${name} in ${language} is ${voice}`);
    }
  }
});

test("ids of ElevenLabs' usual voices stand for the voices of their names, in every language", () => {
  const ids = {
    '21m00tcm4tlvdq8ikwam': 'rachel',
    pninz6obpgdqgcfmajgb: 'adam',
    jbfqncbsd6rmkjvdrzzb: 'brian',
  };
  for (const [id, name] of Object.entries(ids)) {
    for (const language of LANGUAGES)
      assert.equal(pocketStandIn(id, language), pocketStandIn(name, language), id);
  }
});

test('a name keeps its gender in every language, and prefers the voice of the language', () => {
  assert.deepEqual(
    LANGUAGES.map((language) => pocketStandIn('rachel', language)),
    ['alba', 'alba', 'lola', 'estelle', 'alba', 'alba'],
  );
  assert.deepEqual(
    LANGUAGES.map((language) => pocketStandIn('onyx', language)),
    ['george', 'juergen', 'marius', 'marius', 'giovanni', 'rafael'],
  );
});

test('a name of nobody has no stand-in, not even one of an object', () => {
  for (const name of ['bob', 'constructor', '__proto__', ''])
    assert.equal(pocketStandIn(name, 'en'), undefined);
});

test('26 voices are named, and two of them are not for commercial use', () => {
  assert.equal(new Set(POCKET_VOICES.map(({ name }) => name)).size, 26);
  assert.deepEqual(
    POCKET_VOICES.filter(isNonCommercial).map(({ name }) => name),
    ['cosette', 'jean'],
  );
  assert.equal(pocketVoiceNamed(' Alba ')?.licence, 'CC BY 4.0');
  assert.deepEqual(
    POCKET_VOICES.filter(({ licence }) => licence === 'not stated').map(({ name }) => name),
    ['estelle', 'juergen', 'rafael'],
    'their publisher names no licence of these recordings',
  );
});

test('a model begins with four voices: the default one first, and none that is non-commercial', () => {
  const defaults = POCKET_MODELS.map(({ language }) => defaultPocketVoice(language));
  assert.deepEqual(defaults, ['alba', 'juergen', 'estelle', 'lola', 'giovanni', 'rafael', 'alba']);
  for (const { language } of POCKET_MODELS) {
    const first = firstPocketVoices(language).map((name) => pocketVoiceNamed(name));
    assert.equal(first.length, 4);
    assert.equal(first[0]?.name, defaultPocketVoice(language));
    assert.ok(first.every((voice) => voice !== undefined && !isNonCommercial(voice)));
  }
});
