// Two ends of a call on real sockets of loopback, with encrypted sound between
// them; and what strangers cannot do to one.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import type { IceCredentials } from '../../src/media/media-addon.js';
import { DtlsSourceFilter } from '../../src/media/media-handshake.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { ATTRIBUTE, BINDING, readStun, writeStun } from './stun-message.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { LOOPBACK, SecuredLeg } from './secured-leg.js';

const ICE: IceCredentials = {
  localUfrag: 'ours',
  localPwd: 'a password of ours, long',
  remoteUfrag: 'them',
  remotePwd: 'a password of theirs, lo',
};
const CLIENT_HELLO = 22; // content type of a handshake

/** Two ends that know where the other is. */
function twoLegs(portMin: number): { active: SecuredLeg; passive: SecuredLeg; close(): void } {
  const active = new SecuredLeg({ portMin });
  const passive = new SecuredLeg({ portMin });
  active.socket.learn({ address: LOOPBACK, port: passive.socket.port });
  passive.socket.learn({ address: LOOPBACK, port: active.socket.port });
  const close = () => {
    active.close();
    passive.close();
  };
  return { active, passive, close };
}

/** Both hear the other; what is under way while keys change is no matter. */
async function soundFlows(...legs: readonly SecuredLeg[]): Promise<void> {
  for (const leg of legs) {
    const hears = async (count: number) => {
      const { packets } = leg.socket.stats();
      await until(() => leg.socket.stats().packets >= packets + count);
      return leg.socket.stats();
    };
    const before = await hears(5);
    const after = await hears(10);
    assert.deepEqual(
      [after.forged, after.malformed, after.closed],
      [before.forged, before.malformed, before.closed],
    );
    assert.deepEqual(leg.failures, []);
  }
}

test('two ends find keys on their own sockets, and encrypted sound and reports flow both ways', async () => {
  const { active, passive, close } = twoLegs(43_000);
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await soundFlows(active, passive);
  assert.deepEqual(active.keys[0]?.send, passive.keys[0]?.receive);
  assert.deepEqual([active.socket.stats().forged, passive.socket.stats().forged], [0, 0]);
  assert.ok(active.handshake?.secured === true);
  await until(() => active.socket.stats().rtcpPackets > 0 && passive.socket.stats().rtcpPackets > 0);
  assert.deepEqual([active.nominated, passive.nominated], [[], []]);
  active.handshake.close();
  await until(() => passive.closedByPeer === 1);
  close();
});

test('an end that connects before the other one listens is answered once it does', async () => {
  const { active, passive, close } = twoLegs(43_100);
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await until(() => passive.socket.stats().foreign > 0);
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  await soundFlows(active, passive);
  close();
});

test('a far end that is not where it is announced proves itself by the handshake', async () => {
  const { active, passive, close } = twoLegs(43_200);
  passive.socket.learn({ address: '192.0.2.99', port: 9 });
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await soundFlows(active, passive);
  assert.deepEqual(passive.nominated, [`${LOOPBACK} ${active.socket.port} 1`]);
  close();
});

test('another certificate than the announced one is refused on both sides', async () => {
  const { active, passive, close } = twoLegs(43_300);
  passive.begin({ setup: 'passive', fingerprints: [passive.fingerprint] });
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await until(() => passive.failures.length > 0 && active.failures.length > 0);
  assert.deepEqual(
    [passive.failures[0]?.code, active.failures[0]?.code],
    ['FINGERPRINT_MISMATCH', 'DTLS_FAILED'],
  );
  assert.match(active.failures[0]?.message ?? '', /bad certificate/);
  assert.deepEqual([passive.keys, active.keys], [[], []]);
  close();
});

