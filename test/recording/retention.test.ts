// The oldest files of a folder go first, and a sweep that is asked for during another comes after it.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type RetainedFile, Retention } from '../../src/recording/retention.js';
import { ManualTime } from '../fakes/manual-time.js';

const NOW = 1_000_000;

/** Files of 10 bytes that changed so many milliseconds ago, the oldest first. */
async function openFolder(
  t: TestContext,
  ages: readonly number[],
  limits: { keepMs?: number; keepBytes?: number; openBytes?: number; open?: string },
) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = ages.map((age, n) => ({ path: join(folder, `${n}`), bytes: 10, changedMs: NOW - age }));
  for (const { path } of files) await writeFile(path, '0123456789');
  const { keepMs = 0, keepBytes = 0, openBytes = 0, open } = limits;
  const time = new ManualTime();
  const bytes: number[] = [];
  const kept: string[] = [];
  const nameOf = ({ path }: RetainedFile) => path.slice(folder.length + 1);
  const retention = new Retention(
    { keepMs, keepBytes, time, unixMs: () => NOW },
    {
      files: async () => {
        const names = await readdir(folder);
        return files.filter((file) => names.includes(nameOf(file)));
      },
      isOpen: (file) => nameOf(file) === open,
      openBytes: () => openBytes,
      removed: () => undefined,
      kept: async (file) => void kept.push(nameOf(file)),
      swept: (sum) => bytes.push(sum),
    },
  );
  return { retention, time, bytes, kept, names: async () => (await readdir(folder)).toSorted() };
}

test('files above the age go, and files without a limit stay', async (t) => {
  const { retention, names, bytes } = await openFolder(t, [500, 100, 99], { keepMs: 100 });
  await retention.sweep();
  assert.deepEqual(await names(), ['2']);
  assert.deepEqual(bytes, [10]);
  const unlimited = await openFolder(t, [1e12, 5], {});
  await unlimited.retention.sweep();
  assert.deepEqual(await unlimited.names(), ['0', '1']);
});

test('the oldest files go until the rest and what is being written fit', async (t) => {
  const { retention, names, kept } = await openFolder(t, [4, 3, 2, 1], { keepBytes: 30, openBytes: 5 });
  await retention.sweep();
  assert.deepEqual(await names(), ['2', '3']);
  assert.deepEqual(kept, ['2', '3']);
});

test('a file that is being written counts and stays', async (t) => {
  const { retention, names } = await openFolder(t, [3, 2, 1], { keepBytes: 20, open: '0' });
  await retention.sweep();
  assert.deepEqual(await names(), ['0', '2']);
});

test('requests during a sweep are one more sweep, and the timer sweeps every ten minutes', async (t) => {
  const { retention, time, bytes } = await openFolder(t, [1], { keepMs: 100 });
  await Promise.all([retention.sweep(), retention.sweep(), retention.sweep()]);
  assert.deepEqual(bytes, [10, 10]);
  retention.start(10);
  for (const ms of [10, 600_000]) {
    time.advance(ms);
    await retention.sweep(); // one more, after the one of the timer
  }
  assert.equal(bytes.length, 6);
  await retention.close();
  assert.equal(time.waiting, 0);
});
