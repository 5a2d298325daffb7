// Compiled files whose sources are gone: `npm run build` removes them, and nothing else.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');
const SCRIPT = 'drop-stale-build.sh';

/** A checkout with these files, and the script. */
function checkout(t: TestContext, files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-stale-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(join(ROOT, SCRIPT), join(folder, SCRIPT));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), file);
  }
  return folder;
}

/** Runs the script from another folder. Returns the files of `dist` that are left. */
function dropStale(folder: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync(join(folder, SCRIPT), { cwd: tmpdir(), encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  if (!existsSync(join(folder, 'dist'))) return [];
  const left = readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true });
  return left
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
}

test('outputs of moved sources go, with folders that are empty then; all other files stay', (t) => {
  const folder = checkout(t, [
    'src/call/call.ts',
    'dist/src/call/call.js',
    'dist/src/call/call.js.map',
    'dist/src/call/moved call.js',
    'dist/src/call/moved call.js.map',
    'dist/test/old/gone.test.js',
    'dist/test/old/gone.test.js.map',
    'dist/notes.txt',
    'test/kept.js',
  ]);
  const kept = ['dist/notes.txt', 'dist/src/call/call.js', 'dist/src/call/call.js.map'];
  assert.deepEqual(dropStale(folder), kept);
  assert.ok(!existsSync(join(folder, 'dist', 'test')));
  assert.ok(existsSync(join(folder, 'test', 'kept.js')));
  assert.deepEqual(dropStale(folder), kept);
});

test('files behind a symbolic link are not touched', (t) => {
  const folder = checkout(t, ['dist/src/gone.js', 'elsewhere/module.js']);
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'dist', 'linked'));
  assert.deepEqual(dropStale(folder), ['dist/linked']);
  assert.ok(existsSync(join(folder, 'elsewhere', 'module.js')));
});

test('in an empty clone there is nothing to remove, and the build begins with the script', (t) => {
  assert.deepEqual(dropStale(checkout(t, ['src/main.ts'])), []);
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  assert.equal(scripts['build'], `./${SCRIPT} && tsc -p tsconfig.json`);
});
