// Delay of an interruption by speech: real speech arrives as packets over loopback while the voice speaks,
// and the far end notes when the last packets of the voice came.
//
//   npm run bench -- barge-in           96 interruptions of each kind
//   npm run bench -- barge-in --quick   24 of each
//
// The onset is the moment at which the caller's first loud sample would have been recorded: the time at which
// its packet left, less what follows it in the packet. "Decided" is the time stamp of the worker's event that
// pauses the voice until speech is found. "Resumed" counts the pauses before that in which none was found.
// "Unfaded" is the last packet of the voice but the one that fades out. Some callers begin with a fricative,
// in which Silero finds no speech.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallEvent } from '../../../src/call/call-events.js';
import { Call } from '../../../src/call/call.js';
import { CODECS, ticksPerFrame } from '../../../src/codecs/codec.js';
import { frameDecoder } from '../../../src/codecs/frame-decoder.js';
import { readConfig } from '../../../src/config/config.js';
import { EncoderPool } from '../../../src/encoding/encoder-pool.js';
import type { SpeechEngine } from '../../../src/engines/engine.js';
import { fliteEngine } from '../../../src/engines/flite/flite.js';
import { Hearing } from '../../../src/hearing/hearing.js';
import type { HearingEvent } from '../../../src/hearing/hearing-messages.js';
import { MediaPlane } from '../../../src/media/media-plane.js';
import { type MediaSocket, RtpPorts } from '../../../src/media/media-socket.js';
import type { Playout } from '../../../src/media/playout.js';
import { createLog } from '../../../src/observe/log.js';
import { systemTime } from '../../../src/time.js';
import { spreadOf } from '../arrivals.js';
import { machine, type Row, table } from '../table.js';
import { payloadTypeOf } from './callers.js';
import { payloadsOf, speechOf } from './speech.js';
import { SILENT_LOG } from '../../../src/log.js';

const QUICK = process.argv.includes('--quick');
const CALLS = 4;
const ROUNDS = QUICK ? 6 : 24;
const FRAME_MS = 20;
const LOUD = 0.01; // -40 dBFS
const BLOCK_MS = 300; // of each second
const SPEAK_FIRST_MS = 2500;
const AFTER_MS = 1500;
const SILENT_PACKETS = 5;
const OURS =
  'This is a long text that goes on and on without any pause so that there is always something to interrupt. '.repeat(
    12,
  );
const THEIRS = [
  'Excuse me, can I ask you something?',
  'Stop, I have a question.',
  'Wait a moment, please.',
  'Hello, are you there?',
  'So what about Friday?',
  'Can you repeat that?',
];
const CODEC = 'PCMU';

interface End {
  readonly socket: MediaSocket;
  readonly playout: Playout;
}

function openEnd(plane: MediaPlane, ports: RtpPorts, ssrc: number): End {
  const codec = CODECS[CODEC];
  const payloadType = payloadTypeOf(CODEC);
  const socket = plane.openSocket({ ports, mux: true });
  socket.formats([{ payloadType, kind: 'sound', clockRate: codec.clockRate, codec: CODEC }]);
  socket.srtp('plain');
  const playout = plane.openStream({
    ssrc,
    payloadType,
    clockRate: codec.clockRate,
    ticksPerFrame: ticksPerFrame(codec, FRAME_MS),
    frameMs: FRAME_MS,
    sequence: 1,
    timestamp: 0,
    silence: codec.silence(FRAME_MS),
    lowMs: 400,
    highMs: 2000,
    cname: 'bench',
    rtcpIntervalMs: 0,
    codec: CODEC,
  });
  socket.bind(playout);
  return { socket, playout };
}

interface Packet {
  readonly sent: boolean;
  readonly atMs: number;
  /** Loudest sample, and milliseconds into the packet of the first loud one. */
  readonly peak: number;
  readonly loudAtMs: number;
}

/** The packets of one far end, both ways, in order of time. */
class FarEnd {
  readonly packets: Packet[] = [];
  readonly #end: End;
  #track = 0;

  constructor(end: End) {
    this.#end = end;
    end.socket.tap(true);
  }