test('a re-offer with the same names keeps the keys, another name makes new ones', async () => {
  const { active, passive, close } = twoLegs(43_400);
  const ofActive = { setup: 'passive', fingerprints: [active.fingerprint], tlsId: 'a' } as const;
  const ofPassive = { setup: 'active', fingerprints: [passive.fingerprint], tlsId: 'p' } as const;
  passive.begin(ofActive);
  active.begin(ofPassive);
  await soundFlows(active, passive);
  passive.handshake?.renegotiate({ ...ofActive, fingerprints: [...ofActive.fingerprints] });
  active.handshake?.renegotiate(ofPassive);
  await soundFlows(active, passive);
  assert.deepEqual([active.keys.length, passive.keys.length], [1, 1]);
  passive.handshake?.renegotiate({ ...ofActive, tlsId: 'a2' });
  active.handshake?.renegotiate({ ...ofPassive, tlsId: 'p2' });
  await until(() => active.keys.length === 2 && passive.keys.length === 2);
  await soundFlows(active, passive);
  assert.notDeepEqual(active.keys[0]?.send.key, active.keys[1]?.send.key);
  close();
});

test('a call that is handed over gets its keys from another certificate', async () => {
  const { active, passive, close } = twoLegs(43_500);
  const other = new SecuredLeg({ portMin: 43_600 });
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await soundFlows(active, passive);
  other.socket.learn({ address: LOOPBACK, port: passive.socket.port });
  passive.socket.learn({ address: LOOPBACK, port: other.socket.port });
  passive.handshake?.renegotiate({ setup: 'passive', fingerprints: [other.fingerprint] });
  other.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await until(() => passive.keys.length === 2);
  await soundFlows(other);
  other.close();
  close();
});

/** A far end of which the test writes every datagram. */
async function stranger(): Promise<{ socket: Socket; port: number; got: Uint8Array[] }> {
  const socket = createSocket('udp4').bind(0, LOOPBACK);
  await once(socket, 'listening');
  const got: Uint8Array[] = [];
  socket.on('message', (data) => got.push(data));
  return { socket, port: socket.address().port, got };
}

function check(nominate: boolean, password = ICE.localPwd, username = 'ours:them'): Uint8Array {
  return writeStun({
    class: 'request',
    method: BINDING,
    transaction: Uint8Array.from({ length: 12 }, () => 7),
    attributes: [
      { type: ATTRIBUTE.username, value: Buffer.from(username) },
      { type: ATTRIBUTE.priority, value: Uint8Array.of(0, 0, 1, 0) },
      ...(nominate ? [{ type: ATTRIBUTE.useCandidate, value: new Uint8Array(0) }] : []),
    ],
    key: Buffer.from(password),
  });
}

test('with ICE nothing is sent before a check, and then to where it came from', async () => {
  const leg = new SecuredLeg({ portMin: 43_700 });
  const far = await stranger();
  const wrong = await stranger();
  leg.begin({ setup: 'active', fingerprints: [leg.fingerprint], ice: ICE });
  wrong.socket.send(check(true, 'another password'), leg.socket.port, LOOPBACK);
  await until(() => wrong.got.length > 0);
  assert.equal(readStun(wrong.got[0] ?? new Uint8Array(0))?.class, 'error');
  far.socket.send(check(false), leg.socket.port, LOOPBACK);
  await until(() => far.got.some(([type]) => type === CLIENT_HELLO));
  assert.equal(readStun(far.got[0] ?? new Uint8Array(0))?.class, 'success');
  assert.deepEqual(leg.nominated, []);
  far.socket.send(check(true), leg.socket.port, LOOPBACK);
  await until(() => leg.nominated.length > 0);
  assert.deepEqual(leg.nominated, [`${LOOPBACK} ${far.port} 1`]);
  assert.equal(leg.socket.stats().port, far.port);
  assert.equal(wrong.got.length, 1);
  leg.close();
  for (const { socket } of [far, wrong]) socket.close();
});

test('with ICE, a call that is handed over waits for the new far end and leaves the old one alone', async () => {
  const { active, passive, close } = twoLegs(44_100);
  const other = new SecuredLeg({ portMin: 44_400 });
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint], ice: ICE });
  active.socket.sendForeign(check(true), LOOPBACK, passive.socket.port);
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await soundFlows(passive);
  const fresh = { ...ICE, localUfrag: 'next', localPwd: 'the next password of ours' };
  passive.handshake?.renegotiate({ setup: 'active', fingerprints: [other.fingerprint], ice: fresh });
  await until(() => active.closedByPeer === 1);
  const { foreign } = active.socket.stats();
  other.socket.learn({ address: LOOPBACK, port: passive.socket.port });
  other.begin({ setup: 'passive', fingerprints: [passive.fingerprint] });
  other.socket.sendForeign(check(true, fresh.localPwd, 'next:them'), LOOPBACK, passive.socket.port);
  await until(() => passive.keys.length === 2);
  await soundFlows(other);
  assert.equal(active.socket.stats().foreign, foreign);
  other.close();
  close();
});

