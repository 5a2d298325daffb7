import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import {
  CRYPTO_SUITES,
  keyBytes,
  readCrypto,
  writeCrypto,
  type CryptoSuite,
} from '../../../sip/sdp/media-keys.js';
import {
  FINGERPRINT,
  keyText,
  linesOf,
  negotiation,
  offerOf,
  refusalOf,
  valueOf,
} from './negotiation-under-test.js';

const K80 = `AES_CM_128_HMAC_SHA1_80 inline:${keyText(7, 30)}`;
const K32 = `AES_CM_128_HMAC_SHA1_32 inline:${keyText(8, 30)}`;
const GCM = `AEAD_AES_256_GCM inline:${keyText(9, 44)}`;
const PRINT = `a=fingerprint:SHA-256 ${'ab:'.repeat(31)}ab`;

for (const suite of CRYPTO_SUITES) {
  test(`${suite} is answered with the tag of the offer and a key of ours`, () => {
    const theirs = keyText(5, keyBytes(suite));
    const offer = offerOf('m=audio 5004 RTP/SAVP 0', `a=crypto:3 ${suite} inline:${theirs}`);
    const { answer, agreed } = valueOf(negotiation().answer(offer));
    const { keys } = agreed;
    assert.ok(keys.kind === 'sdes');
    assert.equal(Buffer.from(keys.receive).toString('base64'), theirs);
    assert.equal(keys.send.length, keyBytes(suite));
    const ours = Buffer.from(keys.send).toString('base64');
    assert.notEqual(ours, theirs);
    assert.deepEqual(linesOf(answer, 'a=crypto:'), [`3 ${suite} inline:${ours}`]);
    assert.deepEqual(linesOf(answer, 'm='), ['audio 40000 RTP/SAVP 0']);
  });
}

test('lifetime and index of a key are read, and written the same', () => {
  const at = (text: string) => readCrypto(`1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(1, 30)}${text}`);
  assert.equal(valueOf(at('|2^20')).lifetime, 1_048_576);
  assert.equal(valueOf(at('|1048576')).lifetime, 1_048_576);
  assert.deepEqual(valueOf(at('|2^20|1:4')).mki, { value: 1, bytes: 4 });
  assert.deepEqual(valueOf(at('|1:32')), { ...valueOf(at('')), mki: { value: 1, bytes: 32 } });
  for (const bad of ['|2^49', '|0', '|1:0', '|1:129', '|256:1', '|1:4|2^20', '|x', '|', '|2^20|1:4|1:4']) {
    assert.equal(refusalOf(at(bad)).status, 400, bad);
  }
});

for (const [what, value, status] of [
  ['an unknown suite', `1 F8_128_HMAC_SHA1_80 inline:${keyText(1, 30)}`, 488],
  ['a key that is too short', `1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(1, 29)}`, 400],
  ['a key of another suite', `1 AES_256_CM_HMAC_SHA1_80 inline:${keyText(1, 30)}`, 400],
  ['a key by another method', '1 AES_CM_128_HMAC_SHA1_80 uri:abc', 400],
  ['two keys', `1 ${K80};inline:${keyText(2, 30)}`, 488],
  ['no tag', K80, 400],
  ['a key derivation rate', `1 ${K80} KDR=1`, 488],
  ['packets in plain', `1 ${K80} UNENCRYPTED_SRTP`, 488],
  ['reports in plain', `1 ${K80} UNENCRYPTED_SRTCP`, 488],
  ['packets that nobody vouches for', `1 ${K80} WSH=64 UNAUTHENTICATED_SRTP`, 488],
  ['forward error correction', `1 ${K80} FEC_ORDER=FEC_SRTP`, 488],
] as const) {
  test(`${what} in a crypto attribute: ${status}`, () =>
    assert.equal(refusalOf(readCrypto(value)).status, status));
}

test('a window and what may be ignored are no obstacle', () => {
  assert.equal(valueOf(readCrypto(`1 ${K80} WSH=64 -foo=bar`)).tag, 1);
});

test('what is written of a crypto attribute is what is read', () => {
  const property = fc.property(
    fc.integer({ min: 0, max: 999_999_999 }),
    fc.constantFrom(...CRYPTO_SUITES),
    fc.uint8Array({ minLength: 46, maxLength: 46 }),
    fc.option(fc.integer({ min: 1, max: 2 ** 48 }), { nil: undefined }),
    fc.option(
      fc.record({ value: fc.integer({ min: 0, max: 255 }), bytes: fc.integer({ min: 1, max: 128 }) }),
      { nil: undefined },
    ),
    (tag, suite: CryptoSuite, bytes, lifetime, mki) => {
      const original = {
        tag,
        suite,
        key: bytes.slice(0, keyBytes(suite)),
        ...(lifetime === undefined ? {} : { lifetime }),
        ...(mki === undefined ? {} : { mki: { ...mki } }),
      };
      assert.deepEqual(valueOf(readCrypto(writeCrypto(original))), original);
    },
  );
  fc.assert(property);
});

