// A checkout that was copied or moved, with the build folders of CMake in it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');
const SCRIPT = join('native', 'drop-moved-build.sh');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** A checkout with an empty CMake project that is configured in `native/build`. */
function configured(t: TestContext): { readonly parent: string; readonly checkout: string } {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'parley-moved-')));
  t.after(() => rmSync(parent, { recursive: true }));
  const checkout = join(parent, 'first');
  mkdirSync(join(checkout, 'native'), { recursive: true });
  cpSync(join(ROOT, SCRIPT), join(checkout, SCRIPT));
  const project = 'cmake_minimum_required(VERSION 3.20)\nproject(empty NONE)\n';
  writeFileSync(join(checkout, 'native', 'CMakeLists.txt'), project);
  const folders = ['-S', join(checkout, 'native'), '-B', join(checkout, 'native', 'build')];
  execFileSync('cmake', folders, { stdio: 'pipe' });
  return { parent, checkout };
}

/** Runs the script in a checkout; returns what it wrote. */
function drop(checkout: string): string {
  const { status, stderr } = spawnSync(join(checkout, SCRIPT), ['native/build'], {
    cwd: checkout,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stderr;
}

const isBuilt = (checkout: string) => existsSync(join(checkout, 'native', 'build', 'CMakeCache.txt'));

test('a build stays where it was configured, also under another name of the same folder', (t) => {
  const { parent, checkout } = configured(t);
  assert.equal(drop(checkout), '');
  const link = join(parent, 'link');
  symlinkSync(checkout, link);
  assert.equal(drop(link), '');
  assert.ok(isBuilt(checkout));
});

test('a copy of a checkout drops the build of the original, which keeps it', (t) => {
  const { parent, checkout } = configured(t);
  const plugin = join('native', 'build', 'Release', 'parley_cuda.so');
  mkdirSync(join(checkout, 'native', 'build', 'Release'));
  writeFileSync(join(checkout, plugin), '');
  const copy = join(parent, 'copy');
  cpSync(checkout, copy, { recursive: true });
  assert.equal(
    drop(copy),
    `parley: native/build was configured at another path (${join(checkout, 'native')}); building it again\n`,
  );
  assert.ok(!isBuilt(copy) && isBuilt(checkout));
  assert.ok(existsSync(join(copy, plugin)), 'npm run build:cuda made it, npm start does not');
});

test('a checkout that was moved drops its build', (t) => {
  const { parent, checkout } = configured(t);
  const moved = join(parent, 'moved');
  renameSync(checkout, moved);
  assert.match(drop(moved), /configured at another path/);
  assert.ok(!isBuilt(moved));
});

test('without a build there is nothing to drop', (t) => {
  const { checkout } = configured(t);
  rmSync(join(checkout, 'native', 'build'), { recursive: true });
  assert.equal(drop(checkout), '');
});

test('npm run build:native compiles the sources of the checkout that it runs in', (t) => {
  const { parent, checkout } = configured(t);
  const copy = join(parent, 'copy');
  cpSync(checkout, copy, { recursive: true });
  const bin = join(parent, 'bin');
  mkdirSync(bin);
  // The stand-in of cmake-js tells which build it finds.
  writeFileSync(join(bin, 'cmake-js'), '#!/bin/sh\nls native/build 2>/dev/null\nexit 0\n');
  chmodSync(join(bin, 'cmake-js'), 0o755);
  const compile = (cwd: string) =>
    execFileSync('sh', ['-c', scripts['build:native'] ?? 'false'], {
      cwd,
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  assert.match(compile(checkout), /^CMakeCache\.txt$/m);
  assert.equal(compile(copy), '');
});