test('a far end that gives up ICE before its first check is met where it is announced', async () => {
  const { active, passive, close } = twoLegs(44_500);
  const terms = { setup: 'active', fingerprints: [passive.fingerprint] } as const;
  active.begin({ ...terms, ice: ICE });
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  active.handshake?.renegotiate(terms);
  await soundFlows(active, passive);
  close();
});

test('the RTCP port without mux answers its own checks', async () => {
  const leg = new SecuredLeg({ portMin: 43_800, mux: false });
  const far = await stranger();
  leg.begin({ setup: 'active', fingerprints: [leg.fingerprint], ice: ICE });
  far.socket.once('message', (_data, { port }) => assert.equal(port, leg.socket.port + 1));
  far.socket.send(check(true), leg.socket.port + 1, LOOPBACK);
  await until(() => far.got.length > 0 && leg.nominated.length > 0);
  assert.equal(readStun(far.got[0] ?? new Uint8Array(0))?.class, 'success');
  assert.deepEqual(leg.nominated, [`${LOOPBACK} ${far.port} 2`]);
  leg.close();
  far.socket.close();
});

test('with ICE, DTLS of an address without a check is not listened to', async () => {
  const { active, passive, close } = twoLegs(43_900);
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint], ice: ICE });
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await until(() => passive.socket.stats().foreign > 1);
  assert.deepEqual([active.keys, passive.failures], [[], []]);
  active.socket.sendForeign(check(true), LOOPBACK, passive.socket.port);
  await soundFlows(active, passive);
  close();
});

test('noise of a stranger does not take a handshake over from a far end behind a translator', async () => {
  const { active, passive, close } = twoLegs(44_000);
  const far = await stranger();
  passive.socket.learn({ address: '192.0.2.99', port: 9 });
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  far.socket.send(Uint8Array.of(CLIENT_HELLO, 254, 253, 0, 0), passive.socket.port, LOOPBACK);
  await until(() => passive.socket.stats().foreign > 0);
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await soundFlows(active, passive);
  assert.deepEqual([passive.nominated, far.got], [[`${LOOPBACK} ${active.socket.port} 1`], []]);
  far.socket.close();
  close();
});

/** The first flight of a client whose certificate was not announced. */
async function helloOf(portMin: number): Promise<Uint8Array> {
  const far = await stranger();
  const leg = new SecuredLeg({ portMin });
  leg.socket.learn({ address: LOOPBACK, port: far.port });
  leg.begin({ setup: 'active', fingerprints: [leg.fingerprint] });
  await until(() => far.got.length > 0);
  leg.close();
  far.socket.close();
  return far.got[0] ?? new Uint8Array(0);
}

// Handshake_failure, in plain.
const FATAL_ALERT = Uint8Array.of(21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40);

for (const [where, isBehind] of [
  ['is announced', false],
  ['stands behind a translator', true],
] as const) {
  for (const [what, datagrams] of [
    ['an alert', async () => [FATAL_ALERT]],
    ['a handshake that is never gone on with', async () => [await helloOf(44_600)]],
    ['a handshake and an alert', async () => [await helloOf(44_600), FATAL_ALERT]],
  ] as const) {
    test(`${what} of a stranger does not keep away a far end that ${where}`, async () => {
      const { active, passive, close } = twoLegs(44_700);
      const far = await stranger();
      if (isBehind) passive.socket.learn({ address: '192.0.2.99', port: 9 });
      passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
      const all = await datagrams();
      for (const data of all) far.socket.send(data, passive.socket.port, LOOPBACK);
      await until(() => passive.socket.stats().foreign === all.length);
      active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
      await until(() => active.keys.length > 0 && passive.keys.length > 0);
      assert.deepEqual([passive.failures, active.failures], [[], []]);
      far.socket.close();
      close();
    });
  }
}

