import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CapturedPacket, SrtpKeys } from '../../src/media/media-addon.js';
import {
  CM_KEYS,
  GCM_KEYS,
  holdPlane,
  parseReport,
  parseRtp,
  splitRtcp,
  START_MS,
  TELEPHONE,
  WALL_MS,
} from './plane-under-test.js';
import { SrtpReader } from './srtp-reader.js';

const SENDER_REPORT = 200;
const DESCRIPTION = 202;
const GOODBYE = 203;

/** A receiver report without blocks, distinguished by the number in its extension. */
function receiverReport(number: number, ssrc = TELEPHONE.ssrc): Uint8Array {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint8(0, 0x80);
  view.setUint8(1, 201);
  view.setUint16(2, 2);
  view.setUint32(4, ssrc);
  view.setUint32(8, number);
  return data;
}

function isRtcp({ kind }: CapturedPacket): boolean {
  return kind === 'rtcp';
}

test('sender reports agree with the packets that left before them, and with the wall clock', () => {
  const { plane, playout, push, passRaw } = holdPlane({ rtcpIntervalMs: 1000 });
  push(1, 1, 75, 100);
  let packets = 0;
  let octets = 0;
  let reports = 0;
  for (const packet of passRaw(20_000)) {
    if (!isRtcp(packet)) {
      packets++;
      octets += parseRtp(packet).payload.length;
      continue;
    }
    reports++;
    const sinceStartMs = packet.atMs - START_MS;
    const report = parseReport(packet.data);
    assert.ok(Math.abs(report.unixMs - (WALL_MS + sinceStartMs)) < 0.001);
    assert.deepEqual(
      [report.ssrc, report.timestamp, report.packets, report.octets],
      [0xdecafbad, 50_000 + 8 * sinceStartMs, packets, octets],
    );
  }
  assert.ok(reports >= 14 && reports <= 40, `${reports} reports in 20 s`);
  assert.deepEqual([playout.stats().packets, playout.stats().octets], [packets, octets]);
  plane.close();
});

test('in a pause with sparse silence sender reports go on, and agree with the clock', () => {
  const { plane, push, passRaw } = holdPlane({ rtcpIntervalMs: 1000, silenceIntervalMs: 400 });
  push(1, 1, 1);
  let packets = 0;
  let reports = 0;
  for (const packet of passRaw(20_000)) {
    if (!isRtcp(packet)) {
      packets++;
      continue;
    }
    reports++;
    const report = parseReport(packet.data);
    assert.deepEqual(
      [report.packets, report.octets, report.timestamp],
      [packets, packets * 160, 50_000 + 8 * (packet.atMs - START_MS)],
    );
  }
  assert.ok(reports >= 14, `${reports} reports in 20 s`);
  assert.equal(packets, 1 + 50);
  plane.close();
});

test('every report names its source and is a compound of whole words', () => {
  const { plane, passRaw } = holdPlane({ rtcpIntervalMs: 500, cname: 'ünïque@parley' });
  const reports = passRaw(3000).filter(isRtcp);
  assert.ok(reports.length >= 3);
  for (const { data } of reports) {
    assert.equal(data.length % 4, 0);
    const parts = splitRtcp(data);
    assert.deepEqual(
      parts.map(({ type }) => type),
      [SENDER_REPORT, DESCRIPTION],
    );
    const body = parts[1]?.body as DataView;
    assert.deepEqual([body.getUint32(0), body.getUint8(4)], [0xdecafbad, 1]);
    const name = new Uint8Array(body.buffer, body.byteOffset + 6, body.getUint8(5));
    assert.equal(new TextDecoder().decode(name), 'ünïque@parley');
    assert.equal(body.getUint8(6 + name.length), 0); // the end of the list of items
  }
  plane.close();
});

test('the time between reports is random, as the seed decides, within half and one and a half', () => {
  const times = (seed: number): number[] => {
    const { plane, passRaw } = holdPlane({ rtcpIntervalMs: 1000 }, seed);
    const seen = passRaw(30_000)
      .filter(isRtcp)
      .map(({ atMs }) => atMs);
    plane.close();
    return seen;
  };
  const first = times(1);
  assert.deepEqual(times(1), first);
  assert.notDeepEqual(times(2), first);
  assert.ok((first[0] ?? 0) - START_MS >= 240 && (first[0] ?? 0) - START_MS <= 770);
  const gaps = first.slice(1).map((atMs, i) => atMs - (first[i] ?? 0));
  for (const gap of gaps) assert.ok(gap >= 500 && gap <= 1520, `${gap} ms`);
  assert.ok(new Set(gaps).size > 10);
});

