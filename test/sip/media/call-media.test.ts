// A media leg with a hand-written telephone as its peer: what it sends and receives as descriptions change,
// and which of several phones gets the call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PCMA, PCMU } from '../../../src/codecs/codec.js';
import { ParleyError } from '../../../src/errors.js';
import { contents, receiverReport, rtp, splitRtcp } from '../../media/plane-under-test.js';
import { linesOf, refusalOf, valueOf } from '../sdp/negotiation-under-test.js';
import { until } from '../../fakes/until.js';
import { agree, type Leg, Phone, PLAIN, portIn, stage } from './media-under-test.js';
import { SILENT_LOG } from '../../../src/log.js';

/** Pushes frames numbered from `first` into the leg's current playout. */
function speak({ seen }: Leg, first: number, count: number, bytes = 160): void {
  const playout = seen.ports.at(-1)?.playout;
  assert.ok(playout !== undefined);
  for (let n = first; n < first + count; n++) {
    assert.equal(playout.push(playout.generation, 1, new Uint8Array(bytes).fill(n)), 1);
  }
}

test('an answer opens the stream: speech goes to the address of the offer, from the port of the answer', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const answer = valueOf(call.media.answer(phone.describe()));
  assert.equal(call.seen.ports.length, 1);
  assert.deepEqual([call.seen.ports[0]?.codec, call.seen.ports[0]?.frameMs], [PCMU, 20]);
  speak(call, 1, 3);
  const raw = await phone.raw(pass(100));

  assert.deepEqual([...new Set(raw.map(({ from }) => from))], [portIn(answer)]);
});

test('another codec goes on with the source, the sequence numbers and the time of the one before', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['PCMA', 'PCMU'] });
  call.media.answer(phone.describe('0 101'));
  speak(call, 1, 2);
  const before = pass(100);
  call.media.answer(phone.describe('8 101'));
  assert.deepEqual(
    call.seen.ports.map(({ codec }) => codec),
    [PCMU, PCMA],
  );
  speak(call, 3, 2);
  const packets = await phone.packets(before + pass(100));
  assert.deepEqual(contents(packets.slice(0, 3)), [1, 2, 'silence']);
  assert.deepEqual(
    packets.map(({ payloadType }) => payloadType),
    packets.map((_, n) => (n < before ? 0 : 8)),
  );
  assert.equal(new Set(packets.map(({ ssrc }) => ssrc)).size, 1);
  const [first] = packets;
  assert.ok(first !== undefined && first.sequence < 2 ** 15);
  assert.deepEqual(
    packets.map(({ sequence }) => sequence - first.sequence),
    packets.map((_, n) => n),
  );
  const times = packets.map(({ timestamp }) => timestamp - first.timestamp);
  assert.ok(
    times.every((ticks, n) => n === 0 || ticks > (times[n - 1] ?? 0)),
    String(times),
  );
});

test('the packet time that is asked for is kept, and a new one has its own playout', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  let sent = 0;
  for (const ms of [10, 30, 60]) {
    valueOf(call.media.answer(phone.describe('0 101', [`a=ptime:${ms}`])));
    const packets = await phone.packets(pass(300));
    assert.ok(packets.every(({ payload }) => payload.length === 8 * ms));
    assert.ok(Math.abs(packets.length - 300 / ms) <= 1, `${packets.length} packets of ${ms} ms`);
    sent += packets.length;
  }
  assert.deepEqual(
    call.seen.ports.map(({ frameMs }) => frameMs),
    [10, 30, 60],
  );
  assert.equal(call.media.figures().sent?.packets, sent);
});

test('a re-offer may move the codec to another payload type', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['opus'] });
  valueOf(call.media.answer(phone.describe('96')));
  const first = await phone.packets(pass(60));
  valueOf(call.media.answer(phone.describe('111', ['a=rtpmap:111 opus/48000/2'])));
  const second = await phone.packets(pass(60));
  assert.deepEqual([first.at(-1)?.payloadType, second[0]?.payloadType], [96, 111]);
  assert.equal(second[0]?.ssrc, first[0]?.ssrc);
  assert.equal(call.seen.ports.length, 2);
});

test('a refresh changes nothing: the playout stays', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const first = valueOf(call.media.answer(phone.describe()));
  assert.equal(valueOf(call.media.answer(phone.describe())), first);
  assert.equal(call.seen.ports.length, 1);
});

