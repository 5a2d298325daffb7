// Uploads that are damaged, slow, large or left in the middle; and what is kept of them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Spool, SpoolSpace } from '../../../src/api/http/spool.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';
import { FakeTranscriber } from '../fake-transcriber.js';

const PATH = '/v1/audio/transcriptions';
const BOUNDARY = 'edge';

async function openEars(t: TestContext, time?: ManualTime) {
  const transcriber = new FakeTranscriber();
  const transcription = { transcriber, translator: undefined, maxBytes: 8 << 20, maxRequests: 4 };
  const opened = await openServer(t, { transcription, ...(time === undefined ? {} : { time }) });
  return { ...opened, transcriber };
}

function part(name: string, content: string, fileName?: string): string {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`;
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;
}

function send(url: string, body: string, type = `multipart/form-data; boundary=${BOUNDARY}`) {
  return fetch(url + PATH, { method: 'POST', headers: { 'content-type': type }, body });
}

const END = `--${BOUNDARY}--\r\n`;
const FILE = part('file', 'sound', 'a.wav');

for (const [what, body, status, message] of [
  ['ends within the file', FILE.slice(0, -4), 400, /ends within a part/],
  ['ends before its last boundary', FILE, 400, /ends within a part/],
  ['is no form at all', 'anything', 400, /the boundary of the form is nowhere in it/],
  ['has no file', part('model', 'x') + END, 400, /"file" must be a file/],
  ['has a text for a file', part('file', 'x') + END, 400, /"file" must be a file/],
  ['has two files', FILE + FILE + END, 400, /more than one file/],
  [
    'has its file under another name',
    part('sound', 'x', 'a.wav') + END,
    400,
    /a file "sound"; the file is "file"/,
  ],
  [
    'has a part without a name',
    '--edge\r\nContent-Disposition: form-data\r\n\r\nx\r\n' + FILE + END,
    400,
    /no name/,
  ],
  [
    'has a part with a damaged header',
    `--edge\r\nContent-Disposition form-data\r\n\r\nx\r\n${FILE}${END}`,
    400,
    /header without a name/,
  ],
  [
    'has a large file under another name',
    part('sound', 'x'.repeat(500_000), 'a.wav') + END,
    400,
    /a file "sound"/,
  ],
  ['has a hundred fields', part('x', '1').repeat(100) + FILE + END, 400, /more than 64 parts/],
  [
    'has a field of 70,000 bytes',
    part('other', 'x'.repeat(70_000)) + FILE + END,
    400,
    /"other" may have 65536 bytes at most/,
  ],
] as const) {
  test(`a form that ${what} is refused, and the server goes on`, async (t) => {
    const { url, transcriber } = await openEars(t);
    const answer = await send(url, body);
    assert.equal(answer.status, status);
    assert.match(errorIn(await answer.text()).message, message);
    assert.equal((await send(url, FILE + END)).status, 200);
    assert.equal(transcriber.asked.length, 1);
  });
}

for (const [charset, status] of [
  ['ISO-8859-1', 200],
  ['klingon', 400],
] as const) {
  test(`a prompt beside a file that states the character set ${charset} is answered ${status}`, async (t) => {
    const { url, transcriber } = await openEars(t);
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="prompt"\r\n`;
    const prompt = `${head}Content-Type: text/plain; charset=${charset}\r\n\r\nCaf\u00e9\r\n`;
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    const body = Buffer.from(prompt + FILE + END, 'latin1');
    const answer = await fetch(url + PATH, { method: 'POST', headers, body });
    assert.equal(answer.status, status);
    if (status === 200) assert.equal(transcriber.asked[0]?.request.context, 'Café');
    else assert.equal(errorIn(await answer.text()).param, 'prompt');
  });
}

test('a form of one long field is refused before its end, with the limit', async (t) => {
  const { url } = await openEars(t);
  const socket = await begin(t, url, `multipart/form-data; boundary=${BOUNDARY}`, '', 8 << 20);
  const answer = once(socket, 'data');
  socket.write(part('prompt', 'x'.repeat(1_100_000)));
  const text = String((await answer)[0]);
  assert.match(text, /^HTTP\/1\.1 413 .*a form may have 1048576 bytes at most beside its file/s);
});

test('a form of unknown length may be no longer than a file and its fields', async (t) => {
  const { url, transcriber } = await openEars(t);
  let pieces = 0;
  const endless = new ReadableStream({
    pull: (controller) => {
      if (++pieces > 1000) controller.close();
      else controller.enqueue(Buffer.alloc(100_000, 'x'));
    },
  });
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const status = await fetch(url + PATH, { method: 'POST', headers, body: endless, duplex: 'half' }).then(
    (answer) => answer.status,
    () => 413, // the server has closed the connection on the rest
  );
  assert.equal(status, 413);
  assert.ok(pieces < 500, String(pieces));
  assert.equal(transcriber.asked.length, 0);
});

test('a form without a boundary, and other types, are refused', async (t) => {
  const { url } = await openEars(t);
  const bare = await send(url, FILE + END, 'multipart/form-data');
  assert.match(errorIn(await bare.text()).message, /names no boundary/);
  for (const type of ['text/plain', 'application/json']) {
    const answer = await send(url, '{}', type);
    assert.equal(answer.status, 415);
    assert.match(errorIn(await answer.text()).message, /must be multipart\/form-data, or the file itself/);
  }
});

