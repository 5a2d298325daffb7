import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReachable, machineAddresses } from '../../signaling/browser-sockets.js';
import { openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

const address = (text: string, internal = false) =>
  ({ address: text, internal, family: text.includes(':') ? 'IPv6' : 'IPv4' }) as never;

test('the addresses of the machine are those that another host can reach, and loopback at the end', () => {
  const interfaces = {
    lo: [address('127.0.0.1', true), address('::1', true)],
    eth0: [address('192.0.2.1'), address('2001:db8::1'), address('fe80::1'), address('169.254.3.4')],
    eth1: [address('192.0.2.1')],
  };
  assert.deepEqual(machineAddresses(interfaces), ['192.0.2.1', '2001:db8::1', '127.0.0.1']);
  assert.deepEqual(machineAddresses({}), ['127.0.0.1']);
});

test('an address is reachable from outside unless it is private', () => {
  for (const own of [
    '10.1.2.3',
    '172.16.0.1',
    '172.31.9.9',
    '192.168.1.1',
    '100.64.0.1',
    '127.0.0.1',
    '::1',
    'fd00::1',
  ]) {
    assert.equal(isReachable([own]), false, own);
  }
  for (const open of ['198.51.100.1', '172.32.0.1', '100.128.0.1', '2001:db8::1']) {
    assert.equal(isReachable(['10.0.0.1', open]), true, open);
  }
});

test('all calls share one UDP port', async (t) => {
  const { server } = await openServer(t);
  const client = new WeriftClient();
  t.after(() => client.close());
  const sdp = await client.offer();
  const ports = (await Promise.all([server.open({ sdp }), server.open({ sdp })])).map(
    (session) => / udp \d+ \S+ (\d+) typ host/.exec(session.sdp)?.[1],
  );
  assert.notEqual(ports[0], undefined);
  assert.equal(ports[0], ports[1]);
});

test('a server with a TCP port names it after its UDP port', async (t) => {
  const { server } = await openServer(t, { tcpPort: 0 });
  const client = new WeriftClient();
  t.after(() => client.close());
  const { sdp } = await server.open({ sdp: await client.offer() });
  assert.deepEqual(
    sdp.match(/^a=candidate:.*/gm)?.map((line) => line.replace(/ \d+ 127\.0\.0\.1 \d+ /, ' ')),
    ['a=candidate:1 1 udp typ host', 'a=candidate:2 1 tcp typ host tcptype passive'],
  );
});

test('a call is logged with the transport of its media, UDP or TCP', async (t) => {
  const under = await openServer(t, { tcpPort: 0 });
  for (const transport of ['udp', 'tcp']) {
    const client = new WeriftClient('opus', { tcp: true });
    t.after(() => client.close());
    const { sdp } = await under.server.open({ sdp: await client.offer() });
    const isOther = (line: string) => line.startsWith('a=candidate:') && !line.includes(` 1 ${transport} `);
    await client.accept(
      sdp
        .split('\r\n')
        .filter((line) => !isOther(line))
        .join('\r\n'),
    );
    await client.until(() => client.packets.length > 0, 'packets');
    assert.equal(under.log.at(-1), `call opened: ${transport}`);
  }
});
