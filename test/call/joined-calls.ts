// Calls that can be joined: call, switchboard, book and rules are real; the engine, the telephone, time and
// what joins their sound are the test's.
import type { TestContext } from 'node:test';
import type { Call } from '../../src/call/call.js';
import type { ClientLimits } from '../../src/call/client-limits.js';
import type { HandledCall } from '../../src/call/call-handler.js';
import type { JoinSounds } from '../../src/call/bridges.js';
import { Crossing } from '../../src/call/crossed-ports.js';
import { Joining } from '../../src/call/joining.js';
import { OpenCalls } from '../../src/call/open-calls.js';
import type { DigitsRequest, PhoneCallRequest, TransferRequest } from '../../src/call/phone-calls.js';
import { RoomAgents } from '../../src/call/room-agents.js';
import { type ServerEvent, ServerEvents } from '../../src/call/server-events.js';
import { SoundCalls, type SoundCall, type SoundFormats } from '../../src/call/sound-calls.js';
import { Switchboard } from '../../src/call/switchboard.js';
import { ParleyError } from '../../src/errors.js';
import { type Log, SILENT_LOG } from '../../src/log.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { FakePhone } from '../api/calls/fake-calls.js';
import type { openCalls } from '../fakes/call-under-test.js';
import { ScriptedEngine } from '../fakes/engines.js';
import { FakeJoiner } from '../fakes/fake-joiner.js';
import { until } from '../fakes/until.js';
import { ManualTime } from '../fakes/manual-time.js';

const START_MS = 10_000;
const FRAME_MS = 20;
/** The agent of the server under test. */
export const AGENT = 'support';
const SAMPLES = { samples: new Float32Array(160), sampleRate: 16_000 };

/** Each sound has other samples. */
export class FakeJoinSounds implements JoinSounds {
  readonly tune = { ...SAMPLES };
  readonly ring = { ...SAMPLES };
  readonly named = { ...SAMPLES };

  music(name: string | undefined): ReturnType<JoinSounds['music']> {
    if (name === 'missing')
      return Promise.reject(
        new ParleyError('NOT_FOUND', 'there is no sound of this name', { field: 'music' }),
      );
    return Promise.resolve(name === undefined ? this.tune : this.named);
  }

  ringBack() {
    return this.ring;
  }

  keyTone() {
    return { ...SAMPLES };
  }

  entry() {
    return { ...SAMPLES };
  }

  exit() {
    return { ...SAMPLES };
  }
}

/** The far end of a telephone call. */
export interface FarEnd {
  readonly pressed: string[];
  /** It refuses keys. */
  isDeafToKeys: boolean;
  /** The transfers that it was asked for. */
  readonly transfers: TransferRequest[];
  /** Its answer to them; it leaves with 200. */
  transferStatus: number;
  /** Times that the silence limit was suspended and not resumed. */
  suspended: number;
}

export interface JoinedCall {
  readonly handled: HandledCall;
  readonly call: Call;
  readonly sound: SoundCall;
  readonly farEnd: FarEnd;
  /** Figures of its present socket. */
  readonly leg: number;
}

export interface JoinedCallsUnderTest {
  readonly joining: Joining;
  readonly joiner: FakeJoiner;
  readonly sounds: FakeJoinSounds;
  readonly phone: FakePhone;
  readonly openCalls: OpenCalls;
  readonly switchboard: Switchboard;
  readonly engine: ScriptedEngine;
  readonly time: ManualTime;
  /** Lets the media plane send what is due until the condition holds. Timers stand still. */
  sendUntil(condition: () => boolean): Promise<void>;
  readonly log: string[];
  /** Ids of the calls of agents that were told to talk in their rooms, in order. */
  readonly begun: string[];
  /** The events that applications get, in order. */
  readonly told: ServerEvent[];
  /** `reason` of each end of `call`, in words. */
  ends(): readonly string[];
  open(
    options?: Partial<SoundFormats> & { owner?: string; isTelephone?: boolean; callId?: string },
  ): JoinedCall;
  /** A call that was placed and is open, under the id that the telephone has given it. */
  answer(id: string, owner?: string): JoinedCall;
  placed(): readonly PhoneCallRequest[];
  nothingLeft(): boolean;
}

