import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  digestAlgorithm,
  type DigestAlgorithm,
  digestResponse,
  hashed,
  type QualityOfProtection,
} from '../../../sip/auth/digest.js';

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