test('the format parameters of the far end limit the encoder, and new ones need no other playout', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['opus'] });
  const offer = (fmtp: string) => phone.describe('96', ['a=rtpmap:96 opus/48000/2', `a=fmtp:96 ${fmtp}`]);
  valueOf(call.media.answer(offer('maxplaybackrate=16000;useinbandfec=1')));
  const [port] = call.seen.ports;
  assert.deepEqual(port?.encoding, {
    maxBitsPerSecond: 20_000,
    maxPlaybackRate: 16_000,
    inBandFec: true,
    dtx: false,
    constantBitrate: false,
  });
  valueOf(call.media.answer(offer('maxaveragebitrate=24000;usedtx=1')));
  assert.equal(call.seen.ports.length, 1);
  assert.deepEqual(port.encoding, {
    maxBitsPerSecond: 24_000,
    maxPlaybackRate: 48_000,
    inBandFec: false,
    dtx: true,
    constantBitrate: false,
  });
});

for (const [stated, packetMs] of [
  [[], 20],
  [['a=maxptime:60'], 60],
  [['a=maxptime:40'], 40],
  [['a=maxptime:20'], 20],
] as const) {
  const limit = stated[0] ?? 'no limit';
  test(`on a thin link a far end that states ${limit} gets packets of ${packetMs} ms`, async (t) => {
    const { leg, pass } = stage(t);
    const phone = await Phone.open(t);
    const call = leg({ ...PLAIN, codecs: ['opus'] });
    valueOf(call.media.answer(phone.describe('96', stated)));
    call.seen.ports[0]?.packetMs?.(60);
    const packets = await phone.packets(pass(240));
    const steps = packets.slice(1).map(({ timestamp }, at) => timestamp - (packets[at]?.timestamp ?? 0));
    assert.deepEqual([...new Set(steps.slice(1))], [48 * packetMs]);
  });
}

test('a re-offer with another limit changes the packets of a thin link, and the playout stays', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['opus'] });
  valueOf(call.media.answer(phone.describe('96', ['a=maxptime:60'])));
  call.seen.ports[0]?.packetMs?.(60);
  await phone.packets(pass(120));
  valueOf(call.media.answer(phone.describe('96')));
  const packets = (await phone.packets(pass(240))).slice(-10);
  const ticks = (packets.at(-1)?.timestamp ?? 0) - (packets[0]?.timestamp ?? 0);
  assert.deepEqual([ticks, call.seen.ports.length], [9 * 960, 1]);
});

test('frames of G.711 are never joined', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  valueOf(call.media.answer(phone.describe('0', ['a=maxptime:60'])));
  call.seen.ports[0]?.packetMs?.(60);
  const packets = await phone.packets(pass(240));
  assert.ok(packets.every(({ payload }) => payload.length === 160));
});

test('the parameters of an answer to our offer limit the encoder too, and other codecs have no limits', async (t) => {
  const { leg } = stage(t);
  const [caller, callee] = [leg({ ...PLAIN, codecs: ['opus'] }), leg({ ...PLAIN, codecs: ['opus'] })];
  agree(caller, callee);
  // This server's own description: it makes use of error correction, and is mono.
  assert.equal(caller.seen.ports[0]?.encoding?.inBandFec, true);
  const plain = leg();
  valueOf(plain.media.answer((await Phone.open(t)).describe()));
  assert.equal(plain.seen.ports[0]?.encoding, undefined);
});

test('the port states how the far end receives our sound, once it has reported', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const rtpPort = portIn(valueOf(call.media.answer(phone.describe('0 101', ['a=rtcp-mux']))));
  const packets = await phone.packets(pass(1000));
  const [port] = call.seen.ports;
  assert.equal(port?.remote?.(), undefined);
  const report = { fraction: 26, lost: 10, jitter: 80, lastSr: 0, delay: 0 };
  await phone.send(receiverReport(0x0a0b0c0d, packets[0]?.ssrc ?? 0, report), rtpPort);
  await until(() => {
    pass(20);
    return port?.remote?.() !== undefined;
  });
  const remote = port?.remote?.();
  assert.deepEqual(
    [remote?.reports, remote?.recentLoss, remote?.jitterMs, remote?.rttMs],
    [1, 26 / 256, 10, null],
  );
  assert.equal(remote?.loss, 10 / (call.media.figures().sent?.packets ?? 0));
  assert.ok((remote?.mos ?? 0) > 1 && (remote?.mos ?? 5) < 3);
  const { mos } = call.media.figures().remote ?? {};
  assert.equal(mos, remote?.mos);
});

