// The folder of recordings: listing, deleting, limits, repair, and files that are not ours.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from '../fakes/properties.js';
import { RecordingFolder, type RecordingFolderOptions } from '../../src/recording/recording-folder.js';
import { openForm, recordingWavHeader } from '../../src/recording/recording-form.js';
import { ownerTag, recordingName } from '../../src/recording/recording-name.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { noise } from '../audio/tones.js';
import { fileAt } from './active-recordings-under-test.js';
import { interleaved, opusChannels, wavChannels } from './recorded-sound.js';
import { SILENT_LOG } from '../../src/log.js';

const NOW_MS = Date.UTC(2026, 10, 18);
const DAY_MS = 86_400_000;
const ALL = { maySee: () => true, limit: 100 };

/** The name of a recording that began this many seconds ago. */
function nameOf(secondsAgo: number, facts: Partial<Parameters<typeof recordingName>[0]> = {}): string {
  return recordingName({
    call: 'call_1',
    owner: undefined,
    startedMs: NOW_MS - 1000 * secondsAgo,
    format: 'wav',
    random: Uint8Array.of(1, 2, 3, 4),
    ...facts,
  });
}

function wavOf(frames: number, stated = frames): Buffer {
  const sound = new Int16Array(2 * frames).fill(1000);
  return Buffer.concat([recordingWavHeader(stated), new Uint8Array(sound.buffer)]);
}

function opusOf(frames: number): Buffer {
  const form = openForm('opus', 7);
  const sound = interleaved(noise(frames), noise(frames));
  return Buffer.concat([form.header, form.encode(sound, frames).slice(), form.finish()]);
}

/** Writes a file that last changed this many seconds ago. */
function put(folder: string, name: string, bytes: Uint8Array, secondsAgo = 100): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  utimesSync(path, NOW_MS / 1000 - secondsAgo, NOW_MS / 1000 - secondsAgo);
  return path;
}

async function openFolder(t: TestContext, folder: string, options: Partial<RecordingFolderOptions> = {}) {
  const time = new ManualTime();
  const warnings: object[] = [];
  const excesses: number[] = [];
  const recordings = await RecordingFolder.open({
    folder,
    keepMs: 0,
    keepBytes: 0,
    time,
    unixMs: () => NOW_MS + time.now(),
    log: { ...SILENT_LOG, warn: (fields: object) => void warnings.push(fields) },
    onExcess: () => void excesses.push(time.now()),
    ...options,
  });
  t.after(() => recordings.close());
  return { recordings, time, warnings, excesses };
}

test('a folder that is missing is created, for its owner only', async (t) => {
  const folder = join(temporaryFolder(t), 'a', 'b');
  await openFolder(t, folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(folder), []);
});

test('a folder that cannot be written refuses the start with the name of the variable', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  for (const folder of [join(file, 'in-a-file'), file, '/sys', '/dev/null']) {
    await assert.rejects(openFolder(t, folder), (error: Error & { code?: string; field?: string }) => {
      assert.deepEqual([error.code, error.field], ['CONFIG_INVALID', 'RECORDINGS_DIR']);
      assert.match(error.message, /^RECORDINGS_DIR=\S+ cannot be written \(E[A-Z]+\)$/);
      return true;
    });
  }
});

test('finished recordings are listed newest first, with their call, length and size', async (t) => {
  const folder = temporaryFolder(t);
  const [older, newer] = [nameOf(60), nameOf(30, { call: 'rtc_2', format: 'opus' })];
  put(folder, older, wavOf(8000));
  const opus = opusOf(24_000);
  put(folder, newer, opus);
  const { recordings } = await openFolder(t, folder);
  const { recordings: listed, hasMore } = await recordings.list(ALL);
  assert.deepEqual([listed.length, hasMore], [2, false]);
  const shared = { owner: undefined, complete: true };
  assert.deepEqual(listed[0], {
    ...shared,
    name: newer,
    call: 'rtc_2',
    startedMs: NOW_MS - 30_000,
    format: 'opus',
    bytes: opus.length,
    durationMs: 1500,
  });
  assert.deepEqual(listed[1], {
    ...shared,
    name: older,
    call: 'call_1',
    startedMs: NOW_MS - 60_000,
    format: 'wav',
    bytes: 44 + 32_000,
    durationMs: 500,
  });
  assert.deepEqual(await recordings.find(older), listed[1]);
});

