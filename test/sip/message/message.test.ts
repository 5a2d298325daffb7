import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { callerIdentity, readPrivacy, writeNameAddr } from '../../../sip/message/caller-identity.js';
import { parseMessage } from '../../../sip/message/message.js';
import { readReason, writeReason } from '../../../sip/message/refusal.js';
import {
  readReferredBy,
  readReplaces,
  writeReferredBy,
  writeReplaces,
} from '../../../sip/message/replaces.js';
import { recordRoutesOf, requestBytes, responseBytes } from '../../../sip/message/serialiser.js';
import { type NameAddr, parseNameAddr } from '../../../sip/message/uri.js';
import { INVALID, SEMANTICS, torture, VALID } from './rfc4475-messages.js';

const CORPUS = [VALID, INVALID, SEMANTICS].flatMap((group) => Object.values(group));

/** Parses, and answers whatever is answerable, as a server would. */
function handle(bytes: Buffer): string {
  const parsed = parseMessage(bytes, { address: '192.0.2.1', port: 5060 });
  if (parsed.kind === 'request') responseBytes(parsed.request, { status: 200, toTag: 'a' });
  if (parsed.kind === 'refused') {
    const answer = responseBytes(parsed.request, { ...parsed.refusal, toTag: 'a' });
    assert.doesNotMatch(answer.toString('latin1'), /\r(?!\n)|(?<!\r)\n/);
  }
  return parsed.kind;
}

test('no message that was bent, cut, doubled or mixed makes the parser throw', () => {
  const edit = fc.record({
    at: fc.nat(2000),
    remove: fc.nat(40),
    insert: fc.oneof(
      fc.constantFrom(
        '\r\n',
        ' ',
        '\t',
        '"',
        '<',
        '>',
        ';',
        ',',
        ':',
        '%',
        '\\',
        '@',
        '[',
        '\0',
        '\xff',
        '=',
        '\r',
        '\n',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
    ),
  });
  fc.assert(
    fc.property(fc.constantFrom(...CORPUS), fc.array(edit, { minLength: 1, maxLength: 6 }), (seed, edits) => {
      let bytes = seed;
      for (const { at, remove, insert } of edits) {
        const start = at % (bytes.length + 1);
        bytes = Buffer.concat([
          bytes.subarray(0, start),
          Buffer.from(insert, 'latin1'),
          bytes.subarray(start + remove),
        ]);
      }
      assert.match(handle(bytes), /^(?:request|response|refused|ignored)$/);
    }),
    { numRuns: 6000 },
  );
});

test('no bytes at all make the parser throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(handle(Buffer.from(bytes)), 'ignored');
    }),
    { numRuns: 1000 },
  );
});

const HEAD = `INVITE sip:user@example.com SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=1
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1
Call-ID: 1
CSeq: 1 INVITE`;

/** Elements repeated until the header has the requested length. */
const GROWING: Readonly<Record<string, (length: number) => Buffer>> = {
  'a display name of escaped quotes': (length) =>
    torture(HEAD.replace('To: ', `To: "${'\\"'.repeat(length / 2)}" <`).replace('com\nFrom', 'com>\nFrom')),
  'a quote that never ends': (length) => torture(HEAD.replace('To: ', `To: "${'\\"'.repeat(length / 2)}`)),
  'parameters of Via': (length) => torture(HEAD.replace('bK1', `bK1${';a=b'.repeat(length / 4)}`)),
  'a list of Vias': (length) => torture(HEAD.replace('bK1', `bK1${',SIP/2.0/UDP a;b'.repeat(length / 16)}`)),
  'empty commas': (length) => torture(`${HEAD}\nContact: ${','.repeat(length)}`),
  'opened brackets': (length) => torture(`${HEAD}\nContact: ${'<'.repeat(length)}`),
  'folded lines': (length) => torture(`${HEAD}\nSubject: a${'\n b'.repeat(length / 4)}`),
  'short fields': (length) => torture(`${HEAD}${'\na:b'.repeat(length / 5)}`),
  'spaces before a colon': (length) => torture(`${HEAD}\nSubject${' '.repeat(length)}x`),
  'spaces in the first line': (length) =>
    torture(HEAD.replace(' SIP/2.0', `${' SIP/2.0 '.repeat(length / 9)}x`)),
  'escapes in the Request-URI': (length) => torture(HEAD.replace('user@', `${'%41'.repeat(length / 3)}@`)),
  'line ends alone': (length) => torture(`${HEAD}\nSubject: ${'\r'.repeat(length)}`),
};

