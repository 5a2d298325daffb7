// Kept voices as engines get them, and the order in which a new one is judged.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { MadeVoices } from '../../src/voices/voice-workshop.js';
import { type StoredVoice, VoiceStore } from '../../src/voices/voice-store.js';
import { VoiceCache } from '../../src/voices/references.js';

const NEVER = new AbortController().signal;
const FILE = Buffer.from('file');
const SOUND = Float32Array.from([0, 0.5, -0.5, 1, -1]);

async function open(t: TestContext, maxEntries = 1) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-voices-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const store = await VoiceStore.open({ folder });
  const cache = new VoiceCache(maxEntries);
  const steps: string[] = [];
  const cannot = new Set<string>();
  const made = new MadeVoices({
    store,
    cache,
    maxBytes: 100,
    audio: {
      decode: () => {
        steps.push('decoded');
        return Promise.resolve(SOUND);
      },
    },
    engines: {
      isNamed: (name) => name === 'slt',
      checkAble: (kind, _language, field) => {
        if (cannot.has(kind)) throw new ParleyError('CAPABILITY_MISSING', kind, { field });
      },
    },
  });
  const make = (name: string, file: Uint8Array = FILE) =>
    made.make({ name, kind: 'audio_sample' }, file, NEVER);
  const referenceOf = (name: string) => {
    const reference = made.named(name)?.reference;
    assert.ok(reference?.kind === 'sample');
    return reference;
  };
  return { store, cache, steps, cannot, made, make, referenceOf };
}

test('the sample is read from the disk when an engine asks for it, to 16 bits what was decoded', async (t) => {
  const { make, referenceOf, cache } = await open(t);
  await make('Anna');
  const reference = referenceOf('anna');
  assert.equal(cache.figures.entries, 0);
  const { samples } = reference;
  assert.deepEqual([...samples], [0, 0.5, -0.5, 32_767 / 32_768, -1]);
  assert.deepEqual(cache.figures, { entries: 1, maxEntries: 1, hits: 0 });
});

test('the least recently used voice leaves the memory, and one that is let go at once', async (t) => {
  const { make, referenceOf, cache, made } = await open(t);
  await make('Anna');
  await make('Berta');
  for (const name of ['Anna', 'Berta', 'Berta', 'Anna']) assert.ok(referenceOf(name).samples.length > 0);
  assert.deepEqual(cache.figures, { entries: 1, maxEntries: 1, hits: 1 });
  await made.remove('Anna');
  assert.equal(cache.figures.entries, 0);
  assert.equal(await made.remove('Anna'), false);
});

test('a sample that is not what was written is not spoken with', async (t) => {
  const { make, referenceOf, store } = await open(t);
  const voice = await make('Anna');
  await writeFile(store.samplePath(voice), Buffer.alloc(voice.content?.bytes ?? 0));
  assert.throws(() => referenceOf('Anna').samples, {
    code: 'ENGINE_UNAVAILABLE',
    message: /voice Anna cannot be read/,
  });
});

test('a voice that another server put in the place of an old one is spoken with as it is now', async (t) => {
  const { make, made, store, referenceOf } = await open(t);
  await make('Anna');
  assert.equal(referenceOf('Anna').samples.length, SOUND.length);
  const folder = dirname(dirname(store.samplePath(kept(made.find('Anna')))));
  const other = await VoiceStore.open({ folder });
  const sample = await readFile(store.samplePath(kept(made.find('Anna'))));
  await other.remove('Anna');
  assert.equal(made.named('Anna'), undefined);
  sample.writeInt16LE(1234, sample.length - 2);
  await other.add({ name: 'Anna', kind: 'audio_sample' }, sample);
  assert.equal(referenceOf('Anna').samples.at(-1), 1234 / 32_768);
});

function kept(voice: StoredVoice | undefined): StoredVoice {
  assert.ok(voice !== undefined);
  return voice;
}

test('what speaks against a voice is found before its sample is decoded', async (t) => {
  const { make, made, steps, cannot } = await open(t);
  await make('Anna');
  steps.length = 0;
  await assert.rejects(make('Anna'), { code: 'EXISTS', field: 'name' });
  await assert.rejects(make('slt'), { code: 'EXISTS', field: 'name' });
  await assert.rejects(make('../x'), { code: 'INVALID_FIELD', field: 'name' });
  await assert.rejects(make('Berta', Buffer.alloc(101)), { code: 'TOO_LARGE', field: 'audio_sample' });
  cannot.add('sample').add('prompt');
  await assert.rejects(make('Berta'), { code: 'CAPABILITY_MISSING', field: 'audio_sample' });
  const prompt = { name: 'Sailor', kind: 'prompt', prompt: 'An old sailor.' } as const;
  await assert.rejects(made.make(prompt, undefined, NEVER), { code: 'CAPABILITY_MISSING', field: 'prompt' });
  assert.deepEqual([steps, made.list().length], [[], 1]);
});