test('a list is limited by number, by call, by a name to begin after, and by owner', async (t) => {
  const folder = temporaryFolder(t);
  const names = [5, 4, 3, 2, 1].map((ago) =>
    nameOf(ago, {
      call: ago % 2 === 0 ? 'call_e' : 'call_0',
      owner: ago === 3 ? ownerTag('acme') : undefined,
    }),
  );
  for (const name of names) put(folder, name, wavOf(10));
  const { recordings } = await openFolder(t, folder);
  const listed = async (filter: object) => {
    const { recordings: found, hasMore } = await recordings.list({ ...ALL, ...filter });
    return [found.map(({ name }) => names.length - names.indexOf(name)), hasMore];
  };
  assert.deepEqual(await listed({}), [[1, 2, 3, 4, 5], false]);
  assert.deepEqual(await listed({ limit: 2 }), [[1, 2], true]);
  assert.deepEqual(await listed({ limit: 2, before: names[3] }), [[3, 4], true]);
  assert.deepEqual(await listed({ limit: 5 }), [[1, 2, 3, 4, 5], false]);
  assert.deepEqual(await listed({ call: 'call_e' }), [[2, 4], false]);
  assert.deepEqual(await listed({ maySee: (owner?: string) => owner === undefined }), [[1, 2, 4, 5], false]);
});

test('what a killed server left is repaired at the start, and listed as incomplete', async (t) => {
  const folder = temporaryFolder(t);
  const [wav, opus, empty] = [nameOf(50), nameOf(40, { format: 'opus' }), nameOf(30)];
  // The header states one second; half a second more and half a frame were written before the kill.
  const wavPath = put(folder, `${wav}.part`, Buffer.concat([wavOf(24_000, 16_000), Buffer.from([1, 2])]));
  const whole = opusOf(48_000);
  const opusPath = put(folder, `${opus}.part`, whole.subarray(0, whole.length - 100)); // in its last page
  put(folder, `${empty}.part`, new Uint8Array(10));
  const { recordings } = await openFolder(t, folder);
  const { recordings: listed } = await recordings.list(ALL);
  assert.deepEqual(
    listed.map(({ name, complete, durationMs }) => [name, complete, durationMs >= 1500]),
    [
      [opus, false, true],
      [wav, false, true],
    ],
  );
  const repaired = fileAt(wavPath);
  assert.equal(new DataView(repaired.buffer).getUint32(40, true), 4 * 24_000);
  assert.equal(wavChannels(repaired).caller.length, 24_000);
  const { caller } = await opusChannels(fileAt(opusPath));
  const opusMs = listed[0]?.durationMs ?? 0;
  assert.ok(Math.abs(caller.length / 48 - opusMs) < 10, `${caller.length / 48} ms, not ${opusMs}`);
  assert.ok(opusMs > 3000 - 2000);
  assert.ok(!existsSync(join(folder, `${empty}.part`)), 'a file without sound is removed');
});

test('a file that another server writes is left alone until it no longer changes', async (t) => {
  const folder = temporaryFolder(t);
  const name = nameOf(50);
  const path = put(folder, `${name}.part`, wavOf(16_000, 8000), 0.5);
  const { recordings, time } = await openFolder(t, folder);
  assert.deepEqual((await recordings.list(ALL)).recordings, []);
  assert.equal(new DataView(fileAt(path).buffer).getUint32(40, true), 4 * 8000);
  time.advance(10_000);
  await until(() => new DataView(fileAt(path).buffer).getUint32(40, true) === 4 * 16_000);
});

test('a recording in progress is neither listed nor deleted', async (t) => {
  const folder = temporaryFolder(t);
  const { recordings } = await openFolder(t, folder, { keepMs: DAY_MS });
  const name = nameOf(2 * 86_400);
  recordings.begin(name);
  put(folder, `${name}.part`, wavOf(100), 2 * 86_400);
  assert.deepEqual((await recordings.list(ALL)).recordings, []);
  assert.deepEqual([recordings.isOpen(name), await recordings.remove(name)], [true, false]);
  await recordings.sweep();
  assert.ok(existsSync(join(folder, `${name}.part`)));
});

