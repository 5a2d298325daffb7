// The built-in agent's own share of a turn, in calls that all talk: a model writes 30 tokens a second, and an
// engine has its sound ready at once, so that what remains is Parley. With the embedded engine, flite, the
// times include its own.
//
//   npm run bench -- agent           1, 50 and 200 calls; 1 and 30 with flite
//   npm run bench -- agent --quick   fewer turns
//
//   text of the turn ─▶ model asked        asked ms
//   token that ends the first sentence ─▶ sound queued ─▶ first packet      queued ms, packet ms
//   key that interrupts ─▶ last packet with sound at the receiver           silence ms
//
// A stream sends every 20 ms, so the way from the queue to the wire is anything between 0 and 20 ms whatever
// the server does.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChatAgent } from '../../src/agents/chat-agent.js';
import type { AnswerPart, ChatQuestion } from '../../src/agents/chat-model.js';
import type { AgentConfig } from '../../src/config/agent-config.js';
import type { SpeechEngine } from '../../src/engines/engine.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import { systemTime } from '../../src/time.js';
import { AGENT } from '../agents/agent-under-test.js';
import { InstantEngine } from '../fakes/engines.js';
import { type Arrival, spreadOf, UdpReceiver } from './arrivals.js';
import { BenchCalls, type BenchCall, SILENT_PACKET_BYTES } from './bench-calls.js';
import { machine, type Row, stolenSeconds, table } from './table.js';
import { SILENT_LOG } from '../../src/log.js';

const QUICK = process.argv.includes('--quick');
const TURNS = QUICK ? 3 : 10;
const TOKENS_PER_SECOND = 30;
const FIRST_TOKEN_MS = 100;
const SENTENCE = ['The ', 'train ', 'leaves ', 'at ', 'nine ', 'from ', 'platform ', 'two. '];
const SENTENCES = 6;
const HEARD_MS = 1000; // until the caller interrupts
const REST_MS = 400;
const MIB = 1024 * 1024;

const BENCHED: AgentConfig = {
  ...AGENT,
  name: 'bench',
  language: 'en',
  transfers: new Map(),
  fillerMs: 60_000,
  filler: undefined,
  mostFailures: 1000,
};

/** One turn; times in milliseconds of the monotonic clock. */
interface Turn {
  readonly saidMs: number;
  askedMs: number;
  firstTokenMs: number;
  /** The token after the first sentence, which shows that it has ended. */
  sentenceMs: number;
  queuedMs: number;
  packetMs: number;
  stoppedMs: number;
}

const now = () => systemTime.now();

/** Writes its answer at a steady pace, and notes when. */
class PacedModel {
  turn: Turn | undefined;

  async *answer({ signal }: ChatQuestion): AsyncGenerator<AnswerPart, void, undefined> {
    const { turn } = this;
    if (turn !== undefined) turn.askedMs = now();
    await sleep(FIRST_TOKEN_MS);
    for (let n = 0; n < SENTENCES * SENTENCE.length && !signal.aborted; n++) {
      if (turn !== undefined && n === 0) turn.firstTokenMs = now();
      if (turn !== undefined && n === SENTENCE.length) turn.sentenceMs = now();
      yield { text: SENTENCE[n % SENTENCE.length] ?? '' };
      await sleep(1000 / TOKENS_PER_SECOND);
    }
  }
}

