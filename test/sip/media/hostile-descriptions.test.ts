// Well-formed descriptions that name values which no media can use: each is refused, or accepted without the
// value, and the call goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DtlsCertificate } from '../../../src/media/dtls-association.js';
import type { MediaPlane } from '../../../src/media/media-plane.js';
import { linesOf, refusalOf, valueOf } from '../sdp/negotiation-under-test.js';
import { Phone, PLAIN, portIn, stage } from './media-under-test.js';
import { event, rtp } from '../../media/plane-under-test.js';
import { SILENT_LOG } from '../../../src/log.js';

test('the last port of all has no port after it: sound goes there, and reports with it', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  valueOf(call.media.answer(phone.describe()));
  valueOf(call.media.answer(phone.describe('0 101', [], { port: 65_535 })));
  assert.equal(call.media.quality?.remote.port, 65_535);
  valueOf(call.media.answer(phone.describe('0 101', ['a=rtcp:65535'], { port: 65_534 })));
  assert.equal(call.media.quality?.remote.port, 65_534);
});

for (const clock of ['0', '500', '999', '192001', '999999']) {
  test(`events of ${clock} Hz are no events, and the codec beside them is spoken`, async (t) => {
    const { leg, pass } = stage(t);
    const phone = await Phone.open(t);
    const call = leg();
    const offer = phone.describe('0 97', [`a=rtpmap:97 telephone-event/${clock}`]);
    const answer = valueOf(call.media.answer(offer));
    assert.match(answer, /^m=audio \d+ RTP\/AVP 0\r$/m);
    await phone.packets(pass(100));
    assert.ok(!call.media.press('1', 100, 60));
  });
}

test('events of a clock that can be are taken although others cannot', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const maps = ['a=rtpmap:97 telephone-event/500', 'a=rtpmap:98 telephone-event/16000'];
  const answer = valueOf(leg().media.answer(phone.describe('0 97 98', maps)));
  assert.deepEqual(linesOf(answer, 'a=rtpmap:98 '), ['telephone-event/16000']);
});

test('a key that is longer than the clock of the events can say is pressed for as long as it can', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['PCMU', 'opus'] });
  const slow = ['a=rtpmap:97 telephone-event/192000'];
  valueOf(call.media.answer(phone.describe('0 101')));
  for (const digit of ['1', '2']) assert.ok(call.media.press(digit, 5000, 100));
  pass(40);
  valueOf(call.media.answer(phone.describe('0 97', slow)));
  await phone.packets(pass(1000));
  assert.ok(call.media.press('3', 5000, 100));
});

for (const [what, session, lines] of [
  ['of the sound', 'fe80::1%1', []],
  ['of the reports', '::1', ['a=rtcp:5005 IN IP6 fe80::1%1']],
] as const) {
  test(`an address ${what} with a zone means nothing to anybody else`, async (t) => {
    const { leg } = stage(t, { address: '::1' });
    const phone = await Phone.open(t);
    const call = leg(PLAIN, { addresses: { ip6: '::1' } });
    const offer = phone
      .describe('0 101', lines)
      .toString()
      .replace(/^c=.*$/m, `c=IN IP6 ${session}`);
    const answered = call.media.answer(Buffer.from(offer));
    if (session === '::1') assert.match(valueOf(answered), /^c=IN IP6 ::1\r$/m);
    else assert.equal(refusalOf(answered).status, 488);
  });
}

test('of more fingerprints than anybody has, those beyond the limit are not kept', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const certificate = DtlsCertificate.make();
  t.after(() => certificate.close());
  const call = leg({ ...PLAIN, security: 'require', keyings: ['dtls'] }, { certificate });
  const digests = Array.from({ length: 100 }, (_, n) =>
    Array(32).fill(n.toString(16).padStart(2, '0')).join(':'),
  );
  const lines = ['a=setup:active', ...digests.map((digest) => `a=fingerprint:sha-256 ${digest}`)];
  valueOf(call.media.answer(phone.describe('0 101', lines, { profile: 'UDP/TLS/RTP/SAVP' })));
  call.media.close();
});

test('media that throws when it is to follow refuses the offer with 500: a call that stood is told of its end', async (t) => {
  const { leg, plane, pass } = stage(t);
  const phone = await Phone.open(t);
  let broken = false;
  const openSocket: MediaPlane['openSocket'] = (options) => {
    const socket = plane.openSocket(options);
    const { learn } = socket;
    socket.learn = (where) => {
      if (broken) throw new RangeError('port must be from 0 to 65535');
      learn.call(socket, where);
    };
    return socket;
  };
  const warned: unknown[] = [];
  const log = { ...SILENT_LOG, warn: (fields: object) => warned.push(fields) };
  const call = leg(PLAIN, { plane: { openSocket, openStream: plane.openStream.bind(plane) }, log });
  const failures: string[] = [];
  call.media.onFailed = ({ message }) => failures.push(message);
  broken = true;
  assert.equal(refusalOf(call.media.answer(phone.describe())).status, 500);
  assert.ok(!call.media.agreed);
  assert.deepEqual(failures, [], 'a call that never stood is refused, and that is all');
  broken = false;
  valueOf(call.media.answer(phone.describe()));
  const port = portIn(valueOf(call.media.answer(phone.describe())));
  broken = true;
  assert.equal(refusalOf(call.media.answer(phone.describe('8 101'))).status, 500);
  assert.equal(failures.length, 1);
  assert.equal(warned.length, 2);
  await phone.send(rtp({ sequence: 1, timestamp: 160 }), port);
  pass(100);
});

test('media that meets a defect when something comes in is told of as failed', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const failures: string[] = [];
  call.media.onFailed = ({ message }) => failures.push(message);
  call.media.onDigit = () => {
    throw new RangeError('a defect');
  };
  const port = portIn(valueOf(call.media.answer(phone.describe())));
  await phone.send(rtp({ payloadType: 101, sequence: 1, timestamp: 0, payload: event(5, 800, true) }), port);
  assert.throws(() => pass(1000), RangeError);
  assert.deepEqual(failures, ['a defect']);
});
