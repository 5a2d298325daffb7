import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal } from '../../../sip/message/refusal.js';
import { LoadGauge } from '../../../sip/transaction/load-gauge.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { SEMANTICS } from '../message/rfc4475-messages.js';
import { Callee, CALLEE, CALLER, Network } from './network.js';

interface Wanted {
  readonly method?: string;
  readonly branch?: string;
  readonly toTag?: string;
  readonly via?: string;
  readonly cseq?: string;
}

/** Bytes as a peer sends them, so that tests say each of them themselves. */
function bytes({
  method = 'INVITE',
  branch = 'z9hG4bK1',
  toTag,
  via = `SIP/2.0/UDP ${CALLER}`,
  cseq = method,
}: Wanted = {}): Buffer {
  return Buffer.from(
    [
      `${method} sip:bob@${CALLEE} SIP/2.0`,
      `Via: ${via}${branch === '' ? '' : `;branch=${branch}`}`,
      `From: <sip:alice@${CALLER}>;tag=a`,
      `To: <sip:bob@${CALLEE}>${toTag === undefined ? '' : `;tag=${toTag}`}`,
      'Call-ID: 1',
      `CSeq: 1 ${cseq}`,
      'Content-Length: 0',
      '\r\n',
    ].join('\r\n'),
  );
}

function open(callee = new Callee(), transport: 'udp' | 'tcp' = 'udp', more = {}) {
  const network = new Network();
  network.sink(CALLER);
  const layer = network.layer(CALLEE, callee, transport, more);
  const send = (wanted?: Wanted): void =>
    layer.received(bytes(wanted), network.flow(CALLEE, CALLER, transport));
  return { network, layer, callee, send };
}

const statuses = (network: Network): string[] =>
  network.sentBy(CALLEE).map((line) => line.replace(/SIP\/2\.0 (\d+) .*/, '$1'));

test('an INVITE is told to be tried at once, before its user hears of it, and again when it comes again', async () => {
  const { network, send, callee } = open(new Callee((transaction) => transaction.respond({ status: 180 })));
  network.carriesTrying = true;
  send();
  await network.pass(0);
  assert.deepEqual(statuses(network), ['0 100', '0 180']);
  assert.doesNotMatch(network.carried[0]?.text ?? '', /To: .*tag=/);
  const silent = open();
  silent.network.carriesTrying = true;
  silent.send();
  await silent.network.pass(1190);
  silent.send();
  await silent.network.pass(10);
  assert.deepEqual(statuses(silent.network), ['0 100', '1190 100']);
  assert.deepEqual([callee.events, silent.callee.events], [['INVITE'], ['INVITE']]);
});

const BUSY = { loss: 30, validityMs: 500, sequence: '1795000000.125' };

test('a share of calls that is refused is told so without Retry-After, which would stop all of them', async () => {
  const load = { refuses: (callId: string) => callId !== 'let in', control: BUSY };
  const { network, send, callee } = open(new Callee(), 'udp', { load });
  send();
  await network.pass(10);
  assert.deepEqual([statuses(network), callee.events], [['0 503'], []]);
  assert.doesNotMatch(network.carried[0]?.text ?? '', /Retry-After/i);
});

test('where there is room for no call at all, Retry-After says when there may be', async () => {
  const { network, send } = open(new Callee(), 'udp', { limits: { pendingInvites: 0 } });
  send();
  await network.pass(10);
  assert.match(network.carried[0]?.text ?? '', /^SIP\/2\.0 503 [^]*\r\nRetry-After: \d+\r\n/);
});

for (const [offered, expected] of [
  [';oc;oc-algo="loss"', ';oc=30;oc-algo="loss";oc-validity=500;oc-seq=1795000000.125'],
  [';oc;oc-algo="rate,loss"', ';oc=30;oc-algo="loss";oc-validity=500;oc-seq=1795000000.125'],
  [';oc;oc-algo="rate"', ';oc;oc-algo="rate"'],
  [';oc=5;oc-algo="loss"', ';oc=5;oc-algo="loss"'],
  ['', ''],
] as const) {
  for (const refuses of [false, true]) {
    test(`a peer that offers "${offered}" is told the share by which to send less, ${refuses ? 'refused' : 'let in'}`, async () => {
      const load = { refuses: () => refuses, control: BUSY };
      const { network, layer } = open(
        new Callee((transaction) => transaction.respond({ status: 486 })),
        'udp',
        { load },
      );
      network.carriesTrying = true;
      const text = bytes()
        .toString()
        .replace(/(\r\nVia: [^\r]*)/, `$1${offered}`);
      layer.received(Buffer.from(text), network.flow(CALLEE, CALLER));
      await network.pass(0);
      const vias = network.carried.map((one) => /\r\nVia: [^;]*;branch=[^;\r]*([^\r]*)/.exec(one.text)?.[1]);
      assert.deepEqual(vias, refuses ? [expected] : [expected, expected]);
    });
  }
}

