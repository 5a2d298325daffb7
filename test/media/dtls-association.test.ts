// DTLS-SRTP with ends that others wrote, and with ourselves over a bad path.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test, type TestContext } from 'node:test';
import { DtlsClient, DtlsServer } from 'werift';
import { type DtlsAssociation, DtlsCertificate } from '../../src/media/dtls-association.js';
import type { SrtpKeys } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { freePorts } from '../fakes/free-port.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import {
  fingerprintOf,
  FORGED,
  LOOPBACK,
  materialOf,
  OpensslPeer,
  pemPair,
  type PemPair,
  readDtlsRecords,
  record,
  Reports,
  type Terms,
  UdpAssociation,
} from './dtls-peers.js';

let pair: PemPair;
let ours: DtlsCertificate;
let theirs: DtlsCertificate;
before(async () => {
  pair = await pemPair();
  ours = DtlsCertificate.make();
  theirs = DtlsCertificate.make();
});
after(() => {
  ours.close();
  theirs.close();
});

const EXPORT = ['-keymatexport', 'EXTRACTOR-dtls_srtp'];
// OpenSSL's names, ours, and the octets of both keys and salts.
const PROFILES: readonly [string, SrtpKeys['profile'], number][] = [
  ['SRTP_AEAD_AES_128_GCM', 'AEAD_AES_128_GCM', 56],
  ['SRTP_AEAD_AES_256_GCM', 'AEAD_AES_256_GCM', 88],
  ['SRTP_AES128_CM_SHA1_80', 'AES_CM_128_HMAC_SHA1_80', 60],
  ['SRTP_AES128_CM_SHA1_32', 'AES_CM_128_HMAC_SHA1_32', 60],
];

for (const [name, profile, bytes] of PROFILES) {
  test(`openssl connects to us with ${name} and has the same keys`, async () => {
    const end = new UdpAssociation();
    const port = await end.listen();
    end.begin({ role: 'passive', fingerprints: [pair.fingerprint] });
    const options = ['-connect', `${LOOPBACK}:${port}`, '-use_srtp', name, ...EXPORT];
    const peer = new OpensslPeer('s_client', pair, [...options, '-keymatexportlen', String(bytes)]);
    await until(() => end.reported.keys.length > 0 && peer.material !== undefined);
    const [keys] = end.reported.keys;
    assert.ok(keys !== undefined);
    assert.equal(keys.send.profile, profile);
    assert.equal(materialOf(keys.receive, keys.send), peer.material);
    assert.match(peer.output, /Protocol {2}: DTLSv1\.2/);
    assert.match(peer.output, /ECDHE-ECDSA-\S+(?:GCM|POLY1305)/);
    await peer.close();
    await end.close();
  });

  test(`we connect to openssl with ${name} and have the same keys`, async () => {
    const port = await freePorts();
    const options = ['-accept', `${LOOPBACK}:${port}`, '-Verify', '1', '-use_srtp', name, ...EXPORT];
    const peer = new OpensslPeer('s_server', pair, [...options, '-keymatexportlen', String(bytes)]);
    await until(() => peer.output.includes('ACCEPT'));
    const end = new UdpAssociation(port);
    end.begin({ role: 'active', fingerprints: [fingerprintOf(pair.cert, 'sha384')] });
    await until(() => end.reported.keys.length > 0 && peer.material !== undefined);
    const [keys] = end.reported.keys;
    assert.ok(keys !== undefined);
    assert.equal(keys.send.profile, profile);
    assert.equal(materialOf(keys.send, keys.receive), peer.material);
    await peer.close();
    await end.close();
  });
}

for (const [what, options, code, reason] of [
  [
    'a certificate that was not announced',
    ['-use_srtp', 'SRTP_AES128_CM_SHA1_80'],
    'FINGERPRINT_MISMATCH',
    /fingerprint/,
  ],
  ['no SRTP', [], 'DTLS_FAILED', /no protection profile of SRTP is common/],
  [
    'ciphers without authenticated encryption',
    ['-use_srtp', 'SRTP_AES128_CM_SHA1_80', '-cipher', 'ECDHE-ECDSA-AES128-SHA'],
    'DTLS_FAILED',
    /no shared cipher/,
  ],
] as const) {
  test(`openssl with ${what} gets no keys, and an alert`, async () => {
    const end = new UdpAssociation();
    const port = await end.listen();
    const stranger = code === 'FINGERPRINT_MISMATCH' ? ours.fingerprint : pair.fingerprint;
    end.begin({ role: 'passive', fingerprints: [stranger] });
    const peer = new OpensslPeer('s_client', pair, ['-connect', `${LOOPBACK}:${port}`, ...options]);
    await until(() => end.reported.failures.length > 0);
    assert.equal(end.reported.code, code);
    assert.match(end.reported.failures[0]?.message ?? '', reason);
    assert.equal(end.reported.keys.length, 0);
    if (options.length > 0) await until(() => /alert/.test(peer.output));
    await peer.close();
    await end.close();
  });
}

