import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { parseMessage, type SipRequest } from '../../../sip/message/message.js';
import { parseNameAddr, parseUri } from '../../../sip/message/uri.js';
import { readRoutingFile } from '../../../sip/routing-file.js';
import { Pattern, RoutingTable } from '../../../sip/routing-table.js';
import { announcementIn, Answering } from '../../../sip/telephone/answering.js';
import { RELAY } from '../../api/relay/connect-relay.js';
import { ROUTING } from './fake-legs.js';

const FILE = {
  routes: [
    { name: 'sales', to: '100', say: { text: 'Sales.', voice: 'slt', after: 'hangup' } },
    { to: 'annc', announce: { mostCharacters: 20 } },
    { to: '9*', reject: { status: 403, cause: 21, text: 'Not from here' } },
    { to: 'agent', agent: 'reception' },
  ],
};

function invite(uri: string, hops = 70): SipRequest {
  const lines = [
    `INVITE ${uri} SIP/2.0`,
    'Via: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK1',
    'From: <sip:anna@a>;tag=a',
    `To: <sip:x@y>`,
    'Call-ID: 1',
    'CSeq: 1 INVITE',
    `Max-Forwards: ${hops}`,
  ];
  const parsed = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  assert.equal(parsed.kind, 'request');
  return (parsed as { request: SipRequest }).request;
}

