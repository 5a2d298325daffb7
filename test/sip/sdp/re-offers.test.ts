import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LocalEnd } from '../../../sip/sdp/media-policy.js';
import { END, linesOf, negotiation, offerOf, POLICY, refusalOf, valueOf } from './negotiation-under-test.js';

const OFFER = offerOf('m=audio 5004 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/8000');

function versionOf(text: string): string | undefined {
  return linesOf(text, 'o=')[0]?.split(' ')[2];
}

test('a refresh with the same offer gets the same answer to the byte', () => {
  const session = negotiation();
  const first = valueOf(session.answer(OFFER));
  const again = valueOf(session.answer(OFFER));
  assert.equal(again.answer, first.answer);
  assert.deepEqual([...again.changes], []);
});

test('hold and resume: only the direction changes, and the version counts each change', () => {
  const session = negotiation();
  const answers = ['a=sendrecv', 'a=sendonly', 'a=sendonly', 'a=sendrecv'].map((line) =>
    valueOf(session.answer(offerOf('m=audio 5004 RTP/AVP 0', line))),
  );
  assert.deepEqual(
    answers.map(({ agreed }) => agreed.direction),
    ['sendrecv', 'recvonly', 'recvonly', 'sendrecv'],
  );
  assert.deepEqual(
    answers.map(({ answer }) => versionOf(answer)),
    ['1', '2', '2', '3'],
  );
  assert.deepEqual(
    answers.slice(1).map(({ changes }) => [...changes]),
    [['direction'], [], ['direction']],
  );
});

for (const [what, line, changes] of [
  ['another port', 'm=audio 6000 RTP/AVP 0 101', ['address']],
  ['another codec', 'm=audio 5004 RTP/AVP 8 101', ['codec', 'payload-types']],
  ['other events', 'm=audio 5004 RTP/AVP 0 96', ['payload-types']],
  ['no events', 'm=audio 5004 RTP/AVP 0', ['payload-types']],
] as const) {
  test(`a re-offer with ${what} tells that ${changes.join(' and ')} changed`, () => {
    const session = negotiation();
    session.answer(OFFER);
    const maps = ['a=rtpmap:101 telephone-event/8000', 'a=rtpmap:96 telephone-event/8000'];
    const { agreed, changes: seen } = valueOf(session.answer(offerOf(line, ...maps)));
    assert.deepEqual([...seen], changes);
    assert.equal(session.agreed, agreed);
  });
}

test('a payload type that meant something else is not used again for another codec', () => {
  const session = negotiation({ codecs: ['opus', 'G722'] });
  session.answer(offerOf('m=audio 5004 RTP/AVP 96', 'a=rtpmap:96 opus/48000/2'));
  const { answer, agreed } = valueOf(
    session.answer(offerOf('m=audio 5004 RTP/AVP 96', 'a=rtpmap:96 G722/8000')),
  );
  assert.equal(agreed.send.codec, 96, 'theirs is their business');
  assert.deepEqual([agreed.receive.codec, agreed.receivable.get(97)], [97, 'G722']);
  assert.deepEqual(linesOf(answer, 'a=rtpmap:'), ['97 G722/8000']);
  const back = valueOf(session.answer(offerOf('m=audio 5004 RTP/AVP 99', 'a=rtpmap:99 opus/48000/2')));
  assert.equal(back.agreed.receive.codec, 99);
});

test('our re-offer keeps the payload types of the answer and every section', () => {
  const session = negotiation({ codecs: ['PCMU', 'opus'] });
  session.answer(offerOf('m=video 5000 RTP/AVP 99', 'm=audio 5004 RTP/AVP 120', 'a=rtpmap:120 opus/48000/2'));
  const offer = valueOf(session.offer('sendonly'));
  assert.deepEqual(linesOf(offer, 'm='), ['video 0 RTP/AVP 99', 'audio 40000 RTP/AVP 120 0 13 96 97']);
  assert.ok(offer.includes('a=sendonly\r\n'));
  assert.equal(versionOf(offer), '2');
});

test('an offer of ours that is refused leaves everything as it was', () => {
  const session = negotiation();
  const { agreed } = valueOf(session.answer(OFFER));
  session.offer();
  assert.ok(session.offering);
  assert.equal(refusalOf(session.answer(OFFER)).status, 491, 'offers crossed');
  assert.equal(refusalOf(session.offer()).status, 491);
  session.withdraw();
  assert.equal(session.agreed, agreed);
  assert.deepEqual([...valueOf(session.answer(OFFER)).changes], []);
});

