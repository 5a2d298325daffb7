import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { PhoneBook } from '../../../sip/telephone/phone-book.js';
import { Transfers } from '../../../sip/telephone/transfers.js';
import { parseUri } from '../../../sip/message/uri.js';
import type { CallMedia } from '../../../sip/media/call-media.js';
import type { TransferAsked } from '../../../sip/session/session.js';
import { aCall, asMedia, FakeMedia, FakeSession, legOf, settled } from './fake-legs.js';

function putting(transfers: 'off' | 'any' = 'any') {
  const its = aCall();
  const [far, farMedia] = [new FakeSession(), new FakeMedia()];
  const failing: { error?: ParleyError } = {};
  let dials = 0;
  const checked: (readonly [to: string, owner: string | undefined])[] = [];
  let exchanged: (media: CallMedia) => void = () => undefined;
  const book = new PhoneBook(its.time);
  book.add(its.phone);
  const handler = new Transfers({
    config: { transfers },
    book,
    placing: {
      dial: (_target, seen) => {
        dials++;
        if (failing.error !== undefined) throw failing.error;
        exchanged = seen;
        return legOf(far, farMedia);
      },
      uriOf: (to, domain) => `sip:${to}@${domain}`,
      checkDestination: (to, owner) => {
        checked.push([to, owner]);
        throw new ParleyError('FORBIDDEN', 'not allowed');
      },
    },
    time: its.time,
    log: its.log,
  });
  handler.watch(its.phone);
  const seen: (string | number)[] = [];
  const asked: TransferAsked = {
    target: parseUri('sip:carol@there') ?? assert.fail(),
    replaces: undefined,
    referredBy: undefined,
    accept: () => seen.push('accept'),
    refuse: (status) => seen.push('refuse', status),
    notify: (status) => seen.push(status),
  };
  const ask = (): void => its.session.user.transferAsked?.(asked);
  return {
    ...its,
    handler,
    book,
    far,
    farMedia,
    failing,
    seen,
    ask,
    asked,
    dialled: () => dials,
    checked,
    exchange: (media: FakeMedia) => exchanged(asMedia(media)),
  };
}

void test('a caller is put through: told of progress, and the conversation goes on with the other media', async () => {
  const { time, ask, seen, far, farMedia, phone, call, media, session } = putting();
  media.onHeld?.(true);
  ask();
  farMedia.agree(); // before the call is carried by it
  far.user.progressed?.(180);
  far.establish();
  await settled();
  assert.deepEqual(seen, ['accept', 180, 200]);
  assert.deepEqual([session.asked, media.closed], [[], 0], 'whoever asked may leave first');
  time.advance(2000);
  await settled();
  assert.deepEqual(
    [phone.leg?.session, phone.state, session.asked, media.closed],
    [far, 'connected', ['hangUp'], 1],
  );
  assert.deepEqual(call.ports, [farMedia.port]);
  far.end({ by: 'peer' });
  await phone.over;
  assert.deepEqual([farMedia.closed, media.closed], [1, 1]);
});

void test('a target that holds from the beginning is held', () => {
  const { ask, far, farMedia, phone } = putting();
  ask();
  farMedia.held = true;
  far.establish();
  assert.equal(phone.state, 'held');
});

void test('a target that refuses leaves the call, and its media is closed', () => {
  const { ask, seen, far, farMedia, phone } = putting();
  ask();
  far.end({ by: 'rejected', status: 486 });
  assert.deepEqual([seen, farMedia.closed, phone.state], [['accept', 486], 1, 'connected']);
});

void test('a call that ends meanwhile takes the leg on its way along', async () => {
  const { ask, far, farMedia, phone } = putting();
  ask();
  await phone.end({ reason: 'we hung up' });
  await settled();
  assert.deepEqual([far.asked[0], farMedia.closed], ['hangUp', 1]);
});

void test('where another trunk brings another media, that is the one that counts', async () => {
  const { ask, far, farMedia, phone, call, exchange } = putting();
  ask();
  farMedia.agree();
  const second = new FakeMedia();
  exchange(second);
  second.agree();
  far.establish();
  assert.deepEqual([phone.leg?.media, call.ports], [second, [second.port]]);
  await phone.end({ reason: 'we hung up' });
  assert.equal(second.closed, 1);
});

void test('a second transfer of the same call is refused while the first is under way, whoever asks for it', () => {
  const { ask, asked, seen, far, phone, dialled } = putting();
  ask();
  ask();
  const [other, media] = [new FakeSession(), new FakeMedia()];
  other.state = 'confirmed';
  phone.carriedBy(legOf(other, media));
  other.user.transferAsked?.(asked);
  assert.deepEqual([seen, dialled()], [['accept', 'refuse', 491, 'refuse', 491], 1]);
  far.end({ by: 'rejected', status: 486 });
  far.state = 'inviting';
  other.user.transferAsked?.(asked);
  assert.deepEqual([seen.slice(5), dialled()], [[486, 'accept'], 2]);
});

void test('whoever leaves while a transfer is under way ends the call when nobody comes, though another had been tried before', async () => {
  const { ask, far, phone, session } = putting();
  ask();
  far.end({ by: 'rejected', status: 486 });
  far.state = 'inviting';
  ask();
  session.end({ by: 'peer' });
  await settled();
  assert.equal(phone.isOver, false);
  far.end({ by: 'rejected', status: 486 });
  assert.equal((await phone.over).reason, 'peer hung up');
});

void test('what cannot be dialled is refused, and where transfers are off all are', () => {
  const bad = putting();
  bad.failing.error = new ParleyError('INVALID_FIELD', 'no uri');
  bad.ask();
  const full = putting();
  full.failing.error = new ParleyError('CALL_LIMIT', 'full');
  full.ask();
  const off = putting('off');
  off.ask();
  assert.deepEqual(
    [bad.seen, full.seen, off.seen],
    [
      ['refuse', 400],
      ['refuse', 503],
      ['refuse', 603],
    ],
  );
});

void test('an application transfers blindly, or to another call by its dialog, and not to what is none', async () => {
  const { handler, book, phone, session } = putting();
  const other = aCall({ id: 'call-2', to: 'sip:dora@x' });
  book.add(other.phone);
  session.referred = { value: 486 };
  await handler.transfer(phone, { to: '200' });
  await handler.transfer(phone, { call: 'call-2' });
  assert.deepEqual(session.asked, ['refer sip:200@there', 'refer sip:far@there']);
  for (const [request, code] of [
    [{}, 'INVALID_FIELD'],
    [{ to: '1', call: 'call-2' }, 'INVALID_FIELD'],
    [{ call: 'call-1' }, 'WRONG_STATE'],
    [{ call: 'call-9' }, 'NOT_FOUND'],
  ] as const) {
    await assert.rejects(handler.transfer(phone, request), { code });
  }
});

void test('a limited transfer is refused for a destination that is not allowed, and others are not checked', async () => {
  const { handler, phone, checked, session } = putting();
  await assert.rejects(handler.transfer(phone, { to: '+1900', isLimited: true }), { code: 'FORBIDDEN' });
  assert.deepEqual([checked, session.asked], [[['+1900', phone.info.owner]], []]);
  void handler.transfer(phone, { to: '+1900' }).catch(() => undefined);
  assert.equal(checked.length, 1);
});
