import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32c, type RTCDtlsTransport, RTCSctpTransport } from 'werift';
import { chromiumOffer, offerWith } from './chromium-offer.js';
import { systemTime } from '../../src/time.js';
import { freePorts } from '../fakes/free-port.js';
import { connect, openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

function ssrcAndCname(sdp: string): { ssrc: number; cname: string } {
  const [, ssrc = '', cname = ''] = /^a=ssrc:(\d+) cname:(\S+)/m.exec(sdp) ?? [];
  return { ssrc: Number(ssrc), cname };
}

test('the data channels are made for the werift that is installed, and that is pinned', () => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const root = new URL('../../../', import.meta.url).pathname;
  const { dependencies } = read(`${root}package.json`) as { dependencies: Record<string, string> };
  assert.equal(dependencies['werift'], '0.24.4');
  assert.equal(read(`${root}node_modules/werift/package.json`)['version'], '0.24.4');
});

for (const codec of ['opus', 'PCMU', 'PCMA']) {
  test(`the native plane sends ${codec} under the SSRC and the name of the answer`, async (t) => {
    const under = await openServer(t);
    const { client, sdp, call, id } = await connect(t, under, new WeriftClient(codec));
    assert.equal(call.codec.name, codec);
    await client.until(() => client.packets.length >= 10, 'ten packets');
    const { ssrc, cname } = ssrcAndCname(sdp);
    const [first] = client.packets;
    assert.ok(first !== undefined);
    const ticks = (call.codec.clockRate * 20) / 1000;
    client.packets.slice(0, 10).forEach((packet, index) => {
      assert.equal(packet.ssrc, ssrc);
      assert.equal(packet.payloadType, codec === 'opus' ? 111 : codec === 'PCMU' ? 0 : 8);
      assert.equal(packet.sequence, first.sequence + index);
      assert.equal(packet.timestamp, (first.timestamp + index * ticks) >>> 0);
      assert.deepEqual(Buffer.from(packet.payload), Buffer.from(call.codec.silence(20)));
    });
    assert.ok(first.sequence < 2 ** 15);
    const name = await client.until(
      () => client.reports.find((report) => report.cname !== undefined),
      'report',
    );
    assert.deepEqual([name.ssrc, name.cname], [ssrc, cname]);
    assert.equal(call.stats().sendErrors, 0);
    assert.equal(call.stats().carried, 0);
    assert.equal(under.log[0], 'call opened: udp');
    await under.server.hangUp(id);
  });
}

test('a browser that prefers discontinuous transmission gets a frame each 400 ms of a pause', async (t) => {
  const under = await openServer(t);
  const client = new WeriftClient();
  t.after(() => client.close());
  const offer = await client.offer();
  const { id, sdp } = await under.server.open({
    sdp: offer.replace(/^(a=rtpmap:(\d+) opus.*\r\n)/m, '$1a=fmtp:$2 usedtx=1\r\n'),
  });
  await client.accept(sdp);
  await client.until(() => client.packets.length >= 3, 'three packets');
  const [first, second, third] = client.packets.map(({ timestamp }) => timestamp);
  const step = (0.4 * 48_000) >>> 0;
  assert.deepEqual([second, third], [((first ?? 0) + step) >>> 0, ((first ?? 0) + 2 * step) >>> 0]);
  await under.server.hangUp(id);
});

test('a call is ended with its own API key, with that named admin, and with no other', async (t) => {
  const { server } = await openServer(t);
  const [first, second, shared] = await Promise.all(
    ['acme', 'acme', undefined].map((owner) => server.open({ sdp: chromiumOffer(), owner })),
  );
  assert.ok(first !== undefined && second !== undefined && shared !== undefined);
  assert.equal(await server.hangUp(first.id, 'other'), false);
  assert.equal(server.size, 3);
  assert.equal(await server.hangUp(first.id, 'acme'), true);
  assert.equal(await server.hangUp(second.id, 'admin'), true);
  assert.equal(await server.hangUp(shared.id, 'other'), true);
  assert.equal(server.size, 0);
});