  take(): void {
    for (const { sent, atMs, data } of this.#end.socket.takeTapped().packets) {
      const samples = frameDecoder(CODEC).decode(data.subarray(12));
      const first = samples.findIndex((sample) => Math.abs(sample) > LOUD * 32_768);
      const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0) / 32_768;
      const { sampleRate } = CODECS[CODEC];
      this.packets.push({ sent, atMs, peak, loudAtMs: first < 0 ? NaN : (1000 * first) / sampleRate });
    }
  }

  say(payloads: readonly Uint8Array[]): void {
    const { playout } = this.#end;
    const track = ++this.#track;
    for (const payload of payloads) playout.push(playout.generation, track, payload);
    playout.mark(playout.generation, track, 0, true);
  }
}

interface Trial {
  readonly call: number;
  readonly fromMs: number;
  /** Time of the pause in which speech was found; NaN: none yet. */
  decidedMs: number;
  hasSpeech: boolean;
  /** Pauses before it. */
  resumed: number;
}

function follow(trial: Trial, { type, atMs }: HearingEvent): void {
  const isPaused = !Number.isNaN(trial.decidedMs);
  if (type === 'bargein.paused' && !isPaused) trial.decidedMs = atMs;
  if (type === 'speech.started') trial.hasSpeech = true;
  if (type !== 'bargein.false' || trial.hasSpeech) return;
  trial.decidedMs = NaN;
  trial.resumed++;
}

function openCall(
  index: number,
  end: End,
  { engine, voice, encoders, hearing, onEvent }: Bench & { readonly onEvent: (event: HearingEvent) => void },
): Call {
  const service = {
    listen: (...heard: Parameters<Hearing['listen']>) => {
      const [call, media, settings, act] = heard;
      return hearing.listen(call, media, settings, (event) => (onEvent(event), act(event)));
    },
  };
  const nothing = () => undefined;
  return new Call(`call ${index}`, 'bench', portOf(end), {
    routing: { resolve: () => ({ engine, voice, language: 'en' }), voices: () => engine.voices() },
    encoders,
    hearing: { service, settings: readConfig({}).hearing.settings },
    limits: { maxTextLength: 20_000, textIdleMs: 60_000, maxWaitingUtterances: 4 },
    time: systemTime,
    log: SILENT_LOG,
    metrics: {
      callOpened: nothing,
      callClosed: nothing,
      utteranceEnded: nothing,
      firstAudio: nothing,
      turnEnded: nothing,
      bargeIn: nothing,
    },
  });
}

function portOf({ socket, playout }: End) {
  const close = async () => playout.close();
  return { codec: CODECS[CODEC], frameMs: FRAME_MS, playout, socket, path: 'udp', close };
}

interface Bench {
  readonly engine: SpeechEngine;
  readonly voice: string;
  readonly encoders: EncoderPool;
  readonly hearing: Hearing;
}

function ended(call: Call): Promise<CallEvent['type']> {
  return new Promise((resolve) => {
    const stop = call.observe(({ type }) => {
      if (type !== 'utterance.interrupted' && type !== 'utterance.spoken') return;
      stop();
      resolve(type);
    });
  });
}

