import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const CHILD = join(import.meta.dirname, 'out-of-memory-child.js');

test('where memory is out, a call of the addon throws instead of ending the process', async () => {
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, [CHILD], (_error, stdout, stderr) => resolve(stdout + stderr));
  });
  assert.match(said, /bad_alloc/);
});
