import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { type ClientVerdict, DigestClient } from '../../../sip/auth/digest-client.js';
import { DigestServer } from '../../../sip/auth/digest-server.js';
import {
  DIGEST_ALGORITHMS,
  digestAlgorithm,
  type DigestAlgorithm,
  digestResponse,
  hashed,
  knownPeer,
  type QualityOfProtection,
  readAuthFields,
} from '../../../sip/auth/digest.js';
import { Nonces } from '../../../sip/auth/nonces.js';
import { mutated, randomFrom } from '../../api/mutations.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { countingBytes } from '../sdp/negotiation-under-test.js';

function algorithm(name: string): DigestAlgorithm {
  const found = digestAlgorithm(name);
  assert.ok(found);
  return found;
}

const RFC7616 = {
  username: 'Mufasa',
  realm: 'http-auth@example.org',
  secret: { password: 'Circle of Life' },
  nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
  method: 'GET',
  uri: '/dir/index.html',
  protection: {
    qop: 'auth',
    nonceCount: '00000001',
    clientNonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  },
  body: new Uint8Array(),
} as const;

test("RFC 7616's own example, MD5 and SHA-256 (section 3.9.1)", () => {
  assert.equal(
    digestResponse({ ...RFC7616, algorithm: algorithm('MD5') }),
    '8ca523f5e9506fed4657c9700eebdbec',
  );
  assert.equal(
    digestResponse({ ...RFC7616, algorithm: algorithm('SHA-256') }),
    '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  );
});

test("RFC 2617's own example (section 3.5)", () => {
  const parts = {
    ...RFC7616,
    realm: 'testrealm@host.com',
    secret: { password: 'Circle Of Life' },
    nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
    protection: { qop: 'auth', nonceCount: '00000001', clientNonce: '0a4f113b' } as const,
  };
  assert.equal(digestResponse({ ...parts, algorithm: algorithm('MD5') }), '6629fae49393a05397450978507c4ef1');
  const ha1 = '939e7578ed9e3c518a452acee763bce9';
  assert.equal(
    digestResponse({ ...parts, secret: { ha1 }, algorithm: algorithm('MD5') }),
    '6629fae49393a05397450978507c4ef1',
  );
});

test("RFC 2069's form, as in its errata", () => {
  const parts = {
    ...RFC7616,
    realm: 'testrealm@host.com',
    secret: { password: 'CircleOfLife' },
    nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
    protection: undefined,
  };
  assert.equal(digestResponse({ ...parts, algorithm: algorithm('MD5') }), '1949323746fe6a43ef61f9606e7febea');
});

test("the hash of a user name in RFC 7616's example with SHA-512-256 (section 3.9.2)", () => {
  assert.equal(
    hashed(algorithm('SHA-512-256'), 'J\u00e4s\u00f8n Doe:api@example.org'),
    '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b',
  );
});

for (const [name, qop, expected] of [
  [
    'MD5-sess',
    'auth',
    (h: (text: string) => string, p: string) => h(`${h(`${h('u:r:s')}:n:c`)}:n:${p}:${h('INVITE:sip:a')}`),
  ],
  [
    'SHA-256',
    'auth-int',
    (h: (text: string) => string, p: string) => h(`${h('u:r:s')}:n:${p}:${h(`INVITE:sip:a:${h('body')}`)}`),
  ],
] as const) {
  test(`${name} with ${qop} is put together as RFC 7616 section 3.4 says`, () => {
    const chosen = algorithm(name);
    const protection = { qop: qop as QualityOfProtection, nonceCount: '00000001', clientNonce: 'c' };
    const parts = {
      username: 'u',
      realm: 'r',
      secret: { password: 's' },
      nonce: 'n',
      method: 'INVITE',
      uri: 'sip:a',
    };
    assert.equal(
      digestResponse({ ...parts, algorithm: chosen, protection, body: Buffer.from('body') }),
      expected((text) => hashed(chosen, text), `00000001:c:${qop}`),
    );
  });
}

test('no algorithm means MD5, and case does not matter', () => {
  assert.equal(digestAlgorithm(undefined)?.name, 'MD5');
  assert.equal(digestAlgorithm('sha-512-256-SESS')?.name, 'SHA-512-256-sess');
  assert.equal(digestAlgorithm('SHA-1'), undefined);
});

const CALLER = knownPeer('192.0.2.7');
const SERVER = knownPeer('trunk');
const REQUEST = { method: 'INVITE', uri: 'sip:100@parley.example', body: Buffer.from('v=0') };
const LIFETIME_MS = 60_000;

function both({
  algorithms = DIGEST_ALGORITHMS,
  qops = ['auth'] as const,
  password = 'secret',
  mostCounted = 100,
} = {}) {
  const time = new ManualTime(1_000_000);
  const nonces = new Nonces({
    time,
    secret: Buffer.alloc(32, 1),
    randomBytes: countingBytes(0),
    lifetimeMs: LIFETIME_MS,
    mostCounted,
  });
  const secretOf = (username: string) => (username === 'alice' ? { password: 'secret' } : undefined);
  const server = new DigestServer({ realm: 'parley', algorithms, qops, nonces, secretOf });
  const account = { username: 'alice', secret: { password }, realms: ['parley'] };
  const client = new DigestClient(SERVER, account, countingBytes(50));
  return { time, nonces, server, client };
}

function valueIn(verdict: ClientVerdict): string {
  assert.ok('fields' in verdict, JSON.stringify(verdict));
  return verdict.fields[0]?.value ?? '';
}

function answer(client: DigestClient, www: readonly string[]): string {
  return valueIn(client.answer(SERVER, { www, proxy: [] }, REQUEST));
}

for (const algorithm of DIGEST_ALGORITHMS) {
  for (const qop of ['auth', 'auth-int'] as const) {
    test(`a caller is let in by ${algorithm.name} with ${qop}, and only for what was asked`, () => {
      const { server, client } = both({ algorithms: [algorithm], qops: [qop] as never });
      const value = answer(client, server.challenge(CALLER));
      assert.deepEqual(server.verify(CALLER, [value], { ...REQUEST, method: 'BYE' }), { failure: 'wrong' });
      assert.deepEqual(server.verify(CALLER, [value], { ...REQUEST, uri: 'sip:900@parley.example' }), {
        failure: 'wrong',
      });
      const other = server.verify(CALLER, [value], { ...REQUEST, body: Buffer.from('v=1') });
      assert.deepEqual(other, qop === 'auth' ? { username: 'alice' } : { failure: 'wrong' });
      if (qop === 'auth-int')
        assert.deepEqual(server.verify(CALLER, [value], REQUEST), { username: 'alice' });
    });
  }
}

test('of several challenges the strongest is answered', () => {
  const { server, client } = both({
    algorithms: ['MD5', 'SHA-256', 'SHA-512-256'].map((name) => digestAlgorithm(name) as DigestAlgorithm),
  });
  assert.match(answer(client, server.challenge(CALLER)), /algorithm=SHA-512-256,/);
  const one = `${server.challenge(CALLER).slice(0, 2).join(', ')}, Digest realm="parley", nonce="n", algorithm=SHA3`;
  assert.match(
    answer(both().client, [one]),
    /algorithm=SHA-256,/,
    'several in one field, one of them not known',
  );
});

test('nobody gets in twice by the same answer; a nonce counts on', () => {
  const { server, client } = both();
  const value = answer(client, server.challenge(CALLER));
  assert.deepEqual(server.verify(CALLER, [value], REQUEST), { username: 'alice' });
  assert.deepEqual(server.verify(CALLER, [value], REQUEST), { failure: 'replayed' });
  const [second, third] = [
    client.authorize(REQUEST)[0]?.value ?? '',
    client.authorize(REQUEST)[0]?.value ?? '',
  ];
  assert.match(third, /nc=00000003/);
  assert.deepEqual(server.verify(CALLER, [third], REQUEST), { username: 'alice' });
  assert.deepEqual(server.verify(CALLER, [second], REQUEST), { username: 'alice' }, 'overtaken on the way');
  assert.deepEqual(server.verify(CALLER, [second], REQUEST), { failure: 'replayed' });
});

test('an old nonce is stale, and the challenge that says so is answered', () => {
  const { server, client, time } = both();
  const value = answer(client, server.challenge(CALLER));
  time.advance(LIFETIME_MS + 1);
  assert.deepEqual(server.verify(CALLER, [value], REQUEST), { failure: 'stale' });
  const again = server.challenge(CALLER, true);
  assert.match(again[0] ?? '', /, stale=true$/);
  assert.deepEqual(server.verify(CALLER, [answer(client, again)], REQUEST), { username: 'alice' });
});

test('a nonce is good for the one who got it', () => {
  const { server, client } = both();
  const value = answer(client, server.challenge(CALLER));
  assert.deepEqual(server.verify(knownPeer('192.0.2.8'), [value], REQUEST), { failure: 'foreign' });
  assert.deepEqual(server.verify(CALLER, [value.replace(/nonce="./, 'nonce="_')], REQUEST), {
    failure: 'foreign',
  });
});

test('wrong passwords and unknown names are the same to the caller', () => {
  const { server, client } = both({ password: 'guess' });
  const challenge = server.challenge(CALLER);
  const value = answer(client, challenge);
  assert.deepEqual(server.verify(CALLER, [value], REQUEST), { failure: 'wrong' });
  const stranger = value.replace('"alice"', '"mallory"');
  assert.deepEqual(server.verify(CALLER, [stranger], REQUEST), { failure: 'wrong' });
});

test('credentials for other realms and schemes are passed by', () => {
  const { server } = both();
  assert.deepEqual(server.verify(CALLER, [], REQUEST), { failure: 'missing' });
  const values = ['Digest realm="elsewhere", nonce="x"', 'Bearer realm="parley"'];
  assert.deepEqual(server.verify(CALLER, values, REQUEST), { failure: 'missing' });
});

test('counts are kept of so many nonces only, and one that was forgotten is stale', () => {
  const { server, nonces, client, time } = both({ mostCounted: 3 });
  const values = Array.from({ length: 5 }, () => {
    time.advance(10);
    const value = answer(client, server.challenge(CALLER));
    assert.deepEqual(server.verify(CALLER, [value], REQUEST), { username: 'alice' });
    client.authorize(REQUEST);
    return value;
  });
  assert.equal(nonces.counted, 3);
  const verdicts = values.map((value) => server.verify(CALLER, [value], REQUEST));
  assert.deepEqual(
    verdicts.map((verdict) => 'failure' in verdict && verdict.failure),
    ['stale', 'stale', 'replayed', 'replayed', 'replayed'],
  );
});

test('a challenge to a first answer means that the account is refused', () => {
  const { server, client } = both({ password: 'guess' });
  answer(client, server.challenge(CALLER));
  const verdict = client.answer(SERVER, { www: server.challenge(CALLER), proxy: [] }, REQUEST);
  assert.deepEqual(verdict, { failure: 'refused' });
});

test('a server that finds every nonce stale is not asked for ever', () => {
  const { server, client } = both();
  const stale = () => client.answer(SERVER, { www: server.challenge(CALLER, true), proxy: [] }, REQUEST);
  const rounds = [stale(), stale(), stale(), stale()].map((verdict) => 'fields' in verdict);
  assert.deepEqual(rounds, [true, true, true, false]);
});

test('a server that forgot a nonce without a word of it is answered again', () => {
  const { server, client } = both();
  answer(client, server.challenge(CALLER));
  client.authorize(REQUEST);
  assert.match(answer(client, server.challenge(CALLER)), /nc=00000001/);
});

test('strangers and unknown realms get no answer', () => {
  const { server, client } = both();
  const challenges = { www: server.challenge(CALLER), proxy: [] };
  assert.deepEqual(client.answer(knownPeer('elsewhere'), challenges, REQUEST), { failure: 'unknown-realm' });
  const other = { www: ['Digest realm="elsewhere", nonce="x"'], proxy: [] };
  assert.deepEqual(client.answer(SERVER, other, REQUEST), { failure: 'unknown-realm' });
  assert.deepEqual(client.authorize(REQUEST), [], 'nor any later request');
  const unknown = {
    www: ['Digest realm="parley", nonce="x", algorithm=SHA3', 'Bearer realm="parley"'],
    proxy: [],
  };
  assert.deepEqual(client.answer(SERVER, unknown, REQUEST), { failure: 'no-known-algorithm' });
  assert.deepEqual(client.answer(SERVER, { www: ['Digest "'], proxy: [] }, REQUEST), {
    failure: 'unreadable',
  });
});

test('a proxy and the server behind it are answered together', () => {
  const { client } = both();
  const challenge = 'Digest realm="parley", nonce="n", qop="auth-int,auth", opaque="o", algorithm=MD5';
  const verdict = client.answer(SERVER, { www: [challenge], proxy: [challenge] }, REQUEST);
  assert.ok('fields' in verdict);
  assert.deepEqual(
    verdict.fields.map(({ name }) => name),
    ['Authorization', 'Proxy-Authorization'],
  );
  assert.match(verdict.fields[1]?.value ?? '', /qop=auth, nc=00000001, opaque="o"$/);
});

test('a challenge without qop or algorithm is answered in the same old way, a hashed name where it is wanted', () => {
  const old = answer(both().client, ['Digest realm="parley",nonce="n"']);
  assert.match(
    old,
    /^Digest username="alice", realm="parley", nonce="n", uri="sip:100@parley.example", response="[0-9a-f]{32}"$/,
  );
  const hashedName = answer(both().client, [
    'Digest realm="parley", nonce="n", qop="auth", algorithm=SHA-256, userhash=true',
  ]);
  assert.match(hashedName, /^Digest username="[0-9a-f]{64}".*, userhash=true$/);
});

test('5,000 damaged answers are each refused, or lack nothing that counts', () => {
  const { server, client } = both();
  const random = randomFrom(5);
  const value = answer(client, server.challenge(CALLER));
  const verdicts = new Set<string>();
  for (let round = 0; round < 5000; round++) {
    const verdict = server.verify(CALLER, [mutated(value, random)], REQUEST);
    verdicts.add('failure' in verdict ? verdict.failure : 'let in');
  }
  verdicts.delete('let in');
  assert.deepEqual([...verdicts].toSorted(), ['foreign', 'malformed', 'missing', 'replayed', 'wrong']);
});

test('fields of any text are read or not, and never throw', () => {
  fc.assert(fc.property(fc.string(), (text) => void readAuthFields(`Digest ${text}`)));
  assert.equal(readAuthFields(`Digest ${'a=b,'.repeat(100)}`), undefined);
  assert.equal(readAuthFields('Digest realm="a", realm="b"'), undefined);
});
