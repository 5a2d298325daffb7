// Word tables over HTTP: each key has its own, which are kept over a restart and applied to its texts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createLog } from '../../../src/observe/log.js';
import { TextTables } from '../../../src/speaking/text-tables.js';
import { errorIn, openApp } from '../app-under-test.js';

const [ACME, OTHER] = ['0123456789abcdef', 'fedcba9876543210'];
const KEYS = [`acme ${ACME}`, `other ${OTHER}`];
const TABLES = '/v1/text/tables';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tables-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(t: TestContext, keyTablesDir = folderOf(t)) {
  const named = new Map([
    ['acme', { name: 'acme', key: ACME }],
    ['other', { name: 'other', key: OTHER }],
  ]);
  const tables = await TextTables.open({
    texts: { keyTablesDir },
    access: { apiKeys: KEYS, apiKeysFile: undefined },
    owners: { ownerOf: () => undefined, keyOf: (name) => named.get(name) },
    log: createLog({ level: 'silent', logText: false }),
  });
  const limits = { maxTextLength: 4096, maxNewTokens: 2048, maxUploadBytes: 0, tables };
  const { app } = await openApp(t, { apiKeys: KEYS, tables, limits });
  const request = async (method: 'GET' | 'PUT' | 'DELETE', url: string, more: Request = {}) => {
    const { key = ACME, body, type = 'text/tab-separated-values; charset=utf-8' } = more;
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': type }),
    };
    return app.inject({
      method,
      url: `${TABLES}/${url}`,
      headers,
      ...(body === undefined ? {} : { payload: body }),
    });
  };
  const spoken = async (text: string, key = ACME): Promise<string> => {
    const headers = { authorization: `Bearer ${key}` };
    const payload = { text, language: 'it' };
    const answer = await app.inject({ method: 'POST', url: '/v1/text/normalize', headers, payload });
    return answer
      .json<{ sentences: { spoken: string }[] }>()
      .sentences.map((one) => one.spoken)
      .join(' ');
  };
  return { request, spoken };
}

interface Request {
  readonly key?: string;
  readonly body?: string | Buffer;
  readonly type?: string;
}

const ROWS = '# case\n{n} stz.\t{n} stanze\nid:A\\d-\\d{5}\t\tpairs\n';

test('a table is stored, listed, read, applied and removed', async (t) => {
  const { request, spoken } = await open(t);
  const put = await request('PUT', 'it/patterns', { body: ROWS });
  assert.equal(put.statusCode, 200);
  const { changed_at: changedAt, ...table } = put.json();
  assert.deepEqual(table, { object: 'text.table', language: 'it', class: 'patterns', rows: 2, bytes: 47 });
  assert.ok(Math.abs(Date.parse(changedAt) - Date.now()) < 60_000);
  const list = (await request('GET', 'it')).json();
  assert.deepEqual(list, {
    object: 'list',
    data: [put.json()],
    rows: 2,
    bytes: 47,
    max_rows: 2000,
    max_bytes: 200_000,
  });
  const got = await request('GET', 'it/patterns');
  assert.deepEqual(
    [got.headers['content-type'], got.body],
    ['text/tab-separated-values; charset=utf-8', ROWS],
  );
  assert.equal(
    await spoken('Ci sono 5 stz. qui. Ordine A1-12345.'),
    'Ci sono cinque stanze qui. Ordine A uno dodici trentaquattro cinque.',
  );
  assert.equal((await request('DELETE', 'it/patterns')).statusCode, 204);
  const again = await request('DELETE', 'it/patterns');
  assert.equal(again.statusCode, 404);
  assert.equal(errorIn(again.body).message, 'this key has no table patterns of it');
  assert.equal((await request('GET', 'it/patterns')).statusCode, 404);
  assert.equal(await spoken('Ci sono 5 stz.'), 'Ci sono cinque stz.');
});

test('each key has its own tables, also after a restart', async (t) => {
  const folder = folderOf(t);
  const first = await open(t, folder);
  await first.request('PUT', 'it/units', { body: 'loc.\tlocale|locali\tm\n', type: 'text/plain' });
  await first.request('PUT', 'it/units', { key: OTHER, body: 'loc.\tlocalità|località\tf\n' });
  for (const server of [first, await open(t, folder)]) {
    assert.equal(await server.spoken('Ci sono 5 loc. qui.'), 'Ci sono cinque locali qui.');
    assert.equal(await server.spoken('Ci sono 5 loc. qui.', OTHER), 'Ci sono cinque località qui.');
  }
  const { statusCode } = await first.request('GET', 'it', { key: 'not-a-key-of-this-server' });
  assert.equal(statusCode, 401);
});

test('a bad row is refused with its number, and the table stays', async (t) => {
  const { request, spoken } = await open(t);
  await request('PUT', 'it/units', { body: 'loc.\tlocale|locali\tm\n' });
  const bad = await request('PUT', 'it/units', { body: '# x\nkm\tchilometro\tx\n' });
  assert.equal(bad.statusCode, 400);
  assert.equal(errorIn(bad.body).message, 'units of it, line 2, column "gender": is "x"; allowed: m, f, n');
  const pattern = await request('PUT', 'it/patterns', { body: 'a\\w\tb\n' });
  assert.match(
    errorIn(pattern.body).message,
    /patterns of it, line 1, column "written": has "\\w", but a pattern/,
  );
  assert.equal(await spoken('Ci sono 5 loc. qui.'), 'Ci sono cinque locali qui.');
});

test('an unknown language or class is refused with a list of them', async (t) => {
  const { request } = await open(t);
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const more = method === 'PUT' ? { body: ROWS } : {};
    const name = await request(method, 'it/unit', more);
    assert.equal(name.statusCode, 404);
    assert.match(
      errorIn(name.body).message,
      /no class "unit" of word tables; the classes are units, currencies/,
    );
    const language = await request(method, 'tlh/units', more);
    assert.equal(language.statusCode, 404);
    assert.match(
      errorIn(language.body).message,
      /no language "tlh" of word tables; the languages are .*de, /,
    );
  }
  assert.equal((await request('GET', 'tlh')).statusCode, 404);
  const { class: name, language } = (await request('PUT', 'PT-pt/units', { body: 'a\tb\n' })).json();
  assert.deepEqual([name, language], ['units', 'pt-PT']);
});

test('the body is UTF-8 text of 200 kB and 2,000 rows at most', async (t) => {
  const { request } = await open(t);
  const json = await request('PUT', 'it/units', { body: '{}', type: 'application/json' });
  assert.equal(json.statusCode, 415);
  const latin = await request('PUT', 'it/units', { body: 'a\tb\n', type: 'text/plain; charset=iso-8859-1' });
  assert.equal(latin.statusCode, 415);
  const broken = await request('PUT', 'it/units', { body: Buffer.from([0x61, 0x09, 0xff]) });
  assert.equal(broken.statusCode, 400);
  const large = await request('PUT', 'it/units', { body: `# ${'x'.repeat(200_000)}` });
  assert.equal(large.statusCode, 413);
  const rows = Array.from({ length: 2001 }, (_, index) => `u${index}\tx\n`).join('');
  const many = await request('PUT', 'it/units', { body: rows });
  assert.match(errorIn(many.body).message, /line 2001: is row 2001; 2000 is the most/);
  await request('PUT', 'it/units', { body: rows.slice(0, rows.indexOf('u1500')) });
  const together = await request('PUT', 'it/per', { body: rows.slice(rows.indexOf('u1500')) });
  assert.equal(together.statusCode, 413);
  assert.match(errorIn(together.body).message, /would have 2001 rows, and 2000 is the most/);
});
