import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32c, type RTCDataChannel } from 'werift';
import { SctpAssociation } from '../../signaling/sctp-association.js';
import { rejectionsOf } from '../fakes/rejections.js';

const FIRST = 2;
const LAST = 1;
const UNORDERED = 4;
const DCEP = 50;
const STRING = 51;
// DATA_CHANNEL_OPEN of a reliable, ordered channel without a label (RFC 8832 section 5.1).
const OPEN = Buffer.from('030000000000000000000000', 'hex');

function chunk(type: number, flags: number, body: Buffer): Buffer {
  const header = Buffer.from([type, flags, 0, 0]);
  header.writeUInt16BE(4 + body.length, 2);
  return Buffer.concat([header, body, Buffer.alloc(-body.length & 3)]);
}

interface Data {
  readonly tsn: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly ssn?: number;
  readonly protocol?: number;
  readonly bytes?: Buffer;
}

function dataChunk({
  tsn,
  flags = FIRST | LAST,
  stream = 1,
  ssn = 0,
  protocol = STRING,
  bytes,
}: Data): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt32BE(tsn >>> 0, 0);
  header.writeUInt16BE(stream, 4);
  header.writeUInt16BE(ssn, 6);
  header.writeUInt32BE(protocol, 8);
  return chunk(0, flags, Buffer.concat([header, bytes ?? Buffer.from('x')]));
}

/** An association that is set up, and a browser that writes its packets by hand. */
async function openAssociation(firstTsn = 1000, opened: () => void = () => undefined) {
  const sent: Buffer[] = [];
  const abuses: string[] = [];
  const received: string[] = [];
  const channels: RTCDataChannel[] = [];
  const association = new SctpAssociation({
    remote: { sctpPort: 5000, maxMessageSize: 65_536 },
    send: (packet) => void sent.push(Buffer.from(packet)),
    onChannel: (channel: RTCDataChannel) => {
      opened();
      channels.push(channel);
      channel.onMessage.subscribe((data) => received.push(String(data)));
    },
    onAbuse: ({ message }) => void abuses.push(message),
  });
  let tag = 0;
  const give = async (...chunks: readonly Buffer[]) => {
    const header = Buffer.from('138813880000000000000000', 'hex');
    header.writeUInt32BE(tag, 4);
    const packet = Buffer.concat([header, ...chunks]);
    packet.writeUInt32LE(crc32c(packet), 8);
    association.receive(packet);
    await nextTurn();
    await nextTurn();
  };
  const init = Buffer.from('0000004d' + '00100000' + '04000400' + '00000000', 'hex');
  init.writeUInt32BE(firstTsn, 12);
  await give(chunk(1, 0, init));
  const ack = sent.at(-1) ?? Buffer.alloc(0);
  tag = ack.readUInt32BE(16);
  const cookieAt = ack.indexOf(Buffer.from('0007001c', 'hex'));
  await give(chunk(10, 0, ack.subarray(cookieAt + 4, cookieAt + 28)));
  return { association, give, sent, abuses, received, channels };
}

type Under = Awaited<ReturnType<typeof openAssociation>>;

/** Gives chunks in packets of `size` until the browser is refused; returns how many were given. */
async function flood({ give, abuses }: Under, make: (index: number) => Data, size = 50): Promise<number> {
  let given = 0;
  while (given < 3000 && abuses.length === 0) {
    await give(...Array.from({ length: size }, (_, index) => dataChunk(make(given + index))));
    given += size;
  }
  return given;
}

/** Chunks that the latest acknowledgement covers, from the first one on. */
function acknowledged(sent: readonly Buffer[], firstTsn: number): number {
  const sack = sent.findLast((packet) => packet[12] === 3);
  return ((sack?.readUInt32BE(16) ?? firstTsn - 1) + 1 - firstTsn) >>> 0;
}

test('a message that is not acknowledged is sent again after longer times, up to 6 s', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { association, give, sent, channels } = await openAssociation();
  await give(dataChunk({ tsn: 1000, protocol: DCEP, bytes: OPEN }));
  const isData = (packet: Buffer) => packet[12] === 0 && packet.includes('hello');
  channels[0]?.send('hello');
  await nextTurn();
  const waits: number[] = [];
  for (let count = 1; count < 5; count++) {
    let seconds = 0;
    while (sent.filter(isData).length <= count && seconds < 100) {
      t.mock.timers.tick(1000);
      await nextTurn();
      seconds++;
    }
    waits.push(seconds);
  }
  assert.deepEqual(waits, [3, 6, 6, 6]);
  association.close();
});