for (const [what, grown] of Object.entries(GROWING)) {
  test(`64 kB of ${what} cost time in proportion`, () => {
    const [short, long] = [grown(4096), grown(65_536)];
    assert.notEqual(handle(long), '');
    time(short); // compiled before it is measured
    const [few, many] = [time(short), time(long)];
    // Sixteen times the length: 256 times the time would be quadratic. Short times are noise.
    assert.ok(many < 128 * Math.max(few, 0.05), `${few} ms and ${many} ms`);
  });
}

/** The fastest of some runs in milliseconds, so that a busy machine does not matter. */
function time(bytes: Buffer): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 21; run++) {
    const start = performance.now();
    handle(bytes);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

test('a response or an ACK that is not well-formed, and what is not SIP, get no answer', () => {
  const ack = HEAD.replaceAll('INVITE', 'ACK');
  for (const [bytes, reason] of [
    [torture(ack.replace('To: sip', 'To: "sip')), 'bad-ack'],
    [torture(HEAD.replace(/Via.*\n/, '')), 'unanswerable'],
    [torture(HEAD.replace(/\nCSeq.*/, '')), 'unanswerable'],
    [torture(HEAD.replace('SIP/2.0\n', 'HTTP/1.1\n')), 'not-sip'],
    [torture(HEAD.replace('INVITE sip:user@example.com SIP/2.0', 'SIP/2.0 700 No')), 'bad-response'],
    [Buffer.from('\r\n\r\n'), 'not-sip'],
    [Buffer.alloc(0), 'not-sip'],
  ] as const) {
    assert.deepEqual(parseMessage(bytes), { kind: 'ignored', reason });
  }
});

test('a datagram without Content-Length ends with its body, and one without an empty line has no body', () => {
  const parsed = parseMessage(torture(HEAD, 'abc'));
  assert.equal(parsed.kind === 'request' && parsed.request.body.toString(), 'abc');
  const head = HEAD.replaceAll('\n', '\r\n');
  for (const text of [head, `${head}\r\n`, `${head}\n`, `${head}\r\nContent-Length: 0`]) {
    const ended = parseMessage(Buffer.from(text));
    assert.equal(ended.kind === 'request' && ended.request.body.length, 0, JSON.stringify(ended));
  }
  const cut = parseMessage(Buffer.from(`${head}\r\nContent-Length: 3\r\n`));
  assert.equal(cut.kind === 'refused' && cut.refusal.status, 400);
});

test('a line that ends in CR alone is 400', () => {
  const parsed = parseMessage(Buffer.from(torture(HEAD).toString().replace('\r\nCall', '\rCall')));
  assert.equal(parsed.kind === 'refused' && parsed.refusal.reason, 'Bad Line End');
});

const BODY = 'v=0\r\n\r\nx\n\ny';
const FOLDED = `${HEAD}\nSubject: a\n b\n\tc\nContent-Length: ${BODY.length}`;

for (const [what, bent] of [
  ['every line', (head: string) => `${head}\n\n`],
  ['the empty line', (head: string) => `${head.replaceAll('\n', '\r\n')}\r\n\n`],
  ['the line before the empty one', (head: string) => `${head.replaceAll('\n', '\r\n')}\n\r\n`],
  ['one line', (head: string) => `${head.replaceAll('\n', '\r\n').replace('\r\nCall', '\nCall')}\r\n\r\n`],
  ['the empty lines before it', (head: string) => `\n\r\n\n${head.replaceAll('\n', '\r\n')}\r\n\r\n`],
] as const) {
  test(`a message of which ${what} ends in LF alone is the same as with CRLF`, () => {
    const request = parseMessage(Buffer.from(bent(FOLDED) + BODY));
    assert.ok(request.kind === 'request', JSON.stringify(request));
    assert.deepEqual([request.request.first('subject'), request.request.body.toString()], ['a b c', BODY]);
    const status = FOLDED.replace('INVITE sip:user@example.com SIP/2.0', 'SIP/2.0 200 OK');
    const response = parseMessage(Buffer.from(bent(status) + BODY));
    assert.ok(response.kind === 'response', JSON.stringify(response));
    assert.deepEqual(
      [response.response.callId, response.response.body.toString()],
      [request.request.callId, BODY],
    );
  });
}

test('a head of 200 fields is read, and one of more is 400', () => {
  const plain = parseMessage(torture(HEAD));
  const count = plain.kind === 'request' ? plain.request.fields.list.length : 0;
  const withFields = (fields: number) => parseMessage(torture(HEAD + '\nX-A: y'.repeat(fields - count)));
  assert.equal(withFields(200).kind, 'request');
  for (const fields of [201, 9000]) {
    const parsed = withFields(fields);
    assert.equal(parsed.kind === 'refused' && parsed.refusal.reason, 'Bad Number of Header Fields');
  }
});

test('half a line end in a refused request begins no line of the response', () => {
  for (const name of ['From', 'To', 'Call-ID', 'CSeq', 'Via']) {
    const bent = torture(HEAD)
      .toString()
      .replace(new RegExp(`\r\n${name}: [^\r]*`), (field) => `${field}\rX: y`);
    const parsed = parseMessage(Buffer.from(bent));
    if (parsed.kind === 'ignored') continue;
    assert.ok(parsed.kind === 'refused');
    assert.doesNotMatch(responseBytes(parsed.request, { ...parsed.refusal, toTag: 'a' }).toString(), /X: y/);
  }
});

test('half a line end in a quoted parameter of Via, or in a Via below, begins none either', () => {
  for (const via of [
    'SIP/2.0/UDP 192.0.2.1;x="a\rX: y";branch=z9hG4bK1',
    'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1, SIP\r/X: y',
  ]) {
    const bent = torture(HEAD)
      .toString()
      .replace(/SIP\/2.0\/UDP [^\r]*/, via);
    const parsed = parseMessage(Buffer.from(bent));
    assert.ok(parsed.kind === 'refused');
    const response = responseBytes(parsed.request, { ...parsed.refusal, toTag: 'a' }).toString();
    assert.match(
      response,
      /^SIP\/2.0 400 Bad Line End\r\nVia: SIP\/2.0\/UDP 192.0.2.1;branch=z9hG4bK1\r\nFrom/,
    );
  }
});

test('received and rport are what the network saw, in the request and in its response', () => {
  const via = 'SIP/2.0/UDP 192.0.2.7:5070;rport;branch=z9hG4bK1';
  const bytes = torture(HEAD.replace('SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1', via));
  const parsed = parseMessage(bytes, { address: '203.0.113.9', port: 40_000 });
  assert.ok(parsed.kind === 'request');
  const stamped = 'SIP/2.0/UDP 192.0.2.7:5070;rport=40000;branch=z9hG4bK1;received=203.0.113.9';
  assert.equal(parsed.request.via.toString(), stamped);
  assert.ok(responseBytes(parsed.request, { status: 180 }).includes(`\r\nVia: ${stamped}\r\n`));
  assert.equal(parsed.request.first('via'), via); // the header stays as it came
});

test('a lie in received or rport is overwritten', () => {
  const via = 'SIP/2.0/UDP 192.0.2.7;received=198.51.100.1;rport=1';
  const parsed = parseMessage(torture(HEAD.replace(/SIP\/2.0\/UDP.*/, via)), {
    address: '192.0.2.7',
    port: 5060,
  });
  assert.ok(parsed.kind === 'request');
  assert.deepEqual([parsed.request.via.received, parsed.request.via.rport], ['192.0.2.7', 5060]);
});

test("RFC 3326's examples", () => {
  const call = readReason('SIP ;cause=200 ;text="Call completed elsewhere"');
  assert.deepEqual(call, { protocol: 'sip', cause: 200, text: 'Call completed elsewhere' });
  const isup = readReason('Q.850 ;cause=16 ;text="Terminated"');
  assert.deepEqual(isup, { protocol: 'q.850', cause: 16, text: 'Terminated' });
  assert.deepEqual(readReason('SIP'), { protocol: 'sip', cause: undefined, text: undefined });
  for (const bad of ['', ';cause=1', 'SIP cause=1', 'SIP;text="'])
    assert.equal(readReason(bad), undefined, bad);
});

test('a tag that is no token, and a quote in what points to a token, break out of nothing', () => {
  assert.equal(readReplaces('a@b;to-tag="1;early-only";from-tag=2'), undefined);
  const parsed = readReferredBy('<sip:r@example.com>;cid="a\\";x=\\"b"');
  assert.ok(parsed !== undefined);
  assert.deepEqual(readReferredBy(writeReferredBy(parsed))?.cid, 'a";x="b');
});

test('a reason that is written is the one that is read', () => {
  const reason = fc.record(
    {
      protocol: fc.constantFrom('sip', 'q.850', 'release_source'),
      cause: fc.option(fc.integer({ min: 0, max: 999 }), { nil: undefined }),
      text: fc.option(fc.stringMatching(/^[ -~]{0,20}$/), { nil: undefined }),
    },
    { noNullPrototype: true },
  );
  fc.assert(fc.property(reason, (original) => assert.deepEqual(readReason(writeReason(original)), original)));
});

test("RFC 3891's example", () => {
  const text = '425928@bobster.example.org;to-tag=7743;from-tag=6472';
  const replaces = readReplaces(text);
  assert.deepEqual(replaces, {
    callId: '425928@bobster.example.org',
    toTag: '7743',
    fromTag: '6472',
    earlyOnly: false,
  });
  assert.equal(writeReplaces({ ...replaces, earlyOnly: true }), `${text};early-only`);
  assert.equal(readReplaces(`${text};early-only`)?.earlyOnly, true);
  for (const bad of [
    '',
    'a',
    'a;to-tag=1',
    'a;from-tag=1;to-tag',
    ';to-tag=1;from-tag=2',
    'a b;to-tag=1;from-tag=2',
  ]) {
    assert.equal(readReplaces(bad), undefined, bad);
  }
});

test("RFC 3892's example, there and back", () => {
  const value = '"Ref Er" <sip:referror@referrer.example>;cid="20398823.2UWQFN309shb3@referror.example"';
  const read = readReferredBy(value);
  assert.ok(read);
  assert.equal(read.uri.user, 'referror');
  assert.equal(writeReferredBy(read), value);
  assert.equal(readReferredBy('<sip:a'), undefined);
});

function nameAddr(text: string): NameAddr {
  const parsed = parseNameAddr(text);
  assert.ok(parsed);
  return parsed;
}

const FROM = nameAddr('"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1');
const ASSERTED = ['<tel:+14085264000>', '"Cullen Jennings" <sip:fluffy@cisco.com>'];

test('what the network vouches for counts before From, from a peer that is trusted', () => {
  assert.deepEqual(callerIdentity(FROM, { asserted: ASSERTED, privacy: ['id'], remoteParty: [] }, true), {
    displayName: 'Cullen Jennings',
    caller: 'fluffy',
    uri: 'sip:fluffy@cisco.com',
    isPrivate: true,
    asserted: true,
  });
  assert.deepEqual(callerIdentity(FROM, { asserted: ASSERTED, privacy: [], remoteParty: [] }, false), {
    displayName: undefined,
    caller: undefined,
    uri: undefined,
    isPrivate: true,
    asserted: false,
  });
  const number = callerIdentity(
    FROM,
    { asserted: ['<tel:+1408;ext=1>', '<<'], privacy: ['none'], remoteParty: [] },
    true,
  );
  assert.deepEqual([number.caller, number.isPrivate], ['+1408', false]);
});

for (const [value, isPrivate] of [
  ['"Bob" <sip:bob@a.example>;party=calling;screen=yes;privacy=full', true],
  ['<sip:bob@a.example>;privacy=FULL', true],
  ['<sip:bob@a.example>;privacy=name', true],
  ['<sip:bob@a.example>;privacy=uri-network', true],
  ['<sip:bob@a.example>;privacy=off', false],
  ['<sip:bob@a.example>;party=called;privacy=full', false],
  ['<sip:bob@a.example>', false],
] as const) {
  test(`Remote-Party-ID: ${value} ${isPrivate ? 'hides' : 'does not hide'} the caller`, () => {
    const from = nameAddr('Bob <sip:bob@a.example>');
    const fields = { asserted: [], privacy: [], remoteParty: [value] };
    for (const trusted of [true, false])
      assert.equal(callerIdentity(from, fields, trusted).isPrivate, isPrivate);
  });
}

test('without more, From says who calls', () => {
  const from = nameAddr('Bob <sip:+4930123;phone-context=x@pbx.example>');
  const identity = callerIdentity(from, { asserted: [], privacy: [], remoteParty: [] }, true);
  assert.deepEqual(identity, {
    displayName: 'Bob',
    caller: '+4930123',
    uri: 'sip:+4930123;phone-context=x@pbx.example',
    isPrivate: false,
    asserted: false,
  });
});

test('kinds of privacy stand between semicolons', () => {
  assert.deepEqual(readPrivacy(' Header;id ; critical;'), ['header', 'id', 'critical']);
});

test('a name of any text is written so that the same is read, line ends aside', () => {
  assert.equal(writeNameAddr('A "B"\r\nVia: x', 'sip:a@b'), '"A \\"B\\" Via: x" <sip:a@b>');
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/), (name) => {
      assert.equal(nameAddr(writeNameAddr(name, 'sip:a@b')).displayName, name);
    }),
  );
  assert.equal(writeNameAddr(undefined, 'sip:a@b'), '<sip:a@b>');
});