test('a re-offer that is refused leaves everything as it was', () => {
  const session = negotiation();
  const { agreed } = valueOf(session.answer(OFFER));
  assert.equal(refusalOf(session.answer(offerOf('m=image 5004 udptl t38'))).status, 488);
  assert.equal(refusalOf(session.answer('hello')).status, 400);
  assert.equal(session.agreed, agreed);
});

test('when our end moves, the answer names the new one and says that it changed', () => {
  const session = negotiation();
  session.answer(OFFER);
  const moved: LocalEnd = { ...END, ip4: '192.0.2.99', port: 41_000, rtcpPort: 41_001 };
  session.moveTo(moved);
  const { answer, changes } = valueOf(session.answer(OFFER));
  assert.deepEqual(linesOf(answer, 'c='), ['IN IP4 192.0.2.99']);
  assert.deepEqual([...changes], ['local-address']);
});

test('an offerless INVITE: everything we speak is offered, and the answer decides', () => {
  const session = negotiation({ security: 'off' });
  const offer = valueOf(session.offer());
  assert.deepEqual(linesOf(offer, 'm='), ['audio 40000 RTP/AVP 0 8 9 96 13 97 98']);
  assert.deepEqual(linesOf(offer, 'a=rtpmap:'), [
    '0 PCMU/8000',
    '8 PCMA/8000',
    '9 G722/8000',
    '96 opus/48000/2',
    '13 CN/8000',
    '97 telephone-event/8000',
    '98 telephone-event/48000',
  ]);
  const answer = offerOf(
    'm=audio 5004 RTP/AVP 8 9 100',
    'a=rtpmap:100 telephone-event/8000',
    'a=ptime:30',
    'a=sendonly',
  );
  const { agreed } = valueOf(session.accept(answer));
  assert.equal(agreed.codec, 'PCMA', 'what its sender prefers');
  assert.deepEqual(
    agreed.receivable,
    new Map([
      [8, 'PCMA'],
      [9, 'G722'],
    ]),
  );
  assert.deepEqual([agreed.send.telephoneEvent, agreed.receive.telephoneEvent], [100, 97]);
  assert.deepEqual([agreed.packetTimeMs, agreed.direction], [30, 'recvonly']);
});

test('an answer that names our payload type without its rtpmap is understood', () => {
  const session = negotiation({ security: 'off', codecs: ['opus'] });
  session.offer();
  const { agreed } = valueOf(session.accept(offerOf('m=audio 5004 RTP/AVP 96 98')));
  assert.deepEqual([agreed.codec, agreed.send], ['opus', { codec: 96 }]);
});

test('an answer with its own payload types: theirs to send, ours to receive', () => {
  const session = negotiation({ security: 'off', codecs: ['opus'] });
  session.offer();
  const answer = offerOf('m=audio 5004 RTP/AVP 107', 'a=rtpmap:107 opus/48000/2');
  const { agreed } = valueOf(session.accept(answer));
  assert.deepEqual([agreed.send.codec, agreed.receive.codec], [107, 96]);
});

for (const [what, lines] of [
  ['takes nothing', ['m=audio 0 RTP/AVP 0']],
  ['has no section at all', []],
  ['takes a codec that was not offered', ['m=audio 5004 RTP/AVP 18']],
] as const) {
  test(`an answer that ${what} is refused, and the offer is over`, () => {
    const session = negotiation({ security: 'off' });
    session.offer();
    assert.equal(refusalOf(session.accept(offerOf(...lines))).status, 488);
    assert.deepEqual([session.offering, session.agreed], [false, undefined]);
    assert.equal(refusalOf(session.accept(offerOf(...lines))).status, 400, 'an answer to nothing');
  });
}

test('one offer, answers of two phones: each has its own agreement', () => {
  const caller = negotiation({ ...POLICY, security: 'off' });
  caller.offer();
  const other = caller.fork();
  const first = valueOf(caller.accept(offerOf('m=audio 5004 RTP/AVP 0'))).agreed;
  const second = valueOf(other.accept(offerOf('m=audio 7004 RTP/AVP 8'))).agreed;
  assert.deepEqual([first.codec, first.remote.port], ['PCMU', 5004]);
  assert.deepEqual([second.codec, second.remote.port], ['PCMA', 7004]);
  assert.equal(caller.agreed, first);
});
