// Recordings over HTTP: fakes of calls, and a real folder.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from '../../fakes/properties.js';
import { ParleyError } from '../../../src/errors.js';
import { recordingWavHeader } from '../../../src/recording/recording-form.js';
import { RecordingFolder } from '../../../src/recording/recording-folder.js';
import { ownerTag, recordingName } from '../../../src/recording/recording-name.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { temporaryFolder } from '../http/tls-files.js';
import { documentOf, operationsOf } from '../openapi-document.js';
import { SILENT_LOG } from '../../../src/log.js';

type Under = Awaited<ReturnType<typeof openApp>>;

const ACME = 'a'.repeat(16);
const OTHER = 'b'.repeat(16);
const ADMIN = 'c'.repeat(16);
const KEYS = { apiKeys: [`acme ${ACME}`, `other ${OTHER}`, `admin ${ADMIN}`] };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const act = ({ app }: Under, id: string, payload: object, headers = {}) =>
  app.inject({ method: 'POST', url: `/v1/calls/${id}/recording`, payload, headers });

/** An application whose recordings are in a folder on disk. */
async function openWithFolder(t: TestContext, options: Parameters<typeof openApp>[1] = {}) {
  const under = await openApp(t, options);
  const path = temporaryFolder(t);
  const folder = await RecordingFolder.open({
    folder: path,
    keepMs: 0,
    keepBytes: 0,
    time: new ManualTime(),
    unixMs: () => Date.now() + 60_000,
    log: SILENT_LOG,
    onExcess: () => undefined,
  });
  t.after(() => folder.close());
  under.recordings.folder = folder;
  return { under, folder, path };
}

let count = 0;

function put(folder: string, { suffix = '', owner }: { suffix?: string; owner?: string } = {}) {
  const name = recordingName({
    call: 'call_7',
    owner: owner === undefined ? undefined : ownerTag(owner),
    startedMs: Date.UTC(2026, 10, 18, 10, 11, 12, 100 + count++),
    format: 'wav',
    random: Uint8Array.of(1, 2, 3, 4),
  });
  const sound = Uint8Array.from({ length: 6400 }, (_, at) => at % 251);
  const bytes = Buffer.concat([recordingWavHeader(1600), sound]);
  writeFileSync(join(folder, name + suffix), bytes);
  return { name, bytes };
}

test('a call is recorded by four actions, each answered with the recording', async (t) => {
  const under = await openApp(t);
  const recorder = under.recordings.addCall('call_1');
  const started = await act(under, 'call_1', { action: 'start', format: 'opus', announce: 'beep' });
  assert.equal(started.statusCode, 201);
  const view = {
    object: 'call.recording',
    call: 'call_1',
    name: '20261118T101112123Z_call_1_all_01020304.wav',
    format: 'wav',
    state: 'recording',
    started_at: 1_794_996_672.123,
    duration_ms: 0,
    bytes: 44,
  };
  assert.deepEqual(started.json(), view);
  for (const [action, changes] of [
    ['pause', { state: 'paused' }],
    ['resume', {}],
    ['stop', { state: 'stopped', reason: 'stopped', duration_ms: 1500, bytes: 96_048 }],
  ] as const) {
    const answer = await act(under, 'call_1', { action, announce: null });
    assert.deepEqual([answer.statusCode, answer.json()], [200, { ...view, ...changes }], action);
  }
  assert.deepEqual(recorder.asked, [
    ['start', { format: 'opus', announce: 'beep' }],
    ['pause'],
    ['resume'],
    ['stop'],
  ]);
});

test('what cannot be asked of a recording is refused by field', async (t) => {
  const under = await openApp(t);
  const recorder = under.recordings.addCall('call_1');
  for (const [body, field] of [
    [{}, 'action'],
    [{ action: 'delete' }, 'action'],
    [{ action: 'start', format: 'mp3' }, 'format'],
    [{ action: 'start', announce: '' }, 'announce'],
    [{ action: 'start', announce: 'a'.repeat(1001) }, 'announce'],
    [{ action: 'start', announce: 7 }, 'announce'],
  ] as const) {
    const answer = await act(under, 'call_1', body);
    const error = errorIn(answer.body);
    assert.deepEqual([answer.statusCode, error.code, error.param], [400, 'invalid_value', field]);
  }
  assert.deepEqual(recorder.asked, []);
});

