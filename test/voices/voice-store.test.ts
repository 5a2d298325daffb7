// Voices on disk: what outlives a restart, and what hostile names and broken folders do.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type NewVoice, VoiceStore, type VoiceStoreOptions } from '../../src/voices/voice-store.js';

const ANNA = `voice_${hash('sha256', 'anna', 'hex').slice(0, 24)}`;
const NOW = 1_700_000_000;
const SAMPLE = Buffer.from('sound');

async function folderFor(t: TestContext): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'parley-voices-'));
  t.after(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'voices');
}

function open(folder: string, options: Partial<VoiceStoreOptions> = {}): Promise<VoiceStore> {
  return VoiceStore.open({ folder, now: () => NOW, ...options });
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
    ...facts,
    name: 'Anna',
    kind: 'audio_sample',
    id: anna.id,
    createdAt: 1_700_000_000,
    content: { bytes: 5, hash: hash('sha256', SAMPLE, 'hex') },
  });
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

test('a broken folder is reported and left alone, and the others are listed', async (t) => {
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
  const store = await open(folder);
  await writeFile(join(folder, ANNA), ''); // a file in the way of the folder
  await assert.rejects(store.add(sample('Anna'), SAMPLE), { code: 'ENOTDIR' });
  await rm(join(folder, ANNA));
  await chmod(folder, 0o500);
  if (process.getuid?.() !== 0) await assert.rejects(store.add(sample('Anna'), SAMPLE), { code: 'EACCES' });
  await chmod(folder, 0o700);
  await store.add(sample('Anna'), SAMPLE);
  assert.deepEqual(await readdir(folder), [ANNA]);
});

test('a folder that cannot be read is a mistake of the configuration', async (t) => {
  const folder = await folderFor(t);
  await writeFile(folder, 'a file');
  await assert.rejects(open(folder), { code: 'CONFIG_INVALID', message: /VOICES_DIR=.*ENOTDIR/ });
});

test('the unfinished folders of a crashed server are removed after an hour, and those of running servers stay', async (t) => {
  const folder = await folderFor(t);
  for (const [name, age] of [
    ['old', 3601],
    ['young', 3599],
  ] as const) {
    await mkdir(join(folder, `.unfinished-${name}`), { recursive: true });
    await utimes(join(folder, `.unfinished-${name}`), NOW - age, NOW - age);
  }
  await open(folder);
  assert.deepEqual(await readdir(folder), ['.unfinished-young']);
});

test('a server that starts while another writes a voice lets it be written', async (t) => {
  const folder = await folderFor(t);
  let seen: string[] = [];
  const store = await open(folder, {
    sync: async (path) => {
      if (basename(path).startsWith('.unfinished-'))
        seen = (await open(folder)).list().map(({ name }) => name);
    },
  });
  await store.add(sample('Anna'), SAMPLE);
  assert.deepEqual([seen, (await open(folder)).list().length], [[], 1]);
});

test('of two servers that make a voice of one name, one is refused, and nothing of it stays', async (t) => {
  const folder = await folderFor(t);
  const [one, other] = [await open(folder), await open(folder)];
  const added = await Promise.allSettled([
    one.add(sample('Anna'), SAMPLE),
    other.add(sample('ANNA'), SAMPLE),
  ]);
  const refusals = added.filter((result) => result.status === 'rejected');
  assert.deepEqual(
    refusals.map(({ reason }) => [(reason as { code: string }).code, (reason as { field: string }).field]),
    [['EXISTS', 'name']],
  );
  assert.deepEqual(await readdir(folder), [ANNA]);
});

test('servers of one folder see what the others make, replace and let go', async (t) => {
  const folder = await folderFor(t);
  const [one, other] = [await open(folder), await open(folder)];
  assert.equal(other.find('Anna'), undefined);
  const anna = await one.add({ ...sample('Anna'), text: 'One.' }, SAMPLE);
  for (const name of ['Anna', anna.id]) assert.deepEqual(other.find(name), anna);
  assert.deepEqual(other.list(), [anna]);
  assert.equal(await other.remove('Anna'), true);
  assert.deepEqual([one.find('Anna'), one.list(), await one.remove('Anna')], [undefined, [], false]);
  const again = await other.add({ ...sample('Anna'), text: 'Two.' }, SAMPLE);
  assert.deepEqual([one.find('Anna'), one.list()], [again, [again]]);
});

test('a list is made anew only where the folder changed, which it may have done a moment ago', async (t) => {
  const folder = await folderFor(t);
  const [one, other] = [await open(folder), await open(folder)];
  await one.add(sample('Anna'), SAMPLE);
  assert.notEqual(other.list(), other.list());
  await utimes(folder, NOW, NOW);
  assert.equal(other.list(), other.list());
  await one.add(sample('Berta'), SAMPLE);
  assert.equal(other.list().length, 2);
});

test('a voice is read once, and again only where it is another', async (t) => {
  const folder = await folderFor(t);
  const store = await open(folder);
  await store.add(sample('Anna'), SAMPLE);
  assert.equal(store.find('Anna'), store.find(ANNA));
  const file = join(folder, ANNA, 'voice.json');
  const facts = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(`${file}.new`, JSON.stringify({ ...facts, description: 'calm' }));
  await rename(`${file}.new`, file);
  assert.equal(store.find('Anna')?.description, 'calm');
});

test('a folder that breaks while the server runs is reported once', async (t) => {
  const folder = await folderFor(t);
  const broken: string[] = [];
  const store = await open(folder, { onBroken: (path) => broken.push(path) });
  await store.add(sample('Anna'), SAMPLE);
  await rm(join(folder, ANNA, 'sample.wav'));
  await rm(join(folder, ANNA, 'voice.json'));
  for (let round = 0; round < 3; round++) assert.equal(store.find('Anna'), undefined);
  assert.deepEqual(broken, [join(folder, ANNA)]);
});

test('what bears an id is on the disk itself, and so is its name', async (t) => {
  const folder = await folderFor(t);
  const synced: [string, string[]][] = [];
  const sync = async (path: string) => {
    const name = basename(path).replace(/-[^-]*$/, '');
    synced.push([path.startsWith(folder) ? name : path, (await readdir(path)).sort()]);
  };
  const store = await open(folder, { sync });
  await store.add(sample('Anna'), SAMPLE);
  assert.deepEqual(synced, [
    [dirname(folder), ['voices']],
    [`.unfinished-${ANNA}`, ['sample.wav', 'voice.json']],
    ['voices', [ANNA]],
  ]);
  synced.length = 0;
  await store.remove('Anna');
  assert.deepEqual(
    synced.map(([name, entries]) => [name, entries.includes(ANNA)]),
    [['voices', false]],
  );
  await (await open(folder)).add(sample('Anna'), SAMPLE); // the real one
});
