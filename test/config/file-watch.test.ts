import assert from 'node:assert/strict';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FileWatch } from '../../src/config/file-watch.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { rejectionsOf } from '../fakes/rejections.js';

test('a file that is written, renamed over or put behind a link is reported at once', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'keys');
  writeFileSync(path, 'one');
  let changes = 0;
  const watch = new FileWatch([path], () => changes++, { settleMs: 0, pollMs: 3_600_000 });
  t.after(() => watch.close());
  await watch.open();
  writeFileSync(path, 'one and two');
  await until(() => changes === 1);
  writeFileSync(join(folder, 'new'), 'three');
  renameSync(join(folder, 'new'), path);
  await until(() => changes === 2);
  writeFileSync(join(folder, 'four'), 'four');
  symlinkSync(join(folder, 'four'), join(folder, 'link'));
  renameSync(join(folder, 'link'), path);
  await until(() => changes === 3);
});

test('where the system tells nothing, a look from time to time finds the change, and only a change', async (t) => {
  const path = join(temporaryFolder(t), 'keys');
  const time = new ManualTime();
  let changes = 0;
  const watch = new FileWatch([path], () => changes++, { notified: false, pollMs: 1000, time });
  await watch.open();
  time.advance(1000);
  await until(() => time.waiting === 1);
  assert.equal(changes, 0, 'it was not there before either');
  writeFileSync(path, 'here');
  time.advance(1000);
  await until(() => changes === 1);
  await until(() => time.waiting === 1);
  watch.close();
  assert.equal(time.waiting, 0);
});

test('a change whose handler throws is reported, and later changes are found', async (t) => {
  const path = join(temporaryFolder(t), 'keys');
  const time = new ManualTime();
  let changes = 0;
  const changed = () => {
    if (++changes === 1) throw new Error('a defect');
  };
  const watch = new FileWatch([path], changed, { notified: false, pollMs: 1000, time });
  await watch.open();
  writeFileSync(path, 'one');
  const rejections = await rejectionsOf(async () => {
    time.advance(1000);
    await until(() => changes === 1 && time.waiting === 1);
  });
  assert.deepEqual(rejections.map(String), ['Error: a defect']);
  writeFileSync(path, 'one and two');
  time.advance(1000);
  await until(() => changes === 2);
  await until(() => time.waiting === 1);
  watch.close();
});
