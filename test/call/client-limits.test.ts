import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallParts } from '../../src/call/call.js';
import type { MediaPort } from '../../src/call/call-route.js';
import {
  callClients,
  ClientCalls,
  clientAddress,
  peerAddress,
  isOwnMachine,
  clientLimits,
  MessageRate,
} from '../../src/call/client-limits.js';
import { Switchboard } from '../../src/call/switchboard.js';
import { PCMU } from '../../src/codecs/codec.js';
import type { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { ParleyError } from '../../src/errors.js';
import { FRAME_MS, openCall } from '../fakes/call-under-test.js';
import { ScriptedEngine } from '../fakes/engines.js';
import { SILENT_LOG } from '../../src/log.js';

const NO_ENCODERS = {} as EncoderPool;
const LIMITS = { maxCallsPerClient: 3, maxHalfOpenPerClient: 2 };

test('a client has so many calls in set-up, and so many in all, and others are not kept out', () => {
  const calls = new ClientCalls(LIMITS);
  const first = calls.take(['a'], true);
  const second = calls.take(['a'], true);
  assert.throws(() => calls.take(['a'], true), {
    code: 'CLIENT_LIMIT',
    message: 'this client has 2 calls in set-up, which is what MAX_HALF_OPEN_PER_CLIENT allows',
    retryAfterSeconds: 5,
  });
  calls.take(['b'], true);
  first.opened();
  first.opened();
  const third = calls.take(['a'], true);
  second.opened();
  assert.throws(() => calls.take(['a'], true), {
    code: 'CLIENT_LIMIT',
    message: 'this client has 3 calls, which is what MAX_CALLS_PER_CLIENT allows',
  });
  third.release();
  third.release();
  calls.take(['a'], true);
  assert.throws(() => calls.take(['a'], false), { code: 'CLIENT_LIMIT' });
});

test('one client may have a quarter of the calls in set-up, but at least 4, where nothing else is stated', () => {
  const unset = { maxCallsPerClient: 0, maxHalfOpenPerClient: 0 };
  for (const [maxCalls, halfOpen] of [
    [1, 4],
    [16, 4],
    [17, 5],
    [200, 50],
  ] as const) {
    const limits = clientLimits({ maxCalls, ...unset });
    assert.deepEqual(limits, { maxCallsPerClient: maxCalls, maxHalfOpenPerClient: halfOpen });
  }
  assert.deepEqual(clientLimits({ maxCalls: 9, ...LIMITS }), LIMITS);
});

test('the limits hold for each name of a client, and a refused call counts under none', () => {
  const calls = new ClientCalls(LIMITS);
  calls.take(['key a', 'address 1'], true);
  calls.take(['key a', 'address 2'], true);
  assert.throws(() => calls.take(['address 3', 'key a'], true), { code: 'CLIENT_LIMIT' });
  assert.equal(calls.size, 3);
  calls.take(['key b', 'address 1'], true);
  assert.throws(() => calls.take(['key c', 'address 1'], true), { code: 'CLIENT_LIMIT' });
});

test('a call that the server dials is never half-open, and a client without calls is forgotten', () => {
  const calls = new ClientCalls(LIMITS);
  const places = [1, 2, 3].map(() => calls.take(['a'], false));
  assert.throws(() => calls.take(['a'], false), /3 calls/);
  for (const place of places) place.release();
  assert.equal(calls.size, 0);
});

test('a client is counted by its key and its network, and by the key alone behind a proxy of this machine', () => {
  for (const [key, address, names] of [
    [undefined, '192.0.2.1', ['address 192.0.2.1']],
    [undefined, '127.0.0.1', ['address 127.0.0.1']],
    [undefined, '2001:db8:1:2:3::4', ['address 2001:db8:1:2::/64']],
    [undefined, '::ffff:192.0.2.1', ['address 192.0.2.1']],
    [undefined, 'unix', ['address unix']],
    ['ann', '192.0.2.1', ['key ann', 'address 192.0.2.1']],
    ['ann', '127.0.0.9', ['key ann']],
    ['ann', '::1', ['key ann']],
    ['ann', '::ffff:127.0.0.1', ['key ann']],
    ['ann', 'unix', ['key ann']],
  ] as const) {
    assert.deepEqual(callClients(key, address), names);
  }
});

test('a call that is given up before it is set up gives its place back, at once or later', async () => {
  const options = { maxCalls: 9, newId: () => 'call', clientLimits: { ...LIMITS, maxCallsPerClient: 2 } };
  const switchboard = new Switchboard({} as CallParts, options);
  const noPort = new ParleyError('CALL_LIMIT', 'no pair of ports is free');
  const failing: readonly (() => Promise<MediaPort>)[] = [
    () => Promise.reject(noPort),
    () => {
      throw noPort;
    },
  ];
  for (const makePort of [...failing, ...failing, ...failing]) {
    await assert.rejects(switchboard.open(makePort, { protocol: 'sip', clients: ['a'] }), noPort);
    await assert.rejects(
      switchboard.open(makePort, { protocol: 'sip', clients: ['a'], dialled: true }),
      noPort,
    );
  }
  assert.equal(switchboard.size, 0);
});

test('a call whose peer has not shown that it is there counts as half-open, until it does or the call ends', async () => {
  const engine = new ScriptedEngine();
  const { openPort, time, close } = openCall(NO_ENCODERS, undefined, { engine });
  const nothing = () => undefined;
  const switchboard = new Switchboard(
    {
      routing: engine,
      encoders: NO_ENCODERS,
      limits: { maxTextLength: 1000, textIdleMs: 10_000, maxWaitingUtterances: 3 },
      time,
      log: SILENT_LOG,
      metrics: {
        callOpened: nothing,
        callClosed: nothing,
        utteranceEnded: nothing,
        firstAudio: nothing,
        turnEnded: nothing,
        bargeIn: nothing,
      },
    },
    { maxCalls: 9, newId: () => `call-${switchboard.size}`, clientLimits: LIMITS },
  );
  const confirms: (() => void)[] = [];
  const open = () => {
    const confirmed = new Promise<void>((resolve) => confirms.push(resolve));
    const origin = { protocol: 'sip', clients: ['a'], confirmed };
    return switchboard.open(() => Promise.resolve(openPort(PCMU, FRAME_MS)), origin);
  };
  const [first] = [await open(), await open()];
  await assert.rejects(open(), /2 calls in set-up/);
  confirms[0]?.();
  await first.spoken();
  const third = await open();
  await assert.rejects(open(), /3 calls, which is what MAX_CALLS_PER_CLIENT allows/);
  await third.close('never acknowledged');
  await open();
  await switchboard.close();
  await close();
});

test('a burst passes, then messages at the rate', () => {
  const rate = new MessageRate({ perSecond: 10, burst: 3 }, 1000);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => rate.admits(1000)),
    [true, true, true, false],
  );
  assert.equal(rate.waitMs(1000), 100);
  assert.equal(rate.admits(1099), false);
  assert.equal(rate.admits(1100), true);
  assert.equal(rate.waitMs(1130), 70);
});

