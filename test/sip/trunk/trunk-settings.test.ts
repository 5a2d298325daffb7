import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { readTrunkFile, type SecretSource } from '../../../sip/trunk/trunk-settings.js';

const SECRETS: SecretSource = {
  environment: (name) => ({ CARRIER: 'from the environment', EMPTY: '' })[name],
  file: (path) => (path === '/run/secret' ? 'from a file\n' : undefined),
};

function read(...trunks: readonly unknown[]) {
  return readTrunkFile(JSON.stringify({ trunks }), SECRETS);
}

test('a trunk of two words has its defaults', () => {
  assert.deepEqual(read({ name: 'a', domain: 'sip.example.com:5070' }).trunks, [
    {
      name: 'a',
      domain: 'sip.example.com:5070',
      authRealms: ['sip.example.com'],
      lateOffer: false,
      assertedIdentity: false,
      addresses: [],
    },
  ]);
});

test('the realm of a trunk that names none is its domain as it is written, without the port', () => {
  for (const [domain, realm] of [
    ['SIP.example.com', 'SIP.example.com'],
    ['192.0.2.1:5060', '192.0.2.1'],
    ['[2001:db8::1]', '[2001:db8::1]'],
    ['[2001:db8::1]:5070', '[2001:db8::1]'],
  ]) {
    assert.deepEqual(read({ name: 'a', domain }).trunks?.[0]?.authRealms, [realm]);
  }
});

test('everything that is written is read', () => {
  const [trunk] =
    read({
      name: 'carrier',
      domain: 'example.com',
      transport: 'tls',
      proxy: 'sip:edge.example.com;lr',
      username: '4930123',
      passwordEnv: 'CARRIER',
      authRealms: ['example.com', 'asterisk'],
      from: '+4930123',
      displayName: 'Example Ltd',
      register: { contactUser: 'me' },
      options: {},
      callsPerSecond: 0.5,
      mostCalls: 7,
      codecs: ['PCMA', 'opus'],
      srtp: 'require',
      keying: ['sdes', 'dtls'],
      lateOffer: true,
      assertedIdentity: true,
      addresses: ['192.0.2.0/24', '2001:db8::1'],
    }).trunks ?? [];
  assert.ok(trunk !== undefined);
  const { proxy, ...rest } = trunk;
  assert.equal(proxy?.host, 'edge.example.com');
  assert.deepEqual(rest, {
    name: 'carrier',
    domain: 'example.com',
    transport: 'tls',
    username: '4930123',
    password: 'from the environment',
    authRealms: ['example.com', 'asterisk'],
    from: '+4930123',
    displayName: 'Example Ltd',
    register: { expires: 600, contactUser: 'me' },
    options: { intervalSeconds: 30 },
    callsPerSecond: 0.5,
    mostCalls: 7,
    codecs: ['PCMA', 'opus'],
    srtp: 'require',
    keying: ['sdes', 'dtls'],
    lateOffer: true,
    assertedIdentity: true,
    addresses: ['192.0.2.0/24', '2001:db8::1'],
  });
});

test('a password stands in the file, in the environment or in a file of its own', () => {
  const passwordBy = (field: object) =>
    read({ name: 'a', domain: 'b', username: 'c', ...field }).trunks?.[0]?.password;
  assert.equal(passwordBy({ password: 'here' }), 'here');
  assert.equal(passwordBy({ passwordEnv: 'CARRIER' }), 'from the environment');
  assert.equal(passwordBy({ passwordFile: '/run/secret' }), 'from a file');
});

