// Delay between a clear and the last packet of old speech. 200 calls speak, one of them receives
// `{"type":"clear"}`, and the receiver reports its last packet with sound. Every core has an encoder worker,
// so that all calls can speak.
//
//   npm run bench -- interrupt           200 calls, 400 interruptions
//   npm run bench -- interrupt --quick   50 calls, 60 interruptions
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { InstantEngine } from '../fakes/engines.js';
import { type Arrival, spreadOf, UdpReceiver } from './arrivals.js';
import { BenchCalls, SILENT_PACKET_BYTES, type BenchCall } from './bench-calls.js';
import { machine, table } from './table.js';

const QUICK = process.argv.includes('--quick');
const CALLS = QUICK ? 50 : 200;
const INTERRUPTIONS = QUICK ? 60 : 400;
const EVERY_MS = 50; // between two interruptions
const SILENCE_MS = 400; // until the interrupted call speaks again
const SETTLE_MS = 3000; // every call speaks by then
const LONG_TEXT = Array.from({ length: 300 }, (_, n) => `This is sentence number ${n} of a long text.`).join(
  ' ',
);

interface Interruption {
  readonly ssrc: number;
  readonly atMs: number;
  readonly answerMs: number;
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

function speak({ session }: BenchCall): void {
  session.receive(JSON.stringify({ type: 'text', token: LONG_TEXT, last: true }));
}

function interrupt(call: BenchCall): Interruption {
  let answeredAtMs = NaN;
  call.onMessage = (message) => {
    if (message.type === 'cleared') answeredAtMs = now();
  };
  const atMs = now();
  call.session.receive('{"type":"clear"}');
  return { ssrc: call.ssrc, atMs, answerMs: answeredAtMs - atMs };
}

/** Packets of old speech that arrived after the clear, and the delay of the last one. */
function aftermath({ ssrc, atMs }: Interruption, packets: ReadonlyMap<number, readonly Arrival[]>) {
  const old = (packets.get(ssrc) ?? []).filter(
    (packet) => packet.bytes > SILENT_PACKET_BYTES && packet.atMs > atMs && packet.atMs < atMs + SILENCE_MS,
  );
  return { packets: old.length, lastMs: (old.at(-1)?.atMs ?? atMs) - atMs };
}

function bySsrc(packets: readonly Arrival[]): Map<number, Arrival[]> {
  const streams = new Map<number, Arrival[]>();
  for (const packet of packets) {
    const stream = streams.get(packet.ssrc);
    if (stream === undefined) streams.set(packet.ssrc, [packet]);
    else stream.push(packet);
  }
  return streams;
}

/** True if the call was heard in the 100 ms before it was interrupted: otherwise the figure means nothing. */
function wasSpeaking(
  { ssrc, atMs }: Interruption,
  packets: ReadonlyMap<number, readonly Arrival[]>,
): boolean {
  return (packets.get(ssrc) ?? []).some(
    (packet) => packet.bytes > SILENT_PACKET_BYTES && packet.atMs < atMs && packet.atMs > atMs - 100,
  );
}

async function main(): Promise<void> {
  const receiver = await UdpReceiver.open();
  const engine = new InstantEngine();
  const server = new BenchCalls(engine, 'instant', { encoderWorkers: availableParallelism() });
  const calls = await server.open(CALLS, receiver.port);
  for (const call of calls) speak(call);
  await sleep(SETTLE_MS);
  const interruptions: Interruption[] = [];
  for (let turn = 0; turn < INTERRUPTIONS; turn++) {
    const call = calls[(turn * 37) % calls.length];
    if (call === undefined) continue;
    interruptions.push(interrupt(call));
    setTimeout(() => speak(call), SILENCE_MS);
    await sleep(EVERY_MS);
  }
  await sleep(SILENCE_MS);
  await server.close();
  await engine.close();
  const packets = bySsrc((await receiver.close()).packets);
  const counted = interruptions.filter((one) => wasSpeaking(one, packets));
  const after = counted.map((one) => aftermath(one, packets));
  const last = spreadOf(after.map(({ lastMs }) => lastMs));
  const answer = spreadOf(counted.map(({ answerMs }) => answerMs));
  console.log(`${machine()}; times in ms\n`);
  console.log(
    table([
      {
        'calls speaking': CALLS,
        interruptions: counted.length,
        'last old packet p50': last.p50,
        p99: last.p99,
        max: last.max,
        'old packets after a clear': after.reduce((sum, one) => sum + one.packets, 0),
        'most after one clear': Math.max(...after.map((one) => one.packets)),
        'answer p50': answer.p50,
        'answer p99': answer.p99,
      },
    ]),
  );
}

await main();
