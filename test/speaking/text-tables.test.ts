// Word tables of the server's folder, which are read again, and those of API keys, which are stored.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { createLog } from '../../src/observe/log.js';
import { readText } from '../../src/speaking/text-reading.js';
import { TextTables } from '../../src/speaking/text-tables.js';
import { until } from '../fakes/until.js';

interface Parts {
  readonly folder?: string;
  readonly keyFolder?: string;
  readonly apiKeys?: readonly string[];
  readonly lines?: string[];
}

const KEYS = ['acme 0123456789abcdef', 'other fedcba9876543210', 'a-key-without-a-name'];
const BY_NAME = new Map<string, { name: string | undefined; key: string }>([
  ['acme', { name: 'acme', key: '0123456789abcdef' }],
  ['other', { name: 'other', key: 'fedcba9876543210' }],
  ['key 1f', { name: undefined, key: 'a-key-without-a-name' }],
]);

async function open(
  t: TestContext,
  { folder, keyFolder, apiKeys = KEYS, lines = [] }: Parts,
): Promise<TextTables> {
  const tables = await TextTables.open({
    texts: { tablesDir: folder, keyTablesDir: keyFolder ?? folderOf(t) },
    access: { apiKeys, apiKeysFile: undefined },
    owners: {
      ownerOf: (call) => (call === 'rtc_1' ? 'acme' : undefined),
      keyOf: (name) => BY_NAME.get(name),
    },
    log: createLog({
      level: 'info',
      logText: false,
      destination: { write: (line) => void lines.push(line) },
    }),
    watch: { pollMs: 50, settleMs: 5 },
  });
  t.after(() => tables.close());
  return tables;
}

function folderOf(t: TestContext, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tables-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) write(folder, path, text);
  return folder;
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function said(tables: TextTables, text: string, client?: string, language = 'en'): string {
  const read = readText({ text, language, client }, { maxTextLength: 1000, tables });
  return read.sentences.map((one) => (one.kind === 'sentence' ? one.spoken : '')).join(' ');
}