test('DATA without user data is not received', async () => {
  const { give, sent, association } = await openAssociation();
  await give(dataChunk({ tsn: 1000, bytes: Buffer.alloc(0) }));
  assert.equal(acknowledged(sent, 1000), 0);
  await give(dataChunk({ tsn: 1000 }));
  assert.equal(acknowledged(sent, 1000), 1);
  association.close();
});

for (const [what, make] of [
  ['fragments of a message that never ends', (n: number) => ({ tsn: 1000 + n, flags: n === 0 ? FIRST : 0 })],
  ['chunks behind a gap', (n: number) => ({ tsn: 1010 + n, ssn: n })],
  ['unordered messages behind a gap', (n: number) => ({ tsn: 1010 + n, flags: FIRST | LAST | UNORDERED })],
  ['unordered fragments', (n: number) => ({ tsn: 1000 + n, flags: UNORDERED })],
] as const) {
  test(`a browser is refused that lets about a thousand chunks wait: ${what}`, async () => {
    const under = await openAssociation();
    const given = await flood(under, make);
    assert.match(under.abuses.join(), /sends more than the window of its SCTP association allows/);
    assert.ok(given >= 1000 && given <= 1100, `${given} chunks`);
  });
}

test('a browser is refused that sends on more than 64 streams', async () => {
  const under = await openAssociation();
  assert.equal(await flood(under, (n) => ({ tsn: 1000 + n, stream: n }), 10), 70);
});

test('messages behind a gap are delivered in order when the missing one comes, at the wrap of the TSN too', async () => {
  for (const first of [990, 4_294_967_200]) {
    const { give, sent, received, abuses, association } = await openAssociation(first);
    await give(dataChunk({ tsn: first, protocol: DCEP, bytes: OPEN }));
    const message = (n: number) => dataChunk({ tsn: first + n, ssn: n, bytes: Buffer.from(`${n}`) });
    for (let n = 2; n <= 900; n += 50) {
      const chunks = Array.from({ length: Math.min(50, 901 - n) }, (_, index) => message(n + index));
      await give(...chunks.toReversed());
    }
    assert.equal(acknowledged(sent, first), 1);
    assert.deepEqual(received, []);
    await give(message(1));
    assert.deepEqual(
      received,
      Array.from({ length: 900 }, (_, index) => `${index + 1}`),
    );
    assert.equal(acknowledged(sent, first), 901);
    assert.deepEqual(abuses, []);
    association.close();
  }
});

test('a defect in the handling of a channel ends its connection, and is reported', async () => {
  const defect = () => {
    throw new Error('a defect');
  };
  const { give, abuses } = await openAssociation(1000, defect);
  const rejections = await rejectionsOf(() => give(dataChunk({ tsn: 1000, protocol: DCEP, bytes: OPEN })));
  assert.deepEqual(rejections.map(String), ['Defect: data channel: a defect']);
  assert.deepEqual(abuses, ['a defect']);
  const negotiated = await openAssociation(1000, defect);
  const more = await rejectionsOf(() => negotiated.give(dataChunk({ tsn: 1000 })));
  assert.deepEqual(more.map(String), ['Defect: data channel: a defect']);
  assert.deepEqual(negotiated.abuses, ['a defect']);
});

test('messages on stream 65535, which no channel may have, are ignored', async () => {
  let opened = 0;
  const { give, abuses, received, association } = await openAssociation(1000, () => opened++);
  const rejections = await rejectionsOf(async () => {
    await give(dataChunk({ tsn: 1000, stream: 65_535 }));
    await give(dataChunk({ tsn: 1001, stream: 65_535, ssn: 1, protocol: DCEP, bytes: OPEN }));
    await give(dataChunk({ tsn: 1002, stream: 65_534 }));
  });
  assert.deepEqual([rejections, abuses, opened, received], [[], [], 1, ['x']]);
  association.close();
});
