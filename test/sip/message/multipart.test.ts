// Bodies in parts, with those of RFC 4475 among them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMediaType } from '../../../sip/message/message.js';
import { understoodParts } from '../../../sip/message/body.js';
import { damaged, fuzz, oneOf } from '../fuzz/made-messages.js';
import { MPART01_BODY } from './rfc4475-messages.js';

const SDP = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\n';

function partsOf(
  body: string | Buffer,
  understood: readonly string[],
  type = 'multipart/mixed;boundary="b 1"',
) {
  const parsed = parseMediaType(type);
  assert.ok(parsed !== undefined);
  const found = understoodParts(Buffer.from(body), parsed, understood);
  return found.refusal === undefined
    ? found.value.map((part) => `${part.type.name} ${part.disposition} ${part.body.toString('latin1')}`)
    : found.refusal.status;
}

/** A part with this header, and the delimiter before it. */
function part(content: string, ...header: readonly string[]): string {
  return ['--b 1', ...header, '', content, ''].join('\r\n');
}

const END = '--b 1--\r\n';
const DESCRIPTION = part(SDP, 'Content-Type: application/sdp');
const XML = part('<a/>', 'c: application/isup', 'Content-Disposition: signal ; handling=optional');

test('the part of a type is found, wherever it stands', () => {
  const wanted = [`application/sdp session ${SDP}`];
  assert.deepEqual(partsOf(DESCRIPTION + XML + END, ['application/sdp']), wanted);
  assert.deepEqual(partsOf(`before\r\n${XML}${DESCRIPTION}${END}after`, ['application/sdp']), wanted);
  assert.deepEqual(partsOf(SDP, ['application/sdp'], 'application/sdp'), wanted, 'the body itself');
  const both = partsOf(DESCRIPTION + XML + END, ['application/sdp', 'application/isup']);
  assert.deepEqual(both, [...wanted, 'application/isup signal <a/>']);
});

test('parts are told apart, too, where lines end in LF alone', () => {
  const bare = (text: string): string => text.replaceAll('\r\n', '\n');
  const both = ['application/sdp', 'application/isup'];
  const found = [`application/sdp session ${bare(SDP)}`, 'application/isup signal <a/>'];
  assert.deepEqual(partsOf(bare(DESCRIPTION + XML + END), both), found);
  assert.deepEqual(partsOf(bare(`before\r\n${DESCRIPTION}${XML}${END}`), both), found);
  assert.deepEqual(partsOf(bare(part('Hello', '--no delimiter') + END), ['text/plain']), 400);
  assert.deepEqual(partsOf('--b 1\n\nHello\n--b 1--', ['text/plain']), ['text/plain render Hello']);
});

test("RFC 4475's multipart body holds its text and its bytes", () => {
  const type = 'multipart/mixed;boundary=7a9cbec02ceef655';
  const found = partsOf(MPART01_BODY, ['text/plain', 'application/octet-stream'], type);
  assert.ok(Array.isArray(found));
  assert.equal(found[0], 'text/plain render Hello');
  assert.equal(
    Buffer.from(found[1]?.slice('application/octet-stream render '.length) ?? '', 'latin1').length,
    32,
  );
});

test('a part that is demanded and not understood refuses the whole, one that is optional does not', () => {
  const demanded = part(
    '<a/>',
    'Content-Type: application/isup',
    'Content-Disposition: signal;handling=required',
  );
  assert.equal(partsOf(DESCRIPTION + demanded + END, ['application/sdp']), 415);
  const unmarked = demanded.replace(';handling=required', '');
  assert.equal((partsOf(DESCRIPTION + unmarked + END, ['application/sdp']) as string[]).length, 1);
  assert.deepEqual(partsOf(XML + END, ['application/sdp']), []);
});

test('in what cannot be refused, parts that are demanded and not understood are passed by', () => {
  const lenient = (body: string, type = 'multipart/mixed;boundary="b 1"') => {
    const parsed = parseMediaType(type);
    assert.ok(parsed !== undefined);
    return understoodParts(Buffer.from(body), parsed, ['application/sdp'], false);
  };
  const demanded = part('<a/>', 'Content-Type: application/isup');
  const bodies = (body: string, type?: string) =>
    lenient(body, type).value?.map((found) => found.body.toString());
  assert.deepEqual(bodies(demanded + DESCRIPTION + END), [SDP]);
  assert.deepEqual(bodies(demanded + END, 'multipart/alternative;boundary="b 1"'), []);
  assert.deepEqual(bodies(DESCRIPTION + demanded + END, 'multipart/alternative;boundary="b 1"'), [SDP]);
  assert.deepEqual(bodies('x', 'text/plain'), []);
  assert.equal(lenient(DESCRIPTION).refusal?.status, 400, 'it does not end');
});

