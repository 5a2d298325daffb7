// Hosts and sizes permitted when the server fetches audio from a client's URL.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  fetchFile,
  isPublicAddress,
  type Network,
  type RemoteAnswer,
  SYSTEM_NETWORK,
} from '../../src/voices/audio-source.js';

const PUBLIC = '93.184.216.34';
const NEVER = new AbortController().signal;

/** A network in which every name has an address of the test's choice, and every file an answer. */
class FakeNetwork implements Network {
  readonly asked: string[] = [];
  closed = 0;
  readonly #addresses: (name: string) => readonly string[];
  readonly #answers: (url: string) => Partial<RemoteAnswer>;

  constructor(
    addresses: (name: string) => readonly string[],
    answers: (url: string) => Partial<RemoteAnswer>,
  ) {
    this.#addresses = addresses;
    this.#answers = answers;
  }

  addresses(name: string): Promise<readonly string[]> {
    return Promise.resolve(this.#addresses(name));
  }

  get(url: URL, address: string): Promise<RemoteAnswer> {
    this.asked.push(`${url.href} at ${address}`);
    const close = () => void this.closed++;
    return Promise.resolve({ status: 200, body: pieces(['sound']), close, ...this.#answers(url.href) });
  }
}

async function* pieces(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

const options = (network: Network) => ({ network, maxBytes: 10, field: 'ref_audio' });
const fetched = (url: string, network: Network) => fetchFile(new URL(url), options(network), NEVER);
const refusal = (message: RegExp) => ({ code: 'INVALID_FIELD', field: 'ref_audio', message });

const PRIVATE = [
  '127.0.0.1',
  '127.9.9.9',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '198.18.0.1',
  '192.0.2.1',
  '203.0.113.9',
  '240.0.0.1',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd12:3456::1',
  'ff02::1',
  '2001:db8::1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '::7f00:1',
  'fec0::1',
  '100::1',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '192.0.0.192',
  '100.100.100.200',
  '',
  'localhost',
  '1.2.3',
  '0x7f.1',
];

test('only addresses of the public internet are public, whatever they are written as', () => {
  for (const address of PRIVATE) assert.equal(isPublicAddress(address), false, address);
  for (const address of [PUBLIC, '8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8']) {
    assert.equal(isPublicAddress(address), true, address);
  }
});

test('a name with an address that is not public is not asked, even where another of its addresses is', async () => {
  for (const address of PRIVATE) {
    const network = new FakeNetwork(
      () => [PUBLIC, address],
      () => ({}),
    );
    await assert.rejects(
      fetched('http://voices.example/a.wav', network),
      refusal(/its address is not public/),
    );
    assert.deepEqual(network.asked, []);
  }
});

test('addresses that stand in the URL itself are held to the same, in any notation', async () => {
  const urls = [
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[fe80::1]/',
    'http://169.254.169.254/latest/meta-data',
  ];
  for (const url of urls) {
    const network = new FakeNetwork(
      () => [PUBLIC],
      () => ({}),
    );
    await assert.rejects(fetched(url, network), refusal(/not public/), url);
    assert.deepEqual(network.asked, []);
  }
});

test('a name that is public when it is checked and private afterwards leads to the address that was checked', async () => {
  const answers = [[PUBLIC], ['127.0.0.1']];
  const network = new FakeNetwork(
    () => answers.shift() ?? [],
    () => ({}),
  );
  assert.equal(String(await fetched('http://rebinds.example/a.wav', network)), 'sound');
  assert.deepEqual(network.asked, [`http://rebinds.example/a.wav at ${PUBLIC}`]);
});

test('a name that is private the next time it is asked for is refused then', async () => {
  const answers = [[PUBLIC], ['127.0.0.1']];
  const network = new FakeNetwork(
    () => answers.shift() ?? [],
    () => ({ status: 302, location: '/again' }),
  );
  await assert.rejects(fetched('http://rebinds.example/a.wav', network), refusal(/not public/));
  assert.equal(network.asked.length, 1);
  assert.equal(network.closed, 1);
});

test('redirects are followed three times, and each is checked anew', async () => {
  const hop = (from: string) => Number(/\d+$/.exec(from)?.[0]);
  const chain = (length: number) =>
    new FakeNetwork(
      () => [PUBLIC],
      (url) => (hop(url) < length ? { status: 307, location: `/${hop(url) + 1}` } : {}),
    );
  assert.equal(String(await fetched('https://a.example/0', chain(3))), 'sound');
  await assert.rejects(fetched('https://a.example/0', chain(4)), refusal(/more than 3 times/));
  const targets: [string, RegExp][] = [
    ['http://10.0.0.1/', /not public/],
    ['file:///etc/passwd', /leads to file:/],
    ['ftp://a.example/', /leads to ftp:/],
    ['http://me:secret@a.example/', /user name or password/],
    ['http://', /no URL/],
  ];
  for (const [location, why] of targets) {
    const network = new FakeNetwork(
      () => [PUBLIC],
      () => ({ status: 301, location }),
    );
    await assert.rejects(fetched('http://a.example/', network), refusal(why), location);
    assert.equal(network.asked.length, 1);
  }
});

test('only the ports of the web, and unreserved ports, are asked', async () => {
  const network = () =>
    new FakeNetwork(
      () => [PUBLIC],
      () => ({}),
    );
  for (const port of [1, 22, 25, 79, 81, 442, 444, 587, 1023]) {
    const asked = network();
    const why = new RegExp(`its port is ${port}; 80, 443 and those above 1023`);
    await assert.rejects(fetched(`https://a.example:${port}/`, asked), refusal(why));
    assert.deepEqual(asked.asked, []);
  }
  for (const port of [80, 443, 1024, 8080, 65_535])
    assert.equal(String(await fetched(`http://a.example:${port}/`, network())), 'sound', String(port));
  const redirected = new FakeNetwork(
    () => [PUBLIC],
    () => ({ status: 302, location: 'http://a.example:25/' }),
  );
  await assert.rejects(fetched('http://a.example/', redirected), refusal(/its port is 25/));
  await assert.rejects(fetched('http://a.example:0/', network()), refusal(/its port is 0/));
});

test('a URL with a password, and a name without an address, are not asked', async () => {
  const network = new FakeNetwork(
    () => [],
    () => ({}),
  );
  await assert.rejects(fetched('http://me:secret@a.example/', network), refusal(/user name or password/));
  await assert.rejects(fetched('http://a.example/', network), refusal(/no address/));
  assert.deepEqual(network.asked, []);
});

test('more bytes than are taken, and another answer than a file, are refused', async () => {
  const long = new FakeNetwork(
    () => [PUBLIC],
    () => ({ body: pieces(['123456', '123456']) }),
  );
  await assert.rejects(fetched('http://a.example/', long), {
    code: 'TOO_LARGE',
    message: /more than 10 bytes/,
  });
  const absent = new FakeNetwork(
    () => [PUBLIC],
    () => ({ status: 404 }),
  );
  await assert.rejects(fetched('http://a.example/', absent), {
    code: 'AUDIO_INVALID',
    message: /answered 404/,
  });
  assert.equal(absent.closed, 1);
});

test('a file that never ends and a name server that never answers are given up in time', async () => {
  const endless = new FakeNetwork(
    () => [PUBLIC],
    () => ({ body: silence() }),
  );
  const mute: Network = {
    addresses: () => new Promise(() => undefined),
    get: endless.get.bind(endless),
  };
  const late = { code: 'AUDIO_INVALID', message: /within 0\.02 s/ };
  for (const network of [endless, mute]) {
    const fetching = fetchFile(new URL('http://a.example/'), { ...options(network), timeoutMs: 20 }, NEVER);
    await assert.rejects(fetching, late);
  }
  const gone = new AbortController();
  const leaving = fetchFile(new URL('http://a.example/'), options(mute), gone.signal);
  gone.abort();
  await assert.rejects(leaving, { code: 'ABORTED' });
});

async function* silence(): AsyncGenerator<Uint8Array> {
  yield await new Promise<never>(() => undefined);
}

test('the real network connects to the address it is given and asks it for the name', async (t) => {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(`${request.headers.host} ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://there-is-no-such-name.invalid:${port}/a.wav?b`);
  const { status, body, close } = await SYSTEM_NETWORK.get(url, '127.0.0.1', NEVER);
  const got: Uint8Array[] = [];
  for await (const piece of body) got.push(piece);
  close();
  assert.equal(status, 200);
  assert.equal(String(Buffer.concat(got)), `there-is-no-such-name.invalid:${port} /a.wav?b`);
});
