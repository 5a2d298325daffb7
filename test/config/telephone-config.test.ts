import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { ParleyError } from '../../src/errors.js';

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test('nothing is captured unless somebody says so, and secrets only where they are asked for', () => {
  assert.deepEqual(readConfig({}).captures, { collector: undefined, files: undefined, keys: false });
  assert.equal(readConfig({ PCAP_DIR: '/x', PCAP_CALLS: 'off' }).captures.files, undefined);
  const files = {
    folder: '/x',
    calls: 'marked',
    rtp: false,
    bytesPerFile: 33_554_432,
    keepMs: 2_592_000_000,
    keepBytes: 10_737_418_240,
  };
  assert.deepEqual(readConfig({ PCAP_DIR: '/x' }).captures.files, files);
});

test('how long captures are kept, and how many bytes of them, can be set or left without limit', () => {
  const kept = (env: Record<string, string>) => {
    const { keepMs, keepBytes } = readConfig({ PCAP_DIR: '/x', ...env }).captures.files ?? {};
    return [keepMs, keepBytes];
  };
  assert.deepEqual(kept({ PCAP_KEEP_DAYS: '0.5', PCAP_KEEP_BYTES: '1000' }), [43_200_000, 1000]);
  assert.deepEqual(kept({ PCAP_KEEP_DAYS: '0', PCAP_KEEP_BYTES: '0' }), [0, 0]);
  assert.deepEqual(problemsOf({ PCAP_KEEP_DAYS: '1' }), [
    'PCAP_KEEP_DAYS needs PCAP_DIR, the folder of the files',
  ]);
});

test('calls are chosen by a word or by patterns', () => {
  const calls = (PCAP_CALLS: string) => readConfig({ PCAP_DIR: '/x', PCAP_CALLS }).captures.files?.calls;
  assert.equal(calls('ALL'), 'all');
  assert.deepEqual(calls('to:1*, From:sip?@h'), [
    { field: 'to', pattern: '1*' },
    { field: 'from', pattern: 'sip?@h' },
  ]);
  const words = 'must be off, all, marked, or patterns such as to:100,from:+49*';
  assert.deepEqual(problemsOf({ PCAP_DIR: '/x', PCAP_CALLS: 'some' }), [`PCAP_CALLS ${words}, not "some"`]);
  assert.deepEqual(problemsOf({ PCAP_DIR: '/x', PCAP_CALLS: 'all,to:1' }), [
    `PCAP_CALLS ${words}, not "all"`,
  ]);
});

test('a collector is a host and a port', () => {
  const place = (HEP_COLLECTOR: string) => {
    const { host, port } = readConfig({ HEP_COLLECTOR }).captures.collector ?? {};
    return [host, port];
  };
  assert.deepEqual(place('192.0.2.1:9061'), ['192.0.2.1', 9061]);
  assert.deepEqual(place('homer.example.org'), ['homer.example.org', 9060]);
  assert.deepEqual(place('[2001:db8::1]:9'), ['2001:db8::1', 9]);
  for (const wrong of ['http://homer', 'h:0', 'h:65536', '2001:db8::1', '[h]:9', ':9']) {
    assert.deepEqual(problemsOf({ HEP_COLLECTOR: wrong }), [
      `HEP_COLLECTOR must be host:port, such as 192.0.2.1:9060, not "${wrong}"`,
    ]);
  }
});

test('a variable without effect is a mistake, reported with the others', () => {
  assert.deepEqual(problemsOf({ HEP_KEY: 'k', HEP_ID: '-1', PCAP_RTP: '1', PCAP_BYTES: '5' }), [
    'HEP_ID must be a number from 0 to 4294967295, not "-1"',
    'HEP_ID needs HEP_COLLECTOR, the address of the collector',
    'HEP_KEY needs HEP_COLLECTOR, the address of the collector',
    'PCAP_BYTES must be a number from 100000 to 1099511627776, not "5"',
    'PCAP_RTP needs PCAP_DIR, the folder of the files',
    'PCAP_BYTES needs PCAP_DIR, the folder of the files',
  ]);
});