test('a rest fills it to the burst and no further', () => {
  const rate = new MessageRate({ perSecond: 1000, burst: 2 }, 0);
  assert.deepEqual(
    [1, 2, 3].map(() => rate.admits(60_000)),
    [true, true, false],
  );
});

test('a message counts what it costs; one above every burst waits for a full bucket and leaves a debt', () => {
  const rate = new MessageRate({ perSecond: 100, burst: 50 }, 0);
  assert.equal(rate.admits(0, 40), true);
  assert.equal(rate.waitMs(0, 30), 200);
  assert.equal(rate.admits(0, 10), true);
  assert.equal(rate.waitMs(0, 150), 500);
  assert.equal(rate.admits(500, 150), true);
  assert.equal(rate.waitMs(500), 1010);
});

test('a client that waits as long as stated is admitted, at any rate', () => {
  for (const perSecond of [3, 7, 333, 1e6 / 3]) {
    const rate = new MessageRate({ perSecond, burst: 1 }, 0);
    for (let nowMs = 0, n = 0; n < 1000; n++) {
      nowMs += rate.waitMs(nowMs);
      assert.equal(rate.admits(nowMs), true);
    }
  }
});

test('behind a proxy on this machine a client has the address that the proxy added last', () => {
  const seen = (headers: Record<string, string>, from: string | undefined = '127.0.0.1') =>
    clientAddress(from, headers);
  assert.equal(seen({}), '127.0.0.1');
  assert.equal(seen({ 'x-forwarded-for': '192.0.2.1, 198.51.100.7' }), '198.51.100.7');
  assert.equal(seen({ 'x-forwarded-for': '198.51.100.7:4711' }), '198.51.100.7');
  assert.equal(seen({ 'x-forwarded-for': '[2001:db8::1]:4711' }), '2001:db8::1');
  assert.equal(seen({ 'x-real-ip': '198.51.100.8' }, '::1'), '198.51.100.8');
  assert.equal(seen({ forwarded: 'for=192.0.2.1, for="[2001:db8::2]:80";proto=https' }), '2001:db8::2');
  assert.equal(seen({ forwarded: 'proto=https;for=198.51.100.9' }, '::ffff:127.0.0.1'), '198.51.100.9');
  assert.equal(seen({ 'x-forwarded-for': '198.51.100.7' }, 'unix'), '198.51.100.7');
});

