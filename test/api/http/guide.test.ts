import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openApp, PAGE_FOLDER } from '../app-under-test.js';

const KEY = 'k'.repeat(16);
const NAMES = readdirSync(join(PAGE_FOLDER, 'docs')).map((name) => name.replace(/\.md$/, ''));
const PATHS = NAMES.map((name) => (name === 'README' ? '/guide' : `/guide/${name}`));

type App = Awaited<ReturnType<typeof openApp>>['app'];

async function pageAt(app: App, url: string): Promise<string> {
  const answer = await app.inject(url);
  assert.deepEqual(
    [answer.statusCode, answer.headers['content-type']],
    [200, 'text/html; charset=utf-8'],
    url,
  );
  return answer.body;
}

test('every page of public/docs is served as HTML, without a key, as safely as the call page', async (t) => {
  const { app } = await openApp(t, { apiKeys: [KEY] });
  const policy = (await app.inject('/')).headers['content-security-policy'];
  assert.ok(PATHS.length > 10);
  for (const path of PATHS) {
    const { headers, body } = await app.inject(path);
    assert.equal(headers['content-security-policy'], policy, path);
    assert.equal(headers['cache-control'], 'no-cache');
    assert.match(body, /^<!doctype html>\n<html lang="en">/);
    assert.match(body, /<meta name="viewport" content="width=device-width/);
    assert.doesNotMatch(body, /<script|<style| style=| on\w+=/);
  }
});

test('every link and every anchor leads to something at this server, or to another one', async (t) => {
  const { app } = await openApp(t, { apiKeys: [KEY] });
  let count = 0;
  for (const path of PATHS) {
    for (const [, href = ''] of (await pageAt(app, path)).matchAll(/href="([^"]+)"/g)) {
      if (/^https?:/.test(href)) continue;
      count++;
      const [target = '', anchor] = href.split('#');
      const url = target === '' ? path : target;
      const answer = await app.inject(url);
      assert.equal(answer.statusCode, 200, `${path}: ${href}`);
      if (anchor !== undefined) assert.ok(answer.body.includes(` id="${anchor}"`), `${path}: ${href}`);
    }
  }
  assert.ok(count > 200, `${count} links`);
});

test('each page names itself and leads to all others', async (t) => {
  const { app } = await openApp(t);
  for (const path of PATHS) {
    const body = await pageAt(app, path);
    const nav = /<nav[^]*<\/nav>/.exec(body)?.[0] ?? '';
    const listed = Array.from(nav.matchAll(/href="([^"]+)"/g), ([, href]) => href);
    assert.deepEqual([listed.length, new Set(listed)], [PATHS.length, new Set(PATHS)]);
    assert.ok(nav.includes(`href="${path}" aria-current="page"`), path);
    const [, title] = /<h1 id="[^"]+">(.+?)<\/h1>/.exec(body) ?? [];
    assert.ok(title !== undefined && body.includes(`<title>${title} · Parley</title>`), path);
  }
});

test('tables, code and quotes survive, and Markdown itself is not served', async (t) => {
  const { app } = await openApp(t);
  const body = await pageAt(app, '/guide/http-api');
  assert.match(body, /<td><code>flac<\/code><\/td>/);
  assert.match(
    body,
    /<code class="language-sh">curl http:\/\/127\.0\.0\.1:8080\/v1\/audio\/speech -H &#39;content-type/,
  );
  for (const url of ['/docs/http-api.md', '/guide/http-api.md', '/guide/nothing', '/guide/../README']) {
    assert.equal((await app.inject(url)).statusCode, 404, url);
  }
  assert.match((await app.inject('/')).body, /<a href="guide">Guide<\/a>/);
  const { statusCode, headers } = await app.inject('/guide/');
  assert.deepEqual([statusCode, headers['location']], [302, '/guide']);
});

test('a missing folder of pages is an error that names the folder', async (t) => {
  const pageFolder = mkdtempSync(join(tmpdir(), 'parley-guide-'));
  t.after(() => rmSync(pageFolder, { recursive: true }));
  await assert.rejects(openApp(t, { pageFolder }), (error: Error) =>
    error.message.includes(`cannot be read from ${join(pageFolder, 'docs')}: ENOENT`),
  );
});
