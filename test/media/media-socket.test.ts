// Incoming packets, on a plane whose clock the test controls. Tests feed packets directly unless their name
// mentions real sockets.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test } from 'node:test';
import { MediaPlane } from '../../src/media/media-plane.js';
import { type MediaSocket, RtpPorts } from '../../src/media/media-socket.js';
import { freePorts } from '../fakes/free-port.js';
import {
  CM_KEYS,
  event,
  FAR,
  holdPlane,
  parseReport,
  parseRtp,
  receiverReport,
  rtp,
  splitRtcp,
  START_MS,
  STRANGER,
  Telephone,
  TELEPHONE,
  WALL_MS,
  within,
} from './plane-under-test.js';

const FORMATS = [
  { payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' },
  { payloadType: 101, kind: 'digit', clockRate: 8000 },
  { payloadType: 13, kind: 'comfort-noise', clockRate: 8000 },
] as const;

interface Held {
  readonly plane: MediaPlane;
  readonly socket: MediaSocket;
  readonly digits: [string, number, number][];
  readonly phone: Telephone;
  /** Runs the clock on. */
  pass(ms: number): void;
}

function holdSocket(mux = true): Held {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const socket = plane.openSocket({ mux });
  socket.formats(FORMATS);
  socket.learn(FAR);
  const digits: [string, number, number][] = [];
  socket.onDigit = (digit, durationMs, atMs) => digits.push([digit, durationMs, atMs - START_MS]);
  const pass = (ms: number) => void plane.advance(plane.nowMs + ms);
  return { plane, socket, digits, phone: new Telephone(socket), pass };
}

test('a key that goes down is reported with its first packet, and not again', () => {
  const { plane, socket, digits, phone, pass } = holdSocket();
  const downs: number[] = [];
  socket.onKeyDown = () => downs.push(plane.nowMs - START_MS);
  for (const packet of phone.keyPackets(5, 5)) {
    phone.send(packet);
    pass(20);
    if (downs.length === 0) assert.deepEqual(digits, []);
  }
  phone.timestamp += 800;
  const [end] = phone.keyPackets(5, 3).slice(-1);
  if (end !== undefined) phone.send(end);
  pass(20);
  assert.deepEqual(downs, [20], 'a key of which only the end has come is not down any more');
  assert.equal(digits.length, 2);
  plane.close();
});

test('a key is reported once, when it is released, with its length', () => {
  const { plane, digits, phone, pass } = holdSocket();
  for (const packet of phone.keyPackets(5, 5)) {
    phone.send(packet);
    pass(20);
  }
  phone.timestamp += 800;
  for (const packet of phone.keyPackets(11, 3)) {
    phone.send(packet);
    pass(20);
  }
  assert.deepEqual(digits, [
    ['5', 100, 0],
    ['#', 60, 140],
  ]);
  plane.close();
});

test('a key is reported exactly once, whichever of its packets arrive', () => {
  const frames = 4;
  for (let arrive = 1; arrive < 2 ** (frames + 2); arrive++) {
    const { plane, digits, phone, pass } = holdSocket();
    phone.keyPackets(1, frames).forEach((packet, n) => {
      if ((arrive >> n) & 1) phone.send(packet);
      pass(20);
    });
    pass(1000);
    assert.deepEqual(
      digits.map(([digit]) => digit),
      ['1'],
      `packets ${arrive.toString(2)}`,
    );
    plane.close();
  }
});

test('silence ends a key whose end packets were lost', () => {
  const { plane, digits, phone, pass } = holdSocket();
  for (const packet of phone.keyPackets(9, 10).slice(0, 6)) {
    phone.send(packet);
    pass(20);
  }
  pass(229);
  assert.deepEqual(digits, []);
  pass(1);
  assert.deepEqual(digits, [['9', 120, 0]]);
  plane.close();
});

test('the next key ends the one before', () => {
  const { plane, digits, phone, pass } = holdSocket();
  for (const packet of phone.keyPackets(1, 5).slice(0, 5 - 1)) phone.send(packet);
  pass(40);
  for (const packet of phone.keyPackets(1, 5)) phone.send(packet);
  pass(1);
  assert.deepEqual(
    digits.map(([digit, durationMs]) => [digit, durationMs]),
    [
      ['1', 80],
      ['1', 100],
    ],
  );
  plane.close();
});

test('a key held for twenty seconds is one key, over the segments that its length needs', () => {
  const { plane, digits, phone, pass } = holdSocket();
  const sent: [number, number, boolean][] = []; // timestamp, duration, end
  const ticks = 20 * 8000;
  for (let at = 160; at <= ticks; at += 160) {
    const segment = Math.floor((at - 1) / 0xffff);
    sent.push([8000 + segment * 0xffff, at - segment * 0xffff, at === ticks]);
  }
  for (const [timestamp, duration, end] of sent) {
    const packet = {
      payloadType: 101,
      sequence: phone.sequence++,
      timestamp,
      payload: event(0, duration, end),
    };
    phone.send(rtp(packet));
    pass(20);
  }
  assert.deepEqual(digits, [['0', 20_000, 0]]);
  plane.close();
});

test('packets of a key that were overtaken press nothing again', () => {
  const { plane, digits, phone, pass } = holdSocket();
  const first = phone.keyPackets(3, 3);
  const second = phone.keyPackets(4, 3);
  for (const packet of [...first.slice(1), ...second, ...first]) phone.send(packet);
  pass(1000);
  assert.deepEqual(
    digits.map(([digit]) => digit),
    ['3', '4'],
  );
  plane.close();
});

test('the length of a key is counted in the clock of its payload type, which may change', () => {
  const { plane, socket, digits, phone, pass } = holdSocket();
  socket.formats([
    { payloadType: 96, kind: 'sound', clockRate: 48_000, codec: 'opus' },
    { payloadType: 110, kind: 'digit', clockRate: 48_000 },
    { payloadType: 101, kind: 'digit', clockRate: 8000 },
  ]);
  for (const packet of phone.keyPackets(2, 5, 110, 960)) phone.send(packet);
  for (const packet of phone.keyPackets(2, 5, 101, 160)) phone.send(packet);
  socket.formats([{ payloadType: 97, kind: 'digit', clockRate: 8000 }]);
  for (const packet of phone.keyPackets(7, 5, 101, 160)) phone.send(packet);
  for (const packet of phone.keyPackets(8, 5, 97, 160)) phone.send(packet);
  pass(1000);
  assert.deepEqual(
    digits.map(([digit, durationMs]) => [digit, durationMs]),
    [
      ['2', 100],
      ['2', 100],
      ['8', 100],
    ],
  );
  assert.equal(socket.stats().unknownPayloads, 7);
  plane.close();
});

const SEVERAL = 4; // packets in sequence, after which another source than the announced one is latched
const NETWORKS = ['192.0.2.0/24', '198.51.100.9'];

function whereOf(socket: MediaSocket): [string, number, boolean] {
  const { address, port, latched } = socket.stats();
  return [address, port, latched];
}

test('no packet from elsewhere takes the media of a call whose announced address is silent', () => {
  const { plane, socket, pass, phone } = holdSocket();
  const stranger = new Telephone(socket, STRANGER);
  for (let second = 0; second < 5; second++) {
    stranger.speak(50);
    pass(1000);
  }
  assert.deepEqual(whereOf(socket), [FAR.address, FAR.port, false]);
  assert.equal(socket.stats().strangers, 250);
  phone.speak();
  assert.deepEqual(
    [whereOf(socket), socket.stats().received + socket.stats().packets],
    [[FAR.address, FAR.port, true], 0],
  );
  assert.equal(socket.stats().departures, 0);
  plane.close();
});

test('the announced address takes the media back with one packet, however long another source had it', () => {
  const { plane, socket, pass, phone } = holdSocket();
  socket.learn({ ...FAR, networks: NETWORKS });
  const other = new Telephone(socket, STRANGER);
  other.speak(SEVERAL);
  assert.deepEqual(whereOf(socket), [STRANGER.address, STRANGER.port, true]);
  for (let second = 0; second < 10; second++) {
    pass(1000);
    other.speak(50);
  }
  phone.speak();
  other.speak(50);
  assert.deepEqual(whereOf(socket), [FAR.address, FAR.port, true]);
  assert.equal(socket.stats().departures, 1);
  plane.close();
});

for (const [what, from, rules, isLatched] of [
  ['another port of the announced host', { address: FAR.address, port: 5000 }, {}, true],
  ['the host of the signalling', STRANGER, { signalling: STRANGER.address }, true],
  ['an allowed network', STRANGER, { networks: NETWORKS }, true],
  ['any host, if the announced address cannot be routed', STRANGER, { anywhere: true }, true],
  [
    'any other host',
    STRANGER,
    { signalling: '203.0.113.1', networks: ['192.0.2.0/24', '2001:db8::/32'] },
    false,
  ],
  [
    'a port below 1024',
    { address: FAR.address, port: 1023 },
    { anywhere: true, signalling: FAR.address },
    false,
  ],
  [
    'the host of the signalling over IPv6',
    { address: '2001:db8::5', port: 4000 },
    { signalling: '2001:db8::5' },
    true,
  ],
  [
    'an allowed network of IPv6',
    { address: '2001:db8:7::5', port: 4000 },
    { networks: ['2001:db8::/33'] },
    true,
  ],
  ['an allowed network in the form of IPv6', STRANGER, { networks: ['::ffff:198.51.100.0/120'] }, true],
  [
    'the neighbour of such a network',
    { address: '2001:db8:8000::5', port: 4000 },
    { networks: ['2001:db8::/33'] },
    false,
  ],
] as const) {
  test(`${what} is latched ${isLatched ? 'at its fourth packet in sequence' : 'never'}`, () => {
    const { plane, socket } = holdSocket();
    socket.learn({ ...FAR, ...rules });
    const source = new Telephone(socket, from);
    source.speak(SEVERAL - 1);
    assert.deepEqual(whereOf(socket), [FAR.address, FAR.port, false]);
    source.sequence++; // one is lost
    source.speak(SEVERAL - 1);
    assert.deepEqual([whereOf(socket), socket.stats().packets], [[FAR.address, FAR.port, false], 0]);
    source.speak();
    const expected = isLatched ? [from.address, from.port, true] : [FAR.address, FAR.port, false];
    assert.deepEqual([whereOf(socket), socket.stats().departures], [expected, isLatched ? 1 : 0]);
    plane.close();
  });
}

test('packets of several sources, or of changing SSRC, are no sequence', () => {
  const { plane, socket } = holdSocket();
  socket.learn({ ...FAR, networks: NETWORKS });
  const [one, two] = [new Telephone(socket, STRANGER), new Telephone(socket, BEHIND)];
  for (let n = 0; n < 20; n++) {
    one.speak();
    two.speak();
    one.sequence = two.sequence;
  }
  for (let n = 0; n < 20; n++) one.send(rtp({ sequence: n, timestamp: 160 * n, ssrc: n }));
  assert.deepEqual(whereOf(socket), [FAR.address, FAR.port, false]);
  plane.close();
});

test('the host of the signalling takes the media from any other, where the announced address cannot be routed', () => {
  const { plane, socket, pass } = holdSocket();
  socket.learn({ ...FAR, anywhere: true, signalling: BEHIND.address });
  const [stranger, behind] = [new Telephone(socket, STRANGER), new Telephone(socket, BEHIND)];
  stranger.speak(SEVERAL);
  pass(10_000);
  stranger.speak(SEVERAL);
  for (let n = 0; n < SEVERAL; n++) {
    assert.deepEqual(whereOf(socket), [STRANGER.address, STRANGER.port, true]);
    behind.speak();
    stranger.sequence += 7; // a flood of strangers does not disturb it
    stranger.speak();
  }
  assert.deepEqual(whereOf(socket), [BEHIND.address, BEHIND.port, true]);
  pass(10_000);
  stranger.speak(50);
  assert.deepEqual(whereOf(socket), [BEHIND.address, BEHIND.port, true]);
  plane.close();
});

test('another announced address is sent to at once', () => {
  const { plane, socket, phone } = holdSocket();
  phone.speak();
  socket.learn({ address: STRANGER.address, port: 5000 });
  assert.deepEqual(whereOf(socket), [STRANGER.address, 5000, false]);
  phone.speak(50);
  assert.deepEqual(whereOf(socket), [STRANGER.address, 5000, false]);
  new Telephone(socket, STRANGER).speak(SEVERAL);
  assert.deepEqual(whereOf(socket), [STRANGER.address, STRANGER.port, true]);
  plane.close();
});

test('a description that repeats the address keeps the learned one until somebody sends', () => {
  const { plane, socket } = holdSocket();
  socket.learn({ ...FAR, networks: NETWORKS });
  const behind = new Telephone(socket, STRANGER);
  behind.speak(SEVERAL);
  socket.learn({ ...FAR, networks: NETWORKS });
  assert.equal(socket.stats().address, STRANGER.address);
  plane.close();
});

const BEHIND = { address: '192.0.2.77', port: 7000 }; // a translator's face of the far end

test('a description that repeats the address lets no other source replace a far end that is heard', () => {
  const { plane, socket, pass } = holdSocket();
  socket.learn({ ...FAR, networks: NETWORKS });
  const [behind, stranger] = [new Telephone(socket, BEHIND), new Telephone(socket, STRANGER)];
  behind.speak(SEVERAL);
  pass(10_000);
  behind.speak();
  pass(1000);
  socket.learn({ ...FAR, networks: NETWORKS });
  stranger.speak(SEVERAL);
  assert.equal(socket.stats().port, BEHIND.port);
  behind.speak();
  pass(2000);
  stranger.speak(SEVERAL);
  assert.deepEqual([socket.stats().port, socket.stats().strangers], [BEHIND.port, 2 * SEVERAL + SEVERAL - 1]);
  plane.close();
});

test('where the far end has gone silent, another one is learned after a new description', () => {
  const { plane, socket, pass } = holdSocket();
  socket.learn({ ...FAR, networks: NETWORKS });
  new Telephone(socket, BEHIND).speak(SEVERAL);
  pass(500);
  socket.learn({ ...FAR, networks: NETWORKS });
  pass(1500);
  new Telephone(socket, STRANGER).speak(SEVERAL);
  assert.equal(socket.stats().port, STRANGER.port);
  plane.close();
});

for (const [what, heardMs] of [
  ['long', 10_000],
  ['hardly', 500],
] as const) {
  test(`a far end that was ${what} heard, was silent and comes back takes its place back, whoever was learned meanwhile`, () => {
    const { plane, socket, pass } = holdSocket();
    socket.learn({ ...FAR, networks: NETWORKS });
    const [behind, stranger] = [new Telephone(socket, BEHIND), new Telephone(socket, STRANGER)];
    behind.speak(SEVERAL);
    pass(heardMs);
    behind.speak();
    pass(60_000); // held
    for (let refresh = 0; refresh < 2; refresh++) {
      socket.learn({ ...FAR, networks: NETWORKS });
      for (let second = 0; second < 5; second++) {
        stranger.speak(SEVERAL);
        assert.equal(socket.stats().port, STRANGER.port);
        pass(1000);
      }
      pass(60_000);
    }
    const { strangers } = socket.stats();
    behind.speak();
    stranger.speak();
    assert.deepEqual([socket.stats().port, socket.stats().strangers], [BEHIND.port, strangers + 1]);
    plane.close();
  });
}

test('a far end behind a translator comes back after one packet that pretends to be of the announced address', () => {
  const { plane, socket, pass, phone } = holdSocket();
  socket.learn({ ...FAR, signalling: BEHIND.address });
  const behind = new Telephone(socket, BEHIND);
  behind.speak(SEVERAL);
  phone.speak();
  assert.equal(socket.stats().port, FAR.port);
  pass(2000);
  behind.speak();
  assert.equal(socket.stats().port, BEHIND.port);
  plane.close();
});

test('reports of another port of the far end are answered there only if they are of its source', () => {
  const { plane, socket, phone } = holdSocket(false);
  const other = new Telephone(socket, { address: FAR.address, port: 9001 });
  other.send(receiverReport(0x0a0b0c0d, 1, {}), true);
  assert.equal(socket.stats().rtcpPort, 4001);
  phone.speak(2);
  other.send(receiverReport(7, 1, {}), true);
  assert.equal(socket.stats().rtcpPort, 4001);
  other.send(receiverReport(0x0a0b0c0d, 1, {}), true);
  assert.equal(socket.stats().rtcpPort, 9001);
  plane.close();
});

test('only the announced address is heard where nothing is to be learned', () => {
  const { plane, socket, phone } = holdSocket();
  socket.learn({ ...FAR, announcedOnly: true });
  new Telephone(socket, STRANGER).speak();
  phone.speak();
  assert.deepEqual([socket.stats().address, socket.stats().strangers], [FAR.address, 1]);
  plane.close();
});

test('loss, repeats and reordering are counted as they are', () => {
  const { plane, socket, phone, pass } = holdSocket();
  const packets = Array.from({ length: 100 }, (_, n) => rtp({ sequence: 65_500 + n, timestamp: n * 160 }));
  const order = packets.map((_, n) => n).filter((n) => n < 40 || n >= 45);
  [order[60], order[61]] = [order[61] ?? 0, order[60] ?? 0];
  for (const n of order) {
    phone.send(packets[n] ?? new Uint8Array());
    if (n === 70) phone.send(packets[n] ?? new Uint8Array());
    pass(20);
  }
  const { expected, received, lost, repeated, late, sourceChanges, ssrc } = socket.stats();
  assert.deepEqual(
    { expected, received, lost, repeated, late, sourceChanges, ssrc },
    { expected: 100, received: 95, lost: 5, repeated: 1, late: 1, sourceChanges: 0, ssrc: 0x0a0b0c0d },
  );
  assert.equal(socket.quietMs(plane.nowMs), 20);
  plane.close();
});

test('jitter follows RFC 3550, A.8', () => {
  const { plane, socket, phone, pass } = holdSocket();
  let expected = 0;
  phone.speak();
  phone.speak(); // valid from here on
  for (let n = 0; n < 200; n++) {
    const ms = n % 2 === 0 ? 12 : 28;
    pass(ms);
    phone.speak();
    expected += (8 - expected) / 16; // 8 ms off the 20 each time
  }
  // The first two came at once: 20 ms off, fading since.
  assert.ok(Math.abs(socket.stats().jitterMs - expected) < 0.1, String(socket.stats().jitterMs));
  plane.close();
});

test('another SSRC is believed at its second packet', () => {
  const { plane, socket, phone } = holdSocket();
  for (let n = 0; n < 10; n++) phone.speak();
  const other = (sequence: number) => phone.send(rtp({ sequence, timestamp: sequence * 160, ssrc: 7 }));
  other(5000);
  assert.equal(socket.stats().ssrc, 0x0a0b0c0d);
  other(5001);
  assert.deepEqual([socket.stats().ssrc, socket.stats().sourceChanges, socket.stats().received], [7, 1, 12]);
  plane.close();
});

test('a packet with redundancy counts as its primary payload, and a malformed one is dropped', () => {
  const { plane, socket, phone, pass } = holdSocket();
  socket.formats([
    { payloadType: 111, kind: 'sound', clockRate: 48_000, codec: 'opus' },
    { payloadType: 63, kind: 'redundant', clockRate: 48_000 },
  ]);
  let sequence = 10;
  const send = (hex: string) => {
    const payload = Uint8Array.from(Buffer.from(hex, 'hex'));
    phone.send(rtp({ payloadType: 63, sequence, timestamp: 960 * sequence, payload }));
    sequence++;
    pass(20);
  };
  send('6f' + '0101'); // the source is on probation
  send('6f' + '0202');
  send('ef0f0002' + '6f' + '0202' + '0303');
  send('ef1e0001' + 'ef0f0002' + '6f' + '02' + '0303' + '0404');
  const { malformed } = socket.stats();
  for (const wrong of [
    '',
    'ef',
    'ef0f00',
    'ef0f0002',
    'ef0f0002' + '6f' + '02',
    'ef0fffff' + '6f' + '0202',
  ]) {
    send(wrong);
  }
  assert.equal(socket.stats().malformed - malformed, 6);
  send('3f' + '0303'); // RED inside of RED
  const { packets, octets, unknownPayloads } = socket.stats();
  assert.deepEqual([packets, octets, unknownPayloads], [3, 6, 1]);
  plane.close();
});

test('comfort noise is counted', () => {
  const { plane, socket, phone, pass } = holdSocket();
  phone.speak();
  phone.speak();
  phone.send(
    rtp({
      payloadType: 13,
      sequence: phone.sequence++,
      timestamp: phone.timestamp,
      payload: Uint8Array.of(50),
    }),
  );
  pass(20);
  assert.equal(socket.stats().comfortNoise, 1);
  plane.close();
});

test('reports tell loss and jitter of what we send, and the time of a round trip', () => {
  const { plane, playout, pass, passRaw } = holdPlane({ rtcpIntervalMs: 1000 });
  const socket = plane.openSocket({ mux: true });
  socket.formats(FORMATS);
  socket.learn(FAR);
  socket.bind(playout);
  const phone = new Telephone(socket);
  for (let n = 0; n < 12; n++) {
    if (n !== 5 && n !== 6 && n !== 7) phone.speak();
    else phone.sequence++;
  }
  const report = passRaw(1600).find(({ kind }) => kind === 'rtcp');
  assert.ok(report);
  const block = splitRtcp(report.data)[0]?.body;
  assert.ok(block);
  // Our report block about the far end: its SSRC, 3 of 12 packets lost.
  assert.deepEqual(
    [block.getUint32(24), block.getUint8(28), block.getUint32(28) & 0xffffff],
    [0x0a0b0c0d, 64, 3],
  );
  const lastSr = block.getUint32(4 + 2) >>> 0; // the middle of the NTP time
  assert.equal(parseReport(report.data).ssrc, TELEPHONE.ssrc);
  pass(START_MS + 2000 - plane.nowMs);
  const delay = Math.round(((plane.nowMs - report.atMs - 80) / 1000) * 65_536);
  phone.send(
    receiverReport(0x0a0b0c0d, TELEPHONE.ssrc, { fraction: 26, lost: 40, jitter: 80, lastSr, delay }),
  );
  const stats = socket.stats();
  assert.deepEqual([stats.remoteLost, stats.remoteJitterMs, stats.remoteReports], [40, 10, 1]);
  assert.ok(Math.abs(stats.remoteFractionLost - 0.1) < 0.01);
  assert.ok(Math.abs((stats.rttMs ?? 0) - 80) < 0.1, String(stats.rttMs));
  // And it names the far end's report once there was one.
  plane.close();
});

test('reports go to the port that the description, or the far end itself, gives them', () => {
  const { plane, socket, phone } = holdSocket(false);
  const where = () => [socket.stats().port, socket.stats().rtcpPort];
  assert.deepEqual(where(), [4000, 4001]);
  socket.learn({ ...FAR, rtcpPort: 4500 });
  assert.deepEqual(where(), [4000, 4500]);
  phone.speak();
  phone.send(receiverReport(0x0a0b0c0d, 1, {}), true);
  assert.deepEqual(where(), [4000, 4000]); // from where it came
  new Telephone(socket, STRANGER).send(receiverReport(0x0a0b0c0d, 1, {}), true);
  assert.deepEqual([where(), socket.stats().strangers], [[4000, 4000], 1]);
  socket.learn({ address: '192.0.2.8', port: 6000 });
  assert.deepEqual(where(), [6000, 6001]);
  socket.learn({ address: '192.0.2.8', port: 6000, networks: NETWORKS });
  new Telephone(socket, { ...STRANGER, port: 7000 }).speak(SEVERAL); // it is behind a translator
  assert.deepEqual(where(), [7000, 7001]);
  socket.learn({ address: '192.0.2.8', port: 6000, mux: true });
  assert.deepEqual(where(), [7000, 7000]);
  plane.close();
});

test('a BYE is reported once, and only the one of the source', () => {
  const { plane, socket, phone, pass } = holdSocket();
  let byes = 0;
  socket.onBye = () => byes++;
  const bye = (ssrc: number) => {
    const view = new DataView(new ArrayBuffer(16));
    view.setUint32(0, 0x80c9_0001);
    view.setUint32(4, ssrc);
    view.setUint32(8, 0x81cb_0001);
    view.setUint32(12, ssrc);
    return new Uint8Array(view.buffer);
  };
  phone.speak();
  phone.speak();
  for (const ssrc of [9, 0x0a0b0c0d, 0x0a0b0c0d]) phone.send(bye(ssrc));
  pass(1);
  assert.deepEqual([byes, socket.stats().bye, socket.stats().rtcpPackets], [1, true, 3]);
  plane.close();
});

test('STUN and DTLS on the media port are handed up', () => {
  const { plane, socket, phone, pass } = holdSocket();
  let reported = 0;
  socket.onForeign = () => reported++;
  phone.send(Uint8Array.of(0, 1, 0, 0));
  phone.send(Uint8Array.of(22, 254, 253));
  pass(1);
  assert.equal(reported, 1);
  assert.deepEqual(
    socket.takeForeign().map(({ address, port, data }) => [address, port, data[0]]),
    [
      [FAR.address, FAR.port, 0],
      [FAR.address, FAR.port, 22],
    ],
  );
  plane.close();
});

test('an encrypted call believes what its keys prove, from wherever it comes', () => {
  const sender = holdPlane({ srtp: CM_KEYS });
  const { plane, socket, pass } = holdSocket();
  socket.srtp('closed');
  const [first, second, third, ...later] = sender.passRaw(140).map(({ data }) => data);
  assert.ok(first && second && third && later.length >= SEVERAL);
  socket.feed(first, FAR.address, FAR.port);
  assert.equal(socket.stats().closed, 1);
  socket.srtp(CM_KEYS);
  socket.feed(first, FAR.address, FAR.port);
  socket.feed(second, FAR.address, FAR.port);
  socket.srtp(CM_KEYS); // a new description with the same keys
  socket.feed(second, FAR.address, FAR.port);
  const forged = Uint8Array.from(third);
  forged[20] = (forged[20] ?? 0) ^ 1;
  socket.feed(forged, STRANGER.address, STRANGER.port);
  pass(10_000);
  const { received, replayed, forged: forgeries, address } = socket.stats();
  assert.deepEqual(
    { received, replayed, forgeries, address },
    { received: 2, replayed: 1, forgeries: 1, address: FAR.address },
  );
  // The far end moved: its packets prove it, and are heard at once.
  socket.feed(third, '203.0.113.5', 9000);
  assert.deepEqual([socket.stats().address, socket.stats().received], [FAR.address, 3]);
  for (const packet of later.slice(0, SEVERAL - 1)) socket.feed(packet, '203.0.113.5', 9000);
  assert.deepEqual([socket.stats().address, socket.stats().port], ['203.0.113.5', 9000]);
  // An old one repeated from elsewhere moves nothing.
  socket.feed(third, STRANGER.address, STRANGER.port);
  assert.deepEqual([socket.stats().address, socket.stats().strangers], ['203.0.113.5', 0]);
  plane.close();
  sender.plane.close();
});

const PORTS = { address: '127.0.0.1', portMin: 41_000, portMax: 41_099, drainMs: 30_000, dscp: 46 };

test('ports are even, and rest after a call', async () => {
  const first = await freePorts(8);
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const ports = RtpPorts.open({ ...PORTS, portMin: first + 1, portMax: first + 7 });
  const open = () => plane.openSocket({ ports, mux: false });
  const sockets = [open(), open(), open()];
  assert.deepEqual(
    sockets.map(({ port }) => port).toSorted((a, b) => a - b),
    [first + 2, first + 4, first + 6],
  );
  assert.throws(open, { code: 'CALL_LIMIT', message: /no pair of RTP ports is free/ });
  const { port } = sockets[1] ?? {};
  sockets[1]?.close();
  assert.throws(open, { code: 'CALL_LIMIT' });
  assert.deepEqual(ports.counts(plane.nowMs), { pairs: 3, inUse: 2, draining: 1, takenByOthers: 0 });
  plane.advance(START_MS + 29_999);
  assert.throws(open, { code: 'CALL_LIMIT' });
  plane.advance(START_MS + 30_000);
  assert.equal(open().port, port);
  ports.close();
  plane.close();
});

test('the port of the next call cannot be predicted from those before', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const ports = RtpPorts.open({ ...PORTS, portMin: 41_600, portMax: 41_999 });
  const taken = Array.from({ length: 100 }, () => plane.openSocket({ ports, mux: true }).port);
  assert.equal(new Set(taken).size, 100);
  const steps = new Set(taken.slice(1).map((port, n) => port - (taken[n] ?? 0)));
  assert.ok(steps.size > 50, `${steps.size} different steps`);
  plane.close();
  ports.close();
});

