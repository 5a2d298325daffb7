// Copies of a socket's packets, as JavaScript takes them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MediaPlane } from '../../src/media/media-plane.js';
import { RtpPorts } from '../../src/media/media-socket.js';
import { FAR, rtp } from './far-end.js';
import { START_MS, WALL_MS } from './plane-under-test.js';

function open(): MediaPlane {
  return MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
}

test('what comes in is copied as it came, while it is wished, with where it came from and when', () => {
  const plane = open();
  const socket = plane.openSocket({ mux: false });
  const packet = Buffer.from(rtp({ sequence: 1, timestamp: 160 }));
  const stray = Buffer.from('no packet at all');
  socket.feed(packet, FAR.address, FAR.port);
  assert.deepEqual(socket.takeTapped(), { packets: [], missed: 0 });
  socket.tap(true);
  socket.feed(packet, FAR.address, FAR.port);
  plane.advance(START_MS + 5);
  socket.feed(stray, '2001:db8::7', 9, true);
  socket.tap(false);
  socket.feed(packet, FAR.address, FAR.port);
  const { packets } = socket.takeTapped();
  assert.deepEqual(
    packets.map(({ data, ...rest }) => ({ ...rest, data: Buffer.from(data) })),
    [
      { sent: false, rtcpPort: false, atMs: START_MS, ...FAR, data: packet },
      { sent: false, rtcpPort: true, atMs: START_MS + 5, address: '2001:db8::7', port: 9, data: stray },
    ],
  );
  socket.close();
  assert.deepEqual(socket.takeTapped(), { packets: [], missed: 0 });
  plane.close();
});

test('copies that nobody takes are missed, not kept for ever', () => {
  const plane = open();
  const socket = plane.openSocket({ mux: true });
  socket.tap(true);
  for (let count = 0; count < 1000; count++) socket.feed(Buffer.alloc(1000, 0x80), FAR.address, FAR.port);
  const { packets, missed } = socket.takeTapped();
  assert.ok(packets.length > 200 && missed > 0);
  assert.equal(packets.length + missed, 1000);
  plane.close();
});

test('what leaves is copied too', () => {
  const plane = open();
  const ports = RtpPorts.open({
    address: '127.0.0.1',
    portMin: 43_100,
    portMax: 43_199,
    drainMs: 0,
    dscp: 46,
  });
  const socket = plane.openSocket({ ports, mux: true });
  socket.tap(true);
  assert.ok(socket.sendForeign(Buffer.from('to port nine'), '127.0.0.1', 9));
  const [copy, ...others] = socket.takeTapped().packets;
  assert.deepEqual(others, []);
  assert.deepEqual([copy?.sent, copy?.address, copy?.port], [true, '127.0.0.1', 9]);
  assert.equal(Buffer.from(copy?.data ?? []).toString(), 'to port nine');
  plane.close();
  ports.close();
});