test('a call that is unknown, or in a state that forbids it, or on a full disk, is refused by name', async (t) => {
  const under = await openApp(t);
  const unknown = await act(under, 'call_9', { action: 'start' });
  assert.deepEqual([unknown.statusCode, errorIn(unknown.body).code], [404, 'not_found']);
  const recorder = under.recordings.addCall('call_1');
  for (const [code, status] of [
    ['CALL_STATE', 409],
    ['DISK_FULL', 507],
    ['RECORDING_FAILED', 500],
    ['TIMEOUT', 504],
  ] as const) {
    recorder.refusal = new ParleyError(code, 'it is refused');
    const answer = await act(under, 'call_1', { action: 'start' });
    const error = errorIn(answer.body);
    assert.deepEqual(
      [answer.statusCode, error.code, error.message],
      [status, code.toLowerCase(), 'it is refused'],
    );
  }
});

test('a server without a folder for recordings says that it records no calls', async (t) => {
  const under = await openApp(t, { recordings: undefined });
  for (const [method, url] of [
    ['POST', '/v1/calls/call_1/recording'],
    ['GET', '/v1/recordings'],
    ['GET', '/v1/recordings/a.wav'],
    ['DELETE', '/v1/recordings/a.wav'],
  ] as const) {
    const answer = await under.app.inject({ method, url });
    const { code, message } = errorIn(answer.body);
    assert.deepEqual([answer.statusCode, code], [501, 'recording_off'], `${method} ${url}`);
    assert.equal(message, 'this server records no calls');
  }
});

test('recordings are listed newest first, page by page', async (t) => {
  const { under, path } = await openWithFolder(t);
  const names = [put(path), put(path), put(path, { suffix: '.part' })].map(({ name }) => name);
  const first = await under.app.inject('/v1/recordings?limit=2');
  const { data, ...rest } = first.json<{ data: { name: string }[]; object: string; has_more: boolean }>();
  assert.deepEqual(rest, { object: 'list', has_more: true });
  assert.deepEqual(data[0], {
    object: 'recording',
    name: names[2],
    call: 'call_7',
    format: 'wav',
    started_at: data[0]?.['started_at' as 'name'],
    duration_ms: 100,
    bytes: 6444,
    complete: false,
  });
  const next = await under.app.inject(`/v1/recordings?limit=2&call=call_7&before=${data[1]?.name}`);
  const page = next.json<{ data: { name: string; complete: boolean }[]; has_more: boolean }>();
  assert.deepEqual(
    [page.data.map(({ name, complete }) => [name, complete]), page.has_more],
    [[[names[0], true]], false],
  );
  const other = await under.app.inject('/v1/recordings?call=call_8');
  assert.deepEqual(other.json<{ data: [] }>().data, []);
  const wrong = await under.app.inject('/v1/recordings?limit=0');
  assert.deepEqual([wrong.statusCode, errorIn(wrong.body).param], [400, 'limit']);
});

test('a recording is downloaded whole or in ranges, and as a file', async (t) => {
  const { under, path } = await openWithFolder(t);
  for (const { name, bytes } of [put(path), put(path, { suffix: '.part' })]) {
    const url = `/v1/recordings/${name}`;
    const whole = await under.app.inject(url);
    assert.equal(whole.statusCode, 200);
    assert.deepEqual(whole.rawPayload, bytes);
    assert.equal(whole.headers['content-type'], 'audio/wav');
    assert.equal(whole.headers['content-disposition'], `attachment; filename="${name}"`);
    assert.equal(whole.headers['accept-ranges'], 'bytes');
    assert.notEqual(whole.headers['x-content-type-options'], undefined);
    const part = await under.app.inject({ url, headers: { range: 'bytes=100-199' } });
    assert.deepEqual(
      [part.statusCode, part.headers['content-range']],
      [206, `bytes 100-199/${bytes.length}`],
    );
    assert.deepEqual(part.rawPayload, bytes.subarray(100, 200));
    const beyond = await under.app.inject({ url, headers: { range: 'bytes=7000-' } });
    assert.equal(beyond.statusCode, 416);
    const head = await under.app.inject({ method: 'HEAD', url });
    assert.deepEqual(
      [head.statusCode, head.headers['content-length'], head.body],
      [200, String(bytes.length), ''],
    );
  }
});

test('a recording is deleted once', async (t) => {
  const { under, path } = await openWithFolder(t);
  for (const suffix of ['', '.part']) {
    const { name } = put(path, { suffix });
    const url = `/v1/recordings/${name}`;
    assert.equal((await under.app.inject({ method: 'DELETE', url })).statusCode, 204);
    assert.ok(!existsSync(join(path, name + suffix)));
    for (const method of ['DELETE', 'GET'] as const) {
      const answer = await under.app.inject({ method, url });
      assert.deepEqual([answer.statusCode, errorIn(answer.body).code], [404, 'not_found']);
    }
  }
});

