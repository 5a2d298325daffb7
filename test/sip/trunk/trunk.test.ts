import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LocatedSender } from '../../../sip/client/located-sender.js';
import type { SipRequest } from '../../../sip/message/message.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import type { TransportName } from '../../../sip/transport/flow.js';
import { readAddress } from '../../../sip/trunk/call-fields.js';
import { readTrunkFile } from '../../../sip/trunk/trunk-settings.js';
import { Trunk, Trunks, TrunkTurn } from '../../../sip/trunk/trunk.js';
import { Places } from '../client/places.js';
import { CALLEE, Callee, CALLER, Network } from '../transaction/network.js';

const PINGED = { options: { intervalSeconds: 30 } };

test('a trunk that is asked nothing is up', () => {
  const { trunk } = openTrunk({});
  trunk.start();
  assert.equal(trunk.refusal, undefined);
  assert.deepEqual(trunk.view, {
    name: 'carrier',
    registration: undefined,
    reachable: undefined,
    calls: 0,
  });
});

test('a trunk is down after two pings without an answer, and up with the first one', async () => {
  const { network, trunk, registrar, changes, last, times } = openTrunk(PINGED);
  registrar.answer = status(404);
  trunk.start();
  await network.pass(1000);
  await network.pass(30_000, 20);
  assert.equal(trunk.view.reachable, true);
  assert.equal(last()?.method, 'OPTIONS');
  assert.deepEqual(times(), [510, 30_530]);
  registrar.answer = status(503);
  await network.pass(30_000, 100);
  assert.equal(trunk.refusal, undefined);
  await network.pass(30_000, 100);
  assert.deepEqual(trunk.refusal, { reason: 'down' });
  registrar.answer = ok();
  await network.pass(30_000, 100);
  assert.equal(trunk.refusal, undefined);
  assert.deepEqual(changes, [{ reachable: false }, { reachable: true }]);
  await trunk.close();
  await network.pass(40_000, 100);
  assert.equal(network.time.waiting, 0);
});

test('a trunk takes as many calls at once as it may have', () => {
  const { trunk } = openTrunk({ mostCalls: 2 });
  const [first, second] = [trunk.take(), trunk.take()];
  assert.ok(typeof first === 'function' && typeof second === 'function');
  assert.deepEqual(trunk.take(), { reason: 'most-calls' });
  first();
  first();
  assert.equal(trunk.view.calls, 1);
  assert.equal(typeof trunk.take(), 'function');
});

test('a trunk takes as many calls a second as it may have', async () => {
  const { network, trunk } = openTrunk({ callsPerSecond: 2 });
  const taken = () =>
    Array.from({ length: 5 }, () => trunk.take()).filter((one) => typeof one === 'function').length;
  assert.equal(taken(), 2);
  assert.deepEqual(trunk.take(), { reason: 'rate', waitMs: 500 });
  await network.pass(500);
  assert.equal(taken(), 1);
});

test('a trunk that said it has too much to do is left alone so long, five minutes at most', async () => {
  const { network, trunk } = openTrunk({});
  trunk.pause(86_400_000);
  assert.deepEqual(trunk.refusal, { reason: 'paused', waitMs: 300_000 });
  await network.pass(300_000, 1000);
  assert.equal(trunk.refusal, undefined);
});

test('a call goes through the trunks in order, each of them once, and counts at the one it is with', () => {
  const [one, two] = [openTrunk({ mostCalls: 1 }).trunk, openTrunk({}).trunk];
  const turn = new TrunkTurn([one, two]);
  assert.equal(turn.next(), one);
  assert.equal(one.view.calls, 1);
  assert.equal(turn.next(), two);
  assert.deepEqual([one.view.calls, two.view.calls], [0, 1]);
  assert.equal(turn.next(), undefined);
  assert.equal(two.view.calls, 0);
});

test('why no trunk takes a call has a name', async () => {
  const codeOf = (...fields: readonly object[]) => {
    const trunks = fields.map((more) => openTrunk(more).trunk);
    for (const trunk of trunks) trunk.take();
    const turn = new TrunkTurn(trunks);
    assert.equal(turn.next(), undefined);
    return turn.refusal();
  };
  const limited = codeOf({ callsPerSecond: 1 }, { register: {} });
  assert.deepEqual([limited.code, limited.retryAfterSeconds], ['RATE_LIMITED', 1]);
  assert.equal(codeOf({ mostCalls: 1 }, { register: {} }).code, 'CALL_LIMIT');
  assert.deepEqual(
    [codeOf({ register: {} }).code, codeOf({ register: {} }).message],
    ['ENGINE_UNAVAILABLE', 'no trunk takes calls now: unregistered'],
  );
  const { trunk } = openTrunk({});
  const trunks = new Trunks([trunk]);
  assert.deepEqual(trunks.named('carrier'), [trunk]);
  assert.throws(() => trunks.named('other'), { code: 'NOT_FOUND', field: 'trunk' });
  await trunks.close();
});

