import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ManualTime } from '../fakes/manual-time.js';
import { askAtTerminal, isFreePort, openBrowser, ownAddresses } from '../../src/talk/desktop.js';

const URL = 'http://127.0.0.1:8080';

type End = { readonly event: 'exit'; readonly status: number } | { readonly event: 'error' };

/** Notes the program that is started, which then ends so; undefined: it goes on. */
function starter(end: End | undefined) {
  const started: string[][] = [];
  const start = (command: string, args: readonly string[]) => {
    started.push([command, ...args]);
    const child = Object.assign(new EventEmitter(), { unref: () => undefined });
    if (end !== undefined) queueMicrotask(() => child.emit(end.event, 'status' in end ? end.status : {}));
    return child;
  };
  return { started, start };
}

const OPENED: End = { event: 'exit', status: 0 };

test('the browser is opened by the program of each system', async () => {
  for (const [platform, env, command] of [
    ['linux', { DISPLAY: ':0' }, ['xdg-open', URL]],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open', URL]],
    ['darwin', {}, ['open', URL]],
    ['win32', {}, ['cmd', '/c', 'start', '', URL]],
  ] as const) {
    const { started, start } = starter(OPENED);
    const time = new ManualTime();
    assert.equal(await openBrowser(URL, { env, time, platform, start }), true);
    assert.deepEqual([started, time.waiting], [[command], 0]);
  }
});

test('without a screen no program is started', async () => {
  for (const env of [{}, { DISPLAY: '' }]) {
    const { started, start } = starter(OPENED);
    const time = new ManualTime();
    assert.equal(await openBrowser(URL, { env, time, platform: 'linux', start }), false);
    assert.deepEqual(started, []);
  }
});

test('a machine has no browser without the program that opens one, or if that fails', async () => {
  for (const end of [{ event: 'error' }, { event: 'exit', status: 3 }] as const) {
    const desktop = { env: { DISPLAY: ':0' }, time: new ManualTime(), platform: 'linux' } as const;
    assert.equal(await openBrowser(URL, { ...desktop, start: starter(end).start }), false);
  }
});

test('a program that runs as long as the browser does is not waited for', async () => {
  const time = new ManualTime();
  const { start } = starter(undefined);
  const opened = openBrowser(URL, { env: { DISPLAY: ':0' }, time, platform: 'linux', start });
  time.advance(2000);
  assert.equal(await opened, true);
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
