// Requests for documents, sounds and callbacks, against an application on loopback: what it is asked, and
// what each of its failures comes to.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import twilio from 'twilio';
import type { Resolve } from '../../../src/api/twiml/allowed-targets.js';
import { CookieJar } from '../../../src/api/twiml/cookie-jar.js';
import {
  DocumentFetcher,
  type Fetched,
  type FetcherOptions,
  type FetchRequest,
} from '../../../src/api/twiml/document-fetch.js';
import { readConfig } from '../../../src/config/config.js';
import { ParleyError } from '../../../src/errors.js';
import { ProgramError } from '../../../src/ivr/door.js';
import { freePorts } from '../../fakes/free-port.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { formIn, openApplication, TWIML } from './loopback-application.js';

const TOKEN = 'token-of-the-server';
const MOST_SOUND = 200_000;
const EMPTY = '<Response/>';

interface Asking extends Partial<FetchRequest> {
  readonly method?: 'GET' | 'POST';
}

/** A fetcher that ends with the test. */
function fetcherOf(
  t: TestContext,
  { hosts = '', twimlUrl, ...options }: Partial<FetcherOptions> & { hosts?: string; twimlUrl?: string } = {},
) {
  const env = {
    ...(hosts === '' ? {} : { IVR_ALLOWED_HOSTS: hosts }),
    ...(twimlUrl === undefined ? {} : { TWIML_URL: twimlUrl }),
  };
  const fetcher = new DocumentFetcher({
    config: readConfig(env).ivr,
    mostSoundBytes: MOST_SOUND,
    newToken: () => 'token-1',
    ...options,
  });
  t.after(() => fetcher.close());
  const signal = new AbortController().signal;
  return (at: string, { method = 'POST', ...asking }: Asking = {}): Promise<Fetched> =>
    fetcher.fetch(
      {
        kind: 'document',
        target: { at, method },
        parameters: [],
        authToken: undefined,
        cookies: new CookieJar(),
        ...asking,
      },
      signal,
    );
}

/** The number and text of the error that a request comes to. */
async function failureOf(fetched: Promise<Fetched>): Promise<string> {
  try {
    await fetched;
  } catch (error) {
    assert.ok(error instanceof ProgramError, String(error));
    return `${error.warning.code} ${error.message}`;
  }
  return 'fetched';
}

const resolveTo =
  (address: string): Resolve =>
  (_name, _options, callback) =>
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);

test('a POST has the parameters as a form, and the judge of Twilio takes its signature', async (t) => {
  const { origin, asked } = await openApplication(t, (response) => response.writeHead(200, TWIML).end(EMPTY));
  const url = `${origin}/voice%20menu?tenant=a%20b&tenant=c`;
  const parameters = [
    ['To', '+49 30 1'],
    ['Digits', '1#'],
    ['Tag', 'b'],
    ['Tag', 'a'],
    ['Tag', 'b'],
    ['SpeechResult', 'grüß <Gott>'],
  ] as const;
  const { url: final, contentType, body } = await fetcherOf(t)(url, { parameters, authToken: TOKEN });
  assert.deepEqual([final, contentType, body.toString()], [url, 'text/xml', EMPTY]);
  const [request] = asked;
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/voice%20menu?tenant=a%20b&tenant=c');
  assert.equal(request.headers['content-type'], 'application/x-www-form-urlencoded');
  assert.equal(request.headers['i-twilio-idempotency-token'], 'token-1');
  const form = formIn(request.body);
  assert.deepEqual(form['Tag'], ['b', 'a', 'b']);
  const signature = String(request.headers['x-twilio-signature']);
  assert.ok(twilio.validateRequest(TOKEN, signature, origin + request.path, form));
  assert.ok(!twilio.validateRequest(TOKEN, signature, origin + request.path, { ...form, Digits: '2' }));
});

test('a GET has the parameters behind its own query, and its whole URL is signed', async (t) => {
  const { origin, asked } = await openApplication(t, (response) => response.writeHead(200, TWIML).end(EMPTY));
  const parameters = [['SpeechResult', 'a b&c']] as const;
  const { url } = await fetcherOf(t)(`${origin}/a?x=%20y#rc=0`, {
    parameters,
    method: 'GET',
    authToken: TOKEN,
  });
  assert.equal(url, `${origin}/a?x=%20y#rc=0`);
  assert.equal(asked[0]?.path, '/a?x=%20y&SpeechResult=a+b%26c');
  const signature = String(asked[0]?.headers['x-twilio-signature']);
  assert.ok(twilio.validateRequest(TOKEN, signature, origin + (asked[0]?.path ?? ''), {}));
});

test('without a token a request is not signed', async (t) => {
  const { origin, asked } = await openApplication(t, (response) => response.writeHead(200, TWIML).end(EMPTY));
  await fetcherOf(t)(origin);
  assert.equal(asked[0]?.headers['x-twilio-signature'], undefined);
});

