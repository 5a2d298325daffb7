// The rival of the bench webrtc: libdatachannel (node-datachannel) behind the same HTTP route. It sends
// prepared Opus packets of typical length, because it has no encoder and no clock. One JavaScript timer with
// absolute deadlines sends for all calls.
//
//   node --expose-gc rival-server.js
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import datachannel, { type PeerConnection, type Track } from 'node-datachannel';
import { systemTime } from '../../../src/time.js';
import { spreadOf } from '../arrivals.js';
import { freePorts } from '../../fakes/free-port.js';
import type { ServerFigures } from './call-server.js';
import { ProcessMeter, type ToServer } from './process-meter.js';

const LOOPBACK = '127.0.0.1';
const FRAME_MS = 20;
const TICKS_PER_FRAME = 960;
const PAYLOAD_BYTES = 80; // 20 ms of Opus at 32 kb/s
const MOST_LATE_FRAMES = 5; // further frames are skipped
const SSRC = 0x2000_0000;

interface RivalCall {
  readonly connection: PeerConnection;
  readonly track: Track;
  readonly ssrc: number;
  firstDueMs: number | undefined;
  sent: number;
}

const port = await freePorts();
const calls = new Map<string, RivalCall>();
const meter = new ProcessMeter();
let opened = 0;
let packets = 0;
let skipped = 0;
let late: number[] = [];
let mostPackets = 0;

async function open(offer: string): Promise<{ id: string; answer: string }> {
  const id = `${++opened}`;
  const connection = new datachannel.PeerConnection(id, {
    iceServers: [],
    bindAddress: LOOPBACK,
    enableIceUdpMux: true,
    portRangeBegin: port,
    portRangeEnd: port,
  });
  const ssrc = SSRC + opened;
  const audio = new datachannel.Audio(/^a=mid:(\S+)/m.exec(offer)?.[1] ?? '0', 'SendOnly');
  audio.addOpusCodec(Number(/^a=rtpmap:(\d+) opus/im.exec(offer)?.[1] ?? 111));
  audio.addSSRC(ssrc, 'rival', 'rival', 'rival');
  const track = connection.addTrack(audio);
  const call: RivalCall = { connection, track, ssrc, firstDueMs: undefined, sent: 0 };
  track.onOpen(() => (call.firstDueMs = systemTime.now()));
  connection.onStateChange((state) => {
    if (state === 'closed' || state === 'failed') end(id);
  });
  const gathered = new Promise<void>((resolve) => {
    connection.onGatheringStateChange((state) => {
      if (state === 'complete') resolve();
    });
  });
  calls.set(id, call);
  connection.setRemoteDescription(offer, 'offer');
  await gathered;
  return { id, answer: connection.localDescription()?.sdp ?? '' };
}

function end(id: string): void {
  calls.get(id)?.connection.close();
  calls.delete(id);
}

function sendDue(): void {
  const nowMs = systemTime.now();
  for (const call of calls.values()) {
    if (call.firstDueMs === undefined || !call.track.isOpen()) continue;
    let dueMs = call.firstDueMs + call.sent * FRAME_MS;
    const behind = Math.floor((nowMs - dueMs) / FRAME_MS);
    if (behind > MOST_LATE_FRAMES) {
      call.sent += behind;
      skipped += behind;
      dueMs += behind * FRAME_MS;
    }
    for (; dueMs <= nowMs; dueMs += FRAME_MS) {
      if (!sent(call)) break;
      call.sent++;
      packets++;
      if (late.length < mostPackets) late.push(systemTime.now() - dueMs);
    }
  }
}

/** False if the track was closed by the other end meanwhile; then libdatachannel throws. */
function sent(call: RivalCall): boolean {
  try {
    return call.track.sendMessageBinary(packetOf(call));
  } catch (error) {
    if (call.track.isOpen()) throw error;
    return false;
  }
}

function packetOf({ ssrc, sent: number }: RivalCall): Buffer {
  const packet = Buffer.alloc(12 + PAYLOAD_BYTES, 0x55);
  packet[0] = 0x80;
  packet[1] = 111 | (number === 0 ? 0x80 : 0);
  packet.writeUInt16BE((number + 1) & 0xffff, 2);
  packet.writeUInt32BE((number * TICKS_PER_FRAME) >>> 0, 4);
  packet.writeUInt32BE(ssrc, 8);
  return packet;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

const http = createServer((request, response) => {
  void bodyOf(request).then(async (offer) => {
    if (request.method === 'DELETE') {
      end(request.url?.split('/').at(-1) ?? '');
      response.writeHead(204).end();
      return;
    }
    const { id, answer } = await open(offer);
    const headers = { 'content-type': 'application/sdp', location: `/v1/realtime/calls/${id}` };
    response.writeHead(201, headers).end(answer);
  });
});
http.keepAliveTimeout = 60_000;

function figures(): ServerFigures {
  const lateness = spreadOf(late);
  late = [];
  const rest = { underruns: 0, sendErrors: 0, skippedTicks: skipped, clockPriority: 'JavaScript' };
  return { ...meter.figures(), calls: calls.size, late: lateness, packets, ...rest };
}

process.on('message', (message: ToServer) => {
  if (message.type === 'begin') {
    ({ mostPackets } = message);
    [packets, skipped, late] = [0, 0, []];
    meter.begin();
  } else if (message.type === 'collect') {
    meter.collect();
  }
  process.send?.(message.type === 'figures' ? figures() : {});
});
process.once('disconnect', () => process.exit(0));
setInterval(sendDue, 1);
await new Promise<void>((resolve) => http.listen(0, LOOPBACK, resolve));
process.send?.({ url: `http://${LOOPBACK}:${(http.address() as AddressInfo).port}` });
