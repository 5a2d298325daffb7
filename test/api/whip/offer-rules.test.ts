import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOffer } from '../../../src/api/whip/offer-rules.js';

const offer = (...lines: string[]) =>
  ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 't=0 0', ...lines].join('\r\n');
const AUDIO = ['m=audio 9 UDP/TLS/RTP/SAVPF 111', 'a=mid:0', 'a=sendonly', 'a=setup:actpass'];

test('sections of other kinds have no rules, and their attributes are their own', () => {
  for (const other of [
    'application 9 TCP/BFCP *',
    'image 9 udptl t38',
    'X-board 9 x/1 a',
    'text  9 RTP/AVP 98',
  ]) {
    checkOffer(offer(...AUDIO, `m=${other}`, 'a=inactive', 'a=setup:passive'), 'publish');
  }
});

test('blanks at the end of lines change nothing', () => {
  const blank = offer(...AUDIO).replaceAll('\r\n', ' \r\n');
  checkOffer(blank, 'publish');
  assert.throws(() => checkOffer(blank, 'listen'), {
    code: 'SDP_REFUSED',
    message: /audio section is sendonly/,
  });
  assert.throws(() => checkOffer(offer(...AUDIO, ...AUDIO), 'publish'), { message: /2 audio sections/ });
});
