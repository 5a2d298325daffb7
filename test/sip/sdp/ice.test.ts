// ICE-lite in offers and answers (RFC 8839), and what else browsers need.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromiumOffer, offerWith } from '../../signaling/chromium-offer.js';
import type { LocalEnd, MediaPolicy } from '../../../sip/sdp/media-policy.js';
import { FINGERPRINT, linesOf, negotiation, offerOf, valueOf } from './negotiation-under-test.js';

const PRINT = `a=fingerprint:sha-256 ${FINGERPRINT.digest}`;
const SECRET = ['a=ice-ufrag:abcd', 'a=ice-pwd:abcdefghijklmnopqrstuv'];
const NOWHERE = 'c=IN IP4 0.0.0.0';
const HOST = 'a=candidate:1 1 UDP 2130706431 198.51.100.7 5004 typ host';

const session = (policy: Partial<MediaPolicy> = {}, end: Partial<LocalEnd> = {}) =>
  negotiation({ codecs: ['opus', 'PCMU'], keyings: ['dtls', 'sdes'], ...policy }, { ice: true, ...end });

const secured = (...lines: readonly string[]) =>
  offerOf('m=audio 5004 UDP/TLS/RTP/SAVPF 0', PRINT, 'a=setup:actpass', 'a=rtcp-mux', ...lines);

test('the offer of Chromium is answered as Chromium wants it', () => {
  const { answer, agreed } = valueOf(session().answer(chromiumOffer()));
  assert.equal(
    answer.replace(/^(o=parley )\d+/m, '$1X'),
    [
      'v=0',
      'o=parley X 1 IN IP4 192.0.2.1',
      's=-',
      'c=IN IP4 192.0.2.1',
      't=0 0',
      'a=ice-lite',
      'a=ice-options:ice2',
      'a=group:BUNDLE 0',
      'm=audio 40000 UDP/TLS/RTP/SAVPF 111 110',
      'a=mid:0',
      'a=rtpmap:111 opus/48000/2',
      'a=fmtp:111 stereo=0;useinbandfec=1',
      'a=rtpmap:110 telephone-event/48000',
      'a=fmtp:110 0-15',
      'a=ptime:20',
      'a=sendonly',
      'a=rtcp-mux',
      `a=fingerprint:sha-256 ${FINGERPRINT.digest}`,
      'a=setup:active',
      `a=ice-ufrag:${agreed.ice?.localUfrag ?? ''}`,
      `a=ice-pwd:${agreed.ice?.localPwd ?? ''}`,
      'a=candidate:1 1 UDP 2130706431 192.0.2.1 40000 typ host',
      'a=candidate:2 1 UDP 2130706175 2001:db8::1 40000 typ host',
      'a=end-of-candidates',
      'm=application 0 UDP/DTLS/SCTP webrtc-datachannel',
      'a=mid:1',
      '',
    ].join('\r\n'),
  );
  assert.equal(agreed.ice?.remoteUfrag, '/e6n');
  assert.equal(agreed.ice.remotePwd, 'ewvFVijD6pPw60nPV7LPjKmb');
  assert.match(agreed.ice.localUfrag, /^[A-Za-z0-9+/]{8}$/);
  assert.match(agreed.ice.localPwd, /^[A-Za-z0-9+/]{24}$/);
  assert.deepEqual([agreed.mid, agreed.bundled], ['0', true]);
});

test('an offer without names and bundle is answered without them', () => {
  const { answer, agreed } = valueOf(session().answer(secured(...SECRET)));
  assert.deepEqual([linesOf(answer, 'a=mid:'), linesOf(answer, 'a=group:')], [[], []]);
  assert.equal(agreed.mid, undefined);
  assert.ok(agreed.ice !== undefined);
});

test('a section that stands in no bundle is not put into one', () => {
  const { answer } = valueOf(
    session().answer(offerWith('a=group:BUNDLE', 'a=group:LS 0 1', 'a=group:BUNDLE 1')),
  );
  assert.deepEqual([linesOf(answer, 'a=group:'), linesOf(answer, 'a=mid:')], [[], ['0', '1']]);
});

test('reports on a port of their own have a candidate of their own', () => {
  const { answer } = valueOf(session({ rtcpMux: false }).answer(secured(...SECRET)));
  assert.deepEqual(linesOf(answer, 'a=candidate:'), [
    '1 1 UDP 2130706431 192.0.2.1 40000 typ host',
    '1 2 UDP 2130706430 192.0.2.1 40001 typ host',
    '2 1 UDP 2130706175 2001:db8::1 40000 typ host',
    '2 2 UDP 2130706174 2001:db8::1 40001 typ host',
  ]);
});

for (const [what, lines] of [
  ['no password', ['a=ice-ufrag:abcd']],
  ['a password that is too short', ['a=ice-ufrag:abcd', 'a=ice-pwd:abcdefghijklmnopqrstu']],
  ['a name with other letters', ['a=ice-ufrag:ab-d', 'a=ice-pwd:abcdefghijklmnopqrstuv']],
  ['a mismatch that the peer found', [...SECRET, 'a=ice-mismatch']],
  ['an address that somebody has changed', [...SECRET, HOST.replace('5004', '5005')]],
] as const) {
  test(`${what}: there is no ICE`, () => {
    const { answer, agreed } = valueOf(session().answer(secured(...lines)));
    assert.equal(agreed.ice, undefined);
    assert.deepEqual([linesOf(answer, 'a=ice'), linesOf(answer, 'a=candidate')], [[], []]);
    assert.equal(agreed.direction, 'sendrecv');
  });
}

