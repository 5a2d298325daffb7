// Compares what our scanner reads with the grammar of sip.js, an independent parser, and checks URIs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { Grammar } from 'sip.js/lib/grammar/grammar.js';
import { parseCSeq } from '../../../sip/message/message.js';
import { readReplaces } from '../../../sip/message/replaces.js';
import { readSessionFields } from '../../../sip/session/session-timer.js';
import { asRequestUri, parseNameAddr, parseUri, withoutHeaders } from '../../../sip/message/uri.js';
import { parseVia } from '../../../sip/message/via.js';

const RUNS = { seed: 3261, numRuns: 150 }; // a millisecond each in the grammar

const word = (characters: string, minLength = 1): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters.split('')), minLength, maxLength: 8 });
const token = word("abcXYZ019-.!%*_+`'~");
const param = fc.oneof(
  token.map((name) => `p${name}`),
  fc.tuple(token, token).map(([name, value]) => `p${name}=${value}`),
  fc.tuple(token, word('ab c,;<>:@')).map(([name, value]) => `p${name}="${value}"`),
);
const params = fc.array(param, { maxLength: 3 }).map((list) => list.map((text) => `;${text}`).join(''));
const host = fc.constantFrom('example.com', 'a-1.example.org', '192.0.2.1', '[2001:db8::9:1]', 'localhost');
const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
const authority = fc
  .tuple(host, port)
  .map(([name, number]) => (number === undefined ? name : `${name}:${number}`));
const uri = fc
  .tuple(
    fc.constantFrom('sip', 'SIP', 'sips'),
    fc.option(word("aB1-_.!~*'()&=+$,;?/"), { nil: undefined }),
    authority,
    fc.constantFrom('', ';lr', ';transport=tcp'),
  )
  .map(([scheme, user, place, more]) => `${scheme}:${user === undefined ? '' : `${user}@`}${place}${more}`);
const display = fc.oneof(
  fc.constant(''),
  fc.constantFrom('Bob ', 'A. Bell ', '"" '),
  word('ab c<>,;:@').map((name) => `"${name}" `),
);

interface GrammarAddress {
  readonly displayName?: string;
  readonly parameters: Readonly<Record<string, string | null>>;
  readonly uri: {
    readonly scheme: string;
    readonly user?: string;
    readonly host: string;
    readonly port?: number;
  };
}

test('addresses', () => {
  fc.assert(
    fc.property(display, uri, params, (name, address, more) => {
      const text = `${name}<${address}>${more};tag=x1`;
      const theirs = Grammar.parse(text, 'From') as GrammarAddress | -1;
      const ours = parseNameAddr(text);
      assert.ok(theirs !== -1 && ours !== undefined, text);
      assert.equal(ours.displayName ?? '', theirs.displayName ?? '', text);
      assert.equal(ours.uri.scheme, theirs.uri.scheme);
      assert.equal(ours.uri.user ?? '', theirs.uri.user ?? '');
      assert.equal(ours.uri.host, theirs.uri.host.replace(/^\[|\]$/g, ''));
      assert.equal(ours.uri.port, theirs.uri.port);
      assert.equal(ours.tag, 'x1');
      for (const [key, value] of Object.entries(theirs.parameters))
        assertParameter(ours.params, key, value, more);
    }),
    RUNS,
  );
});

function assertParameter(
  ours: { has: (name: string) => boolean; get: (name: string) => string | undefined },
  key: string,
  value: string | null,
  text: string,
): void {
  assert.ok(ours.has(key), key);
  if (text.toLowerCase().split(`;${key}`).length > 2) return; // named twice: the grammar takes the last one
  assert.equal(ours.get(key), (value ?? '').replace(/^"|"$/g, ''));
}

interface GrammarVia {
  readonly transport: string;
  readonly host: string;
  readonly port?: number;
  readonly branch?: string;
}

test('Vias', () => {
  const space = fc.constantFrom('', ' ', '  ');
  fc.assert(
    fc.property(
      fc.constantFrom('UDP', 'TCP', 'tls', 'WSS'),
      space,
      authority,
      token,
      params,
      (over, gap, place, branch, more) => {
        const text = `SIP${gap}/${gap}2.0/${over} ${gap}${place}${gap};branch=z9hG4bK${branch}${more}`;
        const theirs = Grammar.parse(text, 'Via') as GrammarVia | -1;
        const ours = parseVia(text);
        assert.ok(theirs !== -1 && ours !== undefined, text);
        assert.equal(ours.transport, theirs.transport.toUpperCase());
        assert.equal(ours.sentBy.host, theirs.host.toLowerCase().replace(/^\[|\]$/g, ''));
        assert.equal(ours.sentBy.port, theirs.port);
        assert.equal(ours.branch, theirs.branch);
      },
    ),
    RUNS,
  );
});