test('a call is of the trunk whose address it comes from, and of several of the one that it is to', async () => {
  const one = openTrunk({ name: 'one', addresses: ['192.0.2.0/24'] });
  const two = openTrunk({ name: 'two', username: 'second', addresses: ['192.0.2.0/24'] });
  const registered = openTrunk({ name: 'registered', register: { contactUser: 'third' } });
  registered.trunk.start();
  await registered.network.pass(100);
  const trunks = new Trunks([one.trunk, two.trunk, registered.trunk]);
  const of = (address: string, user?: string) => trunks.of(address, user)?.name;
  assert.deepEqual(
    [of('192.0.2.9', 'anybody'), of('192.0.2.9', 'second'), of('192.0.2.9')],
    ['one', 'two', 'one'],
  );
  assert.deepEqual([of(CALLEE, 'third'), of('198.51.100.1', 'second')], ['registered', undefined]);
  assert.deepEqual([one.trunk.isAt('192.0.2.9'), registered.trunk.isAt(CALLEE)], [false, true]);
});

test('numbers, names, tel and SIP URIs are told apart', () => {
  const read = (text: string) => {
    const found = readAddress(text);
    return found?.kind === 'uri' ? found.uri.text : found?.user;
  };
  for (const [text, expected] of [
    ['+49 (30) 123-45.6', '+4930123456'],
    ['100', '100'],
    ['*21#', '*21#'],
    ['alice', 'alice'],
    ['tel:+49-30-123;ext=5', '+4930123'],
    ['tel:100;phone-context=+4930', '100;phone-context=+4930'],
    ['tel:100', undefined],
    ['sip:bob@example.com;transport=tcp', 'sip:bob@example.com;transport=tcp'],
    ['SIPS:bob@example.com', 'SIPS:bob@example.com'],
    ['bob@example.com', 'sip:bob@example.com'],
    ['sip:bob@example.com?Replaces=x', undefined],
    ['sip:bob@exa mple.com', undefined],
    ['sip:', undefined],
    ['', undefined],
    ['a b', undefined],
    ['a\r\nb', undefined],
    ['http://example.com', undefined],
    ['1'.repeat(600), undefined],
  ] as const)
    assert.equal(read(text), expected, text);
});

const seconds = (ms: number): number => Math.round(ms / 1000);

test('a trunk registers, and again before 90 % of the time that was granted have passed', async () => {
  const { network, trunk, times, last, requests } = openTrunk();
  assert.deepEqual(trunk.refusal, { reason: 'unregistered' });
  trunk.start();
  await network.pass(100);
  assert.equal(trunk.refusal, undefined);
  const sent = last();
  assert.equal(sent?.method, 'REGISTER');
  assert.equal(sent?.uri.text, 'sip:carrier.example');
  assert.equal(sent?.to.uri.text, 'sip:4930@carrier.example');
  assert.equal(sent?.contact?.uri.text, CONTACT);
  assert.equal(sent?.first('expires'), '600');
  await network.pass(520_000, 1000);
  assert.deepEqual(times().map(seconds), [0, 510]);
  const [first, second] = requests.map(({ request }) => request);
  assert.equal(first?.callId, second?.callId);
  assert.equal(second?.cseq.number, 2);
  await network.pass(100_000, 1000);
  assert.equal(trunk.refusal, undefined);
});

test('what the registrar grants counts: our Contact among others, Expires, or what was asked for', async () => {
  for (const [headers, expected] of [
    [[['Contact', `<sip:other@${CALLEE}>;expires=90, <${CONTACT};ob>;expires=100`]], 85],
    [
      [
        ['Expires', '200'],
        ['Contact', `<${CONTACT}>`],
      ],
      170,
    ],
    [[['Contact', '<sip:4930@198.51.100.7:40000>;expires=100']], 85],
    [[], 510],
    [[['Contact', `<${CONTACT}>;expires=4294967295`]], 73_440],
  ] as const) {
    const { network, trunk, registrar, times } = openTrunk();
    registrar.answer = ok(headers);
    trunk.start();
    await network.pass(100);
    await network.pass(expected * 1000 + 2000, 1000);
    assert.deepEqual(times().map(seconds).slice(0, 2), [0, expected]);
  }
});

