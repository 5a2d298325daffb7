// Rules that give a call its program, and the programs of calls that no rule matches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage, type SipRequest } from '../../../sip/message/message.js';
import { readRoutingFile, readRule, type RoutingContext } from '../../../sip/routing-file.js';
import { RoutingTable } from '../../../sip/routing-table.js';
import { Answering, type UsualPrograms } from '../../../sip/telephone/answering.js';
import type { ProgramSource } from '../../../src/config/ivr-config.js';
import { ROUTING } from './fake-legs.js';

const URL = 'https://ivr.example.com/voice';
const DOCUMENT: ProgramSource = { kind: 'twiml', url: URL, method: 'POST' };
const EXAMPLE: ProgramSource = { kind: 'program', name: 'example' };
/** A server with one program, which reaches one host. */
const CONTEXT: RoutingContext = {
  ...ROUTING,
  programProblem: (source) => {
    if (source.kind === 'program') return source.name === 'main' ? undefined : 'there is no such program';
    if (source.kind === 'document') return 'a rule has no text of a document';
    return source.url.startsWith(URL) ? undefined : 'this host is not allowed';
  },
};

function inviteTo(user: string): SipRequest {
  const parsed = parseMessage(
    Buffer.from(
      [
        `INVITE sip:${user}@parley SIP/2.0`,
        'Via: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK1',
        'From: <sip:anna@a>;tag=a',
        'To: <sip:x@y>',
        'Call-ID: 1',
        'CSeq: 1 INVITE',
        '\r\n',
      ].join('\r\n'),
    ),
  );
  assert.equal(parsed.kind, 'request');
  return (parsed as { request: SipRequest }).request;
}

function read(...routes: object[]) {
  return readRoutingFile(JSON.stringify({ routes }), CONTEXT);
}

const mistakesOf = (rule: object) => read(rule).problems;

test('a rule gives its calls a program of the file, or a document that is fetched with POST', () => {
  const { table = assert.fail() } = read(
    { to: '100', ring: 2, program: 'main' },
    { to: '200', twiml: { url: `${URL}?a=1#rc=2`, method: 'GET' } },
    { to: '300', twiml: { url: URL } },
  );
  const answering = new Answering(table, { text: 'Hello.' });
  assert.deepEqual(answering.to(inviteTo('100')), {
    route: 'route 1',
    prelude: { ringMs: 2000 },
    what: { value: { program: { kind: 'program', name: 'main' }, after: 'stay' } },
  });
  const programOf = (user: string) => answering.to(inviteTo(user)).what.value?.program;
  assert.deepEqual(programOf('200'), { kind: 'twiml', url: `${URL}?a=1#rc=2`, method: 'GET' });
  assert.deepEqual(programOf('300'), DOCUMENT);
});

test('an application may answer with a program for one call', () => {
  const { route, problems } = readRule({ twiml: { url: URL } }, CONTEXT);
  assert.deepEqual([route?.answer, problems], [{ kind: 'program', source: DOCUMENT }, []]);
});

test('a rule whose program cannot conduct calls here is a mistake, with the reason', () => {
  assert.deepEqual(mistakesOf({ program: 'sales' }), ['routes[0].program: there is no such program']);
  assert.deepEqual(mistakesOf({ twiml: { url: 'http://10.0.0.1/' } }), [
    'routes[0].twiml: this host is not allowed',
  ]);
});

test('what is no program of a rule is a mistake, told by its field', () => {
  const rule = 'must be an http or https URL of at most 2048 characters, without a user name or password';
  for (const [given, mistake] of [
    [{ program: 7 }, 'routes[0].program must be a line of 1 to 100 characters'],
    [{ twiml: URL }, 'routes[0].twiml must be an object'],
    [{ twiml: {} }, 'routes[0].twiml.url is missing'],
    [{ twiml: { url: 'wss://ivr.example.com/' } }, `routes[0].twiml.url ${rule}`],
    [{ twiml: { url: URL, method: 'PUT' } }, 'routes[0].twiml.method must be one of GET, POST'],
    [{ twiml: { url: URL, fallback: URL } }, 'routes[0].twiml: "fallback" is none of url, method'],
  ] as const)
    assert.deepEqual(mistakesOf(given), [mistake]);
  const [both = ''] = mistakesOf({ program: 'main', twiml: { url: URL } }) ?? [];
  assert.match(both, /^routes\[0\] must have exactly one of say, .*, twiml, program$/);
});

test('early media of a program needs a text: the program decides itself when it speaks', () => {
  assert.deepEqual(mistakesOf({ ring: 2, early: true, program: 'main' }), [
    'routes[0].early wants "earlyText": "program" says nothing that could be heard before the answer',
  ]);
  assert.equal(mistakesOf({ early: true, earlyText: 'One moment.', program: 'main' }), undefined);
});

/** The route and the program of a call to this number that no rule matches. */
function unmatched(user: string, programs: UsualPrograms | undefined, usual?: string, table?: RoutingTable) {
  const agents = { usual, has: () => true };
  const rules = table ?? new RoutingTable([]);
  const answering = new Answering(rules, { text: 'Hello.' }, 1000, agents, programs);
  const { route, prelude, what } = answering.to(inviteTo(user));
  assert.equal(prelude.ringMs, 1000);
  return [route, what.value?.program];
}

test('the document of TWIML_URL conducts calls that no rule matches, before the usual agent', () => {
  const programs = { document: DOCUMENT, example: EXAMPLE };
  assert.deepEqual(unmatched('200', programs, 'sales'), ['twiml', DOCUMENT]);
  assert.deepEqual(unmatched('600', programs), ['twiml', DOCUMENT]);
});

test('the example answers extension 600 of a server without rules, usual agent and document', () => {
  assert.deepEqual(unmatched('600', { example: EXAMPLE }), ['example', EXAMPLE]);
  assert.deepEqual(unmatched('601', { example: EXAMPLE }), ['greeting', undefined]);
  assert.deepEqual(unmatched('600', { example: EXAMPLE }, 'sales'), ['agent', undefined]);
  const rules = read({ to: '100', program: 'main' }).table;
  assert.deepEqual(unmatched('600', { example: EXAMPLE }, undefined, rules), ['greeting', undefined]);
  assert.deepEqual(unmatched('600', undefined), ['greeting', undefined]);
});
