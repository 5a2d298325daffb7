// Sends random and damaged fragments and offers to WHIP and WHEP, the same in every run. None may be answered
// as an internal error, and none may end the session.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { iceFragment, readIceFragment } from '../../../src/api/calls/ice-fragment.js';
import { ParleyError } from '../../../src/errors.js';
import { TIMES } from '../../fakes/long-run.js';
import { openApp } from '../app-under-test.js';
import { mutated, randomFrom } from '../mutations.js';
import { audioOffer, section } from './offer.js';

const PWD = '0123456789abcdefghijklmn';
const FRAGMENT = `a=ice-options:trickle\r\na=ice-ufrag:offered\r\na=ice-pwd:${PWD}\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host\r\na=end-of-candidates\r\n`;

test('3000 damaged fragments are each taken, or refused with what is wrong, and the session goes on', async (t) => {
  const { app, calls } = await openApp(t, { whipRequestsPerMinute: 10_000 });
  await calls.open({ sdp: audioOffer(), use: 'talk' });
  const random = randomFrom(21);
  const statuses = new Map<number, number>();
  for (let round = 0; round < 3000; round++) {
    const payload = mutated(FRAGMENT, random);
    const answer = await app.inject({
      method: 'PATCH',
      url: '/whip/sessions/rtc_1',
      headers: { 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': '*' },
      payload,
    });
    assert.ok(
      [200, 204, 400, 413].includes(answer.statusCode),
      `${answer.statusCode} for ${JSON.stringify(payload.slice(0, 300))}`,
    );
    statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
  }
  assert.deepEqual([...calls.standing], ['rtc_1']);
  // The damage is neither harmless nor total, or the test would show nothing.
  assert.ok((statuses.get(204) ?? 0) > 100 && (statuses.get(400) ?? 0) > 100, JSON.stringify([...statuses]));
});

test('2000 damaged offers of audio and video are each answered or refused', async (t) => {
  const { app } = await openApp(t);
  const random = randomFrom(22);
  const good = audioOffer({ direction: 'sendrecv', more: section('video', ['sendrecv', 'setup:actpass']) });
  const statuses = new Map<number, number>();
  for (let round = 0; round < 2000; round++) {
    const payload = mutated(good, random);
    const url = round % 2 === 0 ? '/whip' : '/whep';
    const headers = { 'content-type': 'application/sdp' };
    const answer = await app.inject({ method: 'POST', url, headers, payload });
    assert.ok(
      [201, 400, 413, 422].includes(answer.statusCode),
      `${answer.statusCode} for ${JSON.stringify(payload.slice(0, 300))}`,
    );
    statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
  }
  assert.ok((statuses.get(201) ?? 0) > 100 && (statuses.get(422) ?? 0) > 50, JSON.stringify([...statuses]));
});

const LINES = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    'a=ice-ufrag:abcd',
    `a=ice-pwd:${PWD}`,
    'a=mid:0',
    'm=audio 9 RTP/AVP 0',
    'a=end-of-candidates',
    '',
  ),
  fc.string({ maxLength: 40 }).map((value) => `a=candidate:${value}`),
);

test('every random fragment is read within its limits or refused as SDP', () => {
  fc.assert(
    fc.property(fc.array(LINES, { maxLength: 100 }), fc.constantFrom('\r\n', '\n'), (lines, end) => {
      try {
        const { ufrag, pwd, candidates } = readIceFragment(Buffer.from(lines.join(end)));
        assert.equal(ufrag === undefined, pwd === undefined);
        assert.ok(candidates.length <= 64 && new Set(candidates).size === candidates.length);
      } catch (error) {
        assert.ok(error instanceof ParleyError && error.code === 'SDP_INVALID', String(error));
      }
    }),
    { numRuns: 2000 * TIMES },
  );
});

const ICE_CHARS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/';
const iceText = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...ICE_CHARS.split('')), minLength, maxLength });

test('the answer to a restart is read as it was written', () => {
  const candidates = fc.uniqueArray(iceText(1, 32), { maxLength: 64 });
  fc.assert(
    fc.property(iceText(4, 256), iceText(22, 256), candidates, (ufrag, pwd, foundations) => {
      const written = foundations.map((one) => `${one} 1 udp 2130706431 192.0.2.1 3478 typ host`);
      const body = iceFragment({ iceSession: 'x', ufrag, pwd, candidates: written, mid: '0' });
      assert.deepEqual(readIceFragment(Buffer.from(body)), { ufrag, pwd, candidates: written });
      assert.ok(body.includes('a=ice-lite\r\n'));
    }),
    { numRuns: 500 * TIMES },
  );
});