test('of several crypto attributes the first usable one is taken, its tag kept', () => {
  const offer = offerOf(
    'm=audio 5004 RTP/SAVP 0',
    `a=crypto:1 F8_128_HMAC_SHA1_80 inline:${keyText(1, 30)}`,
    `a=crypto:2 ${K80} KDR=1`,
    `a=crypto:4 ${K80}|2^31|1:4`,
    `a=crypto:8 ${K32}`,
    `a=crypto:9 ${K80}`,
  );
  const { answer, agreed } = valueOf(negotiation().answer(offer));
  assert.ok(agreed.keys.kind === 'sdes' && agreed.keys.suite === 'AES_CM_128_HMAC_SHA1_80');
  assert.match(linesOf(answer, 'a=crypto:')[0] ?? '', /^4 AES_CM_128_HMAC_SHA1_80 /);
});

const BOTH = offerOf('m=audio 5004 RTP/AVP 0', 'm=audio 5006 RTP/SAVP 0', `a=crypto:1 ${K80}`);

for (const [security, ports] of [
  ['require', ['0', '40000']],
  ['prefer', ['0', '40000']],
  ['off', ['40000', '0']],
] as const) {
  test(`plain and secured sections offered where security is ${security}`, () => {
    const { answer } = valueOf(negotiation({ security }).answer(BOTH));
    assert.deepEqual(
      linesOf(answer, 'm=').map((line) => line.split(' ')[1]),
      ports,
    );
  });
}

for (const [what, security, lines, kind] of [
  ['a plain offer', 'require', ['m=audio 5004 RTP/AVP 0'], undefined],
  ['a plain offer', 'prefer', ['m=audio 5004 RTP/AVP 0'], 'none'],
  ['a secured offer', 'off', ['m=audio 5004 RTP/SAVP 0', `a=crypto:1 ${K80}`], undefined],
  ['a secured offer without keys', 'prefer', ['m=audio 5004 RTP/SAVP 0'], undefined],
  ['keys in a plain offer', 'prefer', ['m=audio 5004 RTP/AVP 0', `a=crypto:1 ${K80}`], 'sdes'],
  ['keys in a plain offer', 'require', ['m=audio 5004 RTP/AVP 0', `a=crypto:1 ${K80}`], 'sdes'],
  ['keys in a plain offer', 'off', ['m=audio 5004 RTP/AVP 0', `a=crypto:1 ${K80}`], 'none'],
  ['a secured offer with feedback', 'prefer', ['m=audio 5004 RTP/SAVPF 0', `a=crypto:1 ${K80}`], 'sdes'],
  ['DTLS', 'prefer', ['m=audio 5004 UDP/TLS/RTP/SAVPF 0', PRINT, 'a=setup:actpass'], 'dtls'],
  ['DTLS', 'off', ['m=audio 5004 UDP/TLS/RTP/SAVPF 0', PRINT, 'a=setup:actpass'], undefined],
  ['DTLS without a fingerprint', 'prefer', ['m=audio 5004 UDP/TLS/RTP/SAVP 0', 'a=setup:actpass'], undefined],
  ['DTLS in an older profile', 'prefer', ['m=audio 5004 RTP/SAVP 0', PRINT, 'a=setup:actpass'], 'dtls'],
  [
    'DTLS with crypto beside it',
    'prefer',
    ['m=audio 5004 UDP/TLS/RTP/SAVP 0', PRINT, `a=crypto:1 ${K80}`],
    'dtls',
  ],
] as const) {
  test(`${what} where security is ${security}: ${kind ?? '488'}`, () => {
    const judged = negotiation({ security }).answer(offerOf(...lines));
    assert.equal(judged.value?.agreed.keys.kind, kind);
    if (kind === undefined) assert.equal(refusalOf(judged).status, 488);
    else
      assert.deepEqual(linesOf(judged.value?.answer ?? '', 'm=')[0]?.split(' ')[2], lines[0].split(' ')[2]);
  });
}

