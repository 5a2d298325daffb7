// A defect ends its own piece of work: a server in a process of its own meets one in every kind of handler.
import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DEFECTS } from './fakes/defective-process.js';

interface Logged {
  readonly msg: string;
  readonly work: string;
  readonly err: { readonly message: string };
}

/** Defects whose work is known. */
const NAMED: Readonly<Record<string, string>> = { guarded: 'fake call', ring: 'ring' };

test('an error in any handler of the main thread ends no process; it is logged with its work and counted', async () => {
  const file = fileURLToPath(new URL('fakes/defective-process.js', import.meta.url));
  const child = fork(file, ['run'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [counted] = (await once(child, 'message')) as [string];
  const [status] = (await once(child, 'close')) as [number];
  assert.equal(status, 0);
  const logged = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Logged);
  const told = logged.map(({ msg, work, err }) => `${msg} ${work} ${err.message}`).sort();
  const works = Object.keys(DEFECTS);
  assert.deepEqual(told, works.map((name) => `defect ${NAMED[name] ?? 'unknown'} ${name}`).sort());
  const unnamed = works.length - Object.keys(NAMED).length;
  assert.match(counted, new RegExp(`parley_defects_total{work="unknown"} ${unnamed}\n`));
  assert.match(counted, /parley_defects_total\{work="fake call"\} 1\n/);
});

const LOST: Readonly<Record<string, string>> = {
  'nobody reads any more': '| :',
  'is a full disk': '> /dev/full',
};

for (const [what, redirection] of Object.entries(LOST)) {
  for (const style of ['text', 'json']) {
    test(`a server whose output ${what} loses its log alone, as ${style}, and no defect is counted`, async (t: TestContext) => {
      const file = fileURLToPath(new URL('fakes/defective-process.js', import.meta.url));
      const command = `"$0" "$1" lost-output ${style} 3>&2 2>&1 ${redirection}`;
      const child = spawn('bash', ['-c', command, process.execPath, file], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      t.after(() => child.kill());
      let told = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
      await once(child, 'close');
      assert.equal(told, 'defects: 1\n'); // the one that it made
    });
  }
}