test('a registrar that lists other Contacts than ours has not registered it', async () => {
  const { network, trunk, registrar } = openTrunk();
  registrar.answer = ok([['Contact', '<sip:a@a.example>, <sip:b@b.example>']]);
  trunk.start();
  await network.pass(100);
  assert.deepEqual(trunk.refusal, { reason: 'unregistered' });
});

test('an interval that is too brief is raised at once, and a registrar that always wants more is not followed', async () => {
  const { network, trunk, registrar, requests } = openTrunk();
  registrar.answer = (transaction) => {
    const asked = Number(transaction.request.first('expires'));
    transaction.respond(asked < 1800 ? { status: 423, headers: [['Min-Expires', '1800']] } : { status: 200 });
  };
  trunk.start();
  await network.pass(100);
  assert.deepEqual(
    requests.map(({ request }) => request.first('expires')),
    ['600', '1800'],
  );
  assert.equal(trunk.refusal, undefined);
  let wanted = 3600;
  registrar.answer = (transaction) =>
    transaction.respond({ status: 423, headers: [['Min-Expires', String(++wanted)]] });
  await network.pass(1_540_000, 1000);
  assert.equal(requests.length, 4);
});

test('a challenge is answered, and a nonce that went stale is replaced', async () => {
  const { network, trunk, registrar, requests } = openTrunk();
  let good = 'n1';
  registrar.answer = (transaction, request) => {
    const authorization = request.first('authorization') ?? '';
    if (authorization.includes(`nonce="${good}"`)) return ok()(transaction, request);
    const stale = authorization === '' ? '' : ', stale=true';
    const challenge = `Digest realm="carrier.example", nonce="${good}", qop="auth"${stale}`;
    transaction.respond({ status: 401, headers: [['WWW-Authenticate', challenge]] });
  };
  trunk.start();
  await network.pass(100);
  good = 'n2';
  await network.pass(511_000, 1000);
  await network.pass(100);
  assert.equal(requests.length, 4);
  assert.equal(trunk.refusal, undefined);
});

test('a wrong password and 403 are tried again after half an hour, under their names', async () => {
  for (const [answer, failure, challenges] of [
    [status(403), 'forbidden', 1],
    [status(401, [['WWW-Authenticate', 'Digest realm="carrier.example", nonce="n"']]), 'credentials', 2],
  ] as const) {
    const { network, trunk, registrar, requests } = openTrunk();
    registrar.answer = answer;
    trunk.start();
    await network.pass(200);
    assert.equal(trunk.view.registration?.failure, failure);
    assert.equal(requests.length, challenges);
    await network.pass(1_800_000, 1000);
    assert.equal(requests.length, challenges);
    await network.pass(1_000_000, 1000);
    assert.ok(requests.length > challenges);
  }
});

test('failures in a row are further and further apart, half an hour at most', async () => {
  const { network, trunk, registrar, times } = openTrunk();
  registrar.answer = status(500);
  trunk.start();
  await network.pass(7_000_000, 1000);
  const gaps = times()
    .slice(1)
    .map((at, index) => seconds(at - (times()[index] ?? 0)));
  // The test moves in seconds: each answer takes one.
  assert.deepEqual(gaps, [46, 91, 181, 361, 721, 1351, 1351, 1351, 1351]);
  assert.deepEqual(trunk.view.registration, { registered: false, failure: 'refused', status: 500 });
});

test('a 423 that asks for no more than was asked for is a refusal', async () => {
  const { network, trunk, registrar, requests } = openTrunk();
  registrar.answer = status(423, [['Min-Expires', '600']]);
  trunk.start();
  await network.pass(100);
  assert.equal(requests.length, 1);
  assert.deepEqual(trunk.view.registration, { registered: false, failure: 'refused', status: 423 });
});

test('failures are counted anew after a success', async () => {
  const { network, trunk, registrar, times } = openTrunk();
  registrar.answer = status(500);
  trunk.start();
  await network.pass(100_000, 100);
  registrar.answer = ok();
  await network.pass(200_000, 100);
  const before = times().length;
  registrar.answer = status(500);
  await network.pass(600_000, 100);
  const [failed = 0, again = 0] = times().slice(before);
  assert.equal(seconds(again - failed), 45);
});

test('503 is tried again after its Retry-After, and a silent registrar after its time', async () => {
  const busy = openTrunk();
  busy.registrar.answer = status(503, [['Retry-After', '120']]);
  busy.trunk.start();
  await busy.network.pass(100);
  await busy.network.pass(119_800, 100);
  assert.equal(busy.times().length, 1);
  await busy.network.pass(200);
  assert.deepEqual(busy.times().map(seconds), [0, 120]);
  const silent = openTrunk();
  silent.registrar.answer = () => undefined;
  silent.trunk.start();
  await silent.network.pass(33_000, 500);
  assert.deepEqual(silent.trunk.view.registration, {
    registered: false,
    failure: 'unreachable',
    status: 408,
  });
});

