// A page opens a call of a whole server over HTTP, and is its application: its offer and its data channel are
// real.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/main.js';
import { WeriftClient } from '../../signaling/werift-client.js';

test('a page opens a call with the attributes of its session, speaks in it, and ends it', async (t) => {
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  const server = await startServer(readConfig({ ...environment, ICE_HOST_ADDRESSES: '127.0.0.1' }));
  t.after(() => server.close());
  const page = new WeriftClient('opus', { label: 'relay' });
  t.after(() => page.close());
  const form = new FormData();
  form.set('sdp', await page.offer());
  form.set('session', JSON.stringify({ welcomeGreeting: 'Good morning.', parameters: { tenant: 'acme' } }));
  const response = await fetch(`${server.url}/v1/realtime/calls?agent=none`, { method: 'POST', body: form });
  assert.equal(response.status, 201);
  const id = response.headers.get('location')?.split('/').at(-1) ?? '';
  await page.accept(await response.text());
  const told = (type: string) =>
    page.until(() => page.messages.find((message) => message['type'] === type), type);
  const setup = await told('setup');
  assert.deepEqual([setup['callSid'], setup['customParameters']], [id, { tenant: 'acme' }]);
  const attached = await fetch(`${server.url}/v1/calls/${id}/relay`, { method: 'POST' });
  assert.equal(attached.status, 409, 'the page conducts the call');
  page.send({ type: 'text', token: 'How are you?', last: true });
  page.send({ type: 'mark', name: 'asked' });
  assert.equal((await told('mark'))['name'], 'asked');
  page.send({ type: 'end' });
  await page.until(() => page.channel.readyState === 'closed', 'end of the call');
  assert.equal(server.switchboard.get(id), undefined);
  assert.deepEqual(
    page.messages.map(({ type }) => type),
    ['setup', 'mark'],
  );
});
