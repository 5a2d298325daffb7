// Signatures of requests, judged by the package `twilio`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import twilio from 'twilio';
import { formSignature, jsonSignature } from '../../../src/api/twiml/twiml-signature.js';

const TOKEN = 'token-of-the-server';

for (const written of [
  'https://bot.example.com/voice',
  'https://bot.example.com:443/voice',
  'http://bot.example.com:80/voice?a=1',
  'http://127.0.0.1:8080/voice',
  'https://bot.example.com/voice%20menu?name=a%20b&city=K%C3%B6ln',
  'https://bot.example.com/voice?a=1#rc=2&rp=all',
]) {
  test(`the judge takes a signed form to ${written}`, () => {
    const fields = [
      ['To', '+15550100'],
      ['Digits', '1'],
      ['Event', 'ringing'],
      ['Event', 'answered'],
      ['Event', 'ringing'],
    ] as const;
    const seen = { To: '+15550100', Digits: '1', Event: ['ringing', 'answered', 'ringing'] };
    const [url = ''] = written.split('#');
    const signature = formSignature(TOKEN, new URL(written), fields);
    assert.ok(twilio.validateRequest(TOKEN, signature, url, seen));
    assert.ok(!twilio.validateRequest(TOKEN, signature, `${url}x`, seen));
    assert.ok(!twilio.validateRequest('another-token', signature, url, seen));
  });
}

test('the judge takes a signed JSON body by the hash in its URL', () => {
  const body = JSON.stringify({ text: 'grüß Gott' });
  for (const written of ['https://bot.example.com/hook', 'https://bot.example.com/hook?a=1']) {
    const { url, signature } = jsonSignature(TOKEN, new URL(written), body);
    assert.ok(url.href.startsWith(written));
    assert.ok(twilio.validateRequestWithBody(TOKEN, signature, url.href, body));
    assert.ok(!twilio.validateRequestWithBody(TOKEN, signature, url.href, `${body} `));
  }
});
