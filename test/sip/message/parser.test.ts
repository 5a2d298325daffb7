import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMessage } from '../../../sip/message/parser.js';
import { responseBytes } from '../../../sip/message/serialiser.js';
import { INVALID, SEMANTICS, VALID } from './rfc4475-messages.js';
import { torture } from './torture.js';

const SEED = 3261;
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
      fc.constantFrom('\r\n', ' ', '\t', '"', '<', '>', ';', ',', ':', '%', '\\', '@', '[', '\0', '\xff', '=', '\r', '\n'),
      fc.string({ unit: 'binary', maxLength: 12 }),
    ),
  }); // prettier-ignore
  fc.assert(
    fc.property(fc.constantFrom(...CORPUS), fc.array(edit, { minLength: 1, maxLength: 6 }), (seed, edits) => {
      let bytes = seed;
      for (const { at, remove, insert } of edits) {
        const start = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, start), Buffer.from(insert, 'latin1'), bytes.subarray(start + remove)]);
      }
      assert.match(handle(bytes), /^(?:request|response|refused|ignored)$/);
    }),
    { seed: SEED, numRuns: 6000 },
  ); // prettier-ignore
});

test('no bytes at all make the parser throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(handle(Buffer.from(bytes)), 'ignored');
    }),
    { seed: SEED, numRuns: 1000 },
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
  'spaces in the first line': (length) => torture(HEAD.replace(' SIP/2.0', `${' SIP/2.0 '.repeat(length / 9)}x`)),
  'escapes in the Request-URI': (length) => torture(HEAD.replace('user@', `${'%41'.repeat(length / 3)}@`)),
  'line ends alone': (length) => torture(`${HEAD}\nSubject: ${'\r'.repeat(length)}`),
}; // prettier-ignore

for (const [what, grown] of Object.entries(GROWING)) {
  test(`64 kB of ${what} cost time in proportion`, () => {
    const short = grown(16_384);
    const long = grown(65_536);
    assert.notEqual(handle(long), '');
    const ratio = Math.min(...Array.from({ length: 5 }, () => time(long) / time(short)));
    assert.ok(ratio < 10, `four times the length took ${ratio.toFixed(1)} times as long`);
  });
}

/** The fastest of some runs, so that a busy machine does not matter. */
function time(bytes: Buffer): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 7; run++) {
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

test('a datagram without Content-Length ends with its body, and one without an empty line is 400', () => {
  const parsed = parseMessage(torture(HEAD, 'abc'));
  assert.equal(parsed.kind === 'request' && parsed.request.body.toString(), 'abc');
  const cut = parseMessage(Buffer.from(HEAD.replaceAll('\n', '\r\n')));
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
