import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import {
  addressBytes,
  ATTRIBUTE,
  BINDING,
  isSealedWith,
  readStun,
  type StunMessage,
  valueOf,
  writeStun,
  xorMappedAddress,
} from './stun-message.js';
import {
  IPV4_RESPONSE,
  IPV6_RESPONSE,
  LONG_TERM_REQUEST,
  PASSWORD,
  REQUEST,
  TRANSACTION,
} from './rfc5769.js';

const KEY = Buffer.from(PASSWORD);

test('RFC 5769, 2.1: the sample request', () => {
  const message = readStun(REQUEST);
  assert.ok(message !== undefined);
  assert.deepEqual([message.class, message.method], ['request', BINDING]);
  assert.deepEqual(Buffer.from(message.transaction), Buffer.from(TRANSACTION));
  assert.equal(Buffer.from(valueOf(message, ATTRIBUTE.username) ?? []).toString(), 'evtj:h6vY');
  assert.equal(Buffer.from(valueOf(message, ATTRIBUTE.priority) ?? []).toString('hex'), '6e0001ff');
  assert.ok(valueOf(message, ATTRIBUTE.iceControlled) !== undefined);
  assert.ok(isSealedWith(message, KEY));
  assert.ok(!isSealedWith(message, Buffer.from(`${PASSWORD}x`)));
});

for (const [section, response, address] of [
  ['2.2', IPV4_RESPONSE, '192.0.2.1'],
  ['2.3', IPV6_RESPONSE, '2001:db8:1234:5678:11:2233:4455:6677'],
] as const) {
  test(`RFC 5769, ${section}: the sample response to ${address}`, () => {
    const message = readStun(response);
    assert.ok(message !== undefined);
    assert.deepEqual([message.class, message.method], ['success', BINDING]);
    assert.ok(isSealedWith(message, KEY));
    assert.deepEqual(
      Buffer.from(valueOf(message, ATTRIBUTE.xorMappedAddress) ?? []),
      Buffer.from(xorMappedAddress(address, 32_853, TRANSACTION) ?? []),
    );
  });
}

test('RFC 5769, 2.4: the sample request with a long-term credential', () => {
  const message = readStun(LONG_TERM_REQUEST);
  assert.ok(message !== undefined);
  assert.equal(Buffer.from(valueOf(message, ATTRIBUTE.realm) ?? []).toString(), 'example.org');
  const key = createHash('md5').update('\u30de\u30c8\u30ea\u30c3\u30af\u30b9:example.org:TheMatrIX').digest();
  assert.ok(isSealedWith(message, key));
});

test('a changed octet in any place but the name of the fingerprint is noticed', () => {
  const name = REQUEST.length - 8;
  for (let at = 0; at < REQUEST.length; at++) {
    if (at === name || at === name + 1) continue;
    const changed = Uint8Array.from(REQUEST);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(readStun(changed), undefined, `octet ${at}`);
  }
});

test('without its fingerprint a changed octet breaks the integrity', () => {
  const bare = Uint8Array.from(REQUEST.subarray(0, REQUEST.length - 8));
  bare[3] = bare.length - 20;
  for (let at = 8; at < bare.length; at++) {
    const changed = Uint8Array.from(bare);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const message = readStun(changed);
    assert.ok(message === undefined || !isSealedWith(message, KEY), `octet ${at}`);
  }
});

test('attributes after MESSAGE-INTEGRITY are not read', () => {
  const sealed = writeStun({
    class: 'request',
    method: BINDING,
    transaction: TRANSACTION,
    attributes: [],
    key: KEY,
  });
  const behind = Buffer.concat([
    sealed.subarray(0, sealed.length - 8),
    Buffer.from('0025000000060004617a3a62', 'hex'),
  ]);
  behind.writeUInt16BE(behind.length - 20, 2);
  const message = readStun(behind);
  assert.ok(message !== undefined && isSealedWith(message, KEY));
  assert.deepEqual(message.attributes, []);
});