for (const [how, hold] of [
  ['sendonly', (phone: Phone) => phone.describe('0 101', ['a=sendonly'])],
  ['inactive', (phone: Phone) => phone.describe('0 101', ['a=inactive'])],
  ['an address of zeros', (phone: Phone) => phone.describe('0 101', [], { address: '0.0.0.0' })],
] as const) {
  test(`held by ${how}: not a packet leaves, and speech goes on where it stopped`, async (t) => {
    const { leg, pass } = stage(t);
    const phone = await Phone.open(t);
    const call = leg();
    valueOf(call.media.answer(phone.describe()));
    speak(call, 1, 10);
    const before = await phone.packets(pass(59, 1));
    valueOf(call.media.answer(hold(phone)));
    assert.deepEqual(call.seen.held, [true]);
    assert.equal(pass(60_000), 0);
    valueOf(call.media.answer(phone.describe()));
    assert.deepEqual(call.seen.held, [true, false]);
    const after = await phone.packets(pass(200, 1));
    const spoken = contents([...before, ...after]).filter((content) => content !== 'silence');
    assert.deepEqual(spoken, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const [last, next] = [before.at(-1), after[0]];
    assert.ok(last !== undefined && next !== undefined);
    assert.deepEqual([next.sequence - last.sequence, next.marker], [1, true]);
    assert.ok(next.timestamp - last.timestamp >= 60_000 * 8);
    assert.equal(call.seen.ports.length, 1);
    assert.equal(phone.waiting, 0);
  });
}

test('what the application holds stays held, whatever descriptions come and go meanwhile', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  valueOf(call.media.answer(phone.describe()));
  speak(call, 1, 3);
  const playout = call.seen.ports[0]?.playout;
  playout?.pause();
  call.media.hold(true);
  valueOf(call.media.answer(phone.describe('0 101', ['a=recvonly'])));
  valueOf(call.media.answer(phone.describe('0 101', ['a=sendonly'])));
  assert.equal(pass(100), 0, 'held by the far end, too');
  valueOf(call.media.answer(phone.describe('0 101', ['a=recvonly'])));
  const held = await phone.packets(pass(100));
  playout?.resume();
  call.media.hold(false);
  valueOf(call.media.answer(phone.describe()));
  const resumed = await phone.packets(pass(60));
  assert.deepEqual([contents(held), contents(resumed)], [held.map(() => 'silence'), [1, 2, 3]]);
  assert.ok(held.length > 3);
});

test('a call that begins held opens nothing to the far end until it is resumed', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  valueOf(call.media.answer(phone.describe('0 101', [], { address: '0.0.0.0' })));
  assert.deepEqual([call.seen.ports.length, call.seen.held], [1, [true]]);
  assert.equal(pass(100), 0);
  valueOf(call.media.answer(phone.describe()));
  await phone.packets(pass(100));
});

test('while we hold, our descriptions say so, also to an offer of the far end', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  valueOf(call.media.answer(phone.describe()));
  call.media.hold(true);
  assert.match(valueOf(call.media.offer()), /a=sendonly/);
  call.media.withdraw();
  assert.match(valueOf(call.media.answer(phone.describe())), /a=sendonly/);
  call.media.hold(false);
  assert.match(valueOf(call.media.answer(phone.describe())), /a=sendrecv/);
  assert.deepEqual(call.seen.held, []);
});

test('another address of the far end is sent to from the agreement on', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, other] = [await Phone.open(t), await Phone.open(t)];
  const call = leg();
  valueOf(call.media.answer(phone.describe()));
  await phone.packets(pass(60));
  valueOf(call.media.answer(other.describe()));
  await other.packets(pass(100));
  assert.equal(phone.waiting, 0);
  assert.equal(call.seen.ports.length, 1);
});

test('a telephone behind a translator is answered where it sends from', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  call.media.signalledFrom('127.0.0.1');
  // A private address, and a port without a listener.
  const port = portIn(
    valueOf(call.media.answer(phone.describe('0 101', [], { address: '127.0.0.9', port: 1024 }))),
  );
  pass(100);
  assert.equal(phone.waiting, 0);
  for (const sequence of [1, 2, 3, 4]) await phone.send(rtp({ sequence, timestamp: 160 * sequence }), port);
  pass(20);
  await phone.packets(pass(100));
});

