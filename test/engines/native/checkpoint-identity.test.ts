import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { checkpointIdentity } from '../../../src/engines/native/checkpoint-identity.js';

const BYTES = 5_000_000;

function identityOf(folder: string): Promise<string> {
  return checkpointIdentity(folder, ['speech_tokenizer']);
}

/** A folder like a checkpoint, with weights that are all the same byte. */
function checkpoint(t: TestContext, weight = 1): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-identity-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(
    join(import.meta.dirname, '../../../../native/test/golden/tiny-base/speech_tokenizer'),
    join(folder, 'speech_tokenizer'),
    { recursive: true },
  );
  writeFileSync(join(folder, 'config.json'), '{"model_type": "qwen3_tts"}');
  writeFileSync(join(folder, 'model.safetensors'), Buffer.alloc(BYTES, weight));
  return folder;
}

test('copies of a checkpoint are one, wherever they lie and whatever else lies there', async (t) => {
  const [one, copy] = [checkpoint(t), checkpoint(t)];
  writeFileSync(join(copy, 'README.md'), 'not read');
  assert.equal(await identityOf(copy), await identityOf(one));
});

test('checkpoints whose configuration, weights, sizes or codec differ are others', async (t) => {
  const identities = [await identityOf(checkpoint(t))];
  const change = async (how: (folder: string) => void) => {
    const folder = checkpoint(t);
    how(folder);
    identities.push(await identityOf(folder));
  };
  await change((folder) => writeFileSync(join(folder, 'config.json'), '{"model_type": "qwen3_tts_"}'));
  await change((folder) => writeFileSync(join(folder, 'model.safetensors'), Buffer.alloc(BYTES, 2)));
  await change((folder) => truncateSync(join(folder, 'model.safetensors'), BYTES - 1));
  await change((folder) => {
    const weights = Buffer.alloc(BYTES, 1);
    weights.fill(3, BYTES / 2, BYTES / 2 + 200_000); // a tensor in the middle
    writeFileSync(join(folder, 'model.safetensors'), weights);
  });
  await change((folder) => {
    const codec = join(folder, 'speech_tokenizer');
    const [config = ''] = readdirSync(codec).filter((name) => name.endsWith('.json'));
    writeFileSync(join(codec, config), '{}');
  });
  await change((folder) => writeFileSync(join(folder, 'empty.txt'), ''));
  assert.equal(new Set(identities).size, identities.length);
});

test('a folder that is no checkpoint is refused with the name of the missing file', async () => {
  await assert.rejects(identityOf('/nowhere'), /ENOENT.*\/nowhere/);
});
