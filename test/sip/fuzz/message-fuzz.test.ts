// Fuzzing of messages from unknown peers: no reader throws, and every response can be parsed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DigestClient } from '../../../sip/auth/digest-client.js';
import { DigestServer } from '../../../sip/auth/digest-server.js';
import { DIGEST_ALGORITHMS, knownPeer, readAuthFields } from '../../../sip/auth/digest.js';
import { Nonces } from '../../../sip/auth/nonces.js';
import { callerIdentity } from '../../../sip/message/caller-identity.js';
import { HeaderFields, headLines } from '../../../sip/message/head.js';
import { type Answerable, mandatory, parseMessage, type SipRequest } from '../../../sip/message/message.js';
import { readReason, type Refusal, writeReason } from '../../../sip/message/refusal.js';
import {
  readReferredBy,
  readReplaces,
  writeReferredBy,
  writeReplaces,
} from '../../../sip/message/replaces.js';
import { responseBytes } from '../../../sip/message/serialiser.js';
import { parseNameAddr, parseUri } from '../../../sip/message/uri.js';
import { Pattern, RoutingTable } from '../../../sip/routing-table.js';
import { readDescription } from '../../../sip/sdp/session-description.js';
import { type Capabilities, requestRefusal } from '../../../sip/session/capabilities.js';
import { readDtmfInfo } from '../../../sip/session/info-digits.js';
import { readSessionFields } from '../../../sip/session/session-timer.js';
import { announcementIn } from '../../../sip/telephone/answering.js';
import { clientKey, serverKey } from '../../../sip/transaction/transaction.js';
import { type Framed, StreamFramer } from '../../../sip/transport/stream-framer.js';
import { TRANSPORT_LIMITS } from '../../../sip/transport/transport-limits.js';
import { connectionPlace, datagramPlace } from '../../../sip/transport/transports.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { negotiation, offerOf } from '../sdp/negotiation-under-test.js';
import { below, damaged, fuzz, madeMessage, oneOf, type Random, strangersMessage } from './made-messages.js';

const SOURCE = { address: '198.51.100.7', port: 5062 };
const ABILITIES: Capabilities = {
  methods: ['INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'INFO'],
  extensions: ['timer'],
  mediaTypes: ['application/sdp', 'multipart/mixed'],
  schemes: ['sip', 'sips'],
};
// prettier-ignore
const WRITTEN = ['via', 'from', 'to', 'call-id', 'cseq', 'content-length', 'allow', 'accept', 'accept-encoding', 'unsupported'];

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

// Damages header field values and bodies: no reader throws, and each takes time linear in its input.

const PEER = knownPeer('192.0.2.1');
const ASKED = { method: 'INVITE', uri: 'sip:b@example.com', body: Buffer.alloc(0) };
const BYTES = (count: number): Uint8Array => new Uint8Array(count).fill(7);
const FROM = parseNameAddr('"A" <sip:a@example.com>;tag=1') ?? assert.fail();

const client = new DigestClient(PEER, { username: 'a', secret: { password: 'p' }, realms: ['r'] }, BYTES);
const server = new DigestServer({
  realm: 'r',
  algorithms: DIGEST_ALGORITHMS,
  qops: ['auth', 'auth-int'],
  nonces: new Nonces({
    time: new ManualTime(),
    secret: BYTES(32),
    randomBytes: BYTES,
    lifetimeMs: 60_000,
    mostCounted: 100,
  }),
  secretOf: () => ({ password: 'p' }),
});
const routes = new RoutingTable([
  {
    name: 'one',
    to: new Pattern('*a*b*c*d*'),
    headers: new Map([['x-a', new Pattern('?*?*?')]]),
    answer: { kind: 'agent', agent: 'x' },
  },
]);

/**
 * Readers of one value each, with values to damage; a reader that writes again holds that this is read the
 * same.
 */
const READERS: Readonly<
  Record<string, readonly [read: (value: string) => unknown, values: readonly string[]]>
> = {
  'credentials and challenges': [
    (value) => [
      readAuthFields(value),
      client.answer(PEER, { www: [value], proxy: [value] }, ASKED),
      server.verify(PEER, [value], ASKED),
    ],
    [
      'Digest username="a", realm="r", nonce="n", uri="sip:b@example.com", response="0123456789abcdef0123456789abcdef", algorithm=MD5, qop=auth, nc=00000001, cnonce="c"',
      'Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth,auth-int", opaque="o", stale=TRUE, userhash=true, Basic realm="r"',
    ],
  ],
  Replaces: [
    (value) => again(readReplaces(value), writeReplaces, readReplaces),
    ['425928@bobster.example.org;to-tag=7743;from-tag=6472;early-only', 'a@b; from-tag = "x" ;to-tag=y'],
  ],
  Reason: [
    (value) => again(readReason(value), writeReason, readReason),
    ['Q.850;cause=16;text="Normal \\"x\\""', 'SIP ; cause=600'],
  ],
  'Referred-By': [
    (value) => again(readReferredBy(value), writeReferredBy, readReferredBy),
    ['"R" <sip:r@example.com;lr>;cid="20398823.2UWQFN309shb3@example.com"', 'sip:r@example.com'],
  ],
  'session timers': [
    (value) => readSessionFields({ sessionExpires: value, minSe: value, supported: [value] }),
    ['1800;refresher=uas', ' 90 ; x="y"'],
  ],
  'the caller': [
    (value) =>
      callerIdentity(
        parseNameAddr(value) ?? FROM,
        { asserted: [value], privacy: [value], remoteParty: [value] },
        true,
      ),
    [
      '"Bob" <sip:+1@example.com;user=phone>',
      '<tel:+1-201;ext=1>',
      'id;critical',
      'anonymous <sip:anonymous@anonymous.invalid>',
    ],
  ],
  announcements: [
    (value) => announcementIn({ params: (parseUri(value) ?? FROM.uri).params, header: () => value }, 500),
    [
      'sip:annc@h;text=Hello%20there;voice=slt;locale=en_US',
      'sip:annc@h;play=data:text/plain;base64,aGk=',
      'Hello',
    ],
  ],
  routes: [
    (value) => routes.find({ uri: parseUri(value) ?? FROM.uri, from: FROM, all: () => [value] }),
    ['sip:aaaabbbbccccdddd@example.com', 'tel:+1'],
  ],
  'digits in INFO': [
    (value) => [
      readDtmfInfo('application/dtmf-relay', value),
      readDtmfInfo(value, '5'),
      readDtmfInfo('application/dtmf', Buffer.from(value)),
    ],
    ['Signal=5\r\nDuration=160\r\n', ' Signal = 11 \nDuration= 99999', '#'],
  ],
};

function again<T>(
  found: T | undefined,
  write: (value: T) => string,
  read: (text: string) => T | undefined,
): void {
  if (found === undefined) return;
  const shown = shownAgain(found);
  if (/\\[bfnrt]|\\u00|\x7f/.test(shown)) return; // no header field holds control characters
  assert.ok(shownAgain(read(write(found))) === shown, write(found).slice(0, 1000));
}

/** Without what differs by the way it was written. */
function shownAgain(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => (key === 'params' ? undefined : item));
}