test('an answer names one codec, sends only, and agrees to nothing else', async (t) => {
  const { server } = await openServer(t);
  const { id, sdp } = await server.open({ sdp: chromiumOffer() });
  assert.match(sdp, /^m=audio 9 UDP\/TLS\/RTP\/SAVPF 111 63\r$/m);
  assert.match(sdp, /^a=ice-lite\r$/m);
  assert.match(sdp, /^a=sendonly\r$/m);
  assert.match(sdp, /^a=setup:passive\r$/m);
  assert.match(sdp, /^a=rtcp-mux\r$/m);
  assert.match(sdp, /^a=msid:parley /m);
  assert.match(sdp, /^a=group:BUNDLE 0 1\r$/m);
  assert.match(sdp, /^a=max-message-size:65536\r$/m);
  assert.doesNotMatch(sdp, /extmap|rtcp-fb|rsize|nack|trickle/);
  assert.deepEqual(
    [...sdp.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+)/gm)].map(([, address]) => address),
    ['127.0.0.1'],
  );
  await server.hangUp(id);
});

test('an answer has the transport protocols and the form of SCTP that were offered', async (t) => {
  const { server } = await openServer(t);
  for (const [audio, data, sctp] of [
    ['UDP/TLS/RTP/SAVPF', 'UDP/DTLS/SCTP webrtc-datachannel', 'sctp-port:5000'],
    ['UDP/TLS/RTP/SAVP', 'DTLS/SCTP webrtc-datachannel', 'sctp-port:5000'],
    ['RTP/SAVPF', 'TCP/DTLS/SCTP webrtc-datachannel', 'sctp-port:5000'],
    ['TCP/DTLS/RTP/SAVPF', 'DTLS/SCTP 5000', 'sctpmap:5000 webrtc-datachannel 65535'],
    ['RTP/SAVPF', 'DTLS/SCTP 5000', 'sctp-port:5000'],
    ['RTP/SAVPF', 'DTLS/SCTP webrtc-datachannel', 'sctpmap:5000 webrtc-datachannel 65535'],
    ['RTP/SAVP', 'UDP/DTLS/SCTP 5000', 'sctpmap:5000 webrtc-datachannel 65535'],
  ] as const) {
    const offer = chromiumOffer((line) => {
      if (line.startsWith('m=audio')) return line.replace('UDP/TLS/RTP/SAVPF', audio);
      if (line.startsWith('m=application')) return `m=application 9 ${data}`;
      return line.startsWith('a=sctp-port') ? `a=${sctp}` : line;
    });
    const { id, sdp } = await server.open({ sdp: offer });
    assert.deepEqual(sdp.match(/^(?:m=|a=sctp).*$/gm), [
      `m=audio 9 ${audio} 111 63`,
      `m=application 9 ${data}`,
      `a=${sctp}`,
    ]);
    await server.hangUp(id);
  }
});

test('an answer in the older form of SCTP names our own port, whatever port was offered', async (t) => {
  const { server } = await openServer(t);
  const offer = chromiumOffer((line) => {
    if (line.startsWith('m=application')) return 'm=application 9 DTLS/SCTP 5001';
    return line.startsWith('a=sctp-port') ? 'a=sctpmap:5001 webrtc-datachannel 1024' : line;
  });
  const { id, sdp } = await server.open({ sdp: offer });
  assert.deepEqual(sdp.match(/^(?:m=application|a=sctp).*$/gm), [
    'm=application 9 DTLS/SCTP 5000',
    'a=sctpmap:5000 webrtc-datachannel 65535',
  ]);
  await server.hangUp(id);
});

test('a browser that insists on starting the handshake, or on not starting it, is given its way', async (t) => {
  const under = await openServer(t, { connectionTime: systemTime });
  for (const [setup, answered] of [
    ['active', 'passive'],
    ['passive', 'active'],
  ] as const) {
    const client = new WeriftClient();
    t.after(() => client.close());
    const offer = (await client.offer()).replaceAll('a=setup:actpass', `a=setup:${setup}`);
    const { sdp } = await under.server.open({ sdp: offer });
    assert.match(sdp, new RegExp(`^a=setup:${answered}\r$`, 'm'));
    await client.accept(sdp);
    await client.until(() => client.packets.length > 2, 'packets');
  }
});