for (const [what, lines, own] of [
  ['the next port', [], 1],
  ['the port of a=rtcp', ['a=rtcp:PORT'], 0],
  ['the port of RTP where both are muxed', ['a=rtcp-mux'], 0],
] as const) {
  test(`reports go to ${what}`, async (t) => {
    const { leg, pass } = stage(t);
    const [phone, reports] = [await Phone.open(t), await Phone.open(t)];
    const call = leg();
    const muxed = lines.join('').includes('mux');
    const target = muxed ? phone.port : reports.port;
    const attributes = lines.map((line) => line.replace('PORT', String(target)));
    // Without an attribute they go to the port after that of the sound.
    const port = own === 1 ? reports.port - 1 : phone.port;
    const answer = valueOf(call.media.answer(phone.describe('0 101', attributes, { port })));
    assert.equal(answer.includes('a=rtcp-mux'), muxed);
    const seen: Uint8Array[] = [];
    for (let second = 0; second < 8; second++) {
      const sent = pass(1000, 1000);
      if (muxed) seen.push(...(await phone.raw(sent)).map(({ data }) => data));
    }
    if (muxed) {
      assert.equal(seen.find(([, type = 0]) => type >= 200)?.[1], 200);
    } else {
      const [report] = await reports.raw(1);
      assert.equal(report?.data[1], 200);
      assert.equal(report?.from, portIn(answer) + 1);
    }
  });
}

test('comfort noise instead of silence, where both have it', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, comfortNoise: true });
  valueOf(call.media.answer(phone.describe('0 13 101')));
  const packets = await phone.packets(pass(1000));
  assert.ok(packets.length <= 6 && packets.every(({ payloadType }) => payloadType === 13));
});

test('a pause sends a frame each 400 ms where the far end prefers discontinuous transmission of Opus', async (t) => {
  const { leg, pass } = stage(t);
  for (const [fmtp, packets] of [
    ['usedtx=1', 3],
    ['usedtx=0', 50],
  ] as const) {
    const phone = await Phone.open(t);
    const call = leg({ ...PLAIN, codecs: ['opus'] });
    const offer = phone.describe('96', ['a=rtpmap:96 opus/48000/2', `a=fmtp:96 ${fmtp}`]);
    valueOf(call.media.answer(offer));
    assert.equal(pass(1000), packets, fmtp);
    call.media.close();
  }
});

test('a listener hears the far end in whichever codec it speaks', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['G722', 'PCMU'] });
  const ring = call.media.socket.openEar({ channels: 1, capacityMs: 5000 });
  t.after(() => ring.close());
  const port = portIn(valueOf(call.media.answer(phone.describe('0 101'))));
  const heard = () => {
    const samples = new Float32Array(ring.status()?.readable ?? 0);
    ring.read(samples);
    return samples;
  };
  const loudest = (samples: Float32Array) =>
    samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const send = async (payloadType: number, from: number, sound: number) => {
    for (let n = from; n < from + 20; n++) {
      const payload = Uint8Array.from({ length: 160 }, (_, at) => (at % 2 === 0 ? sound : sound ^ 0x80));
      await phone.send(rtp({ payloadType, sequence: n, timestamp: 160 * n, payload }), port);
      pass(20);
    }
  };
  await send(0, 1, 0x00);
  assert.ok(loudest(heard()) > 0.5);
  valueOf(call.media.answer(phone.describe('9 101')));
  await send(9, 21, 0x37);
  const { hearing } = call.media.socket.stats();
  assert.ok(loudest(heard().subarray(16_000 / 5)) > 0.01);
  assert.deepEqual([hearing?.concealed, hearing?.discarded], [0, 0]);
});

test('a plane without a free stream refuses the agreement with 500, and the call goes on as it was', async (t) => {
  const { leg, plane, pass } = stage(t);
  const phone = await Phone.open(t);
  let full = false;
  const scarce = {
    openSocket: plane.openSocket.bind(plane),
    openStream: (...[options, continues]: Parameters<typeof plane.openStream>) => {
      if (full) throw new ParleyError('CALL_LIMIT', 'the media plane has its streams');
      return plane.openStream(options, continues);
    },
  };
  const call = leg({ ...PLAIN, codecs: ['PCMA', 'PCMU'] }, { plane: scarce });
  const first = valueOf(call.media.answer(phone.describe('0 101')));
  full = true;
  assert.equal(refusalOf(call.media.answer(phone.describe('8 101'))).status, 500);
  assert.deepEqual(
    new Set((await phone.packets(pass(100))).map(({ payloadType }) => payloadType)),
    new Set([0]),
  );
  full = false;
  assert.equal(valueOf(call.media.answer(phone.describe('0 101'))), first, 'nothing was agreed on meanwhile');
  const empty = leg(PLAIN, {
    plane: {
      ...scarce,
      openStream: () => {
        throw new ParleyError('CALL_LIMIT', 'full');
      },
    },
  });
  assert.equal(refusalOf(empty.media.answer(phone.describe())).status, 500);
  assert.ok(!empty.media.agreed);
});