test('a description that is no offer says so', () => {
  const early = part(SDP, 'Content-Type: application/sdp', 'Content-Disposition: early-session');
  assert.deepEqual(partsOf(early + END, ['application/sdp']), [`application/sdp early-session ${SDP}`]);
});

test('of alternatives the last one that is understood is taken', () => {
  const body =
    part('a', 'Content-Type: text/plain') +
    part('b', 'Content-Type: text/html') +
    part('c', 'Content-Type: text/x') +
    END;
  const type = 'multipart/alternative;boundary="b 1"';
  assert.deepEqual(partsOf(body, ['text/plain', 'text/html'], type), ['text/html render b']);
  assert.equal(partsOf(body, ['application/sdp'], type), 415);
});

test('parts may stand within parts, three levels deep', () => {
  const nested = (levels: number): string =>
    levels === 0
      ? DESCRIPTION.replace('--b 1', `--${levels + 1}`) + `--${levels + 1}--`
      : `--${levels + 1}\r\nContent-Type: multipart/mixed;boundary=${levels}\r\n\r\n${nested(levels - 1)}\r\n--${levels + 1}--`;
  const at = (levels: number) =>
    partsOf(nested(levels), ['application/sdp'], `multipart/mixed;boundary=${levels + 1}`);
  assert.ok(Array.isArray(at(0)));
  assert.deepEqual(at(2), [`application/sdp session ${SDP}`]);
  assert.equal(at(3), 413);
});

test('there are no more than sixteen parts', () => {
  const text = part('x', 'Content-Type: text/plain');
  assert.equal((partsOf(text.repeat(16) + END, ['text/plain']) as string[]).length, 16);
  assert.equal(partsOf(text.repeat(17) + END, ['text/plain']), 413);
  assert.equal(partsOf(text.repeat(20_000) + END, ['text/plain']), 413);
});

test('parts without a header are text, empty ones are empty, and base64 is undone', () => {
  assert.deepEqual(partsOf(part('x') + END, ['text/plain']), ['text/plain render x']);
  assert.deepEqual(partsOf(part('', 'Content-Type: text/plain') + END, ['text/plain']), [
    'text/plain render ',
  ]);
  assert.deepEqual(partsOf('--b 1\r\nContent-Type: text/plain\r\n--b 1--', ['text/plain']), [
    'text/plain render ',
  ]);
  const coded = part('aGVs\r\nbG8=', 'Content-Type: text/plain', 'Content-Transfer-Encoding: BASE64');
  assert.deepEqual(partsOf(coded + END, ['text/plain']), ['text/plain render hello']);
  for (const line of ['Content-Transfer-Encoding: quoted-printable', 'Content-Encoding: gzip']) {
    assert.equal(partsOf(part('x', 'Content-Type: text/plain', line) + END, ['text/plain']), 415);
  }
});

test('a line that only begins like a delimiter is none', () => {
  const body = part('--b 1x\r\n--b 12\r\n-- b 1', 'Content-Type: text/plain').replace(
    '--b 1\r\n',
    '--b 1 \t\r\n',
  );
  assert.deepEqual(partsOf(body + END, ['text/plain']), ['text/plain render --b 1x\r\n--b 12\r\n-- b 1']);
});

test('what cannot be told apart is 400', () => {
  for (const body of [
    '',
    'x',
    DESCRIPTION,
    `x${END}`,
    part('x', 'no header field') + END,
    part('x', 'Content-Type: x') + END,
  ]) {
    assert.equal(partsOf(body, ['application/sdp']), 400, body);
  }
  for (const boundary of ['', '"a "', `"${'a'.repeat(71)}"`, '"a\u00e4"']) {
    const type = boundary === '' ? 'multipart/mixed' : `multipart/mixed;boundary=${boundary}`;
    assert.equal(partsOf(DESCRIPTION + END, ['application/sdp'], type), 400, boundary);
  }
});

test('damaged bodies are each taken apart or refused', (t) => {
  const bodies = [
    DESCRIPTION + XML + END,
    part(`--a\r\n\r\nx\r\n--a--`, 'Content-Type: multipart/related;boundary=a') + XML + END,
  ];
  fuzz(t, 10_000, (random, show) => {
    const body = damaged(oneOf(bodies, random), random);
    show(body);
    const found = partsOf(body, ['application/sdp', 'text/plain']);
    assert.ok(Array.isArray(found) || [400, 413, 415].includes(found));
  });
});
