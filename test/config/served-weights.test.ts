// The licence, credit and size of published models in use, by the configuration.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { moonshineFolder } from '../../src/config/onnx-cache.js';
import { moonshineModelNamed } from '../../src/config/onnx-catalog.js';
import { pocketFolder, pocketVoiceFile } from '../../src/config/pocket-cache.js';
import { defaultPocketVoice, pocketModelNamed } from '../../src/config/pocket-catalog.js';

const CREDIT =
  'Pocket TTS by Kyutai (Manu Orsini, Simon Rouard, Gabriel de Marmiesse, Vaclav Volhejn, Neil Zeghidour, Alexandre Défossez)';

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-weights-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function write(path: string, bytes: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  truncateSync(path, bytes);
}

/** Returns its folder. */
function putPocket(cache: string, name: string): string {
  const model = pocketModelNamed(name);
  assert.ok(model !== undefined);
  const folder = pocketFolder(cache, model);
  const voice = pocketVoiceFile(defaultPocketVoice(model.language));
  for (const file of ['model.safetensors', 'tokenizer.model', voice]) write(join(folder, file), 100);
  return folder;
}

function putMoonshine(cache: string, name: string): string {
  const model = moonshineModelNamed(name);
  assert.ok(model !== undefined);
  const folder = moonshineFolder(cache, model);
  for (const file of model.files) write(join(folder, file.name), file.bytes);
  const sums = model.files.map((file) => `${'0'.repeat(64)}  ${file.name}\n`).join('');
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  return folder;
}

function namesOf(env: Record<string, string>) {
  const { voice, recogniser } = readConfig(env).weights;
  return { voice: voice.map(({ name }) => name), recogniser: recogniser.map(({ name }) => name) };
}

test('models of the cache that speak and hear have licence, credit and size', (t) => {
  const HF_HUB_CACHE = scratch(t);
  putPocket(HF_HUB_CACHE, 'pocket-de');
  putMoonshine(HF_HUB_CACHE, 'moonshine-small-en');
  assert.deepEqual(readConfig({ HF_HUB_CACHE }).weights, {
    voice: [
      {
        name: 'pocket-de',
        language: 'de',
        licence: 'CC BY 4.0',
        credit: CREDIT,
        link: 'https://creativecommons.org/licenses/by/4.0/',
        bytes: 300,
      },
    ],
    recogniser: [
      {
        name: 'moonshine-small-en',
        language: 'en',
        licence: 'MIT',
        credit: 'Moonshine, copyright (c) 2025 Useful Sensors, Inc. (dba Moonshine AI)',
        link: 'https://github.com/moonshine-ai/moonshine/blob/main/LICENSE',
        bytes: 142_300_974,
      },
    ],
  });
});

test('a model of the cache is known by its folder too, and takes the place of another of its language', (t) => {
  const HF_HUB_CACHE = scratch(t);
  putPocket(HF_HUB_CACHE, 'pocket-en');
  const cloning = putPocket(HF_HUB_CACHE, 'pocket-en-cloning');
  const small = putMoonshine(HF_HUB_CACHE, 'moonshine-small-de');
  const env = { HF_HUB_CACHE, POCKET_MODELS: 'pocket-en', MODEL_DIR: cloning, ASR_MODEL_DIR: `${small}/` };
  assert.deepEqual(namesOf(env), { voice: ['pocket-en-cloning'], recogniser: ['moonshine-small-de'] });
});

test('nothing is claimed of folders outside the cache, nor of models that another engine displaces', (t) => {
  const HF_HUB_CACHE = scratch(t);
  const own = join(scratch(t), 'english_mine');
  renameSync(putPocket(HF_HUB_CACHE, 'pocket-en'), own);
  const none = { voice: [], recogniser: [] };
  assert.deepEqual(namesOf({ HF_HUB_CACHE, POCKET_MODELS: own }), none);
  putPocket(HF_HUB_CACHE, 'pocket-en');
  assert.deepEqual(namesOf({ HF_HUB_CACHE, ENGINE: 'pocket' }), { ...none, voice: ['pocket-en'] });
  assert.deepEqual(namesOf({ HF_HUB_CACHE, ENGINE: 'flite' }), none);
  assert.deepEqual(namesOf({ HF_HUB_CACHE, POCKET_MODELS: 'none' }), none);
});