test('without a free pair of ports there is no media', (t) => {
  const { leg } = stage(t, { portMin: 26_000, portMax: 26_003 });
  leg();
  leg();
  assert.throws(() => leg(), { code: 'CALL_LIMIT' });
});

test('closing says goodbye, gives the ports back, and leaves no timer; the figures stay', async (t) => {
  const { leg, pass, plane, time, ports } = stage(t);
  const phone = await Phone.open(t);
  const call = leg(PLAIN, { rtpTimeoutMs: 10_000 });
  const port = portIn(valueOf(call.media.answer(phone.describe('0 101', ['a=rtcp-mux']))));
  for (const sequence of [1, 2, 3, 5]) await phone.send(rtp({ sequence, timestamp: 160 * sequence }), port);
  const sent = pass(100);
  await call.seen.ports[0]?.close();
  const raw = await phone.raw(sent + 1);
  assert.deepEqual(
    splitRtcp(raw.at(-1)?.data ?? new Uint8Array()).map(({ type }) => type),
    [200, 202, 203],
  );
  call.media.close();
  assert.deepEqual(
    [plane.stats().streams, plane.stats().sockets, ports.counts(plane.nowMs).draining, time.waiting],
    [0, 0, 1, 0],
  );
  const figures = call.media.figures();
  assert.deepEqual([figures.codec, figures.srtp, figures.sent?.packets], ['PCMU', 'none', sent]);
  assert.deepEqual([figures.received?.packets, figures.received?.loss], [4, 0.2]);
  assert.ok((figures.received?.mos ?? 0) > 1 && (figures.received?.mos ?? 5) < 4);
  assert.equal(refusalOf(call.media.offer()).status, 500);
  assert.equal(refusalOf(call.media.answer(phone.describe())).status, 500);
});

test('a far end that falls silent is told, and not while it is held', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg(PLAIN, { rtpTimeoutMs: 10_000 });
  const port = portIn(valueOf(call.media.answer(phone.describe())));
  pass(60_000, 1000);
  assert.equal(call.seen.silences, 0, 'nothing has come yet');
  await phone.send(rtp({ sequence: 1, timestamp: 160 }), port);
  pass(5000, 1000);
  valueOf(call.media.answer(phone.describe('0 101', ['a=sendonly'])));
  pass(60_000, 1000);
  assert.equal(call.seen.silences, 0);
  valueOf(call.media.answer(phone.describe()));
  pass(9000, 1000);
  assert.equal(call.seen.silences, 0);
  pass(1000, 1000);
  assert.equal(call.seen.silences, 1);
});

/** An INVITE with a receive-only description was answered; replies go to the phone's own address. */
function listening(leg: Leg, phone: Phone, signalling: string, lines: readonly string[] = []): number {
  leg.media.signalledFrom(signalling);
  return portIn(valueOf(leg.media.answer(phone.describe('0 101', ['a=recvonly', ...lines]))));
}

test('packets from an address that neither description nor signalling names do not take the sound of a silent caller', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, stranger] = [await Phone.open(t), await Phone.open(t, '127.0.0.9')];
  const logged: string[] = [];
  const log = { ...SILENT_LOG, info: (_: unknown, message: string) => logged.push(message) };
  const port = listening(leg(PLAIN, { log }), phone, '127.0.0.1');
  pass(20);
  for (let sequence = 0; sequence < 50; sequence++)
    await stranger.send(rtp({ sequence, timestamp: sequence * 160 }), port);
  assert.equal((await phone.packets(pass(100))).length, 5);
  assert.deepEqual([stranger.waiting, logged], [0, []]);
});

test('a caller behind a translator is heard and spoken to where its signalling comes from, and that is counted and logged', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, behind] = [await Phone.open(t), await Phone.open(t, '127.0.0.9')];
  const logged: [Record<string, unknown>, string][] = [];
  const log = {
    ...SILENT_LOG,
    info: (fields: Record<string, unknown>, message: string) => void logged.push([fields, message]),
  };
  let departures = 0;
  const call = leg(PLAIN, { log, departed: () => departures++ });
  call.media.call = 'call-1';
  const port = listening(call, phone, '127.0.0.9');
  for (let sequence = 0; sequence < 4; sequence++)
    await behind.send(rtp({ sequence, timestamp: sequence * 160 }), port);
  pass(20);
  assert.ok((await behind.packets(pass(100))).length === 5);
  const fields = {
    call: 'call-1',
    announced: `127.0.0.1:${phone.port}`,
    latched: `127.0.0.9:${behind.port}`,
  };
  assert.deepEqual([departures, logged], [1, [[fields, 'media latched away from the announced address']]]);
});

