// Pulled ONNX models: the pins of the catalogue, their state in the cache, and files that changed since.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  checkPulled,
  completeMoonshineModels,
  moonshineFolder,
  moonshineInCache,
  turnFile,
  turnInCache,
} from '../../src/config/onnx-cache.js';
import {
  MOONSHINE_MODELS,
  moonshineBytes,
  type MoonshineModel,
  moonshineModelNamed,
  type TurnModel,
  TURN_MODELS,
  turnModelNamed,
} from '../../src/config/onnx-catalog.js';

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-onnx-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function moonshine(name: string): MoonshineModel {
  const model = moonshineModelNamed(name);
  assert.ok(model !== undefined);
  return model;
}

function turn(name: string): TurnModel {
  const model = turnModelNamed(name);
  assert.ok(model !== undefined);
  return model;
}

function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Writes sparse files of the published sizes, and a list with the checksums of other content. */
function pulled(cache: string, name: string): string {
  const model = moonshine(name);
  const folder = moonshineFolder(cache, model);
  mkdirSync(folder, { recursive: true });
  for (const file of model.files) {
    writeFileSync(join(folder, file.name), '');
    truncateSync(join(folder, file.name), file.bytes);
  }
  const lines = model.files.map((file) => `${sha256('a file')}  ${file.name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
  return folder;
}

test('the catalogue pins each file of the eight by size and checksum', () => {
  assert.deepEqual(Object.fromEntries(MOONSHINE_MODELS.map((model) => [model.name, moonshineBytes(model)])), {
    'moonshine-small-en': 142_300_974,
    'moonshine-medium-en': 269_141_623,
    'moonshine-tiny-en': 45_233_659,
    'moonshine-small-de': 121_800_823,
    'moonshine-small-es': 121_800_392,
    'moonshine-small-ja': 121_803_780,
  });
  for (const { name, files } of MOONSHINE_MODELS) {
    assert.equal(files.length, 8);
    const kinds = new Set(files.map(({ digest }) => digest.kind));
    assert.deepEqual([...kinds], [/-(?:de|ja)$/.test(name) ? 'crc32c' : 'sha256']);
    for (const { digest } of files) {
      const bytes = Buffer.from(digest.text, digest.kind === 'crc32c' ? 'base64' : 'hex');
      assert.equal(bytes.length, digest.kind === 'crc32c' ? 4 : 32);
    }
  }
  for (const { commit, languages } of TURN_MODELS) {
    assert.match(commit, /^[0-9a-f]{40}$/);
    assert.equal(new Set(languages).size, languages.length);
  }
  assert.equal(turn('turn-23').languages.length, 23);
});

test('names of models are found in any case', () => {
  assert.equal(moonshineModelNamed(' Moonshine-Small-DE ')?.language, 'de');
  assert.equal(turnModelNamed('TURN-EN')?.id, 'p99lab/turn-1-mini');
  assert.equal(moonshineModelNamed('moonshine-small-fr'), undefined);
});

test('a Moonshine model is absent, partial, complete, and broken without one of its bytes', (t) => {
  const cache = scratch(t);
  const model = moonshine('moonshine-tiny-en');
  assert.deepEqual(moonshineInCache(cache, model), { state: 'absent', bytes: 0 });
  const folder = moonshineFolder(cache, model);
  assert.equal(folder, join(cache, 'moonshine', 'tiny-streaming-en', 'quantized_26_08_21'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'encoder.ort.incomplete'), 'abc');
  assert.deepEqual(moonshineInCache(cache, model), { state: 'partial', bytes: 3 });
  pulled(cache, 'moonshine-tiny-en');
  assert.equal(moonshineInCache(cache, model).state, 'complete');
  assert.deepEqual(completeMoonshineModels(cache), [model]);
  truncateSync(join(folder, 'encoder.ort'), 7_675_439);
  assert.equal(moonshineInCache(cache, model).state, 'broken');
  assert.deepEqual(completeMoonshineModels(cache), []);
});

test('a model for the ends of turns is a snapshot of the hub', (t) => {
  const cache = scratch(t);
  const model = turn('turn-23');
  assert.deepEqual(turnInCache(cache, model), { state: 'absent', bytes: 0 });
  const repository = join(cache, 'models--pipecat-ai--smart-turn-v3');
  const file = turnFile(cache, model);
  assert.equal(
    file,
    join(repository, 'snapshots', 'f766f81d3cfdf7737ac64aad813d91bbfd56bf93', 'smart-turn-v3.2-cpu.onnx'),
  );
  mkdirSync(join(repository, 'blobs'), { recursive: true });
  writeFileSync(join(repository, 'blobs', `${sha256('a file')}.incomplete`), 'a f');
  assert.deepEqual(turnInCache(cache, model), { state: 'partial', bytes: 3 });
  mkdirSync(dirname(file), { recursive: true });
  symlinkSync(`../../blobs/${sha256('a file')}`, file);
  assert.deepEqual(turnInCache(cache, model), { state: 'broken', bytes: 0 });
  writeFileSync(join(repository, 'blobs', sha256('a file')), 'a file');
  assert.deepEqual(turnInCache(cache, model), { state: 'complete', bytes: 6 });
});

test('a file that changed since the pull is named, with the file to delete', async (t) => {
  const cache = scratch(t);
  const folder = pulled(cache, 'moonshine-tiny-en');
  const configuration = join(folder, 'streaming_config.json');
  await assert.rejects(checkPulled([configuration]), {
    code: 'CONFIG_INVALID',
    message: `${configuration} is not as pulled (SHA-256 ${sha256('a file')}): delete ${configuration} and pull the model again`,
  });
  writeFileSync(configuration, 'a file');
  await checkPulled([configuration]);
});

test('a linked blob is compared with the checksum in its name', async (t) => {
  const cache = scratch(t);
  const file = turnFile(cache, turn('turn-23'));
  const blob = join(cache, 'models--pipecat-ai--smart-turn-v3', 'blobs', sha256('a file'));
  for (const path of [file, blob]) mkdirSync(dirname(path), { recursive: true });
  writeFileSync(blob, 'a file');
  symlinkSync(`../../blobs/${sha256('a file')}`, file);
  await checkPulled([file]);
  writeFileSync(blob, 'b file');
  await assert.rejects(checkPulled([file]), { message: /: delete .*\/blobs\/[0-9a-f]{64} and pull/ });
});

test("an operator's own file has no kept checksum and is not compared", async (t) => {
  const file = join(scratch(t), 'encoder.ort');
  writeFileSync(file, 'any content');
  await checkPulled([file]);
});
