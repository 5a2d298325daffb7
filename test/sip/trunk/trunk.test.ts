import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddress } from '../../../sip/trunk/call-fields.js';
import { Trunks, TrunkTurn } from '../../../sip/trunk/trunk.js';
import { CALLEE } from '../transaction/users.js';
import { ok, openTrunk, status } from './trunk-under-test.js';

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