for (const [theirs, ours] of [
  ['actpass', 'active'],
  ['passive', 'active'],
  ['active', 'passive'],
] as const) {
  test(`one who offers to be ${theirs} in DTLS finds us ${ours}`, () => {
    const offer = offerOf(
      'm=audio 5004 UDP/TLS/RTP/SAVP 0',
      PRINT,
      `a=setup:${theirs}`,
      'a=tls-id:abc3de65cddef001be82',
    );
    const { answer, agreed } = valueOf(negotiation().answer(offer));
    assert.deepEqual(agreed.keys, {
      kind: 'dtls',
      setup: ours,
      fingerprints: [{ hash: 'sha-256', digest: Array.from({ length: 32 }, () => 'AB').join(':') }],
      tlsId: 'abc3de65cddef001be82',
    });
    assert.deepEqual(linesOf(answer, 'a=setup:'), [ours]);
    assert.deepEqual(linesOf(answer, 'a=fingerprint:'), [`sha-256 ${FINGERPRINT.digest}`]);
    assert.equal(linesOf(answer, 'a=tls-id:').length, 1);
  });
}

test('our name of a DTLS association lasts as long as the association does (RFC 8842 section 5.1)', () => {
  const session = negotiation();
  const print = (byte: string) => `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => byte).join(':')}`;
  const named = (id: string, byte = 'AB', setup = 'actpass') =>
    offerOf('m=audio 5004 UDP/TLS/RTP/SAVP 0', print(byte), `a=setup:${setup}`, `a=tls-id:${id}`);
  const answered = (offer: string) => linesOf(valueOf(session.answer(offer)).answer, 'a=tls-id:')[0];
  const offered = () => {
    const [id] = linesOf(valueOf(session.offer()), 'a=tls-id:');
    session.withdraw();
    return id;
  };
  const ids = [answered(named('one'))];
  assert.deepEqual(
    [answered(named('one')), offered(), answered(named('one', 'AB', 'passive'))],
    [ids[0], ids[0], ids[0]],
  );
  for (const offer of [named('two'), named('two', 'CD'), named('two', 'CD', 'active')]) {
    const id = answered(offer);
    assert.ok(id !== undefined && !ids.includes(id), offer);
    assert.equal(offered(), id);
    ids.push(id);
  }
  // A far end that names nothing has another association all the same, when it has another certificate.
  const unnamed = offerOf('m=audio 5004 UDP/TLS/RTP/SAVP 0', print('EF'), 'a=setup:actpass');
  assert.equal(answered(unnamed), undefined);
  assert.ok(!ids.includes(offered()));
});

test('a key with an index is taken, and ours in the answer has none', () => {
  for (const [lines, bytes] of [
    [`1 ${K80}|2^20|1:4`, 4],
    [`1 ${K80}|1:128`, 128],
    [`1 ${GCM}|1:1`, 1],
    [`1 ${K80}|2^20`, 0],
  ] as const) {
    const { answer, agreed } = valueOf(
      negotiation().answer(offerOf('m=audio 5004 RTP/SAVP 0', `a=crypto:${lines}`)),
    );
    assert.ok(agreed.keys.kind === 'sdes');
    assert.equal(agreed.keys.mkiBytes, bytes);
    assert.match(linesOf(answer, 'a=crypto:')[0] ?? '', /^1 \S+ inline:[\w+/=]+$/);
  }
});

test('where a secured offer has no usable key, the 488 says so', () => {
  const judged = negotiation({ keyings: ['dtls'] }).answer(
    offerOf('m=audio 5004 RTP/SAVP 0', `a=crypto:1 ${K80}`),
  );
  const why = 'it offers no keys for SRTP that can be used here';
  assert.deepEqual(refusalOf(judged).headers, [
    ['Warning', `399 parley "the audio section cannot be taken: ${why}"`],
  ]);
});

test('a re-offer with the same key keeps ours; another key of theirs is told', () => {
  const session = negotiation();
  const offer = (key: number) =>
    offerOf('m=audio 5004 RTP/SAVP 0', `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(key, 30)}`);
  const first = valueOf(session.answer(offer(1)));
  assert.equal(valueOf(session.answer(offer(1))).answer, first.answer);
  const rekeyed = valueOf(session.answer(offer(2)));
  assert.equal(rekeyed.answer, first.answer);
  assert.deepEqual([...rekeyed.changes], ['keys']);
});

test('a re-offer with other suites first keeps the suite of the call', () => {
  const session = negotiation();
  session.answer(offerOf('m=audio 5004 RTP/SAVP 0', `a=crypto:1 ${K80}`));
  const { agreed, changes } = valueOf(
    session.answer(offerOf('m=audio 5004 RTP/SAVP 0', `a=crypto:1 ${GCM}`, `a=crypto:2 ${K80}`)),
  );
  assert.ok(agreed.keys.kind === 'sdes' && agreed.keys.suite === 'AES_CM_128_HMAC_SHA1_80');
  assert.deepEqual([...changes], []);
});

