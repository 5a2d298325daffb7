// A server that is killed while it records leaves files that play to within 2 s of what was said.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../api/http/tls-files.js';
import { decoded, probed } from '../fakes/ffmpeg.js';
import { ManualTime } from '../fakes/manual-time.js';
import { RecordingFolder } from '../../src/recording/recording-folder.js';
import { fileAt } from './active-recordings-under-test.js';
import { opusChannels, wavChannels } from './recorded-sound.js';
import { SILENT_LOG } from '../../src/log.js';

const PROGRAM = fileURLToPath(new URL('./killed-recorder.js', import.meta.url));
const KILLED_AT_MS = 4500;

test('SIGKILL in the middle of a hundred recordings leaves each of them playable, and the next start lists them', async (t) => {
  const folder = temporaryFolder(t);
  const child = spawn(process.execPath, [PROGRAM, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let fedMs = 0;
  child.stdout.on('data', (data: Buffer) => {
    fedMs = Number(data.toString().trim().split('\n').at(-1));
    if (fedMs >= KILLED_AT_MS) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  assert.equal(signal, 'SIGKILL');

  const names = readdirSync(folder).toSorted();
  const ofFormat = (format: string) => names.filter((name) => name.endsWith(`.${format}.part`));
  assert.deepEqual([names.length, ofFormat('opus').length, ofFormat('wav').length], [100, 10, 90]);
  const checkedByFfmpeg = new Set([ofFormat('opus')[0], ofFormat('wav')[0]]);
  const playedMs = new Map<string, number>();
  for (const name of names) {
    const file = fileAt(join(folder, name));
    const isWav = name.includes('.wav');
    const { caller, ours, rate } = isWav ? wavChannels(file) : await opusChannels(file);
    const ms = (1000 * caller.length) / rate;
    assert.ok(ms >= fedMs - 2000 && ms <= fedMs + 100, `${name} plays ${ms} ms of ${fedMs} ms`);
    assert.equal(ours.length, caller.length);
    if (checkedByFfmpeg.has(name)) {
      assert.equal(probed(file).channels, 2);
      const decodedMs = (1000 * decoded(file).length) / (isWav ? 16_000 : 48_000);
      assert.ok(Math.abs(decodedMs - ms) < 10, 'ffmpeg agrees');
    }
    if (isWav) assert.ok(caller.every((sample) => sample === 0.25));
    playedMs.set(name.replace('.part', ''), ms);
  }

  const time = new ManualTime();
  const recordings = await RecordingFolder.open({
    folder,
    keepMs: 0,
    keepBytes: 0,
    time,
    unixMs: () => Date.now() + 60_000,
    log: { ...SILENT_LOG, warn: () => assert.fail('a recording was not repaired') },
    onExcess: () => undefined,
  });
  t.after(() => recordings.close());
  const { recordings: listed } = await recordings.list({ maySee: () => true, limit: 1000 });
  assert.deepEqual(new Set(listed.map(({ name }) => name)), new Set(playedMs.keys()));
  for (const { name, complete, durationMs } of listed) {
    assert.equal(complete, false);
    // The sound is written before the header that counts it: the kill may have come between the two.
    const before = playedMs.get(name) ?? Infinity;
    assert.ok(durationMs > before - 10 && durationMs <= fedMs + 100, `${name}: ${before}, ${durationMs} ms`);
    if (!name.endsWith('.wav')) continue;
    const repaired = wavChannels(fileAt(join(folder, `${name}.part`)));
    assert.equal((1000 * repaired.caller.length) / repaired.rate, durationMs);
    assert.ok(repaired.caller.every((sample) => sample === 0.25));
  }
});