function answer(uri: string, file: unknown = FILE) {
  const { table } = readRoutingFile(JSON.stringify(file), ROUTING);
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

void test('an agent takes the calls of its rule, and the usual one those that fit no rule', () => {
  const { table: routes = assert.fail() } = readRoutingFile(JSON.stringify(FILE), ROUTING);
  const agents = { usual: 'sales', has: (name: string) => name === 'reception' };
  const answering = new Answering(routes, { text: 'Hello.' }, 2000, agents);
  assert.deepEqual(answering.to(invite('sip:agent@parley')), {
    route: 'route 4',
    prelude: { ringMs: 0 },
    what: { value: { agent: 'reception', after: 'stay' } },
  });
  assert.deepEqual(answering.to(invite('sip:200@parley')), {
    route: 'agent',
    prelude: { ringMs: 2000 },
    what: { value: { agent: 'sales', after: 'stay' } },
  });
});

void test('a server without agents refuses the calls of an agent', () => {
  assert.equal(answer('sip:agent@parley').what.refusal?.status, 480);
});

void test('an application that the answer for one call names is connected, and a file names none', () => {
  const relay = { ...RELAY, url: 'wss://bot.example.com/' };
  const route = { name: 'incoming', headers: new Map(), answer: { kind: 'relay', relay } } as const;
  const agents = { usual: undefined, has: () => false };
  const answering = new Answering(new RoutingTable([]), { text: 'Hello.' }, 0, agents);
  assert.deepEqual(answering.by(route, invite('sip:200@parley')).what, { value: { relay, after: 'stay' } });
  const alone = new Answering(new RoutingTable([]), { text: 'Hello.' });
  assert.equal(alone.by(route, invite('sip:200@parley')).what.refusal?.status, 480);
  const file = JSON.stringify({ routes: [{ relay: { url: relay.url } }] });
  assert.match(readRoutingFile(file, ROUTING).problems?.[0] ?? '', /^routes\[0\]: "relay" is none of/);
});

void test('a rule for an agent that there is not is a mistake of the file', () => {
  const file = JSON.stringify({ routes: [{ agent: 'reception' }] });
  assert.deepEqual(readRoutingFile(file, { ...ROUTING, isAgent: () => false }).problems, [
    'routes[0].agent names "reception", which is no agent of this server; AGENTS_FILE lists them',
  ]);
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

function table(...routes: readonly object[]): RoutingTable {
  const file = readRoutingFile(JSON.stringify({ routes }), ROUTING);
  assert.deepEqual(file.problems, undefined);
  return file.table as RoutingTable;
}

function routed(
  routes: RoutingTable,
  to: string,
  from = 'sip:alice@a.example',
  headers: Record<string, string[]> = {},
) {
  const [uri, caller] = [parseUri(to), parseNameAddr(`<${from}>`)];
  assert.ok(uri !== undefined && caller !== undefined);
  return routes.find({ uri, from: caller, all: (name) => headers[name] ?? [] })?.name;
}

const SAY = { text: 'Good morning.' };

test('the first rule that fits in all its parts counts', () => {
  const routes = table(
    { name: 'tenant', to: '100', headers: { 'X-Tenant': 'acme*' }, say: SAY },
    { name: 'germany', to: '100', from: '+49*', say: SAY },
    { name: 'host', to: '*@sales.example', agent: 'sales' },
    { name: 'three digits', to: '???', reject: { status: 486, cause: 17 } },
    { name: 'any', say: SAY },
  );
  assert.equal(routed(routes, 'sip:100@h', 'sip:+4930@a', { 'x-tenant': ['other', 'ACME Ltd'] }), 'tenant');
  assert.equal(routed(routes, 'sip:100@h', 'sip:+4930@a', { 'x-tenant': ['other'] }), 'germany');
  assert.equal(routed(routes, 'sip:100@h', 'tel:+4930'), 'germany');
  assert.equal(routed(routes, 'sip:100@Sales.Example'), 'host');
  assert.equal(routed(routes, 'sip:100@h'), 'three digits');
  assert.equal(routed(routes, 'sip:h'), 'any');
  assert.equal(routed(table({ to: '1', say: SAY }), 'sip:2@h'), undefined);
});

test('a rule names the API key that its calls belong to, which must be one of the server', () => {
  const json = JSON.stringify({
    routes: [
      { to: '1', key: 'acme', wait: {} },
      { key: 'none', wait: {} },
    ],
  });
  assert.deepEqual(
    readRoutingFile(json, ROUTING).table?.routes.map(({ key }) => key),
    ['acme', 'none'],
  );
  assert.deepEqual(readRoutingFile(json, { ...ROUTING, isKey: (name) => name === 'acme' }).problems, [
    'routes[1].key: no key has the name "none"; API_KEYS or API_KEYS_FILE lists them',
  ]);
  const odd = JSON.stringify({
    routes: [
      { key: '', wait: {} },
      { key: 7, wait: {} },
    ],
  });
  assert.deepEqual(readRoutingFile(odd, ROUTING).problems, [
    'routes[0].key must be a text of 1 to 64 characters',
    'routes[1].key must be a text of 1 to 64 characters',
  ]);
});

test('answers have their defaults', () => {
  const routes = table(
    { say: SAY },
    { announce: {} },
    { wait: {} },
    { agent: 'a' },
    { reject: { status: 603, text: 'No' } },
  );
  assert.deepEqual(
    routes.routes.map(({ name, answer }) => [name, answer]),
    [
      ['route 1', { kind: 'say', text: 'Good morning.', after: 'stay' }],
      ['route 2', { kind: 'announce', mostCharacters: 500, after: 'hangup' }],
      ['route 3', { kind: 'wait' }],
      ['route 4', { kind: 'agent', agent: 'a' }],
      ['route 5', { kind: 'reject', status: 603, text: 'No' }],
    ],
  );
});

test('what is heard before the answer belongs to the rule', () => {
  const routes = table(
    { ring: 2.5, say: SAY },
    { early: true, earlyText: 'One\nmoment.', announce: {} },
    { ring: 120, early: true, agent: 'a' },
    { ring: 0, early: false, say: SAY },
    { reject: { status: 404, announcement: { text: 'Gone.', voice: 'slt', language: 'en' } } },
  );
  assert.deepEqual(
    routes.routes.map(({ ringing, answer }) => ringing ?? (answer.kind === 'reject' && answer.announcement)),
    [
      { seconds: 2.5, early: false },
      { seconds: 0, early: true, earlyText: 'One\nmoment.' },
      { seconds: 120, early: true },
      false,
      { text: 'Gone.', voice: 'slt', language: 'en' },
    ],
  );
});

test('mistakes in what is heard before the answer are named with their place', () => {
  const routes = [
    { ring: 121, say: SAY },
    { ring: '3', early: 'yes', say: SAY },
    { early: true, say: SAY },
    { earlyText: 'x', say: SAY },
    { ring: 1, early: true, earlyText: 'x'.repeat(1001), say: SAY },
    { ring: 3, reject: { status: 404 } },
    { reject: { status: 404, announcement: { voice: 'slt', after: 'stay' } } },
    { reject: { status: 404, announcement: 'Gone.' } },
    { ring: 2, early: true, wait: {} },
    { wait: { after: 'stay' } },
  ];
  assert.deepEqual(readRoutingFile(JSON.stringify({ routes }), ROUTING).problems, [
    'routes[0].ring must be a number from 0 to 120',
    'routes[1].ring must be a number from 0 to 120',
    'routes[1].early must be true or false',
    'routes[2].early wants "ring" or "earlyText": nothing would be heard before the answer',
    'routes[3].earlyText wants "early": true',
    'routes[4].earlyText must be a text of 1 to 1000 characters',
    'routes[5].ring: a call that is refused does not ring; reject has "announcement"',
    'routes[6].reject.announcement: "after" is none of text, voice, language, interruptible',
    'routes[6].reject.announcement.text is missing',
    'routes[7].reject.announcement must be an object',
    'routes[8].early wants "earlyText": "wait" says nothing that could be heard before the answer',
    'routes[9].wait: "after" is not allowed: it has no fields',
  ]);
});

test('every mistake is named with its place', () => {
  const routes = [
    { to: 5, say: { text: '', voice: 'a\nb', after: 'wait' }, colour: 'red' },
    { say: SAY, agent: 'a' },
    {},
    { reject: { status: 200, cause: 0 } },
    { reject: {}, headers: ['a'] },
    { say: 'hello' },
    { headers: { 'a b': '*' }, announce: { mostCharacters: 1.5 } },
    'x',
  ];
  assert.deepEqual(readRoutingFile(JSON.stringify({ routes }), ROUTING).problems, [
    'routes[0]: "colour" is none of name, to, from, headers, key, ring, early, earlyText, listen, record, say, announce, wait, agent, reject, bridge, room, queue, twiml, program',
    'routes[0].to must be a text of 1 to 256 characters',
    'routes[0].say.text must be a text of 1 to 5000 characters',
    'routes[0].say.voice must be a text of 1 to 100 characters',
    'routes[0].say.after must be "stay" or "hangup"',
    'routes[1] must have exactly one of say, announce, wait, agent, reject, bridge, room, queue, twiml, program',
    'routes[2] must have exactly one of say, announce, wait, agent, reject, bridge, room, queue, twiml, program',
    'routes[3].reject.status must be a whole number from 400 to 699',
    'routes[3].reject.cause must be a whole number from 1 to 127',
    'routes[4].headers must be an object of at most 16 patterns by the names of header fields',
    'routes[4].reject.status is missing',
    'routes[5].say must be an object',
    'routes[6].headers: "a b" is no name of a header field',
    'routes[6].announce.mostCharacters must be a whole number from 1 to 5000',
    'routes[7] must be an object',
  ]);
  assert.match(readRoutingFile('{', ROUTING).problems?.[0] ?? '', /^the file is not JSON: /);
  assert.deepEqual(readRoutingFile('[]', ROUTING).problems, [
    'the file must be an object with a list "routes"',
  ]);
});

test('a table of any JSON is read or refused, and never throws', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (routes) => {
      const file = readRoutingFile(JSON.stringify({ routes }), ROUTING);
      assert.ok(file.table !== undefined || file.problems.length > 0);
    }),
  );
});

