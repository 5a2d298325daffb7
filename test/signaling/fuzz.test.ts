// Damaged input, the same in every run: nothing may throw what is not meant
// for the page, and nothing may be left behind.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { crc32c } from 'werift';
import { ParleyError } from '../../src/errors.js';
import { DataChannelSession, readClientMessage } from '../../signaling/data-channel.js';
import { readOffer } from '../../signaling/offer.js';
import { mutated, randomFrom } from '../api/mutations.js';
import { ManualTime } from '../fakes/manual-time.js';
import { chromiumOffer, offerWith } from './chromium-offer.js';
import { connect, openServer } from './server-under-test.js';
import { FakeCall, FakeChannel } from './talking-call.js';
import { SILENT_LOG } from '../../src/log.js';

const MESSAGES = [
  '{"type":"text","token":"Good morning, ","voice":"slt","language":"en"}',
  '{"type":"text","token":"how are you?","last":true}',
  '{"type":"clear"}',
  '{"type":"text","token":"\\ud83d\\ude00 \\u0000","last":false}',
];
const OFFERS = [
  chromiumOffer(),
  offerWith('a=recvonly', 'a=sendrecv'),
  offerWith('a=setup', 'a=setup:active'),
];

/** The error's code, or undefined when nothing was thrown. */
function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ParleyError, String((error as Error).stack));
    return error.code;
  }
}

function tally(codes: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code ?? 'accepted'] = (counts[code ?? 'accepted'] ?? 0) + 1;
  return counts;
}

test('5,000 damaged messages are each understood or refused by code', () => {
  const random = randomFrom(1);
  const codes = Array.from({ length: 5000 }, (_, index) =>
    codeOf(() => readClientMessage(mutated(MESSAGES[index % MESSAGES.length] ?? '', random))),
  );
  assert.deepEqual(Object.keys(tally(codes)).toSorted(), ['INVALID_FIELD', 'MALFORMED', 'accepted']);
});

test('a session that hears 5,000 damaged messages answers and goes on', async () => {
  const random = randomFrom(2);
  const call = new FakeCall();
  const channel = new FakeChannel();
  const time = new ManualTime(0);
  const session = new DataChannelSession(call, {
    limits: { maxTextLength: 200, messages: { perSecond: 500, burst: 1000 } },
    time,
    log: { ...SILENT_LOG, warn: (_fields, message) => assert.fail(message) },
  });
  session.attach(channel);
  for (let index = 0; index < 5000; index++) {
    session.receive(mutated(MESSAGES[index % MESSAGES.length] ?? '', random));
    if (index % 10 === 0) {
      time.advance(20);
      for (const text of call.texts) text.end('spoken');
      await nextTurn();
    }
  }
  session.receive('{"type":"clear"}');
  session.receive('{"type":"text","token":"Still here.","last":true}');
  assert.deepEqual(call.texts.at(-1)?.pieces, ['Still here.']);
  session.close();
  assert.equal(time.waiting, 0);
});

test('3,000 damaged offers are each understood or refused by code', () => {
  const random = randomFrom(3);
  const codes = Array.from({ length: 3000 }, (_, index) =>
    codeOf(() => readOffer(mutated(OFFERS[index % OFFERS.length] ?? '', random))),
  );
  assert.deepEqual(Object.keys(tally(codes)).toSorted(), ['NO_COMMON_CODEC', 'SDP_INVALID', 'accepted']);
});

test('every damaged offer that is understood is answered, and hanging up leaves nothing', async (t) => {
  const { server, switchboard, plane, time } = await openServer(t);
  const random = randomFrom(4);
  let answered = 0;
  for (let index = 0; index < 600; index++) {
    const sdp = mutated(OFFERS[index % OFFERS.length] ?? '', random);
    if (codeOf(() => readOffer(sdp)) !== undefined) continue;
    const call = await server.open({ sdp });
    assert.match(call.sdp, /^v=0\r\n/);
    await server.hangUp(call.id);
    answered++;
  }
  assert.ok(answered > 50, `only ${answered} were answered`);
  assert.deepEqual([server.size, switchboard.size, plane.stats().streams, time.waiting], [0, 0, 0, 0]);
});

/** The bytes with some of them another; the first `kept` stay. */
function damaged(bytes: Buffer, kept: number, random: () => number): Buffer {
  const copy = Buffer.from(bytes.subarray(0, kept + Math.ceil(random() * (bytes.length - kept))));
  for (let count = Math.floor(random() * 4); count > 0 && copy.length > kept; count--) {
    copy[kept + Math.floor(random() * (copy.length - kept))] = Math.floor(random() * 256);
  }
  return copy;
}

const SCTP_HEADER = 12;

/**
 * Ports and verification tag stay and the checksum is right, or nothing would be read (RFC 9260 section 6.8).
 */
function withChecksum(packet: Buffer): Buffer {
  packet.writeUInt32LE(0, 8);
  packet.writeUInt32LE(crc32c(packet), 8);
  return packet;
}

test('damaged SCTP, DTLS, STUN and RTP from a connected browser leave no rejection unheard', async (t) => {
  const rejections: unknown[] = [];
  const note = (error: unknown) => void rejections.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  const under = await openServer(t);
  const { client, id, sdp } = await connect(t, under);
  const dtls = client.connection.dtlsTransports[0] as unknown as { sendData(data: Buffer): Promise<void> };
  const samples: Buffer[] = [];
  const sendData = dtls.sendData;
  dtls.sendData = (data) => {
    if (samples.length < 100) samples.push(Buffer.from(data));
    return sendData(data);
  };
  for (let count = 0; count < 20; count++) client.send({ type: 'dance', count });
  await client.until(() => client.messages.filter(({ type }) => type === 'error').length === 20, 'answers');
  const random = randomFrom(5);
  const pick = () => samples[Math.floor(random() * samples.length)] ?? Buffer.alloc(30);
  const port = Number(/^a=candidate:\S+ 1 udp \d+ \S+ (\d+)/m.exec(sdp)?.[1]);
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  for (let count = 0; count < 1500; count++) {
    await sendData(withChecksum(damaged(pick(), SCTP_HEADER, random)));
    const raw = damaged(Buffer.alloc(120, 0x21), 0, random);
    raw[0] = [0, 1, 20, 22, 23, 128, 200][count % 7] ?? 0; // STUN, DTLS, RTP and RTCP begin so
    socket.send(raw, port, '127.0.0.1');
    if (count % 50 === 0) await nextTurn();
  }
  await nextTurn();
  await under.server.hangUp(id);
  assert.deepEqual(rejections, []);
  assert.deepEqual([under.server.size, under.plane.stats().streams], [0, 0]);
});
