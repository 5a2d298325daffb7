// Models of Pocket TTS by the configuration: from the cache, by name, and as folders.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { pocketFolder, pocketVoiceFile } from '../../src/config/pocket-cache.js';
import { defaultPocketVoice, pocketModelNamed } from '../../src/config/pocket-catalog.js';
import { ParleyError } from '../../src/errors.js';

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pocket-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function write(folder: string, names: readonly string[]): string {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), 'a file');
  }
  return folder;
}

const MODEL = ['model.safetensors', 'tokenizer.model'];

/** Puts models into a cache as `parley pull` leaves them. */
function cacheWith(t: TestContext, ...names: readonly string[]): string {
  const cache = scratch(t);
  for (const name of names) {
    const model = pocketModelNamed(name);
    assert.ok(model !== undefined);
    write(pocketFolder(cache, model), [...MODEL, pocketVoiceFile(defaultPocketVoice(model.language))]);
  }
  return cache;
}

function languagesOf(env: Record<string, string>): readonly string[] {
  return readConfig(env).pocket.models.map(({ language }) => language);
}

function problemsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError);
    return error.message.replace(/^.*\n- /, '');
  }
  return '';
}

test('without POCKET_MODELS all models that are complete in the cache speak, English first', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'pocket-it', 'pocket-en', 'pocket-de');
  assert.deepEqual(languagesOf({ HF_HUB_CACHE }), ['en', 'de', 'it']);
  const german = pocketModelNamed('pocket-de');
  assert.ok(german !== undefined);
  rmSync(join(pocketFolder(HF_HUB_CACHE, german), 'tokenizer.model'));
  assert.deepEqual(languagesOf({ HF_HUB_CACHE }), ['en', 'it']);
  assert.deepEqual(languagesOf({ HF_HUB_CACHE: scratch(t) }), []);
});

test('of two English models in the cache the one that clones voices speaks', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'pocket-en', 'pocket-en-cloning');
  const [only, ...others] = readConfig({ HF_HUB_CACHE }).pocket.models;
  assert.deepEqual([only?.language, others], ['en', []]);
  assert.match(String(only?.directory), /models--kyutai--pocket-tts\//);
});

test('POCKET_MODELS names models of the cache and folders, preferred ones first', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'pocket-en', 'pocket-de', 'pocket-fr');
  const own = write(join(scratch(t), 'spanish_mine'), MODEL);
  assert.deepEqual(languagesOf({ HF_HUB_CACHE, POCKET_MODELS: `Pocket-DE, ${own}` }), ['de', 'es']);
  for (const none of ['none', 'NONE', ' none '])
    assert.deepEqual(languagesOf({ HF_HUB_CACHE, POCKET_MODELS: none }), []);
});

test('what POCKET_MODELS cannot name is told with what it may be', (t) => {
  const HF_HUB_CACHE = cacheWith(t, 'pocket-en');
  const of = (POCKET_MODELS: string) => problemsOf({ HF_HUB_CACHE, POCKET_MODELS });
  assert.equal(
    of('pocket-de'),
    `POCKET_MODELS names pocket-de, which is not in ${HF_HUB_CACHE}; fetch it with: npm run parley -- pull pocket-de`,
  );
  assert.equal(
    of('/nowhere'),
    'POCKET_MODELS must be folders with model.safetensors and tokenizer.model, or of pocket-en, pocket-de, pocket-fr, pocket-es, pocket-it, pocket-pt, pocket-en-cloning; not "/nowhere"',
  );
  const nameless = write(join(scratch(t), 'mine'), MODEL);
  assert.equal(
    of(nameless),
    `POCKET_MODELS must lead to a folder of Pocket TTS with a name that begins with its language, such as german or english_mine, not ${nameless}`,
  );
  assert.match(of('pocket-en,none'), /^POCKET_MODELS must be none alone, or models without it$/);
  const second = write(join(scratch(t), 'english_mine'), MODEL);
  assert.match(
    of(`pocket-en,${second}`),
    /^POCKET_MODELS must have one model for each language, not two for en: /,
  );
});

test('MODEL_DIR and MODEL_ID take a folder of Pocket TTS, by its files', (t) => {
  const folder = write(join(scratch(t), 'german'), MODEL);
  const expected = { directory: folder, language: 'de' };
  assert.deepEqual(readConfig({ MODEL_DIR: folder }).pocket.stated, expected);
  assert.deepEqual(readConfig({ MODEL_ID: folder }).pocket.stated, expected);
  write(folder, ['config.json']);
  assert.equal(readConfig({ MODEL_DIR: folder }).pocket.stated, undefined);
});

test('POCKET_MODELS=none is off, and no models in the cache is not', (t) => {
  const cache = { HF_HUB_CACHE: scratch(t) };
  assert.equal(readConfig({ ...cache, POCKET_MODELS: 'None' }).pocket.isOff, true);
  assert.equal(readConfig(cache).pocket.isOff, false);
});

test('voices for non-commercial use speak only where it is stated', () => {
  assert.equal(readConfig({}).pocket.nonCommercial, false);
  assert.equal(readConfig({ POCKET_NONCOMMERCIAL: '1' }).pocket.nonCommercial, true);
});
