// Encrypted calls between two legs over real loopback sockets: with keys in the descriptions (RFC 4568), with
// keys from a DTLS handshake (RFC 5763), and with ICE.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { srtpKeys } from '../../../sip/media/media-path.js';
import { OutgoingVoice, type VoiceFormat } from '../../../sip/media/outgoing-voice.js';
import type { CryptoSuite } from '../../../sip/sdp/media-keys.js';
import { PCMA, PCMU } from '../../../src/codecs/codec.js';
import { ParleyError } from '../../../src/errors.js';
import { DtlsCertificate } from '../../../src/media/dtls-association.js';
import type { SrtpKeys } from '../../../src/media/media-addon.js';
import type { MediaPlane } from '../../../src/media/media-plane.js';
import { ATTRIBUTE, BINDING, writeStun } from '../../media/stun-message.js';
import { CM_KEYS, GCM_KEYS, parseRtp, rtp } from '../../media/plane-under-test.js';
import { SrtpReader } from '../../media/srtp-reader.js';
import { countingBytes, keyText, linesOf, refusalOf, valueOf } from '../sdp/negotiation-under-test.js';
import { agree, type Leg, Phone, PLAIN, portIn, stage } from './media-under-test.js';

const SECURE = { ...PLAIN, security: 'require', codecs: ['PCMU', 'PCMA'] } as const;
const MINUTE_MS = 60_000;

function pair(t: TestContext) {
  const held = stage(t);
  const [caller, callee] = [held.leg(SECURE), held.leg({ ...SECURE, codecs: ['PCMA', 'PCMU'] })];
  agree(caller, callee);
  return { ...held, caller, callee };
}

/** Counts of a leg: packets that were accepted, and those that were not. */
function heard({ media }: Leg): { readonly packets: number; readonly loss: number } {
  const { packets, loss } = media.figures().received ?? { packets: 0, loss: 0 };
  return { packets, loss };
}

test('each believes what the other one encrypts', (t) => {
  const { caller, callee, pass } = pair(t);
  pass(1000);
  assert.equal(caller.media.figures().srtp, 'sdes');
  assert.ok(heard(caller).packets >= 48 && heard(callee).packets >= 48);
  assert.deepEqual([heard(caller).loss, heard(callee).loss], [0, 0]);
});

