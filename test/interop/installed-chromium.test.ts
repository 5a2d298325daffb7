import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { installedChromium } from './installed-chromium.js';

test('the browser is the one that CHROMIUM_PATH names, else the first on PATH, as in setup.sh', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-chromium-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = (name: string, mode = 0o755) => {
    const path = join(folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '');
    chmodSync(path, mode);
    return path;
  };
  const [own, first, second] = [program('own-browser'), program('a/chromium'), program('b/chromium')];
  program('locked/chromium', 0o644);
  mkdirSync(join(folder, 'full', 'chromium'), { recursive: true });
  const on = (...names: string[]) => names.map((name) => join(folder, name)).join(delimiter);
  assert.equal(installedChromium({ CHROMIUM_PATH: own, PATH: on('a') }), own);
  assert.equal(installedChromium({ PATH: on('empty', 'locked', 'full', 'a', 'b') }), first);
  assert.equal(installedChromium({ CHROMIUM_PATH: '', PATH: on('b', 'a') }), second);
  assert.equal(installedChromium({ CHROMIUM_PATH: join(folder, 'nothing'), PATH: on('a') }), first);
  assert.throws(() => installedChromium({ PATH: on('empty', 'locked') }), /run \.\/setup\.sh full/);
  assert.throws(() => installedChromium({}), /CHROMIUM_PATH/);
});

test('what setup.sh is content with can be started', () => {
  const { status, stdout } = spawnSync(installedChromium(), ['--version'], { encoding: 'utf8' });
  assert.equal(status, 0);
  assert.match(stdout, /\d+\.\d+/);
});
