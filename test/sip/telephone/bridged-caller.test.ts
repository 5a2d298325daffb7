// The caller's side of a bridge that a rule makes, down to the responses that it gets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgedCaller } from '../../../sip/telephone/bridged-caller.js';
import { PhoneCall } from '../../../sip/telephone/phone-call.js';
import type { PhoneCallEnd } from '../../../src/call/phone-calls.js';
import { ParleyError } from '../../../src/errors.js';
import { asMedia, asSession, callSurroundings, FakeMedia, FakeSession } from './fake-legs.js';

function caller() {
  const [session, media] = [new FakeSession(), new FakeMedia()];
  const info = { id: 'call-1', direction: 'inbound', to: 'sip:desk@here', from: 'sip:anna@there' } as const;
  const phone = new PhoneCall(info, callSurroundings());
  phone.carriedBy({ session: asSession(session), media: asMedia(media) });
  return { session, phone, bridged: new BridgedCaller(phone, asSession(session), asMedia(media)) };
}

void test('a caller rings, hears early media, and does not ring any more after it', () => {
  const { session, bridged } = caller();
  bridged.ring();
  bridged.openEarly();
  bridged.openEarly();
  bridged.ring();
  bridged.answer();
  assert.deepEqual(session.asked, ['ring', 'progress', 'accept']);
});

const ENDS: readonly (readonly [end: PhoneCallEnd, response: string])[] = [
  [{ reason: 'rejected', status: 486 }, '486'],
  [{ reason: 'rejected', status: 600, cause: 17 }, '600 Reason=Q.850;cause=17'],
  [{ reason: 'rejected', status: 404 }, '404'],
  [{ reason: 'rejected', status: 482 }, '482'],
  [{ reason: 'rejected', status: 407 }, '480'],
  [{ reason: 'rejected', status: 488 }, '480'],
  [{ reason: 'rejected', status: 503 }, '500'],
  [{ reason: 'rejected', status: 504 }, '504'],
  [{ reason: 'rejected', status: 606 }, '603'],
  [{ reason: 'rejected', status: 302 }, '480'],
  [{ reason: 'no answer', status: 408 }, '480 Reason=Q.850;cause=19'],
  [{ reason: 'failed' }, '502'],
  [{ reason: 'failed', status: 503 }, '502'],
  [{ reason: 'peer hung up' }, '480'],
  [{ reason: 'server closing' }, '503 Retry-After=5'],
];

for (const [end, response] of ENDS) {
  void test(`a far end that ended with ${JSON.stringify(end)} refuses the caller with ${response}`, () => {
    const { session, bridged } = caller();
    bridged.refuse(end);
    assert.deepEqual(session.asked[0], `reject ${response}`);
  });
}

const ERRORS: readonly (readonly [error: ParleyError, response: string])[] = [
  [new ParleyError('FORBIDDEN', 'not allowed', { field: 'to' }), '403'],
  [new ParleyError('INVALID_FIELD', 'no address', { field: 'to' }), '404'],
  [new ParleyError('NOT_FOUND', 'no such sound', { field: 'music' }), '500'],
  [new ParleyError('RATE_LIMITED', 'too many', { retryAfterSeconds: 60 }), '503 Retry-After=60'],
  [new ParleyError('CALL_LOOP', 'a circle', { field: 'to' }), '482'],
  [new ParleyError('CALL_STATE', 'hears nothing'), '488'],
];

for (const [error, response] of ERRORS) {
  void test(`a far end that cannot be called (${error.code}, ${error.field}) refuses with ${response}`, () => {
    const { session, bridged } = caller();
    bridged.refuse(error);
    assert.deepEqual(session.asked[0], `reject ${response}`);
  });
}

void test('a far end that leaves before the caller has acknowledged has the caller hung up', async () => {
  const { session, phone, bridged } = caller();
  bridged.answer();
  bridged.refuse({ reason: 'peer hung up' });
  assert.equal((await phone.over).reason, 'we hung up');
  assert.deepEqual(session.asked, ['accept', 'hangUp Normal call clearing']);
});
