import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incomingMediaRequest } from '../../../sip/telephone/media-supply.js';
import { linesOf, negotiation, valueOf } from '../sdp/negotiation-under-test.js';

void test('a browser that leaves the offer to us is offered DTLS with ICE, and a telephone is not', () => {
  const offered = (transport: 'wss' | 'udp', srtp: 'prefer' | 'off') => {
    const { srtp: security, ...wish } = incomingMediaRequest({
      transport,
      offers: true,
      trunk: undefined,
      server: { srtp },
    });
    const policy = {
      security: security ?? srtp,
      keyings: wish.keyings ?? [],
      offerIce: wish.offerIce ?? false,
    };
    const offer = valueOf(negotiation(policy, { ice: true }).offer());
    return [linesOf(offer, 'm=audio 40000 ')[0]?.split(' ')[0], linesOf(offer, 'a=ice-ufrag:').length];
  };
  assert.deepEqual(offered('wss', 'prefer'), ['UDP/TLS/RTP/SAVPF', 1]);
  assert.deepEqual(offered('udp', 'prefer'), ['RTP/AVP', 0]);
  assert.deepEqual(offered('wss', 'off'), ['RTP/AVP', 0]);
});

void test('a browser that makes the offer is answered by DTLS, whatever telephones are offered', () => {
  const server = { srtp: 'require', keying: ['sdes'] } as const;
  const wish = incomingMediaRequest({ transport: 'ws', offers: false, trunk: undefined, server });
  assert.deepEqual(wish, { keyings: ['dtls', 'sdes'] });
});

void test('over TLS a telephone is offered and answered by SDES first', () => {
  for (const offers of [true, false]) {
    const wish = incomingMediaRequest({
      transport: 'tls',
      offers,
      trunk: undefined,
      server: { srtp: 'require' },
    });
    assert.deepEqual(wish.keyings, ['sdes', 'dtls']);
  }
});
