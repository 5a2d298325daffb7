import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadAddon, loadBinding } from '../src/addon.js';
import { ParleyError } from '../src/errors.js';

function failing(message: string, code: string): () => never {
  return () => {
    throw Object.assign(new Error(message), { code });
  };
}

test('a binding of another Node.js is told in one sentence that says what to run', () => {
  const version = process.version.replaceAll('.', String.raw`\.`);
  const cases: [load: () => never, says: string][] = [
    [
      failing(
        'The module was compiled against a different Node.js version using\nNODE_MODULE_VERSION 137.',
        'ERR_DLOPEN_FAILED',
      ),
      `was built for another version of Node.js than ${version}`,
    ],
    [
      failing(
        "Cannot find module '/x/prebuild/node-v137/opus.node'\nRequire stack:\n- /x",
        'MODULE_NOT_FOUND',
      ),
      `has no build for Node.js ${version}`,
    ],
    [
      failing('/x/opus.node: invalid ELF header\nmore', 'ERR_DLOPEN_FAILED'),
      `cannot be loaded in Node.js ${version} \\(/x/opus\\.node: invalid ELF header\\)`,
    ],
  ];
  for (const [load, says] of cases) {
    assert.throws(
      () => loadBinding('opus', 'npm rebuild opus', load),
      (error: unknown) =>
        error instanceof ParleyError &&
        error.code === 'ADDON_MISSING' &&
        new RegExp(`^opus ${says}; build it again with: npm rebuild opus$`).test(error.message),
    );
  }
});

test('a binding that loads is what it is', () => {
  assert.equal(
    loadBinding('x', 'y', () => 5),
    5,
  );
  assert.ok(Object.keys(loadAddon<object>()).length > 0);
});
