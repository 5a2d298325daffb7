// `npm run dev` in a copy of the sources: it compiles what changes and restarts the server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { until } from './fakes/until.js';

const ROOT = join(import.meta.dirname, '..', '..');
const COPIED = [
  'package.json',
  'dev.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'public',
  'src',
  'sip',
  'signaling',
];
const LINKED = ['node_modules', 'native/build'];
const LIMIT_MS = 100_000; // a whole compilation, on a machine with much to do

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

test('a changed source or page restarts the server, unless a source has an error; Ctrl-C ends both', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const name of ['src', 'sip', 'signaling']) {
    cpSync(join(ROOT, 'dist', name), join(folder, 'dist', name), { recursive: true });
  }
  mkdirSync(join(folder, 'native'));
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));

  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`;
  const env = { PATH: path, PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', PRELOAD_MODEL: '0' };
  const child = spawn('sh', ['-c', scripts['dev'] ?? ''], { cwd: folder, env, detached: true });
  const group = -(child.pid ?? assert.fail('it did not start'));
  const isAlive = () => {
    try {
      return process.kill(group, 0);
    } catch {
      return false;
    }
  };
  t.after(() => {
    if (isAlive()) process.kill(group, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const said = async (words: string, from = 0) => {
    const limit = AbortSignal.timeout(LIMIT_MS);
    while (!output.includes(words, from)) {
      if (limit.aborted) throw new Error(`not said: "${words}"; but: ${output}`);
      await setTimeout(50);
    }
  };

  await Promise.all([said('parley listens'), said('dev: watching')]);
  const before = output.length;
  appendFileSync(join(folder, 'src/main.ts'), "\nprocess.emitWarning('compiled anew');\n");
  await Promise.all([said('compiled anew', before), said('parley listens', before)]);

  const page = output.length;
  appendFileSync(join(folder, 'public/docs/text.md'), '\nOne more line.\n');
  await said('parley listens', page);

  const broken = output.length;
  appendFileSync(join(folder, 'src/main.ts'), 'const broken: number = "no";\n');
  await said('dev: the server goes on as it was', broken);
  assert.match(output.slice(broken), /error TS2322/);

  process.kill(group, 'SIGINT');
  await until(() => !isAlive());
});

test('a folder that cannot be watched is named, and nothing is started', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['src', 'sip', 'signaling']) mkdirSync(join(folder, name));
  const child = spawn(process.execPath, [join(ROOT, 'dev.mjs')], { cwd: folder });
  const [output] = await Promise.all([readAll(child.stdout), once(child, 'close')]);
  assert.match(output, /^dev: cannot watch public\/docs: ENOENT.*\n$/);
  assert.equal(child.exitCode, 1);
});
