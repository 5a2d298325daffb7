import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimerQueue } from '../../../sip/transaction/timer-queue.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { Callee, CALLEE, CALLER, Heard, Network, request, TARGET } from './network.js';

function open(transport: 'udp' | 'tcp' = 'udp', callee = new Callee()) {
  const network = new Network();
  const caller = network.layer(CALLER, new Callee(), transport);
  const called = network.layer(CALLEE, callee, transport);
  return { network, caller, called, callee };
}

const times = (lines: readonly string[]): number[] => lines.map((line) => Number.parseInt(line, 10));

test('an INVITE that nobody answers is sent at doubling intervals, and is 408 after 64 T1', async () => {
  const network = new Network();
  network.sink(CALLEE);
  const caller = network.layer(CALLER, new Callee());
  const heard = new Heard();
  caller.send(request(), TARGET, heard);
  await network.pass(31_990);
  assert.deepEqual(times(network.sentBy(CALLER)), [0, 500, 1500, 3500, 7500, 15_500, 31_500]);
  assert.deepEqual(heard.events, []);
  await network.pass(10);
  assert.deepEqual(heard.events, ['no-answer 408']);
  assert.equal(caller.open.client, 0);
  assert.equal(network.time.waiting, 0);
});

test('any other request is sent at intervals up to T2, and is 408 after 64 T1', async () => {
  const network = new Network();
  network.sink(CALLEE);
  const caller = network.layer(CALLER, new Callee());
  const heard = new Heard();
  caller.send(request('OPTIONS'), TARGET, heard);
  await network.pass(32_000);
  assert.deepEqual(
    times(network.sentBy(CALLER)),
    [0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500],
  );
  assert.deepEqual(heard.events, ['no-answer 408']);
});

test('over a connection nothing is sent twice', async () => {
  for (const method of ['INVITE', 'OPTIONS']) {
    const network = new Network();
    network.sink(CALLEE);
    const caller = network.layer(CALLER, new Callee(), 'tcp');
    const heard = new Heard();
    caller.send(request(method), TARGET, heard);
    await network.pass(32_000);
    assert.equal(network.carried.length, 1);
    assert.deepEqual(heard.events, ['no-answer 408']);
  }
});

test('a provisional response ends the repetitions of an INVITE, and how long it rings is not the transaction’s business', async () => {
  const { network, caller } = open('udp', new Callee((transaction) => transaction.respond({ status: 180 })));
  const heard = new Heard();
  caller.send(request(), TARGET, heard);
  await network.pass(100_000, 100);
  assert.equal(network.sentBy(CALLER).length, 1);
  assert.deepEqual(heard.events, [180]);
  assert.equal(caller.open.client, 1);
});

test('a provisional response slows the repetitions of any other request down to T2', async () => {
  const { network, caller } = open('udp', new Callee((transaction) => transaction.respond({ status: 182 })));
  const heard = new Heard();
  caller.send(request('OPTIONS'), TARGET, heard);
  await network.pass(32_000);
  assert.deepEqual(times(network.sentBy(CALLER)).slice(0, 4), [0, 500, 4500, 8500]);
  assert.equal(heard.events.at(-1), 'no-answer 408');
});

for (const [transport, lingerMs] of [
  ['udp', 32_000],
  ['tcp', 0],
] as const) {
  test(`a refusal over ${transport} is acknowledged, as often as it comes within ${lingerMs} ms`, async () => {
    const { network, caller, callee } = open(
      transport,
      new Callee((transaction) => transaction.respond({ status: 486 })),
    );
    const heard = new Heard();
    const data = request();
    caller.send({ ...data, headers: [...data.headers, ['Route', '<sip:192.0.2.2;lr>']] }, TARGET, heard);
    network.loses = (text, from) => from === CALLER && text.startsWith('ACK') && network.time.now() < 400;
    await network.pass(2000);
    const [invite, ...acks] = network.carried.filter(({ from }) => from === CALLER).map(({ text }) => text);
    assert.equal(acks.length, transport === 'udp' ? 2 : 1);
    assert.match(acks[0] ?? '', /^ACK sip:bob@192\.0\.2\.2 SIP\/2\.0\r\nVia: (.*)\r\n/);
    assert.equal(/Via: .*/.exec(acks[0] ?? '')?.[0], /Via: .*/.exec(invite ?? '')?.[0]);
    assert.match(
      acks[0] ?? '',
      /\r\nTo: <sip:bob@192\.0\.2\.2>;tag=1920\d+\r\nCall-ID: call\r\nCSeq: 1 ACK\r\nRoute: <sip:192\.0\.2\.2;lr>\r\n/,
    );
    assert.doesNotMatch(acks[0] ?? '', /Contact/);
    assert.deepEqual(heard.events, [486]);
    assert.deepEqual(callee.events.includes('acknowledged'), transport === 'udp');
    await network.pass(32_030 - 2000);
    assert.equal(caller.open.client, 0);
  });
}

