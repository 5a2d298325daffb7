// Fuzzing of messages from unknown peers: no reader throws, and every response can be parsed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeaderFields, headLines } from '../../../sip/message/head.js';
import { type Capabilities, requestRefusal } from '../../../sip/session/capabilities.js';
import { mandatory, parseMessage } from '../../../sip/message/parser.js';
import type { Refusal } from '../../../sip/message/refusal.js';
import type { Answerable, SipRequest } from '../../../sip/message/message.js';
import { responseBytes } from '../../../sip/message/serialiser.js';
import { clientKey, serverKey } from '../../../sip/transaction/transaction.js';
import { connectionPlace, datagramPlace } from '../../../sip/transport/transports.js';
import { StreamFramer, type Framed } from '../../../sip/transport/stream-framer.js';
import { TRANSPORT_LIMITS } from '../../../sip/transport/transport-limits.js';
import { below, fuzz, type Random } from './fuzz-run.js';
import { damaged, madeMessage, strangersMessage } from './made-messages.js';

const SOURCE = { address: '198.51.100.7', port: 5062 };
const ABILITIES: Capabilities = {
  methods: ['INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'INFO'],
  extensions: ['timer'],
  mediaTypes: ['application/sdp', 'multipart/mixed'],
  schemes: ['sip', 'sips'],
};
const WRITTEN = ['via', 'from', 'to', 'call-id', 'cseq', 'content-length', 'allow', 'accept', 'accept-encoding', 'unsupported']; // prettier-ignore

/** The response can be read, says what was meant, and holds no line that the peer made up. */
function assertAnswer(request: Answerable, { status, reason, headers }: Refusal): void {
  const bytes = responseBytes(request, { status, reason, headers, toTag: 'ours' });
  const end = bytes.indexOf('\r\n\r\n');
  assert.equal(end, bytes.length - 4, 'something stands behind the head');
  const { startLine, fields, fault } = headLines(bytes.subarray(0, end));
  assert.deepEqual([startLine, fault], [`SIP/2.0 ${status} ${reason}`, undefined]);
  for (const { key } of fields) assert.ok(WRITTEN.includes(key), `a line "${key}"`);
  const read = new HeaderFields(fields);
  assert.deepEqual(read.all('content-length'), ['0']);
  // A value that holds half a line end is left out.
  if (typeof mandatory(request.fields) === 'string' || hasLineEnd(request.fields)) return;
  const parsed = parseMessage(bytes);
  assert.ok(parsed.kind === 'response', JSON.stringify(parsed));
  assert.equal(parsed.response.callId, request.fields.first('call-id'));
  assert.equal(parsed.response.via.toString(), request.via.toString());
}

function hasLineEnd({ list }: HeaderFields): boolean {
  return list.some(({ value }) => /[\r\n]/.test(value));
}

function assertRequest(request: SipRequest): void {
  assert.ok(serverKey(request).length > 0);
  assert.ok(request.maxForwards === undefined || request.maxForwards <= 255);
  void [request.contentType, request.contact, request.all('route'), request.first('require')];
  void [datagramPlace(request.via), connectionPlace(request.via, 'tcp')];
  assertAnswer(
    request,
    requestRefusal(request, ABILITIES) ?? { status: 486, reason: 'Busy Here', headers: [] },
  );
}

test('no message makes the parser throw, and every answer to one can be read', (t) => {
  const kinds = { request: 0, response: 0, refused: 0, ignored: 0 };
  fuzz(t, 40_000, (random, show) => {
    const bytes = strangersMessage(random);
    show(bytes);
    const parsed = parseMessage(bytes, random() < 0.9 ? SOURCE : undefined, random() < 0.3);
    kinds[parsed.kind]++;
    if (parsed.kind === 'request') assertRequest(parsed.request);
    else if (parsed.kind === 'refused') assertAnswer(parsed.request, parsed.refusal);
    else if (parsed.kind === 'response') {
      const { response } = parsed;
      void [response.contact, response.contentType, response.toTag, response.all('via'), clientKey(response)];
    }
  });
  for (const count of Object.values(kinds)) assert.ok(count > 2000, JSON.stringify(kinds));
});

/** The rules across fields that a made message breaks, as the refusal names them. */
function brokenRules(text: string): string[] {
  const [start = '', ...lines] = (text.split('\r\n\r\n')[0] ?? '').split(/\r\n(?! )/);
  const count = (pattern: RegExp): number => lines.filter((line) => pattern.test(line)).length;
  const isRequest = !start.startsWith('SIP/');
  return [
    ...(isRequest && start.includes('?Subject=') ? ['Bad Request-URI'] : []),
    ...(isRequest && count(/^(?:Contact|m): \*/) > 0 && count(/^(?:Contact|m):/) > 1 ? ['Bad Contact'] : []),
    ...(isRequest && count(/^Session-Expires:/) > 1 ? ['Repeated Session-Expires'] : []),
    ...(isRequest && count(/^Replaces:/) > 1 ? ['Repeated Replaces'] : []),
  ];
}

test('what is legal is read, and what breaks a rule across fields is refused by its name', () => {
  const found = { legal: 0, broken: 0 };
  for (let seed = 0; seed < 3000; seed++) {
    const text = madeMessage(seededRandom(seed));
    const rules = brokenRules(text);
    const parsed = parseMessage(Buffer.from(text), SOURCE);
    found[rules.length === 0 ? 'legal' : 'broken']++;
    if (rules.length === 0) assert.equal(parsed.kind, text.startsWith('SIP/') ? 'response' : 'request', text);
    else if (text.startsWith('ACK ')) assert.deepEqual(parsed, { kind: 'ignored', reason: 'bad-ack' }, text);
    else assert.ok(parsed.kind === 'refused' && rules.includes(parsed.refusal.reason), text);
  }
  assert.ok(found.legal > 2000 && found.broken > 100, JSON.stringify(found));
});

function seededRandom(seed: number): Random {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function inPieces(stream: Buffer, random: Random): Buffer[] {
  const most = 1 + below(random() < 0.2 ? 3 : 2000, random);
  const pieces: Buffer[] = [];
  for (let at = 0; at < stream.length;) {
    const length = 1 + below(most, random);
    pieces.push(stream.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

function framed(pieces: readonly Buffer[]): Framed[] {
  const framer = new StreamFramer({ ...TRANSPORT_LIMITS, headBytes: 3000, bodyBytes: 2000 });
  return pieces.flatMap((piece) => framer.push(piece));
}

/** A head that is too large is noticed after more or fewer of its bytes. */
function comparable(found: readonly Framed[]): unknown[] {
  return found.map((one) => (one.kind === 'broken' ? one.reason : one));
}

test('a stream is cut into the same messages however it came in segments, and none of them is lost', (t) => {
  let messages = 0;
  fuzz(t, 1500, (random, show) => {
    const texts = Array.from({ length: 1 + below(6, random) }, () =>
      random() < 0.6 ? madeMessage(random) : damaged(madeMessage(random), random),
    );
    const stream = Buffer.from(texts.join(random() < 0.2 ? '\r\n\r\n' : ''), 'latin1');
    show(stream);
    const whole = framed([stream]);
    assert.deepEqual(comparable(framed(inPieces(stream, random))), comparable(whole));
    for (const one of whole) {
      if (one.kind === 'message') messages++;
      if (one.kind === 'message' || one.kind === 'broken') parseMessage(one.bytes, SOURCE, true);
    }
  });
  assert.ok(messages > 1500);
});