test('no packet leaves before the peer has shown that it is there, and then speech begins at its beginning', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg(PLAIN, {}, false);
  const heard: string[] = [];
  call.media.onceConfirmed(() => heard.push('confirmed'));
  valueOf(call.media.answer(phone.describe()));
  speak(call, 1, 3);
  assert.deepEqual([pass(32_000), phone.waiting, heard], [0, 0, []]);
  call.media.confirmed();
  assert.deepEqual(contents((await phone.packets(pass(100))).slice(0, 3)), [1, 2, 3]);
  call.media.confirmed();
  assert.deepEqual(heard, ['confirmed']);
});

test('a packet of the announced address shows that the peer is there, and one from elsewhere does not', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, stranger] = [await Phone.open(t), await Phone.open(t, '127.0.0.9')];
  const call = leg(PLAIN, {}, false);
  const port = portIn(valueOf(call.media.answer(phone.describe())));
  for (let sequence = 0; sequence < 50; sequence++)
    await stranger.send(rtp({ sequence, timestamp: sequence * 160 }), port);
  assert.deepEqual([pass(1000), phone.waiting, stranger.waiting], [0, 0, 0]);
  await phone.send(rtp({ sequence: 1, timestamp: 160 }), port);
  pass(20);
  assert.equal((await phone.packets(pass(100))).length, 5);
});

test('an answer to our offer shows that the peer is there', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg(PLAIN, {}, false);
  valueOf(call.media.offer());
  assert.equal(call.media.accept(phone.describe(), 'a').refusal, undefined);
  assert.ok((await phone.packets(pass(100))).length >= 5);
  assert.equal(pass(5000), 45);
});

test('without ACK media goes to a described address for one second, and goes on with the ACK', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const { media } = leg(PLAIN, {}, false);
  media.confirmed(); // over a connection
  valueOf(media.answer(phone.describe()));
  assert.equal((await phone.packets(pass(32_000))).length, 51);
  media.confirmed();
  assert.equal(pass(1000), 0);
  media.acknowledged('ACK');
  assert.equal((await phone.packets(pass(2000))).length, 100);
});

test('the owner of the media is told when it stops for want of an ACK, after a change of the address too', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, other] = [await Phone.open(t), await Phone.open(t)];
  const { media } = leg(PLAIN, {}, false);
  let told = 0;
  media.onUnacknowledged = () => told++;
  media.confirmed('192.0.2.1');
  const port = portIn(valueOf(media.answer(phone.describe())));
  pass(980);
  assert.equal(told, 0);
  pass(20);
  assert.equal(told, 1);
  await phone.send(rtp({ sequence: 1, timestamp: 160 }), port);
  pass(20);
  assert.equal(pass(1000), 50);
  valueOf(media.answer(other.describe()));
  assert.deepEqual([pass(1000), told], [0, 2]);
});

test('media to the host whose signalling is proven does not wait for an ACK', async (t) => {
  const phone = await Phone.open(t);
  for (const proven of ['127.0.0.1', '::ffff:127.0.0.1']) {
    const { leg, pass } = stage(t);
    const { media } = leg(PLAIN, {}, false);
    media.onUnacknowledged = () => assert.fail('it does not stop');
    media.confirmed(proven);
    valueOf(media.answer(phone.describe()));
    assert.equal(pass(10_000), 501);
  }
});

test('of a peer whose signalling is proven, media or reports to another host still wait for an ACK', async (t) => {
  const [phone, other] = [await Phone.open(t), await Phone.open(t, '127.0.0.9')];
  const elsewhere = { address: '127.0.0.9', port: other.port };
  const reports = `a=rtcp:${other.port + 1} IN IP4 127.0.0.9`;
  for (const offer of [phone.describe('0', [], elsewhere), phone.describe('0', [reports])]) {
    const { leg, pass } = stage(t);
    const { media } = leg(PLAIN, {}, false);
    media.confirmed('127.0.0.1');
    valueOf(media.answer(offer));
    assert.equal(pass(10_000), 51);
  }
});