test('a pair of which another program has one port is stepped over', async () => {
  const first = await freePorts(8);
  const other = createSocket('udp4');
  await new Promise<void>((resolve) => other.bind(first + 3, '127.0.0.1', resolve));
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const ports = RtpPorts.open({ ...PORTS, portMin: first, portMax: first + 7 });
  const taken = [0, 1, 2].map(() => plane.openSocket({ ports, mux: false }).port);
  assert.throws(() => plane.openSocket({ ports, mux: false }), { code: 'CALL_LIMIT' });
  assert.deepEqual(
    taken.toSorted((a, b) => a - b),
    [first, first + 4, first + 6],
  );
  assert.ok(ports.counts(plane.nowMs).takenByOthers >= 1);
  plane.close();
  ports.close();
  other.close();
});

for (const address of ['127.0.0.1', '::1']) {
  test(`a call over real sockets on ${address}: heard, answered from the same port, and let go`, async () => {
    const plane = MediaPlane.open({ clock: 'real', seed: 1 });
    const ports = RtpPorts.open({ ...PORTS, address, portMin: 41_300, portMax: 41_399 });
    const socket = plane.openSocket({ ports, mux: false });
    socket.formats(FORMATS);
    socket.learn({ address, port: 1024 }); // the SDP names a wrong address
    const playout = plane.openStream(TELEPHONE);
    socket.bind(playout);

    const far = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    await new Promise<void>((resolve) => far.bind(0, address, resolve));
    const heard = new Promise<number>((resolve) =>
      far.on('message', (data, { port }) => {
        if (parseRtp({ atMs: 0, data }).ssrc === TELEPHONE.ssrc) resolve(port);
      }),
    );
    const pressed = new Promise<string>((resolve) => (socket.onDigit = (digit) => resolve(digit)));
    for (let sequence = 1; sequence <= SEVERAL; sequence++) {
      const payload = event(12, 800, true);
      far.send(rtp({ payloadType: 101, sequence, timestamp: 160, payload }), socket.port, address);
    }
    assert.equal(await within('the key', pressed), 'A');
    assert.equal(await within('the answer', heard), socket.port);
    assert.equal(socket.stats().port, far.address().port);
    playout.close();
    socket.close();
    socket.close();
    assert.deepEqual(
      [socket.stats().digits, plane.stats().sockets, ports.counts(plane.nowMs).draining],
      [1, 0, 1],
    );
    plane.close();
    ports.close();
    far.close();
  });
}