test('openssl that quits says goodbye', async () => {
  const end = new UdpAssociation();
  const port = await end.listen();
  end.begin({ role: 'passive', fingerprints: [fingerprintOf(pair.cert, 'sha512')] });
  const peer = new OpensslPeer('s_client', pair, [
    '-connect',
    `${LOOPBACK}:${port}`,
    '-use_srtp',
    'SRTP_AES128_CM_SHA1_80',
  ]);
  await until(() => end.reported.keys.length > 0);
  peer.quit();
  await until(() => end.reported.closed > 0);
  assert.deepEqual([end.reported.closed, end.reported.failures, end.association?.over], [1, [], true]);
  await peer.close();
  await end.close();
});

for (const role of ['active', 'passive'] as const) {
  test(`werift is met by us as the ${role} end, with the same keys`, async () => {
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    await once(socket, 'listening');
    const end = new UdpAssociation(socket.address().port);
    const port = await end.listen();
    const transport = {
      type: 'udp',
      address: [LOOPBACK, port] as const,
      closed: false,
      onData: (_data: Buffer, _from: [string, number]) => undefined,
      send: (data: Buffer) => Promise.resolve(socket.send(data, port, LOOPBACK)),
      close: () => Promise.resolve(),
    };
    socket.on('message', (data) => transport.onData(data, [LOOPBACK, port]));
    const options = {
      cert: pair.cert,
      key: pair.key,
      signatureHash: { signature: 3 as const, hash: 4 as const },
      transport: transport as never,
      srtpProfiles: [1 as const], // SRTP_AES128_CM_HMAC_SHA1_80
      extendedMasterSecret: true,
      certificateRequest: true,
    };
    const peer = role === 'active' ? new DtlsServer(options) : new DtlsClient(options);
    end.begin({ role, fingerprints: [pair.fingerprint] });
    if (peer instanceof DtlsClient) await peer.connect();
    await until(() => end.reported.keys.length > 0 && peer.connected);
    const [keys] = end.reported.keys;
    const { localKey, localSalt, remoteKey, remoteSalt } = peer.extractSessionKeys(16, 14) as Record<
      string,
      Uint8Array
    >;
    assert.deepEqual(
      [keys?.receive.key, keys?.receive.salt, keys?.send.key, keys?.send.salt].map(hex),
      [localKey, localSalt, remoteKey, remoteSalt].map(hex),
    );
    assert.equal(keys?.send.profile, 'AES_CM_128_HMAC_SHA1_80');
    peer.close();
    socket.close();
    await end.close();
  });
}

/** Two of ours on a manual plane; what is sent goes through `path` in both directions. */
function twoOfOurs(
  t: TestContext,
  path: (data: Uint8Array, deliver: () => void) => void,
  terms: Partial<Terms> = {},
) {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: 0, wallMs: 0 });
  t.after(() => plane.close());
  const underWay: (() => void)[] = [];
  const make = (
    certificate: DtlsCertificate,
    peer: () => DtlsAssociation,
    role: Terms['role'],
    expected: DtlsCertificate,
  ) => {
    const reported = new Reports();
    const association: DtlsAssociation = plane.openDtls({
      certificate,
      role,
      fingerprints: [expected.fingerprint],
      time: new ManualTime(),
      send: (data) => underWay.push(() => path(data, () => peer().receive(data))),
      onKeys: (keys) => reported.keys.push(keys),
      onFailed: (error) => reported.failures.push(error),
      onClosed: () => reported.closed++,
      ...terms,
    });
    return { association, reported };
  };
  const active = make(ours, () => passive.association, 'active', theirs);
  const passive: typeof active = make(theirs, () => active.association, 'passive', ours);
  /** Does what the two have to do, but carries nothing. */
  const work = () => {
    do plane.advance(0);
    while (plane.stats().associationsWaiting > 0);
  };
  /** Until nothing is under way. */
  const settle = () => {
    for (work(); underWay.length > 0; work()) underWay.shift()?.();
  };
  const start = () => {
    passive.association.start();
    active.association.start();
    settle();
  };
  return { active, passive, work, settle, start, plane };
}