test('a refused offer leaves nothing behind', async (t) => {
  const { server, switchboard, plane } = await openServer(t);
  for (const [sdp, code] of [
    ['nonsense', 'SDP_INVALID'],
    [offerWith('m=audio', 'm=video 9 UDP/TLS/RTP/SAVPF 96'), 'NO_COMMON_CODEC'],
  ] as const) {
    await assert.rejects(server.open({ sdp }), { code });
  }
  assert.deepEqual([server.size, switchboard.size, plane.stats().streams], [0, 0, 0]);
});

test('calls that are still being set up count against the limit', async (t) => {
  const { server } = await openServer(t, { maxCalls: 2 });
  const first = await server.open({ sdp: chromiumOffer() });
  await server.open({ sdp: chromiumOffer() });
  await assert.rejects(server.open({ sdp: chromiumOffer() }), { code: 'CALL_LIMIT' });
  assert.equal(await server.hangUp(first.id), true);
  await server.open({ sdp: chromiumOffer() });
});

test('one client cannot hold the places of others with calls that it never connects', async (t) => {
  const clientLimits = { maxCallsPerClient: 3, maxHalfOpenPerClient: 2 };
  const under = await openServer(t, { clientLimits });
  const { server, time } = under;
  const open = (client: string) => server.open({ sdp: chromiumOffer(), clients: [client] });
  const first = await open('a');
  const second = await open('a');
  await assert.rejects(open('a'), { code: 'CLIENT_LIMIT' });
  await open('b');
  await server.hangUp(first.id);
  await open('a');
  await assert.rejects(open('a'), { code: 'CLIENT_LIMIT' });
  time.advance(20_000); // the set-up time
  await server.hangUp(second.id); // waits for the same end
  await nextTurn();
  const client = new WeriftClient();
  t.after(() => client.close());
  const connected = await server.open({ sdp: await client.offer(), clients: ['a'] });
  await client.accept(connected.sdp);
  await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
  await open('a');
  await open('a');
  await assert.rejects(open('a'), /3 calls, which is what MAX_CALLS_PER_CLIENT allows/);
});

test('a browser that never connects is given up after the set-up time', async (t) => {
  const { server, switchboard, time, log } = await openServer(t);
  const { id } = await server.open({ sdp: chromiumOffer() });
  time.advance(19_999);
  assert.equal(server.size, 1);
  time.advance(1);
  await server.hangUp(id); // waits for the same end
  await nextTurn();
  assert.deepEqual([server.size, switchboard.size, time.waiting], [0, 0, 0]);
  assert.deepEqual(log, ['transport failed: TIMEOUT: the browser was not connected within 20000 ms']);
});

test('hanging up frees the call whenever it comes, and once', async (t) => {
  const under = await openServer(t);
  const { server, switchboard, plane, time } = under;
  const early = await server.open({ sdp: chromiumOffer() });
  assert.deepEqual(await Promise.all([server.hangUp(early.id), server.hangUp(early.id)]), [true, true]);
  const { id, client } = await connect(t, under);
  assert.equal(plane.stats().streams, 1);
  assert.equal(await server.hangUp(id), true);
  assert.equal(await server.hangUp(id), false);
  assert.deepEqual([server.size, switchboard.size, plane.stats().streams, time.waiting], [0, 0, 0, 0]);
  await client.until(() => client.channel.readyState === 'closed', 'closed channel');
  assert.deepEqual(under.log.slice(-1), ['call closed: hang-up']);
});

test('a page that closes its data channel, or aborts what carries it, ends its call', async (t) => {
  const under = await openServer(t);
  for (const leave of [
    (client: WeriftClient) => client.channel.close(),
    (client: WeriftClient) => void client.connection.sctpTransport?.sctp.abort(),
  ]) {
    const { client, call } = await connect(t, under);
    leave(client);
    assert.equal(await call.closed, 'peer closed');
  }
  assert.equal(under.plane.stats().streams, 0);
});