test('an INVITE that comes again gets what was last said, and its user hears of it once', async () => {
  const { network, send, layer, callee } = open(
    new Callee((transaction) => transaction.respond({ status: 180 })),
  );
  send();
  send();
  callee.transactions[0]?.respond({ status: 183 });
  send();
  await network.pass(0);
  assert.deepEqual(statuses(network), ['0 180', '0 180', '0 183', '0 183']);
  assert.deepEqual(callee.events, ['INVITE']);
  assert.equal(layer.countOf('retransmissions'), 2);
});

test('a refusal is repeated until its ACK, up to T2 apart, and given up after 64 T1', async () => {
  const { network, send, layer, callee } = open(
    new Callee((transaction) => transaction.respond({ status: 486 })),
  );
  send();
  await network.pass(32_010);
  const times = statuses(network).map((line) => Number.parseInt(line, 10));
  assert.deepEqual(times, [0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]);
  assert.deepEqual(callee.events, ['INVITE', 'ended: unacknowledged']);
  assert.equal(layer.open.server, 0);
});

for (const [transport, lingerMs] of [
  ['udp', 5000],
  ['tcp', 0],
] as const) {
  test(`the ACK of a refusal over ${transport} ends it after ${lingerMs} ms, and goes no further`, async () => {
    const { network, send, layer, callee } = open(
      new Callee((transaction) => transaction.respond({ status: 486 })),
      transport,
    );
    send();
    await network.pass(10);
    const tag = /To: .*tag=(\S+)/.exec(network.carried[0]?.text ?? '')?.[1];
    send({ method: 'ACK', ...(tag === undefined ? {} : { toTag: tag }) });
    await network.pass(Math.max(lingerMs - 10, 0));
    assert.equal(layer.open.server, lingerMs === 0 ? 0 : 1);
    send({ method: 'ACK' });
    await network.pass(20);
    assert.deepEqual(statuses(network), ['0 486']);
    assert.deepEqual(callee.events, ['INVITE', 'acknowledged', 'ended: done']);
    assert.equal(layer.open.server, 0);
    assert.equal(callee.acks.length, lingerMs === 0 ? 1 : 0); // the transaction no longer exists
  });
}

test('a 2xx is repeated until its ACK, over every transport, while the INVITE is absorbed', async () => {
  for (const transport of ['udp', 'tcp'] as const) {
    const callee = new Callee();
    const { network, send, layer } = open(callee, transport);
    send();
    const [transaction] = callee.transactions;
    assert.ok(transaction !== undefined);
    const answer = layer.accept(transaction, { status: 200 }, () => callee.events.push('unanswered'));
    await network.pass(1000);
    send();
    await network.pass(1000);
    assert.deepEqual(statuses(network), ['0 200', '500 200', '1500 200']);
    send({ method: 'ACK', branch: 'z9hG4bK2', toTag: transaction.toTag });
    assert.equal(callee.acks.length, 1);
    answer?.stop();
    await network.pass(30_010);
    assert.equal(statuses(network).length, 3);
    assert.deepEqual(callee.events, ['INVITE', 'ended: done']);
    assert.equal(layer.open.server, 0);
    assert.equal(
      layer.accept(transaction, { status: 200 }, () => undefined),
      undefined,
    );
  }
});

test('a 2xx that nobody acknowledges is given up after 64 T1', async () => {
  const callee = new Callee();
  const { network, send, layer } = open(callee);
  send();
  const [transaction] = callee.transactions;
  assert.ok(transaction !== undefined);
  layer.accept(transaction, { status: 200 }, () => callee.events.push('unanswered'));
  await network.pass(32_010);
  assert.deepEqual(callee.events.toSorted(), ['INVITE', 'ended: done', 'unanswered']);
  assert.equal(network.time.waiting, 0);
});

