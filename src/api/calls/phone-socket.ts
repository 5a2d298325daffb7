// The socket of one telephone call: what happens in it comes out, commands go
// in, each answered under the id that it came with. Enough for a menu of keys.
//
//   out  {"type":"call","call":{…}}    then events as /events has them
//   in   {"type":"say","id":1,"text":"…"}      dtmf, play, interrupt, transfer, hold, resume, hangup
//   out  {"type":"done","id":1,"result":{…}}   {"type":"error","id":1,"error":{…}}
//
// It closes when the call is over; the call goes on when the socket closes.
import { ParleyError } from '../../errors.js';
import { errorReply } from '../http/error-reply.js';
import { type CommandName, COMMANDS } from './phone-commands.js';
import type { ClientDesk, PhoneDesk } from './phone-desk.js';
import { callForm, eventForm, isLast } from './phone-forms.js';
import { isToldOut } from './phone-routes.js';
import type { Conversation, Dialect, Peer, Visit } from '../http/socket-dialect.js';

const NORMAL = 1000;
const MOST_RUNNING = 16; // commands of one socket that are not answered
const MOST_ID = 64; // characters

/** `keyed`: clients are told apart by their API keys, and calls have owners. */
export function phoneSocket(desk: PhoneDesk, keyed: boolean): Dialect {
  const ownOf = ({ client }: Visit): ClientDesk => desk.of(keyed ? client : undefined);
  return {
    name: 'calls',
    path: '/v1/calls/{id}/socket',
    check: (visit) => {
      ownOf(visit).calls.get(visit.params['id'] ?? '');
      readAfter(visit.url);
    },
    open: (peer, visit) => new PhoneConversation({ desk, own: ownOf(visit) }, peer, visit),
  };
}

type MessageId = string | number | undefined;

interface Command {
  readonly type: CommandName;
  readonly body: Readonly<Record<string, unknown>>;
}

interface PhoneConversationParts {
  readonly desk: Pick<PhoneDesk, 'check'>;
  /** The calls of the client. */
  readonly own: ClientDesk;
}

class PhoneConversation implements Conversation {
  readonly #parts: PhoneConversationParts;
  readonly #peer: Peer;
  readonly #visit: Visit;
  readonly #id: string;
  readonly #gone = new AbortController();
  #stopFollowing: () => void = () => undefined;
  #running = 0;

  constructor(parts: PhoneConversationParts, peer: Peer, visit: Visit) {
    this.#parts = parts;
    this.#peer = peer;
    this.#visit = visit;
    this.#id = visit.params['id'] ?? '';
    try {
      this.#follow(readAfter(visit.url));
    } catch (error) {
      this.#refuse(undefined, error); // it was forgotten since the handshake
      peer.close(NORMAL, 'nobody knows the call any more');
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

  /** Commands that the call has begun are the call's own. */
  closed(): Promise<void> {
    this.#stopFollowing();
    this.#gone.abort();
    return Promise.resolve();
  }

  #follow(after: number): void {
    const { calls } = this.#parts.own;
    const view = calls.get(this.#id);
    this.#tell({ type: 'call', call: callForm(view) });
    if (view.state === 'ended') {
      void isToldOut(calls, this.#id, after).then((toldOut) => {
        if (toldOut) this.#peer.close(NORMAL, 'the call is over');
      });
    }
    this.#stopFollowing = calls.follow(this.#id, after, (event) => {
      this.#tell(eventForm(this.#id, event));
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
    this.#parts.desk.check?.(type, body);
    return { type, body };
  }

  async #run(id: MessageId, { type, body }: Command): Promise<void> {
    this.#running++;
    try {
      const result = await this.#parts.own.commands.run(type, this.#id, body, this.#gone.signal);
      this.#tell({ type: 'done', id, result });
    } catch (error) {
      this.#refuse(id, error);
    } finally {
      this.#running--;
    }
  }

  #refuse(id: MessageId, error: unknown): void {
    this.#tell({ type: 'error', id, error: errorReply(error, this.#visit.requestId).body.error });
  }

  #tell(message: object): void {
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

/** The id of the last event that is known. */
function readAfter(url: URL): number {
  const after = url.searchParams.get('after') ?? '0';
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw new ParleyError('INVALID_FIELD', '"after" must be the id of an event', { field: 'after' });
}