test('a data channel is acknowledged before anything is said on it', async (t) => {
  const under = await openServer(t);
  const client = new WeriftClient();
  const firsts = new Map<number, string>();
  const note = (stream: number, _protocol: number, data: Buffer) => {
    if (!firsts.has(stream)) firsts.set(stream, data.toString('hex'));
  };
  const listened = new Promise<void>((resolve) => {
    client.connection.connectionStateChange.subscribe((state) => {
      if (state === 'connected') resolve();
    });
  });
  client.connection.sctpTransport?.sctp.onReceive.subscribe(note);
  await connect(t, under, client);
  await listened;
  const unfit = client.connection.createDataChannel('fast', { ordered: false });
  await new Promise((resolve) => unfit.onMessage.subscribe(resolve));
  // DATA_CHANNEL_ACK (RFC 8832 section 5.2).
  assert.deepEqual([...firsts.values()], ['02', '02']);
});

test('a page that opens channel after channel loses its call', async (t) => {
  const under = await openServer(t);
  const { client, call } = await connect(t, under);
  for (let count = 0; count < 16; count++) client.connection.createDataChannel(`channel ${count}`);
  assert.equal(await call.closed, 'transport failed');
  assert.match(under.log.join(), /QUEUE_FULL: the browser opens more than 16 channels/);
});

test('only the first data channel talks; another one is closed', async (t) => {
  const under = await openServer(t);
  const { client, call } = await connect(t, under);
  const second = client.connection.createDataChannel('second');
  const said = new Promise((resolve) => second.onMessage.subscribe((data) => resolve(String(data))));
  await new Promise<void>((resolve) =>
    second.stateChanged.subscribe((state) => state === 'closed' && resolve()),
  );
  assert.match(String(await said), /CALL_STATE.*one data channel/);
  client.send({ type: 'clear' });
  await client.until(() => client.messages.find(({ type }) => type === 'cleared'), 'cleared message');
  assert.equal(under.switchboard.get(call.id), call);
});

test('a negotiated data channel talks from the first message of its page on', async (t) => {
  const under = await openServer(t);
  const client = new WeriftClient('opus', { opensChannel: false });
  t.after(() => client.close());
  const { id, sdp } = await under.server.open({ sdp: await client.offer() });
  await client.accept(sdp);
  await client.until(() => client.channel.readyState === 'open' && under.switchboard.get(id), 'open channel');
  assert.deepEqual(client.messages, []);
  client.send({ type: 'clear' });
  await client.until(() => client.messages.find(({ type }) => type === 'cleared'), 'cleared message');
  assert.deepEqual(
    client.messages.map(({ type }) => type),
    ['ready', 'cleared'],
  );
  const second = client.connection.createDataChannel('', { negotiated: true, id: 9 });
  const said = new Promise((resolve) => second.onMessage.subscribe((data) => resolve(String(data))));
  second.send('{}');
  assert.match(String(await said), /CALL_STATE.*one data channel/);
  client.channel.close();
  await under.logged(/call closed: peer closed/);
});

for (const options of [{ ordered: false }, { maxRetransmits: 3 }, { maxPacketLifeTime: 100 }]) {
  const [property] = Object.keys(options);
  test(`a channel that may lose or reorder tokens is told so and closed: ${property}`, async (t) => {
    const under = await openServer(t);
    const { client, call } = await connect(t, under);
    const channel = client.connection.createDataChannel('fast', options);
    const said = new Promise((resolve) => channel.onMessage.subscribe((data) => resolve(String(data))));
    const closed = new Promise<void>((resolve) => {
      channel.stateChanged.subscribe((state) => state === 'closed' && resolve());
    });
    assert.match(String(await said), /INVALID_FIELD.*ordered and reliable/);
    await closed;
    assert.equal(under.switchboard.get(call.id), call);
  });
}