test('the fragment of the URL is not sent, and asks again after failures with the same token', async (t) => {
  const { origin, asked } = await openApplication(t, (response, _, count) =>
    response.writeHead(count < 3 ? 503 : 200, TWIML).end(EMPTY),
  );
  await fetcherOf(t)(`${origin}/a#rc=2&rp=5xx`);
  assert.deepEqual(
    asked.map(({ path, headers }) => [path, headers['i-twilio-idempotency-token']]),
    [
      ['/a', 'token-1'],
      ['/a', 'token-1'],
      ['/a', 'token-1'],
    ],
  );
});

for (const status of [404, 500]) {
  test(`an answer with status ${status} is error 11200, and is not asked for again`, async (t) => {
    const { origin, asked } = await openApplication(t, (response) => response.writeHead(status).end());
    const expected = `11200 the URL could not be fetched: it answered with status ${status}`;
    assert.equal(await failureOf(fetcherOf(t)(origin)), expected);
    assert.equal(asked.length, 1);
  });
}

test('a redirect with 302 becomes a GET that has the parameters, and one with 307 stays a POST', async (t) => {
  const { origin, asked } = await openApplication(t, (response, { path }) => {
    if (path === '/a') return response.writeHead(307, { location: '/b' }).end();
    if (path === '/b') return response.writeHead(302, { location: 'c?Digits=9' }).end();
    return response.writeHead(200, TWIML).end(EMPTY);
  });
  const parameters = [
    ['Digits', '1'],
    ['To', '2'],
  ] as const;
  const { url } = await fetcherOf(t)(`${origin}/a#tt=9000`, { parameters });
  assert.equal(url, `${origin}/c?Digits=9#tt=9000`);
  assert.deepEqual(
    asked.map(({ method, path, body }) => [method, path, body]),
    [
      ['POST', '/a', 'Digits=1&To=2'],
      ['POST', '/b', 'Digits=1&To=2'],
      ['GET', '/c?Digits=9&To=2', ''],
    ],
  );
});

test('redirects without end are error 11215 after ten', async (t) => {
  const { origin, asked } = await openApplication(t, (response) =>
    response.writeHead(302, { location: '/again' }).end(),
  );
  const expected = '11215 the URL could not be fetched: it redirects more than 10 times';
  assert.equal(await failureOf(fetcherOf(t)(origin)), expected);
  assert.equal(asked.length, 11);
});

for (const location of [
  'http://169.254.169.254/latest/meta-data',
  'http://10.0.0.1/',
  'http://[::]/',
  'http://0/',
]) {
  test(`a redirect to ${location} is error 11210 before any connection`, async (t) => {
    const { origin } = await openApplication(t, (response) => response.writeHead(302, { location }).end());
    const failure = await failureOf(fetcherOf(t)(origin));
    assert.match(failure, /^11210 the URL is not fetched: .* is no allowed host; IVR_ALLOWED_HOSTS lists/);
  });
}

test('a redirect to a file is error 11100, and one to no URL is error 11200', async (t) => {
  const { origin } = await openApplication(t, (response, { path }) =>
    response.writeHead(302, { location: path === '/file' ? 'file:///etc/passwd' : 'http://[' }).end(),
  );
  const fetch = fetcherOf(t);
  assert.match(await failureOf(fetch(`${origin}/file`)), /^11100 .*must be an http or https URL, not file:$/);
  assert.match(await failureOf(fetch(origin)), /^11200 .*it redirects \(302\) to no URL$/);
});

test('an allowed name that leads to this machine is refused, unless the address is allowed too', async (t) => {
  const { port, asked } = await openApplication(t, (response) => response.writeHead(200, TWIML).end(EMPTY));
  const resolve = resolveTo('127.0.0.1');
  const url = `http://bot.example.com:${port}/`;
  const name = `bot.example.com:${port}`;
  const failure = await failureOf(fetcherOf(t, { hosts: name, resolve })(url));
  assert.match(failure, /^11210 .*the name bot.example.com leads into this network; IVR_ALLOWED_HOSTS must/);
  assert.equal(asked.length, 0);
  await fetcherOf(t, { hosts: `${name},127.0.0.1:${port}`, resolve })(url);
  assert.equal(asked[0]?.headers.host, name);
});

test('the host of TWIML_URL needs no entry, and may be a machine of this site', async (t) => {
  const { port, asked } = await openApplication(t, (response) => response.writeHead(200, TWIML).end(EMPTY));
  const twimlUrl = `http://ivr.internal:${port}/voice`;
  await fetcherOf(t, { twimlUrl, resolve: resolveTo('127.0.0.1') })(`http://ivr.internal:${port}/next`);
  assert.equal(asked[0]?.path, '/next');
  const linkLocal = fetcherOf(t, { twimlUrl, resolve: resolveTo('169.254.169.254') })(twimlUrl);
  assert.match(await failureOf(linkLocal), /^11210 .*leads into this network/);
});

