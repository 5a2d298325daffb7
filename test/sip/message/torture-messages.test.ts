import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Parsed, parseMessage, type SipRequest } from '../../../sip/message/message.js';
import { responseBytes } from '../../../sip/message/serialiser.js';
import { requestRefusal } from '../../../sip/session/capabilities.js';
import { INVALID, MPART01, MPART01_BODY, SDP, SEMANTICS, torture, VALID } from './rfc4475-messages.js';

const ABILITIES = {
  methods: ['INVITE', 'ACK', 'CANCEL', 'BYE', 'OPTIONS', 'REGISTER', 'MESSAGE'],
  extensions: ['100rel', 'timer'],
  mediaTypes: ['application/sdp', 'multipart/mixed'],
  schemes: ['sip', 'sips', 'tel'],
};

function requestIn(bytes: Buffer): SipRequest {
  const parsed = parseMessage(bytes);
  assert.equal(parsed.kind, 'request', describe(parsed));
  return (parsed as Extract<Parsed, { kind: 'request' }>).request;
}

function describe(parsed: Parsed): string {
  if (parsed.kind === 'refused') return `refused: ${parsed.refusal.status} ${parsed.refusal.reason}`;
  return parsed.kind === 'ignored' ? `ignored: ${parsed.reason}` : parsed.kind;
}

/** Outcome for a server with ABILITIES. */
function outcome(bytes: Buffer): string {
  const parsed = parseMessage(bytes);
  if (parsed.kind !== 'request') return describe(parsed);
  const refusal = requestRefusal(parsed.request, ABILITIES);
  return refusal === undefined ? 'request' : `refused: ${refusal.status} ${refusal.reason}`;
}

test('3.1.1: every valid message is understood', () => {
  const { intmeth, esc02, unreason, noreason, ...requests } = VALID;
  for (const [name, bytes] of Object.entries({ ...requests, MPART01 })) {
    assert.equal(outcome(bytes), 'request', name);
  }
  for (const [name, bytes] of Object.entries({ intmeth, esc02 })) {
    assert.equal(outcome(bytes), 'refused: 501 Not Implemented', name);
    requestIn(bytes);
  }
  for (const [name, bytes] of Object.entries({ unreason, noreason })) {
    assert.equal(outcome(bytes), 'response', name);
  }
});

test('3.1.1.1: folded, spaced and short fields give what they mean', () => {
  const request = requestIn(VALID.wsinv);
  assert.equal(request.method, 'INVITE');
  assert.equal(request.uri.host, 'chair-dnrc.example.com');
  assert.deepEqual(request.uri.params.names(), ['unknownparam']);
  assert.equal(request.to.tag, '1918181833n');
  assert.equal(request.to.uri.text, 'sip:vivekg@chair-dnrc.example.com');
  assert.equal(request.from.displayName, 'J Rosenberg \\"');
  assert.equal(request.from.tag, '98asjd8');
  assert.equal(request.maxForwards, 68);
  assert.deepEqual(request.cseq, { number: 9, method: 'INVITE' });
  assert.equal(request.via.toString(), 'SIP/2.0/UDP 192.0.2.2;branch=390skdjuw');
  assert.equal(request.all('Via').length, 3);
  assert.equal(request.first('Subject'), '');
  assert.equal(request.first('NewFangledHeader'), 'newfangled value continued newfangled value');
  assert.deepEqual(request.all('UnknownHeaderWithUnusualValue'), [';;,,;;,;']);
  assert.equal(request.contact?.displayName, 'Quoted string ""');
  assert.equal(request.contact?.params.get('newparam'), 'newvalue');
  assert.equal(request.contact?.params.get('secondparam'), '');
  assert.equal(request.contact?.params.get('q'), '0.33');
  assert.equal(request.contentType?.name, 'application/sdp');
  assert.equal(request.body.length, 150);
});