test('two of ours agree on keys crosswise, and no timer is left', (t) => {
  const time = new ManualTime();
  const { active, passive, start, settle } = twoOfOurs(t, (_data, deliver) => deliver(), { time });
  start();
  const [a, p] = [active.reported.keys[0], passive.reported.keys[0]];
  assert.ok(a !== undefined && p !== undefined);
  assert.deepEqual([a.send, a.receive], [p.receive, p.send]);
  assert.notDeepEqual(a.send.key, a.receive.key);
  assert.equal(time.waiting, 0);
  assert.ok(active.association.open && passive.association.open);
  active.association.close();
  active.association.close();
  settle();
  assert.deepEqual([active.reported.closed, passive.reported.closed], [0, 1]);
  passive.association.close();
  assert.deepEqual([...active.reported.failures, ...passive.reported.failures], []);
});

test('application data passes both ways while the association is open, and is dropped unless asked for', (t) => {
  const heard: string[] = [];
  const onData = (data: Uint8Array) => void heard.push(Buffer.from(data).toString());
  for (const terms of [{ onData }, {}]) {
    const { active, passive, start, settle } = twoOfOurs(t, (_data, deliver) => deliver(), terms);
    assert.equal(active.association.sendData(Buffer.from('too early')), false);
    start();
    assert.ok(active.association.sendData(Buffer.from('from the client')));
    assert.ok(passive.association.sendData(Buffer.from('from the server')));
    settle();
    assert.ok(active.association.sendData(Buffer.from('just before the end')));
    active.association.close();
    assert.equal(active.association.sendData(Buffer.from('too late')), false);
    settle();
    assert.equal(passive.reported.closed, 1);
  }
  assert.deepEqual(heard.toSorted(), ['from the client', 'from the server', 'just before the end']);
  assert.equal(heard.at(-1), 'just before the end');
});

test('of application data at most 256 messages wait', (t) => {
  const { active, start } = twoOfOurs(t, (_data, deliver) => deliver());
  start();
  const sent = Array.from({ length: 300 }, () => active.association.sendData(Buffer.from('message')));
  assert.equal(sent.indexOf(false), 256);
});

for (const role of ['active', 'passive'] as const) {
  test(`no forged record ends a handshake or an association of the ${role} end`, (t) => {
    const forge = (end: DtlsAssociation) => {
      for (const datagram of FORGED) {
        end.receive(datagram);
        under.work();
      }
    };
    // Before each datagram of the handshake that this end receives.
    const under = twoOfOurs(t, (_data, deliver) => {
      forge(under[role].association);
      deliver();
    });
    const { active, passive, start, settle } = under;
    passive.association.start();
    forge(under[role].association);
    start();
    const { association, reported } = under[role];
    assert.equal(reported.keys.length, 1);
    forge(association);
    settle();
    assert.deepEqual([association.open, reported.failures, reported.closed], [true, [], 0]);
    active.association.close();
    passive.association.close();
  });
}

test('a protected record too short for its tag ends neither a handshake nor an association', (t) => {
  const short = [0, 1, 2 ** 40].map((number) => record(22, 1, '0228', 0xfefd, number));
  const forge = () => short.forEach((datagram) => passive.association.receive(datagram));
  // Each record of the handshake comes in a datagram of its own, as some peers send them.
  const { active, passive, start, settle } = twoOfOurs(t, (data, deliver) => {
    forge();
    if (data[0] !== 20) deliver();
    else for (const { bytes } of readDtlsRecords(data)) passive.association.receive(bytes);
  });
  start();
  forge();
  settle();
  assert.deepEqual([passive.reported.keys.length, passive.reported.failures], [1, []]);
  assert.ok(passive.association.open);
  active.association.close();
});

test('a forged record with a high number does not make those that follow look like replays', (t) => {
  const { passive, start } = twoOfOurs(t, (_data, deliver) => {
    passive.association.receive(record(20, 0, '01', 0xfefd, 2 ** 40));
    deliver();
  });
  start();
  assert.deepEqual([passive.reported.keys.length, passive.reported.failures], [1, []]);
});

test('an unprotected alert does not end a handshake, but the error of the time limit states it', (t) => {
  const time = new ManualTime();
  const { active, settle } = twoOfOurs(t, () => undefined, { time });
  active.association.start();
  active.association.receive(record(21, 0, '0228')); // fatal, handshake_failure
  settle();
  time.advance(14_999);
  assert.equal(active.reported.failures.length, 0);
  time.advance(1);
  assert.equal(active.reported.code, 'TIMEOUT');
  assert.match(String(active.reported.failures[0]), /an unprotected alert came, number 40$/);
});