test('a recording in progress is refused until it is over', async (t) => {
  const { under, folder, path } = await openWithFolder(t);
  const { name } = put(path, { suffix: '.part' });
  folder.begin(name);
  for (const method of ['GET', 'DELETE'] as const) {
    const answer = await under.app.inject({ method, url: `/v1/recordings/${name}` });
    assert.deepEqual([answer.statusCode, errorIn(answer.body).code], [409, 'call_state']);
  }
  assert.ok(existsSync(join(path, `${name}.part`)));
});

test('a key sees, hears and deletes the recordings of its own calls; admin those of all', async (t) => {
  const { under, path } = await openWithFolder(t, KEYS);
  const { name } = put(path, { owner: 'acme' });
  const { name: shared } = put(path);
  under.recordings.addCall('call_1', 'acme');
  const listed = async (key: string) => {
    const answer = await under.app.inject({ url: '/v1/recordings', headers: bearer(key) });
    return answer.json<{ data: { name: string }[] }>().data.map((recording) => recording.name);
  };
  assert.deepEqual(await listed(ACME), [shared, name]);
  assert.deepEqual(await listed(ADMIN), [shared, name]);
  assert.deepEqual(await listed(OTHER), [shared]);
  for (const method of ['GET', 'DELETE'] as const) {
    const url = `/v1/recordings/${name}`;
    assert.equal((await under.app.inject({ method, url })).statusCode, 401);
    assert.equal((await under.app.inject({ method, url, headers: bearer(OTHER) })).statusCode, 404);
  }
  assert.equal((await act(under, 'call_1', { action: 'start' })).statusCode, 401);
  assert.equal((await act(under, 'call_1', { action: 'start' }, bearer(OTHER))).statusCode, 404);
  assert.equal((await act(under, 'call_1', { action: 'start' }, bearer(ACME))).statusCode, 201);
  const url = `/v1/recordings/${name}`;
  assert.equal((await under.app.inject({ url, headers: bearer(ACME) })).statusCode, 200);
  assert.equal((await under.app.inject({ method: 'DELETE', url, headers: bearer(ADMIN) })).statusCode, 204);
});

test('no name from outside reaches another file, in any spelling', async (t) => {
  const { under, path } = await openWithFolder(t);
  const { name } = put(path);
  writeFileSync(join(path, 'secret.wav'), 'secret');
  const texts = fc.oneof(
    fc.constantFrom(
      'secret.wav',
      '..',
      '%2e%2e',
      `..%2f${name}`,
      `%2e%2f${name}`,
      `${name}%00`,
      `${name}.part`,
    ),
    fc.constantFrom(
      '..%5c',
      '%2fetc%2fpasswd',
      `%2e%2e%2f%2e%2e%2fetc%2fpasswd`,
      `${name}%2f..%2fsecret.wav`,
    ),
    fc.string({ minLength: 3, maxLength: 90 }).map(encodeURIComponent), // URLs resolve shorter dots
  );
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      for (const method of ['GET', 'DELETE'] as const) {
        const answer = await under.app.inject({ method, url: `/v1/recordings/${text}` });
        assert.ok([404, 400, 414].includes(answer.statusCode), `${text}: ${answer.statusCode}`);
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(existsSync(join(path, 'secret.wav')) && existsSync(join(path, name)));
});

test('a download passes the sockets of a real server, over HTTP', async (t) => {
  const under = await openServer(t);
  const path = temporaryFolder(t);
  const { name, bytes } = put(path);
  under.recordings.folder = {
    ...under.recordings.folder,
    fileOf: () => Promise.resolve(join(path, name)),
  };
  const answer = await fetch(`${under.url}/v1/recordings/${name}`, { headers: { range: 'bytes=-6400' } });
  assert.deepEqual([answer.status, answer.headers.get('content-length')], [206, '6400']);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes.subarray(44));
});

test('the document describes the four routes, with their bodies', async (t) => {
  const document = await documentOf(await openApp(t));
  const routes = operationsOf(document).filter(
    ({ operation }) => operation.tags?.[0] === 'Recordings of calls',
  );
  assert.deepEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted(), [
    'DELETE /v1/recordings/{name}',
    'GET /v1/recordings',
    'GET /v1/recordings/{name}',
    'POST /v1/calls/{id}/recording',
  ]);
});
