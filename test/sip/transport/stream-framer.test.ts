import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { type Framed, StreamFramer } from '../../../sip/transport/stream-framer.js';

const LIMITS = { headBytes: 2000, bodyBytes: 1000 };

function message(body: string, name = 'Content-Length'): string {
  return `OPTIONS sip:a SIP/2.0\r\nVia: SIP/2.0/TCP a\r\n${name}: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Everything that a stream holds, its pieces pushed one after the other. */
function framed(pieces: readonly Buffer[], limits = LIMITS): string[] {
  const framer = new StreamFramer(limits);
  return pieces.flatMap((piece) => framer.push(piece).map(shown));
}

function shown(found: Framed): string {
  if (found.kind === 'message') return found.bytes.toString('latin1');
  return found.kind === 'broken' ? found.reason : found.kind;
}

test('the same messages come out however the stream is cut', () => {
  const parts = fc.array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }).map((body) => message(body)),
      fc.constantFrom(
        message('x'.repeat(900), 'l'),
        message('\r\n\r\n', 'CONTENT-LENGTH \t'),
        message('', 'L'),
      ),
      fc.constant('\r\n\r\n'),
    ),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(parts, fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 200 }), (texts, cuts) => {
      const stream = Buffer.from(texts.join(''), 'utf8');
      const pieces: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(stream.subarray(at, at + cut));
        at += cut;
      }
      pieces.push(stream.subarray(at));
      const expected = texts.flatMap((text) =>
        text === '\r\n\r\n' ? ['pong', 'ping'] : [Buffer.from(text, 'utf8').toString('latin1')],
      );
      assert.deepEqual(framed(pieces), expected);
    }),
    { seed: 3261, numRuns: 500 },
  );
});

test('byte by byte costs no more than the bytes', () => {
  const stream = Buffer.from(message('x'.repeat(1000)).repeat(50));
  const framer = new StreamFramer(LIMITS);
  let count = 0;
  for (let at = 0; at < stream.length; at++) count += framer.push(stream.subarray(at, at + 1)).length;
  assert.equal(count, 50);
});

test('a single empty line between messages is an answer to a ping, two are a ping', () => {
  const text = `\r\n${message('')}\r\n\r\n\r\n${message('')}`;
  assert.deepEqual(framed([Buffer.from(text)]), ['pong', message(''), 'pong', 'ping', 'pong', message('')]);
});

test('what cannot be framed breaks the stream, and nothing is read after it', () => {
  for (const [text, reason] of [
    ['a'.repeat(2001), 'head-too-large'],
    [`${'a: b\r\n'.repeat(400)}\r\n`, 'head-too-large'],
    ['OPTIONS sip:a SIP/2.0\r\n\r\n', 'unframed'],
    ['OPTIONS sip:a SIP/2.0\r\nContent-Length: -1\r\n\r\n', 'unframed'],
    ['OPTIONS sip:a SIP/2.0\r\nContent-Length: 1\r\nl: 2\r\n\r\n', 'unframed'],
    ['OPTIONS sip:a SIP/2.0\r\nContent-Length: 99999999999\r\n\r\n', 'unframed'],
    ['OPTIONS sip:a SIP/2.0\r\nContent-Length: 1001\r\n\r\n', 'body-too-large'],
  ] as const) {
    assert.deepEqual(framed([Buffer.from(text), Buffer.from(message(''))]), [reason], text.slice(0, 60));
  }
});

test('a folded Content-Length is read', () => {
  const text = 'OPTIONS sip:a SIP/2.0\r\nContent-Length:\r\n  3\r\n\r\nabc';
  assert.deepEqual(framed([Buffer.from(text)]), [text]);
});

test('messages whose lines end in LF alone are cut out as well, however the stream is cut', () => {
  const parts = [
    message('one').replaceAll('\r\n', '\n'),
    message('two\n\n'),
    message('').replaceAll('\r\n', '\n'),
  ];
  const stream = Buffer.from(parts.join(''));
  for (let size = 1; size <= stream.length; size++) {
    const pieces: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) pieces.push(stream.subarray(at, at + size));
    assert.deepEqual(framed(pieces), parts);
  }
});