export function joinedCalls(
  t: TestContext,
  calls: ReturnType<typeof openCalls>,
  options: { readonly clientLimits?: ClientLimits } = {},
): JoinedCallsUnderTest {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: 1_000_000 });
  plane.advance(START_MS);
  const [time, engine, joiner] = [new ManualTime(START_MS), new ScriptedEngine(), new FakeJoiner()];
  const [phone, sounds] = [new FakePhone(), new FakeJoinSounds()];
  let nextId: string | undefined;
  let [ids, bytes] = [0, 0];
  const newId = () => nextId ?? `call-${++ids}`;
  const log: string[] = [];
  const write = (fields: object, message: string) => void log.push(`${message} ${JSON.stringify(fields)}`);
  const kept: Log = { ...SILENT_LOG, info: write, warn: write };
  const nothing = () => undefined;
  const switchboard = new Switchboard(
    {
      routing: engine,
      encoders: calls.encoders,
      limits: { maxTextLength: 1000, textIdleMs: 10_000, maxWaitingUtterances: 3 },
      time,
      log: SILENT_LOG,
      metrics: {
        callOpened: nothing,
        callClosed: nothing,
        utteranceEnded: nothing,
        firstAudio: nothing,
        turnEnded: nothing,
        bargeIn: nothing,
      },
    },
    { maxCalls: 2000, newId, ...options },
  );
  const events = new ServerEvents(() => 1_000_000 + time.now());
  const told: ServerEvent[] = [];
  events.follow(undefined, 0, ({ event }) => {
    if (event.type !== 'call.started' && event.type !== 'call.ended') told.push(event);
  });
  const ownerOf = (id: string): string | undefined => soundCalls.ownerOf(id);
  const openCallBook = new OpenCalls({ events, ownerOf });
  const soundCalls = new SoundCalls({
    plane,
    switchboard,
    handler: { opened: nothing },
    randomBytes: (count) => Buffer.alloc(count, ++bytes),
  });
  const randomBytes = (count: number) => Buffer.alloc(count, ++bytes);
  const roomAgents = new RoomAgents({
    crossing: new Crossing({ plane, randomBytes }),
    soundCalls,
    handler: { has: (name) => name === AGENT, handle: () => ({ typed: nothing }) },
    log: kept,
  });
  const begun: string[] = [];
  const agents: Pick<RoomAgents, 'open' | 'close'> = {
    open: (...request) => {
      const opened = roomAgents.open(...request);
      openCallBook.opened(opened.handled);
      const begin = () => (begun.push(opened.handled.call.id), opened.begin());
      return { ...opened, begin };
    },
    close: () => roomAgents.close(),
  };
  const joining = new Joining({
    agents,
    openCalls: openCallBook,
    switchboard,
    telephone: () => phone,
    joiner,
    sounds,
    events,
    ownerOf,
    unixMs: () => 1_000_000 + time.now(),
    time,
    log: kept,
  });
  const open: JoinedCallsUnderTest['open'] = ({ owner, isTelephone = false, callId, ...formats } = {}) => {
    const request = { protocol: 'audiosocket', clients: [], owner, onFrame: nothing };
    const sound = soundCalls.open({ ...request, sends: 'PCMU', receives: 'PCMU', ...formats });
    const farEnd: FarEnd = {
      pressed: [],
      isDeafToKeys: false,
      transfers: [],
      transferStatus: 200,
      suspended: 0,
    };
    const press = async ({ digits }: DigitsRequest) => {
      if (farEnd.isDeafToKeys) throw new ParleyError('WRONG_STATE', 'the far end takes no digits');
      farEnd.pressed.push(digits);
    };
    const suspendSilence = () => (farEnd.suspended++, () => void farEnd.suspended--);
    const transfer = async (request: TransferRequest) => {
      const { transferStatus: status } = farEnd;
      farEnd.transfers.push(request);
      if (status === 200) await sound.call.close('transferred');
      return { accepted: status === 200, status };
    };
    const leg = { press, transfer, suspendSilence };
    const ids = callId === undefined ? {} : { callId };
    const handled = { ...sound.handled, ...ids, ...(isTelephone ? { leg } : {}) };
    openCallBook.opened(handled);
    const { call } = sound;
    return {
      handled,
      call,
      sound,
      farEnd,
      get leg() {
        let handle = 0;
        call.follow(({ socket }) => (handle = socket?.handle ?? 0))();
        return handle;
      },
    };
  };
  const answer: JoinedCallsUnderTest['answer'] = (id, owner) => {
    nextId = id;
    try {
      return open({ isTelephone: true, ...(owner === undefined ? {} : { owner }) });
    } finally {
      nextId = undefined;
    }
  };
  t.after(async () => {
    joining.close();
    await switchboard.close();
    plane.close();
  });
  const ends = () =>
    told.flatMap((event) =>
      'event' in event && 'reason' in event.event ? [`${event.call}: ${event.event.reason}`] : [],
    );
  let sentMs = START_MS;
  const sendUntil = (condition: () => boolean) =>
    until(() => {
      if (!condition()) plane.advance((sentMs += FRAME_MS));
      return condition();
    });
  const nothingLeft = () => joiner.isIdle && joining.size === 0 && time.waiting === 0;
  return {
    joining,
    joiner,
    sounds,
    phone,
    openCalls: openCallBook,
    switchboard,
    engine,
    time,
    sendUntil,
    log,
    begun,
    told,
    ends,
    open,
    answer,
    placed: () => phone.requests,
    nothingLeft,
  };
}
