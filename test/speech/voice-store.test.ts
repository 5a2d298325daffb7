// Voices on disk: what outlives a restart, and what hostile names and broken folders do.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type NewVoice, VoiceStore, type VoiceStoreOptions } from '../../src/speech/voice-store.js';

const SAMPLE = Buffer.from('sound');

async function folderFor(t: TestContext): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'parley-voices-'));
  t.after(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'voices');
}

function open(folder: string, options: Partial<VoiceStoreOptions> = {}): Promise<VoiceStore> {
  return VoiceStore.open({ folder, now: () => 1_700_000_000, ...options });
}

const sample = (name: string): NewVoice => ({ name, kind: 'audio_sample' });

test('the folder is made with the first voice, and what is kept outlives a restart whole', async (t) => {
  const folder = await folderFor(t);
  const store = await open(folder);
  await assert.rejects(stat(folder), { code: 'ENOENT' });
  const facts = { language: 'de', description: 'calm', consent: 'letter of 3 May', text: 'Guten Tag.' };
  const anna = await store.add({ ...sample('Anna'), ...facts }, SAMPLE);
  const sailor = await store.add({ name: 'Sailor', kind: 'prompt', prompt: 'An old sailor.' });
  assert.deepEqual(anna, {
    ...facts, name: 'Anna', kind: 'audio_sample', id: anna.id, createdAt: 1_700_000_000,
    content: { bytes: 5, hash: hash('sha256', SAMPLE, 'hex') },
  }); // prettier-ignore
  const again = await open(folder);
  assert.deepEqual(new Set(again.list()), new Set([anna, sailor]));
  assert.deepEqual(again.find('anna'), anna);
  assert.deepEqual(again.find(sailor.id), sailor);
  assert.deepEqual(await readFile(again.samplePath(anna)), SAMPLE);
});

test('a name is taken once, in any spelling, also by one that is still being written', async (t) => {
  const store = await open(await folderFor(t));
  const first = store.add(sample('Anna'), SAMPLE);
  for (const name of ['Anna', 'ANNA', ' anna '])
    await assert.rejects(store.add(sample(name), SAMPLE), { code: 'EXISTS' });
  const { id } = await first;
  await assert.rejects(store.add(sample(id), SAMPLE), { code: 'EXISTS' });
  assert.equal(await store.remove('anna'), true);
  await store.add(sample('Anna'), SAMPLE);
});

test('no name of a client is ever a path', async (t) => {
  const folder = await folderFor(t);
  const store = await open(folder);
  const hostile = [
    '',
    ' ',
    '.',
    '..',
    '../../etc/passwd',
    '/etc/passwd',
    'a/b',
    'a\\b',
    'a\0b',
    'a\nb',
    '-rf',
    '<script>',
    'x'.repeat(65),
    '\u202eabc',
    '$(id)',
  ];
  for (const name of hostile) {
    await assert.rejects(
      store.add(sample(name), SAMPLE),
      { code: 'INVALID_FIELD', field: 'name' },
      JSON.stringify(name),
    );
  }
  await store.add(sample('CON'), SAMPLE);
  await store.add(sample('Zoë (2)'), SAMPLE);
  await store.add(sample('王小明'), SAMPLE);
  for (const entry of await readdir(folder)) assert.match(entry, /^voice_[0-9a-f]{24}$/);
  for (const name of ['__proto__', 'constructor', '../voices', 'toString'])
    assert.equal(store.find(name), undefined);
});

test('a voice that is let go is gone from the disk, and cannot be let go twice', async (t) => {
  const folder = await folderFor(t);
  const store = await open(folder);
  const { id } = await store.add(sample('Anna'), SAMPLE);
  const both = await Promise.all([store.remove(id), store.remove('Anna')]);
  assert.deepEqual(both.sort(), [false, true]);
  assert.deepEqual(await readdir(folder), []);
  assert.equal(store.find(id), undefined);
});

test('a broken folder is told of and left alone, and the others are there', async (t) => {
  const folder = await folderFor(t);
  const store = await open(folder);
  const names = ['good', 'no facts', 'no json', 'short sample', 'no sample', 'wrong id', 'hostile name'];
  const ids = new Map<string, string>();
  for (const name of names) ids.set(name, (await store.add(sample(name), SAMPLE)).id);
  const file = (name: string, which: string) => join(folder, ids.get(name) ?? '', which);
  await rm(file('no facts', 'voice.json'));
  await writeFile(file('no json', 'voice.json'), '{');
  await writeFile(file('short sample', 'sample.wav'), 'so');
  await rm(file('no sample', 'sample.wav'));
  await writeFile(file('wrong id', 'voice.json'), await readFile(file('good', 'voice.json')));
  const facts = JSON.parse(await readFile(file('hostile name', 'voice.json'), 'utf8')) as object;
  await writeFile(file('hostile name', 'voice.json'), JSON.stringify({ ...facts, name: '../../x' }));
  await mkdir(join(folder, '.unfinished-voice_0'));
  await writeFile(join(folder, 'notes.txt'), 'not a voice');
  const broken: string[] = [];
  const again = await open(folder, { onBroken: (path) => broken.push(path) });
  assert.deepEqual(
    again.list().map(({ name }) => name),
    ['good'],
  );
  const left = names.slice(1).map((name) => join(folder, ids.get(name) ?? ''));
  assert.deepEqual(broken.sort(), left.sort());
  const entries = await readdir(folder);
  assert.ok(!entries.includes('.unfinished-voice_0'));
  assert.equal(entries.length, names.length + 1);
});

test('as many voices are kept as are allowed', async (t) => {
  const store = await open(await folderFor(t), { maxVoices: 2 });
  await store.add(sample('a'), SAMPLE);
  await store.add(sample('b'), SAMPLE);
  await assert.rejects(store.add(sample('c'), SAMPLE), {
    code: 'VOICE_LIMIT',
    message: /2 voices are kept already/,
  });
  await store.remove('a');
  await store.add(sample('c'), SAMPLE);
});

test('what cannot be written leaves nothing behind, and its name is free', async (t) => {
  const folder = await folderFor(t);
  await mkdir(folder);
  const ids = ['voice_aaaaaaaaaaaaaaaaaaaaaaaa', 'voice_bbbbbbbbbbbbbbbbbbbbbbbb'];
  const store = await open(folder, { newId: () => ids.shift() ?? '' });
  // A file in the way of the folder that would be made.
  await writeFile(join(folder, '.unfinished-voice_aaaaaaaaaaaaaaaaaaaaaaaa'), '');
  await assert.rejects(store.add(sample('Anna'), SAMPLE));
  assert.equal(store.find('Anna'), undefined);
  await store.add(sample('Anna'), SAMPLE);
  assert.deepEqual(await readdir(folder), ['voice_bbbbbbbbbbbbbbbbbbbbbbbb']);
});

test('a folder that cannot be read is a mistake of the configuration', async (t) => {
  const folder = await folderFor(t);
  await writeFile(folder, 'a file');
  await assert.rejects(open(folder), { code: 'CONFIG_INVALID', message: /VOICES_DIR=.*ENOTDIR/ });
});