test('of two that come at the same moment, the announced address gets a handshake of its own', async () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: 0, wallMs: 0 });
  const passive = new SecuredLeg({ portMin: 45_500, plane });
  const [announced, other] = [await stranger(), await stranger()];
  const hello = await helloOf(44_600);
  passive.socket.learn({ address: LOOPBACK, port: announced.port });
  passive.begin({ setup: 'passive', fingerprints: [passive.fingerprint] });
  const { port } = passive.socket;
  for (const { socket } of [other, announced]) {
    await new Promise<void>((sent) => socket.send(hello, port, LOOPBACK, () => sent()));
  }
  await until(() => {
    plane.advance(plane.nowMs + 1);
    return announced.got.length > 0 && other.got.length > 0;
  });
  const randomOf = ({ got }: typeof other) => Buffer.from(got[0] ?? []).subarray(27, 59); // of ServerHello
  assert.equal(announced.got[0]?.[13], 2);
  assert.notDeepEqual(randomOf(announced), randomOf(other));
  passive.close();
  plane.close();
  for (const { socket } of [announced, other]) socket.close();
});

test('a stranger that completes a handshake without the announced certificate does not end ours', async () => {
  const { active, passive, close } = twoLegs(44_800);
  const other = new SecuredLeg({ portMin: 44_900 });
  other.socket.learn({ address: LOOPBACK, port: passive.socket.port });
  passive.socket.learn({ address: '192.0.2.99', port: 9 });
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  other.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await until(() => other.failures.length > 0);
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await soundFlows(active, passive);
  assert.deepEqual([other.keys, passive.failures], [[], []]);
  other.close();
  close();
});

test('an answer of a stranger does not end a handshake that we began', async () => {
  const { active, passive, close } = twoLegs(45_000);
  const far = await stranger();
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  const rubbish = [FATAL_ALERT, Uint8Array.of(CLIENT_HELLO, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9)];
  for (const data of rubbish) far.socket.send(data, active.socket.port, LOOPBACK);
  await until(() => active.socket.stats().foreign === rubbish.length);
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  await soundFlows(active, passive);
  far.socket.close();
  close();
});

test('after close_notify of the far end, no source begins another handshake without a description', async () => {
  const time = new ManualTime();
  const active = new SecuredLeg({ portMin: 45_300 });
  const passive = new SecuredLeg({ portMin: 45_300, time });
  const far = await stranger();
  active.socket.learn({ address: LOOPBACK, port: passive.socket.port });
  passive.begin({ setup: 'passive', fingerprints: [active.fingerprint] });
  active.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await soundFlows(active, passive);
  active.handshake?.close();
  await until(() => passive.closedByPeer === 1);
  time.advance(60_000);
  const { onForeign } = passive.socket;
  let looked = 0;
  passive.socket.onForeign = () => {
    onForeign?.();
    looked++;
  };
  far.socket.send(await helloOf(44_600), passive.socket.port, LOOPBACK);
  await until(() => looked > 0);
  const last = Uint8Array.of(99);
  passive.socket.sendForeign(last, LOOPBACK, far.port);
  await until(() => far.got.length > 0);
  assert.deepEqual(
    far.got.map((data) => [...data]),
    [[...last]],
  );
  assert.deepEqual([passive.failures, passive.keys.length], [[], 1]);
  for (const end of [active, passive]) end.close();
  far.socket.close();
});

test('if only strangers come, the call learns at the time limit why the first one was refused', async () => {
  const time = new ManualTime();
  const passive = new SecuredLeg({ portMin: 45_100, time });
  const other = new SecuredLeg({ portMin: 45_200 });
  other.socket.learn({ address: LOOPBACK, port: passive.socket.port });
  passive.socket.learn({ address: '192.0.2.99', port: 9 });
  passive.begin({ setup: 'passive', fingerprints: [passive.fingerprint] });
  time.advance(5000);
  other.begin({ setup: 'active', fingerprints: [passive.fingerprint] });
  await until(() => other.failures.length > 0);
  time.advance(9999);
  assert.deepEqual(passive.failures, []);
  time.advance(1);
  assert.deepEqual(
    passive.failures.map(({ code }) => code),
    ['FINGERPRINT_MISMATCH'],
  );
  assert.equal(time.waiting, 0);
  passive.close();
  other.close();
});