test('packets from port 0 are ignored, and nothing is sent there', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const ports = RtpPorts.open({ ...PORTS, portMin: 41_500, portMax: 41_503 });
  const socket = plane.openSocket({ ports, mux: true });
  const stun = Uint8Array.of(0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, ...new Uint8Array(12));
  for (const packet of [stun, rtp({ sequence: 1, timestamp: 0 })]) socket.feed(packet, '127.0.0.1', 0);
  assert.deepEqual([socket.takeForeign(), socket.stats().malformed], [[], 2]);
  assert.equal(socket.sendForeign(stun, '127.0.0.1', 0), false);
  plane.close();
  ports.close();
});

test('the last port has none after it, where reports could go', () => {
  const { plane, socket } = holdSocket(false);
  socket.learn({ address: FAR.address, port: 65_535 });
  assert.deepEqual([socket.stats().port, socket.stats().rtcpPort], [65_535, 65_535]);
  plane.close();
});

test('a callback that throws is reported with its socket, and the other sockets hear', () => {
  const { plane, socket, phone } = holdSocket();
  const other = plane.openSocket({ mux: true });
  other.formats(FORMATS);
  other.learn(FAR);
  const defect = new RangeError('a defect');
  const [defects, heard]: [unknown[], string[]] = [[], []];
  socket.onDigit = () => {
    throw defect;
  };
  socket.onDefect = (error) => defects.push(error);
  other.onDigit = (digit) => heard.push(digit);
  const second = new Telephone(other);
  for (const packet of phone.keyPackets(5, 5)) phone.send(packet);
  for (const packet of second.keyPackets(7, 5)) second.send(packet);
  assert.throws(() => plane.advance(plane.nowMs + 1000), defect);
  assert.deepEqual([defects, heard], [[defect], ['7']]);
  plane.close();
});