test('a trunk is reached over one transport, whether it is said of the trunk or of its proxy', () => {
  const transportOf = (fields: object) => read({ name: 'a', domain: 'b', ...fields }).trunks?.[0]?.transport;
  assert.equal(transportOf({ proxy: 'sip:edge;lr' }), undefined);
  assert.equal(transportOf({ proxy: 'sip:edge;lr', transport: 'tls' }), 'tls');
  for (const proxy of [
    'sip:edge;transport=TLS;lr',
    'sips:edge;lr',
    'sips:edge;transport=tcp',
    'sips:edge;transport=tls',
  ]) {
    assert.equal(transportOf({ proxy }), 'tls', proxy);
    assert.equal(transportOf({ proxy, transport: 'tls' }), 'tls', proxy);
    assert.deepEqual(read({ name: 'a', domain: 'b', proxy, transport: 'udp' }).problems, [
      'trunks[0].proxy is reached over tls, but trunks[0].transport is udp',
    ]);
  }
  for (const proxy of ['sip:edge;transport=ws', 'sips:edge;transport=udp']) {
    assert.deepEqual(read({ name: 'a', domain: 'b', proxy }).problems, [
      'trunks[0].proxy must be reached over udp, tcp, tls, and with sips over tls',
    ]);
  }
});

test('every mistake is named with its place, and no password is quoted', () => {
  const { problems } = read(
    { domain: 'a b', colour: 'red', password: 'one', passwordEnv: 'CARRIER' },
    { name: 'same', domain: 'x', transport: 'sctp', proxy: 'tel:1', username: 5, register: { expires: 5 } },
    {
      name: 'same',
      domain: 'sip:x',
      passwordEnv: 'MISSING',
      options: { intervalSeconds: 1 },
      codecs: ['GSM'],
    },
    {
      name: 'c',
      domain: 'x',
      passwordFile: '/none',
      register: {},
      callsPerSecond: 0,
      mostCalls: 1.5,
      srtp: 'yes',
    },
    {
      name: 'd',
      domain: 'x',
      assertedIdentity: 1,
      addresses: ['here'],
      codecs: [],
      from: 'sip:a b',
      password: 'topsecret',
    },
    'x',
  );
  assert.deepEqual(problems, [
    'trunks[0]: "colour" is none of name, domain, proxy, transport, username, password, passwordEnv, passwordFile, authRealms, from, displayName, register, options, callsPerSecond, mostCalls, codecs, srtp, keying, lateOffer, assertedIdentity, addresses',
    'trunks[0].name is missing',
    'trunks[0].domain must be a name or an address, with a port or without',
    'trunks[0] must have at most one of password, passwordEnv, passwordFile',
    'trunks[1].username must be a line of 1 to 255 characters',
    'trunks[1].transport must be one of udp, tcp, tls',
    'trunks[1].proxy must be a SIP URI such as sip:proxy.example.com;lr',
    'trunks[1].register.expires must be a whole number from 30 to 86400',
    'trunks[2].name is that of another trunk',
    'trunks[2].domain must be a name or an address, with a port or without',
    'trunks[2].passwordEnv names the variable MISSING, which is missing or empty',
    'trunks[2].options.intervalSeconds must be a whole number from 5 to 3600',
    'trunks[2].codecs must hold nothing but opus, G722, PCMU, PCMA',
    'trunks[3].passwordFile names the file /none, which is missing or empty',
    'trunks[3].callsPerSecond must be a number from 0.01 to 10000',
    'trunks[3].mostCalls must be a whole number from 1 to 100000',
    'trunks[3].register needs a username, or a contactUser, to register',
    'trunks[3].srtp must be one of require, prefer, off',
    'trunks[4].username is missing',
    'trunks[4].from must be a number, a user name or a SIP URI',
    'trunks[4].codecs must name at least one codec',
    'trunks[4].assertedIdentity must be true or false',
    'trunks[4].addresses must hold nothing but addresses and networks such as 192.0.2.0/24',
    'trunks[5] must be an object',
  ]);
  assert.deepEqual(readTrunkFile('{"password": "topsecret"', SECRETS).problems, ['the file is not JSON']);
  assert.deepEqual(readTrunkFile('[]', SECRETS).problems, [
    'the file must be an object with a list "trunks"',
  ]);
});

test('any JSON is read or refused, and never throws', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (trunks) => {
      const file = read(...trunks);
      assert.ok(file.trunks !== undefined || file.problems.length > 0);
    }),
  );
});