test('damaged SCTP and unknown payloads neither end the process nor the call', async (t) => {
  const under = await openServer(t);
  const { client, call } = await connect(t, under);
  const rejections: unknown[] = [];
  const note = (error: unknown) => void rejections.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  const transport = client.connection.sctpTransport;
  const [dtls] = client.connection.dtlsTransports;
  assert.ok(transport !== undefined && dtls !== undefined);
  await transport.sctp.send(client.channel.id ?? 0, 99, Buffer.from('?'));
  await transport.sctp.send(7, 50, Buffer.from([2])); // acknowledges a channel that was not opened
  for (const damaged of ['', '00', 'ff'.repeat(12), 'ff'.repeat(100), '1388138800000000000000000100']) {
    await dtls.sendData(Buffer.from(damaged, 'hex'));
  }
  // A chunk without length, in a packet that is right in everything else (RFC 9260 section 3.1).
  const endless = Buffer.from('138813880000000000000000' + '00030000', 'hex');
  const { remoteVerificationTag } = transport.sctp as unknown as { remoteVerificationTag: number };
  endless.writeUInt32BE(remoteVerificationTag, 4);
  endless.writeUInt32LE(crc32c(endless), 8);
  await dtls.sendData(endless);
  client.send({ type: 'clear' });
  await client.until(() => client.messages.find(({ type }) => type === 'cleared'), 'cleared message');
  await nextTurn();
  assert.deepEqual(rejections, []);
  assert.equal(under.switchboard.get(call.id), call);
});

test('a missing internal of werift fails the call at set-up, by name, and nothing is left', async (t) => {
  const under = await openServer(t);
  const client = new WeriftClient();
  t.after(() => client.close());
  const offer = await client.offer();
  const setDtls = RTCSctpTransport.prototype.setDtlsTransport;
  // The server's alone: both ends of this test use werift.
  t.mock.method(
    RTCSctpTransport.prototype,
    'setDtlsTransport',
    function (this: RTCSctpTransport, dtls: RTCDtlsTransport) {
      if (dtls.id === 'native') this.sctp = {} as never;
      else setDtls.call(this, dtls);
    },
  );
  const { sdp } = await under.server.open({ sdp: offer });
  await client.accept(sdp);
  await under.logged(/^transport failed/);
  await under.server.close();
  assert.match(
    under.log[0] ?? '',
    /^transport failed: TRANSPORT_UNSUPPORTED: werift has no method SCTP.handleData, .*werift 0\.24\.4/,
  );
  assert.deepEqual([under.server.size, under.switchboard.size, under.plane.stats().streams], [0, 0, 0]);
});

test('a closing server refuses offers, ends its calls and those still being set up', async (t) => {
  const under = await openServer(t);
  const { call } = await connect(t, under);
  await under.server.open({ sdp: chromiumOffer() });
  const closing = under.server.close();
  assert.equal(under.server.close(), closing);
  await assert.rejects(under.server.open({ sdp: chromiumOffer() }), { code: 'CALL_CLOSED' });
  await closing;
  assert.equal(await call.closed, 'server closing');
  assert.deepEqual([under.server.size, under.switchboard.size, under.time.waiting], [0, 0, 0]);
});

test('calls that begin together share a range of ports; one too many is refused and leaves nothing', async (t) => {
  const first = await freePorts(5);
  const udpPorts = [first, first + 4] as const;
  const { server, switchboard } = await openServer(t, { udpPorts });
  const calls = await Promise.all(Array.from({ length: 2 }, () => server.open({ sdp: chromiumOffer() })));
  const ports = calls.map(({ sdp }) => Number(/^a=candidate:\S+ 1 udp \d+ \S+ (\d+)/m.exec(sdp)?.[1]));
  assert.equal(new Set(ports).size, 2);
  assert.ok(ports.every((port) => port >= udpPorts[0] && port <= udpPorts[1]));
  await assert.rejects(server.open({ sdp: chromiumOffer() }), { code: 'CALL_LIMIT' });
  assert.equal(switchboard.size, 2);
  await server.hangUp(calls[0]?.id ?? '');
  // A port that was given back rests, because its browser may still send to it.
  await assert.rejects(server.open({ sdp: chromiumOffer() }), { code: 'CALL_LIMIT' });
});
