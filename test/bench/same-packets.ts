// Proves that both senders of the pacing bench send the same bytes.
import assert from 'node:assert/strict';
import { MediaPlane } from '../../src/media/media-plane.js';
import { streamOptions } from './native-sender.js';
import { SrtpPacketWriter, type RtpHeader } from './rtp-packet.js';
import { streamPlans } from './stream-plan.js';

/** Throws when the first packets of a stream differ. */
export function assertSamePackets(): void {
  const [plan] = streamPlans(1);
  if (plan === undefined) throw new Error('no plan');
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: 0, wallMs: 0 });
  const playout = plane.openStream(streamOptions(plan));
  playout.target({ capture: true });
  for (let frame = 0; frame < 3; frame++) playout.push(playout.generation, 1, plan.payload);
  plane.advance(3 * plan.frameMs);
  const packets = plane.takePackets().filter(({ kind }) => kind === 'rtp');
  plane.close();
  const writer = new SrtpPacketWriter(plan);
  assert.ok(packets.length >= 3);
  for (const [index, { data }] of packets.slice(0, 3).entries()) {
    const sequence: number = plan.sequence + index;
    const header: RtpHeader = {
      marker: index === 0,
      payloadType: plan.payloadType,
      sequence,
      timestamp: (plan.timestamp + index * plan.ticksPerFrame) >>> 0,
      ssrc: plan.ssrc,
    };
    assert.deepEqual(Buffer.from(data), writer.write(header, plan.payload, sequence));
  }
}
