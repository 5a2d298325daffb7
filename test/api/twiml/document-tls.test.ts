// Documents over TLS, and connections that are kept from one request to the next.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { CookieJar } from '../../../src/api/twiml/cookie-jar.js';
import { DocumentFetcher, type Fetched } from '../../../src/api/twiml/document-fetch.js';
import { readConfig } from '../../../src/config/config.js';
import { ProgramError } from '../../../src/ivr/door.js';
import { issueCertificates } from '../../sip/transport/transports-under-test.js';
import { openApplication, TWIML } from './loopback-application.js';

/** Fetches from this machine until the test ends. */
function fetcherOf(t: TestContext, authority?: string): (url: string) => Promise<Fetched> {
  const fetcher = new DocumentFetcher({ config: readConfig({}).ivr, mostSoundBytes: 1000, authority });
  t.after(() => fetcher.close());
  const signal = new AbortController().signal;
  return (at) =>
    fetcher.fetch(
      { kind: 'document', target: { at }, parameters: [], authToken: undefined, cookies: new CookieJar() },
      signal,
    );
}

async function codeOf(fetched: Promise<Fetched>): Promise<string | undefined> {
  try {
    await fetched;
  } catch (error) {
    assert.ok(error instanceof ProgramError, String(error));
    return error.warning.code;
  }
  return 'fetched';
}

test('the certificate of an application is checked: its authority, and its host', async (t) => {
  const { ca, server, client } = await issueCertificates();
  const portOf = async (identity: { readonly cert: string; readonly key: string }) => {
    const listening = createServer(identity, (_, response) =>
      response.writeHead(200, TWIML).end('<Response/>'),
    );
    listening.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    t.after(() => {
      listening.closeAllConnections();
      listening.close();
    });
    return (listening.address() as AddressInfo).port;
  };
  const own = `https://127.0.0.1:${await portOf(server)}/`;
  assert.equal(await codeOf(fetcherOf(t, ca)(own)), 'fetched');
  assert.equal(await codeOf(fetcherOf(t)(own)), '11237');
  const ofOther = `https://127.0.0.1:${await portOf(client)}/`;
  assert.equal(await codeOf(fetcherOf(t, ca)(ofOther)), '11235');
});

test('requests share a connection, and one that the server closes then is sent once more', async (t) => {
  const sockets = new Set<Socket>();
  const { origin, asked } = await openApplication(t, (response, _, count) => {
    if (response.socket !== null) sockets.add(response.socket);
    if (count === 3) return response.socket?.destroy();
    return response.writeHead(200, TWIML).end('<Response/>');
  });
  const fetch = fetcherOf(t);
  await fetch(origin);
  await fetch(origin);
  assert.equal(sockets.size, 1);
  await fetch(origin);
  assert.deepEqual([asked.length, sockets.size], [4, 2]);
});

test('a new connection that the server closes without an answer is error 11205', async (t) => {
  const { origin, asked } = await openApplication(t, (response) => response.socket?.destroy());
  assert.equal(await codeOf(fetcherOf(t)(origin)), '11205');
  assert.equal(asked.length, 1);
});
