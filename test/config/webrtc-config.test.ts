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

const SECRET = 'a-secret-of-the-turn-server';

test('browser calls share one UDP port that the system chooses, have no ICE-TCP, and name no ICE servers', () => {
  assert.deepEqual(readConfig({}).webrtc, {
    hostAddresses: [],
    announcedAddresses: [],
    udpPort: 0,
    udpPorts: undefined,
    tcpPort: undefined,
    iceServers: [],
    turnSecret: undefined,
    turnTtlSeconds: 86_400,
    resumeGraceMs: 15_000,
    maxCpuPercent: 90,
  });
});

test('every variable of the network of browser calls is read', () => {
  const { webrtc } = readConfig({
    ICE_HOST_ADDRESSES: '10.0.0.1, 2001:db8::1',
    ICE_ANNOUNCED_ADDRESSES: '203.0.113.7',
    WEBRTC_UDP_PORT: '3478',
    WEBRTC_TCP_PORT: '443',
    ICE_SERVERS:
      'stun:stun.example.org, turn:turn.example.org:3478?transport=udp,turns:[2001:db8::7]:443?transport=tcp',
    TURN_SECRET: SECRET,
    TURN_TTL_S: '3600',
    RESUME_GRACE_S: '2.5',
    MAX_CPU_PERCENT: '0',
  });
  assert.deepEqual(webrtc, {
    hostAddresses: ['10.0.0.1', '2001:db8::1'],
    announcedAddresses: ['203.0.113.7'],
    udpPort: 3478,
    udpPorts: undefined,
    tcpPort: 443,
    iceServers: [
      'stun:stun.example.org',
      'turn:turn.example.org:3478?transport=udp',
      'turns:[2001:db8::7]:443?transport=tcp',
    ],
    turnSecret: SECRET,
    turnTtlSeconds: 3600,
    resumeGraceMs: 2500,
    maxCpuPercent: 0,
  });
  assert.equal(readConfig({ WEBRTC_TCP_PORT: '0' }).webrtc.tcpPort, 0);
});

test('a range of ports must be whole and in order, and excludes the shared port', () => {
  const range = { UDP_PORT_MIN: '20000', UDP_PORT_MAX: '20100' };
  assert.deepEqual(readConfig(range).webrtc.udpPorts, [20_000, 20_100]);
  assert.deepEqual(problemsOf({ UDP_PORT_MIN: '20000' }), [
    'UDP_PORT_MIN and UDP_PORT_MAX must be set together',
  ]);
  assert.deepEqual(problemsOf({ UDP_PORT_MIN: '20100', UDP_PORT_MAX: '20000' }), [
    'UDP_PORT_MAX must be above UDP_PORT_MIN=20100',
  ]);
  assert.deepEqual(problemsOf({ ...range, WEBRTC_UDP_PORT: '3478' }), [
    'WEBRTC_UDP_PORT must not be set together with UDP_PORT_MIN and UDP_PORT_MAX: calls share one port or have one each',
  ]);
  assert.deepEqual(problemsOf({ ...range, WEBRTC_TCP_PORT: '8443' }), [
    'WEBRTC_TCP_PORT must not be set together with UDP_PORT_MIN and UDP_PORT_MAX: ICE-TCP needs the shared port',
  ]);
});

test('an ICE server that no browser could use is refused', () => {
  for (const url of [
    'https://example.org',
    'stun:',
    'stun:a b',
    'stun:host:0',
    'stun:host:65536',
    'stun:host?transport=udp',
    'turn:host?transport=sctp',
    'turn:user@host',
    'turn:[2001:db8::x]',
    'turn://host',
  ]) {
    assert.deepEqual(
      problemsOf({ ICE_SERVERS: url, ...(url.startsWith('turn') && { TURN_SECRET: SECRET }) }).slice(0, 1),
      [`ICE_SERVERS must be URLs such as stun:host:3478 or turn:host?transport=udp, not "${url}"`],
    );
  }
});

test('TURN servers and their secret are set together, and no message repeats the secret', () => {
  assert.deepEqual(problemsOf({ ICE_SERVERS: 'turn:host' }), [
    'TURN_SECRET must be set if ICE_SERVERS has a turn: or turns: URL',
  ]);
  assert.deepEqual(problemsOf({ ICE_SERVERS: 'stun:host', TURN_SECRET: SECRET }), [
    'TURN_SECRET has no effect without a turn: or turns: URL in ICE_SERVERS',
  ]);
  assert.deepEqual(problemsOf({ ICE_SERVERS: 'TURNS:host', TURN_SECRET: 'short' }), [
    'TURN_SECRET must have at least 16 characters',
  ]);
  assert.deepEqual(problemsOf({ ICE_SERVERS: 'turns:host', TURN_SECRET: SECRET }), []);
});

test('limits of browser calls outside their range are refused', () => {
  assert.deepEqual(
    problemsOf({ MAX_CPU_PERCENT: '101', RESUME_GRACE_S: '-1', TURN_TTL_S: '59', WEBRTC_TCP_PORT: 'x' }),
    [
      'WEBRTC_TCP_PORT must be a number from 0 to 65535, not "x"',
      'TURN_TTL_S must be a number from 60 to 604800, not "59"',
      'RESUME_GRACE_S must be a number from 0 to 3600, not "-1"',
      'MAX_CPU_PERCENT must be a number from 0 to 100, not "101"',
    ],
  );
});