async function refusal(doing: Promise<unknown>): Promise<ParleyError> {
  const error = await doing.then(
    () => assert.fail('it is accepted'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ParleyError);
  return error;
}

test('tables of the folder apply to every text', async (t) => {
  const folder = folderOf(t, { 'en/units.tsv': 'fltr\tflat trailer|flat trailers\n', 'README.md': 'x' });
  const tables = await open(t, { folder });
  assert.equal(said(tables, 'We sent 3 fltr today.'), 'We sent three flat trailers today.');
  assert.equal(said(tables, 'We sent 3 fltr today.', 'acme'), 'We sent three flat trailers today.');
});

test('a short form of a table does not end a sentence, in a text of no stated language, too', async (t) => {
  const rows = { 'fr/short-forms.tsv': 'appmt.\tappartement\n' };
  const tables = await open(t, { folder: folderOf(t, rows) });
  const text = 'On visite appmt. Bastille ce soir. Sonnez.';
  const count = (language: string | undefined, own: TextTables | undefined) =>
    readText({ text, language }, { maxTextLength: 1000, tables: own }).sentences.length;
  assert.deepEqual([count('fr', tables), count(undefined, tables), count('fr', undefined)], [2, 2, 3]);
  const markup = `<speak>${text}</speak>`;
  const read = readText({ text: markup, language: 'fr' }, { maxTextLength: 1000, tables });
  assert.equal(read.sentences.length, 2);
});

test('a bad file, class or language refuses the start', async (t) => {
  const bad = await refusal(
    open(t, { folder: folderOf(t, { 'de/units.tsv': '# Längen\nkm\tKilometer\tx\n' }) }),
  );
  assert.equal(bad.code, 'CONFIG_INVALID');
  assert.match(bad.message, /de\/units\.tsv, line 2, column "gender": is "x"; allowed: m, f, n/);
  const unknown = await refusal(open(t, { folder: folderOf(t, { 'de/unit.tsv': 'a\tb\n' }) }));
  assert.match(unknown.message, /named after no class; the classes are units, currencies,/);
  const language = await refusal(open(t, { folder: folderOf(t, { 'deutsch/units.tsv': 'a\tb\n' }) }));
  assert.match(language.message, /no folder of a language; the languages are .*de, /);
  assert.match(
    (await refusal(open(t, { folder: '/nonexistent/tables' }))).message,
    /cannot be read \(ENOENT\)/,
  );
  const twice = folderOf(t, { 'de-CH/units.tsv': 'a\tb\n', 'de-ch/units.tsv': 'a\tc\n' });
  assert.match(
    (await refusal(open(t, { folder: twice }))).message,
    /de-CH and .*de-ch are folders of one language, de-CH; keep one of them/,
  );
  const folder = folderOf(t);
  mkdirSync(join(folder, 'de'));
  writeFileSync(join(folder, 'de/units.tsv'), Buffer.from([0x61, 0x09, 0xff]));
  assert.match((await refusal(open(t, { folder }))).message, /units\.tsv is not UTF-8/);
});

test('a changed file is read again, a bad one is logged and keeps its rows', async (t) => {
  const folder = folderOf(t, { 'en/units.tsv': 'fltr\tflat trailer|flat trailers\n' });
  const lines: string[] = [];
  const tables = await open(t, { folder, lines });
  write(folder, 'en/units.tsv', 'fltr\tbarge|barges\n');
  await until(() => said(tables, 'We sent 3 fltr today.') === 'We sent three barges today.');
  write(folder, 'en/units.tsv', 'fltr\tship|ships\nfltr\tboat\n');
  await until(() => lines.some((line) => line.includes('line 2: has \\"fltr\\", which line 1 has too')));
  assert.equal(said(tables, 'We sent 3 fltr today.'), 'We sent three barges today.');
  write(folder, 'de/short-forms.tsv', 'SLA\tServicevertrag\n');
  await until(() => said(tables, 'Das SLA gilt.', undefined, 'de') === 'Das Servicevertrag gilt.');
  write(folder, 'de/short-forms.tsv', 'SLA\tVertrag\n');
  await until(() => said(tables, 'Das SLA gilt.', undefined, 'de') === 'Das Vertrag gilt.');
  rmSync(join(folder, 'en/units.tsv'));
  await until(() => said(tables, 'We sent 3 fltr today.') === 'We sent three fltr today.');
});

test('tables of a key apply to its own texts and calls alone, above those of the folder', async (t) => {
  const folder = folderOf(t, { 'en/short-forms.tsv': 'SLA\tserver words\n' });
  const tables = await open(t, { folder });
  const key = tables.identityOf('acme') ?? '';
  await tables.keys.put(key, 'en', 'short-forms', 'SLA\tservice level\n');
  const text = 'The SLA holds.';
  assert.equal(said(tables, text, 'acme'), 'The service level holds.');
  assert.equal(said(tables, text, 'rtc_1'), 'The service level holds.');
  assert.equal(said(tables, text, 'other'), 'The server words holds.');
  assert.equal(said(tables, text, '192.0.2.1'), 'The server words holds.');
  assert.equal(said(tables, text), 'The server words holds.');
  assert.notEqual(tables.layerFor('acme')?.id, tables.layerFor('other')?.id);
  assert.equal(tables.layerFor('acme'), tables.layerFor('acme'));
});

test('they are kept over a restart, also those of a key without a name, and files are whole', async (t) => {
  const keyFolder = folderOf(t);
  const first = await open(t, { keyFolder });
  for (const client of ['acme', 'key 1f']) {
    await first.keys.put(first.identityOf(client) ?? '', 'en', 'short-forms', `SLA\twords of ${client}\n`);
  }
  const again = await open(t, { keyFolder });
  assert.equal(said(again, 'The SLA holds.', 'acme'), 'The words of acme holds.');
  assert.equal(said(again, 'The SLA holds.', 'key 1f'), 'The words of key 1f holds.');
  assert.equal(said(again, 'The SLA holds.', 'other'), 'The S L A holds.');
  const files = readdirSync(keyFolder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.includes('.'),
  );
  assert.ok(
    files.every((path) => /^key_[0-9a-f]{32}\/en\/short-forms\.tsv$/.test(path)),
    files.join(),
  );
  assert.doesNotMatch(files.join(), /a-key-without-a-name|acme/);
});

test('a table is replaced and removed from the next sentence on', async (t) => {
  const keyFolder = folderOf(t);
  const tables = await open(t, { keyFolder });
  const key = tables.identityOf('acme') ?? '';
  await tables.keys.put(key, 'en', 'short-forms', 'SLA\tone\n');
  await tables.keys.put(key, 'en', 'short-forms', 'SLA\ttwo\n');
  assert.equal(said(tables, 'The SLA.', 'acme'), 'The two.');
  assert.equal(await tables.keys.remove(key, 'en', 'short-forms'), true);
  assert.equal(await tables.keys.remove(key, 'en', 'short-forms'), false);
  assert.equal(said(tables, 'The SLA.', 'acme'), 'The S L A.');
  assert.equal(said(await open(t, { keyFolder }), 'The SLA.', 'acme'), 'The S L A.');
});

test('all tables of a key have 2,000 rows and 200 kB at most', async (t) => {
  const tables = await open(t, {});
  const rows = (count: number, word: string) =>
    Array.from({ length: count }, (_, index) => `${word}${index}\tx\n`).join('');
  await tables.keys.put('k', 'en', 'units', rows(1500, 'u'));
  const many = await refusal(tables.keys.put('k', 'de', 'units', rows(501, 'u')));
  assert.equal(many.code, 'TOO_LARGE');
  assert.match(many.message, /would have 2001 rows, and 2000 is the most/);
  await tables.keys.put('k', 'de', 'units', rows(500, 'u'));
  await tables.keys.put('k', 'en', 'units', rows(1500, 'v')); // it replaces its own rows
  assert.deepEqual(tables.keys.sizeOf('k').rows, 2000);
  await tables.keys.put('other', 'en', 'units', rows(2000, 'u'));
  const single = await refusal(tables.keys.put('third', 'en', 'units', rows(2001, 'u')));
  assert.match(single.message, /line 2001: is row 2001; 2000 is the most/);
  const wide = (letter: string) =>
    Array.from({ length: 60 }, (_, index) => `${letter}${index}\t${'x'.repeat(1990)}\n`).join('');
  await tables.keys.put('wide', 'en', 'per', wide('a'));
  const bytes = await refusal(tables.keys.put('wide', 'en', 'units', wide('b')));
  assert.match(bytes.message, /would have \d+ bytes, and 200000 is the most/);
  const whole = await refusal(tables.keys.put('w', 'en', 'units', `# ${'x'.repeat(200_000)}`));
  assert.equal(whole.code, 'TOO_LARGE');
});

test('changes of a key at the same time are made one after the other, within the limits', async (t) => {
  const tables = await open(t, {});
  const rows = Array.from({ length: 900 }, (_, index) => `u${index}\tx\n`).join('');
  const puts = ['de', 'en', 'fr', 'it'].map((language) => tables.keys.put('k', language, 'units', rows));
  const settled = await Promise.allSettled(puts);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected'],
  );
  assert.equal(tables.keys.sizeOf('k').rows, 1800);
});

