// Nothing that a client sends may end the process or look like the server's own
// fault. Every run sends the same few thousand damaged bodies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOffer } from '../../signaling/offer.js';
import { errorIn, openApp } from './app-under-test.js';
import { mutated, randomFrom } from './mutations.js';
import { chromiumOffer } from '../signaling/chromium-offer.js';

const CALLS = '/v1/realtime/calls';

function assertWellBehaved(status: number, body: string, input: string): void {
  assert.ok(status < 500, `status ${status} for ${JSON.stringify(input.slice(0, 300))}`);
  if (status >= 400) assert.equal(typeof errorIn(body).message, 'string');
}

test('3000 damaged offers are each answered with a call or with what is wrong', async (t) => {
  const { app, calls } = await openApp(t);
  calls.check = readOffer; // what a real door does first
  const random = randomFrom(1);
  const statuses = new Map<number, number>();
  for (let round = 0; round < 3000; round++) {
    const payload = mutated(chromiumOffer(), random);
    const headers = { 'content-type': 'application/sdp' };
    const answer = await app.inject({ method: 'POST', url: CALLS, headers, payload });
    assertWellBehaved(answer.statusCode, answer.body, payload);
    statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
  }
  // The damage is neither harmless nor total, or the test would show nothing.
  assert.ok((statuses.get(201) ?? 0) > 100);
  assert.ok((statuses.get(400) ?? 0) + (statuses.get(422) ?? 0) > 100);
});

test('2000 damaged forms are each answered with a call or with what is wrong', async (t) => {
  const { app } = await openApp(t);
  const random = randomFrom(2);
  const part = (name: string, type: string, body: string) =>
    `--edge\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
  const form = `${part('sdp', 'application/sdp', chromiumOffer())}${part('session', 'application/json', '{"type":"realtime"}')}--edge--\r\n`;
  for (let round = 0; round < 2000; round++) {
    const payload = mutated(form, random);
    const boundary = random() < 0.9 ? 'edge' : mutated('edge', random).replace(/[^\x21-\x7e]/g, '');
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const answer = await app.inject({ method: 'POST', url: CALLS, headers, payload });
    assertWellBehaved(answer.statusCode, answer.body, payload);
  }
});

test('2000 damaged speech requests are each answered with sound or with what is wrong', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['RIFF'];
  const random = randomFrom(3);
  const good = JSON.stringify(
    { model: 'tts-1', input: 'Your order has shipped.', voice: 'slt', response_format: 'wav', speed: 1 },
    null,
    1,
  ).replaceAll('\n', '\r\n');
  let spoken = 0;
  for (let round = 0; round < 2000; round++) {
    const payload = mutated(good, random);
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: '/v1/audio/speech', headers, payload });
    assertWellBehaved(answer.statusCode, answer.body, payload);
    if (answer.statusCode === 200) spoken++;
  }
  assert.ok(spoken > 50);
});

test('addresses of calls that nobody made are not found, whatever they hold', async (t) => {
  const { app } = await openApp(t);
  const random = randomFrom(4);
  for (let round = 0; round < 500; round++) {
    const id = mutated('rtc_0123456789abcdef', random).replace(/[^\x21-\x7e]/g, '?');
    for (const request of [
      { method: 'DELETE', url: `${CALLS}/${id}` },
      { method: 'POST', url: `${CALLS}/${id}/hangup` },
      { method: 'GET', url: `/v1/models/${id}` },
    ] as const) {
      const answer = await app.inject(request);
      assert.ok(
        answer.statusCode >= 400 && answer.statusCode < 500,
        `${answer.statusCode} for ${request.url}`,
      );
    }
  }
});
