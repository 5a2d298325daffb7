// `parley pull`: the whole way into the cache, and what it does not fetch again.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { until } from '../fakes/until.js';
import { COMMIT, refuse, sendPart } from './fake-hub.js';
import { FETCHED, FILES, ID, NAME, PullUnderTest } from './pull-under-test.js';

const WEIGHTS = 'model.safetensors';
const BYTES = FILES[WEIGHTS] as Buffer;
const SHA = createHash('sha256').update(BYTES).digest('hex');

test('a pulled model is in the cache as huggingface_hub leaves it, and MODEL_ID finds it', async (t) => {
  const under = await PullUnderTest.open(t);
  assert.equal(readConfig({ HF_HUB_CACHE: under.cache, MODEL_ID: ID }).model.directory, undefined);
  assert.equal(await under.run(), 0, under.err);
  const snapshot = join(under.model, 'snapshots', COMMIT);
  const found = readdirSync(snapshot, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(found.toSorted(), [...FETCHED, 'speech_tokenizer'].toSorted());
  for (const path of FETCHED) {
    assert.deepEqual(readFileSync(join(snapshot, path)), Buffer.from(FILES[path] ?? []), path);
    assert.ok(lstatSync(join(snapshot, path)).isSymbolicLink());
  }
  assert.equal(readlinkSync(join(snapshot, WEIGHTS)), `../../blobs/${SHA}`);
  assert.equal(readFileSync(join(under.model, 'refs', 'main'), 'utf8'), COMMIT);
  assert.equal(readConfig({ HF_HUB_CACHE: under.cache, MODEL_ID: ID }).model.directory, snapshot);
  assert.match(under.out, new RegExp(`^${ID} \\(0123456789ab, 3\\.1 MB\\) is complete: ${snapshot}\n`));
  assert.match(under.out, new RegExp(`Start with it: MODEL_ID=${ID} npm start\n$`));
});

for (const [type, prefix] of [
  ['qwen3_asr', 'ASR_'],
  ['qwen3_forced_aligner', 'ALIGNER_'],
]) {
  test(`a pulled ${type} is started with ${prefix}MODEL_ID`, async (t) => {
    const config = JSON.stringify({
      model_type: 'qwen3_asr',
      thinker_config: { model_type: type },
    });
    const under = await PullUnderTest.open(t, { ...FILES, 'config.json': Buffer.from(config) });
    assert.equal(await under.run(), 0, under.err);
    assert.match(under.out, new RegExp(`Start with it: ${prefix}MODEL_ID=${ID} npm start\n$`));
  });
}

test('files that are complete are not fetched again, and those that engines do not read never', async (t) => {
  const under = await PullUnderTest.open(t);
  await under.run();
  const asked = under.hub.asked.filter(({ path }) => path.includes('/resolve/')).map(({ path }) => path);
  assert.deepEqual(asked.toSorted(), FETCHED.map((path) => `/${ID}/resolve/${COMMIT}/${path}`).toSorted());
  under.hub.asked.length = 0;
  assert.equal(await under.run(), 0, under.err);
  assert.deepEqual(
    under.hub.asked.filter(({ path }) => path.includes('/resolve/')),
    [],
  );
});

test('after a broken connection only the missing bytes are asked for, in the same run', async (t) => {
  const under = await PullUnderTest.open(t);
  let broken = 0;
  under.hub.before = (_request, response, path) => {
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`) || broken++ > 0) return false;
    response.writeHead(200, { 'content-length': BYTES.length });
    response.write(BYTES.subarray(0, 1_000_000), () => response.destroy());
    return true;
  };
  assert.equal(await under.run(), 0, under.err);
  const [first, second, ...more] = under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`);
  assert.deepEqual([first?.range, more], [undefined, []]);
  assert.match(second?.range ?? '', /^bytes=[1-9]\d*-$/);
  assert.deepEqual(readFileSync(join(under.model, 'snapshots', COMMIT, WEIGHTS)), BYTES);
  assert.match(under.err, /the connection to 127\.0\.0\.1:\d+ failed \(.+\); another try in 1 s/);
});

test('a partial file of an earlier run goes on where it ends', async (t) => {
  const under = await PullUnderTest.open(t);
  mkdirSync(join(under.model, 'blobs'), { recursive: true });
  writeFileSync(join(under.model, 'blobs', `${SHA}.incomplete`), BYTES.subarray(0, 2_000_000));
  assert.equal(await under.run(), 0, under.err);
  assert.deepEqual(
    under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`).map(({ range }) => range),
    ['bytes=2000000-'],
  );
  assert.ok(!existsSync(join(under.model, 'blobs', `${SHA}.incomplete`)));
});

test('a partial file with other bytes, or too many, is fetched from its beginning', async (t) => {
  for (const [bytes, ranges] of [
    [Buffer.alloc(1000), ['bytes=1000-', undefined]],
    [Buffer.alloc(BYTES.length), [undefined]], // whole, but wrong: nothing is left to ask for
    [Buffer.alloc(BYTES.length + 1), [undefined]],
  ] as const) {
    const under = await PullUnderTest.open(t);
    mkdirSync(join(under.model, 'blobs'), { recursive: true });
    writeFileSync(join(under.model, 'blobs', `${SHA}.incomplete`), bytes);
    assert.equal(await under.run(), 0, under.err);
    assert.deepEqual(
      under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`).map(({ range }) => range),
      ranges,
    );
    assert.deepEqual(readFileSync(join(under.model, 'snapshots', COMMIT, WEIGHTS)), BYTES);
  }
});