async function run(isBlocked: boolean): Promise<Row> {
  const ports = RtpPorts.open({
    address: '127.0.0.1',
    portMin: 20_000,
    portMax: 24_001,
    drainMs: 0,
    dscp: 0,
  });
  const [plane, farPlane] = [
    MediaPlane.open({ clock: 'real', seed: 1 }),
    MediaPlane.open({ clock: 'real', seed: 2 }),
  ];
  const engine = fliteEngine({ maxWaiting: 100, renderTimeoutMs: 20_000 });
  await engine.load();
  const names = (await engine.voices()).map(({ name }) => name);
  const [voice = 'slt', ...others] = names;
  const encoders = new EncoderPool({ workers: availableParallelism() });
  await encoders.ready();
  const log = createLog({ level: 'warn', logText: false });
  const hearing = await Hearing.open({ plane, log, time: systemTime });
  if (hearing.detector !== 'silero') throw new Error(`no Silero model: ${hearing.problem}`);
  const callers = await Promise.all(
    others.flatMap((name) =>
      THEIRS.map(async (text) => payloadsOf(await speechOf(engine, name, text), CODEC)),
    ),
  );
  const trials: Trial[] = [];
  let missed = 0;
  const lanes = Array.from({ length: CALLS }, (_, index) => {
    const [near, far] = [openEnd(plane, ports, 100 + index), openEnd(farPlane, ports, 200 + index)];
    near.socket.learn({ address: '127.0.0.1', port: far.socket.port });
    far.socket.learn({ address: '127.0.0.1', port: near.socket.port });
    let trial: Trial | undefined;
    const onEvent = (event: HearingEvent) => {
      if (trial !== undefined) follow(trial, event);
    };
    const call = openCall(index, near, { engine, voice, encoders, hearing, onEvent });
    const farEnd = new FarEnd(far);
    const lane = async () => {
      for (let round = 0; round < ROUNDS; round++) {
        call.speak(OURS, { interruptible: 'speech' });
        await sleep(SPEAK_FIRST_MS + 37 * ((round * 7 + index * 3) % 11));
        trial = { call: index, fromMs: systemTime.now(), decidedMs: NaN, hasSpeech: false, resumed: 0 };
        trials.push(trial);
        farEnd.say(
          callers[(index * THEIRS.length + ((round + index) % THEIRS.length)) % callers.length] ?? [],
        );
        const end = await Promise.race([ended(call), sleep(3000)]);
        if (end !== 'utterance.interrupted') missed++;
        await sleep(AFTER_MS);
        call.interrupt('next round');
        farEnd.take();
      }
    };
    return { lane, farEnd, call };
  });
  const blocking = isBlocked ? setInterval(block, 1000) : undefined;
  const taking = setInterval(() => lanes.forEach(({ farEnd }) => farEnd.take()), 200);
  await Promise.all(lanes.map(({ lane }) => lane()));
  clearInterval(blocking);
  clearInterval(taking);
  const measured = trials.flatMap((trial) => measure(trial, lanes[trial.call]?.farEnd.packets ?? []) ?? []);
  for (const { call } of lanes) await call.close('bench over');
  await hearing.close();
  await encoders.close();
  await engine.close();
  plane.close();
  farPlane.close();
  ports.close();
  const column = (name: string, values: readonly number[]) => {
    const { p50, p95, p99, max } = spreadOf(values);
    return { [`${name} p50`]: p50, [`${name} p95`]: p95, [`${name} p99`]: p99, [`${name} max`]: max };
  };
  return {
    'main thread': isBlocked ? 'blocked 300 ms of each second' : 'free',
    interruptions: measured.length,
    missed,
    resumed: measured.reduce((sum, one) => sum + one.resumed, 0),
    ...column(
      'onset to last packet',
      measured.map(({ lastMs }) => lastMs),
    ),
    ...column(
      'onset to last unfaded',
      measured.map(({ unfadedMs }) => unfadedMs),
    ),
    ...column(
      'onset to decided',
      measured.map(({ decidedMs: ms }) => ms),
    ),
    ...column(
      'decided to last unfaded',
      measured.map(({ afterDecisionMs }) => afterDecisionMs),
    ),
  };
}

function block(): void {
  const until = performance.now() + BLOCK_MS;
  while (performance.now() < until);
}

/** Undefined if the voice was not speaking at the onset. */
function measure({ fromMs, decidedMs, resumed }: Trial, packets: readonly Packet[]) {
  const onsetPacket = packets.find(({ sent, atMs, peak }) => sent && atMs > fromMs && peak > LOUD);
  if (onsetPacket === undefined || Number.isNaN(decidedMs)) return undefined;
  const onsetMs = onsetPacket.atMs - FRAME_MS + onsetPacket.loudAtMs;
  const received = packets.filter(({ sent, atMs }) => !sent && atMs > fromMs - 200);
  // The voice may go on after a short word of the caller: the first silence after the decision counts.
  const isSilent = (from: number) =>
    received.slice(from, from + SILENT_PACKETS).every(({ peak }) => peak < LOUD / 4);
  const end = received.findIndex(({ atMs }, index) => atMs > decidedMs - FRAME_MS && isSilent(index));
  const heard = received.slice(0, Math.max(0, end));
  const [last, unfaded] = [heard.at(-1), heard.at(-2)];
  if (last === undefined || unfaded === undefined) return undefined;
  return {
    lastMs: last.atMs - onsetMs,
    unfadedMs: unfaded.atMs - onsetMs,
    decidedMs: decidedMs - onsetMs,
    afterDecisionMs: Math.max(0, unfaded.atMs - decidedMs),
    resumed,
  };
}

console.log(`${machine()}\n`);
console.log(table([await run(false), await run(true)]));