test('before its first packet a stream reports nothing', () => {
  const { plane, playout, passRaw } = holdPlane({ rtcpIntervalMs: 100, silence: new Uint8Array(0) });
  assert.deepEqual(passRaw(1000), []);
  playout.close();
  assert.deepEqual(plane.takePackets(), []);
  plane.close();
});

test('closing says BYE behind a last report', () => {
  const { plane, playout, pass } = holdPlane({ rtcpIntervalMs: 5000 });
  const { length } = pass(1001);
  playout.close();
  const [bye, ...more] = plane.takePackets();
  assert.deepEqual(more, []);
  assert.ok(bye !== undefined && isRtcp(bye));
  assert.deepEqual(
    splitRtcp(bye.data).map(({ type }) => type),
    [SENDER_REPORT, DESCRIPTION, GOODBYE],
  );
  const report = parseReport(bye.data);
  assert.equal(report.packets, length);
  assert.equal(report.timestamp, 50_000 + 8 * (bye.atMs - START_MS));
  plane.close();
});

test('RTCP of others leaves with the next tick, four at most, and waits for a target', () => {
  const { plane, playout, passRaw } = holdPlane();
  playout.target(null);
  const compounds = [1, 2, 3, 4].map((number) => receiverReport(number));
  for (const compound of compounds) assert.equal(playout.sendRtcp(compound), true);
  assert.equal(playout.sendRtcp(receiverReport(5)), false);
  assert.deepEqual(passRaw(100), []);
  playout.target({ capture: true });
  assert.deepEqual(
    passRaw(20)
      .filter(isRtcp)
      .map(({ data }) => data),
    compounds,
  );
  const long = new Uint8Array(1404);
  long.set(receiverReport(6));
  assert.equal(playout.sendRtcp(long), false);
  assert.equal(playout.sendRtcp(long.subarray(0, 1400)), true);
  assert.equal(playout.sendRtcp(receiverReport(7, 99)), false); // not the source that the key is for
  plane.close();
});

for (const keys of [CM_KEYS, GCM_KEYS]) {
  test(`under ${keys.profile} no index is ever used twice, neither of RTP nor of RTCP`, () => {
    const { reader, rtp, rtcp } = longEncryptedCall(keys);
    // RTP: consecutive from 65,000 on, across the end of the sequence numbers.
    rtp.forEach((packet, n) => {
      const index = 65_000 + n;
      const { sequence } = parseRtp(packet);
      assert.equal(sequence, index % 65_536);
      parseRtp({ atMs: 0, data: reader.rtp(packet.data, Math.floor(index / 65_536)) });
    });
    assert.ok(rtp.length > 1000);
    // RTCP: reports, foreign compounds and BYE share one counter.
    const opened = rtcp.map(({ data }) => reader.rtcp(data));
    assert.deepEqual(
      opened.map(({ index }) => index),
      opened.map((_, n) => n + 1),
    );
    const types = opened.map(({ plain }) => splitRtcp(plain).map(({ type }) => type));
    assert.equal(types.filter(([type]) => type === 201).length, 60);
    assert.ok(types.filter(([type]) => type === SENDER_REPORT).length > 40);
    assert.ok(types.at(-1)?.includes(GOODBYE));
  });
}

/** Thirty seconds with speech, pauses, clears, changes of target, stalls and foreign RTCP. */
function longEncryptedCall(srtp: SrtpKeys) {
  const { plane, playout, push } = holdPlane({ srtp, sequence: 65_000, rtcpIntervalMs: 500 });
  const packets: CapturedPacket[] = [];
  for (let step = 0; step < 60; step++) {
    push(step, step, 20);
    if (step % 5 === 0) playout.clear();
    if (step % 7 === 0) playout.pause();
    else playout.resume();
    if (step % 11 === 0) playout.target(null);
    else playout.target({ capture: true });
    playout.sendRtcp(receiverReport(step));
    if (step % 13 === 0) plane.wakeAt(plane.nowMs + 700);
    plane.advance(plane.nowMs + 500);
    playout.target({ capture: true });
    plane.advance(plane.nowMs + 20);
    packets.push(...plane.takePackets());
  }
  playout.close();
  packets.push(...plane.takePackets());
  plane.close();
  const rtcp = packets.filter(isRtcp);
  return { reader: new SrtpReader(srtp), rtcp, rtp: packets.filter((packet) => !isRtcp(packet)) };
}
