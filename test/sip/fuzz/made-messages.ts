// SIP messages made from the grammar of RFC 3261, every legal oddity of it
// among them, and the damage that is done to messages.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { randomFrom } from '../../api/mutations.js';
import { SEED, TIMES } from '../../fakes/long-run.js';
import { INVALID, MPART01, SEMANTICS, VALID } from '../message/rfc4475-messages.js';

// prettier-ignore
const METHODS = [
  'INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'REGISTER', 'INFO', 'PRACK', 'UPDATE', 'REFER', 'NOTIFY', 'SUBSCRIBE',
  'MESSAGE', 'NEW-Method.1',
];
const HOSTS = [
  'example.com',
  'a-1.example.org.',
  '192.0.2.1',
  '[2001:db8::9:1]',
  '[2001:db8:::192.0.2.1]',
  '[::ffff:192.0.2.10]',
  'LOCALHOST',
  '1.example',
];
const NAMES = ['', 'Bob ', 'A. Bell ', '"Q \\" \\\\" ', '"" ', '"\u0440\u0430\u0431" ', '"a,b;c<d>" '];
const PARAMS = [
  ';lr',
  ';a=b',
  ';q=0.5',
  ';x="a;b,\\"c\\""',
  ' ; y = z',
  ';maddr=[::1]',
  ';n=a%41',
  ';expires=3600',
];
const USERS = ['bob', 'b%40b', 'a;p=1', '+1-201-555', 'u:pw', "!*'()&=+$,?/"];

function some(list: readonly string[], most: number, random: Random): string {
  return Array.from({ length: below(most + 1, random) }, () => oneOf(list, random)).join('');
}

function uri(random: Random): string {
  if (random() < 0.1) return oneOf(['tel:+1-201', 'urn:service:sos', 'http://a/b?c', 'im:x@y'], random);
  const user = random() < 0.7 ? `${oneOf(USERS, random)}@` : '';
  const port = random() < 0.3 ? `:${below(65_536, random)}` : '';
  const params = some([';lr', ';transport=tcp', ';ttl=1', ';%61=b', ';user=phone'], 3, random);
  const headers = random() < 0.1 ? '?Subject=a%20b&Replaces=x%3Bto-tag%3Da' : '';
  return `${oneOf(['sip', 'sips', 'SIP'], random)}:${user}${oneOf(HOSTS, random)}${port}${params}${headers}`;
}

function address(random: Random): string {
  return random() < 0.8
    ? `${oneOf(NAMES, random)}<${uri(random)}>${some(PARAMS, 3, random)}`
    : `sip:bob@h${some(PARAMS, 2, random)}`;
}

function via(random: Random): string {
  const gap = oneOf(['', ' ', '\r\n '], random);
  const over = oneOf(['UDP', 'TCP', 'tls', 'WSS', 'SCTP'], random);
  const port = random() < 0.5 ? `${gap}:${gap}${below(65_536, random)}` : '';
  const branch = random() < 0.9 ? `;branch=z9hG4bK${below(1e6, random)}` : '';
  return `SIP${gap}/${gap}2.0/${over} ${gap}${oneOf(HOSTS, random)}${port}${branch}${some([';rport', ';received=192.0.2.9', ';alias', ';x="q"'], 3, random)}`;
}

const BODIES: readonly (readonly [type: string, body: string])[] = [
  [
    'application/sdp',
    'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n',
  ],
  ['application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n'],
  ['multipart/mixed;boundary=b1', '--b1\r\nContent-Type: text/plain\r\n\r\nhi\r\n--b1--\r\n'],
  ['text/plain', 'hello'],
  ['', ''],
];

/** Lines that any message may have besides those that it must. */
function furtherLines(random: Random): string[] {
  const all = [
    `Contact: ${oneOf(['*', address(random)], random)}`,
    `m: ${address(random)}, ${address(random)}`,
    `Route: <sip:a;lr>, <${uri(random)}>`,
    'Record-Route: <sip:p1.example.com;lr>,<sip:p2.example.com;lr>',
    'Require: 100rel, timer',
    'k: timer, replaces',
    `Session-Expires: ${below(4000, random)};refresher=uas`,
    'Replaces: a@b;to-tag=1;from-tag=2;early-only',
    'Reason: Q.850 ;cause=16 ;text="Normal"',
    `Referred-By: ${address(random)}`,
    'Authorization: Digest username="a", realm="r", nonce="n", uri="sip:a", response="0", qop=auth, nc=1, cnonce="c"',
    'WWW-Authenticate: Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth,auth-int"',
    'Accept: application/sdp, text/*;q=0.1',
    'Warning: 399 a "b, c"',
    'Date: Sat, 13 Nov 2010 23:29:00 GMT',
    'X-Unknown:',
    'Timestamp: 54.21 0.1',
  ];
  return Array.from({ length: below(6, random) }, () => oneOf(all, random));
}