for (const address of [
  '10.1.2.3',
  '192.168.0.1',
  '169.254.1.1',
  '::1',
  'fe80::1',
  'fd00::1',
  '::ffff:127.0.0.1',
]) {
  test(`a wildcard host with the address ${address} is refused`, async (t) => {
    const fetch = fetcherOf(t, { hosts: '*.bots.example.org', resolve: resolveTo(address) });
    assert.match(await failureOf(fetch('http://a.bots.example.org/')), /^11210 .*leads into this network/);
  });
}

test('a host that is not listed is error 11210, and so is a name that does not exist', async (t) => {
  const missing: Resolve = (_name, _options, callback) =>
    callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []);
  const fetch = fetcherOf(t, { hosts: 'bot.example.com', resolve: missing });
  assert.match(await failureOf(fetch('https://example.com/')), /^11210 .*example.com is no allowed host/);
  assert.match(await failureOf(fetch('https://bot.example.com/')), /^11210 .*its host does not exist$/);
});

test('nobody on the port is error 11205', async (t) => {
  const url = `http://127.0.0.1:${await freePorts()}/`;
  assert.match(await failureOf(fetcherOf(t)(url)), /^11205 .*ECONNREFUSED/);
});

test('a connection that does not open within 5 s is tried once more, then is error 11205', async (t) => {
  const time = new ManualTime();
  let attempts = 0;
  const never: Resolve = () => void attempts++;
  const failed = failureOf(
    fetcherOf(t, { hosts: 'bot.example.com', resolve: never, time })('http://bot.example.com/'),
  );
  for (const attempt of [1, 2]) {
    while (attempts < attempt) await new Promise(setImmediate);
    time.advance(5000);
  }
  assert.equal(await failed, '11205 the URL could not be fetched: no connection within 5 s');
  assert.equal(attempts, 2);
});

for (const [fragment, ms] of [
  ['', 15_000],
  ['#rt=2000', 2000],
  ['#tt=300', 300],
] as const) {
  test(`an application that hangs is error 11205 after ${ms} ms${fragment && ` by ${fragment}`}`, async (t) => {
    const time = new ManualTime();
    const { origin, asked } = await openApplication(t, (response) =>
      response.writeHead(200, TWIML).write('<'),
    );
    const failed = failureOf(fetcherOf(t, { time })(`${origin}/${fragment}`));
    while (asked.length === 0) await new Promise(setImmediate);
    time.advance(ms - 1);
    assert.equal(asked.length, 1);
    time.advance(1);
    assert.match(await failed, new RegExp(`^11205 .*within ${ms / 1000} s$`));
    assert.equal(time.waiting, 0);
  });
}

test('a document of 10 MB is error 11750, and the rest of it is not read', async (t) => {
  const part = Buffer.alloc(16_384, ' ');
  let closed: () => void;
  const hasClosed = new Promise<void>((resolve) => (closed = resolve));
  let sent = 0;
  const { origin } = await openApplication(t, (response) => {
    response.writeHead(200, TWIML);
    const send = () => {
      while (sent < 10_000_000 && response.writable && response.write(part)) sent += part.length;
    };
    response.on('drain', send).on('close', () => closed());
    send();
  });
  const expected = '11750 the URL could not be fetched: the body has more than 65536 bytes';
  assert.equal(await failureOf(fetcherOf(t)(origin)), expected);
  await hasClosed;
  assert.ok(sent < 10_000_000, `${sent} bytes`);
});

test('a document that announces 10 MB is refused by its length; a sound may be longer', async (t) => {
  const { origin } = await openApplication(t, (response, { path }) => {
    const type = path === '/sound' ? 'audio/wav' : 'text/xml';
    const length = path === '/sound' ? 100_000 : 10_000_000;
    response.writeHead(200, { 'content-type': type, 'content-length': length });
    response.end(path === '/sound' ? Buffer.alloc(length) : undefined);
  });
  const fetch = fetcherOf(t);
  assert.match(await failureOf(fetch(origin)), /^11750 /);
  assert.equal((await fetch(`${origin}/sound`)).body.length, 100_000);
});

