// The far ends of the bench listen, in a process of their own so that their processor time is apart: a plane
// whose streams send recorded speech, or silence, one to each port.
import { createSocket } from 'node:dgram';
import { CODECS, type CodecName, ticksPerFrame } from '../../../src/codecs/codec.js';
import { MediaPlane } from '../../../src/media/media-plane.js';
import { PlayoutWriter, type Playout } from '../../../src/media/playout.js';
import { descriptorOf, stopReading } from '../socket-descriptor.js';
import { payloadsOf, type Speech } from './speech.js';

export interface CallersOrder {
  readonly ports: readonly number[];
  readonly codec: CodecName;
  /** How many of them talk all the time; the others send silence. */
  readonly talking: number;
  /** They say this over and over. */
  readonly speech: Speech;
}

const FRAME_MS = 20;
const PAYLOAD_TYPES: Readonly<Record<CodecName, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 111, L16: 96 };

export function payloadTypeOf(codec: CodecName): number {
  return PAYLOAD_TYPES[codec];
}

/** Keeps the playout full. */
function talk(playout: Playout, payloads: readonly Uint8Array[], first: number): void {
  const writer = new PlayoutWriter(playout.handle);
  let next = first;
  const push = (): void => {
    while (writer.push(playout.generation, 1, payloads[next % payloads.length] as Uint8Array) === 1) next++;
    writer.onRoom(push);
  };
  push();
}

if (process.send !== undefined) {
  process.once('message', (message) => begin(message as CallersOrder));
  process.on('message', (message) => {
    if (message !== 'cpu') return;
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1e6);
  });
}

function begin(order: CallersOrder): void {
  const { ports, codec: name, talking, speech } = order;
  const codec = CODECS[name];
  const payloads = payloadsOf(speech, name);
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1', () => {
    stopReading(socket);
    for (const [index, port] of ports.entries()) {
      const playout = plane.openStream({
        ssrc: index + 1,
        payloadType: payloadTypeOf(name),
        clockRate: codec.clockRate,
        ticksPerFrame: ticksPerFrame(codec, FRAME_MS),
        frameMs: FRAME_MS,
        sequence: 1,
        timestamp: 0,
        silence: codec.silence(FRAME_MS),
        lowMs: 400,
        highMs: 1500,
        cname: 'bench',
        rtcpIntervalMs: 0,
      });
      playout.target({ fd: descriptorOf(socket), address: '127.0.0.1', port });
      if (index < talking) talk(playout, payloads, index * 7);
    }
    process.send?.('sending');
  });
  process.once('disconnect', () => {
    plane.close();
    socket.close();
  });
}
