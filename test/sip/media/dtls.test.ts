// Calls whose keys come from a handshake on their own sockets (RFC 5763), and
// calls of ICE.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { DtlsCertificate } from '../../../src/media/dtls-association.js';
import type { ParleyError } from '../../../src/errors.js';
import { PCMA, PCMU } from '../../../src/codecs/codec.js';
import { ATTRIBUTE, BINDING, writeStun } from '../../../src/media/stun-message.js';
import { rtp } from '../../media/far-end.js';
import { linesOf, valueOf } from '../sdp/negotiation-under-test.js';
import { agree, Phone, PLAIN, portIn, stage, type Leg } from './media-under-test.js';

const DTLS = { ...PLAIN, security: 'require', keyings: ['dtls'], codecs: ['PCMU', 'PCMA'] } as const;

interface SecuredLeg extends Leg {
  readonly failures: ParleyError[];
}

function legs(t: TestContext) {
  const held = stage(t);
  const certificate = DtlsCertificate.make();
  t.after(() => certificate.close());
  const secured = (codecs: readonly ('PCMU' | 'PCMA')[] = DTLS.codecs): SecuredLeg => {
    const leg = held.leg({ ...DTLS, codecs }, { certificate });
    const failures: ParleyError[] = [];
    leg.media.onFailed = (error) => failures.push(error);
    return { ...leg, failures };
  };
  return { ...held, secured, certificate };
}

/** A check of a far end that is called abcd, and wants its media where it comes from (RFC 8445 section 7.2.2). */
function checkOf(answer: string): Uint8Array {
  const [ufrag = ''] = linesOf(answer, 'a=ice-ufrag:');
  const [pwd = ''] = linesOf(answer, 'a=ice-pwd:');
  return writeStun({
    class: 'request',
    method: BINDING,
    transaction: new Uint8Array(12).fill(7),
    attributes: [
      { type: ATTRIBUTE.username, value: Buffer.from(`${ufrag}:abcd`) },
      { type: ATTRIBUTE.priority, value: Uint8Array.of(0, 0, 4, 0) },
      { type: ATTRIBUTE.iceControlling, value: new Uint8Array(8) },
      { type: ATTRIBUTE.useCandidate, value: new Uint8Array(0) },
    ],
    key: Buffer.from(pwd),
  });
}

function packetsOf({ media }: Leg): number {
  return media.figures().received?.packets ?? 0;
}

test('the port is told when the handshake has brought keys, and nothing leaves before', (t) => {
  const { secured, pass } = legs(t);
  const [caller, callee] = [secured(), secured()];
  agree(caller, callee);
  assert.deepEqual([caller.told.ports.length, callee.told.ports.length], [0, 0]);
  assert.ok(!caller.media.press('1', 100, 60));
  pass(1000);
  for (const leg of [caller, callee]) {
    assert.equal(leg.told.ports[0]?.path, 'SRTP, keys by DTLS');
    assert.equal(leg.media.figures().srtp, 'dtls');
    assert.ok(packetsOf(leg) > 30);
    assert.deepEqual(leg.failures, []);
  }
  caller.media.press('7', 100, 60);
  pass(400);
  assert.deepEqual(callee.told.digits, [['7', 100]]);
});

test('hold, resume and another codec leave the association as it is', (t) => {
  const { secured, pass } = legs(t);
  const [caller, callee] = [secured(), secured(['PCMA', 'PCMU'])];
  agree(caller, callee);
  pass(1000);
  caller.media.hold(true);
  agree(caller, callee);
  pass(5000);
  caller.media.hold(false);
  agree(caller, callee);
  assert.deepEqual(callee.told.held, [true, false]);
  pass(500);
  agree(callee, caller);
  pass(500);
  assert.deepEqual(caller.told.ports.map(({ codec }) => codec), [PCMA, PCMU]); // prettier-ignore
  assert.deepEqual([caller.media.figures().received?.loss, callee.media.figures().received?.loss], [0, 0]);
  assert.ok(packetsOf(caller) > 80);
});

test('a certificate that is not the announced one fails the call, and no port is told', (t) => {
  const { secured, pass } = legs(t);
  const [caller, callee] = [secured(), secured()];
  const digest = Array.from({ length: 32 }, () => 'AB').join(':');
  const offer = valueOf(caller.media.offer()).replace(/a=fingerprint:.*/, `a=fingerprint:sha-256 ${digest}`);
  valueOf(caller.media.accept(Buffer.from(valueOf(callee.media.answer(Buffer.from(offer)))), 'a'));
  pass(1000);
  assert.deepEqual(callee.failures.map(({ code }) => code), ['FINGERPRINT_MISMATCH']); // prettier-ignore
  assert.deepEqual(callee.told.ports, []);
  assert.equal(packetsOf(callee), 0);
});

test('another far end has an association of its own', (t) => {
  const { secured, pass } = legs(t);
  const [caller, callee, other] = [secured(), secured(), secured()];
  agree(caller, callee);
  pass(1000);
  const before = packetsOf(caller);
  agree(other, caller);
  pass(1000);
  assert.equal(caller.told.ports.length, 2, 'other keys need another playout');
  assert.ok(packetsOf(caller) > before + 30 && packetsOf(other) > 30);
  assert.deepEqual(caller.failures, []);
});

test('with ICE nothing is sent to the address of the description before a check came from it', async (t) => {
  const { leg, pass, certificate } = legs(t);
  const phone = await Phone.open(t);
  const call = leg(PLAIN, { certificate });
  const ice = ['a=ice-ufrag:abcd', 'a=ice-pwd:abcdefghijklmnopqrstuvwx'];
  const answer = valueOf(call.media.answer(phone.describe('0 101', ice)));
  assert.equal(linesOf(answer, 'a=ice-ufrag:').length, 1);
  assert.deepEqual(call.told.held, []);
  pass(200);
  assert.equal(phone.waiting, 0);
  await phone.send(checkOf(answer), portIn(answer));
  pass(20);
  const [reply] = await phone.raw(1);
  assert.deepEqual([reply?.data[0], reply?.data[1]], [1, 1], 'the check is answered');
  await phone.packets(pass(100));
});

test('with ICE nobody who only sends is sent to: before a check nobody at all, and afterwards where it came from', async (t) => {
  const { leg, pass, certificate } = legs(t);
  const [phone, stranger] = [await Phone.open(t), await Phone.open(t)];
  const call = leg(PLAIN, { certificate });
  const ice = ['a=ice-ufrag:abcd', 'a=ice-pwd:abcdefghijklmnopqrstuvwx'];
  const offer = phone.describe('0 101', ice);
  const answer = valueOf(call.media.answer(offer));
  const port = portIn(answer);
  let sequence = 0;
  const speaks = async (who: Phone) => {
    await who.send(rtp({ sequence: ++sequence, timestamp: 160 * sequence }), port);
    pass(20);
  };
  await speaks(stranger);
  await phone.send(checkOf(answer), port);
  pass(20);
  await phone.raw(1);
  for (let n = 0; n < 2; n++) await speaks(phone);
  pass(5000);
  assert.equal(linesOf(valueOf(call.media.answer(offer)), 'm=audio ').length, 1);
  await speaks(stranger);
  pass(100);
  assert.deepEqual([stranger.waiting, call.media.quality?.remote.port], [0, phone.port]);
  assert.equal(packetsOf(call), 2);
});

test('closing a leg in the middle of its handshake leaves no timer', (t) => {
  const { secured, time } = legs(t);
  const [caller, callee] = [secured(), secured()];
  agree(caller, callee);
  caller.media.close();
  callee.media.close();
  assert.equal(time.waiting, 0);
});
