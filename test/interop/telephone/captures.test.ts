// Captures of real calls: what SIPp and its media said and heard stands in the
// file of the call, and a collector is told.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { MU_LAW } from '../../../src/codecs/g711.js';
import { until } from '../../fakes/until.js';
import { dissected, fieldOf, type PcapPacket, readHep, readPcap } from '../../sip/capture/capture-readers.js';
import { kept } from './kept.js';
import { ScratchFolder } from './program.js';
import { readRtp, RtpPeer } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { TelephoneServer } from './telephone-server.js';

const FRAME = 160;

interface Captured {
  readonly path: string;
  readonly packets: readonly PcapPacket[];
}

async function openServer(t: TestContext, environment: Readonly<Record<string, string>>) {
  const folder = new ScratchFolder();
  t.after(() => folder.remove());
  const server = await kept(t, TelephoneServer.start({ PCAP_DIR: folder.path, ...environment }));
  await server.rendered('Ready.'); // a server that is busy starting sheds calls
  /** Closes the server, which has every file written. */
  const files = async (): Promise<Captured[]> => {
    await server.close();
    return readdirSync(folder.path).map((name) => {
      const path = folder.at(name);
      return { path, packets: readPcap(readFileSync(path)) };
    });
  };
  return { server, files };
}

async function openCollector(t: TestContext) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  const packets: Buffer[] = [];
  socket.on('message', (packet) => packets.push(packet));
  return { packets, place: `127.0.0.1:${socket.address().port}` };
}

function firstLines(packets: readonly PcapPacket[], port: number): string[] {
  const isSip = ({ source, target }: PcapPacket) => [source, target].includes(`127.0.0.1 ${port}`);
  return packets
    .filter(isSip)
    .map(({ payload }) => payload.toString('latin1').split(/ sip:|\r\n/, 1)[0] ?? '');
}

function rtpIn(packets: readonly PcapPacket[], isWanted: (packet: PcapPacket) => boolean) {
  return packets.filter(isWanted).flatMap(({ payload, atUs }) => {
    const packet = readRtp(payload);
    return packet === undefined ? [] : [{ ...packet, atUs }];
  });
}

/** Ten frames that nothing else sends, and their payloads. */
function sound(): { readonly samples: Float32Array; readonly payloads: readonly Buffer[] } {
  const levels = Array.from({ length: 10 }, (_, n) => (n + 1) / 16);
  const samples = Float32Array.from({ length: 10 * FRAME }, (_, at) => levels[Math.floor(at / FRAME)] ?? 0);
  const codes = levels.map((level) => MU_LAW[32_768 + Math.round(level * 32_767)] ?? 0);
  return { samples, payloads: codes.map((code) => Buffer.alloc(FRAME, code)) };
}

