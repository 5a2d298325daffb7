// The answers of the lite half of ICE to checks that this test writes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IceLite, type IceCredentials } from '../../src/media/ice-lite.js';
import {
  ATTRIBUTE,
  BINDING,
  isSealedWith,
  readStun,
  type StunAttribute,
  type StunMessage,
  valueOf,
  writeStun,
  xorMappedAddress,
} from '../../src/media/stun-message.js';
import { ManualTime } from '../fakes/manual-time.js';
import { REQUEST } from './rfc5769.js';

const CREDENTIALS: IceCredentials = {
  localUfrag: 'ours',
  localPwd: 'a password of ours, long',
  remoteUfrag: 'them',
  remotePwd: 'a password of theirs, lo',
};
const FRESH = {
  ...CREDENTIALS,
  localUfrag: 'new1',
  localPwd: 'another password of ours',
  remoteUfrag: 'new2',
};
const NEAR = '192.0.2.7';

interface CheckOptions {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly nominate?: boolean;
  readonly priority?: number;
  readonly more?: readonly StunAttribute[];
  readonly kind?: 'request' | 'indication' | 'success';
  readonly method?: number;
}

function check(options: CheckOptions = {}): Uint8Array {
  const { username = 'ours:them', password = CREDENTIALS.localPwd, priority = 1000 } = options;
  const value = Buffer.alloc(4);
  value.writeUInt32BE(priority, 0);
  const attributes = [
    ...(username === '' ? [] : [{ type: ATTRIBUTE.username, value: Buffer.from(username) }]),
    { type: ATTRIBUTE.priority, value },
    { type: ATTRIBUTE.iceControlling, value: new Uint8Array(8) },
    ...(options.nominate === true ? [{ type: ATTRIBUTE.useCandidate, value: new Uint8Array(0) }] : []),
    ...(options.more ?? []),
  ];
  return writeStun({
    class: options.kind ?? 'request',
    method: options.method ?? BINDING,
    transaction: Uint8Array.from({ length: 12 }, (_, at) => at),
    attributes: attributes.filter(({ type }, at) => attributes.findIndex((one) => one.type === type) === at),
    key: password === '' ? undefined : Buffer.from(password),
  });
}

class Held {
  readonly time = new ManualTime(5000);
  readonly answers: StunMessage[] = [];
  readonly sentTo: string[] = [];
  readonly nominated: string[] = [];
  readonly ice = new IceLite({
    credentials: CREDENTIALS,
    time: this.time,
    send: (data, address, port, component) => {
      const message = readStun(data);
      assert.ok(message !== undefined);
      this.answers.push(message);
      this.sentTo.push(`${address} ${port} ${component}`);
    },
    onNominated: (address, port, component) => this.nominated.push(`${address} ${port} ${component}`),
  });

  take(options: CheckOptions = {}, port = 4000, component: 1 | 2 = 1): StunMessage | undefined {
    const count = this.answers.length;
    this.ice.receive(check(options), NEAR, port, component);
    return this.answers[count];
  }
}

function codeOf(message: StunMessage | undefined): number | undefined {
  const value = message === undefined ? undefined : valueOf(message, ATTRIBUTE.errorCode);
  return value === undefined ? undefined : 100 * (value[2] ?? 0) + (value[3] ?? 0);
}