test('a stored file that was damaged is logged, listed with its error, and can be deleted', async (t) => {
  const keyFolder = folderOf(t);
  const first = await open(t, { keyFolder });
  const key = first.identityOf('acme') ?? '';
  await first.keys.put(key, 'en', 'short-forms', 'SLA\tone\n');
  await first.keys.put(key, 'en', 'units', 'fltr\tbarge|barges\n');
  const [path = ''] = readdirSync(keyFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('short-forms.tsv'),
  );
  assert.equal(readFileSync(join(keyFolder, path), 'utf8'), 'SLA\tone\n');
  writeFileSync(join(keyFolder, path), 'SLA\n');
  const lines: string[] = [];
  const again = await open(t, { keyFolder, lines });
  assert.equal(said(again, 'The SLA has 2 fltr.', 'acme'), 'The S L A has two barges.');
  assert.match(lines.join(''), /a stored text table is not used/);
  const [listed] = again.keys.list(key, 'en');
  assert.deepEqual([listed?.name, listed?.text, listed?.rows], ['short-forms', 'SLA\n', []]);
  assert.match(listed?.error ?? '', /^short-forms of en, line 1: has no tab/);
  assert.equal(await again.keys.remove(key, 'en', 'short-forms'), true);
  assert.deepEqual(
    again.keys.list(key, 'en').map(({ name }) => name),
    ['units'],
  );
});

test('a server without keys has one set of tables for all', async (t) => {
  const tables = await open(t, { apiKeys: [] });
  await tables.keys.put(tables.identityOf('192.0.2.1') ?? '', 'en', 'short-forms', 'SLA\tone\n');
  assert.equal(said(tables, 'The SLA.', '192.0.2.2'), 'The one.');
});
