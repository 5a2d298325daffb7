import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { speechParts } from '../../src/talk/speech-parts.js';

const EMPTY = { HF_HOME: '/nowhere' };
const config = (env: Record<string, string> = {}) => readConfig({ ...EMPTY, ...env });

test('a fresh machine lacks a voice, ears and the ends of turns, with sizes and licences', () => {
  assert.deepEqual(speechParts(config(), EMPTY), {
    voice: 'Voice: a plain one, which is embedded.',
    ears: 'Ears: none; without them you type, and the answers are spoken.',
    hears: false,
    missing: [
      { name: 'pocket-en', bytes: 245_029_196, licence: 'Pocket TTS by Kyutai, CC BY 4.0' },
      { name: 'moonshine-small-en', bytes: 142_300_974, licence: 'Moonshine, MIT' },
      { name: 'turn-en', bytes: 21_800_000, licence: 'turn-1-mini by p99lab, Apache-2.0' },
    ],
  });
});

test('servers that speak and hear are named, and nothing is missing', () => {
  const env = {
    TTS_BASE_URL: 'http://127.0.0.1:9001/v1',
    TTS_MODEL: 'kokoro',
    TTS_VOICES: 'anna',
    ASR_BASE_URL: 'http://127.0.0.1:9002/v1',
    ASR_MODEL: 'whisper',
  };
  assert.deepEqual(speechParts(config(env), EMPTY), {
    voice: 'Voice: the server 127.0.0.1:9001.',
    ears: 'Ears: the server 127.0.0.1:9002.',
    hears: true,
    missing: [],
  });
});

test('models of the cache are named with their languages', () => {
  const found = config();
  const folder = { directory: '/cache/x', language: 'en' };
  const moonshine = { models: [{ ...folder, size: 'small' as const }], workers: 1 };
  const parts = speechParts(
    {
      ...found,
      pocket: { ...found.pocket, models: [folder, { ...folder, language: 'de' }] },
      recognition: { ...found.recognition, moonshine },
    },
    EMPTY,
  );
  assert.deepEqual(parts, {
    voice: 'Voice: Pocket TTS (en, de).',
    ears: 'Ears: Moonshine (en).',
    hears: true,
    missing: [],
  });
});

test('an engine that somebody chose is not replaced by another voice', () => {
  const { voice, missing } = speechParts(config({ ENGINE: 'flite' }), EMPTY);
  assert.equal(voice, 'Voice: a plain one, which is embedded.');
  assert.deepEqual(
    missing.map(({ name }) => name),
    ['moonshine-small-en', 'turn-en'],
  );
});