test('every 2xx reaches the user, for as long as some may come', async () => {
  const { network, caller, called } = open(
    'udp',
    new Callee((transaction) => void called.accept(transaction, { status: 200 }, () => undefined)),
  );
  const heard = new Heard();
  caller.send(request(), TARGET, heard);
  await network.pass(33_000);
  assert.deepEqual(
    heard.events,
    Array.from({ length: 11 }, () => 200),
  ); // at 0, 0.5, 1.5, 3.5 and then every 4 s
  assert.equal(caller.open.client, 0);
});

test('a request that cannot be sent fails under the name of what is wrong', async () => {
  for (const method of ['INVITE', 'OPTIONS']) {
    const { network, caller } = open();
    network.failure = 'refused';
    const heard = new Heard();
    caller.send(request(method), TARGET, heard);
    await network.pass(10);
    assert.deepEqual(heard.events, ['refused 503']);
    assert.equal(network.time.waiting, 0);
  }
});

test('a connection that closes before anything was answered is a failure, and after that is none of an INVITE', async () => {
  for (const [method, status, events] of [
    ['INVITE', undefined, ['closed 503']],
    ['OPTIONS', undefined, ['closed 503']],
    ['INVITE', 180, [180]],
    ['OPTIONS', 200, [200]],
  ] as const) {
    const act =
      status === undefined ? undefined : new Callee((transaction) => transaction.respond({ status }));
    const { network, caller } = open('tcp', act);
    const heard = new Heard();
    caller.send(request(method), TARGET, heard);
    await network.pass(100);
    network.closeConnections();
    assert.deepEqual(heard.events, events);
  }
});

test('an INVITE is taken back at once when the peer is there, else when it says so', async () => {
  for (const ringsAfterMs of [10, 1000]) {
    const network = new Network();
    const caller = network.layer(CALLER, new Callee());
    const callee = new Callee((transaction) => {
      if (transaction.request.method === 'INVITE') {
        network.time.after(ringsAfterMs, () => transaction.respond({ status: 180 }));
        const { user } = transaction;
        transaction.user = { ...user, cancelled: () => transaction.respond({ status: 487 }) };
      }
    });
    network.layer(CALLEE, callee);
    const heard = new Heard();
    const invite = caller.send(request(), TARGET, heard);
    await network.pass(100);
    invite.cancel();
    invite.cancel();
    await network.pass(5000);
    const cancels = network.sentBy(CALLER).filter((line) => line.includes('CANCEL'));
    assert.equal(cancels.length, 1);
    assert.equal(Number.parseInt(cancels[0] ?? '', 10), ringsAfterMs === 10 ? 100 : 1020);
    assert.deepEqual(heard.events, [180, 487]);
  }
});

test('an INVITE that is taken back and never ends is given up after 64 T1', async () => {
  const { network, caller } = open('udp', new Callee((transaction) => transaction.respond({ status: 180 })));
  const heard = new Heard();
  const invite = caller.send(request(), TARGET, heard);
  await network.pass(100);
  invite.cancel();
  await network.pass(32_000);
  assert.deepEqual(heard.events, [180, 'cancelled 487']);
});

test('a connection by which nothing came while a request waited is abandoned, one by which something came is not', async () => {
  for (const method of ['INVITE', 'OPTIONS']) {
    for (const comes of [false, true]) {
      const network = new Network();
      network.sink(CALLEE);
      const caller = network.layer(CALLER, new Callee(), 'tcp');
      let abandoned = 0;
      const flow = { ...network.flow(CALLER, CALLEE, 'tcp'), received: 5, abandon: () => void abandoned++ };
      const heard = new Heard();
      caller.send(request(method), { ...TARGET, transport: 'tcp', flow }, heard);
      await network.pass(20_000, 100);
      if (comes) flow.received++;
      await network.pass(11_900, 100);
      assert.equal(abandoned, 0);
      await network.pass(100);
      assert.deepEqual([heard.events, abandoned], [['no-answer 408'], comes ? 0 : 1]);
    }
  }
});