test('the file of a call holds its SIP and its sound both ways, byte for byte, and Wireshark reads it', async (t) => {
  const collector = await openCollector(t);
  const environment = {
    PCAP_CALLS: 'to:captured',
    PCAP_RTP: '1',
    HEP_COLLECTOR: collector.place,
    HEP_ID: '7',
  };
  const { server, files } = await openServer(t, environment);
  const [before, rtp] = [await kept(t, RtpPeer.open()), await kept(t, RtpPeer.open())];
  const call = (service: string, holdMs: number, { port }: RtpPeer) =>
    kept(t, Sipp.call(server.address, 'call-basic', { service, holdMs, keys: { rtp_port: port } }));
  await (await call('other', 60, before)).succeeded();
  const sipp = await call('captured', 1500, rtp);
  await until(() => rtp.heard.length > 0);
  const stream = rtp.stream(rtp.source ?? server.address);
  const { samples, payloads } = sound();
  await stream.play(samples);
  await stream.press('5');
  await sipp.succeeded();
  await until(() => rtp.rtcpHeard > 0);
  stream.stop();
  const [file, ...others] = await files();
  assert.ok(file !== undefined && others.length === 0, 'a file for the call that is wanted alone');
  const { path, packets } = file;
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(
    firstLines(packets, server.address.port).filter((line) => line !== 'SIP/2.0 100 Trying'),
    ['INVITE', 'SIP/2.0 200 OK', 'ACK', 'BYE', 'SIP/2.0 200 OK'],
  );
  const theirs = `127.0.0.1 ${rtp.port}`;
  const sent = rtpIn(packets, ({ target }) => target === theirs);
  const received = rtpIn(packets, ({ source }) => source === theirs);
  for (const way of [sent, received]) {
    assert.ok(
      way.every(({ atUs }, n) => atUs >= (way[n - 1]?.atUs ?? 0)),
      'nobody sends into the past',
    );
  }
  const inOrder = (list: readonly { readonly sequence: number; readonly payload: Buffer }[]) =>
    list.map(({ sequence, payload }) => `${sequence} ${payload.toString('hex')}`);
  assert.ok(sent.length > 50);
  assert.deepEqual(inOrder(sent), inOrder(rtp.heard));
  const first = received.findIndex(({ payload }) => payload.equals(payloads[0] ?? Buffer.alloc(0)));
  assert.deepEqual(
    received.slice(first, first + 10).map(({ payload }) => payload),
    payloads,
  );
  assert.equal(
    received.filter(({ payloadType }) => payloadType === 101).length,
    8,
    'five packets of the key, three of its end',
  );
  const reports = packets.filter(({ target }) => target === `127.0.0.1 ${rtp.port + 1}`);
  assert.equal(reports.length, rtp.rtcpHeard);
  const chunks = collector.packets.map(readHep);
  const told = chunks.filter((chunk) => chunk.get(17)?.toString() === chunks.at(-1)?.get(17)?.toString());
  assert.deepEqual(
    told.map((chunk) => chunk.get(11)?.[0]).filter((content) => content === 5),
    [5],
  );
  const report = JSON.parse(
    told
      .find((chunk) => chunk.get(11)?.[0] === 5)
      ?.get(15)
      ?.toString() ?? '',
  ) as Record<string, unknown>;
  assert.deepEqual(
    [report['ssrc'], report['sender_information']],
    [sent[0]?.ssrc, { packets: sent.length, octets: sent.length * FRAME }],
  );
  const [block] = report['report_blocks'] as Record<string, unknown>[];
  assert.deepEqual([block?.['source_ssrc'], block?.['packets_lost']], [0x5eed, 0]);
  assert.equal(
    told.filter((chunk) => chunk.get(11)?.[0] === 1).length,
    firstLines(packets, server.address.port).length,
  );
  const seen = dissected(path);
  if (seen === undefined) return t.diagnostic('no tshark here');
  const protocols = seen.map((layers) =>
    ['sip', 'rtp', 'rtcp'].find((name) => fieldOf(layers, name) !== undefined),
  );
  const count = (name: string) => protocols.filter((protocol) => protocol === name).length;
  assert.deepEqual(
    [count('sip'), count('rtp')],
    [firstLines(packets, server.address.port).length, sent.length + received.length],
  );
});

test('a call of ours is captured where its request says so, without its sound unless that is wished', async (t) => {
  const { server, files } = await openServer(t, {});
  const rtp = await kept(t, RtpPeer.open());
  const headers = [{}, { 'X-Parley-Capture': '1' }];
  for (const more of headers) {
    const sipp = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port }, holdMs: 300 }));
    const { host, port } = sipp.address;
    const { id } = await server.telephone.place({ to: `sip:bob@${host}:${port}`, headers: more });
    await until(() => server.telephone.get(id).state === 'connected' && rtp.heard.length > 5);
    await server.telephone.hangUp(id);
    await sipp.succeeded();
  }
  const [file, ...others] = await files();
  assert.deepEqual(others, []);
  const lines = firstLines(file?.packets ?? [], server.address.port);
  assert.deepEqual([lines[0], lines.at(-2), lines.at(-1)], ['INVITE', 'BYE', 'SIP/2.0 200 OK']);
  assert.equal(lines.length, file?.packets.length, 'nothing but SIP');
});