test('3.1.1.2: every character that may stand somewhere stands there', () => {
  const request = requestIn(VALID.intmeth);
  assert.equal(request.method, "!interesting-Method0123456789_*+`.%indeed'~");
  assert.equal(request.uri.user, "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*");
  assert.equal(request.uri.password, "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)");
  assert.equal(request.uri.host, 'example.com');
  assert.equal(request.to.displayName, 'BEL:\x07 NUL:\x00 DEL:\x7f');
  assert.equal(request.from.displayName, "token1~` token2'+_ token3*%!.-");
  assert.equal(request.from.params.get("fromparam''~+*_!.-%"), 'работающий');
  assert.equal(request.from.tag, "_token~1'+`*%!-.");
  assert.equal(request.callId, 'intmeth.word%ZK-!.*_+\'@word`~)(><:\\/"][?}{');
  assert.equal(request.via.branch, "z9hG4bK-.!%66*_+`'~");
});

test('3.1.1.3 to 3.1.1.5: escapes are resolved in URIs and nowhere else', () => {
  const first = requestIn(VALID.esc01);
  assert.equal(first.uri.user, 'sips:user@example.com');
  assert.equal(first.uri.host, 'example.net');
  assert.equal(first.to.uri.user, 'user');
  assert.equal(first.from.uri.user, 'I have spaces');
  assert.equal(first.contact?.uri.user, 'caller');
  assert.equal(first.contact?.uri.params.has('lr'), true);
  assert.equal(first.contact?.uri.params.get('name'), 'value%41');
  const nothing = requestIn(VALID.escnull);
  assert.equal(nothing.to.uri.user, 'null-\0-null');
  assert.deepEqual(nothing.contacts === '*' ? [] : nothing.contacts.map(({ uri }) => uri.user), [
    '\0',
    '\0\0',
  ]);
  const none = requestIn(VALID.esc02);
  assert.equal(none.method, 'RE%47IST%45R');
  assert.equal(none.to.displayName, '%Z%45');
  assert.equal(none.contacts.length, 2);
});

test('3.1.1.6 to 3.1.1.13: the other valid messages give what they mean', () => {
  assert.equal(requestIn(VALID.lwsdisp).from.displayName, 'caller');
  const long = requestIn(VALID.longreq);
  assert.equal(long.all('via').length, 34);
  assert.equal(long.via.sentBy.host, 'sip33.example.com');
  assert.equal(long.to.uri.port, 6000);
  assert.equal(long.body.length, 150);
  const twice = requestIn(VALID.dblreq);
  assert.equal(twice.method, 'REGISTER');
  assert.equal(twice.body.length, 0);
  assert.equal(requestIn(VALID.semiuri).uri.user, 'user;par=u@example.net');
  assert.equal(requestIn(VALID.semiuri).all('accept').length, 6);
  assert.equal(requestIn(VALID.transports).all('via').length, 5);
  assert.deepEqual(requestIn(MPART01).body, MPART01_BODY);
  assert.equal(requestIn(MPART01).contentType?.params.get('boundary'), '7a9cbec02ceef655');
  for (const [bytes, reason] of [
    [VALID.unreason, '= 2**3 * 5**2 но сто девяносто девять - простое'],
    [VALID.noreason, ''],
  ] as const) {
    const parsed = parseMessage(bytes);
    assert.equal(parsed.kind === 'response' && parsed.response.reason, reason);
  }
});

test('3.1.2: every invalid message gets its answer, or none', () => {
  const expected: Record<keyof typeof INVALID, string> = {
    badinv01: 'refused: 400 Bad Via',
    clerr: 'refused: 400 Bad Content-Length',
    ncl: 'refused: 400 Bad Content-Length',
    scalar02: 'refused: 400 Bad CSeq',
    scalarlg: 'ignored: bad-response',
    quotbal: 'refused: 400 Bad To',
    ltgtruri: 'refused: 400 Bad Request-URI',
    lwsruri: 'refused: 400 Bad Request-Line',
    lwsstart: 'refused: 400 Bad Request-Line',
    trws: 'refused: 400 Bad Request-Line',
    escruri: 'refused: 400 Bad Request-URI',
    baddate: 'request', // "or may ignore the Date", which this server does not need
    regbadct: 'refused: 400 Bad Contact',
    badaspec: 'refused: 400 Bad To',
    baddn: 'refused: 400 Bad From',
    badvers: 'refused: 505 Version Not Supported',
    mismatch01: 'refused: 400 CSeq Method Does Not Match',
    mismatch02: 'refused: 400 CSeq Method Does Not Match',
    bigcode: 'ignored: bad-response',
  };
  const found = Object.fromEntries(Object.entries(INVALID).map(([name, bytes]) => [name, outcome(bytes)]));
  assert.deepEqual(found, expected);
});

