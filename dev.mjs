// `npm run dev`: starts the server, compiles it when a source changes, and restarts it after a compilation without
// errors. TypeScript's own --watch is not used: its version 7.0 does not notice changes on every file system.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';

const FOLDERS = ['src', 'sip', 'signaling'];
const COMPILER = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noEmitOnError'];
const QUIET_MS = 200; // editors write a file in several steps
const ENVIRONMENT = { DRAIN_TIMEOUT: '0', ...process.env };

let server = start();
let timer;
let isWorking = false;
let isStale = false;
let isStopping = false;
let compiler;

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
  compiler = spawn(process.execPath, COMPILER, { stdio: 'inherit' });
  const [status] = await once(compiler, 'exit');
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
    const isCompiled = await compile();
    if (isStopping) return;
    if (isCompiled) {
      process.stdout.write('dev: restarting\n');
      await stop('SIGTERM');
      if (isStopping) return;
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
  process.on(signal, () => {
    isStopping = true;
    compiler?.kill();
    void stop(signal).then(() => process.exit(0));
  });
}
