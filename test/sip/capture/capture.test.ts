// Copies of what a server says and hears: to a collector, and into files.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CallCaptures, type CallCapturesOptions, wantedCalls } from '../../../sip/capture/call-captures.js';
import { HepSender } from '../../../sip/capture/hep-sender.js';
import { callIdIn, type MessageTap, severalTaps } from '../../../sip/capture/taps.js';
import { ipDatagram } from '../../../sip/capture/ip-datagram.js';
import { PcapFile } from '../../../sip/capture/capture-files.js';
import { requestBytes } from '../../../sip/message/serialiser.js';
import type { Flow } from '../../../sip/transport/flow.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { request } from '../transaction/network.js';
import { answer, openTransports, options, sent } from '../transport/transports-under-test.js';
import { dissected, fieldOf, readHep, readPcap } from './capture-readers.js';

const UNIX_MS = 1_700_000_000_123.5;

function flowOf(remote: string, local: string): Flow {
  return {
    transport: 'udp',
    reliable: false,
    closed: false,
    local: { address: local, port: 5060 },
    remote: { address: remote, port: 5070 },
    send: () => true,
    onClose: () => () => undefined,
    close: () => undefined,
    received: 0,
    abandon: () => undefined,
  };
}

const FOUR = flowOf('198.51.100.7', '192.0.2.1');
const SIX = flowOf('2001:db8::7', '2001:db8::1');

function message(method: string, callId = 'call'): Buffer {
  return requestBytes(request(method, callId), 'SIP/2.0/UDP 198.51.100.7;branch=z9hG4bK1');
}

function reply(status: number, callId = 'call'): Buffer {
  const head = `SIP/2.0 ${status} X\r\nVia: SIP/2.0/UDP a\r\nFrom: <sip:a@h>;tag=1\r\nTo: <sip:b@h>;tag=2`;
  return Buffer.from(`${head}\r\nCall-ID: ${callId}\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n`);
}

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-capture-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function openCaptures(t: TestContext, more: Partial<CallCapturesOptions> = {}) {
  const folder = await folderFor(t);
  const time = new ManualTime();
  const captures = new CallCaptures({ folder, time, unixMs: () => UNIX_MS + time.now(), ...more });
  t.after(() => captures.close());
  const files = async () => (await readdir(folder)).toSorted().map((name) => join(folder, name));
  return { captures, time, files };
}

test('the Call-ID is found in long and short form, and in what is broken', () => {
  assert.equal(callIdIn(message('INVITE', 'a@b')), 'a@b');
  assert.equal(callIdIn(Buffer.from('X\r\ni :\t x y\r\n')), 'x');
  assert.equal(callIdIn(Buffer.from('Call-ID: first line\r\n')), undefined);
  assert.equal(callIdIn(Buffer.alloc(70_000, ' ')), undefined);
});

test('a call has a file of its own, with what came and went as datagrams', async (t) => {
  const { captures, time, files } = await openCaptures(t);
  captures.message('in', message('INVITE'), FOUR);
  time.advance(20);
  captures.message('out', reply(200), FOUR);
  captures.message('in', message('INVITE', 'six'), SIX);
  captures.media(
    'call',
    FOUR.remote,
    { address: '192.0.2.1', port: 40_000 },
    Buffer.from([0x80, 0, 0, 1]),
    UNIX_MS + 30,
  );
  captures.media('other', FOUR.remote, FOUR.local, Buffer.alloc(1));
  captures.message('in', message('OPTIONS', 'no call'), FOUR);
  assert.deepEqual(captures.counts, { open: 2, turnedAway: 0, dropped: 0 });
  await captures.close();
  const found = (await Promise.all((await files()).map((file) => readFile(file)))).map(readPcap);
  const four = found.find(([first]) => first?.source === '198.51.100.7 5070');
  const six = found.find((packets) => packets !== four);
  assert.deepEqual(
    four?.map(({ atUs, source, target }) => [atUs - 1_700_000_000_000_000, source, target]),
    [
      [123_500, '198.51.100.7 5070', '192.0.2.1 5060'],
      [143_500, '192.0.2.1 5060', '198.51.100.7 5070'],
      [153_500, '198.51.100.7 5070', '192.0.2.1 40000'],
    ],
  );
  assert.deepEqual(four?.[0]?.payload, message('INVITE'));
  assert.deepEqual(four?.[1]?.payload, reply(200));
  assert.deepEqual(
    six?.map(({ source, payload }) => [source, payload]),
    [[`20010db8${'0'.repeat(23)}7 5070`, message('INVITE', 'six')]],
  );
});