test('a pattern fits as the regular expression of the same meaning does', () => {
  const characters = (from: string) =>
    fc.string({ unit: fc.constantFrom(...Array.from(from)), maxLength: 8 });
  fc.assert(
    fc.property(characters('aB*?'), characters('abA'), (pattern, text) => {
      const same = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i');
      assert.equal(new Pattern(pattern).matches(text), same.test(text));
    }),
    { numRuns: 2000 },
  );
});

test('stars do not make a long text expensive', () => {
  assert.equal(new Pattern(`${'*a'.repeat(100)}b`).matches('a'.repeat(20_000)), false);
});

function asked(uri: string, headers: Record<string, string> = {}, most = 20) {
  const parsed = parseUri(uri);
  assert.ok(parsed);
  const { value, refusal } = announcementIn({ params: parsed.params, header: (name) => headers[name] }, most);
  return refusal?.status ?? value;
}

test('the text, the voice and the language may come in the URI or in header fields', () => {
  assert.deepEqual(asked('sip:annc@h;text=Hello%20there;voice=slt;locale=en_US'), {
    text: 'Hello there',
    voice: 'slt',
    language: 'en-US',
  });
  assert.deepEqual(asked('sip:annc@h;play=data:text%2Fplain%2CHi%2520you'), { text: 'Hi you' });
  assert.deepEqual(asked('sip:annc@h;play=data:%3Bbase64%2CSGk%3D'), { text: 'Hi' });
  assert.deepEqual(asked('sip:annc@h', { 'x-speech-text': 'Hi', 'x-speech-language': 'de' }), {
    text: 'Hi',
    language: 'de',
  });
  assert.equal(asked('sip:annc@h'), undefined);
  assert.equal(asked('sip:annc@h;text=%20'), undefined);
});