const DATA = {
  method: 'INVITE',
  uri: 'sip:bob@example.com',
  headers: [
    ['From', '"Алиса" <sip:alice@example.com>;tag=1'],
    ['To', '<sip:bob@example.com>'],
    ['Call-ID', 'a'],
    ['CSeq', '1 INVITE'],
  ],
} as const;
const VIA = 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1';

test('a request is written in order, with Via first and the length in bytes last', () => {
  assert.equal(
    requestBytes({ ...DATA, body: 'é' }, VIA).toString(),
    [
      'INVITE sip:bob@example.com SIP/2.0',
      'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
      'From: "Алиса" <sip:alice@example.com>;tag=1',
      'To: <sip:bob@example.com>',
      'Call-ID: a',
      'CSeq: 1 INVITE',
      'Max-Forwards: 70',
      'Content-Length: 2',
      '',
      'é',
    ].join('\r\n'),
  );
});

test('what is written is read back, bytes of a body and all', () => {
  const body = Buffer.from([0, 255, 13, 10, 13, 10]);
  const parsed = parseMessage(
    requestBytes({ ...DATA, body, headers: [...DATA.headers, ['Max-Forwards', '5']] }, VIA),
  );
  assert.ok(parsed.kind === 'request');
  assert.deepEqual(parsed.request.body, body);
  assert.equal(parsed.request.maxForwards, 5);
  assert.equal(parsed.request.from.displayName, 'Алиса');
  const answer = parseMessage(
    responseBytes(parsed.request, { status: 200, toTag: 't', headers: [['Contact', '<sip:b@h>']] }),
  );
  assert.ok(answer.kind === 'response');
  assert.deepEqual([answer.response.status, answer.response.reason], [200, 'OK']);
  assert.deepEqual([answer.response.toTag, answer.response.from?.tag], ['t', '1']);
  assert.equal(answer.response.contact?.uri.host, 'h');
});