test('no check within 30 seconds, no handshake within 15: the call is notified', () => {
  const time = new ManualTime();
  const fingerprints = [DtlsCertificate.make()].map((certificate) => {
    certificate.close();
    return certificate.fingerprint;
  });
  const withIce = new SecuredLeg({ portMin: 44_200, time });
  withIce.begin({ setup: 'active', fingerprints, ice: ICE });
  const without = new SecuredLeg({ portMin: 44_200, time });
  without.begin({ setup: 'passive', fingerprints });
  time.advance(15_000);
  assert.deepEqual([withIce.failures.length, without.failures[0]?.code], [0, 'TIMEOUT']);
  time.advance(14_999);
  assert.equal(withIce.failures.length, 0);
  time.advance(1);
  assert.equal(withIce.failures[0]?.code, 'TIMEOUT');
  assert.match(withIce.failures[0]?.message ?? '', /no ICE check/);
  assert.equal(time.waiting, 0);
  withIce.close();
  without.close();
});

test('a closed handshake has no timer and reads nothing', () => {
  const time = new ManualTime();
  const leg = new SecuredLeg({ portMin: 44_300, time });
  leg.begin({ setup: 'active', fingerprints: [leg.fingerprint], ice: ICE });
  assert.equal(time.waiting, 1);
  leg.handshake?.close();
  leg.handshake?.close();
  leg.handshake?.renegotiate({ setup: 'passive', fingerprints: [] });
  assert.equal(time.waiting, 0);
  assert.equal(leg.socket.onForeign, undefined);
  assert.deepEqual(leg.failures, []);
  leg.close();
});

const ANNOUNCED = { address: '192.0.2.1', port: 1 };
const OTHER = { address: '192.0.2.1', port: 2 };
const THIRD = { address: '192.0.2.3', port: 1 };
const HELLO = Uint8Array.of(22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1);
const FLIGHT = Uint8Array.of(22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 11);
const ALERT = Uint8Array.of(21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40);

function decision(role: 'active' | 'passive') {
  const time = new ManualTime(5000);
  return { time, decision: new DtlsSourceFilter({ role, time, announced: () => ANNOUNCED }) };
}

test('waiting: the announced address may say anything, another one may begin, and no other may end', () => {
  const { decision: it } = decision('passive');
  for (const data of [HELLO, FLIGHT, ALERT]) assert.equal(it.decide(data, ANNOUNCED, undefined), 'take');
  assert.equal(it.decide(HELLO, OTHER, undefined), 'take');
  for (const data of [FLIGHT, ALERT, new Uint8Array(0)])
    assert.equal(it.decide(data, OTHER, undefined), 'drop');
});

test('waiting: the source of the present handshake is heard; the announced address takes its place at once, others after a second', () => {
  const { time, decision: it } = decision('passive');
  for (const data of [FLIGHT, ALERT]) assert.equal(it.decide(data, OTHER, OTHER), 'take');
  assert.equal(it.decide(HELLO, ANNOUNCED, OTHER), 'anew');
  for (const data of [FLIGHT, ALERT]) assert.equal(it.decide(data, ANNOUNCED, OTHER), 'drop');
  time.advance(999);
  assert.equal(it.decide(FLIGHT, OTHER, OTHER), 'take');
  time.advance(999);
  assert.equal(it.decide(HELLO, THIRD, OTHER), 'drop');
  time.advance(1);
  assert.equal(it.decide(HELLO, THIRD, OTHER), 'anew');
  assert.equal(it.decide(FLIGHT, THIRD, OTHER), 'drop');
});

test('connecting: others may answer where the announced address has been silent for a second, and it takes over', () => {
  const { time, decision: it } = decision('active');
  assert.equal(it.decide(FLIGHT, ANNOUNCED, undefined), 'take');
  time.advance(999);
  assert.equal(it.decide(FLIGHT, OTHER, undefined), 'drop');
  time.advance(1);
  assert.equal(it.decide(FLIGHT, OTHER, undefined), 'take');
  assert.equal(it.decide(ALERT, OTHER, undefined), 'drop');
  assert.equal(it.decide(FLIGHT, ANNOUNCED, OTHER), 'restart');
  assert.equal(it.decide(FLIGHT, THIRD, OTHER), 'restart');
  assert.equal(it.decide(ALERT, ANNOUNCED, OTHER), 'drop');
});

