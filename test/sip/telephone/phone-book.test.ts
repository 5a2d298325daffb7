import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PhoneBook } from '../../../sip/telephone/phone-book.js';
import { aCall, settled } from './fake-legs.js';

void test('calls are listed newest first, found by their session, and forgotten ten minutes after they ended', async () => {
  const first = aCall();
  const { time } = first;
  const book = new PhoneBook(time);
  book.add(first.phone);
  const { session } = first.phone.leg ?? assert.fail();
  assert.equal(book.carriedBy(session), first.phone);
  await first.phone.end({ reason: 'we hung up' });
  await settled();
  assert.deepEqual([book.open.length, book.get('call-1').state, book.list().length], [0, 'ended', 1]);
  assert.equal(book.carriedBy(session), undefined);
  time.advance(599_999);
  assert.equal(book.list().length, 1);
  time.advance(1);
  assert.equal(book.list().length, 0);
  assert.throws(() => book.get('call-1'), { code: 'NOT_FOUND' });
});

void test('of calls that ended the latest thousand are known', async () => {
  const { time } = aCall();
  const book = new PhoneBook(time);
  for (let n = 0; n < 1002; n++) {
    const { phone } = aCall({ id: `call-${n}` });
    book.add(phone);
    await phone.end({ reason: 'we hung up' });
  }
  await settled();
  assert.equal(book.list().length, 1000);
  assert.throws(() => book.get('call-1'), { code: 'NOT_FOUND' });
  assert.equal(book.get('call-2').state, 'ended');
});
