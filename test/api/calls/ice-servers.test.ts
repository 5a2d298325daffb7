import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { IceServers, NO_ICE_SERVERS } from '../../../src/api/calls/ice-servers.js';
import { openApp } from '../app-under-test.js';

const OPTIONS = {
  iceServers: ['stun:stun.example.org', 'turn:turn.example.org?transport=udp', 'turns:turn.example.org:443'],
  turnSecret: 'a-secret-of-the-turn-server',
  turnTtlSeconds: 3600,
};

function servers(options = OPTIONS) {
  return new IceServers(
    options,
    () => 1_700_000_000_999,
    () => 'user',
  );
}

test("credentials are coturn's: the second of the end, and its HMAC-SHA1", () => {
  const username = '1700003600:user';
  // openssl dgst -sha1 -hmac a-secret-of-the-turn-server -binary | base64, of the user name
  const credential = 'FZYRoDtroqyqG+7fNKEXUQmPt/c=';
  assert.equal(createHmac('sha1', OPTIONS.turnSecret).update(username).digest('base64'), credential);
  assert.deepEqual(servers().forClient(), [
    { urls: ['stun:stun.example.org'] },
    {
      urls: ['turn:turn.example.org?transport=udp', 'turns:turn.example.org:443'],
      username,
      credential,
    },
  ]);
  const turn = `rel="ice-server"; username="${username}"; credential="${credential}"; credential-type="password"`;
  assert.deepEqual(servers().links(), [
    '<stun:stun.example.org>; rel="ice-server"',
    `<turn:turn.example.org?transport=udp>; ${turn}`,
    `<turns:turn.example.org:443>; ${turn}`,
  ]);
});

test('each client has a user name of its own', () => {
  const own = new IceServers(OPTIONS);
  const names = new Set([own, own].map((one) => one.forClient()[1]?.username));
  assert.equal(names.size, 2);
});

test('no server is told where none is configured', () => {
  const none = new IceServers(NO_ICE_SERVERS);
  assert.deepEqual([none.forClient(), none.links()], [[], []]);
});

test('the answer for a page is the configuration of an RTCPeerConnection, for clients of calls only', async (t) => {
  const key = 'key-one-0123456789';
  const { app } = await openApp(t, { webrtc: OPTIONS, apiKeys: [key] });
  const url = '/v1/realtime/ice_servers';
  assert.equal((await app.inject({ url })).statusCode, 401);
  const answer = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
  const { iceServers, ttlSeconds } = answer.json<{ iceServers: { urls: string[] }[]; ttlSeconds: number }>();
  assert.deepEqual(
    iceServers.map(({ urls }) => urls),
    [['stun:stun.example.org'], ['turn:turn.example.org?transport=udp', 'turns:turn.example.org:443']],
  );
  assert.equal(ttlSeconds, 3600);
  assert.equal(answer.headers['cache-control'], 'no-store');
});