test('what is too long, or nothing that can be spoken, is refused with its status', () => {
  assert.equal(asked(`sip:annc@h;text=${'a'.repeat(21)}`), 414);
  assert.equal(asked('sip:annc@h', { 'x-speech-text': 'a'.repeat(21) }), 413);
  assert.equal(asked('sip:annc@h;play=http:%2F%2Fexample.com%2Fa.wav'), 404);
  assert.equal(asked('sip:annc@h;text=Hi;voice=..%2F..%2Fx'), 400);
  assert.equal(asked('sip:annc@h;text=Hi;language=english!'), 400);
});

test('hearing, recording and interruption are settings of a rule', () => {
  const rule = {
    to: '100',
    listen: { silenceMs: 200, sensitivity: 'low' },
    record: { format: 'opus', announce: 'This call is recorded.' },
    say: { text: 'Sales.', interruptible: 'speech' },
  };
  assert.deepEqual(answer('sip:100@parley', { routes: [rule] }), {
    route: 'route 1',
    prelude: { ringMs: 0 },
    what: { value: { speech: rule.say, after: 'stay' } },
    listen: rule.listen,
    record: rule.record,
  });
  const { listen, record } = answer('sip:1@h', { routes: [{ listen: true, record: true, wait: {} }] });
  assert.deepEqual([listen, record], [{}, {}]);
  const off = answer('sip:1@h', { routes: [{ listen: false, record: false, wait: {} }] });
  assert.ok(!('listen' in off) && !('record' in off));
  const { what } = answer('sip:1@h;text=Hi', { routes: [{ announce: { interruptible: 'dtmf' } }] });
  assert.deepEqual(what.value?.speech, { text: 'Hi', interruptible: 'dtmf' });
  const early = answer('sip:100@parley', { routes: [{ ...rule, early: true, earlyText: 'Wait.' }] }).prelude;
  assert.deepEqual(early.early?.speech, { text: 'Wait.' }, 'a text before the answer is heard to its end');
});