test('a written message is read back unchanged', () => {
  const attribute = fc.record({
    type: fc
      .integer({ min: 0, max: 0xffff })
      .filter((type) => type !== ATTRIBUTE.integrity && type !== ATTRIBUTE.fingerprint),
    value: fc.uint8Array({ maxLength: 50 }),
  });
  const property = fc.property(
    fc.constantFrom<StunMessage['class']>('request', 'indication', 'success', 'error'),
    fc.integer({ min: 0, max: 0xfff }),
    fc.uint8Array({ minLength: 12, maxLength: 12 }),
    fc.array(attribute, { maxLength: 20 }),
    fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
    (kind, method, transaction, attributes, key) => {
      const message = readStun(writeStun({ class: kind, method, transaction, attributes, key }));
      assert.ok(message !== undefined);
      const plain = message.attributes.map(({ type, value }) => ({ type, value: [...value] }));
      assert.deepEqual(
        plain,
        attributes.map(({ type, value }) => ({ type, value: [...value] })),
      );
      assert.deepEqual(
        [message.class, message.method, [...message.transaction]],
        [kind, method, [...transaction]],
      );
      assert.equal(message.sealed !== undefined, key !== undefined);
      if (key !== undefined) assert.ok(isSealedWith(message, key));
    },
  );
  fc.assert(property);
});

test('whatever comes is read or refused, never thrown at', () => {
  const head = fc.constantFrom('000100002112a442', '010100002112a442', '000100082112a442', '');
  const noise = fc.tuple(head, fc.uint8Array({ maxLength: 300 })).map(([start, rest]) => {
    const data = Buffer.concat([Buffer.from(start, 'hex'), rest]);
    // Half of it says its own length, so that the attributes are looked at.
    if (data.length >= 20 && data.length % 2 === 0) data.writeUInt16BE((data.length - 20) & 0xfffc, 2);
    return data.subarray(0, data.length - (data.length % 4));
  });
  const mutated = fc
    .tuple(
      fc.constantFrom(REQUEST, IPV6_RESPONSE, LONG_TERM_REQUEST),
      fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 6 }),
    )
    .map(([message, changes]) => {
      const data = Uint8Array.from(message);
      for (const [at, byte] of changes) if (at < data.length) data[at] = byte;
      return data;
    });
  const property = fc.property(fc.oneof(noise, mutated), (data) => {
    const message = readStun(data);
    if (message === undefined) return;
    const bytes = message.attributes.reduce((sum, { value }) => sum + value.length, 0);
    assert.ok(bytes <= data.length && message.attributes.length <= 32);
    isSealedWith(message, KEY);
  });
  fc.assert(property, { numRuns: 3000 });
});

test('more attributes than any check has are refused', () => {
  const attributes = (count: number) =>
    Array.from({ length: count }, () => ({ type: 0x8022, value: new Uint8Array(1) }));
  const message = (count: number) =>
    writeStun({
      class: 'request',
      method: BINDING,
      transaction: TRANSACTION,
      attributes: attributes(count),
      key: undefined,
    });
  assert.equal(readStun(message(31))?.attributes.length, 31);
  assert.equal(readStun(message(32)), undefined);
});

for (const [text, hex] of [
  ['192.0.2.1', 'c0000201'],
  ['::', '00000000000000000000000000000000'],
  ['::1', '00000000000000000000000000000001'],
  ['2001:db8::', '20010db8000000000000000000000000'],
  ['fe80::1%eth0', 'fe800000000000000000000000000001'],
  ['64:ff9b::192.0.2.33', '0064ff9b0000000000000000c0000221'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['example.com', undefined],
  ['', undefined],
  ['1::2::3', undefined],
] as const) {
  test(`the octets of "${text}" are ${hex ?? 'none'}`, () => {
    const bytes = addressBytes(text);
    assert.equal(bytes === undefined ? undefined : Buffer.from(bytes).toString('hex'), hex);
  });
}