test('a value that would begin a line of its own is refused by name', () => {
  for (const [data, field] of [
    [{ ...DATA, headers: [['Subject', 'a\r\nVia: x']] as const }, 'headers'],
    [{ ...DATA, headers: [['Sub ject', 'a']] as const }, 'headers'],
    [{ ...DATA, uri: 'sip:a b' }, 'uri'],
    [{ ...DATA, method: 'IN VITE' }, 'method'],
  ] as const) {
    assert.throws(() => requestBytes(data, VIA), { code: 'INVALID_FIELD', field });
  }
  const parsed = parseMessage(requestBytes(DATA, VIA));
  assert.ok(parsed.kind === 'request');
  const { request } = parsed;
  assert.throws(() => responseBytes(request, { status: 400, reason: 'a\nb' }), { code: 'INVALID_FIELD' });
});

const ROUTED_HEAD = `INVITE sip:bob@example.com SIP/2.0
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1
From: <sip:a@h>;tag=1
To: <sip:b@h>
Call-ID: 1
CSeq: 1 INVITE`;

test('a response repeats a hundred values of Via in order, and no more', () => {
  const vias = Array.from({ length: 150 }, (_, n) => `SIP/2.0/UDP p${n}.example.com;branch=z9hG4bK${n}`);
  const head = ROUTED_HEAD.replace(/^Via: .*$/m, `Via: ${vias.join(', ')}`);
  const parsed = parseMessage(torture(head));
  assert.ok(parsed.kind === 'request');
  const response = parseMessage(responseBytes(parsed.request, { status: 200, toTag: 'x' }));
  assert.ok(response.kind === 'response');
  assert.deepEqual(response.response.all('via'), vias.slice(0, 100));
});

