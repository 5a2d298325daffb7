// The models that hear the ends of turns, by the configuration: pulled ones, a file, or none.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { turnFile } from '../../src/config/onnx-cache.js';
import { turnModelNamed } from '../../src/config/onnx-catalog.js';

type Name = 'turn-en' | 'turn-23';

/** A cache with these models, as a pull leaves them. */
function cacheWith(t: TestContext, ...names: readonly Name[]): string {
  const cache = mkdtempSync(join(tmpdir(), 'parley-turn-'));
  t.after(() => rmSync(cache, { recursive: true }));
  for (const name of names) {
    mkdirSync(dirname(fileOf(cache, name)), { recursive: true });
    writeFileSync(fileOf(cache, name), 'a graph');
  }
  return cache;
}

function fileOf(cache: string, name: Name): string {
  return turnFile(cache, turnModelNamed(name) ?? assert.fail());
}

function filesFor(env: Record<string, string>): readonly string[] {
  return readConfig(env).hearing.turnModels.map(({ file }) => file);
}

test('the models that were pulled are used, the English one first; none was pulled: none', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'turn-23', 'turn-en');
  const both = [fileOf(HF_HUB_CACHE, 'turn-en'), fileOf(HF_HUB_CACHE, 'turn-23')];
  for (const TURN_MODEL of ['', 'auto', 'AUTO'])
    assert.deepEqual(filesFor({ HF_HUB_CACHE, TURN_MODEL }), both);
  const [english, many] = readConfig({ HF_HUB_CACHE }).hearing.turnModels;
  assert.deepEqual(english?.languages, ['en']);
  assert.equal(many?.languages?.length, 23);
  const one = cacheWith(t, 'turn-23');
  assert.deepEqual(filesFor({ HF_HUB_CACHE: one }), [fileOf(one, 'turn-23')]);
  assert.deepEqual(filesFor({ HF_HUB_CACHE: cacheWith(t) }), []);
});

test('a model that is named is used alone, and none at all where none is asked for', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'turn-23', 'turn-en');
  assert.deepEqual(filesFor({ HF_HUB_CACHE, TURN_MODEL: 'turn-23' }), [fileOf(HF_HUB_CACHE, 'turn-23')]);
  assert.deepEqual(filesFor({ HF_HUB_CACHE, TURN_MODEL: 'Turn-EN' }), [fileOf(HF_HUB_CACHE, 'turn-en')]);
  assert.deepEqual(filesFor({ HF_HUB_CACHE, TURN_MODEL: 'none' }), []);
});

test('a file is used for every language', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'turn-en');
  const file = fileOf(HF_HUB_CACHE, 'turn-en');
  const config = readConfig({ HF_HUB_CACHE: cacheWith(t), TURN_MODEL: file });
  assert.deepEqual(config.hearing.turnModels, [{ file, languages: undefined }]);
});

test('END_OF_TURN_MODULE takes the place of the models', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'turn-en');
  assert.deepEqual(filesFor({ HF_HUB_CACHE, END_OF_TURN_MODULE: './own.mjs' }), []);
  assert.deepEqual(filesFor({ HF_HUB_CACHE, TURN_MODEL: 'turn-en', END_OF_TURN_MODULE: './own.mjs' }), []);
});

test('a model that was not pulled, and a name that is none, are refused with what is allowed', (t) => {
  const HF_HUB_CACHE = cacheWith(t);
  for (const [TURN_MODEL, problem] of [
    [
      'turn-en',
      `names turn-en, which is not in ${HF_HUB_CACHE}; fetch it with: npm run parley -- pull turn-en`,
    ],
    ['smart', 'must be auto, none, turn-en, turn-23 or an ONNX file: there is no file smart'],
    [
      '/nowhere/turn.onnx',
      'must be auto, none, turn-en, turn-23 or an ONNX file: there is no file /nowhere/turn.onnx',
    ],
  ] as const) {
    assert.throws(() => readConfig({ HF_HUB_CACHE, TURN_MODEL }), {
      code: 'CONFIG_INVALID',
      message: `the configuration is not usable:\n- TURN_MODEL ${problem}`,
    });
  }
});
