// Serves the socket of one telephone call: it sends the events of the call and takes commands. Each command
// is answered with the id that came with it.
//
//   out  {"type":"call","call":{…}}    then the same events as GET /v1/calls/{id}/events
//   in   {"type":"say","id":1,"text":"…"}      dtmf, play, interrupt, transfer, hold, resume, hangup
//   out  {"type":"done","id":1,"result":{…}}   {"type":"error","id":1,"error":{…}}
//
// The socket closes when the call ends. The call goes on when the socket closes.
import { ParleyError } from '../../errors.js';
import { errorReply } from '../http/error-reply.js';
import {
  type ClientTelephone,
  type CommandName,
  COMMANDS,
  type TelephoneAccess,
} from './telephone-access.js';
import { callJson, eventJson, isLast } from './call-json.js';
import { hasNoMoreEvents } from './telephone-routes.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';

const NORMAL = 1000;
const MOST_RUNNING = 16; // unanswered commands of one socket
const MOST_ID = 64; // characters

/** `keyed`: the server has API keys, and calls belong to them. */
export function telephoneSocket(telephone: TelephoneAccess, keyed: boolean): Dialect {
  const clientOf = ({ client }: Handshake): ClientTelephone =>
    telephone.forClient(keyed ? client : undefined);
  return {
    name: 'calls',
    path: '/v1/calls/{id}/socket',
    query: ['after'],
    check: (handshake) => {
      clientOf(handshake).calls.get(handshake.params['id'] ?? '');
      readAfter(handshake.url);
    },
    open: (peer, handshake) =>
      new CallConversation({ telephone, client: clientOf(handshake) }, peer, handshake),
  };
}

type MessageId = string | number | undefined;

interface Command {
  readonly type: CommandName;
  readonly body: Readonly<Record<string, unknown>>;
}

interface CallConversationParts {
  readonly telephone: Pick<TelephoneAccess, 'checkMessage'>;
  /** The telephone as the client of the socket may use it. */
  readonly client: ClientTelephone;
}

class CallConversation implements SocketHandler {
  readonly #parts: CallConversationParts;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #id: string;
  readonly #gone = new AbortController();
  #stopFollowing: () => void = () => undefined;
  #running = 0;

  constructor(parts: CallConversationParts, peer: Peer, handshake: Handshake) {
    this.#parts = parts;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#id = handshake.params['id'] ?? '';
    try {
      this.#follow(readAfter(handshake.url));
    } catch (error) {
      this.#refuse(undefined, error); // the call was forgotten since the handshake
      peer.close(NORMAL, 'the server no longer knows the call');
    }
  }

  message(data: string | Uint8Array): void {
    let id: MessageId;
    try {
      const fields = readMessage(data);
      id = readId(fields);
      void this.#run(id, this.#readCommand(fields));
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  /** Aborts commands that have not begun; those that have begun go on. */
  closed(): Promise<void> {
    this.#stopFollowing();
    this.#gone.abort();
    return Promise.resolve();
  }

  #follow(after: number): void {
    const { calls } = this.#parts.client;
    const view = calls.get(this.#id);
    this.#send({ type: 'call', call: callJson(view) });
    if (view.state === 'ended') {
      void hasNoMoreEvents(calls, this.#id, after).then((isOver) => {
        if (isOver) this.#peer.close(NORMAL, 'the call is over');
      });
    }
    this.#stopFollowing = calls.follow(this.#id, after, (event) => {
      this.#send(eventJson(this.#id, event));
      if (isLast(event)) this.#peer.close(NORMAL, 'the call is over');
    });
  }

  #readCommand({ type: named, id: _id, ...body }: Readonly<Record<string, unknown>>): Command {
    const type = COMMANDS.find((name) => name === named);
    if (type === undefined) {
      const names = COMMANDS.map((name) => `"${name}"`).join(', ');
      throw new ParleyError('INVALID_FIELD', `"type" must be one of ${names}`, { field: 'type' });
    }
    if (this.#running >= MOST_RUNNING) {
      throw new ParleyError('QUEUE_FULL', `${MOST_RUNNING} commands of this socket are not answered yet`);
    }
    this.#parts.telephone.checkMessage?.(type, body);
    return { type, body };
  }

  async #run(id: MessageId, { type, body }: Command): Promise<void> {
    this.#running++;
    try {
      const result = await this.#parts.client.run(type, this.#id, body, this.#gone.signal);
      this.#send({ type: 'done', id, result });
    } catch (error) {
      this.#refuse(id, error);
    } finally {
      this.#running--;
    }
  }

  #refuse(id: MessageId, error: unknown): void {
    this.#send({ type: 'error', id, error: errorReply(error, this.#handshake.requestId).body.error });
  }

  #send(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }
}

/** Throws MALFORMED. */
function readMessage(data: string | Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = typeof data === 'string' ? JSON.parse(data) : undefined;
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new ParleyError('MALFORMED', 'a message must be a JSON object in a text message');
}

function readId({ id }: Readonly<Record<string, unknown>>): MessageId {
  if (id === undefined || id === null) return undefined;
  if ((typeof id === 'string' && id.length <= MOST_ID) || Number.isSafeInteger(id))
    return id as string | number;
  throw new ParleyError(
    'INVALID_FIELD',
    `"id" must be a string of at most ${MOST_ID} characters or a whole number`,
    {
      field: 'id',
    },
  );
}

/** The id of the last event that the client has. */
function readAfter(url: URL): number {
  const after = url.searchParams.get('after') ?? '0';
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw new ParleyError('INVALID_FIELD', '"after" must be the id of an event', { field: 'after' });
}
