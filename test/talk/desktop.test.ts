import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { askAtTerminal, isFreePort, openBrowser, ownAddresses } from '../../src/talk/desktop.js';

const URL = 'http://127.0.0.1:8080';

/** Notes the program that is started, which then says `event`. */
function starter(event: 'spawn' | 'error') {
  const started: string[][] = [];
  const start = (command: string, args: readonly string[]) => {
    started.push([command, ...args]);
    const child = Object.assign(new EventEmitter(), { unref: () => undefined });
    queueMicrotask(() => child.emit(event));
    return child;
  };
  return { started, start };
}

test('the browser is opened by the program of each system', async () => {
  for (const [platform, env, command] of [
    ['linux', { DISPLAY: ':0' }, ['xdg-open', URL]],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open', URL]],
    ['darwin', {}, ['open', URL]],
    ['win32', {}, ['cmd', '/c', 'start', '', URL]],
  ] as const) {
    const { started, start } = starter('spawn');
    assert.equal(await openBrowser(URL, env, platform, start), true);
    assert.deepEqual(started, [command]);
  }
});

test('without a screen no program is started', async () => {
  for (const env of [{}, { DISPLAY: '' }]) {
    const { started, start } = starter('spawn');
    assert.equal(await openBrowser(URL, env, 'linux', start), false);
    assert.deepEqual(started, []);
  }
});

test('a machine without the program has no browser', async () => {
  assert.equal(await openBrowser(URL, { DISPLAY: ':0' }, 'linux', starter('error').start), false);
});

test('a port is free until somebody listens there', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  assert.equal(await isFreePort('127.0.0.1', port), false);
  server.close();
  await once(server, 'close');
  assert.equal(await isFreePort('127.0.0.1', port), true);
  assert.equal(await isFreePort('127.0.0.1', port), true, 'the check frees it again');
});

test('the own addresses have the loopback, as URLs write it', () => {
  assert.ok(ownAddresses().includes('127.0.0.1'));
  for (const address of ownAddresses()) assert.ok(globalThis.URL.canParse(`http://${address}/`), address);
});

test('a question is answered by a line, and given up at the end of the input', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answer = askAtTerminal('Which? ', input, output);
  input.write('2\n');
  assert.equal(await answer, '2');
  assert.equal(String(output.read()), 'Which? ');
  const none = askAtTerminal('Which? ', input, output);
  input.end();
  assert.equal(await none, undefined);
});
