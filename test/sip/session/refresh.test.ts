// Session timers over half an hour and more, in both roles.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeaderLine } from '../../../sip/message/serialiser.js';
import { CALLEE, CALLER } from '../transaction/users.js';
import { requestsTo, Told, TwoEnds } from './two-ends.js';

const TIMER: HeaderLine = ['Supported', 'timer'];
const MINUTE = 60_000;

function talking(headers: readonly HeaderLine[], options = {}) {
  const ends = new TwoEnds(options);
  let told = new Told();
  ends.act = (session) => (told = ends.accept(session));
  const call = ends.call({ headers });
  return { ends, call, told: () => told };
}

void test('the callee refreshes at half the interval by UPDATE, and the call goes on for 30 minutes', async () => {
  const { ends, told } = talking([TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(30 * MINUTE, 1000);
  const updates = requestsTo(ends.network, CALLEE, 'UPDATE');
  assert.equal(updates.length, 5); // at 5, 10, 15, 20 and 25 minutes; the sixth is due
  assert.match(updates[0] ?? '', /\r\nSession-Expires: 600;refresher=uac\r\n/);
  assert.match(updates[0] ?? '', /Content-Length: 0/);
  assert.deepEqual(requestsTo(ends.network, CALLER, 'UPDATE'), []);
  assert.deepEqual(told().events, ['established']);
});

void test('the caller refreshes, and the callee answers with the same roles', async () => {
  const { ends, call, told } = talking([TIMER, ['Session-Expires', '600;refresher=uac']]);
  await ends.network.pass(31 * MINUTE, 1000);
  assert.equal(requestsTo(ends.network, CALLER, 'UPDATE').length, 6);
  assert.deepEqual(requestsTo(ends.network, CALLEE, 'UPDATE'), []);
  assert.equal(call.inDialog.timer.running?.refresher, 'us');
  assert.deepEqual(told().events, ['established']);
});

void test('a peer that has named no UPDATE is refreshed by re-INVITE', async () => {
  const allow: HeaderLine = ['Allow', 'INVITE, ACK, BYE, CANCEL'];
  const { ends, call, told } = talking([TIMER, allow, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(6 * MINUTE, 1000);
  assert.equal(requestsTo(ends.network, CALLEE, 'INVITE').length, 1);
  assert.equal(call.inDialog.timer.running?.intervalSeconds, 600);
  assert.deepEqual(told().events, ['established']);
});

void test('nobody refreshes: the call ends with BYE before its time', async () => {
  const { ends, call, told } = talking([TIMER, ['Session-Expires', '600;refresher=uac']]);
  await ends.network.pass(MINUTE, 1000);
  call.inDialog.timer.close(); // the caller is there, but does not refresh
  await ends.network.pass(10 * MINUTE, 1000);
  assert.deepEqual(told().end, { by: 'expired' });
  assert.equal(call.told.end?.reason?.text, 'session timer expired');
});

void test('a refresh that gets no answer ends the call', async () => {
  const { ends, told } = talking([TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  ends.network.loses = (text) => text.startsWith('UPDATE');
  await ends.network.pass(6 * MINUTE, 1000);
  assert.deepEqual(told().end, { by: 'transport', status: 408 });
});

void test('a refresh that is refused for now is tried again', async () => {
  const { ends, call, told } = talking([TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  let refusals = 0;
  const request = call.inDialog.request.bind(call.inDialog);
  call.inDialog.request = (asked, transaction) => {
    if (asked.method === 'UPDATE' && refusals++ === 0) transaction.respond({ status: 500 });
    else request(asked, transaction);
  };
  await ends.network.pass(14 * MINUTE, 1000);
  assert.ok(refusals >= 2);
  assert.deepEqual(told().events, ['established']);
});

void test('a peer that refuses UPDATE after all gets re-INVITEs with the same description', async () => {
  const { ends, call, told } = talking([TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  const request = call.inDialog.request.bind(call.inDialog);
  call.inDialog.request = (asked, transaction) => {
    if (asked.method === 'UPDATE') transaction.respond({ status: 501 });
    else request(asked, transaction);
  };
  await ends.network.pass(15 * MINUTE, 1000);
  assert.equal(requestsTo(ends.network, CALLEE, 'UPDATE').length, 1);
  const descriptions = requestsTo(ends.network, CALLEE, 'INVITE').map((text) =>
    text.slice(text.indexOf('\r\n\r\n')),
  );
  assert.equal(descriptions.length, 3);
  assert.equal(new Set(descriptions).size, 1); // with the version of the description: there is nothing new to read
  assert.deepEqual(told().events, ['established']);
});

void test('an interval that the peer finds too short is asked for longer', async () => {
  const { ends, call, told } = talking([TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  let refusals = 0;
  const request = call.inDialog.request.bind(call.inDialog);
  call.inDialog.request = (asked, transaction) => {
    if (asked.method === 'UPDATE' && refusals++ === 0) transaction.respond({ status: 422, headers: [['Min-SE', '900']] });
    else request(asked, transaction);
  };
  await ends.network.pass(5 * MINUTE, 1000);
  assert.match(requestsTo(ends.network, CALLEE, 'UPDATE').at(-1) ?? '', /\r\nSession-Expires: 900;.*\r\nMin-SE: 900\r\n/);
  assert.deepEqual(told().events, ['established']);
}); // prettier-ignore

void test('a call whose interval is too short is refused before it rings', async () => {
  const ends = new TwoEnds();
  const call = ends.call({ headers: [TIMER, ['Session-Expires', '60']] });
  await ends.network.pass(100);
  assert.deepEqual(call.statuses, [422]);
  assert.equal(call.responses[0]?.first('min-se'), '90');
  assert.equal(ends.invited.length, 0);
});
