import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asRequestUri, parseUri, withoutHeaders } from '../../../sip/message/uri.js';

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
