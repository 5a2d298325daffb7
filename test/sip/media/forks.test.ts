// Offers of ours and who answers them: late, early, several phones at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PCMA, PCMU } from '../../../src/codecs/codec.js';
import { linesOf, refusalOf, valueOf } from '../sdp/negotiation-under-test.js';
import { agree, Phone, PLAIN, portIn, stage } from './media-under-test.js';

test('the port of an offer is open before it is answered, and an answer in 183 is heard at once', async (t) => {
  const { leg, pass, ports, plane } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const offer = valueOf(call.media.offer());
  assert.equal(ports.counts(plane.nowMs).inUse, 1);
  assert.ok(portIn(offer) > 0);
  assert.deepEqual([call.media.offering, call.media.agreed], [true, false]);
  assert.equal(refusalOf(call.media.offer()).status, 491);
  valueOf(call.media.accept(phone.describe(), 'early'));
  assert.deepEqual([call.media.offering, call.media.agreed], [false, true]);
  await phone.packets(pass(100));
  // The 200 says the same once more, before and after the session has settled.
  valueOf(call.media.accept(phone.describe(), 'early'));
  call.media.settle('early');
  valueOf(call.media.accept(phone.describe(), 'early'));
  assert.equal(call.told.ports.length, 1);
});

test('of two phones that answer, the latest one is heard, and the one that has the call stays', async (t) => {
  const { leg, pass } = stage(t);
  const [first, second] = [await Phone.open(t), await Phone.open(t)];
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(first.describe('0 101'), 'one'));
  await first.packets(pass(60));
  valueOf(call.media.accept(second.describe('8 101'), 'two'));
  await second.packets(pass(60));
  assert.equal(first.waiting, 0);
  call.media.settle('one');
  const packets = await first.packets(pass(60));
  assert.deepEqual(call.told.ports.map(({ codec }) => codec), [PCMU, PCMA, PCMU]); // prettier-ignore
  assert.ok(packets.every(({ payloadType }) => payloadType === 0));
  assert.equal(refusalOf(call.media.accept(second.describe('8 101'), 'two')).status, 400);
  // Our next offer is answered by the one that is left.
  valueOf(call.media.offer());
  valueOf(call.media.accept(first.describe('0 101'), 'one'));
  assert.equal(second.waiting, 0);
});

test('the phone that takes the call may be one that had said nothing before', async (t) => {
  const { leg, pass } = stage(t);
  const [early, late] = [await Phone.open(t), await Phone.open(t)];
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(early.describe(), 'early'));
  call.media.settle('late');
  assert.ok(call.media.offering && !call.media.agreed);
  valueOf(call.media.accept(late.describe(), 'late'));
  await late.packets(pass(60));
  assert.equal(early.waiting, 0);
});

test('an answer that nobody can use leaves the offer to the other phones', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['PCMU'] });
  valueOf(call.media.offer());
  assert.equal(refusalOf(call.media.accept(phone.describe('18'), 'strange')).status, 488);
  assert.equal(refusalOf(call.media.accept(Buffer.from('nonsense'), 'broken')).status, 400);
  valueOf(call.media.accept(phone.describe('0'), 'good'));
  await phone.packets(pass(60));
});

test('an update in an early dialog stands, whatever the first answer says again later', async (t) => {
  const { leg, pass } = stage(t);
  const [first, moved] = [await Phone.open(t), await Phone.open(t)];
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(first.describe(), 'one'));
  valueOf(call.media.answer(moved.describe()));
  valueOf(call.media.accept(first.describe(), 'one'));
  call.media.settle('one');
  await moved.packets(pass(60));
  assert.equal(first.waiting, 0);
});

test('a late offer is ours, its answer comes with the ACK', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['G722', 'PCMU'] });
  assert.deepEqual(linesOf(valueOf(call.media.offer()), 'm=audio ')[0]?.split(' ').slice(2), ['9', '0', '96']); // prettier-ignore
  valueOf(call.media.accept(phone.describe('0 96', ['a=rtpmap:96 telephone-event/8000']), 'far'));
  await phone.packets(pass(60));
  valueOf(call.media.answer(phone.describe('9 101')));
  const packets = await phone.packets(pass(60));
  assert.equal(packets.at(-1)?.payloadType, 9);
});

test('an offer that was refused leaves everything as it was, and the next one may follow', (t) => {
  const { leg, pass } = stage(t);
  const [caller, callee] = [leg(), leg()];
  agree(caller, callee);
  caller.media.hold(true);
  const offer = valueOf(caller.media.offer());
  assert.equal(refusalOf(caller.media.answer(Buffer.from(offer))).status, 491, 'offers crossed');
  caller.media.withdraw();
  caller.media.hold(false);
  agree(caller, callee, 'a');
  agree(callee, caller, 'b');
  pass(100);
  assert.deepEqual([caller.told.ports.length, callee.told.ports.length, caller.told.held], [1, 1, []]); // prettier-ignore
});

test('a refused answer to a re-offer takes it back: another one may follow', async (t) => {
  const { leg } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  valueOf(call.media.offer());
  valueOf(call.media.accept(phone.describe(), 'a'));
  valueOf(call.media.offer());
  assert.equal(refusalOf(call.media.accept(phone.describe('18'), 'a')).status, 488);
  assert.ok(!call.media.offering);
  valueOf(call.media.offer());
});
