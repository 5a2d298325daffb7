import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { joinedCalls } from '../../call/joined-calls.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { errorIn, openApp, PAGE_FOLDER } from '../app-under-test.js';
import { documentOf, operationsOf, type Schema } from '../openapi-document.js';

const calls = openCalls();

/** Fails where the value is not what the schema says. */
async function assertValid(schema: Schema, value: unknown, where: string): Promise<void> {
  const app = fastify({
    ajv: { customOptions: { strict: false, coerceTypes: false, removeAdditional: false } },
  });
  app.post('/', { schema: { body: schema } }, () => 'valid');
  const answer = await app.inject({ method: 'POST', url: '/', payload: value as object });
  await app.close();
  assert.equal(answer.body, 'valid', where);
}

test('the document knows every route of the server, but those of its pages', async (t) => {
  const known: string[] = [];
  const hidden: string[] = [];
  const under = await openApp(t, {}, (app) =>
    app.addHook('onRoute', ({ method, url, schema }) => {
      if (method === 'HEAD') return;
      const path = url.replace(/:(\w+)/g, '{$1}');
      const one = [method].flat().find((name) => name !== 'HEAD') ?? '';
      (schema?.hide === true ? hidden : known).push(`${one} ${path}`);
    }),
  );
  const operations = operationsOf(await documentOf(under));
  assert.deepEqual(operations.map(({ method, path }) => `${method} ${path}`).sort(), known.sort());
  assert.ok(known.includes('POST /v1/audio/speech') && known.includes('GET /health'));
  assert.deepEqual(
    hidden.filter(
      (route) =>
        !/^GET \/(?:docs(?:\/.*)?|guide(?:\/(?:examples\/)?[\w.-]*)?|openapi\.json|(?:[\w-]+\.[a-z]+)?)$/.test(
          route,
        ),
    ),
    [],
  );
});

test('every operation says what it does, what it answers, and who may ask', async (t) => {
  const document = await documentOf(await openApp(t));
  assert.equal(document.openapi, '3.1.0');
  for (const { method, path, operation } of operationsOf(document)) {
    const where = `${method} ${path}`;
    assert.ok((operation.summary ?? '').length > 5, where);
    assert.equal(operation.tags?.length, 1, where);
    const answers = Object.entries(operation.responses);
    assert.ok(answers.some(([status]) => /^2\d\d$/.test(status)) && answers.length > 1, where);
    for (const [status, { description }] of answers) {
      assert.ok(status === 'default' || (description ?? '') !== 'Default Response', `${where} ${status}`);
    }
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      parameters.map(({ name }) => name),
      named,
      where,
    );
    assert.deepEqual(operation.security, path === '/health' ? [] : [{ bearer: [] }, { xiApiKey: [] }], where);
  }
});

test('every reference of the document leads somewhere in it', async (t) => {
  const document = await documentOf(await openApp(t));
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, target]) => target ?? '',
  );
  assert.ok(references.length > 10);
  for (const target of new Set(references)) {
    assert.ok(target.startsWith('#/'), target);
    const found = target
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
    assert.equal(typeof found, 'object', target);
  }
});

test('lists are what the document says they are, and so is an error', async (t) => {
  const under = await openApp(t, { joining: joinedCalls(t, calls).joining });
  const document = await documentOf(under);
  const lists = operationsOf(document).filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  assert.ok(lists.length > 4);
  for (const { path, operation } of lists) {
    const schema = operation.responses['200']?.content?.['application/json']?.schema;
    if (schema === undefined) continue;
    const answer = await under.app.inject(path);
    assert.equal(answer.statusCode, 200, path);
    await assertValid(schema, answer.json(), path);
  }
  const model = document.paths['/v1/models/{id}']?.['get']?.responses['200']?.content?.['application/json'];
  assert.ok(model !== undefined);
  await assertValid(model.schema, (await under.app.inject('/v1/models/parley')).json(), 'one model');
  const error = document.components.schemas['Error'];
  assert.ok(error !== undefined);
  await assertValid(error, (await under.app.inject('/v1/models/none')).json(), 'an error');
});

test('an answer is held against the document in every field that it must have', async () => {
  const schema: Schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  await assert.rejects(assertValid(schema, { a: 1 }, ''));
  await assert.rejects(assertValid(schema, {}, ''));
});