test('3.2 to 3.4: what is well-formed gets the answer of a server', () => {
  const expected: Record<keyof typeof SEMANTICS, string> = {
    badbranch: 'request', // matched as RFC 2543 does: see test/sip/transaction
    insuf: 'refused: 400 Missing From',
    unkscm: 'refused: 416 Unsupported URI Scheme',
    novelsc: 'refused: 416 Unsupported URI Scheme',
    unksm2: 'request',
    bext01: 'refused: 420 Bad Extension',
    invut: 'refused: 415 Unsupported Media Type',
    regaut01: 'request', // for a registrar to challenge
    multi01: 'refused: 400 Repeated CSeq',
    mcl01: 'refused: 400 Repeated Content-Length',
    bcast: 'response', // for the client transaction to drop: see test/sip/transaction
    zeromf: 'request', // an OPTIONS for ourselves may be answered
    cparam01: 'request',
    cparam02: 'request',
    regescrt: 'request',
    sdp01: 'refused: 406 Not Acceptable',
    inv2543: 'request',
  };
  const found = Object.fromEntries(Object.entries(SEMANTICS).map(([name, bytes]) => [name, outcome(bytes)]));
  assert.deepEqual(found, expected);
});

test('3.3.11 and 3.3.12: a parameter belongs to the header without brackets and to the URI within them', () => {
  const header = requestIn(SEMANTICS.cparam01).contact;
  assert.deepEqual([header?.params.names(), header?.uri.params.names()], [['unknownparam'], []]);
  const uri = requestIn(SEMANTICS.cparam02).contact;
  assert.deepEqual([uri?.params.names(), uri?.uri.params.names()], [[], ['unknownparam']]);
  assert.deepEqual(requestIn(SEMANTICS.regescrt).contact?.uri.headers, [['Route', '<sip:sip.example.com>']]);
});

test('a refusal names what it is about, and is sent with what could be read of the request', () => {
  const parsed = parseMessage(INVALID.badinv01, { address: '192.0.2.99', port: 5099 });
  assert.ok(parsed.kind === 'refused');
  assert.equal(
    responseBytes(parsed.request, { ...parsed.refusal, toTag: 'x' }).toString(),
    [
      'SIP/2.0 400 Bad Via',
      'Via: SIP/2.0/UDP 192.0.2.15;received=192.0.2.99',
      'From: sip:caller@example.net;tag=134161461246',
      'To: sip:j.user@example.com;tag=x',
      'Call-ID: badinv01.0ha0isndaksdjasdf3234nas',
      'CSeq: 8 INVITE',
      'Content-Length: 0',
      '\r\n',
    ].join('\r\n'),
  );
  const bext = requestRefusal(requestIn(SEMANTICS.bext01), ABILITIES);
  assert.deepEqual(bext?.headers, [['Unsupported', 'nothingSupportsThis, nothingSupportsThisEither']]);
  const method = requestRefusal(requestIn(VALID.intmeth), ABILITIES);
  assert.deepEqual(method?.headers, [['Allow', ABILITIES.methods.join(', ')]]);
  assert.equal(SDP.replaceAll('\n', '\r\n').length, 150);
});

// The messages of RFC 5118, "SIP Torture Test Messages for IPv6", section 4. Bodies and their lengths are
// there only if they matter here.

interface Rfc5118Variation {
  readonly method?: string;
  readonly uri?: string;
  readonly via?: string;
  readonly more?: string;
}

