import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from './api/http/tls-files.js';

const ENTRYPOINT = join(import.meta.dirname, '..', '..', 'native', 'docker-entrypoint.sh');
const SHELL_TOOLS = ['bash', 'env', 'dirname', 'timeout', 'sleep'];

interface Container {
  readonly env: NodeJS.ProcessEnv;
  readonly run: (...command: string[]) => { status: number | null; stdout: string; stderr: string };
  /** The calls of nvidia-smi, one line each. */
  readonly calls: () => string[];
}

/**
 * A container whose PATH holds stand-ins: an nvidia-smi that takes notes and does this, or none, and a node.
 */
function container(t: TestContext, environment: Record<string, string>, smi?: string): Container {
  const folder = temporaryFolder(t);
  const [bin, notes] = [join(folder, 'bin'), join(folder, 'notes')];
  mkdirSync(bin);
  writeFileSync(notes, '');
  for (const tool of SHELL_TOOLS) symlinkSync(`/usr/bin/${tool}`, join(bin, tool));
  const standIn = (name: string, body: string): void => {
    writeFileSync(join(bin, name), `#!/bin/bash\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  standIn('node', 'echo "node $*"');
  if (smi !== undefined) standIn('nvidia-smi', `echo "$*" >> ${notes}\n${smi}`);
  const env = { PATH: bin, ...environment };
  return {
    env,
    run: (...command) => spawnSync(ENTRYPOINT, command, { env, encoding: 'utf8', timeout: 20_000 }),
    calls: () => readFileSync(notes, 'utf8').split('\n').filter(Boolean),
  };
}

test('by default the GPU is left as it is, and the server is started', (t) => {
  const { run, calls } = container(t, {}, 'exit 0');
  const { status, stdout, stderr } = run();
  assert.deepEqual([status, stderr, calls()], [0, '', []]);
  assert.match(stdout, /^node \/.*\/dist\/src\/main\.js\n$/);
});

test('what is asked for is set, and then the command runs', (t) => {
  const wishes = { GPU_PERSISTENCE: '1', GPU_CLOCK: '1500,1980', GPU_MEMORY_CLOCK: '2619' };
  const { run, calls } = container(t, wishes, 'exit 0');
  const { status, stdout, stderr } = run('node', 'another program.js', '--flag');
  assert.deepEqual([status, stdout, stderr], [0, 'node another program.js --flag\n', '']);
  assert.deepEqual(calls(), ['-pm 1', '-lgc 1500,1980', '-lmc 2619']);
});

test('only the GPUs that are named are set', (t) => {
  const { run, calls } = container(t, { GPU_CLOCK: '1980', GPU_ID: '0,GPU-1a2b' }, 'exit 0');
  assert.equal(run().status, 0);
  assert.deepEqual(calls(), ['-i 0,GPU-1a2b -lgc 1980']);
});

test('without the privileges it says what was not set and what that needs, and the server starts', (t) => {
  const refusal = 'echo "Insufficient Permissions"; echo "Terminating early" >&2; exit 4';
  const { run } = container(t, { GPU_PERSISTENCE: '1', GPU_CLOCK: '1980' }, refusal);
  const { status, stdout, stderr } = run();
  assert.equal(status, 0);
  assert.match(stdout, /^node /);
  const why = '(Insufficient Permissions; Terminating early)';
  const needs = 'It needs root and the capability SYS_ADMIN; the server starts without';
  const lines = ['GPU_PERSISTENCE', 'GPU_CLOCK'].map((name) => `parley: ${name}: not set ${why}. ${needs}`);
  assert.deepEqual(stderr.trimEnd().split('\n'), lines);
});

test('without nvidia-smi it says so, and the server starts', (t) => {
  const { status, stdout, stderr } = container(t, { GPU_CLOCK: '1980' }).run();
  assert.equal(status, 0);
  assert.match(stdout, /^node /);
  assert.match(stderr, /^parley: GPU_CLOCK: not set \(there is no nvidia-smi here\)\. It needs/);
});

test('a value that cannot be meant is refused by name, with what is allowed, and nothing is set', (t) => {
  for (const [name, value, allowed] of [
    ['GPU_PERSISTENCE', 'yes', 'must be 0 or 1, not "yes"'],
    ['GPU_CLOCK', 'fast', 'must be MHz such as 1980, or two such as 1500,1980, not "fast"'],
    ['GPU_CLOCK', '1980; reboot', 'must be MHz'],
    ['GPU_MEMORY_CLOCK', '0', 'must be MHz'],
    ['GPU_ID', '-r', 'must be numbers or UUIDs'],
    ['GPU_ID', '0 1', 'must be numbers or UUIDs'],
  ] as const) {
    const { run, calls } = container(t, { GPU_PERSISTENCE: '1', [name]: value }, 'exit 0');
    const { status, stdout, stderr } = run();
    assert.deepEqual([status, stdout, calls()], [2, '', []], `${name}=${value}`);
    assert.ok(stderr.startsWith(`parley: ${name} ${allowed}`), stderr);
  }
});

test('signals reach the server itself, and its exit status is that of the container', async (t) => {
  const { env } = container(t, {});
  const program = 'trap "echo told; exit 7" TERM; echo ready $$; while :; do sleep 0.05; done';
  const child = spawn(ENTRYPOINT, ['bash', '-c', program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said === `ready ${child.pid}\n`) child.kill('SIGTERM'); // it is the same process
  });
  const [code] = (await once(child, 'close')) as [number];
  assert.deepEqual([code, said], [7, `ready ${child.pid}\ntold\n`]);
});