test('an ACK listens to nothing, however often it goes over one connection', async () => {
  const { network, caller, callee } = open('tcp');
  const plain = network.flow(CALLER, CALLEE, 'tcp');
  let listeners = 0;
  const onClose = (listener: () => void): (() => void) => {
    listeners++;
    const stop = plain.onClose(listener);
    return () => {
      listeners--;
      stop();
    };
  };
  for (let count = 0; count < 10; count++) {
    caller.sendAck(request('ACK', `call${count}`), {
      ...TARGET,
      transport: 'tcp',
      flow: { ...plain, onClose },
    });
  }
  await network.pass(100);
  assert.equal(callee.acks.length, 10);
  assert.equal(listeners, 0);
});

test('as many transactions of ours as are allowed are open, and one more fails', async () => {
  const network = new Network();
  network.sink(CALLEE);
  const caller = network.layer(CALLER, new Callee(), 'udp', { limits: { client: 1 } });
  const heard = [new Heard(), new Heard()];
  for (const user of heard) caller.send(request('OPTIONS'), TARGET, user);
  await network.pass(10);
  assert.deepEqual(
    heard.map(({ events }) => events),
    [[], ['too-many 503']],
  );
  assert.equal(network.carried.length, 1);
});

test('a response that is for somebody else is dropped', async () => {
  const { network, caller } = open();
  const heard = new Heard();
  caller.send(request('OPTIONS'), TARGET, heard);
  await network.pass(10);
  const [via = ''] = /Via: .*/.exec(network.carried[0]?.text ?? '') ?? [];
  const head = (top: string): string =>
    `SIP/2.0 200 OK\r\n${top}\r\nFrom: <sip:a@b>;tag=call\r\nTo: <sip:b@b>;tag=2\r\nCall-ID: call\r\n`;
  for (const text of [
    `${head(via)}Via: SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1\r\nCSeq: 1 OPTIONS\r\n\r\n`,
    `${head(`${via}x`)}CSeq: 1 OPTIONS\r\n\r\n`,
    `${head(via)}CSeq: 1 INVITE\r\n\r\n`,
  ]) {
    caller.received(Buffer.from(text), network.flow(CALLER, CALLEE));
  }
  assert.deepEqual(heard.events, []);
  assert.equal(caller.countOf('stray-responses'), 3);
  caller.received(Buffer.from(`${head(via)}CSeq: 1 OPTIONS\r\n\r\n`), network.flow(CALLER, CALLEE));
  assert.deepEqual(heard.events, [200]);
});

test('timers fire in time, in order, and not once they are stopped; the system sees one for each duration', () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  const fired: string[] = [];
  const owner = (name: string) => ({
    expired: (timer: string) => fired.push(`${time.now()} ${name} ${timer}`),
  });
  const stopped = queue.start(100, 'A', owner('stopped'));
  queue.start(100, 'A', owner('first'));
  queue.start(50, 'B', owner('second'));
  time.advance(30);
  queue.start(100, 'D', owner('third'));
  assert.equal(time.waiting, 2);
  stopped.stop();
  time.advance(200);
  assert.deepEqual(fired, ['50 second B', '100 first A', '130 third D']);
  assert.equal(time.waiting, 0);
});

test('a timer that is started while others fire waits its turn, and thousands of them leave nothing', () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  let fired = 0;
  const owner = {
    expired(): void {
      fired++;
      if (fired <= 5000) queue.start(10, 'A', owner);
    },
  };
  for (let index = 0; index < 5000; index++) queue.start(10, 'A', owner);
  time.advance(10);
  assert.equal(fired, 5000);
  time.advance(10);
  assert.equal(fired, 10_000);
  assert.equal(time.waiting, 0);
});

test('nothing fires after closing', () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  const owner = { expired: () => assert.fail('fired') };
  queue.start(10, 'A', owner);
  queue.close();
  queue.start(10, 'A', owner);
  assert.equal(time.waiting, 0);
  time.advance(100);
});

test('an owner that throws does not stop the timers behind its own, and is reported', async () => {
  const time = new ManualTime();
  const queue = new TimerQueue(time);
  let fired = 0;
  queue.start(10, 'A', {
    expired(): void {
      throw new RangeError('a defect');
    },
  });
  queue.start(10, 'A', { expired: () => fired++ });
  time.advance(5);
  queue.start(10, 'A', { expired: () => fired++ });
  const [defect] = await rejectionsOf(() => time.advance(5));
  assert.match(String(defect), /Defect: SIP transaction: a defect/);
  time.advance(10);
  assert.deepEqual([fired, time.waiting], [2, 0]);
});