test('fifteen minutes of hold: sequence numbers and the index of SRTP go on where they stopped', (t) => {
  const { caller, callee, pass } = pair(t);
  pass(2000);
  const playout = callee.seen.ports[0]?.playout;
  const before = playout?.stats();
  caller.media.hold(true);
  agree(caller, callee);
  assert.deepEqual([callee.seen.held, caller.seen.held], [[true], []]);
  pass(15 * MINUTE_MS, 1000);
  const during = playout?.stats();
  assert.equal(during?.sequence, before?.sequence);
  assert.equal(during?.packets, before?.packets);
  caller.media.hold(false);
  agree(caller, callee);
  assert.deepEqual(callee.seen.held, [true, false]);
  pass(2000);
  // All but the one that left in the last step.
  assert.deepEqual(heard(caller), { packets: (playout?.stats().packets ?? 0) - 1, loss: 0 });
  assert.equal(callee.seen.ports.length, 1, 'it is the same playout');
  const ticks = ((playout?.stats().timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0;
  assert.equal(ticks, (15 * MINUTE_MS + 2000) * 8, 'time has gone on');
});

test('another codec in an encrypted call is believed at once, and the keys stay', (t) => {
  const { caller, callee, pass } = pair(t);
  pass(1000);
  agree(callee, caller); // the answerer chooses its preferred codec
  pass(1000);
  agree(caller, callee);
  pass(1000);
  for (const { seen, media } of [caller, callee]) {
    assert.deepEqual(
      seen.ports.map(({ codec }) => codec),
      [PCMA, PCMU, PCMA],
    );
    const { packets = 0, loss } = media.figures().received ?? {};
    assert.equal(loss, 0);
    assert.ok(packets >= 148, String(packets));
  }
});

test('sequence numbers that wrapped go on under the same keys in another codec', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...SECURE, codecs: ['PCMA', 'PCMU'], suites: ['AES_CM_128_HMAC_SHA1_80'] });
  const crypto = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(7, 30)}`;
  const offer = (formats: string, line = crypto) => phone.describe(formats, [line], { profile: 'RTP/SAVP' });
  const answer = valueOf(call.media.answer(offer('0 101')));
  const reader = new SrtpReader(ourKeys(answer));
  const first = await phone.raw(pass(20));
  const start = parseRtp({ atMs: 0, data: first[0]?.data ?? new Uint8Array() }).sequence;
  let wraps = 0;
  let last = start;
  for (let left = 2 ** 16 - start; left > -10; left -= 50) {
    for (const { data } of await phone.raw(pass(1000, 1000))) {
      if ((data[1] ?? 0) >= 200) continue;
      const { sequence } = parseRtp({ atMs: 0, data: data.subarray(0, 12) });
      if (sequence < last) wraps++;
      last = sequence;
    }
  }
  assert.equal(wraps, 1);
  const again = valueOf(call.media.answer(offer('8 101')));
  assert.deepEqual(ourKeys(again), ourKeys(answer));
  const packets = (await phone.raw(pass(100))).filter(({ data }) => (data[1] ?? 0) < 200);
  for (const { data } of packets) assert.equal((reader.rtp(data, 1)[1] ?? 0) & 0x7f, 8);
  assert.ok(packets.length >= 4);
});

function ourKeys(description: string) {
  const [line = ''] = linesOf(description, 'a=crypto:');
  const [, suite = '', inline = ''] = line.split(' ');
  return srtpKeys(
    suite as CryptoSuite,
    new Uint8Array(Buffer.from(inline.slice('inline:'.length), 'base64')),
  );
}

test('new keys of the far end count from the agreement on', (t) => {
  const { caller, pass, leg } = { ...pair(t) };
  pass(500);
  // The callee is another phone now, with keys of its own, at another address.
  const other = leg({ ...SECURE, codecs: ['PCMA'] });
  const before = heard(caller).packets;
  agree(other, caller);
  pass(500);
  const { packets, loss } = heard(caller);
  assert.ok(packets > before + 20, String(packets - before));
  assert.equal(loss, 0);
  assert.equal(caller.seen.ports.length, 1, 'our own keys stay');
});

test('where SRTP is demanded, nothing plain is believed and nothing plain agreed on', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg(SECURE);
  assert.equal(refusalOf(call.media.answer(phone.describe('0 101'))).status, 488);
  assert.equal(pass(100), 0);
  assert.deepEqual(call.seen.ports, []);
});

test('a suite that was left is never taken up again with the source that it had', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...SECURE });
  const line = {
    80: `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(7, 30)}`,
    32: `a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:${keyText(7, 30)}`,
  };
  const sources: (number | undefined)[] = [];
  for (const tag of [80, 32, 80] as const) {
    valueOf(call.media.answer(phone.describe('0 101', [line[tag]], { profile: 'RTP/SAVP' })));
    const packets = (await phone.raw(pass(100))).map(({ data }) => data);
    sources.push(parseRtp({ atMs: 0, data: packets.at(-1) ?? new Uint8Array() }).ssrc);
  }
  assert.equal(sources[0], sources[1]);
  assert.notEqual(sources[2], sources[0]);
  assert.equal(call.seen.ports.length, 3);
});

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

/**
 * An ICE check of a far end with the ufrag abcd, which nominates its source address (RFC 8445 section 7.2.2).
 */
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
  assert.deepEqual([caller.seen.ports.length, callee.seen.ports.length], [0, 0]);
  assert.ok(!caller.media.press('1', 100, 60));
  pass(1000);
  for (const leg of [caller, callee]) {
    assert.equal(leg.seen.ports[0]?.path, 'SRTP, keys by DTLS');
    assert.equal(leg.media.figures().srtp, 'dtls');
    assert.ok(packetsOf(leg) > 30);
    assert.deepEqual(leg.failures, []);
  }
  caller.media.press('7', 100, 60);
  pass(400);
  assert.deepEqual(callee.seen.digits, [['7', 100]]);
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
  assert.deepEqual(callee.seen.held, [true, false]);
  pass(500);
  agree(callee, caller);
  pass(500);
  assert.deepEqual(
    caller.seen.ports.map(({ codec }) => codec),
    [PCMA, PCMU],
  );
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
  assert.deepEqual(
    callee.failures.map(({ code }) => code),
    ['FINGERPRINT_MISMATCH'],
  );
  assert.deepEqual(callee.seen.ports, []);
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
  assert.equal(caller.seen.ports.length, 2, 'other keys need another playout');
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
  assert.deepEqual(call.seen.held, []);
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

const formatWith = (srtp: SrtpKeys, codec: 'PCMU' | 'PCMA' = 'PCMU'): VoiceFormat => ({
  codec,
  packetTimeMs: 20,
  payloadType: codec === 'PCMU' ? 0 : 8,
  comfortNoise: undefined,
  dtx: false,
  srtp,
});

test('a change that finds no stream leaves the source as it was, and a later one goes on with it', (t) => {
  const { plane, pass } = stage(t);
  const socket = plane.openSocket({ mux: true });
  let full = false;
  const openStream: MediaPlane['openStream'] = (...given) => {
    if (full) throw new ParleyError('CALL_LIMIT', 'full');
    return plane.openStream(...given);
  };
  const voice = new OutgoingVoice({ openStream }, socket, countingBytes(3));
  t.after(() => voice.close());
  voice.follow(formatWith(CM_KEYS));
  voice.follow(formatWith(GCM_KEYS));
  const { ssrc } = voice.source;
  full = true;
  // Keys that were spent before need another source.
  assert.throws(() => voice.follow(formatWith(CM_KEYS)), { code: 'CALL_LIMIT' });
  assert.equal(voice.source.ssrc, ssrc);
  full = false;
  assert.equal(voice.follow(formatWith(GCM_KEYS, 'PCMA')), true);
  assert.equal(voice.source.ssrc, ssrc);
  assert.equal(voice.follow(formatWith(CM_KEYS, 'PCMA')), true);
  assert.notEqual(voice.source.ssrc, ssrc);
  pass(20);
});