test('after sixteen handshakes that came to nothing the announced address alone is heard', () => {
  const { time, decision: it } = decision('passive');
  for (let n = 0; n < 16; n++) {
    assert.equal(it.decide(HELLO, OTHER, undefined), 'take');
    it.again();
  }
  time.advance(2000);
  assert.equal(it.decide(HELLO, OTHER, undefined), 'drop');
  assert.equal(it.decide(HELLO, ANNOUNCED, undefined), 'take');
});

test('an announced address that stays silent gets three flights, however often strangers make us begin anew', async () => {
  const time = new ManualTime();
  const leg = new SecuredLeg({ portMin: 45_500, time });
  const [victim, far] = [await stranger(), await stranger()];
  leg.socket.learn({ address: LOOPBACK, port: victim.port });
  const openDtls = leg.socket.openDtls.bind(leg.socket);
  let opened = 0;
  leg.socket.openDtls = (options) => {
    opened++;
    return openDtls(options);
  };
  leg.begin({ setup: 'active', fingerprints: [leg.fingerprint] });
  const rubbish = Uint8Array.of(
    CLIENT_HELLO,
    254,
    253,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    12,
    2,
    ...new Uint8Array(11),
  );
  for (let begun = 1; begun <= 6; begun++) {
    time.advance(1000);
    far.socket.send(rubbish, leg.socket.port, LOOPBACK);
    await until(() => opened > begun);
  }
  leg.socket.sendForeign(Uint8Array.of(99), LOOPBACK, victim.port);
  await until(() => victim.got.some(([type]) => type === 99));
  assert.equal(victim.got.filter(([type]) => type === CLIENT_HELLO).length, 3);
  leg.close();
  for (const { socket } of [victim, far]) socket.close();
});

/** HelloVerifyRequest (RFC 6347 section 4.2.1). Message, record and cookie have the `number`. */
function cookieRequest(number: number): Uint8Array {
  const record = [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, number, 0, 16];
  return Uint8Array.of(...record, 3, 0, 0, 4, 0, number, 0, 0, 0, 0, 0, 4, 254, 253, 1, number);
}

test('a server that asks for a cookie at the third flight gets it, and three flights more, once', async () => {
  const time = new ManualTime();
  const leg = new SecuredLeg({ portMin: 45_600, time });
  const [server, far] = [await stranger(), await stranger()];
  leg.socket.learn({ address: LOOPBACK, port: server.port });
  const openDtls = leg.socket.openDtls.bind(leg.socket);
  let opened = 0;
  leg.socket.openDtls = (options) => {
    opened++;
    return openDtls(options);
  };
  const hellos = () => server.got.filter(([type]) => type === CLIENT_HELLO);
  leg.begin({ setup: 'active', fingerprints: [leg.fingerprint] });
  const rubbish = Uint8Array.of(
    CLIENT_HELLO,
    254,
    253,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    12,
    2,
    ...new Uint8Array(11),
  );
  /** A stranger makes the handshake begin anew: the server gets a first flight. */
  const beginAnew = async () => {
    const before = opened;
    time.advance(1000);
    far.socket.send(rubbish, leg.socket.port, LOOPBACK);
    await until(() => opened > before);
  };
  for (let flights = 1; flights <= 3; flights++) {
    await until(() => hellos().length >= flights);
    if (flights < 3) await beginAnew();
  }
  const asked = hellos().length;
  server.socket.send(cookieRequest(0), leg.socket.port, LOOPBACK);
  await until(() => hellos().length > asked);
  for (let n = 0; n < 5; n++) {
    await beginAnew();
    const { foreign } = leg.socket.stats();
    server.socket.send(cookieRequest(0), leg.socket.port, LOOPBACK);
    await until(() => leg.socket.stats().foreign > foreign);
  }
  leg.socket.sendForeign(Uint8Array.of(99), LOOPBACK, server.port);
  await until(() => server.got.some(([type]) => type === 99));
  assert.equal(hellos().length, 6);
  leg.close();
  for (const { socket } of [server, far]) socket.close();
});
