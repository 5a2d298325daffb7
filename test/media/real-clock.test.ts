// The plane with its own thread: real packets on the loopback, a blocked main
// thread, and ends of processes. Nothing here measures time; see the benches.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { CapturedPacket } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { CM_KEYS, contents, parseRtp, splitRtcp, TELEPHONE, within } from './plane-under-test.js';
import { SrtpReader } from './srtp-reader.js';

const PROCESS = fileURLToPath(new URL('./plane-process.js', import.meta.url));

async function boundSocket(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/** Node keeps the descriptor behind a symbol; `_handle` would warn. */
function descriptorOf(socket: Socket): number {
  const state = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  return (socket as unknown as Record<symbol, { handle: { fd: number } }>)[state as symbol]?.handle.fd ?? -1;
}

/** Threads of this process by name. */
function threads(name: string): number {
  const names = readdirSync('/proc/self/task').map((id) => {
    try {
      return readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim();
    } catch {
      return ''; // it ended meanwhile
    }
  });
  return names.filter((one) => one === name).length;
}

test('frames arrive on a real socket, encrypted, in order, while the socket stays its owner’s', async () => {
  const [sender, receiver] = [await boundSocket(), await boundSocket()];
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const playout = plane.openStream({ ...TELEPHONE, srtp: CM_KEYS, rtcpIntervalMs: 5000 });
  const arrived: Uint8Array[] = [];
  const reported = new Promise<number>(
    (resolve) => (playout.onMark = (_track, _mark, sentAtMs) => resolve(sentAtMs)),
  );
  const goodbye = new Promise<void>((resolve) => {
    receiver.on('message', (data) => {
      if (data[1] === 200) resolve();
      else arrived.push(Uint8Array.from(data));
    });
  });
  for (let n = 0; n < 10; n++) playout.push(playout.generation, 1, new Uint8Array(160).fill(n));
  playout.mark(playout.generation, 1, 5, true);
  const openedAtMs = plane.nowMs;
  const { port } = receiver.address();
  playout.target({ fd: descriptorOf(sender), address: '127.0.0.1', port });
  const sentAtMs = await within('the mark', reported);
  assert.ok(sentAtMs - openedAtMs > 179 && sentAtMs <= plane.nowMs);
  playout.close();
  await within('the BYE', goodbye);

  const reader = new SrtpReader(CM_KEYS);
  const packets = arrived.map((data) => parseRtp({ atMs: 0, data: reader.rtp(data, 0) }));
  const spoken = packets.filter(({ payload }) => payload[0] !== 0xff);
  assert.deepEqual(contents(spoken), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(spoken[0]?.marker, true);
  packets.forEach(({ sequence }, n) => assert.equal(sequence, 1000 + n));
  assert.equal(playout.stats().sendErrors, 0);

  const echo = once(receiver, 'message');
  sender.send('still mine', port, '127.0.0.1');
  assert.equal(String((await within('the echo', echo))[0]), 'still mine');
  plane.close();
  sender.close();
  receiver.close();
});

test('a blocked main thread starves no stream and delays no mark beyond its own return', async () => {
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const receiver = await boundSocket();
  const sender = await boundSocket();
  const target = { fd: descriptorOf(sender), address: '127.0.0.1', port: receiver.address().port };
  const playouts = Array.from({ length: 20 }, () => plane.openStream(TELEPHONE));
  const ended: Promise<number>[] = [];
  for (const playout of playouts) {
    for (let n = 0; n < 20; n++) playout.push(playout.generation, 1, new Uint8Array(160));
    playout.mark(playout.generation, 1, 9, true);
    ended.push(new Promise((resolve) => (playout.onMark = (_track, _mark, sentAtMs) => resolve(sentAtMs))));
    playout.target(target);
  }
  const blockedUntilMs = plane.nowMs + 500;
  while (plane.nowMs < blockedUntilMs);
  const sentAtMs = await within('all marks', Promise.all(ended));
  for (const ms of sentAtMs) assert.ok(ms < blockedUntilMs, 'the frames left while the thread was blocked');
  for (const playout of playouts) {
    const { underruns, sendErrors } = playout.stats();
    assert.deepEqual(
      { underruns, sendErrors, sent: playout.sent(1) },
      { underruns: 0, sendErrors: 0, sent: 20 },
    );
  }
  assert.match(plane.stats().priority, /^(?:fifo|nice|normal)$/);
  plane.close();
  sender.close();
  receiver.close();
});

test('a stream that captures hands its packets to JavaScript, the BYE too', async () => {
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const playout = plane.openStream({ ...TELEPHONE, rtcpIntervalMs: 60_000 });
  const packets: CapturedPacket[] = [];
  const five = new Promise<void>((resolve) => {
    playout.onPacket = (packet) => {
      if (packets.push(packet) === 5) resolve();
    };
  });
  playout.target({ capture: true });
  await within('five packets', five);
  playout.close();
  const last = packets.at(-1);
  assert.ok(last?.kind === 'rtcp' && splitRtcp(last.data).some(({ type }) => type === 203));
  assert.equal(playout.stats().carried, packets.filter(({ kind }) => kind === 'rtp').length);
  plane.close();
});

test('closing a plane joins its threads', () => {
  const before = threads('parley-clock');
  const planes = [1, 2, 3].map((seed) => MediaPlane.open({ clock: 'real', seed }));
  for (const plane of planes) plane.openStream(TELEPHONE).target({ capture: true });
  for (const plane of planes) plane.close();
  assert.equal(threads('parley-clock'), before);
  assert.equal(threads('parley-dispatch'), before);
});

test('the end of the worker that opened a plane ends the plane', async () => {
  const before = threads('parley-clock');
  const worker = new Worker(PROCESS, { workerData: 'message' });
  const ended = once(worker, 'exit');
  await within('its mark', once(worker, 'message'));
  await within('its end', ended); // by itself: the plane keeps it not alive
  assert.equal(threads('parley-clock'), before);
});

for (const [how, code] of [
  ['exit', 7],
  ['return', 0],
] as const) {
  test(`a process that ends by ${how} with a plane open ends cleanly`, async () => {
    const child = spawn(process.execPath, [PROCESS, how], { stdio: ['ignore', 'inherit', 'inherit'] });
    const [status, signal] = (await within('its end', once(child, 'exit'))) as [number | null, string | null];
    assert.deepEqual([status, signal], [code, null]);
  });
}

test('a callback that throws is reported, and ends neither the thread nor the next report', async () => {
  const failures: unknown[] = [];
  const plane = MediaPlane.open({ clock: 'real', seed: 1, failed: (error) => failures.push(error) });
  const playout = plane.openStream(TELEPHONE);
  const defect = new RangeError('a defect');
  const second = new Promise<void>((resolve) => {
    playout.onMark = (_track, mark) => {
      if (mark === 1) throw defect;
      resolve();
    };
  });
  for (const mark of [1, 2]) {
    playout.push(playout.generation, 1, new Uint8Array(160));
    playout.mark(playout.generation, 1, mark, mark === 2);
  }
  playout.target({ capture: true });
  await within('the second mark', second);
  assert.deepEqual(failures, [defect]);
  plane.close();
});