/** A caller who types, hears a second of the answer, and presses a key. */
async function talk({ call }: BenchCall, startMs: number): Promise<Turn[]> {
  const model = new PacedModel();
  const agent = new ChatAgent(
    { call, direction: 'inbound', hangUp: () => call.close('bench') },
    {
      config: BENCHED,
      model,
      callerTexts: { isCallerRecognised: false, follow: () => () => undefined },
      time: systemTime,
      log: SILENT_LOG,
      onEvent: () => undefined,
      onEarlyAnswer: () => undefined,
    },
  );
  await sleep(startMs);
  const turns: Turn[] = [];
  for (let n = 0; n < TURNS; n++) {
    const none = {
      askedMs: NaN,
      firstTokenMs: NaN,
      sentenceMs: NaN,
      queuedMs: NaN,
      packetMs: NaN,
      stoppedMs: NaN,
    };
    const turn: Turn = { saidMs: now(), ...none };
    model.turn = turn;
    const heard = new Promise<void>((resolve) => {
      const stop = call.observe((event) => {
        if (event.type !== 'utterance.started') return;
        turn.queuedMs = turn.firstTokenMs + event.queuedMs;
        turn.packetMs = turn.firstTokenMs + event.firstPacketMs;
        stop();
        resolve();
      });
    });
    agent.typed('When does the train leave?');
    await heard;
    await sleep(HEARD_MS);
    turn.stoppedMs = now();
    call.interrupt('key pressed');
    await sleep(REST_MS);
    turns.push(turn);
  }
  return turns;
}

/** Milliseconds from the interruption to the last packet with sound. */
function silenceMs({ stoppedMs }: Turn, loud: readonly Arrival[]): number {
  const late = loud.filter(({ atMs }) => atMs > stoppedMs && atMs < stoppedMs + REST_MS);
  return Math.max(0, ...late.map(({ atMs }) => atMs - stoppedMs));
}

async function line(count: number, engine: SpeechEngine, voice: string): Promise<Row> {
  const receiver = await UdpReceiver.open();
  const calls = new BenchCalls(engine, voice);
  const opened = await calls.open(count, receiver.port);
  await sleep(1000);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const [cpu, stolen, beganMs] = [process.cpuUsage(), stolenSeconds(), now()];
  const turns = await Promise.all(opened.map((call, n) => talk(call, (2000 * n) / count)));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (now() - beganMs) / 1000;
  loop.disable();
  const memory = process.memoryUsage().rss / MIB;
  await calls.close();
  const { packets } = await receiver.close();
  const bySource = new Map<number, Arrival[]>();
  for (const packet of packets) {
    if (packet.bytes <= SILENT_PACKET_BYTES) continue;
    const own = bySource.get(packet.ssrc);
    if (own === undefined) bySource.set(packet.ssrc, [packet]);
    else own.push(packet);
  }
  const all = turns.flat();
  const asked = spreadOf(all.map(({ saidMs, askedMs }) => askedMs - saidMs));
  const queued = spreadOf(all.map(({ sentenceMs, queuedMs }) => queuedMs - sentenceMs));
  const packet = spreadOf(all.map(({ sentenceMs, packetMs }) => packetMs - sentenceMs));
  const stop = spreadOf(
    turns.flatMap((own, n) => own.map((turn) => silenceMs(turn, bySource.get(opened[n]?.ssrc ?? 0) ?? []))),
  );
  return {
    engine: engine.name,
    calls: count,
    turns: all.length,
    'asked p50': asked.p50,
    'asked p99': asked.p99,
    'queued p50': queued.p50,
    'queued p99': queued.p99,
    'packet p50': packet.p50,
    'packet p99': packet.p99,
    'silence p50': stop.p50,
    'silence p99': stop.p99,
    'loop p99': loop.percentile(99) / 1e6,
    'loop max': loop.max / 1e6,
    'CPU %': Math.round((user + system) / 1e4 / seconds),
    'RSS MB': Math.round(memory),
    'stolen s': stolenSeconds() - stolen,
  };
}

async function main(): Promise<void> {
  console.log(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n`);
  const rows: Row[] = [];
  const instant = new InstantEngine({ msPerCharacter: 60 });
  for (const count of QUICK ? [1, 50] : [1, 50, 200]) rows.push(await line(count, instant, 'instant'));
  const flite = fliteEngine({ maxWaiting: 100, renderTimeoutMs: 10_000 });
  await flite.load();
  for (const count of [1, 30]) rows.push(await line(count, flite, 'slt'));
  await flite.close();
  console.log(table(rows));
}

await main();