/** A legal message, or nearly. */
export function madeMessage(random: Random): string {
  const method = oneOf(METHODS, random);
  const isResponse = random() < 0.25;
  const status = oneOf([100, 180, 183, 200, 202, 302, 401, 407, 486, 487, 503, 603], random);
  const start = isResponse ? `SIP/2.0 ${status} Some Reason` : `${method} ${uri(random)} SIP/2.0`;
  const [type, body] = oneOf(BODIES, random);
  const lines = [
    ...Array.from(
      { length: 1 + below(3, random) },
      () => `${oneOf(['Via', 'v', 'VIA '], random)}: ${via(random)}`,
    ),
    `${oneOf(['From', 'f'], random)}: ${address(random)};tag=${below(1000, random)}`,
    `${oneOf(['To', 't'], random)}: ${address(random)}${random() < 0.5 ? ';tag=x' : ''}`,
    `${oneOf(['Call-ID', 'i'], random)}: ${below(1000, random)}@h`,
    `CSeq: ${below(2 ** 31, random)} ${method}`,
    ...(random() < 0.9 ? [`Max-Forwards: ${below(256, random)}`] : []),
    ...furtherLines(random),
    ...(type === '' ? [] : [`${oneOf(['Content-Type', 'c'], random)}: ${type}`]),
    ...(random() < 0.9 ? [`${oneOf(['Content-Length', 'l'], random)}: ${Buffer.byteLength(body)}`] : []),
  ];
  if (random() < 0.3) lines.sort(() => random() - 0.5);
  return `${[start, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

/** The messages of RFC 4475, one character a byte. */
const TORTURE: readonly string[] = [
  ...Object.values(VALID),
  MPART01,
  ...Object.values(INVALID),
  ...Object.values(SEMANTICS),
].map((bytes) => bytes.toString('latin1'));

// prettier-ignore
const NASTY = [
  '', ' ', '\t', '\0', '\r', '\n', '\r\n', '\r\n\r\n', '\r\n ', ',', ';', ':', '=', '"', '\\', '\\"', '<', '>', '%', '%0', '%00',
  '%zz', '@', '?', '[', ']', '[::', '*', '/', '-1', '0', '256', '65536', '2147483648', '99999999999999999999', 'NaN', '\x7f',
  '\xc3\x28', '\xe2\x82\xac', '\xff\xfe', 'SIP/2.0', 'SIP/7.0', 'z9hG4bK', ';tag=', ';branch=', '__proto__', 'constructor',
  'Content-Length: 5\r\n', 'l:\r\n 7\r\n', 'Via: SIP/2.0/UDP h\r\n', 'Call-ID: x\r\n', '"\n', '\nX: ', '\rX: ', ' SIP/2.0\r\n', '--b1\r\n',
];

type Damage = (text: string, random: Random) => string;

const DAMAGES: readonly Damage[] = [
  (text, random) => text.slice(0, below(text.length + 1, random)),
  (text, random) => replaced(text, below(text.length, random), 1 + below(40, random), ''),
  (text, random) => replaced(text, below(text.length, random), 0, oneOf(NASTY, random)),
  (text, random) => replaced(text, below(text.length, random), 1, oneOf(NASTY, random)),
  (text, random) => replaced(text, below(text.length, random), 1, String.fromCharCode(below(256, random))),
  (text, random) =>
    replaced(text, below(text.length, random), 0, oneOf(NASTY, random).repeat(below(200, random))),
  (text, random) => {
    const lines = text.split('\r\n');
    const at = below(lines.length, random);
    lines.splice(at, 1, ...Array<string>(below(4, random)).fill(lines[at] ?? ''));
    return lines.join('\r\n');
  },
  (text, random) => {
    const lines = text.split('\r\n');
    const [first, second] = [below(lines.length, random), below(lines.length, random)];
    [lines[first], lines[second]] = [lines[second] ?? '', lines[first] ?? ''];
    return lines.join('\r\n');
  },
  (text, random) => {
    const other = random() < 0.5 ? oneOf(TORTURE, random) : madeMessage(random);
    return text.slice(0, below(text.length, random)) + other.slice(below(other.length, random));
  },
  (text, random) => text.replace(/\d+/g, (digits) => (random() < 0.05 ? oneOf(NASTY, random) : digits)),
  (text, random) =>
    text.replace(/\r\n/g, (end) => (random() < 0.1 ? oneOf(['\n', '\r', '\r\n '], random) : end)),
];

function replaced(text: string, at: number, length: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + length);
}

/** The text with up to three kinds of damage, sometimes with none. */
export function damaged(text: string, random: Random): string {
  let result = text;
  for (let count = below(4, random); count > 0; count--) result = oneOf(DAMAGES, random)(result, random);
  return result;
}

/**
 * A message for the parser: made or from the torture tests, with damage or without, sometimes nothing but
 * noise.
 */
export function strangersMessage(random: Random): Buffer {
  const kind = random();
  if (kind < 0.02) return Buffer.from(Array.from({ length: below(200, random) }, () => below(256, random)));
  const text = kind < 0.4 ? oneOf(TORTURE, random) : madeMessage(random);
  return Buffer.from(damaged(text, random), 'latin1');
}

export type Random = () => number;

/** Returns an integer from 0 to below `most`. */
export function below(most: number, random: Random): number {
  return Math.floor(random() * most);
}

export function oneOf<T>(list: readonly T[], random: Random): T {
  const found = list[below(list.length, random)];
  if (found === undefined) throw new RangeError('nothing to choose from');
  return found;
}

/**
 * Calls `attempt` so often, each with a seed of its own, from `first` on; what it throws is told with its
 * seed and what was shown.
 */
export function fuzz(
  t: TestContext,
  count: number,
  attempt: (random: Random, show: (input: string | Uint8Array) => void) => void,
  first = 0,
): void {
  const began = performance.now();
  const rounds = count * TIMES;
  let shown: string | Uint8Array = '';
  for (let round = 0; round < rounds; round++) {
    try {
      attempt(randomFrom(SEED + first + round), (input) => (shown = input));
    } catch (error) {
      assert.fail(
        `FUZZ_SEED=${SEED + first + round} (its first round): ${textOf(shown)}\n${String((error as Error).stack)}`,
      );
    }
  }
  const seconds = (performance.now() - began) / 1000;
  t.diagnostic(`${rounds} rounds, ${Math.round(rounds / seconds)} a second, FUZZ_SEED=${SEED}`);
}

function textOf(input: string | Uint8Array): string {
  const text = typeof input === 'string' ? input : Buffer.from(input).toString('latin1');
  return JSON.stringify(text.slice(0, 4000));
}
