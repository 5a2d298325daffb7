// A page that is the application of its own call. The session of its data channel is real, and the channel
// itself is the test's.
import assert from 'node:assert/strict';
import { DialectSession } from '../../../signaling/dialect-session.js';
import { relayChannel } from '../../../src/api/relay/relay-channel.js';
import type { ChannelOpening, ChannelTalk, HandledCall } from '../../../src/call/call-handler.js';
import { type HandledCallUnderTest, openHandledCall, settle } from '../../agents/handled-call.js';
import type { openCalls } from '../../fakes/call-under-test.js';
import { buzz, ENGINE_RATE } from '../../fakes/engines.js';
import { relayPartsOf } from './connect-relay.js';
import type { RelayedMessage } from './relay-backend.js';
import { SILENT_LOG } from '../../../src/log.js';

export interface PageUnderTest extends HandledCallUnderTest {
  readonly session: DialectSession;
  readonly talk: ChannelTalk;
  readonly channel: PageChannel;
  readonly messages: RelayedMessage[];
  /** The calls whose client conducts them. */
  readonly conducted: string[];
  /** Sources of the sounds that were read. */
  readonly sources: string[];
  send(message: object | string): void;
  raw(data: unknown): void;
  say(token: string, more?: object): void;
  of(type: string): RelayedMessage[];
  /** Message number `index`, from 0, of a type, once it is there. */
  message(type: string, index?: number): Promise<RelayedMessage>;
}

/** Keeps what it is given; acknowledges everything. */
export class PageChannel {
  readonly bufferedAmount = 0;
  readonly unacknowledged = 0;
  readonly #messages: RelayedMessage[];

  constructor(messages: RelayedMessage[]) {
    this.#messages = messages;
  }

  send(text: string): void {
    this.#messages.push(JSON.parse(text) as RelayedMessage);
  }
}

export function openPage(
  calls: ReturnType<typeof openCalls>,
  session?: Readonly<Record<string, unknown>>,
  agent?: ChannelOpening['agent'],
): PageUnderTest {
  const under = openHandledCall(calls);
  const conducted: string[] = [];
  const sources: string[] = [];
  const read = async (source: string) => {
    sources.push(source);
    return { samples: buzz(400, 0.5), sampleRate: ENGINE_RATE };
  };
  const dialect = relayChannel({
    ...relayPartsOf(under),
    sounds: { read },
    agents: { usual: 'usual', clientConducts: (call) => void conducted.push(call) },
  });
  assert.equal(dialect.label, 'relay');
  const { call, direction, hangUp } = under.handled;
  const handled: HandledCall = { call, direction, hangUp };
  let talk: ChannelTalk | undefined;
  const channelSession = new DialectSession(
    call,
    (client) => (talk = dialect.open(handled, { agent, session }, client)),
    {
      limits: { messages: { perSecond: 500, burst: 1000 } },
      time: under.time,
      log: SILENT_LOG,
    },
  );
  void call.closed.then(() => channelSession.close());
  assert.ok(talk);
  const messages: RelayedMessage[] = [];
  const channel = new PageChannel(messages);
  channelSession.attach(channel);
  const of = (type: string) => messages.filter((message) => message.type === type);
  const raw = (data: unknown) => channelSession.receive(data);
  const send = (message: object | string) =>
    raw(typeof message === 'string' ? message : JSON.stringify(message));
  return {
    ...under,
    session: channelSession,
    talk,
    channel,
    messages,
    conducted,
    sources,
    raw,
    send,
    say: (token, more = { last: true }) => send({ type: 'text', token, ...more }),
    of,
    message: async (type, index = 0) => {
      await settle();
      await under.passUntil(() => of(type).length > index);
      return of(type)[index] ?? assert.fail(`there was no ${type}`);
    },
  };
}
