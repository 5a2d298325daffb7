// Encrypted calls between two legs over real sockets of loopback, with keys in
// their descriptions (RFC 4568).
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PCMA, PCMU } from '../../../src/codecs/codec.js';
import { srtpKeys } from '../../../sip/media/media-path.js';
import type { CryptoSuite } from '../../../sip/sdp/media-keys.js';
import { SrtpReader } from '../../media/srtp-reader.js';
import { parseRtp } from '../../media/plane-under-test.js';
import { keyText, linesOf, refusalOf, valueOf } from '../sdp/negotiation-under-test.js';
import { agree, Phone, PLAIN, stage, type Leg } from './media-under-test.js';

const SECURE = { ...PLAIN, security: 'require', codecs: ['PCMU', 'PCMA'] } as const;
const MINUTE_MS = 60_000;

function pair(t: TestContext) {
  const held = stage(t);
  const [caller, callee] = [held.leg(SECURE), held.leg({ ...SECURE, codecs: ['PCMA', 'PCMU'] })];
  agree(caller, callee);
  return { ...held, caller, callee };
}

/** Of a leg: packets that were believed, and those that were not. */
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
  const playout = callee.told.ports[0]?.playout;
  const before = playout?.stats();
  caller.media.hold(true);
  agree(caller, callee);
  assert.deepEqual([callee.told.held, caller.told.held], [[true], []]);
  pass(15 * MINUTE_MS, 1000);
  const during = playout?.stats();
  assert.equal(during?.sequence, before?.sequence);
  assert.equal(during?.packets, before?.packets);
  caller.media.hold(false);
  agree(caller, callee);
  assert.deepEqual(callee.told.held, [true, false]);
  pass(2000);
  // All but the one that left in the last step.
  assert.deepEqual(heard(caller), { packets: (playout?.stats().packets ?? 0) - 1, loss: 0 });
  assert.equal(callee.told.ports.length, 1, 'it is the same playout');
  const ticks = ((playout?.stats().timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0;
  assert.equal(ticks, (15 * MINUTE_MS + 2000) * 8, 'time has gone on');
});

test('another codec in an encrypted call is believed at once, and the keys stay', (t) => {
  const { caller, callee, pass } = pair(t);
  pass(1000);
  agree(callee, caller); // who answers takes the codec that it likes better
  pass(1000);
  agree(caller, callee);
  pass(1000);
  for (const { told, media } of [caller, callee]) {
    assert.deepEqual(told.ports.map(({ codec }) => codec), [PCMA, PCMU, PCMA]); // prettier-ignore
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
  assert.equal(caller.told.ports.length, 1, 'our own keys stay');
});

test('where SRTP is demanded, nothing plain is believed and nothing plain agreed on', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg(SECURE);
  assert.equal(refusalOf(call.media.answer(phone.describe('0 101'))).status, 488);
  assert.equal(pass(100), 0);
  assert.deepEqual(call.told.ports, []);
});

test('a suite that was left is never taken up again with the source that it had', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...SECURE });
  const line = { 80: `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(7, 30)}`, 32: `a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:${keyText(7, 30)}` }; // prettier-ignore
  const sources: (number | undefined)[] = [];
  for (const tag of [80, 32, 80] as const) {
    valueOf(call.media.answer(phone.describe('0 101', [line[tag]], { profile: 'RTP/SAVP' })));
    const packets = (await phone.raw(pass(100))).map(({ data }) => data);
    sources.push(parseRtp({ atMs: 0, data: packets.at(-1) ?? new Uint8Array() }).ssrc);
  }
  assert.equal(sources[0], sources[1]);
  assert.notEqual(sources[2], sources[0]);
  assert.equal(call.told.ports.length, 3);
});
