// `parley pull` against hubs, networks and disks that fail: what it says, and what it keeps.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DISK } from '../../src/models/blob-download.js';
import { until } from '../fakes/until.js';
import { COMMIT, FakeHub, refuse, sendPart } from './fake-hub.js';
import { FILES, ID, NAME, PullUnderTest } from './pull-under-test.js';

const WEIGHTS = 'model.safetensors';
const BYTES = FILES[WEIGHTS] as Buffer;
const SHA = createHash('sha256').update(BYTES).digest('hex');
const TOKEN = 'hf_secret';

test('a wrong checksum deletes the file and names both checksums', async (t) => {
  for (const path of [WEIGHTS, 'merges.txt']) {
    const under = await PullUnderTest.open(t);
    const wrong = Buffer.from(FILES[path] ?? []);
    wrong[1] = 0;
    under.hub.replaced.set(path, wrong);
    assert.equal(await under.run(), 1);
    assert.match(
      under.err,
      new RegExp(
        `parley: ${path} has the checksum [0-9a-f]+, but the hub lists [0-9a-f]+; the file is deleted\n$`,
      ),
    );
    const blobs = readdirSync(join(under.model, 'blobs'));
    assert.ok(!blobs.some((name) => name.endsWith('.incomplete')), blobs.join());
    assert.equal(under.hub.requestsOf(`${COMMIT}/${path}`).length, 1);
  }
});

test('a file of another size than the hub lists is refused', async (t) => {
  const under = await PullUnderTest.open(t);
  under.hub.replaced.set(WEIGHTS, BYTES.subarray(1));
  assert.equal(await under.run(), 1);
  assert.match(under.err, /parley: model\.safetensors has 2999999 bytes, but the hub lists 3000000\n$/);
  under.hub.before = (_request, response, path) => {
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`)) return false;
    response.write(BYTES); // in chunks: no length is stated
    response.end('more');
    return true;
  };
  assert.equal(await under.run(), 1);
  assert.match(under.err, /has more than the 3000000 bytes that the hub lists\n$/);
});

test('too little space is reported before the first byte, with both figures and the folder', async (t) => {
  const under = await PullUnderTest.open(t);
  const disk = { ...DISK, freeBytes: () => Promise.resolve(50e6) };
  assert.equal(await under.run(NAME, { disk }), 1);
  assert.equal(
    under.err,
    `parley: ${under.cache} needs 71 MB of free space and has 50 MB; HF_HOME names another folder\n`,
  );
  assert.deepEqual(
    under.hub.asked.filter(({ path }) => path.includes('/resolve/')),
    [],
  );
});

test('a disk that fills up in the middle keeps the partial file, and the next pull goes on', async (t) => {
  const under = await PullUnderTest.open(t);
  let written = 0;
  const disk = {
    ...DISK,
    append: async (...[file, bytes]: Parameters<typeof DISK.append>) => {
      if (written + bytes.length > 1_500_000) throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
      written += bytes.length;
      await DISK.append(file, bytes);
    },
  };
  assert.equal(await under.run(NAME, { disk }), 1);
  assert.match(
    under.err,
    /parley: the disk is full \(ENOSPC\) after \d+ of 3000000 bytes of model\.safetensors; .*\.incomplete is kept, and the same command resumes\n$/,
  );
  const kept = readFileSync(join(under.model, 'blobs', `${SHA}.incomplete`)).length;
  assert.ok(kept > 1_000_000, `${kept} bytes are kept`);
  assert.equal(await under.run(), 0, under.err);
  assert.equal(under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`).at(-1)?.range, `bytes=${kept}-`);
});

test('refusals of the hub name the token, the access or the names, and are not tried again', async (t) => {
  for (const [status, code, env, message] of [
    [401, 'RepoNotFound', {}, /does not exist, or needs a token: check the name, or set HF_TOKEN/],
    [401, 'Refused', { HF_TOKEN: TOKEN }, /the hub refuses the token of HF_TOKEN/],
    [403, 'GatedRepo', {}, /is not open to everybody: set HF_TOKEN; request access at http:/],
    [403, 'GatedRepo', { HF_TOKEN: TOKEN }, /the account of HF_TOKEN has no access; request access at http:/],
    [404, 'RepoNotFound', {}, /the hub has no model .* known short names: qwen3-tts-0\.6b, .*qwen3-aligner/],
    [418, 'Teapot', {}, /the hub answers with status 418/],
  ] as const) {
    const under = await PullUnderTest.open(t);
    under.hub.before = (_request, response) => {
      refuse(response, status, code);
      return true;
    };
    assert.equal(await under.run(NAME, { env }), 1);
    assert.match(under.err, message);
    assert.equal(under.hub.asked.length, 1);
    assert.ok(!under.err.includes(TOKEN) && !existsSync(under.model));
  }
});