test('a registration that cannot be refreshed holds until it expires', async () => {
  const { network, trunk, registrar } = openTrunk();
  trunk.start();
  await network.pass(100);
  registrar.answer = status(500);
  await network.pass(599_000, 1000);
  assert.equal(trunk.refusal, undefined);
  await network.pass(2000, 1000);
  assert.deepEqual(trunk.refusal, { reason: 'unregistered' });
});

test('when the connection is lost it registers at once; when it is lost again and again, later and later', async () => {
  const { network, trunk, times } = openTrunk({ register: {} }, 'tcp');
  trunk.start();
  await network.pass(20_000, 100);
  network.closeConnections();
  assert.deepEqual(trunk.refusal, { reason: 'unregistered' });
  await network.pass(100);
  assert.deepEqual(times().map(seconds), [0, 20]);
  assert.equal(trunk.refusal, undefined);
  network.closeConnections();
  await network.pass(46_000, 100);
  assert.deepEqual(times().map(seconds), [0, 20, 65]);
});

test('the binding of a connection that was lost is taken back with the next registration, and once', async () => {
  const { network, trunk, requests, registrar } = openTrunk({ register: {} }, 'tcp');
  let connection = 1;
  const plain = network.flow.bind(network);
  network.flow = (...ends) => ({ ...plain(...ends), local: { address: CALLER, port: connection } });
  trunk.start();
  await network.pass(20_000, 100);
  connection = 2;
  const granted = registrar.answer;
  registrar.answer = status(500);
  network.closeConnections();
  await network.pass(100);
  registrar.answer = granted;
  await network.pass(100_000, 100);
  const old = '<sip:4930@192.0.2.1:1>;expires=0';
  const contacts = requests.map(({ request }) => request.all('contact'));
  const [one, two] = ['<sip:4930@192.0.2.1:1>', '<sip:4930@192.0.2.1:2>'];
  assert.deepEqual(contacts, [[one], [two, old], [two, old]]);
  await network.pass(600_000, 1000);
  assert.deepEqual(requests.at(-1)?.request.all('contact'), [two]);
});

test('a registrar that takes one Contact alone is asked again without the old binding', async () => {
  const { network, trunk, requests, registrar } = openTrunk({ register: {} }, 'tcp');
  let connection = 1;
  const plain = network.flow.bind(network);
  network.flow = (...ends) => ({ ...plain(...ends), local: { address: CALLER, port: connection } });
  trunk.start();
  await network.pass(20_000, 100);
  connection = 2;
  const granted = registrar.answer;
  registrar.answer = (transaction, request) =>
    (request.all('contact').length > 1 ? status(400) : granted)(transaction, request);
  network.closeConnections();
  await network.pass(100);
  const [one, two] = ['<sip:4930@192.0.2.1:1>', '<sip:4930@192.0.2.1:2>'];
  const contacts = requests.map(({ request }) => request.all('contact'));
  assert.deepEqual(contacts, [[one], [two, `${one};expires=0`], [two]]);
  assert.equal(trunk.view.registration?.registered, true);
});

test('a Contact that stays the same is not taken back when its connection is lost', async () => {
  const { network, trunk, requests } = openTrunk({ register: {} }, 'tcp');
  trunk.start();
  await network.pass(20_000, 100);
  network.closeConnections();
  await network.pass(100);
  assert.deepEqual(
    requests.map(({ request }) => request.all('contact')),
    [[`<${CONTACT}>`], [`<${CONTACT}>`]],
  );
});

test('a connection whose registrar does not answer pings any more is abandoned, and it registers over another', async () => {
  const { network, trunk, times } = openTrunk({ register: {} }, 'tcp');
  let answers = true;
  const plain = network.flow.bind(network);
  network.flow = (...ends) => ({
    ...plain(...ends),
    ping: (answered: () => void) => {
      if (answers) answered();
      return true;
    },
    abandon: () => network.closeConnections(),
  });
  trunk.start();
  await network.pass(100_000, 1000);
  answers = false;
  assert.equal(trunk.refusal, undefined);
  await network.pass(100_000, 1000);
  assert.equal(times().length, 1);
  await network.pass(2000, 1000);
  assert.deepEqual(times().map(seconds), [0, 201]);
  void trunk.close();
  await network.pass(40_000, 1000);
  assert.equal(network.time.waiting, 0);
});