test('document and page are open where other addresses want a key', async (t) => {
  const { app } = await openApp(t, { apiKeys: ['k'.repeat(16)] });
  for (const url of ['/openapi.json', '/docs', '/docs/json', '/docs/static/swagger-ui-bundle.js']) {
    assert.equal((await app.inject(url)).statusCode, 200, url);
  }
  const closed = await app.inject('/v1/models');
  assert.equal(closed.statusCode, 401);
  assert.equal(errorIn(closed.body).code, 'invalid_api_key');
});

test('the page of the document may have one style in itself, and the policy of the main page is as strict as before', async (t) => {
  const { app } = await openApp(t);
  const policyOf = async (url: string) => String((await app.inject(url)).headers['content-security-policy']);
  const main = await policyOf('/');
  assert.match(main, /script-src 'self'; style-src 'self';/);
  const page = await policyOf('/docs');
  assert.match(page, /script-src 'self'; style-src 'self' 'sha256-[\w+/]{43}=';/);
  assert.equal(page.replace(/ 'sha256-[^']+'/, ''), main);
  assert.match(await policyOf('/v1/models'), /^default-src 'none'; frame-ancestors 'none'$/);
});

const KEY = 'k'.repeat(16);
const NAMES = readdirSync(join(PAGE_FOLDER, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.replace(/\.md$/, ''));
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

test('an example beside the pages is served as text that no browser takes for a page', async (t) => {
  const { app } = await openApp(t);
  const example = await app.inject('/guide/examples/talk.html');
  assert.equal(example.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(example.headers['x-content-type-options'], 'nosniff');
  assert.equal(example.body, readFileSync(join(PAGE_FOLDER, 'docs', 'examples', 'talk.html'), 'utf8'));
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

test('the search finds sections by words of headings and texts, and links to their headings', async (t) => {
  const { app } = await openApp(t, { apiKeys: [KEY] });
  const search = async (query: string) => {
    const body = await pageAt(app, `/guide/search?q=${encodeURIComponent(query)}`);
    const links = Array.from(body.matchAll(/<li><a href="([^"]+#[^"]+)">(.*?)<\/a>/g));
    return { body, hrefs: links.map(([, href]) => href), headings: links.map(([, , heading]) => heading) };
  };
  const byHeading = await search('MESSAGES to the Server');
  assert.equal(byHeading.hrefs[0], '/guide/webrtc#messages-to-the-server');
  assert.equal(
    byHeading.headings[0],
    '<mark>Messages</mark> <mark>to</mark> <mark>the</mark> <mark>server</mark>',
  );
  const byText = await search('collect_digits');
  assert.equal(byText.hrefs[0], '/guide/agents#functions');
  assert.match(byText.body, /<p>[^<]*<mark>collect_digits<\/mark>/);
  assert.ok((await search('TURN_SECRET')).hrefs.includes('/guide/configuration#calls-network-of-browsers'));
  for (const href of [...byHeading.hrefs, ...byText.hrefs]) {
    const [path = '', anchor] = String(href).split('#');
    assert.ok((await pageAt(app, path)).includes(` id="${anchor}"`), href);
  }
  const none = await search('xyzzy <b>"plugh"</b>');
  assert.deepEqual(none.hrefs, []);
  assert.match(none.body, /No section has all words of “xyzzy &lt;b&gt;&quot;plugh&quot;&lt;\/b&gt;”/);
  assert.match((await search('.*(')).body, /No section has/, 'no regular expression');
  for (const query of ['?q=', '', '?q=a&q=b', `?q=${'x'.repeat(5000)}`])
    assert.equal((await app.inject(`/guide/search${query}`)).statusCode, 200, query.slice(0, 20));
});

test('a missing folder of pages is an error that names the folder', async (t) => {
  const pageFolder = mkdtempSync(join(tmpdir(), 'parley-guide-'));
  t.after(() => rmSync(pageFolder, { recursive: true }));
  await assert.rejects(openApp(t, { pageFolder }), (error: Error) =>
    error.message.includes(`cannot be read from ${join(pageFolder, 'docs')}: ENOENT`),
  );
});