test('messages with a bare LF at the end of their lines are captured, too', async (t) => {
  const bare = (bytes: Buffer): Buffer =>
    Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  assert.equal(callIdIn(bare(message('INVITE', 'a@b'))), 'a@b');
  const { captures, time } = await openCaptures(t);
  captures.message('in', bare(message('INVITE')), FOUR);
  captures.message('out', bare(reply(486)), FOUR);
  time.advance(35_000);
  assert.equal(captures.counts.open, 0);
  const wants = wantedCalls('marked', () => true);
  const marked = message('INVITE').toString('latin1').replace('\r\n', '\r\nX-Parley-Capture: 1\r\n');
  assert.equal(wants('in', Buffer.from(marked), FOUR), true);
  assert.equal(wants('in', bare(Buffer.from(marked)), FOUR), true);
  const inBody = Buffer.from('INVITE sip:a@h SIP/2.0\nVia: x\n\nv=0\nX-Parley-Capture: 1\n');
  assert.equal(wants('in', inBody, FOUR), false);
});

test('file names hold nothing that a peer wrote, and files are for their owner', async (t) => {
  const { captures, files } = await openCaptures(t);
  captures.message('in', message('INVITE', '../../../etc/passwd'), FOUR);
  await captures.close();
  const [file = '', ...others] = await files();
  assert.deepEqual(others, []);
  assert.match(file, /\/20231114T221320123Z-[0-9a-f]{16}\.pcap$/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test('a file is closed some time after BYE or a refusal, not after a challenge or a refused re-INVITE', async (t) => {
  const { captures, time } = await openCaptures(t);
  const after = (ms: number): number => {
    time.advance(ms);
    return captures.counts.open;
  };
  captures.message('in', message('INVITE'), FOUR);
  captures.message('out', reply(407), FOUR);
  captures.message('in', message('INVITE'), FOUR);
  captures.message('out', reply(180), FOUR);
  assert.equal(after(600_000), 1); // it rings for long
  captures.message('out', reply(200), FOUR);
  captures.message('out', reply(488), FOUR);
  assert.equal(after(600_000), 1);
  captures.message('in', message('BYE'), FOUR);
  time.advance(30_000);
  captures.message('in', message('BYE'), FOUR);
  assert.equal(after(34_999), 1);
  assert.equal(after(1), 0);
  captures.message('in', message('BYE'), FOUR);
  assert.equal(captures.counts.open, 0, 'what comes later begins no file');
  captures.message('in', message('INVITE', 'refused'), FOUR);
  captures.message('out', reply(486, 'refused'), FOUR);
  captures.message('in', message('INVITE', 'told'), FOUR);
  captures.ended('told');
  assert.equal(after(35_000), 0);
  captures.message('in', message('INVITE', 'forgotten'), FOUR);
  captures.message('out', reply(100, 'forgotten'), FOUR);
  assert.equal(after(7_199_999), 1);
  assert.equal(after(1), 0);
  assert.equal(time.waiting, 0);
});

test('an INVITE that nobody answers but with a challenge keeps its file no longer than it can be repeated', async (t) => {
  const { captures, time } = await openCaptures(t);
  for (const callId of ['dropped', 'challenged', 'spoofed', 'refused'])
    captures.message('in', message('INVITE', callId), FOUR);
  captures.message('out', reply(401, 'challenged'), FOUR);
  captures.message('in', message('INVITE', 'challenged'), FOUR);
  captures.message('in', reply(180, 'spoofed'), FOUR); // from the INVITE's sender
  captures.message('out', reply(404, 'refused'), FOUR);
  captures.message('in', message('INVITE', 'refused'), FOUR);
  captures.message('out', message('INVITE', 'ours'), FOUR);
  captures.message('out', message('INVITE', 'ours, ringing'), FOUR);
  captures.message('in', reply(180, 'ours, ringing'), FOUR);
  time.advance(34_999);
  assert.equal(captures.counts.open, 6);
  time.advance(1);
  assert.equal(captures.counts.open, 1);
});

test('files have a size, their number a limit, and who is not wanted gets none', async (t) => {
  const limits = { openFiles: 2, bytesPerFile: 24 + 2 * (16 + 28 + message('INVITE', 'a').length) };
  const { captures, files } = await openCaptures(t, {
    limits,
    wants: (_, invite) => callIdIn(invite) !== 'd',
  });
  for (const callId of ['a', 'b', 'c', 'd']) {
    for (let count = 0; count < 3; count++) captures.message('in', message('INVITE', callId), FOUR);
  }
  assert.deepEqual(captures.counts, { open: 2, turnedAway: 3, dropped: 2 });
  await captures.close();
  assert.deepEqual(captures.counts, { open: 0, turnedAway: 3, dropped: 2 });
  for (const file of await files()) assert.equal(readPcap(await readFile(file)).length, 2);
  captures.message('in', message('INVITE', 'late'), FOUR);
  assert.equal(captures.counts.open, 0);
});

test('a folder that is not there costs the captures and nothing else', async (t) => {
  const { captures } = await openCaptures(t, { folder: '/nonexistent/parley' });
  captures.message('in', message('INVITE'), FOUR);
  await until(() => {
    captures.message('out', reply(180), FOUR);
    return captures.counts.open === 0;
  });
  assert.equal(captures.counts.turnedAway, 1);
  await captures.close();
});

test("Wireshark's reader finds SIP in such files, and no checksum wrong", async (t) => {
  const path = join(await folderFor(t), 'odd.pcap');
  const file = new PcapFile(path, 1_000_000);
  const long = Buffer.concat([message('INVITE'), Buffer.alloc(70_000, 'x')]);
  for (const { remote, local } of [
    FOUR,
    SIX,
    flowOf('198.51.100.7', '2001:db8::1'),
    flowOf('fe80::1%eth0', '::'),
  ]) {
    for (const bytes of [message('INVITE'), message('INVITE', 'a'), long]) {
      assert.ok(file.write(ipDatagram(remote, local, bytes), UNIX_MS));
    }
  }
  await file.close();
  const packets = readPcap(await readFile(path));
  assert.equal(packets.length, 12);
  assert.deepEqual(packets[11]?.payload, long.subarray(0, 65_487));
  const seen = dissected(path);
  if (seen === undefined) return t.diagnostic('no tshark here');
  assert.equal(seen.length, 12);
  for (const layers of seen) {
    assert.equal(fieldOf(layers, 'udp.checksum.status'), '1', 'good');
    assert.equal(fieldOf(layers, 'sip.Method'), 'INVITE');
    assert.equal(fieldOf(layers, 'ip.checksum.status') ?? '1', '1');
  }
});

async function collector(t: TestContext) {
  const socket = createSocket('udp4');
  const packets: Buffer[] = [];
  socket.on('message', (packet) => packets.push(packet));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.after(() => socket.close());
  return { packets, place: { address: '127.0.0.1', port: socket.address().port } };
}

const AGENT = { captureId: 2001, authKey: 'a key' };

test('a collector gets every message with its ends, its time and its call', async (t) => {
  const { packets, place } = await collector(t);
  const sender = new HepSender({ collector: place, agent: AGENT, unixMs: () => UNIX_MS });
  sender.message('in', message('INVITE'), FOUR);
  sender.message('out', reply(200, 'six'), SIX);
  await until(() => packets.length === 2);
  const [four, six] = packets.map(readHep);
  const of = (chunks: ReadonlyMap<number, Buffer> | undefined, type: number) =>
    chunks?.get(type)?.toString('hex');
  assert.deepEqual(
    [1, 2, 3, 4, 7, 8, 9, 10, 11, 12].map((type) => of(four, type)),
    ['02', '11', 'c6336407', 'c0000201', '13ce', '13c4', '6553f100', '0001e26c', '01', '000007d1'],
  );
  assert.equal(four?.get(14)?.toString(), 'a key');
  assert.equal(four?.get(17)?.toString(), 'call');
  assert.deepEqual(four?.get(15), message('INVITE'));
  assert.deepEqual(
    [1, 5, 6, 7].map((type) => of(six, type)),
    ['0a', `20010db8${'0'.repeat(23)}1`, `20010db8${'0'.repeat(23)}7`, '13c4'],
  );
  assert.deepEqual([six?.get(17)?.toString(), six?.get(3)], ['six', undefined]);
  await until(() => sender.counts.sent === 2);
  await sender.close();
  sender.message('in', message('INVITE'), FOUR);
  assert.deepEqual(sender.counts, { sent: 2, dropped: 1 });
});

test('at the end of a call it gets a report of its media, as RTCP in JSON', async (t) => {
  const { packets, place } = await collector(t);
  const sender = new HepSender({ collector: place, agent: { captureId: 7 }, unixMs: () => UNIX_MS });
  t.after(() => sender.close());
  sender.report('call', FOUR.local, FOUR.remote, {
    sentSsrc: 1,
    receivedSsrc: 2,
    sentPackets: 500,
    sentBytes: 80_000,
    receivedPackets: 300,
    lostPackets: 100,
    highestSequence: 70_000,
    jitterMs: 2.5,
    clockRate: 8000,
    rttMs: null,
    mos: 4.1,
  });
  await until(() => packets.length === 1);
  const chunks = readHep(packets[0] ?? Buffer.alloc(0));
  assert.deepEqual([chunks.get(11)?.[0], chunks.get(17)?.toString(), chunks.has(14)], [5, 'call', false]);
  assert.deepEqual(JSON.parse(chunks.get(15)?.toString() ?? ''), {
    ssrc: 1,
    type: 200,
    sender_information: { packets: 500, octets: 80_000 },
    report_count: 1,
    report_blocks: [
      {
        source_ssrc: 2,
        fraction_lost: 64,
        packets_lost: 100,
        highest_seq_no: 70_000,
        ia_jitter: 20,
        dlsr: 0,
        lsr: 0,
      },
    ],
    mos: 4.1,
  });
});

test('a message that no datagram holds, and a collector that nobody is at, are counted', async (t) => {
  const { place } = await collector(t);
  const sender = new HepSender({ collector: place, agent: AGENT, unixMs: () => UNIX_MS });
  t.after(() => sender.close());
  sender.message('in', Buffer.alloc(65_500), FOUR);
  sender.message('in', Buffer.alloc(200_000), FOUR);
  assert.deepEqual(sender.counts, { sent: 0, dropped: 2 });
  const flood = 1500;
  for (let count = 0; count < flood; count++) sender.message('in', message('INVITE'), FOUR);
  assert.equal(sender.counts.dropped, 2 + flood - 1000);
  await until(() => sender.counts.sent === 1000);
  assert.throws(
    () =>
      new HepSender({
        collector: { address: 'homer.example.com', port: 9060 },
        agent: AGENT,
        unixMs: () => 0,
      }),
    /IP address/,
  );
});

test('transports hand a copy of every message to the tap, and no keep-alive', async (t) => {
  const seen: string[] = [];
  const tap: MessageTap = {
    message: (direction, bytes, flow) => {
      assert.ok(flow.local.port > 0 && flow.remote.port > 0);
      seen.push(`${direction} ${flow.transport} ${bytes.toString().split(' ', 1)[0] ?? ''}`);
    },
  };
  const listeners = [
    { transport: 'udp', port: 0 },
    { transport: 'tcp', port: 0 },
  ] as const;
  const here = await openTransports(t, listeners, { tap: severalTaps([tap]) });
  const there = await openTransports(t, listeners);
  for (const [index, transport] of (['udp', 'tcp'] as const).entries()) {
    const { flow, bytes } = await sent(
      here.transports.send(there.target(transport), options(here.transports)),
    );
    await answer(there.transports, await there.nth(index * 2));
    await here.nth(index);
    await flow.send(bytes); // as a transaction sends again
    await there.nth(index * 2 + 1);
  }
  const { flow } = await sent(there.transports.send(here.target('tcp'), options(there.transports)));
  void flow.send(Buffer.from('\r\n\r\n'));
  await answer(here.transports, await here.nth(2));
  await there.nth(4);
  const each = (transport: string) => [
    `out ${transport} OPTIONS`,
    `in ${transport} SIP/2.0`,
    `out ${transport} OPTIONS`,
  ];
  assert.deepEqual(seen, [...each('udp'), ...each('tcp'), 'in tcp OPTIONS', 'out tcp SIP/2.0']);
});

/** A capture file of so many bytes that was last written to so many ms before UNIX_MS. */
async function madeFile(folder: string, minute: number, bytes: number, ageMs: number): Promise<string> {
  const name = `20231114T22${String(minute).padStart(2, '0')}00000Z-0123456789abcdef.pcap`;
  await writeFile(join(folder, name), Buffer.alloc(bytes));
  const seconds = (UNIX_MS - ageMs) / 1000;
  await utimes(join(folder, name), seconds, seconds);
  return name;
}

test('captures that are too old are removed at the start and every ten minutes, and other files are not', async (t) => {
  const folder = await folderFor(t);
  const [old, young] = [await madeFile(folder, 1, 10, 100_001), await madeFile(folder, 2, 10, 99_999)];
  await writeFile(join(folder, 'notes.pcap'), 'mine');
  await utimes(join(folder, 'notes.pcap'), 1, 1);
  const time = new ManualTime();
  const captures = new CallCaptures({
    folder,
    time,
    unixMs: () => UNIX_MS + time.now(),
    limits: { keepMs: 100_000 },
  });
  t.after(() => captures.close());
  const left = async () => (await readdir(folder)).toSorted();
  await until(async () => !(await left()).includes(old));
  assert.deepEqual(await left(), [young, 'notes.pcap']);
  time.advance(600_000);
  await until(async () => !(await left()).includes(young));
  assert.deepEqual(await left(), ['notes.pcap']);
  await captures.close();
  assert.equal(time.waiting, 0);
});

test('when captures have too many bytes together, the oldest are removed, and none that is being written', async (t) => {
  const folder = await folderFor(t);
  const names = [
    await madeFile(folder, 1, 400, 3),
    await madeFile(folder, 2, 400, 2),
    await madeFile(folder, 3, 400, 1),
  ];
  const time = new ManualTime();
  const captures = new CallCaptures({ folder, time, unixMs: () => UNIX_MS, limits: { keepBytes: 900 } });
  t.after(() => captures.close());
  const left = async () => (await readdir(folder)).toSorted();
  await until(async () => !(await left()).includes(names[0] ?? ''));
  assert.deepEqual(await left(), names.slice(1));
  captures.message('in', message('INVITE'), FOUR);
  await until(async () => (await left()).length === 3);
  const [open = ''] = (await left()).filter((name) => !names.includes(name));
  time.advance(35_000);
  await until(async () => (await left()).length === 2);
  assert.deepEqual(await left(), [names[2], open]);
});