test('an unprotected alert ends a handshake that the far end has begun and does not go on with in 2 s', (t) => {
  const time = new ManualTime();
  const { active, passive, settle } = twoOfOurs(t, (_data, deliver) => deliver(), { time });
  passive.association.start();
  settle();
  const alert = () => {
    passive.association.receive(record(21, 0, '0228'));
    settle();
  };
  alert(); // before the far end has said anything
  time.advance(10_000);
  const hello: Uint8Array[] = [];
  const { plane } = twoOfOurs(t, () => undefined);
  plane
    .openDtls({
      certificate: ours,
      role: 'active',
      fingerprints: [theirs.fingerprint],
      time,
      send: (data) => hello.push(data),
      onKeys: () => undefined,
      onFailed: () => undefined,
      onClosed: () => undefined,
    })
    .start();
  plane.advance(0);
  const say = () => {
    passive.association.receive(hello[0] ?? new Uint8Array(0));
    settle();
  };
  say();
  alert();
  time.advance(1999);
  say(); // the alert was forged
  alert();
  time.advance(1999);
  alert(); // the wait goes on
  assert.deepEqual(passive.reported.failures, []);
  time.advance(1);
  assert.equal(passive.reported.code, 'DTLS_FAILED');
  assert.match(
    String(passive.reported.failures[0]),
    /ended the DTLS handshake with alert 40 \(handshake failure\)$/,
  );
  active.association.close();
});

test('datagrams that come before the start are kept for it', (t) => {
  const { active, passive, settle } = twoOfOurs(t, (_data, deliver) => deliver());
  active.association.start();
  settle();
  assert.equal(active.reported.keys.length, 0);
  passive.association.start();
  settle();
  assert.equal(active.reported.keys.length, 1);
});

test('a datagram that is lost is sent again', async () => {
  let lost = 0;
  const end = new UdpAssociation();
  const port = await end.listen();
  const other = new UdpAssociation(port);
  await other.listen();
  end.begin({ role: 'passive', fingerprints: [other.certificate.fingerprint] });
  other.begin({
    role: 'active',
    fingerprints: [end.certificate.fingerprint],
    // The first flight, and the first half of the next one.
    send: (data) => (lost++ < 2 ? undefined : other.socket.send(data, port, LOOPBACK)),
  });
  await until(() => end.reported.keys.length > 0 && other.reported.keys.length > 0);
  assert.ok(lost > 2);
  await other.close();
  await end.close();
});

for (const role of ['active', 'passive'] as const) {
  test(`without an answer the ${role} end gives up after 15 seconds`, (t) => {
    const time = new ManualTime();
    const { [role]: end, settle } = twoOfOurs(t, () => undefined, { time });
    end.association.start();
    settle();
    time.advance(14_999);
    assert.deepEqual(end.reported.failures, []);
    time.advance(1);
    assert.equal(end.reported.code, 'TIMEOUT');
    assert.equal(time.waiting, 0);
    assert.ok(end.association.over);
  });
}

test('closing in the middle of a handshake leaves no timer and tells nothing', (t) => {
  const time = new ManualTime();
  const { active, settle } = twoOfOurs(t, () => undefined, { time });
  active.association.start();
  settle();
  assert.ok(time.waiting > 0);
  active.association.close();
  assert.equal(time.waiting, 0);
  time.advance(60_000);
  settle();
  assert.deepEqual([active.reported.keys, active.reported.failures, active.reported.closed], [[], [], 0]);
});

test('a closed certificate or plane serves no new association', (t) => {
  const certificate = DtlsCertificate.make();
  assert.match(certificate.fingerprint.digest, /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  certificate.close();
  certificate.close();
  const tell = () => undefined;
  const options = {
    role: 'active',
    fingerprints: [],
    time: new ManualTime(),
    send: tell,
    onKeys: tell,
    onFailed: tell,
    onClosed: tell,
  } as const;
  const { plane } = twoOfOurs(t, tell);
  assert.throws(() => plane.openDtls({ ...options, certificate }), {
    code: 'DTLS_FAILED',
    message: /certificate is closed/,
  });
  assert.equal(plane.stats().associations, 2);
  plane.close();
  assert.throws(() => plane.openDtls({ ...options, certificate: ours }), { code: 'WRONG_STATE' });
});

test('nothing that is sent is longer than 1200 bytes', (t) => {
  const sizes: number[] = [];
  const { start } = twoOfOurs(t, (data, deliver) => {
    sizes.push(data.length);
    deliver();
  });
  start();
  assert.ok(sizes.length >= 4 && Math.max(...sizes) <= 1200, sizes.join());
});

test('a closing plane closes its associations, and the other end hears of it', (t) => {
  const { active, passive, start, settle, plane } = twoOfOurs(t, (_data, deliver) => deliver());
  start();
  const other = plane.stats().associations;
  active.association.close();
  assert.equal(plane.stats().associations, other - 1);
  settle();
  assert.equal(passive.reported.closed, 1);
  assert.equal(plane.stats().associations, 0);
});

function hex(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}