test('a check is answered with where it came from, sealed with our password', () => {
  const held = new Held();
  assert.equal(held.ice.lastCheckMs, undefined);
  const answer = held.take();
  assert.ok(answer !== undefined);
  assert.equal(answer.class, 'success');
  assert.deepEqual([...answer.transaction], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assert.deepEqual(
    Buffer.from(valueOf(answer, ATTRIBUTE.xorMappedAddress) ?? []),
    Buffer.from(xorMappedAddress(NEAR, 4000, answer.transaction) ?? []),
  );
  assert.ok(isSealedWith(answer, Buffer.from(CREDENTIALS.localPwd)));
  assert.deepEqual(held.sentTo, [`${NEAR} 4000 1`]);
  assert.equal(held.ice.lastCheckMs, 5000);
  assert.ok(held.ice.hasChecked(NEAR, 4000) && !held.ice.hasChecked(NEAR, 4001));
  assert.deepEqual(held.nominated, []);
});

for (const [what, options, code] of [
  ['no username', { username: '' }, 400],
  ['no integrity', { password: '' }, 400],
  ['the username of somebody else', { username: 'them:ours' }, 401],
  ['a username without a colon', { username: 'ours' }, 401],
  ['another password', { password: 'another password' }, 401],
  ['the password of the far end', { password: CREDENTIALS.remotePwd }, 401],
  [
    'the role that only we can have',
    { more: [{ type: ATTRIBUTE.iceControlled, value: new Uint8Array(8) }] },
    487,
  ],
  ['an attribute that must be understood', { more: [{ type: 0x7fee, value: new Uint8Array(0) }] }, 420],
] as const) {
  test(`a check with ${what} is refused with ${code}, and counts for nothing`, () => {
    const held = new Held();
    const answer = held.take({ ...options, nominate: true });
    assert.equal(codeOf(answer), code);
    assert.equal(answer?.class, 'error');
    // Only responses to authenticated requests carry MESSAGE-INTEGRITY.
    assert.equal(answer.sealed !== undefined, code > 401);
    if (code === 420)
      assert.deepEqual([...(valueOf(answer, ATTRIBUTE.unknownAttributes) ?? [])], [0x7f, 0xee]);
    assert.deepEqual(
      [held.nominated, held.ice.lastCheckMs, held.ice.hasChecked(NEAR, 4000)],
      [[], undefined, false],
    );
  });
}

for (const [what, data] of [
  ['an indication', check({ kind: 'indication' })],
  ['a response', check({ kind: 'success' })],
  ['a request of another method', check({ method: 3 })],
  ['half a check', check().subarray(0, 40)],
  ['nothing', new Uint8Array(0)],
] as const) {
  test(`${what} is not answered`, () => {
    const held = new Held();
    held.ice.receive(data, NEAR, 4000);
    assert.deepEqual([held.answers, held.ice.lastCheckMs], [[], undefined]);
  });
}

test('the sample request of RFC 5769, whose sender would be controlled, must change its role', () => {
  const held = new Held();
  const credentials = { ...CREDENTIALS, localUfrag: 'evtj', localPwd: 'VOkJxbRl1RmTxUk/WvJxBt' };
  held.ice.restart(credentials);
  held.ice.receive(REQUEST, NEAR, 4000);
  assert.equal(codeOf(held.answers[0]), 487);
});

test('strangers get at most twenty refusals a second, the far end its answers all the same', () => {
  const held = new Held();
  for (let n = 0; n < 100; n++) held.take({ password: 'wrong' });
  assert.equal(held.answers.length, 20);
  assert.equal(held.take()?.class, 'success');
  held.time.advance(1000);
  assert.equal(codeOf(held.take({ password: 'wrong' })), 401);
});

test('a nomination is reported once for each address', () => {
  const held = new Held();
  held.take({ nominate: true });
  held.take({ nominate: true });
  held.take({});
  assert.deepEqual(held.nominated, [`${NEAR} 4000 1`]);
  held.take({ nominate: true }, 4001, 2);
  assert.deepEqual(held.nominated, [`${NEAR} 4000 1`, `${NEAR} 4001 2`]);
});

test('of addresses that are nominated at the same time the highest priority counts', () => {
  const held = new Held();
  const turn = () => {
    held.take({ nominate: true, priority: 10 }, 4000);
    held.take({ nominate: true, priority: 30 }, 4001);
    held.take({ nominate: true, priority: 20 }, 4002);
    held.time.advance(500);
  };
  for (let n = 0; n < 10; n++) turn();
  assert.deepEqual(held.nominated, [`${NEAR} 4000 1`, `${NEAR} 4001 1`]);
});

test('a far end that moves to a worse address is followed when it has left the better one', () => {
  const held = new Held();
  held.take({ nominate: true, priority: 30 }, 4000);
  held.time.advance(1999);
  held.take({ nominate: true, priority: 10 }, 4001);
  assert.equal(held.nominated.length, 1);
  held.time.advance(1);
  held.take({ nominate: true, priority: 10 }, 4001);
  assert.deepEqual(held.nominated, [`${NEAR} 4000 1`, `${NEAR} 4001 1`]);
});

test('a restart answers with the new secrets, the old pair is only kept alive', () => {
  const held = new Held();
  held.take({ nominate: true, priority: 30 });
  held.ice.restart(CREDENTIALS);
  held.ice.restart(FRESH);
  const old = held.take({ nominate: true }, 4001);
  assert.equal(old?.class, 'success');
  assert.deepEqual(held.nominated, [`${NEAR} 4000 1`]);
  const answer = held.take(
    { username: 'new1:new2', password: FRESH.localPwd, nominate: true, priority: 10 },
    4002,
  );
  assert.ok(answer !== undefined && isSealedWith(answer, Buffer.from(FRESH.localPwd)));
  assert.deepEqual(held.nominated, [`${NEAR} 4000 1`, `${NEAR} 4002 1`]);
  held.ice.restart({ ...FRESH, localUfrag: 'new3' });
  assert.equal(codeOf(held.take()), 401);
});

test('addresses that were checked are forgotten only when there are more than 64', () => {
  const held = new Held();
  for (let port = 1; port <= 65; port++) held.take({}, port);
  assert.ok(!held.ice.hasChecked(NEAR, 1) && held.ice.hasChecked(NEAR, 2) && held.ice.hasChecked(NEAR, 65));
});