test('a response repeats every Record-Route, in order and with all its parameters', () => {
  const routes = `Record-Route: "P, 2" <sip:p2.example.com;lr;x=%41,b>;y="z,\\"" , <sip:[2001:db8::1]:5070;transport=tcp;lr>
record-route: <sip:p1.example.com>`;
  const parsed = parseMessage(torture(`${ROUTED_HEAD}\n${routes}`));
  assert.ok(parsed.kind === 'request');
  const lines = recordRoutesOf(parsed.request);
  assert.deepEqual(lines, [
    ['Record-Route', '"P, 2" <sip:p2.example.com;lr;x=%41,b>;y="z,\\""'],
    ['Record-Route', '<sip:[2001:db8::1]:5070;transport=tcp;lr>'],
    ['Record-Route', '<sip:p1.example.com>'],
  ]);
  const response = parseMessage(responseBytes(parsed.request, { status: 200, toTag: 'x', headers: lines }));
  assert.ok(response.kind === 'response');
  assert.deepEqual(
    response.response.all('record-route'),
    lines.map(([, value]) => value),
  );
});

test('a request that came straight here has none', () => {
  const parsed = parseMessage(torture(ROUTED_HEAD));
  assert.ok(parsed.kind === 'request');
  assert.deepEqual(recordRoutesOf(parsed.request), []);
});