test('CSeqs', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), token, (number, method) => {
      const theirs = Grammar.parse(`${number} ${method}`, 'CSeq') as { value: number } | -1;
      assert.ok(theirs !== -1);
      assert.deepEqual(parseCSeq(`${number} ${method}`), { number: theirs.value, method });
    }),
    { ...RUNS, numRuns: 40 },
  );
});

interface GrammarReplaces {
  readonly call_id: string;
  readonly replaces_from_tag: string;
  readonly replaces_to_tag: string;
  readonly early_only?: boolean;
}

test('Replaces', () => {
  const tags = fc.tuple(token, token, fc.boolean(), fc.boolean());
  fc.assert(
    fc.property(token, host, tags, (name, place, [toTag, fromTag, earlyOnly, fromFirst]) => {
      const [to, from] = [`;to-tag=${toTag}`, `;from-tag=${fromTag}`];
      const text = `${name}@${place}${fromFirst ? from + to : to + from}${earlyOnly ? ';early-only' : ''}`;
      const theirs = Grammar.parse(text, 'Replaces') as GrammarReplaces | -1;
      assert.ok(theirs !== -1, text);
      assert.deepEqual(readReplaces(text), {
        callId: theirs.call_id,
        toTag: theirs.replaces_to_tag,
        fromTag: theirs.replaces_from_tag,
        earlyOnly: theirs.early_only ?? false,
      });
    }),
    RUNS,
  );
  for (const text of ['98732@sip.example.com;from-tag=r33th4x0r', 'a;to-tag=1', ';to-tag=1;from-tag=2', '']) {
    assert.deepEqual([Grammar.parse(text, 'Replaces'), readReplaces(text)], [-1, undefined], text);
  }
});

test('Session-Expires', () => {
  const fields = (sessionExpires: string) =>
    readSessionFields({ sessionExpires, minSe: undefined, supported: [] });
  for (const text of ['1800', '90;refresher=uac', '7200 ;refresher=uas']) {
    const theirs = Grammar.parse(text, 'Session_Expires') as { deltaSeconds: number; refresher?: string };
    const { intervalSeconds, refresher } = fields(text).value ?? {};
    assert.deepEqual([intervalSeconds, refresher], [theirs.deltaSeconds, theirs.refresher], text);
  }
  assert.deepEqual([Grammar.parse('soon', 'Session_Expires'), fields('soon').refusal?.status], [-1, 400]);
});

test('a URI without its headers is whom to call, question marks in the user part or not', () => {
  for (const [text, bare] of [
    ['sip:carol@example.com', 'sip:carol@example.com'],
    ['sip:carol@example.com;user=phone?Replaces=a%3Bto-tag%3Db', 'sip:carol@example.com;user=phone'],
    ['sip:what?@example.com?Subject=x', 'sip:what?@example.com'],
    ['sip:example.com?Subject=x', 'sip:example.com'],
  ] as const) {
    const uri = parseUri(text);
    assert.equal(uri === undefined ? undefined : withoutHeaders(uri), bare);
  }
});

test('a Request-URI has no method and no headers, and keeps everything else', () => {
  for (const [text, kept] of [
    ['sip:bob@example.com;method=BYE', 'sip:bob@example.com'],
    ['sip:bob@example.com;transport=tcp;METHOD=INVITE;lr', 'sip:bob@example.com;transport=tcp;lr'],
    ['sip:bob@example.com;%6dethod=BYE;method', 'sip:bob@example.com'],
    ['sip:bob;method=x@example.com:5070;user=phone', 'sip:bob;method=x@example.com:5070;user=phone'],
    ['sip:bob;method=x@example.com;method=BYE?Subject=x', 'sip:bob;method=x@example.com'],
    ['sip:[2001:db8::1];method=BYE', 'sip:[2001:db8::1]'],
    ['tel:+4930;method=BYE', 'tel:+4930;method=BYE'],
  ] as const) {
    const uri = parseUri(text);
    assert.equal(uri === undefined ? undefined : asRequestUri(uri).text, kept, text);
  }
});
