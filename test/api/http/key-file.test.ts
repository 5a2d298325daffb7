import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { KeyRing, keysIn } from '../../../src/api/http/api-keys.js';
import { until } from '../../fakes/until.js';
import { openServer } from '../app-under-test.js';
import { temporaryFolder } from './tls-files.js';

const [ONE, TWO, THREE] = ['key-one-0123456789', 'key-two-0123456789', 'key-three-0123456789'] as const;

test('a file has one key a line, and comments', () => {
  assert.deepEqual(keysIn(`\uFEFF# of the shop\n${ONE}\r\n\n   ${TWO}  \n#${THREE}`, '/keys'), [ONE, TWO]);
});

test('a key may have a name, before it and a space, that stays its own', () => {
  assert.deepEqual(keysIn(`acme ${ONE}\nshop-2\t ${TWO}`, '/keys'), [`acme ${ONE}`, `shop-2\t ${TWO}`]);
  assert.throws(() => keysIn('acme short', '/keys'), /line 1 must be a key of at least 16/);
  assert.throws(() => keysIn(`10.0.0.1 ${ONE}`, '/keys'), /line 1 must be a key/);
  const ring = new KeyRing({ keys: [`acme ${ONE}`], file: true });
  ring.replaceFileKeys([`shop-2\t ${TWO}`, THREE]);
  assert.deepEqual([ring.nameOf(ONE), ring.nameOf(TWO)], ['acme', 'shop-2']);
  assert.match(ring.nameOf(THREE) ?? '', /^key [0-9a-f]{64}$/);
  assert.deepEqual([ring.nameOf(`acme ${ONE}`), ring.nameOf('acme')], [undefined, undefined]);
});

test('keys whose digests begin with the same 32 bits have different names', () => {
  // Found by trial: SHA-256 of 16 zero bytes and either key begins with be5bf6cd.
  const alike = ['unnamed-key-057558', 'unnamed-key-105086'] as const;
  const ring = new KeyRing({ keys: alike, salt: new Uint8Array(16) });
  const [one = '', other = ''] = alike.map((key) => ring.nameOf(key));
  assert.equal(one.slice(0, 12), 'key be5bf6cd');
  assert.equal(other.slice(0, 12), 'key be5bf6cd');
  assert.notEqual(one, other);
});

test('a file that is not usable is told with its line, and with nothing of a key', () => {
  const problem = (text: string) => {
    try {
      return keysIn(text, '/keys').join();
    } catch (error) {
      assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
      return error.message;
    }
  };
  const rule = 'must be a key of at least 16 characters of ASCII, without spaces';
  assert.equal(problem(`${ONE}\nshort-secret`), `API_KEYS_FILE /keys line 2 ${rule}`);
  assert.equal(problem('two words of a sentence'), `API_KEYS_FILE /keys line 1 ${rule}`);
  assert.equal(problem('schlüssel-0123456789'), `API_KEYS_FILE /keys line 1 ${rule}`);
  assert.equal(problem('# nothing\n\n'), 'API_KEYS_FILE /keys holds no key');
  const many = Array.from({ length: 1001 }, (_, i) => `key-number-${String(i).padStart(6, '0')}`).join('\n');
  assert.equal(problem(many), 'API_KEYS_FILE /keys holds 1001 keys; 1000 are the most');
  assert.equal(problem('\n'.repeat(2 ** 20 + 1)), 'API_KEYS_FILE /keys is longer than 1048576 characters');
});

test('a key keeps its name when others come and go, and the name tells nothing of the key', () => {
  const salt = Buffer.from('salt of this process');
  const ring = new KeyRing({ keys: [ONE], file: true, salt });
  ring.replaceFileKeys([TWO, THREE]);
  const names = [ONE, TWO, THREE].map((key) => ring.nameOf(key));
  assert.equal(new Set(names).size, 3);
  for (const name of names) assert.match(name ?? '', /^key [0-9a-f]{64}$/);
  ring.replaceFileKeys([THREE]);
  assert.deepEqual(
    [ONE, TWO, THREE].map((key) => ring.nameOf(key)),
    [names[0], undefined, names[2]],
  );
  assert.notEqual(new KeyRing({ keys: [ONE] }).nameOf(ONE), names[0], 'another process has another name');
});

test('a server whose keys are in a file is closed, and follows the file', async (t) => {
  const apiKeysFile = join(temporaryFolder(t), 'keys');
  writeFileSync(apiKeysFile, `${TWO}\n`);
  const { url, logLines } = await openServer(t, { apiKeys: [ONE], apiKeysFile });
  const status = async (key: string) =>
    (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  const told = (text: string) => until(() => logLines.some((line) => line.includes(text)));
  assert.deepEqual([await status(ONE), await status(TWO), await status(THREE)], [200, 200, 401]);

  writeFileSync(`${apiKeysFile}.new`, `# rotated\n${THREE}\n`);
  renameSync(`${apiKeysFile}.new`, apiKeysFile);
  await told('API keys read again');
  assert.deepEqual([await status(ONE), await status(TWO), await status(THREE)], [200, 401, 200]);

  rmSync(apiKeysFile);
  await told('API keys stay as they were');
  assert.deepEqual([await status(ONE), await status(TWO), await status(THREE)], [200, 401, 200]);
  assert.equal(
    logLines.some((line) => [ONE, TWO, THREE].some((key) => line.includes(key))),
    false,
  );
});

test('a server does not start without the file of its keys', async (t) => {
  const apiKeysFile = join(temporaryFolder(t), 'keys');
  await assert.rejects(openServer(t, { apiKeysFile }), {
    code: 'CONFIG_INVALID',
    message: `API_KEYS_FILE ${apiKeysFile} cannot be read: ENOENT`,
  });
});
