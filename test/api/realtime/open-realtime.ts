// A call whose data channel or WebSocket speaks OpenAI's Realtime events. The call, its queue and the encoder
// are real; the engine, the model, the recogniser, the worker that hears and time are the test's.
import assert from 'node:assert/strict';
import type { RealtimeClientEvent, RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { realtimeChannel, RealtimeTalk } from '../../../src/api/realtime/realtime-channel.js';
import { USUAL_FORMATS } from '../../../src/api/realtime/realtime-sound.js';
import type { SpeakOptions } from '../../../src/call/call.js';
import type { ChannelTalk } from '../../../src/call/call-handler.js';
import { SoundCall, type SoundFormats } from '../../../src/call/sound-calls.js';
import { SoundPort } from '../../../src/call/sound-port.js';
import type { AgentConfig } from '../../../src/config/agent-config.js';
import { ParleyError } from '../../../src/errors.js';
import type { MediaPlane } from '../../../src/media/media-plane.js';
import { AGENT } from '../../agents/agent-under-test.js';
import { type HandledCallUnderTest, openHandledCall } from '../../agents/handled-call.js';
import { ScriptedModel } from '../../agents/scripted-model.js';
import type { openCalls } from '../../fakes/call-under-test.js';
import { SILENT_LOG } from '../../../src/log.js';

const SALES: AgentConfig = { ...AGENT, name: 'sales', transfers: new Map() };

interface Setting extends NonNullable<Parameters<typeof openHandledCall>[1]> {
  /** Undefined: no agent talks. */
  readonly agent?: Partial<AgentConfig>;
  /** Beside the offer. */
  readonly session?: Readonly<Record<string, unknown>>;
  readonly isRelay?: boolean;
  /** The sound goes in events. */
  readonly isSocket?: boolean;
}

type EventType = RealtimeServerEvent['type'];
type EventOf<T extends EventType> = Extract<RealtimeServerEvent, { type: T }>;

export interface RealtimeUnderTest extends HandledCallUnderTest {
  readonly talk: ChannelTalk;
  readonly model: ScriptedModel;
  send(event: RealtimeClientEvent): void;
  raw(data: unknown): void;
  /** Types of what was sent since the last time. */
  types(): string[];
  /** The last event of this type. */
  last<T extends EventType>(type: T): EventOf<T>;
  all<T extends EventType>(type: T): EventOf<T>[];
  /** Gives the voice a text, and asks for it to be spoken. */
  say(text: string, id?: string): void;
  told(type: EventType): Promise<void>;
}

export function openRealtime(
  calls: ReturnType<typeof openCalls>,
  { agent, session, isRelay = false, isSocket = false, ...setting }: Setting = {},
): RealtimeUnderTest {
  const sound: { port?: SoundPort; frame: (payload: Uint8Array) => void } = { frame: () => undefined };
  let numbers = 0;
  const open = (plane: MediaPlane, formats: SoundFormats) => {
    const onFrame = (payload: Uint8Array) => sound.frame(payload);
    sound.port = new SoundPort({ plane, ...formats, path: 'test', random: () => ++numbers, onFrame });
    return sound.port;
  };
  const makePort = (plane: MediaPlane) => open(plane, USUAL_FORMATS).port;
  const under = openHandledCall(calls, isSocket ? { ...setting, makePort } : setting);
  const model = new ScriptedModel();
  const sent: RealtimeServerEvent[] = [];
  let count = 0;
  let seen = 0;
  const steered = () => {
    if (isRelay) throw new ParleyError('CALL_STATE', 'it talks by itself');
    return { config: { ...SALES, ...agent }, model, onEvent: () => undefined };
  };
  const parts = {
    agents: { steered, clientConducts: () => undefined },
    callerTexts: under.callerTexts,
    switchboard: {
      check: (_text: string, options?: SpeakOptions) => {
        if (options?.voice === 'nobody') throw new ParleyError('VOICE_UNKNOWN', 'there is no voice "nobody"');
      },
    },
    time: under.time,
    unixMs: () => 1_700_000_000_500,
    randomBytes: (bytes: number) => Buffer.alloc(bytes, ++count),
    log: SILENT_LOG,
  };
  const dialect = realtimeChannel(parts);
  assert.equal(dialect.label, 'oai-events');
  const opening = { agent: agent === undefined && !isRelay ? undefined : 'sales', session };
  const client = {
    send: (message: object) => void sent.push(JSON.parse(JSON.stringify(message)) as RealtimeServerEvent),
  };
  const soundCall =
    sound.port &&
    new SoundCall(under.call, sound.port, USUAL_FORMATS, (formats) => open(under.plane, formats));
  const realtimeTalk = soundCall && new RealtimeTalk(under.handled, opening, client, parts, soundCall);
  if (realtimeTalk !== undefined) sound.frame = (payload) => realtimeTalk.frame(payload);
  const talk = realtimeTalk ?? dialect.open(under.handled, opening, client);
  const all = <T extends EventType>(type: T) =>
    sent.filter((event): event is EventOf<T> => event.type === type);
  const send = (event: RealtimeClientEvent) => talk.receive(JSON.stringify(event));
  return {
    ...under,
    talk,
    model,
    send,
    raw: (data) => talk.receive(data),
    types: () => sent.slice(seen, (seen = sent.length)).map(({ type }) => type),
    all,
    last: (type) => all(type).at(-1) ?? assert.fail(`there was no ${type}`),
    say: (text, id) => {
      send(assistant(text, id));
      send({ type: 'response.create', response: { conversation: 'none', metadata: { turn: '1' } } });
    },
    told: (type) => under.passUntil(() => all(type).length > 0),
  };
}

/** A message for the voice. */
export function assistant(text: string, id?: string): RealtimeClientEvent {
  const content = [{ type: 'output_text' as const, text }];
  const named = id === undefined ? {} : { id };
  return {
    type: 'conversation.item.create',
    item: { type: 'message', role: 'assistant', content, ...named },
  };
}

export function user(text: string): RealtimeClientEvent {
  const content = [{ type: 'input_text' as const, text }];
  return { type: 'conversation.item.create', item: { type: 'message', role: 'user', content } };
}