for (const [transport, lingerMs] of [
  ['udp', 32_000],
  ['tcp', 0],
] as const) {
  test(`any other request over ${transport} is answered the same for ${lingerMs} ms, and then is new`, async () => {
    const callee = new Callee((transaction) => transaction.respond({ status: 200 }));
    const { network, send, layer } = open(callee, transport);
    send({ method: 'BYE' });
    await network.pass(Math.max(lingerMs - 10, 0));
    if (lingerMs > 0) send({ method: 'BYE' });
    assert.equal(callee.events.filter((event) => event === 'BYE').length, 1);
    await network.pass(20);
    assert.equal(layer.open.server, 0);
    send({ method: 'BYE' });
    assert.equal(callee.events.filter((event) => event === 'BYE').length, 2);
  });
}

test('a request that was not answered in 64 T1 is forgotten: its client has given up', async () => {
  const { network, send, layer, callee } = open();
  send({ method: 'OPTIONS' });
  send({ method: 'OPTIONS' });
  await network.pass(32_000);
  assert.equal(layer.open.server, 0);
  assert.equal(callee.transactions[0]?.respond({ status: 200 }), false);
  assert.deepEqual(statuses(network), []);
});

test('CANCEL gets 200 with the tag of its INVITE, whose user is told', async () => {
  const callee = new Callee();
  const { network, send } = open(callee);
  send();
  send({ method: 'CANCEL' });
  callee.transactions[0]?.respond({ status: 487 });
  await network.pass(10);
  assert.deepEqual(callee.events, ['INVITE', 'cancelled']);
  assert.deepEqual(statuses(network), ['0 200', '0 487']);
  const tags = network.carried.map(({ text }) => /To: .*tag=(\S+)/.exec(text)?.[1]);
  assert.ok(tags[0] !== undefined && tags[0] === tags[1]);
  send({ method: 'CANCEL' });
  await network.pass(0);
  assert.equal(statuses(network).length, 3); // the same again, and the user hears nothing
  assert.deepEqual(callee.events, ['INVITE', 'cancelled']);
});

test('CANCEL of what was answered changes nothing, and of what is not known is 481', async () => {
  const callee = new Callee((transaction) => transaction.respond({ status: 486 }));
  const { network, send } = open(callee);
  send();
  send({ method: 'CANCEL' });
  send({ method: 'CANCEL', branch: 'z9hG4bKother' });
  await network.pass(0);
  assert.deepEqual(statuses(network), ['0 486', '0 200', '0 481']);
  assert.deepEqual(callee.events, ['INVITE']);
});

test('what a transaction is matched by: branch, sent-by and method', () => {
  const { send, callee } = open();
  send();
  send({ branch: 'z9hG4bK2' });
  send({ via: `SIP/2.0/UDP ${CALLER}:5070` });
  send({ method: 'OPTIONS' });
  send();
  assert.deepEqual(callee.events, ['INVITE', 'INVITE', 'INVITE', 'OPTIONS']);
});

test('peers of RFC 2543, and branches that say nothing, are matched by all the rest', async () => {
  for (const branch of ['', 'z9hG4bK', '390skdjuw']) {
    const callee = new Callee((transaction) => transaction.respond({ status: 486 }));
    const { network, send } = open(callee);
    send({ branch });
    send({ branch });
    await network.pass(10);
    assert.deepEqual(callee.events, ['INVITE']);
    const toTag = /To: .*tag=(\S+)/.exec(network.carried[0]?.text ?? '')?.[1] ?? '';
    send({ branch, method: 'ACK', toTag: 'another' });
    assert.deepEqual(callee.events, ['INVITE']);
    send({ branch, method: 'ACK', toTag });
    assert.deepEqual(callee.events, ['INVITE', 'acknowledged']);
  }
  const { layer, network, callee } = open();
  layer.received(SEMANTICS.badbranch, network.flow(CALLEE, CALLER));
  layer.received(SEMANTICS.badbranch, network.flow(CALLEE, CALLER));
  layer.received(SEMANTICS.inv2543, network.flow(CALLEE, CALLER));
  assert.deepEqual(callee.events, ['OPTIONS', 'INVITE']);
});

test('a response that cannot be sent ends its transaction under that name', async () => {
  for (const method of ['INVITE', 'OPTIONS']) {
    const { network, send, layer, callee } = open();
    network.canRespond = false;
    send({ method });
    callee.transactions[0]?.respond({ status: method === 'INVITE' ? 180 : 200 });
    await network.pass(0);
    assert.deepEqual(callee.events, [method, 'ended: transport']);
    assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
  }
});

