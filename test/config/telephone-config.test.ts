// The variables of telephone calls.
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

test('telephone calls have ports below those that the system gives away, and sound that no silence ends soon', () => {
  assert.deepEqual(readConfig({}).phoneMedia, {
    rtpPorts: [16_384, 32_767],
    rtpPortDrainMs: 30_000,
    rtpDscp: 46,
    rtpTimeoutMs: 300_000,
    rtpLatchNetworks: [],
    srtp: 'prefer',
    srtpKeying: undefined,
    comfortNoise: false,
    sipCodecs: ['G722', 'opus', 'PCMU', 'PCMA'],
  });
  assert.deepEqual(readConfig({ SRTP_KEYING: 'SDES, dtls,sdes' }).phoneMedia.srtpKeying, ['sdes', 'dtls']);
  assert.deepEqual(problemsOf({ SRTP_KEYING: 'sdes,zrtp' }), [
    'SRTP_KEYING must be of sdes, dtls, not "zrtp"',
  ]);
  assert.equal(readConfig({ RTP_COMFORT_NOISE: '1' }).phoneMedia.comfortNoise, true);
  const { phoneMedia } = readConfig({ SIP_CODECS: 'pcma, Opus,PCMA', RTP_TIMEOUT: '0', SRTP: 'Require' });
  assert.deepEqual(
    [phoneMedia.sipCodecs, phoneMedia.rtpTimeoutMs, phoneMedia.srtp],
    [['PCMA', 'opus'], 0, 'require'],
  );
});

test('networks that media may come from are networks', () => {
  const { phoneMedia } = readConfig({ RTP_LATCH_NETWORKS: '10.0.0.0/8, fe80::1%eth0' });
  assert.deepEqual(phoneMedia.rtpLatchNetworks, ['10.0.0.0/8', 'fe80::1']);
  assert.deepEqual(problemsOf({ RTP_LATCH_NETWORKS: '10.0.0.0/33' }), [
    'RTP_LATCH_NETWORKS must be addresses or networks such as 10.0.0.0/8, not "10.0.0.0/33"',
  ]);
});

test('which destinations may be called is a list of prefixes, each with its calls a minute', () => {
  const { sip } = readConfig({
    SIP_DESTINATIONS: '+49=60, +49900=0,Sales,@SIP.example.com,@[2001:DB8::1]=5,*=1',
  });
  assert.deepEqual(sip.destinations, [
    { prefix: '+49', callsPerMinute: 60 },
    { prefix: '+49900', callsPerMinute: 0 },
    { prefix: 'sales', callsPerMinute: undefined },
    { prefix: '@sip.example.com', callsPerMinute: undefined },
    { prefix: '@2001:db8::1', callsPerMinute: 5 },
    { prefix: '*', callsPerMinute: 1 },
  ]);
  for (const wrong of ['+49=', '=5', '+49=x', 'bob@example.com', '@', '+49=1=2', '+49=-1']) {
    const problem = `SIP_DESTINATIONS must be prefixes such as +49 or +49=60, not "${wrong}"`;
    assert.deepEqual(problemsOf({ SIP_DESTINATIONS: `+43,${wrong}` }), [problem]);
  }
  assert.deepEqual(problemsOf({ SIP_DESTINATIONS: '+49,+49=5' }), ['SIP_DESTINATIONS names "+49" twice']);
  const free = readConfig({}).sip;
  assert.deepEqual(
    [free.directCalls, free.redirections, free.destinations, free.callsPerMinute],
    [true, false, [], 0],
  );
  const strict = readConfig({ SIP_DIRECT_CALLS: '0', SIP_REDIRECTIONS: '1', SIP_CALLS_PER_MINUTE: '30' }).sip;
  assert.deepEqual([strict.directCalls, strict.redirections, strict.callsPerMinute], [false, true, 30]);
});

test('a range of media ports holds at least one pair, and codecs are known ones', () => {
  assert.deepEqual(problemsOf({ RTP_PORT_MIN: '20001', RTP_PORT_MAX: '20002' }), [
    'RTP_PORT_MAX leaves no pair of ports from RTP_PORT_MIN=20001 on',
  ]);
  assert.deepEqual(problemsOf({ RTP_PORT_MIN: '20000', RTP_PORT_MAX: '20001' }), []);
  assert.deepEqual(problemsOf({ SIP_CODECS: 'PCMU,GSM' }), [
    'SIP_CODECS must be of G722, opus, PCMU, PCMA, not "GSM"',
  ]);
});

test('applications are shown the header fields of callers that are usual, or those that are named', () => {
  const usual = ['X-*', 'Diversion', 'User-to-User', 'P-Asserted-Identity'];
  assert.deepEqual(readConfig({}).sip.callHeaders, usual);
  assert.deepEqual(readConfig({ SIP_CALL_HEADERS: '-' }).sip.callHeaders, []);
  assert.deepEqual(readConfig({ SIP_CALL_HEADERS: 'X-Tenant, x-*-id' }).sip.callHeaders, [
    'X-Tenant',
    'x-*-id',
  ]);
  assert.deepEqual(problemsOf({ SIP_CALL_HEADERS: 'X-A,X B' }), [
    'SIP_CALL_HEADERS must be names of header fields, such as X-Tenant or X-*, not "X B"',
  ]);
});

test('callers are challenged with MD5, or with the hashes that SIP_DIGEST names, in its order and once each', () => {
  assert.deepEqual(readConfig({}).sip.digests, ['MD5']);
  assert.deepEqual(readConfig({ SIP_DIGEST: 'sha-256, MD5,SHA-256' }).sip.digests, ['SHA-256', 'MD5']);
  assert.deepEqual(problemsOf({ SIP_DIGEST: 'MD5,MD4' }), [
    'SIP_DIGEST must be some of MD5, SHA-256, SHA-512-256, not "MD4"',
  ]);
});

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
