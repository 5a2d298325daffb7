// The way of a call that is placed on behalf of another one (RFC 7044, RFC 7332).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathFields, pathOf } from '../../../sip/message/history-info.js';
import { parseMessage, type SipRequest } from '../../../sip/message/message.js';
import { ParleyError } from '../../../src/errors.js';

function invite(uri: string, maxForwards: number | undefined, history: readonly string[] = []): SipRequest {
  const lines = [
    `INVITE ${uri} SIP/2.0`,
    'Via: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK1',
    'From: <sip:anna@a>;tag=a',
    'To: <sip:100@a>',
    'Call-ID: 1',
    'CSeq: 1 INVITE',
    ...(maxForwards === undefined ? [] : [`Max-Forwards: ${maxForwards}`]),
    ...history.map((value) => `History-Info: ${value}`),
    'Content-Length: 0',
  ];
  const parsed = parseMessage(Buffer.from([...lines, '', ''].join('\r\n')));
  assert.ok(parsed.kind === 'request', JSON.stringify(parsed));
  return parsed.request;
}

const isLoop = (words: RegExp) => (error: unknown) =>
  error instanceof ParleyError &&
  error.code === 'CALL_LOOP' &&
  error.field === 'to' &&
  words.test(error.message);

void test('a call takes over the hops of another one, less one, and 70 at most', () => {
  for (const [theirs, ours] of [
    [undefined, 69],
    [255, 69],
    [5, 4],
    [1, 0],
  ] as const)
    assert.equal(pathOf(invite('sip:100@a', theirs)).hops, ours);
});

void test('the first server writes the address that was called, and the one that it calls', () => {
  const path = pathOf(invite('sip:100@a', 70));
  assert.deepEqual(path.history, ['<sip:100@a>;index=1']);
  assert.deepEqual(pathFields(path, 'sip:200@b'), [
    ['Max-Forwards', '69'],
    ['History-Info', '<sip:100@a>;index=1'],
    ['History-Info', '<sip:200@b>;index=1.1;mp=1'],
  ]);
});

void test('a later server goes on with the history, also where the address was changed on the way', () => {
  const history = ['<sip:100@a?Reason=SIP%3Bcause%3D302>;index=1, <sip:200@b:5060>;index=1.1;mp=1'];
  const entries = ['<sip:100@a?Reason=SIP%3Bcause%3D302>;index=1', '<sip:200@b:5060>;index=1.1;mp=1'];
  assert.deepEqual(pathOf(invite('sip:200@B:5060;transport=tcp', 70, history)).history, entries);
  assert.deepEqual(pathOf(invite('sip:200@10.0.0.9', 70, history)).history, [
    ...entries,
    '<sip:200@10.0.0.9>;index=1.1.0',
  ]);
});

void test('entries that cannot be read are left out', () => {
  const history = ['<sip:1@a>', 'nothing', '<sip:2@a>;index=x', '<sip:3@a>;index=1'];
  assert.deepEqual(pathOf(invite('sip:3@a', 70, history)).history, ['<sip:3@a>;index=1']);
});

void test('an address on the way is not called again, and a branch that was given up is', () => {
  const history = [
    '<sip:100@a>;index=1',
    '<sip:200@b>;index=1.1',
    '<sip:300@c>;index=1.2',
    '<sip:400@d>;index=1.2.1',
  ];
  const path = pathOf(invite('sip:400@d', 70, history));
  assert.throws(() => pathFields(path, 'sip:100@A;transport=tcp'), isLoop(/through this address already/));
  assert.throws(() => pathFields(path, 'sips:300@c'), isLoop(/through this address already/));
  assert.equal(pathFields(path, 'sip:200@b').at(-1)?.[1], '<sip:200@b>;index=1.2.1.1;mp=1.2.1');
  assert.ok(pathFields(path, 'sip:400@d').length > 0, 'a proxy gets its call back');
});

void test('a call without hops, or with a long history, is not placed', () => {
  const tired = pathOf(invite('sip:100@a', 1));
  assert.throws(() => pathFields(tired, 'sip:200@b'), isLoop(/no hops left/));
  const long = Array.from({ length: 41 }, (_, n) => `<sip:${n}@a>;index=${n + 1}`);
  assert.throws(() => pathFields({ hops: 9, history: long }, 'sip:200@b'), isLoop(/more than 40 addresses/));
});