test('a forwarded address counts from a proxy on this machine alone, and only if it is one', () => {
  assert.equal(clientAddress('203.0.113.5', { 'x-forwarded-for': '198.51.100.7' }), '203.0.113.5');
  for (const value of ['', 'unknown', '_hidden', '198.51.100.7,', 'x'.repeat(1000)])
    assert.equal(
      clientAddress('127.0.0.1', { 'x-forwarded-for': value, forwarded: 'for=unknown' }),
      '127.0.0.1',
    );
  assert.equal(clientAddress(undefined, {}), undefined);
});

test('headers that state different clients count for none: the proxy replaced one of them, and not the other', () => {
  const seen = (headers: Record<string, string>) => clientAddress('127.0.0.1', headers);
  const forged = '192.0.2.66';
  assert.equal(seen({ 'x-forwarded-for': forged, 'x-real-ip': '198.51.100.7' }), '127.0.0.1');
  assert.equal(seen({ 'x-forwarded-for': '198.51.100.7', 'x-real-ip': forged }), '127.0.0.1');
  assert.equal(seen({ 'x-forwarded-for': '198.51.100.7', forwarded: `for=${forged}` }), '127.0.0.1');
  assert.equal(seen({ 'x-real-ip': '198.51.100.7', forwarded: `for=${forged}` }), '127.0.0.1');
  const agreed = { 'x-forwarded-for': `${forged}, 198.51.100.7`, 'x-real-ip': '198.51.100.7' };
  assert.equal(seen(agreed), '198.51.100.7');
  assert.equal(seen({ 'x-real-ip': '2001:DB8:0::1', forwarded: 'for="[2001:db8::1]"' }), '2001:DB8:0::1');
  assert.equal(seen({ 'x-forwarded-for': 'unknown', 'x-real-ip': '198.51.100.7' }), '198.51.100.7');
});

test('a peer with the address of the server is on this machine', () => {
  const peer = (remoteAddress: string | undefined, localAddress?: string) =>
    peerAddress({ remoteAddress, localAddress });
  for (const own of ['192.168.1.5', '::ffff:192.168.1.5', '2001:db8::5'])
    assert.equal(isOwnMachine(peer(own, own)), true, own);
  assert.equal(peer('192.168.1.6', '192.168.1.5'), '192.168.1.6');
  assert.equal(peer('127.0.0.2', '127.0.0.1'), '127.0.0.2');
  assert.equal(peer(undefined), undefined);
});
