import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Answering } from '../../../sip/telephone/answering.js';
import { parseMessage } from '../../../sip/message/parser.js';
import type { SipRequest } from '../../../sip/message/message.js';
import { readRoutingFile } from '../../../sip/routing-file.js';
import { RoutingTable } from '../../../sip/routing-table.js';

const FILE = {
  routes: [
    { name: 'sales', to: '100', say: { text: 'Sales.', voice: 'slt', after: 'hangup' } },
    { to: 'annc', announce: { mostCharacters: 20 } },
    { to: '9*', reject: { status: 403, cause: 21, text: 'Not from here' } },
    { to: 'agent', agent: 'reception' },
  ],
};

function invite(uri: string): SipRequest {
  const lines = [
    `INVITE ${uri} SIP/2.0`,
    'Via: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK1',
    'From: <sip:anna@a>;tag=a',
    `To: <sip:x@y>`,
    'Call-ID: 1',
    'CSeq: 1 INVITE',
    'Max-Forwards: 70',
  ];
  const parsed = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  assert.equal(parsed.kind, 'request');
  return (parsed as { request: SipRequest }).request;
}

function answer(uri: string, file: unknown = FILE) {
  const { table } = readRoutingFile(JSON.stringify(file));
  return new Answering(table ?? new RoutingTable([]), { text: 'Hello.' }).to(invite(uri));
}

void test('the first rule that fits says what is spoken, and how the call goes on', () => {
  assert.deepEqual(answer('sip:100@parley'), {
    route: 'sales',
    prelude: { ringMs: 0 },
    what: { value: { speech: { text: 'Sales.', voice: 'slt' }, after: 'hangup' } },
  });
});

void test('where no rule fits the greeting is spoken', () => {
  assert.deepEqual(answer('sip:200@parley'), {
    route: 'greeting',
    prelude: { ringMs: 0 },
    what: { value: { speech: { text: 'Hello.' }, after: 'stay' } },
  });
});

void test('a rule may refuse, and the cause goes into Reason', () => {
  const { refusal } = answer('sip:911@parley').what;
  assert.equal(refusal?.status, 403);
  assert.deepEqual(refusal.headers, [['Reason', 'Q.850;cause=21;text="Not from here"']]);
});

void test('an announcement is the text in the request, within its limit', () => {
  assert.deepEqual(answer('sip:annc@parley;text=Mind%20the%20gap').what, {
    value: { speech: { text: 'Mind the gap' }, after: 'hangup' },
  });
  assert.equal(answer(`sip:annc@parley;text=${'a'.repeat(21)}`).what.refusal?.status, 414);
  assert.deepEqual(answer('sip:annc@parley').what.value?.speech, { text: 'Hello.' });
});

void test('an agent that is not connected cannot take a call', () => {
  assert.equal(answer('sip:agent@parley').what.refusal?.status, 480);
});

void test('what is heard before the answer is as the rule says, in the voice of the answer', () => {
  const prelude = (rule: object) => answer('sip:100@parley', { routes: [rule] }).prelude;
  const say = { text: 'Sales.', voice: 'slt' };
  assert.deepEqual(prelude({ ring: 3, say }), { ringMs: 3000 });
  assert.deepEqual(prelude({ ring: 3, early: true, say }), {
    ringMs: 3000,
    early: { speech: say, whole: false },
  });
  const early = { speech: { text: 'One moment.', voice: 'slt' }, whole: true };
  assert.deepEqual(prelude({ early: true, earlyText: 'One moment.', say }), { ringMs: 0, early });
  const announcement = { text: 'Gone.' };
  assert.deepEqual(prelude({ reject: { status: 404, announcement } }), {
    ringMs: 0,
    early: { speech: announcement, whole: true },
  });
  assert.deepEqual(prelude({ ring: 3, agent: 'reception' }), { ringMs: 0 }, 'what is refused does not ring');
});