test('a packet of the described address is as good as the ACK, before the second is over and after it', async (t) => {
  for (const waitMs of [0, 5000]) {
    const { leg, pass } = stage(t);
    const phone = await Phone.open(t);
    const { media } = leg(PLAIN, {}, false);
    media.confirmed();
    const port = portIn(valueOf(media.answer(phone.describe())));
    pass(waitMs);
    await phone.send(rtp({ sequence: 1, timestamp: 160 }), port);
    pass(20);
    assert.equal(pass(5000), 250);
  }
});

test('without ACK a peer that names one address after another gets one second for all of them', async (t) => {
  const { leg, pass } = stage(t);
  const { media } = leg(PLAIN, {}, false);
  media.confirmed();
  let sent = 0;
  for (let n = 0; n < 10; n++) {
    const phone = await Phone.open(t);
    valueOf(media.answer(phone.describe()));
    sent += pass(200);
  }
  assert.equal(sent, 51);
});

test('a re-INVITE moves media to another address for one second until its ACK', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, other] = [await Phone.open(t), await Phone.open(t)];
  const { media } = leg();
  const port = portIn(valueOf(media.answer(phone.describe())));
  await phone.send(rtp({ sequence: 1, timestamp: 160 }), port);
  assert.equal(pass(5000), 251);
  media.awaitAck(true);
  valueOf(media.answer(other.describe()));
  assert.equal(pass(5000), 50);
  media.awaitAck(true); // a further one does not begin another second
  valueOf(media.answer(phone.describe()));
  assert.equal(pass(5000), 0);
  media.acknowledged('ACK');
  assert.equal(pass(1000), 50);
});

test('a re-INVITE that leaves the address as it is does not wait for its ACK, and an UPDATE has none', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, other] = [await Phone.open(t), await Phone.open(t)];
  const { media } = leg();
  valueOf(media.answer(phone.describe()));
  media.awaitAck(true);
  valueOf(media.answer(phone.describe()));
  assert.equal(pass(5000), 251);
  media.acknowledged('ACK');
  valueOf(media.answer(other.describe()));
  assert.equal(pass(5000), 250);
});

test('PRACK acknowledges early media, but not another address that follows before the ACK', async (t) => {
  const { leg, pass } = stage(t);
  const [phone, other] = [await Phone.open(t), await Phone.open(t)];
  const { media } = leg(PLAIN, {}, false);
  media.confirmed();
  valueOf(media.answer(phone.describe()));
  media.acknowledged('PRACK');
  assert.equal(pass(5000), 251);
  valueOf(media.answer(other.describe()));
  assert.equal(pass(5000), 50);
  media.acknowledged('ACK');
  assert.equal(pass(5000), 250);
});

test('a description of a peer whose signalling has a link-local address is answered', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  for (const address of ['fe80::1%eth0', '::ffff:192.0.2.1', '2001:db8::1']) {
    const { media } = leg(PLAIN);
    media.signalledFrom(address);
    assert.equal(media.answer(phone.describe()).refusal, undefined, address);
  }
});

for (const port of [1, 53, 1023, 24_600]) {
  test(`a description that wants media at port ${port}, of a service or of our own, is refused`, async (t) => {
    const { leg, pass } = stage(t);
    const phone = await Phone.open(t);
    const forbids = (address: string, at: number): boolean => address === '127.0.0.1' && at === 24_600;
    const call = leg(PLAIN, { forbids });
    assert.equal(refusalOf(call.media.answer(phone.describe('0 101', [], { port }))).status, 488);
    assert.equal(refusalOf(call.media.answer(phone.describe('0 101', [`a=rtcp:${port}`]))).status, 488);
    const calling = leg(PLAIN, { forbids });
    valueOf(calling.media.offer());
    assert.equal(refusalOf(calling.media.accept(phone.describe('0 101', [], { port }), 'a')).status, 488);
    assert.equal(pass(1000), 0);
    const discard = phone.describe('0 101', [`a=rtcp:${port}`], { port: 9 });
    assert.equal(refusalOf(call.media.answer(discard)).status, 488);
    // Nothing is sent to the discard port, or to an address of zeros.
    assert.equal(call.media.answer(phone.describe('0 101', [], { port: 9 })).refusal, undefined);
    assert.equal(pass(1000), 0);
    assert.equal(
      call.media.answer(phone.describe('0 101', [], { address: '0.0.0.0', port: 9 })).refusal,
      undefined,
    );
  });
}