test('a file of some megabytes is kept and read back byte for byte', async (t) => {
  const { url, transcriber } = await openEars(t);
  const bytes = Buffer.alloc(5_000_001, 'some sound or other ');
  const form = new FormData();
  form.append('file', new Blob([bytes]), 'a.wav');
  form.append('language', 'en');
  assert.equal((await fetch(url + PATH, { method: 'POST', body: form })).status, 200);
  assert.deepEqual(transcriber.asked[0]?.bytes, bytes);
  assert.equal(transcriber.asked[0].request.language, 'en');
});

async function begin(
  t: TestContext,
  url: string,
  type: string,
  body: string,
  length = 100_000,
): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  const head = `POST ${PATH} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: ${type}\r\n`;
  socket.write(`${head}Content-Length: ${length}\r\n\r\n${body}`);
  return socket;
}

for (const type of ['audio/wav', `multipart/form-data; boundary=${BOUNDARY}`]) {
  test(`an upload of ${type} that stops is answered with 408 after the time for a pause`, async (t) => {
    const time = new ManualTime();
    const { url } = await openEars(t, time);
    const socket = await begin(t, url, type, type === 'audio/wav' ? 'x' : FILE.slice(0, -9));
    const answer = once(socket, 'data');
    await until(() => time.waiting >= 2);
    await fetch(`${url}/health`); // by now what came was read
    time.advance(30_000);
    assert.match(String((await answer)[0]), /^HTTP\/1\.1 408 .*connection: close.*"code":"timeout"/is);
  });

  test(`a client that leaves during an upload of ${type} leaves nothing`, async (t) => {
    const { url, transcriber, logLines } = await openEars(t);
    const socket = await begin(t, url, type, type === 'audio/wav' ? 'x' : FILE.slice(0, -9));
    if (type === 'audio/wav') await until(() => transcriber.asked[0]?.bytes.length === 1);
    else await fetch(`${url}/health`);
    socket.destroy();
    await until(() => logLines.some((line) => line.includes(`"route":"${PATH}"`)));
    assert.equal((await send(url, FILE + END)).status, 200);
  });
}

test('an upload may take longer than other requests, if it goes on', async (t) => {
  const time = new ManualTime();
  const { url, transcriber } = await openEars(t, time);
  const piece = 'x'.repeat(10_000);
  const socket = await begin(t, url, 'audio/wav', piece);
  for (let pieces = 1; pieces < 6; pieces++) {
    await until(() => transcriber.asked[0]?.bytes.length === pieces * 10_000);
    await until(() => time.waiting >= 2);
    time.advance(20_000);
    socket.write(piece);
  }
  await until(() => transcriber.asked[0]?.bytes.length === 60_000);
});

test('an upload that trickles is answered with 408, however regular it is', async (t) => {
  const time = new ManualTime();
  const { url, transcriber } = await openEars(t, time);
  const socket = await begin(t, url, 'audio/wav', 'x');
  const answer = once(socket, 'data');
  for (let bytes = 1; bytes <= 2; bytes++) {
    await until(() => transcriber.asked[0]?.bytes.length === bytes);
    await until(() => time.waiting >= 2);
    time.advance(14_000);
    socket.write('x');
  }
  await until(() => transcriber.asked[0]?.bytes.length === 3);
  await until(() => time.waiting >= 2);
  time.advance(3000);
  assert.match(String((await answer)[0]), /^HTTP\/1\.1 408 .*512 bytes a second/s);
});

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test('a spool keeps what it was given, in a file that nobody sees, and gives its room back', async (t) => {
  const folder = await temporaryFolder(t);
  const space = new SpoolSpace(10 << 20);
  const spool = new Spool(space, folder);
  const pieces = Array.from({ length: 50 }, (_, n) => Buffer.alloc(65_536 + n, n));
  for (const bytes of pieces) await spool.write(bytes);
  assert.deepEqual(await readdir(folder), []);
  assert.equal(space.taken, spool.size);
  const read: Uint8Array[] = [];
  for await (const bytes of spool.read()) read.push(Uint8Array.from(bytes));
  assert.deepEqual(Buffer.concat(read), Buffer.concat(pieces));
  await Promise.all([spool.close(), spool.close()]);
  assert.equal(space.taken, 0);
  await assert.rejects(
    async () => {
      for await (const _ of spool.read());
    },
    { code: 'ABORTED' },
  );
});

test('all spools together take no more than their space, and a folder that is not there is an error', async (t) => {
  const space = new SpoolSpace(3 << 20);
  const first = new Spool(space, await temporaryFolder(t));
  await first.write(Buffer.alloc(2 << 20));
  const second = new Spool(space, '/nowhere');
  await assert.rejects(second.write(Buffer.alloc(2 << 20)), { code: 'QUEUE_FULL' });
  await first.close();
  await assert.rejects(second.write(Buffer.alloc(2 << 20)), { code: 'ENOENT' });
  await second.close();
  assert.equal(space.taken, 0);
});
