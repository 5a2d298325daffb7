// `npm run dev`: starts the server, compiles it when a source changes, and restarts it after a compilation without
// errors. TypeScript's own --watch is not used: its version 7.0 does not notice changes on every file system.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';

const FOLDERS = ['src', 'sip', 'signaling'];
const COMPILER = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'];
const QUIET_MS = 200; // editors write a file in several steps
const ENVIRONMENT = { DRAIN_TIMEOUT: '0', ...process.env };

let server = start();
let timer;
let isWorking = false;
let isStale = false;

function start() {
  return spawn(process.execPath, ['dist/src/main.js'], { stdio: 'inherit', env: ENVIRONMENT });
}

async function stop(signal) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}

async function compile() {
  const [status] = await once(spawn(process.execPath, COMPILER, { stdio: 'inherit' }), 'exit');
  return status === 0;
}

async function update() {
  if (isWorking) {
    isStale = true;
    return;
  }
  isWorking = true;
  do {
    isStale = false;
    process.stdout.write('dev: compiling\n');
    if (await compile()) {
      process.stdout.write('dev: restarting\n');
      await stop('SIGTERM');
      server = start();
    } else process.stdout.write('dev: the server goes on as it was\n');
  } while (isStale);
  isWorking = false;
}

for (const folder of FOLDERS) {
  watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void update(), QUIET_MS);
  });
}
process.stdout.write(`dev: watching ${FOLDERS.join(', ')}\n`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => void stop(signal).then(() => process.exit(0)));
}