test('a revision that the hub lacks is named', async (t) => {
  const under = await PullUnderTest.open(t);
  assert.equal(await under.run(`${ID}@v9`), 1);
  assert.equal(under.err, `parley: ${ID} has no revision v9\n`);
});

test('429 waits as long as Retry-After says, 5xx with growing pauses', async (t) => {
  const under = await PullUnderTest.open(t);
  const statuses = [429, 500, 503];
  under.hub.before = (_request, response) => {
    const status = statuses.shift();
    if (status !== undefined) refuse(response, status, 'Busy', status === 429 ? { 'retry-after': '7' } : {});
    return status !== undefined;
  };
  assert.equal(await under.run(), 0, under.err);
  assert.deepEqual(under.pauses, [7, 2, 4]);
});

test('five failures in succession end the pull, and a Retry-After of an hour does at once', async (t) => {
  const under = await PullUnderTest.open(t);
  let headers = {};
  under.hub.before = (_request, response) => {
    refuse(response, 503, 'Busy', headers);
    return true;
  };
  assert.equal(await under.run(), 1);
  assert.deepEqual([under.pauses, under.hub.asked.length], [[1, 2, 4, 8], 5]);
  assert.match(
    under.err,
    /parley: the hub answers with status 503, 5 times in succession; the same command resumes\n$/,
  );
  headers = { 'retry-after': '3600' };
  assert.equal(await under.run(), 1);
  assert.match(under.err, /asks to wait for 3600 s; the same command resumes\n$/);
});

test('a server that stops sending, or never answers, is given up after 30 s and tried again', async (t) => {
  const under = await PullUnderTest.open(t);
  let [silent, sent] = [0, 0];
  under.hub.before = (_request, response, path) => {
    if (path.endsWith('revision/main') && silent === 0) return (silent = 1) === 1;
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`) || sent++ > 0) return false;
    response.writeHead(200, { 'content-length': BYTES.length });
    response.write(BYTES.subarray(0, 1_000_000));
    return true;
  };
  const pulling = under.run();
  await until(() => under.hub.asked.length === 1);
  under.time.advance(29_999);
  assert.equal(under.err, '');
  under.time.advance(1);
  const partial = join(under.model, 'blobs', `${SHA}.incomplete`);
  await until(() => existsSync(partial) && readFileSync(partial).length === 1_000_000);
  // The last chunk is counted after it is written: the timer of the wait for the next one is the only one.
  await until(() => under.err.includes('30 %'));
  await until(() => {
    under.time.advance(30_000);
    return under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`).length === 2;
  });
  assert.equal(await pulling, 0, under.err);
  assert.match(under.err, /nothing came for 30 s; another try in 1 s\n/);
  assert.equal(under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`)[1]?.range, 'bytes=1000000-');
});

test('a redirect to another origin is followed without the token, with the range', async (t) => {
  const under = await PullUnderTest.open(t);
  const store = await FakeHub.open(t, ID, FILES);
  store.before = (request, response) => {
    sendPart(request, response, BYTES);
    return true;
  };
  let requests = 0;
  under.hub.before = (_request, response, path) => {
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`)) return false;
    const first = requests++ === 0;
    if (first)
      response
        .writeHead(200, { 'content-length': BYTES.length })
        .write(BYTES.subarray(0, 1000), () => response.destroy());
    else refuse(response, 302, '', { location: `${store.url}/store/${WEIGHTS}?signature=1` });
    return true;
  };
  assert.equal(await under.run(NAME, { env: { HF_TOKEN: TOKEN } }), 0, under.err);
  assert.ok(under.hub.asked.every(({ authorization }) => authorization === `Bearer ${TOKEN}`));
  assert.deepEqual(
    store.asked.map(({ authorization }) => authorization),
    [undefined],
  );
  assert.match(store.asked[0]?.range ?? '', /^bytes=\d+-$/);
  assert.ok(![under.err, under.out].join('').includes(TOKEN));
});

test('a store that refuses an expired signature is asked again by way of the hub', async (t) => {
  const under = await PullUnderTest.open(t);
  const store = await FakeHub.open(t, ID, FILES);
  let refused = 0;
  store.before = (request, response) => {
    if (refused++ === 0) refuse(response, 403);
    else sendPart(request, response, BYTES);
    return true;
  };
  under.hub.before = (_request, response, path) => {
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`)) return false;
    refuse(response, 302, '', { location: `${store.url}/store` });
    return true;
  };
  assert.equal(await under.run(), 0, under.err);
  assert.equal(under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`).length, 2);
});

