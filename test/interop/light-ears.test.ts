// The generator of the toy models still makes the toys that the tests use.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { toy } from '../onnx/toys.js';

const PYTHON = process.env['PYTHON_PATH'] ?? '/usr/bin/python3'; // Debian's, as in setup.sh
const GENERATOR = join(import.meta.dirname, '../../../test/tools/make_light_ears.py');

test('the generator makes the toys again, byte for byte', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-toys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stderr } = spawnSync(PYTHON, [GENERATOR, folder], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const made = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    // The runtime makes .ort files of these graphs.
    .filter((path) => !/^moonshine-b\/.*\.onnx$/.test(path));
  assert.equal(made.length, 16, made.join(' '));
  for (const path of made) assert.deepEqual(readFileSync(join(folder, path)), readFileSync(toy(path)), path);
});

test('the generator explains itself when its arguments are wrong', () => {
  for (const arguments_ of [[], ['--real', 'huge', 'OUT'], ['--help']]) {
    const { status, stderr } = spawnSync(PYTHON, ['-B', GENERATOR, ...arguments_], { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, /make_light_ears\.py --real tiny\|small\|medium OUT/);
  }
});
