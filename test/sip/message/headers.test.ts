import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { callerIdentity, readPrivacy, writeNameAddr } from '../../../sip/message/caller-identity.js';
import { readReason, writeReason } from '../../../sip/message/refusal.js';
import {
  readReferredBy,
  readReplaces,
  writeReferredBy,
  writeReplaces,
} from '../../../sip/message/replaces.js';
import { type NameAddr, parseNameAddr } from '../../../sip/message/uri.js';

test("RFC 3326's examples", () => {
  const call = readReason('SIP ;cause=200 ;text="Call completed elsewhere"');
  assert.deepEqual(call, { protocol: 'sip', cause: 200, text: 'Call completed elsewhere' });
  const isup = readReason('Q.850 ;cause=16 ;text="Terminated"');
  assert.deepEqual(isup, { protocol: 'q.850', cause: 16, text: 'Terminated' });
  assert.deepEqual(readReason('SIP'), { protocol: 'sip', cause: undefined, text: undefined });
  for (const bad of ['', ';cause=1', 'SIP cause=1', 'SIP;text="'])
    assert.equal(readReason(bad), undefined, bad);
});

test('a tag that is no token, and a quote in what points to a token, break out of nothing', () => {
  assert.equal(readReplaces('a@b;to-tag="1;early-only";from-tag=2'), undefined);
  const parsed = readReferredBy('<sip:r@example.com>;cid="a\\";x=\\"b"');
  assert.ok(parsed !== undefined);
  assert.deepEqual(readReferredBy(writeReferredBy(parsed))?.cid, 'a";x="b');
});

test('a reason that is written is the one that is read', () => {
  const reason = fc.record(
    {
      protocol: fc.constantFrom('sip', 'q.850', 'release_source'),
      cause: fc.option(fc.integer({ min: 0, max: 999 }), { nil: undefined }),
      text: fc.option(fc.stringMatching(/^[ -~]{0,20}$/), { nil: undefined }),
    },
    { noNullPrototype: true },
  );
  fc.assert(fc.property(reason, (original) => assert.deepEqual(readReason(writeReason(original)), original)));
});

test("RFC 3891's example", () => {
  const text = '425928@bobster.example.org;to-tag=7743;from-tag=6472';
  const replaces = readReplaces(text);
  assert.deepEqual(replaces, {
    callId: '425928@bobster.example.org',
    toTag: '7743',
    fromTag: '6472',
    earlyOnly: false,
  });
  assert.equal(writeReplaces({ ...replaces, earlyOnly: true }), `${text};early-only`);
  assert.equal(readReplaces(`${text};early-only`)?.earlyOnly, true);
  for (const bad of [
    '',
    'a',
    'a;to-tag=1',
    'a;from-tag=1;to-tag',
    ';to-tag=1;from-tag=2',
    'a b;to-tag=1;from-tag=2',
  ]) {
    assert.equal(readReplaces(bad), undefined, bad);
  }
});

test("RFC 3892's example, there and back", () => {
  const value = '"Ref Er" <sip:referror@referrer.example>;cid="20398823.2UWQFN309shb3@referror.example"';
  const read = readReferredBy(value);
  assert.ok(read);
  assert.equal(read.uri.user, 'referror');
  assert.equal(writeReferredBy(read), value);
  assert.equal(readReferredBy('<sip:a'), undefined);
});

function nameAddr(text: string): NameAddr {
  const parsed = parseNameAddr(text);
  assert.ok(parsed);
  return parsed;
}

const FROM = nameAddr('"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1');
const ASSERTED = ['<tel:+14085264000>', '"Cullen Jennings" <sip:fluffy@cisco.com>'];

test('what the network vouches for counts before From, from a peer that is trusted', () => {
  assert.deepEqual(callerIdentity(FROM, { asserted: ASSERTED, privacy: ['id'] }, true), {
    displayName: 'Cullen Jennings',
    caller: 'fluffy',
    uri: 'sip:fluffy@cisco.com',
    isPrivate: true,
    asserted: true,
  });
  assert.deepEqual(callerIdentity(FROM, { asserted: ASSERTED, privacy: [] }, false), {
    displayName: undefined,
    caller: undefined,
    uri: undefined,
    isPrivate: true,
    asserted: false,
  });
  const number = callerIdentity(FROM, { asserted: ['<tel:+1408;ext=1>', '<<'], privacy: ['none'] }, true);
  assert.deepEqual([number.caller, number.isPrivate], ['+1408', false]);
});

test('without more, From says who calls', () => {
  const from = nameAddr('Bob <sip:+4930123;phone-context=x@pbx.example>');
  const identity = callerIdentity(from, { asserted: [], privacy: [] }, true);
  assert.deepEqual(identity, {
    displayName: 'Bob',
    caller: '+4930123',
    uri: 'sip:+4930123;phone-context=x@pbx.example',
    isPrivate: false,
    asserted: false,
  });
});

test('kinds of privacy stand between semicolons', () => {
  assert.deepEqual(readPrivacy(' Header;id ; critical;'), ['header', 'id', 'critical']);
});

test('a name of any text is written so that the same is read, line ends aside', () => {
  assert.equal(writeNameAddr('A "B"\r\nVia: x', 'sip:a@b'), '"A \\"B\\" Via: x" <sip:a@b>');
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/), (name) => {
      assert.equal(nameAddr(writeNameAddr(name, 'sip:a@b')).displayName, name);
    }),
  );
  assert.equal(writeNameAddr(undefined, 'sip:a@b'), '<sip:a@b>');
});
