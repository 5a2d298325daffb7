// A server for AudioSocket with real calls: TCP, the call, its queue and the encoder are real; the engine,
// the worker that hears, the agent and time are the test's.
import type { TestContext } from 'node:test';
import { AudioSocketServer } from '../../../src/api/audiosocket/audio-socket-server.js';
import type { CallHandler, HandledCall } from '../../../src/call/call-handler.js';
import { OpenCalls } from '../../../src/call/open-calls.js';
import { ListedCalls } from '../../../src/call/listed-calls.js';
import { SoundCalls } from '../../../src/call/sound-calls.js';
import { Switchboard } from '../../../src/call/switchboard.js';
import type { CallEvent } from '../../../src/call/call-events.js';
import type { AudioSocketConfig } from '../../../src/config/audio-socket-config.js';
import { ParleyError } from '../../../src/errors.js';
import { MediaPlane } from '../../../src/media/media-plane.js';
import type { openCalls } from '../../fakes/call-under-test.js';
import { ScriptedEngine } from '../../fakes/engines.js';
import { FakeHearing } from '../../fakes/fake-hearing.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { SILENT_LOG } from '../../../src/log.js';

const START_MS = 10_000;
const FRAME_MS = 20;
const USUAL: AudioSocketConfig = {
  address: '127.0.0.1',
  port: 0,
  allow: ['127.0.0.1'],
  agent: undefined,
  unansweredMs: 30_000,
  key: undefined,
};

interface Setting extends Partial<AudioSocketConfig> {
  readonly maxCalls?: number;
  readonly usual?: string;
}

interface AudioSocketUnderTest {
  readonly port: number;
  readonly server: AudioSocketServer;
  readonly switchboard: Switchboard;
  readonly plane: MediaPlane;
  readonly engine: ScriptedEngine;
  readonly time: ManualTime;
  /** Calls in their order, and the names of the agents that took them. */
  readonly handled: HandledCall[];
  readonly agents: string[];
  readonly soundCalls: SoundCalls;
  readonly listed: ListedCalls;
  /** Applications take calls from here. */
  readonly openCalls: OpenCalls;
  readonly events: CallEvent[];
  readonly log: Readonly<Record<string, unknown>>[];
  /** Reasons for which calls were closed. */
  readonly reasons: string[];
  /** The handled call number `index`, once it is open. */
  opened(index?: number): Promise<HandledCall>;
  /** Moves the plane's clock and the timers, frame by frame. */
  pass(ms: number): void;
}

export async function openAudioSocket(
  t: TestContext,
  calls: ReturnType<typeof openCalls>,
  { maxCalls = 9, usual, ...config }: Setting = {},
): Promise<AudioSocketUnderTest> {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: 1_000_000 });
  plane.advance(START_MS);
  const [time, engine, hearing] = [new ManualTime(START_MS), new ScriptedEngine(), new FakeHearing()];
  const log: Readonly<Record<string, unknown>>[] = [];
  const write = (fields: Readonly<Record<string, unknown>>, message: string) =>
    void log.push({ ...fields, message });
  const reasons: string[] = [];
  const switchboard = openSwitchboard({ engine, hearing, time, maxCalls, reasons, encoders: calls.encoders });
  const [handled, agents, events]: [HandledCall[], string[], CallEvent[]] = [[], [], []];
  const openCalls: OpenCalls = new OpenCalls({ ownerOf: (id) => soundCalls.ownerOf(id) });
  const handler: Pick<CallHandler, 'usual' | 'opened' | 'handle'> & Pick<OpenCalls, 'isConducted'> = {
    usual,
    isConducted: (call) => openCalls.isConducted(call),
    opened: (given) => {
      openCalls.opened(given);
      handled.push(given);
      given.call.observe((event) => void events.push(event));
    },
    handle: (agent) => {
      if (agent === 'broken') throw new ParleyError('NOT_FOUND', 'there is no agent "broken"');
      agents.push(agent);
      return { typed: () => undefined };
    },
  };
  let numbers = 0;
  const randomBytes = (count: number) => Buffer.alloc(count, ++numbers);
  const listed = new ListedCalls({ time, unixMs: () => 1_000_000 + time.now() });
  const soundCalls = new SoundCalls({ plane, switchboard, handler, listed, randomBytes });
  const server = new AudioSocketServer(
    { ...USUAL, ...config },
    { soundCalls, handler, time, log: { ...SILENT_LOG, info: write, warn: write } },
  );
  const port = await server.listen();
  t.after(async () => {
    const closed = server.close();
    time.advance(10_000);
    await closed;
    await switchboard.close();
    plane.close();
  });
  const opened = async (index = 0) => {
    await until(() => handled.length > index);
    return handled[index] as HandledCall;
  };
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += FRAME_MS) {
      plane.advance(plane.nowMs + FRAME_MS);
      time.advance(FRAME_MS);
    }
  };
  const under = { port, server, switchboard, plane, engine, time, handled, agents, events, log, reasons };
  return { ...under, soundCalls, listed, openCalls, opened, pass };
}

interface SwitchboardSetting {
  readonly engine: ScriptedEngine;
  readonly hearing: FakeHearing;
  readonly time: ManualTime;
  readonly maxCalls: number;
  readonly reasons: string[];
  readonly encoders: ReturnType<typeof openCalls>['encoders'];
}

function openSwitchboard({ engine, maxCalls, reasons, ...parts }: SwitchboardSetting): Switchboard {
  let count = 0;
  const nothing = () => undefined;
  return new Switchboard(
    {
      ...parts,
      routing: engine,
      limits: { maxTextLength: 1000, textIdleMs: 10_000, maxWaitingUtterances: 3 },
      log: SILENT_LOG,
      metrics: {
        callOpened: nothing,
        callClosed: (protocol, reason) => void reasons.push(`${protocol}: ${reason}`),
        utteranceEnded: nothing,
        firstAudio: nothing,
        turnEnded: nothing,
        bargeIn: nothing,
      },
    },
    { maxCalls, newId: () => `call-${++count}` },
  );
}
