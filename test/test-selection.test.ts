import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { partsOf, reachOf, type SourceTexts } from './test-selection.js';

const SOURCES: SourceTexts = new Map([
  ['src/main.ts', "import { openCall } from './call/call.js';"],
  ['src/addon.ts', 'export const addon = load();'],
  ['src/call/call.ts', "import { addon } from '../addon.js';\nnew URL('./call-worker.js', import.meta.url);"],
  ['src/call/call-worker.ts', 'work();'],
  ['src/text/plain.ts', 'export const plain = 1;'],
  ['test/call/call.test.ts', "import { openCall } from '../../src/call/call.js';"],
  ['test/text/plain.test.ts', "import { plain } from '../../src/text/plain.js';"],
  ['test/text/cases.test.ts', "read('test/text/data');"],
  ['test/whole.test.ts', "spawn('node', [join(ROOT, 'dist', 'src', 'main.js')]);"],
  ['test/image.test.ts', "readFileSync('Dockerfile');"],
]);

function reached(...changed: string[]): readonly string[] {
  return reachOf(changed, SOURCES).files;
}

test('a changed source reaches the tests that import it, directly or through others', () => {
  assert.deepEqual(reached('src/text/plain.ts'), ['test/text/plain.test.ts']);
  assert.deepEqual(reached('src/call/call.ts'), ['test/call/call.test.ts', 'test/whole.test.ts']);
});

test('a worker is reached through the name of its compiled file', () => {
  assert.deepEqual(reached('src/call/call-worker.ts'), ['test/call/call.test.ts', 'test/whole.test.ts']);
});

test('a changed test reaches itself', () => {
  assert.deepEqual(reached('test/text/plain.test.ts'), ['test/text/plain.test.ts']);
});

test('a file that is no source reaches the tests that name it or its folder', () => {
  assert.deepEqual(reached('Dockerfile'), ['test/image.test.ts']);
  assert.deepEqual(reached('test/text/data/numbers.json'), ['test/text/cases.test.ts']);
});

test('native code reaches the native tests and whatever loads the addon', () => {
  assert.deepEqual(reachOf(['native/media/clock.cc'], SOURCES), {
    files: ['test/call/call.test.ts', 'test/whole.test.ts'],
    native: true,
  });
  assert.equal(reachOf(['src/text/plain.ts'], SOURCES).native, false);
});

test('what decides the build, and a file that nothing names, reach every test', () => {
  const all = [...SOURCES.keys()].filter((path) => path.endsWith('.test.ts'));
  for (const path of ['package.json', 'package-lock.json', 'tsconfig.json', 'test/run.ts', 'unheard.of']) {
    assert.deepEqual(reachOf([path], SOURCES), { files: all, native: true }, path);
  }
});

test('no change reaches no test', () => {
  assert.deepEqual(reachOf([], SOURCES), { files: [], native: false });
});

function existing(path: string): string {
  assert.ok(existsSync(join(import.meta.dirname, '..', '..', path)), path);
  return path;
}

test('browsers, telephones, clients and fuzz are left to the full run', () => {
  for (const path of [
    'test/interop/page.test.ts',
    'test/interop/telephone/peers.test.ts',
    'test/clients/curl.test.ts',
    'test/telephone/process.test.ts',
    'test/speak-command.test.ts',
  ]) {
    assert.deepEqual(partsOf(existing(path)), ['rest'], path);
  }
  assert.deepEqual(partsOf(existing('test/call/goodbye.test.ts')), ['quick']);
});

test('fuzzers and endurance tests run briefly in the full run, and at length in the long run', () => {
  for (const path of [
    'test/api/fuzz.test.ts',
    'test/sip/fuzz/message-fuzz.test.ts',
    'test/hearing/echo-endurance.test.ts',
    'test/interop/telephone/joined-peers.test.ts',
  ]) {
    assert.deepEqual(partsOf(existing(path)), ['rest', 'long'], path);
  }
});

test('further peers of browser calls are left to the long run', () => {
  assert.deepEqual(partsOf(existing('test/interop/gstreamer.test.ts')), ['long']);
});