for (const [what, lines] of [
  ['its address among the candidates', [...SECRET, 'a=candidate:2 1 tcp 1 192.0.2.9 9 typ host', HOST]],
  ['no address yet', [...SECRET, NOWHERE, HOST]],
  ['no candidates yet', SECRET],
] as const) {
  test(`${what}: there is ICE`, () => {
    assert.ok(valueOf(session().answer(secured(...lines))).agreed.ice !== undefined);
  });
}

test('another one that is lite sends no checks, so there is no ICE', () => {
  const offer = secured(...SECRET, HOST).replace('t=0 0', 't=0 0\r\na=ice-lite');
  assert.equal(valueOf(session().answer(offer)).agreed.ice, undefined);
});

test('where we have no ICE, an offer with it is answered without, and zeros mean that nothing is sent', () => {
  const { answer, agreed } = valueOf(session({}, { ice: false }).answer(chromiumOffer()));
  assert.deepEqual([linesOf(answer, 'a=ice'), agreed.ice], [[], undefined]);
  assert.equal(agreed.direction, 'inactive');
});

test('the same offer again changes nothing; a restart changes the secrets of both and nothing else', () => {
  const call = session();
  const first = valueOf(call.answer(secured(...SECRET)));
  const again = valueOf(call.answer(secured(...SECRET)));
  assert.equal(again.answer, first.answer);
  assert.deepEqual([...again.changes], []);
  const restart = valueOf(call.answer(secured('a=ice-ufrag:efgh', 'a=ice-pwd:ABCDEFGHIJKLMNOPQRSTUV')));
  assert.deepEqual([...restart.changes], ['ice']);
  assert.equal(restart.agreed.ice?.remoteUfrag, 'efgh');
  assert.notEqual(restart.agreed.ice.localUfrag, first.agreed.ice?.localUfrag);
  assert.notEqual(restart.agreed.ice.localPwd, first.agreed.ice?.localPwd);
  const tls = ['a=fingerprint:', 'a=setup:'];
  assert.deepEqual(
    tls.flatMap((name) => linesOf(restart.answer, name)),
    tls.flatMap((name) => linesOf(first.answer, name)),
  );
});

test('a peer that gives up ICE in a re-offer is talked to without', () => {
  const call = session();
  valueOf(call.answer(secured(...SECRET)));
  const { answer, agreed, changes } = valueOf(call.answer(secured()));
  assert.deepEqual([linesOf(answer, 'a=ice'), agreed.ice, [...changes]], [[], undefined, ['ice']]);
});

const OFFERING = { offerIce: true, security: 'require' } as const;

test('our offer has ICE where the policy says so and there is an end for it', () => {
  const offer = valueOf(session(OFFERING).offer());
  assert.deepEqual(linesOf(offer, 'a=ice-lite'), ['']);
  assert.deepEqual(linesOf(offer, 'a=group:'), ['BUNDLE 0']);
  assert.deepEqual(linesOf(offer, 'a=mid:'), ['0']);
  assert.match(linesOf(offer, 'm=')[0] ?? '', /^audio 40000 UDP\/TLS\/RTP\/SAVPF /);
  assert.equal(linesOf(offer, 'a=candidate:').length, 2);
  for (const without of [session({ ...OFFERING, offerIce: false }), session(OFFERING, { ice: false })]) {
    const plain = valueOf(without.offer());
    assert.deepEqual(
      [linesOf(plain, 'a=ice'), linesOf(plain, 'a=candidate'), linesOf(plain, 'a=mid')],
      [[], [], []],
    );
    assert.match(linesOf(plain, 'm=')[0] ?? '', /^audio 40000 UDP\/TLS\/RTP\/SAVP /);
  }
});

test('an answer with ICE settles it, and our next offer is the same in it', () => {
  const call = session(OFFERING);
  const offer = valueOf(call.offer());
  const lines = ['m=audio 5004 UDP/TLS/RTP/SAVPF 0', PRINT, 'a=setup:active', 'a=rtcp-mux', 'a=mid:0'];
  const answer = offerOf(...lines, ...SECRET).replace('t=0 0', 't=0 0\r\na=group:BUNDLE 0');
  const { agreed } = valueOf(call.accept(answer));
  assert.deepEqual(agreed.ice, {
    localUfrag: linesOf(offer, 'a=ice-ufrag:')[0],
    localPwd: linesOf(offer, 'a=ice-pwd:')[0],
    remoteUfrag: 'abcd',
    remotePwd: 'abcdefghijklmnopqrstuv',
  });
  const next = valueOf(call.offer());
  for (const name of ['a=ice', 'a=candidate', 'a=mid', 'a=group', 'a=end'])
    assert.deepEqual(linesOf(next, name), linesOf(offer, name));
});

test('an answer without ICE leaves it out from then on', () => {
  const call = session(OFFERING);
  valueOf(call.offer());
  const lines = ['m=audio 5004 UDP/TLS/RTP/SAVPF 0', PRINT, 'a=setup:active'];
  assert.equal(valueOf(call.accept(offerOf(...lines))).agreed.ice, undefined);
  assert.deepEqual(linesOf(valueOf(call.offer()), 'a=ice'), []);
});

test('two phones that answer one offer know us by the same secrets', () => {
  const call = session(OFFERING);
  const offer = valueOf(call.offer());
  const lines = ['m=audio 5004 UDP/TLS/RTP/SAVPF 0', PRINT, 'a=setup:active', ...SECRET];
  const secrets = [call.fork(), call.fork()].map(
    (fork) => valueOf(fork.accept(offerOf(...lines))).agreed.ice?.localPwd,
  );
  assert.deepEqual(secrets, [linesOf(offer, 'a=ice-pwd:')[0], linesOf(offer, 'a=ice-pwd:')[0]]);
});