for (const [what, [read, values]] of Object.entries(READERS)) {
  test(`damaged values of ${what} are each read or refused`, (t) => {
    fuzz(t, 4000, (random, show) => {
      const value = damaged(oneOf(values, random), random);
      show(value);
      read(value);
    });
  });
}

// prettier-ignore
const OFFERS = [
  offerOf('m=audio 5004 RTP/AVP 0 8 9 96 101 13', 'a=rtpmap:96 opus/48000/2', 'a=fmtp:96 useinbandfec=1;maxptime=60', 'a=rtpmap:101 telephone-event/8000', 'a=fmtp:101 0-16', 'a=ptime:20', 'a=sendrecv'),
  offerOf('m=audio 5004 RTP/SAVPF 0', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:' + Buffer.alloc(30, 1).toString('base64') + '|2^20|1:4', 'a=crypto:2 AEAD_AES_128_GCM inline:' + Buffer.alloc(28, 1).toString('base64'), 'a=rtcp:5005 IN IP6 2001:db8::1', 'm=video 0 RTP/AVP 31'),
  offerOf('c=IN IP6 2001:db8::7', 'm=audio 5004 UDP/TLS/RTP/SAVPF 111', 'a=rtpmap:111 opus/48000/2', `a=fingerprint:sha-256 ${Array(32).fill('AB').join(':')}`, 'a=setup:actpass', 'a=tls-id:1', 'a=rtcp-mux', 'a=inactive'),
];

test('damaged offers are each answered with a description of as many sections, or refused', (t) => {
  let answered = 0;
  fuzz(t, 8000, (random, show) => {
    const media = negotiation();
    for (let round = 0; round < 2; round++) {
      const offer = damaged(oneOf(OFFERS, random), random);
      show(offer);
      const found = media.answer(Buffer.from(offer, 'latin1'));
      if (found.refusal !== undefined) {
        assert.ok([400, 488].includes(found.refusal.status));
        assert.ok(found.refusal.headers.every(([, value]) => !/[\r\n]/.test(value)));
        continue;
      }
      answered++;
      const theirs = readDescription(Buffer.from(offer, 'latin1')).value;
      const ours = readDescription(found.value.answer).value;
      assert.equal(ours?.media.length, theirs?.media.length);
      media.offer();
      media.accept(offer);
    }
  });
  assert.ok(answered > 2000, `${answered} were answered`);
});

/** Milliseconds of this process. */
function spentMs(action: () => unknown): number {
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

// prettier-ignore
const REPEATED = [' ', '\t', '\0', '\r', ',', ';', '"', '\\"', '<', '>', '=', '%41', '%', 'a', '1', '.', ':', '@', '*', '[', '?', '&', ';a', ';a=b', ',a', ', a=b', ' a', 'a ', ' =', '; ', '\r\n ', 'a=', '|', '+', '-', '/'];

for (const [what, [read, values]] of Object.entries(READERS)) {
  test(`64 kB in a value of ${what} are read or refused at once`, () => {
    for (const value of values) {
      for (const piece of REPEATED) {
        const grown = piece.repeat(65_536 / piece.length);
        const middle = Math.floor(value.length / 2);
        for (const text of [
          grown + value,
          value.slice(0, middle) + grown + value.slice(middle),
          value + grown,
          `${value}${grown}\u0001`,
        ]) {
          const tookMs = spentMs(() => read(text));
          assert.ok(tookMs < 300, `${tookMs} ms for ${JSON.stringify(piece)} in ${value}`);
        }
      }
    }
  });
}

test('32 kB in a line of an offer, or in many lines, are read or refused at once', () => {
  for (const offer of OFFERS) {
    const lines = offer.split('\r\n');
    for (const [index, line] of lines.entries()) {
      for (const piece of [...REPEATED, '\r\na=', '\r\nm=audio 1 RTP/AVP 0']) {
        const grown = piece.repeat(Math.floor((32_000 - offer.length) / piece.length));
        for (const bent of [
          line + grown,
          `${line}${grown}\u0001`,
          line.slice(0, 3) + grown + line.slice(3),
        ]) {
          const tookMs = spentMs(() => negotiation().answer(lines.with(index, bent).join('\r\n')));
          assert.ok(tookMs < 300, `${tookMs} ms for ${JSON.stringify(piece)} in ${line}`);
        }
      }
    }
  }
});