test('an answer that ends too early is error 11205, and one that is no HTTP is error 11206', async (t) => {
  const { origin } = await openApplication(t, (response) => {
    response
      .writeHead(200, { ...TWIML, 'content-length': 100 })
      .write('<Response>', () => response.destroy());
  });
  assert.match(await failureOf(fetcherOf(t)(origin)), /^11205 /);
  const server = createServer(
    (socket) => void socket.on('error', () => undefined).end('\u0000\u0001binary\r\n\r\n'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  assert.match(await failureOf(fetcherOf(t)(`http://127.0.0.1:${port}/`)), /^11206 /);
});

test('a TLS handshake with a server without TLS is error 11220', async (t) => {
  const { port } = await openApplication(t, (response) => response.end());
  assert.match(await failureOf(fetcherOf(t)(`https://127.0.0.1:${port}/`)), /^11220 /);
});

test('cookies of a call come back to their host and path', async (t) => {
  const { origin, asked } = await openApplication(t, (response, { path }) => {
    const cookies = ['session=1; Path=/', 'only=2; Path=/other', 'gone=3; Max-Age=0', 'safe=4; Secure'];
    response.writeHead(200, path === '/a' ? { ...TWIML, 'set-cookie': cookies } : TWIML).end(EMPTY);
  });
  const fetch = fetcherOf(t);
  const cookies = new CookieJar();
  for (const path of ['/a', '/b', '/other/c']) await fetch(origin + path, { cookies });
  await fetch(`${origin}/d`);
  assert.deepEqual(
    asked.map(({ headers }) => headers.cookie),
    [undefined, 'session=1', 'session=1; only=2', undefined],
  );
});

test('a sound is asked for without the cookies of the call, and sets none', async (t) => {
  const { origin, asked } = await openApplication(t, (response) =>
    response.writeHead(200, { ...TWIML, 'set-cookie': 'session=1; Path=/' }).end(EMPTY),
  );
  const fetch = fetcherOf(t);
  const cookies = new CookieJar();
  await fetch(`${origin}/a.wav`, { kind: 'sound', method: 'GET', cookies });
  await fetch(`${origin}/voice`, { cookies });
  await fetch(`${origin}/b.wav`, { kind: 'sound', method: 'GET', cookies });
  assert.deepEqual(
    asked.map(({ headers }) => headers.cookie),
    [undefined, undefined, undefined],
  );
});

test('a fresh answer to a GET is used again, and a stale one is asked for by its ETag', async (t) => {
  const time = new ManualTime();
  const { origin, asked } = await openApplication(t, (response, { headers }) => {
    const fields = { ...TWIML, etag: '"1"', 'cache-control': 'max-age=60' };
    if (headers['if-none-match'] === '"1"') return response.writeHead(304, fields).end();
    return response.writeHead(200, fields).end(EMPTY);
  });
  const fetch = fetcherOf(t, { time });
  const sound = { kind: 'sound', method: 'GET' } as const;
  const bodies = [await fetch(origin, sound), await fetch(origin, sound)];
  assert.equal(asked.length, 1);
  time.advance(60_000);
  bodies.push(await fetch(origin, sound));
  assert.equal(asked.length, 2);
  bodies.push(await fetch(origin, sound));
  assert.equal(asked.length, 2);
  for (const { body, contentType } of bodies) {
    assert.deepEqual([body.toString(), contentType], [EMPTY, 'text/xml']);
  }
});

for (const control of ['no-store', 'private, max-age=60']) {
  test(`an answer with Cache-Control: ${control} is asked for each time, and so is one to a POST`, async (t) => {
    const { origin, asked } = await openApplication(t, (response) =>
      response.writeHead(200, { ...TWIML, 'cache-control': control, etag: '"1"' }).end(EMPTY),
    );
    const fetch = fetcherOf(t);
    for (const method of ['GET', 'GET', 'POST'] as const) await fetch(origin, { method });
    assert.deepEqual(
      asked.map(({ headers }) => headers['if-none-match']),
      [undefined, undefined, undefined],
    );
  });
}

test('a server that changes its answer is heard at once where it allows no cache', async (t) => {
  const { origin } = await openApplication(t, (response, _, count) =>
    response.writeHead(200, TWIML).end(`<Response><!-- ${count} --></Response>`),
  );
  const fetch = fetcherOf(t);
  const first = await fetch(origin, { method: 'GET' });
  assert.notDeepEqual(await fetch(origin, { method: 'GET' }), first);
});

test('a request that is not wanted any more ends at once, without a timer', async (t) => {
  const time = new ManualTime();
  const { origin, asked } = await openApplication(t, () => undefined);
  const fetcher = new DocumentFetcher({ config: readConfig({}).ivr, mostSoundBytes: MOST_SOUND, time });
  t.after(() => fetcher.close());
  const unwanted = new AbortController();
  const request = { target: { at: origin }, parameters: [], authToken: undefined, cookies: new CookieJar() };
  const fetching = fetcher.fetch({ kind: 'document', ...request }, unwanted.signal);
  while (asked.length === 0) await new Promise(setImmediate);
  unwanted.abort();
  await assert.rejects(fetching, (error) => error instanceof ParleyError && error.code === 'ABORTED');
  assert.equal(time.waiting, 0);
});