test('our offer: keys in a plain section where security is preferred, a secured one where it is demanded', () => {
  const shape = (options: object) => {
    const offer = valueOf(
      negotiation({ suites: ['AEAD_AES_128_GCM', 'AES_CM_128_HMAC_SHA1_80'], ...options }).offer(),
    );
    const suites = linesOf(offer, 'a=crypto:').map((line) => line.split(' inline:')[0]);
    return [linesOf(offer, 'm=audio 40000 ')[0]?.split(' ')[0], suites, linesOf(offer, 'a=setup:')];
  };
  const suites = ['1 AEAD_AES_128_GCM', '2 AES_CM_128_HMAC_SHA1_80'];
  assert.deepEqual(shape({ security: 'off' }), ['RTP/AVP', [], []]);
  assert.deepEqual(shape({ security: 'prefer' }), ['RTP/AVP', suites, ['actpass']]);
  assert.deepEqual(shape({ security: 'prefer', keyings: ['sdes'] }), ['RTP/AVP', suites, []]);
  assert.deepEqual(shape({ security: 'prefer', keyings: ['dtls'] }), ['RTP/AVP', [], ['actpass']]);
  assert.deepEqual(shape({ security: 'require', suites: CRYPTO_SUITES }), [
    'RTP/SAVP',
    ['1 AES_CM_128_HMAC_SHA1_80', '2 AEAD_AES_128_GCM'],
    [],
  ]);
  assert.deepEqual(shape({ security: 'require' }), ['RTP/SAVP', suites, []]);
  assert.deepEqual(shape({ security: 'require', keyings: ['dtls', 'sdes'] }), [
    'UDP/TLS/RTP/SAVP',
    [],
    ['actpass'],
  ]);
});

for (const [what, policy, lines, kind] of [
  ['the second suite', {}, ['RTP/SAVP 0', `a=crypto:2 ${K32}`], 'sdes'],
  ['a tag with the suite of another', {}, ['RTP/SAVP 0', `a=crypto:1 ${K32}`], undefined],
  ['a tag that was not offered', {}, ['RTP/SAVP 0', `a=crypto:7 ${K80}`], undefined],
  ['no key', {}, ['RTP/SAVP 0'], undefined],
  ['a key with an index', {}, ['RTP/SAVP 0', `a=crypto:1 ${K80}|1:4`], 'sdes'],
  ['no key', { security: 'prefer' }, ['RTP/AVP 0'], 'none'],
  ['a key', { security: 'prefer' }, ['RTP/AVP 0', `a=crypto:1 ${K80}`], 'sdes'],
  [
    'a fingerprint',
    { security: 'prefer', keyings: ['dtls'] },
    ['RTP/AVP 0', PRINT, 'a=setup:active'],
    'dtls',
  ],
  ['a fingerprint', { security: 'prefer' }, ['RTP/AVP 0', PRINT, 'a=setup:active'], 'dtls'],
  ['a fingerprint', { keyings: ['dtls'] }, ['UDP/TLS/RTP/SAVP 0', PRINT, 'a=setup:passive'], 'dtls'],
] as const) {
  test(`an answer with ${what} to ${JSON.stringify(policy)}: ${kind ?? '488'}`, () => {
    const suites: CryptoSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32'];
    const session = negotiation({ security: 'require', suites, ...policy });
    const offer = valueOf(session.offer());
    const judged = session.accept(offerOf(`m=audio 5004 ${lines[0]}`, ...lines.slice(1)));
    const keys = judged.value?.agreed.keys;
    assert.equal(keys?.kind, kind);
    if (keys?.kind === 'sdes')
      assert.ok(offer.includes(`${keys.suite} inline:${Buffer.from(keys.send).toString('base64')}`));
    if (keys?.kind === 'dtls')
      assert.equal(keys.setup, lines.some((line) => line === 'a=setup:passive') ? 'active' : 'passive');
  });
}

test('a re-offer of ours keeps suite, key and profile', () => {
  const session = negotiation();
  const { agreed } = valueOf(session.answer(offerOf('m=audio 5004 RTP/SAVP 0', `a=crypto:5 ${K32}`)));
  assert.ok(agreed.keys.kind === 'sdes');
  const offer = valueOf(session.offer());
  const ours = Buffer.from(agreed.keys.send).toString('base64');
  assert.deepEqual(linesOf(offer, 'a=crypto:'), [`1 AES_CM_128_HMAC_SHA1_32 inline:${ours}`]);
  assert.match(linesOf(offer, 'm=')[0] ?? '', /^audio 40000 RTP\/SAVP /);
});