test('a server without ranges sends the whole file again', async (t) => {
  const under = await PullUnderTest.open(t);
  mkdirSync(join(under.model, 'blobs'), { recursive: true });
  writeFileSync(join(under.model, 'blobs', `${SHA}.incomplete`), BYTES.subarray(0, 500));
  under.hub.before = (request, response, path) => {
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`)) return false;
    delete request.headers.range;
    sendPart(request, response, BYTES);
    return true;
  };
  assert.equal(await under.run(), 0, under.err);
  assert.deepEqual(readFileSync(join(under.model, 'snapshots', COMMIT, WEIGHTS)), BYTES);
});

test('a revision is pinned: its reference is written, and MODEL_DIR names its folder', async (t) => {
  const under = await PullUnderTest.open(t);
  assert.equal(await under.run(`${ID}@v1`), 0, under.err);
  const snapshot = join(under.model, 'snapshots', COMMIT);
  assert.match(under.out, new RegExp(`Start with it: MODEL_DIR=${snapshot} npm start\n$`));
  assert.deepEqual(readdirSync(join(under.model, 'refs')), ['v1']);
  assert.equal(await under.run(`${NAME}@${COMMIT}`), 0, under.err);
  assert.deepEqual(readdirSync(join(under.model, 'refs')), ['v1'], 'a commit has no reference');
});

test('a pull that fails leaves no snapshot that MODEL_ID would find', async (t) => {
  const under = await PullUnderTest.open(t);
  under.hub.before = (_request, response, path) => {
    if (!path.endsWith('speech_tokenizer/model.safetensors')) return false;
    refuse(response, 404);
    return true;
  };
  assert.equal(await under.run(), 1);
  assert.deepEqual(
    [existsSync(join(under.model, 'refs')), existsSync(join(under.model, 'snapshots'))],
    [false, false],
  );
});

test('two pulls of a model at once: the second names the first and ends, the first completes', async (t) => {
  const under = await PullUnderTest.open(t);
  let release = () => {};
  under.hub.before = (request, response, path) => {
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`)) return false;
    release = () => sendPart(request, response, BYTES);
    return true;
  };
  const first = under.run();
  await until(() => under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`).length === 1);
  assert.equal(await under.run(), 1);
  assert.match(
    under.err,
    new RegExp(
      `^parley: process ${process.pid} pulls ${ID} now; if it has ended, delete .*parley-pull\\.lock\n$`,
    ),
  );
  release();
  assert.equal(await first, 0);
  assert.deepEqual(readdirSync(join(under.cache, '.locks', `models--${ID.replace('/', '--')}`)), []);
});

test('the lock of a process that has ended is taken over, that of another machine is not', async (t) => {
  const under = await PullUnderTest.open(t);
  const folder = join(under.cache, '.locks', `models--${ID.replace('/', '--')}`);
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, 'parley-pull.lock');
  const gone = { pid: 4_194_304, host: hostname(), start: '1' }; // above the highest pid of Linux
  const pidUsedAgain = { pid: process.pid, host: hostname(), start: '1' };
  for (const text of [JSON.stringify(gone), JSON.stringify(pidUsedAgain), '', '{']) {
    writeFileSync(lock, text);
    assert.equal(await under.run(), 0, under.err);
    assert.deepEqual(readdirSync(folder), []);
  }
  writeFileSync(lock, JSON.stringify({ ...gone, host: 'elsewhere' }));
  assert.equal(await under.run(), 1);
  assert.match(under.err, /^parley: a process of elsewhere pulls /);
  assert.ok(existsSync(lock));
});

test('without a terminal the progress is a line for each tenth, on a terminal a bar', async (t) => {
  const plain = await PullUnderTest.open(t);
  await plain.run();
  assert.match(plain.err, /^5 files, 3\.1 MB\n/);
  const lines = plain.err.split('\n').filter((line) => /^\d+ % {2}/.test(line));
  assert.ok(lines.length >= 2 && lines.length <= 10, plain.err);
  assert.equal(lines.at(-1), '100 %  3.1 MB of 3.1 MB');
  const terminal = await PullUnderTest.open(t);
  await terminal.run(NAME, { columns: 200 });
  assert.match(terminal.err, /\r\x1b\[K[█░]{20} \d+ % {2}/); // eslint-disable-line no-control-regex
  assert.match(terminal.err, /model\.safetensors {2}3\.0 MB {2}verified\n/);
});

test('Ctrl-C keeps the partial file, and the next pull goes on', async (t) => {
  const under = await PullUnderTest.open(t);
  const partial = join(under.model, 'blobs', `${SHA}.incomplete`);
  under.hub.before = (_request, response, path) => {
    if (!path.endsWith(`${COMMIT}/${WEIGHTS}`)) return false;
    response.writeHead(200, { 'content-length': BYTES.length });
    response.write(BYTES.subarray(0, 1_000_000));
    return true;
  };
  const interrupted = under.run();
  await until(() => existsSync(partial) && lstatSync(partial).size === 1_000_000);
  under.interruption.abort();
  assert.equal(await interrupted, 130);
  assert.match(under.err, /parley: interrupted; the partial files are kept, and the same command resumes\n$/);
  under.hub.before = () => false;
  assert.equal(await under.run(NAME, { signal: new AbortController().signal }), 0, under.err);
  assert.equal(under.hub.requestsOf(`${COMMIT}/${WEIGHTS}`).at(-1)?.range, 'bytes=1000000-');
});

test('a command without a name, with two, or with an option is refused with the usage', async (t) => {
  const under = await PullUnderTest.open(t);
  assert.equal(await under.run('--all'), 2);
  assert.match(
    under.err,
    /^parley: .*--all.*\nusage: parley pull NAME\[@REVISION\] \[--voices all\|NAME,\.\.\.\]\n/,
  );
  assert.deepEqual(under.hub.asked, []);
});