test('recordings older than the limit are removed at the start and every ten minutes', async (t) => {
  const folder = temporaryFolder(t);
  const [old, young] = [nameOf(3 * 86_400), nameOf(86_000)];
  put(folder, old, wavOf(10), 2 * 86_400);
  put(folder, young, wavOf(10), 86_000);
  const { recordings, time } = await openFolder(t, folder, { keepMs: DAY_MS });
  assert.deepEqual(readdirSync(folder), [young]);
  time.advance(600_000 + 10_000);
  await recordings.sweep();
  assert.deepEqual(readdirSync(folder), []);
});

test('above the total size the oldest recordings are removed, and no other file', async (t) => {
  const folder = temporaryFolder(t);
  const names = [50, 40, 30, 20].map((ago) => nameOf(ago));
  for (const name of names) put(folder, name, wavOf(1000));
  put(folder, 'notes.wav', wavOf(100_000), 10 ** 6);
  const { excesses, recordings } = await openFolder(t, folder, { keepBytes: 3 * 4044 });
  assert.deepEqual(readdirSync(folder).toSorted(), [...names.slice(1), 'notes.wav']);
  const open = nameOf(0);
  recordings.begin(open);
  recordings.grow(open, 2 * 4044);
  await recordings.sweep();
  assert.deepEqual(readdirSync(folder).toSorted(), [names[3], 'notes.wav']);
  assert.equal(excesses.length, 0);
  recordings.grow(open, 4 * 4044);
  await recordings.sweep();
  assert.deepEqual(readdirSync(folder), ['notes.wav']);
  assert.ok(excesses.length > 0, 'the recordings in progress alone are too large');
});

test('no text from outside reaches a file that is not a recording', async (t) => {
  const top = temporaryFolder(t);
  const folder = join(top, 'recordings');
  mkdirSync(folder);
  const name = nameOf(10);
  put(folder, name, wavOf(10));
  put(folder, 'secret.wav', wavOf(10));
  put(top, name, wavOf(20));
  const link = nameOf(20);
  symlinkSync(join(top, name), join(folder, link));
  mkdirSync(join(folder, nameOf(30)));
  const { recordings } = await openFolder(t, folder);
  assert.deepEqual(
    (await recordings.list(ALL)).recordings.map((recording) => recording.name),
    [name],
  );
  const hostile = fc.oneof(
    fc.string(),
    fc.constantFrom('secret.wav', '.', '..', '', link, nameOf(30), `../${name}`, `../recordings/${name}`),
    fc
      .tuple(fc.constantFrom('../', './', '/', '%2e%2e/', '..\\', '\0'), fc.constant(name))
      .map((all) => all.join('')),
    fc
      .tuple(fc.constant(name), fc.constantFrom('/', '/..', '\0', '.part', '.part.part', '\n'))
      .map((all) => all.join('')),
  );
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      assert.equal(await recordings.find(text), undefined);
      assert.equal(await recordings.fileOf(text), undefined);
      assert.equal(await recordings.remove(text), false);
    }),
  );
  assert.deepEqual(readdirSync(folder).toSorted(), [name, link, nameOf(30), 'secret.wav'].toSorted());
  assert.ok(existsSync(join(top, name)));
  assert.equal(await recordings.remove(name), true);
  assert.equal(await recordings.remove(name), false);
  assert.ok(existsSync(join(top, name)));
});

test('a recording that a full disk has cut is listed at once, with its reason, and plays to its end', async (t) => {
  for (const [format, bytes] of [
    ['wav', wavOf(1600, 800)],
    ['opus', opusOf(16_000)],
  ] as const) {
    const path = temporaryFolder(t);
    const { recordings: folder } = await openFolder(t, path);
    const name = nameOf(10, { format });
    folder.begin(name);
    const file = put(path, `${name}.part`, bytes, 0);
    assert.deepEqual((await folder.list(ALL)).recordings, [], 'it is being written');
    folder.end(name, bytes.length, 'disk-full');
    const [listed] = (await folder.list(ALL)).recordings;
    assert.deepEqual([listed?.name, listed?.complete, listed?.reason], [name, false, 'disk-full']);
    await folder.sweep();
    const kept = fileAt(file);
    const sound = format === 'wav' ? wavChannels(kept) : await opusChannels(kept);
    assert.ok(sound.caller.length >= 1600);
    assert.deepEqual(await folder.fileOf(name), file);
    assert.equal(await folder.remove(name), true);
  }
});
