// `npm run dev`: starts the server, compiles it when a source or a page of the guide changes, and restarts it after a
// compilation without errors. TypeScript's own --watch is not used: its version 7.0 does not notice changes on every
// file system.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';

const FOLDERS = ['src', 'sip', 'signaling', 'public/docs']; // the server reads the pages once, when it starts
const COMPILER = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noEmitOnError'];
const QUIET_MS = 200; // editors write a file in several steps
const ENVIRONMENT = { DRAIN_TIMEOUT: '0', ...process.env };

let server;
let timer;
let isWorking = false;
let isStale = false;
let isStopping = false;
let compiler;

function say(message) {
  process.stdout.write(`dev: ${message}\n`);
}

function start() {
  server = spawn(process.execPath, ['dist/src/main.js'], { stdio: 'inherit', env: ENVIRONMENT });
  server.on('error', ({ message }) => say(`the server cannot be started: ${message}`));
}

async function stop(signal) {
  if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}

async function compile() {
  compiler = spawn(process.execPath, COMPILER, { stdio: 'inherit' });
  try {
    const [status] = await once(compiler, 'exit');
    return status === 0;
  } catch ({ message }) {
    say(`the compiler cannot be started: ${message}`);
    return false;
  }
}

async function update() {
  if (isWorking) {
    isStale = true;
    return;
  }
  isWorking = true;
  do {
    isStale = false;
    say('compiling');
    const isCompiled = await compile();
    if (isStopping) return;
    if (isCompiled) {
      say('restarting');
      await stop('SIGTERM');
      if (isStopping) return;
      start();
    } else say('the server goes on as it was');
  } while (isStale);
  isWorking = false;
}

function watchFolder(folder) {
  const failed = ({ message }) => {
    say(`cannot watch ${folder}: ${message}`);
    void end('SIGTERM', 1);
  };
  try {
    const watcher = watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void update(), QUIET_MS);
    });
    watcher.on('error', failed);
  } catch (error) {
    failed(error);
  }
}

async function end(signal, status) {
  isStopping = true;
  compiler?.kill();
  await stop(signal);
  process.exit(status);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void end(signal, 0));
FOLDERS.forEach(watchFolder);
if (!isStopping) {
  start();
  say(`watching ${FOLDERS.join(', ')}`);
}
