// Bridges whose packets are relayed, as JavaScript sees them, on a plane whose clock the test holds.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { OPUS, PCMA, PCMU } from '../../src/codecs/codec.js';
import { ParleyError } from '../../src/errors.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { canRelay, MediaRelay } from '../../src/media/media-relay.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import type { Playout } from '../../src/media/playout.js';
import { FAR, parseRtp, START_MS, Telephone, TELEPHONE, WALL_MS } from './plane-under-test.js';

const FRAME_MS = 20;
const SILENCE = 0xff;

interface Leg {
  readonly socket: MediaSocket;
  readonly playout: Playout;
  readonly far: Telephone;
}

function openPlane(t: TestContext): MediaPlane {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  t.after(() => plane.close());
  return plane;
}

/** A call of G.711. Its far end has sent two packets, after which a source counts. */
function openLeg(plane: MediaPlane, ssrc: number): Leg {
  const socket = plane.openSocket({ mux: true });
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.learn(FAR);
  const playout = plane.openStream({ ...TELEPHONE, ssrc, codec: 'PCMU' });
  playout.target({ capture: true });
  const far = new Telephone(socket);
  far.speak(2);
  return { socket, playout, far };
}

/** The first bytes of the payloads that left to this far end in the next 20 ms. */
function left(plane: MediaPlane, leg: Leg): number[] {
  plane.advance(plane.nowMs + FRAME_MS);
  const packets = plane.takePackets().filter(({ stream }) => stream === leg.playout.handle);
  return packets.map((packet) => parseRtp(packet).payload[0] ?? -1);
}

function refuses(work: () => unknown, message: string): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof ParleyError);
    assert.equal(error.code, 'WRONG_STATE');
    assert.equal(error.message, message);
    return true;
  });
}

test('each far end hears the other one', (t) => {
  const plane = openPlane(t);
  const [a, b] = [openLeg(plane, 1), openLeg(plane, 2)];
  const relay = MediaRelay.open(plane, a, b);
  a.far.speak();
  assert.deepEqual(left(plane, b), [102]);
  b.far.sequence = 103; // one is lost
  b.far.speak();
  assert.deepEqual(left(plane, a), [103]);
  const { 'a-to-b': there, 'b-to-a': back } = relay.stats();
  assert.deepEqual(there, { packets: 1, octets: 160, paused: 0, refused: 0, repeated: 0, dropped: 0 });
  assert.deepEqual(back, there);
});

test('a direction that does not flow is a pause', (t) => {
  const plane = openPlane(t);
  const [a, b] = [openLeg(plane, 1), openLeg(plane, 2)];
  const relay = MediaRelay.open(plane, a, b);
  left(plane, b);
  relay.flow('a-to-b', false);
  a.far.speak();
  b.far.speak();
  assert.deepEqual(left(plane, b), [SILENCE]);
  assert.equal(relay.stats()['b-to-a'].packets, 1);
  relay.flow('a-to-b', true);
  a.far.speak();
  assert.deepEqual(left(plane, b), [103]);
});

test('a closed relay leaves sockets and playouts as they were, and can be opened again', (t) => {
  const plane = openPlane(t);
  const [a, b] = [openLeg(plane, 1), openLeg(plane, 2)];
  const relay = MediaRelay.open(plane, a, b);
  a.far.speak();
  left(plane, b);
  relay.close();
  relay.close();
  a.far.speak();
  assert.deepEqual(left(plane, b), [SILENCE]);
  assert.equal(relay.stats()['a-to-b'].packets, 1);
  const again = MediaRelay.open(plane, a, b);
  a.far.speak();
  assert.deepEqual(left(plane, b), [104]);
  b.playout.close();
  a.socket.close();
  again.close();
  assert.equal(again.stats()['a-to-b'].packets, 1);
});

test('a call is bridged once, to another call of its plane that stands', (t) => {
  const plane = openPlane(t);
  const [a, b, c] = [openLeg(plane, 1), openLeg(plane, 2), openLeg(plane, 3)];
  refuses(() => MediaRelay.open(plane, a, a), 'a call cannot be bridged to itself');
  const closed = 'one side of the bridge is closed, or of another media plane';
  refuses(() => MediaRelay.open(openPlane(t), a, b), closed);
  const opaque = plane.openStream({ ...TELEPHONE, ssrc: 4 });
  const unknown = 'the media plane does not know the codec of one side of the bridge';
  refuses(() => MediaRelay.open(plane, { socket: a.socket, playout: opaque }, b), unknown);
  const relay = MediaRelay.open(plane, a, b);
  refuses(() => MediaRelay.open(plane, c, b), 'one side of the bridge is bridged already');
  refuses(() => MediaRelay.open(plane, b, c), 'one side of the bridge is bridged already');
  relay.close();
  c.playout.close();
  refuses(() => MediaRelay.open(plane, a, c), closed);
  MediaRelay.open(plane, a, b).close(); // what was refused has left nothing
});

test('packets can be relayed between RTP calls of the same codec and frame length', () => {
  const port = (codec: typeof PCMU, frameMs = 20, rtpPort = 40_000) => ({
    codec,
    frameMs,
    socket: { port: rtpPort },
  });
  assert.equal(canRelay(port(PCMU), port(PCMU)), true);
  assert.equal(canRelay(port(OPUS), port(OPUS)), true);
  assert.equal(canRelay(port(PCMU), port(PCMA)), false);
  assert.equal(canRelay(port(PCMU), port(PCMU, 30)), false);
  assert.equal(canRelay(port(PCMU, 20, 0), port(PCMU)), false);
  assert.equal(canRelay(port(PCMU), { codec: PCMU, frameMs: 20 }), false);
});
