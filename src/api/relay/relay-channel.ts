// The dialect of data channels labelled `relay`: the page of a browser's call is the application of its own
// call. It speaks ConversationRelay, as an application behind a WebSocket does.
//
// The room `signaling` keeps messages while the page has no connection. So the session here loses no wire,
// and ends with the call.
import type { Agents } from '../../agents/agents.js';
import type {
  ChannelClient,
  ChannelDialect,
  ChannelMessage,
  ChannelOpening,
  ChannelTalk,
  HandledCall,
} from '../../call/call-handler.js';
import { readRelaySession, type RelayAttributes } from '../../config/relay-config.js';
import { asParleyError, ParleyError } from '../../errors.js';
import { checkedAttributes, wordsOf } from './relay-messages.js';
import type { RelayEvent } from './relay-session.js';
import { type RelayEnd, RelayTalk, type RelayTalkParts } from './relay-talk.js';

const LABEL = 'relay';
/** The type that a session may state. */
const SESSION_TYPE = 'relay';
const NAME = 'the page';
const BINARY = new Uint8Array();

interface RelayChannelParts extends RelayTalkParts {
  readonly agents: Pick<Agents, 'usual' | 'clientConducts'>;
}

export function relayChannel(given: RelayChannelParts): ChannelDialect {
  const parts = { ...given, sounds: withoutUrls(given.sounds) };
  return {
    label: LABEL,
    open: (handled, opening, client) => new RelayPage(handled, opening, client, parts),
  };
}

class RelayPage implements ChannelTalk {
  readonly #client: ChannelClient;
  readonly #call: string;
  readonly #log: RelayChannelParts['log'];
  readonly #talk: RelayTalk;

  constructor(
    handled: HandledCall,
    { agent, session = {} }: ChannelOpening,
    client: ChannelClient,
    parts: RelayChannelParts,
  ) {
    const { agents } = parts;
    this.#call = handled.call.id;
    this.#log = parts.log;
    agents.clientConducts(this.#call);
    this.#client = client;
    const problems: ParleyError[] = [];
    const attributes = attributesOf(session, problems);
    if (agent !== undefined && agent !== agents.usual) problems.push(unheardAgent(agent));
    const ended = (end: RelayEnd) => this.#ended(end);
    this.#talk = new RelayTalk(handled, attributes, parts, { kind: 'page_relay', name: NAME, ended });
    this.#talk.connected(client);
    for (const problem of problems) client.send(this.errorMessage(problem));
  }

  receive(data: unknown): void {
    this.#talk.receive(typeof data === 'string' ? data : BINARY);
  }

  missed(): void {
    this.#talk.missed();
  }

  errorMessage(error: ParleyError): ChannelMessage {
    return errorEvent(wordsOf(error, this.#call, this.#log));
  }

  close(): void {
    // The session ends with the call.
  }

  /** A page hears why its session has failed before its call ends. */
  #ended({ errorCode, errorMessage }: RelayEnd): void {
    if (errorCode !== undefined) this.#client.send(errorEvent(`${errorCode}: ${errorMessage}`));
  }
}

function errorEvent(description: string): RelayEvent {
  return { type: 'error', description };
}

/** A session with a mistake is not used: the talk then has the defaults, and the page gets an error. */
function attributesOf(
  { type = SESSION_TYPE, ...fields }: Readonly<Record<string, unknown>>,
  problems: ParleyError[],
): RelayAttributes {
  try {
    return checkedAttributes('session', (read) => {
      if (type !== SESSION_TYPE) read.problem('session.type', `must be ${SESSION_TYPE}`);
      return readRelaySession(read, fields, 'session');
    });
  } catch (error) {
    problems.push(asParleyError(error, 'INVALID_FIELD'));
    return checkedAttributes('session', (read) => readRelaySession(read, {}, 'session'));
  }
}

function unheardAgent(agent: string): ParleyError {
  const message = `the agent ${JSON.stringify(agent)} does not talk in this call: the page conducts it`;
  return new ParleyError('CALL_STATE', message);
}

/** A page may open calls with a secret of its own, and nothing more: the server fetches nothing for it. */
function withoutUrls(sounds: RelayTalkParts['sounds']): RelayTalkParts['sounds'] {
  return {
    read: (source, field, signal) => {
      if (/^data:/i.test(source)) return sounds.read(source, field, signal);
      const message = `"${field}" must be a data: URL in base64: the server fetches no URLs for a page`;
      return Promise.reject(new ParleyError('INVALID_FIELD', message, { field }));
    },
  };
}