test('above the limits 503 says when to come again, and requests of calls that stand are let in longer', async () => {
  const callee = new Callee();
  const { network, send, layer } = open(callee, 'udp', { limits: { server: 4, pendingInvites: 2 } });
  for (const branch of ['1', '2', '3']) send({ branch: `z9hG4bK_${branch}` });
  for (const branch of ['4', '5', '6']) send({ method: 'OPTIONS', branch: `z9hG4bK_${branch}` });
  send({ method: 'BYE', branch: 'z9hG4bK_7', toTag: 'b' });
  send({ method: 'BYE', branch: 'z9hG4bK_8', toTag: 'b' });
  await network.pass(0);
  assert.deepEqual(callee.events, ['INVITE', 'INVITE', 'OPTIONS', 'OPTIONS', 'BYE']);
  assert.deepEqual(statuses(network), ['0 503', '0 503', '0 503']);
  assert.equal(layer.countOf('overload'), 3);
  const [, seconds] = /\r\nRetry-After: (\d+)\r\n/.exec(network.carried[0]?.text ?? '') ?? [];
  assert.ok(Number(seconds) >= 5 && Number(seconds) <= 10);
  callee.transactions[0]?.respond({ status: 486 });
  assert.equal(layer.open.pendingInvites, 1);
});

test('new calls are refused in the share that the load asks for, and nothing else is', async () => {
  const callee = new Callee();
  const { network, send, layer } = open(callee, 'udp', { load: { refuses: () => true } });
  send();
  send({ method: 'OPTIONS' });
  send({ toTag: 'b', branch: 'z9hG4bK2' });
  await network.pass(0);
  assert.deepEqual(statuses(network), ['0 503']);
  assert.deepEqual(callee.events, ['OPTIONS', 'INVITE']);
  assert.equal(layer.countOf('overload'), 1);
});

test('whoever is not admitted is refused without a transaction, the same way each time, or not at all', async () => {
  class Strict extends Callee {
    verdict: ReturnType<typeof refusal> | 'silence' = refusal(403, 'Forbidden', [['Reason', 'x']]);
    admits() {
      return this.verdict;
    }
  }
  const callee = new Strict();
  const { network, send, layer } = open(callee);
  send();
  send();
  callee.verdict = 'silence';
  send({ branch: 'z9hG4bK2' });
  await network.pass(0);
  assert.equal(network.carried.length, 2);
  assert.equal(network.carried[0]?.text, network.carried[1]?.text);
  assert.match(
    network.carried[0]?.text ?? '',
    /^SIP\/2\.0 403 Forbidden\r\n[^]*tag=\w+\r\n[^]*\r\nReason: x\r\n/,
  );
  assert.deepEqual([layer.open.server, layer.countOf('not-admitted')], [0, 1]);
});

test('a new call is refused for want of time only where it is let in, and that is asked before a password is spent', async () => {
  const seen: boolean[] = [];
  class Asked extends Callee {
    verdict: 'silence' | undefined;
    admits(_request: unknown, _flow: unknown, busy: boolean) {
      seen.push(busy);
      return this.verdict;
    }
  }
  const callee = new Asked();
  const { network, send, layer } = open(callee, 'udp', { load: { refuses: () => true } });
  send();
  callee.verdict = 'silence';
  send({ branch: 'z9hG4bK2' });
  send({ method: 'OPTIONS', branch: 'z9hG4bK3' });
  await network.pass(0);
  assert.deepEqual(seen, [true, true, false]);
  assert.deepEqual(statuses(network), ['0 503']);
  assert.deepEqual([layer.countOf('overload'), layer.countOf('not-admitted')], [1, 2]);
});

test('what is not well-formed is answered without a transaction and counted', async () => {
  const { network, layer } = open();
  const flow = network.flow(CALLEE, CALLER);
  layer.received(SEMANTICS.insuf, flow);
  layer.received(Buffer.from('\0\0\0'), flow);
  layer.received(Buffer.from('SIP/2.0 200 OK\r\n\r\n'), flow);
  layer.received(bytes({ method: 'ACK', cseq: 'INVITE' }), flow);
  await network.pass(0);
  assert.deepEqual(statuses(network), ['0 400']);
  const counts = (['malformed', 'not-sip', 'bad-response', 'bad-ack'] as const).map((name) =>
    layer.countOf(name),
  );
  assert.deepEqual(counts, [1, 1, 1, 1]);
});