test('redirects in a circle and to other protocols end the pull', async (t) => {
  for (const [location, message] of [
    ['/again', /the hub redirects more than 5 times\n$/],
    ['file:///etc/passwd', /the hub redirects to an address that is not https\n$/],
  ] as const) {
    const under = await PullUnderTest.open(t);
    under.hub.before = (_request, response) => {
      refuse(response, 307, '', { location });
      return true;
    };
    assert.equal(await under.run(), 1);
    assert.match(under.err, message);
  }
});

test('names that lead out of the cache are refused before anything is written', async (t) => {
  for (const path of [
    '../config.json',
    '/etc/config.json',
    'a/../../config.json',
    './config.json',
    'a\\config.json',
    'speech_tokenizer//config.json',
    '',
  ]) {
    const under = await PullUnderTest.open(t);
    under.hub.extra = [{ type: 'file', path, size: 1, oid: 'a'.repeat(40) }];
    assert.equal(await under.run(), 1);
    assert.equal(under.err, `parley: the hub lists a file ${JSON.stringify(path)}\n`);
    assert.ok(!existsSync(under.model));
  }
});

test('lists without checksums or sizes, and answers that are no lists, are refused', async (t) => {
  const file = { type: 'file', path: 'vocab.json', size: 1, oid: 'a'.repeat(40) };
  for (const [extra, message] of [
    [{ ...file, oid: '../../etc' }, /lists no checksum of vocab\.json/],
    [{ ...file, lfs: { oid: 'a'.repeat(40), size: 1 } }, /lists no checksum of vocab\.json/],
    [{ ...file, size: -1 }, /lists no size of vocab\.json/],
    [{ ...file, size: 1.5 }, /lists no size of vocab\.json/],
  ] as const) {
    const under = await PullUnderTest.open(t);
    under.hub.extra = [extra];
    assert.equal(await under.run(), 1);
    assert.match(under.err, message);
  }
  for (const [body, message] of [
    ['<html>', /sends something that is no JSON; is HF_ENDPOINT the address of a hub\?/],
    ['null', /names no commit/],
    ['{"sha":"../../x"}', /names no commit/],
  ] as const) {
    const under = await PullUnderTest.open(t);
    under.hub.before = (_request, response) => {
      response.end(body);
      return true;
    };
    assert.equal(await under.run(), 1);
    assert.match(under.err, message);
  }
});

test('a repository without weights is no checkpoint', async (t) => {
  const under = await PullUnderTest.open(t, { 'config.json': Buffer.from('{}') });
  assert.equal(await under.run(), 1);
  assert.match(
    under.err,
    /is no checkpoint that an engine reads: it lacks config\.json or a file \*\.safetensors\n$/,
  );
});

test('names, endpoints and tokens that cannot be right are refused without a request', async (t) => {
  const under = await PullUnderTest.open(t);
  for (const name of [
    'qwen9',
    'a/b/c',
    '../b',
    'a/..',
    '/etc/x',
    'a/b@',
    'a/b@../main',
    'a/b@c d',
    'a--b/c',
    '',
    'a/b@x/../y',
  ]) {
    assert.equal(await under.run(name), 1, name);
    assert.match(
      under.err,
      /^parley: (?:".*" is no name of a model; use owner\/name or one of qwen3-tts-0\.6b|the revision must be)/,
      name,
    );
  }
  for (const HF_ENDPOINT of [
    'ftp://x',
    'nonsense',
    'http://user:secret@127.0.0.1',
    'http://127.0.0.1/?a=b',
  ]) {
    assert.equal(await under.run(NAME, { env: { HF_ENDPOINT } }), 1);
    assert.match(
      under.err,
      /^parley: HF_ENDPOINT must be an http\(s\) address without user, query and fragment\n$/,
    );
  }
  assert.equal(await under.run(NAME, { env: { HF_TOKEN: 'two words' } }), 1);
  assert.equal(under.err, 'parley: HF_TOKEN must consist of visible ASCII characters\n');
  assert.deepEqual(under.hub.asked, []);
});

test('a hub that cannot be reached is named after five tries', async (t) => {
  const under = await PullUnderTest.open(t);
  assert.equal(await under.run(NAME, { env: { HF_ENDPOINT: 'http://127.0.0.1:1' } }), 1);
  assert.match(
    under.err,
    /parley: the connection to 127\.0\.0\.1:1 failed \(.+\), 5 times in succession; the same command resumes\n$/,
  );
});
