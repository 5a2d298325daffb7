import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUri, withoutHeaders } from '../../../sip/message/uri.js';

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