test('closing forgets everything and leaves no timer', async () => {
  const { network, send, layer } = open();
  send();
  send({ method: 'OPTIONS' });
  layer.close();
  layer.close();
  assert.deepEqual(layer.open.server, 0);
  assert.equal(network.time.waiting, 0);
});

test('a request that meets a defect is refused with 500, told of and counted, and the next one is served', async () => {
  const seen: unknown[] = [];
  let broken = true;
  const callee = new Callee((transaction) => {
    if (broken) throw new RangeError('a defect');
    transaction.respond({ status: 200 });
  });
  const failed = (error: unknown, message: { readonly callId: string } | undefined): void =>
    void seen.push([String(error), message?.callId]);
  const { network, layer, send } = open(callee, 'udp', { failed });
  send();
  send({ method: 'OPTIONS', branch: 'z9hG4bK2' });
  broken = false;
  send({ method: 'OPTIONS', branch: 'z9hG4bK3' });
  await network.pass(20);
  assert.deepEqual(statuses(network), ['0 500', '0 500', '0 200']);
  assert.deepEqual(seen, [
    ['RangeError: a defect', '1'],
    ['RangeError: a defect', '1'],
  ]);
  assert.deepEqual([layer.countOf('failed'), layer.open.pendingInvites], [2, 0]);
});

test('a defect that nobody is told of is thrown', () => {
  const { send } = open(
    new Callee(() => {
      throw new RangeError('a defect');
    }),
  );
  assert.throws(() => send(), RangeError);
});

test('the longer messages wait, the more calls are refused, and none once they do not', () => {
  const time = new ManualTime();
  let delayMs = 40;
  const gauge = new LoadGauge({ time, delayMs: () => delayMs });
  const sharesAfter = (periods: number): string => {
    time.advance(periods * 100);
    return gauge.share.toFixed(2);
  };
  assert.equal(sharesAfter(10), '0.00');
  assert.equal(gauge.refuses('any'), false);
  delayMs = 240;
  assert.equal(sharesAfter(10), '0.00');
  delayMs = 375;
  assert.equal(sharesAfter(3), '0.30');
  delayMs = 5000;
  assert.equal(sharesAfter(1), '0.60');
  assert.equal(sharesAfter(5), '0.98');
  delayMs = 200;
  assert.equal(sharesAfter(10), '0.98'); // neither too long nor short enough
  delayMs = 10;
  assert.equal(sharesAfter(10), '0.68');
  assert.equal(sharesAfter(30), '0.00');
  gauge.close();
  assert.equal(time.waiting, 0);
});

test('a pause refuses nobody, however long it was', () => {
  const time = new ManualTime();
  const delays = [5, 3000, 5, 5, 800, 20, 400];
  const gauge = new LoadGauge({ time, delayMs: () => delays.shift() ?? 5 });
  while (delays.length > 0) {
    time.advance(100);
    assert.equal(gauge.share, 0);
  }
});

test('the share of calls that is refused is that of their names, and the same call is refused again', () => {
  const time = new ManualTime();
  const gauge = new LoadGauge({ time, delayMs: () => 1000 });
  time.advance(200);
  assert.equal(gauge.share, 0.3);
  const names = Array.from({ length: 10_000 }, (_, index) => `${index}@192.0.2.1`);
  const refused = names.filter((name) => gauge.refuses(name));
  assert.ok(Math.abs(refused.length / names.length - 0.3) < 0.02, `${refused.length} of ${names.length}`);
  assert.ok(refused.every((name) => gauge.refuses(name)));
});

test('a peer is told the share in percent, for half a second, with a number that grows when it changes', () => {
  const time = new ManualTime();
  let delayMs = 0;
  const gauge = new LoadGauge({ time, delayMs: () => delayMs, wallMs: () => 1_795_000_000_125 });
  time.advance(1000);
  assert.deepEqual(gauge.control, { loss: 0, validityMs: 0, sequence: '1795000000.125' });
  delayMs = 1000;
  time.advance(200);
  assert.deepEqual(gauge.control, { loss: 30, validityMs: 500, sequence: '1795000000.126' });
  time.advance(100);
  assert.deepEqual(gauge.control, { loss: 60, validityMs: 500, sequence: '1795000000.127' });
  gauge.close();
});
