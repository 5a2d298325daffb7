import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUnroutable } from '../../../sip/guard/address-list.js';

for (const [announced, peer, expected] of [
  ['192.168.1.5', '203.0.114.7', true], // a telephone behind a translator
  ['10.1.2.3', '2a00::7', true],
  ['fd00::5', '2a00::7', true],
  ['fe80::5', '2a00::7', true],
  ['100.64.0.1', '203.0.114.7', true],
  ['127.0.0.1', '203.0.114.7', true],
  ['127.0.0.1', '192.168.1.5', true],
  ['::1', '192.168.1.5', true],
  ['192.168.1.5', '192.168.1.9', false],
  ['192.168.1.5', '10.0.0.1', false], // one site with several networks
  ['192.168.1.5', '127.0.0.1', false], // a proxy on this machine
  ['127.0.0.1', '127.0.0.9', false],
  ['203.0.114.9', '203.0.114.7', false],
  ['203.0.114.9', '192.168.1.1', false],
  ['192.168.1.5', '::ffff:203.0.114.7', true],
  ['192.168.1.5', '', false],
  ['', '203.0.114.7', false],
] as const) {
  test(`${announced || 'no address'} as announced by ${peer || 'nobody'} ${expected ? 'cannot' : 'can'} be routed`, () => {
    assert.equal(isUnroutable(announced, peer), expected);
  });
}