test('the port of an offer is open before it is answered, and an answer in 183 is heard at once', async (t) => {
  const { leg, pass, ports, plane } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const offer = valueOf(call.media.offer());
  assert.equal(ports.counts(plane.nowMs).inUse, 1);
  assert.ok(portIn(offer) > 0);
  assert.deepEqual([call.media.offering, call.media.agreed], [true, false]);
  assert.equal(refusalOf(call.media.offer()).status, 491);
  valueOf(call.media.accept(phone.describe(), 'early'));
  assert.deepEqual([call.media.offering, call.media.agreed], [false, true]);
  await phone.packets(pass(100));
  // The 200 says the same once more, before and after the session has settled.
  valueOf(call.media.accept(phone.describe(), 'early'));
  call.media.settle('early');
  valueOf(call.media.accept(phone.describe(), 'early'));
  assert.equal(call.seen.ports.length, 1);
});

test('of two phones that answer, the latest one is heard, and the one that has the call stays', async (t) => {
  const { leg, pass } = stage(t);
  const [first, second] = [await Phone.open(t), await Phone.open(t)];
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(first.describe('0 101'), 'one'));
  await first.packets(pass(60));
  valueOf(call.media.accept(second.describe('8 101'), 'two'));
  await second.packets(pass(60));
  assert.equal(first.waiting, 0);
  call.media.settle('one');
  const packets = await first.packets(pass(60));
  assert.deepEqual(
    call.seen.ports.map(({ codec }) => codec),
    [PCMU, PCMA, PCMU],
  );
  assert.ok(packets.every(({ payloadType }) => payloadType === 0));
  assert.equal(refusalOf(call.media.accept(second.describe('8 101'), 'two')).status, 400);
  // Our next offer is answered by the one that is left.
  valueOf(call.media.offer());
  valueOf(call.media.accept(first.describe('0 101'), 'one'));
  assert.equal(second.waiting, 0);
});

test('the phone that takes the call may be one that had said nothing before', async (t) => {
  const { leg, pass } = stage(t);
  const [early, late] = [await Phone.open(t), await Phone.open(t)];
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(early.describe(), 'early'));
  call.media.settle('late');
  assert.ok(call.media.offering && !call.media.agreed);
  valueOf(call.media.accept(late.describe(), 'late'));
  await late.packets(pass(60));
  assert.equal(early.waiting, 0);
});

test('an answer that nobody can use leaves the offer to the other phones', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['PCMU'] });
  valueOf(call.media.offer());
  assert.equal(refusalOf(call.media.accept(phone.describe('18'), 'strange')).status, 488);
  assert.equal(refusalOf(call.media.accept(Buffer.from('nonsense'), 'broken')).status, 400);
  valueOf(call.media.accept(phone.describe('0'), 'good'));
  await phone.packets(pass(60));
});

test('an update in an early dialog stands, whatever the first answer says again later', async (t) => {
  const { leg, pass } = stage(t);
  const [first, moved] = [await Phone.open(t), await Phone.open(t)];
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(first.describe(), 'one'));
  valueOf(call.media.answer(moved.describe()));
  valueOf(call.media.accept(first.describe(), 'one'));
  call.media.settle('one');
  await moved.packets(pass(60));
  assert.equal(first.waiting, 0);
});

test('a late offer is ours, its answer comes with the ACK', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['G722', 'PCMU'] });
  assert.deepEqual(linesOf(valueOf(call.media.offer()), 'm=audio ')[0]?.split(' ').slice(2), [
    '9',
    '0',
    '96',
  ]);
  valueOf(call.media.accept(phone.describe('0 96', ['a=rtpmap:96 telephone-event/8000']), 'far'));
  await phone.packets(pass(60));
  valueOf(call.media.answer(phone.describe('9 101')));
  const packets = await phone.packets(pass(60));
  assert.equal(packets.at(-1)?.payloadType, 9);
});

test('an offer that was refused leaves everything as it was, and the next one may follow', (t) => {
  const { leg, pass } = stage(t);
  const [caller, callee] = [leg(), leg()];
  agree(caller, callee);
  caller.media.hold(true);
  const offer = valueOf(caller.media.offer());
  assert.equal(refusalOf(caller.media.answer(Buffer.from(offer))).status, 491, 'offers crossed');
  caller.media.withdraw();
  caller.media.hold(false);
  agree(caller, callee, 'a');
  agree(callee, caller, 'b');
  pass(100);
  assert.deepEqual([caller.seen.ports.length, callee.seen.ports.length, caller.seen.held], [1, 1, []]);
});

test('a refused answer to a re-offer takes it back: another one may follow', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(phone.describe(), 'a'));
  valueOf(call.media.offer());
  assert.equal(refusalOf(call.media.accept(phone.describe('18'), 'a')).status, 488);
  assert.ok(!call.media.offering);
  valueOf(call.media.offer());
});