test('what the registrar says of the way out and in is kept: Service-Route and Path', async () => {
  const { network, trunk, registrar } = openTrunk({ register: {}, proxy: 'sip:edge.example;lr' });
  registrar.answer = ok([
    ['Service-Route', '<sip:one.example;lr>, <sip:two.example;lr>'],
    ['Path', '<sip:in.example;lr>'],
  ]);
  trunk.start();
  assert.deepEqual(trunk.routes, ['<sip:edge.example;lr>']);
  await network.pass(100);
  assert.deepEqual(trunk.routes, ['<sip:edge.example;lr>', '<sip:one.example;lr>', '<sip:two.example;lr>']);
  assert.equal(trunk.journeyOf('sip:bob@carrier.example').nextHop.host, 'edge.example');
  const direct = openTrunk();
  direct.registrar.answer = registrar.answer;
  direct.trunk.start();
  await direct.network.pass(100);
  assert.equal(direct.trunk.journeyOf('sip:bob@carrier.example').nextHop.host, 'one.example');
});

test('closing takes the registration back, waits four seconds for that, and leaves nothing', async () => {
  const { network, trunk, last, requests } = openTrunk();
  trunk.start();
  await network.pass(100);
  const closing = trunk.close();
  assert.equal(trunk.close(), closing);
  assert.deepEqual(trunk.refusal, { reason: 'closing' });
  await network.pass(100);
  await closing;
  assert.equal(last()?.first('expires'), '0');
  assert.equal(requests.length, 2);
  await network.pass(40_000, 1000);
  assert.equal(network.time.waiting, 0);

  const silent = openTrunk();
  silent.trunk.start();
  await silent.network.pass(100);
  silent.registrar.answer = () => undefined;
  let closed = false;
  void silent.trunk.close().then(() => (closed = true));
  await silent.network.pass(3900);
  assert.equal(closed, false);
  await silent.network.pass(100);
  assert.equal(closed, true);
});

test('closing while it registers takes back what is granted then', async () => {
  const { network, trunk, requests } = openTrunk();
  trunk.start();
  const closing = trunk.close();
  await network.pass(200);
  await closing;
  assert.deepEqual(
    requests.map(({ request }) => request.first('expires')),
    ['600', '0'],
  );
  await network.pass(40_000, 1000);
  assert.equal(network.time.waiting, 0);
});

// A simulated network connects a trunk with a registrar.

type Answering = (transaction: ServerTransaction, request: SipRequest) => void;

const CONTACT = `sip:4930@${CALLER}`;

function ok(
  headers: readonly (readonly [string, string])[] = [['Contact', `<${CONTACT}>;expires=600`]],
): Answering {
  return (transaction) => transaction.respond({ status: 200, headers });
}

function status(code: number, headers: readonly (readonly [string, string])[] = []): Answering {
  return (transaction) => transaction.respond({ status: code, headers });
}

function openTrunk(fields: object = { register: {} }, transport: TransportName = 'udp') {
  const network = new Network();
  const requests: { readonly atMs: number; readonly request: SipRequest }[] = [];
  const registrar = { answer: ok() };
  const callee = new Callee((transaction) => {
    requests.push({ atMs: network.time.now(), request: transaction.request });
    registrar.answer(transaction, transaction.request);
  });
  network.layer(CALLEE, callee, transport);
  const layer = network.layer(CALLER, new Callee(), transport);
  const places = new Places({ 'carrier.example': [CALLEE], 'edge.example': [CALLEE] });
  const sender = new LocatedSender({ layer, locator: places, time: network.time });
  const changes: unknown[] = [];
  const account = { username: '4930', password: 'secret' };
  const file = { trunks: [{ name: 'carrier', domain: 'carrier.example', ...account, ...fields }] };
  const read = readTrunkFile(JSON.stringify(file), { environment: () => undefined, file: () => undefined });
  const [settings] = read.trunks ?? [];
  if (settings === undefined) throw new Error(read.problems?.join('\n'));
  let tokens = 0;
  const trunk = new Trunk({
    settings,
    sender,
    time: network.time,
    random: () => 0.5,
    token: () => `token${++tokens}`,
    contact: (user, _transport, flow) =>
      `sip:${user}@${CALLER}${flow === undefined || flow.local.port === 5060 ? '' : `:${flow.local.port}`}`,
    randomBytes: (count) => new Uint8Array(count).fill(7),
    changed: (_name, change) => changes.push(change),
  });
  const times = () => requests.map(({ atMs }) => atMs);
  const last = () => requests.at(-1)?.request;
  return { network, trunk, registrar, requests, times, last, changes, places, sender };
}