test('mistakes in hearing and recording are named with their place', () => {
  const reject = { status: 404 };
  const routes = [
    { listen: { silenceMs: 5 }, wait: {} },
    { listen: { silence: 500 }, wait: {} },
    { listen: { silenceMs: 500, minSilenceMs: 800 }, wait: {} },
    { listen: 'yes', record: 1, wait: {} },
    { record: { format: 'mp3', announce: '' }, wait: {} },
    { listen: true, record: true, reject },
    { say: { ...SAY, interruptible: 'key' } },
  ];
  assert.deepEqual(readRoutingFile(JSON.stringify({ routes }), ROUTING).problems, [
    'routes[0].listen.silenceMs must be 100 to 10000 ms, not 5',
    'routes[1].listen: "silence" is none of silenceMs, minSilenceMs, maxSilenceMs, minSpeechMs, maxTurnMs, noInputMs, sensitivity, ignoreBackchannel, ignoreDistant, resumeMs',
    'routes[2].listen.minSilenceMs must be at most silenceMs (500), not 800',
    'routes[3].listen must be true, false or an object',
    'routes[3].record must be true, false or an object',
    'routes[4].record.format must be one of wav, opus',
    'routes[4].record.announce must be a text of 1 to 1000 characters',
    'routes[5].listen has no effect: a call that is refused is not answered',
    'routes[5].record has no effect: a call that is refused is not answered',
    'routes[6].say.interruptible must be one of none, dtmf, speech, any',
  ]);
  const json = JSON.stringify({ routes: [{ record: true, wait: {} }] });
  assert.deepEqual(readRoutingFile(json, { ...ROUTING, records: false }).problems, [
    'routes[0].record needs a folder of recordings, which this server lacks; RECORDINGS_DIR is not set',
  ]);
});

const JOINING = {
  routes: [
    {
      to: '1',
      bridge: { to: 'sip:desk@192.0.2.7', ringTimeout: 20.5, music: 'none', endKey: '*', leavePath: true },
    },
    { to: '2', key: 'acme', room: { name: 'weekly', moderator: true, start: 'moderator' } },
    { to: '3', queue: { name: 'support', priority: 2, announce: 'Place {position}.', after: 'stay' } },
  ],
};

void test('a rule joins a call with another one, if it has hops left', () => {
  const request = {
    to: 'sip:desk@192.0.2.7',
    ringTimeoutMs: 20_500,
    music: 'none',
    endKey: '*',
    leavePath: true,
  };
  assert.deepEqual(answer('sip:1@parley', JOINING).what.value, {
    bridge: request,
    after: 'hangup',
  });
  const tired = invite('sip:1@parley', 1);
  const { table } = readRoutingFile(JSON.stringify(JOINING), ROUTING);
  const route = table?.routes[0];
  assert.ok(route !== undefined);
  const { refusal } = new Answering(new RoutingTable([]), { text: 'Hello.' }).by(route, tired).what;
  assert.equal(refusal?.status, 483);
});

void test('a rule has a call join a room or wait in a queue', () => {
  const file = { routes: JOINING.routes.map(({ key: _key, ...route }) => route) };
  assert.deepEqual(answer('sip:2@parley', file).what.value, {
    join: {
      kind: 'room',
      name: 'weekly',
      settings: { moderator: true },
      request: { start: 'moderator' },
    },
    after: 'hangup',
  });
  assert.deepEqual(answer('sip:3@parley', file).what.value, {
    join: { kind: 'queue', name: 'support', request: { priority: 2, announce: 'Place {position}.' } },
    after: 'stay',
  });
});

void test('a rule that cannot join a call is told with its place', () => {
  const problemsOf = (route: object) =>
    readRoutingFile(JSON.stringify({ routes: [route] }), ROUTING).problems;
  assert.deepEqual(problemsOf({ bridge: {} }), ['routes[0].bridge.to is missing']);
  assert.deepEqual(problemsOf({ bridge: { to: '1', endKey: '%' } }), [
    'routes[0].bridge.endKey must be one of 0-9, *, # and A-D',
  ]);
  for (const name of [undefined, '', ' a', 'x'.repeat(10_000)])
    assert.match(
      problemsOf({ room: { name } })?.[0] ?? '',
      /^routes\[0\]\.room\.name must be a name of 1 to 64/,
    );
  assert.deepEqual(problemsOf({ queue: { name: 'support', size: 3 } }), [
    'routes[0].queue: "size" is none of name, priority, music, announce, timeout, after',
  ]);
});