function writtenWith({
  method = 'REGISTER',
  uri = 'sip:[2001:db8::10]',
  via,
  more = '',
}: Rfc5118Variation): Buffer {
  return torture(
    `${method} ${uri} SIP/2.0
To: sip:user@example.com
From: sip:user@example.com;tag=81x2
Via: ${via ?? 'SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111'}
Call-ID: SSG9559905523997077@hlau_4100
Max-Forwards: 70
Contact: "Caller" <sip:caller@[2001:db8::1]>
CSeq: 98176 ${method}
${more}Content-Length: 0`,
  );
}

function requestLike(variation: Rfc5118Variation): SipRequest {
  const parsed = parseMessage(writtenWith(variation));
  assert.ok(parsed.kind === 'request', JSON.stringify(parsed));
  return parsed.request;
}

test('4.1: IPv6 references stand in the Request-URI, Via and Contact', () => {
  const request = requestLike({});
  assert.equal(request.uri.host, '2001:db8::10');
  assert.equal(request.via.sentBy.host, '2001:db8::9:1');
  assert.equal(request.contact?.uri.host, '2001:db8::1');
});

test('4.2: an address without brackets is 400', () => {
  const parsed = parseMessage(writtenWith({ uri: 'sip:2001:db8::10' }));
  assert.ok(parsed.kind === 'refused');
  assert.deepEqual([parsed.refusal.status, parsed.refusal.reason], [400, 'Bad Request-URI']);
});

test('4.3 and 4.4: a port stands behind the brackets, never in them', () => {
  const within = requestLike({ uri: 'sip:[2001:db8::10:5070]' }).uri;
  assert.deepEqual([within.host, within.port], ['2001:db8::10:5070', undefined]);
  const behind = requestLike({ uri: 'sip:[2001:db8::10]:5070' }).uri;
  assert.deepEqual([behind.host, behind.port], ['2001:db8::10', 5070]);
});

test('4.5: received is read with and without brackets, and written without', () => {
  for (const received of ['[2001:db8::9:255]', '2001:db8::9:255']) {
    const via = `SIP/2.0/UDP [2001:db8::9:1];received=${received};branch=z9hG4bKas3-111`;
    assert.equal(requestLike({ method: 'BYE', via }).via.received, '2001:db8::9:255');
  }
  const parsed = parseMessage(writtenWith({}), { address: '2001:db8::9:255', port: 5060 });
  assert.ok(parsed.kind === 'request');
  const stamped = 'SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111;received=2001:db8::9:255';
  assert.equal(parsed.request.via.toString(), stamped);
});

test('4.6 to 4.8: addresses of both families share a message', () => {
  const more = 'Via: SIP/2.0/UDP 192.0.2.1:8080;branch=z9hG4bKasd0f3en\nContent-Type: application/sdp\n';
  const request = requestLike({ method: 'INVITE', uri: 'sip:user@[2001:db8::20]', more });
  assert.equal(request.all('Via')[1], 'SIP/2.0/UDP 192.0.2.1:8080;branch=z9hG4bKasd0f3en');
});

test('4.9: IPv4 addresses in IPv6 are understood', () => {
  const via = 'SIP/2.0/UDP [::ffff:192.0.2.10]:19823;branch=z9hG4bKbh19';
  assert.deepEqual(requestLike({ via }).via.sentBy, { host: '::ffff:192.0.2.10', port: 19_823 });
});

test('4.10: three colons before an IPv4 address stand for two, and nowhere else', () => {
  assert.equal(requestLike({ uri: 'sip:user@[2001:db8:::192.0.2.1]' }).uri.host, '2001:db8::192.0.2.1');
  assert.equal(requestLike({ uri: 'sip:user@[2001:db8::192.0.2.1]' }).uri.host, '2001:db8::192.0.2.1');
  for (const uri of ['sip:[2001:db8:::10]', 'sip:[2001:db8::10', 'sip:[]', 'sip:[::1]:x', 'sip:[::1%eth0]']) {
    assert.equal(parseMessage(writtenWith({ uri })).kind, 'refused', uri);
  }
});
