// Applications that open the socket themselves and attach to a running call: GET /v1/calls/{id}/relay. A POST
// to the same address makes a token with which one may attach.
//
//   attached ⇄ lost ──half a minute──▶ failed
//
// One application conducts a call. The session goes on if it comes back, with the attributes of its first
// socket.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { HandledCall } from '../../call/call-handler.js';
import type { OpenCalls } from '../../call/open-calls.js';
import { readRelayAttributes, type RelayAttributes } from '../../config/relay-config.js';
import { ParleyError } from '../../errors.js';
import { forwardedPrefix } from '../http/browser-headers.js';
import { jsonAnswer, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import { checkedAttributes, wordsOf } from './relay-messages.js';
import { RelayTalk, type RelayTalkParts } from './relay-talk.js';

interface RelayAttachmentParts extends RelayTalkParts {
  readonly openCalls: Pick<OpenCalls, 'check' | 'checkOwner' | 'take'>;
}

const TOKEN = 'rt_';
const TOKEN_BYTES = 32;
const PARAMETER = 'token';
const POLICY = 1008;
const CONDUCTOR = 'an application';

interface Attachment {
  readonly talk: RelayTalk;
  peer: Peer | undefined;
  cancelTimer: () => void;
}

export class RelayAttachments {
  readonly #parts: RelayAttachmentParts;
  readonly #attachments = new Map<string, Attachment>();
  /** Digests of tokens by call. */
  readonly #tokens = new Map<string, Buffer>();

  constructor(parts: RelayAttachmentParts) {
    this.#parts = parts;
  }

  /**
   * A token with which an application may attach to this call and do nothing else. It ends with the call, or
   * with the next one. `key`: name of the API key that asks; undefined: any. Throws NOT_FOUND and CALL_STATE.
   */
  tokenFor(id: string, key: string | undefined): string {
    const { call } = this.#parts.openCalls.check(id, key);
    const token = `${TOKEN}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
    if (!this.#tokens.has(id)) void call.closed.then(() => this.#tokens.delete(id));
    this.#tokens.set(id, digest(token));
    return token;
  }

  isTokenOf(id: string, token: string): boolean {
    const kept = this.#tokens.get(id);
    return kept !== undefined && token.startsWith(TOKEN) && timingSafeEqual(kept, digest(token));
  }

  /** The words of an error for an application. */
  wordsOf(error: unknown, requestId: string): string {
    return wordsOf(error, requestId, this.#parts.log);
  }

  /** Throws what refuses an application at this call. */
  check(id: string, key: string | undefined): void {
    const attachment = this.#attachments.get(id);
    const { openCalls } = this.#parts;
    openCalls.checkOwner(id, key);
    if (attachment === undefined || attachment.peer !== undefined) openCalls.check(id, key);
  }

  attach(id: string, key: string | undefined, attributes: RelayAttributes, peer: Peer): Attachment {
    this.#parts.openCalls.checkOwner(id, key);
    const before = this.#attachments.get(id);
    const attachment = before?.peer === undefined ? before : undefined;
    if (attachment === undefined) {
      const handled = this.#parts.openCalls.take(id, key, CONDUCTOR);
      return this.#connect(this.#begin(handled, attributes), peer);
    }
    attachment.cancelTimer();
    return this.#connect(attachment, peer);
  }

  /** The socket is closed. */
  left(attachment: Attachment, peer: Peer): void {
    if (attachment.peer !== peer) return;
    attachment.peer = undefined;
    const { talk } = attachment;
    talk.lost(false, 'the application closed its socket');
    if (talk.isOver) return;
    attachment.cancelTimer = this.#parts.time.after(talk.resumeMs, () =>
      talk.fail('64105', 'the application did not come back'),
    );
  }

  #begin(handled: HandledCall, attributes: RelayAttributes): Attachment {
    const { id } = handled.call;
    const talk = new RelayTalk(handled, attributes, this.#parts, {
      name: CONDUCTOR,
      kind: 'attached_relay',
      ended: (_end, closeCode) => {
        attachment.cancelTimer();
        attachment.peer?.close(closeCode, '');
        this.#attachments.delete(id);
      },
    });
    const attachment: Attachment = { talk, peer: undefined, cancelTimer: () => undefined };
    this.#attachments.set(id, attachment);
    return attachment;
  }

  #connect(attachment: Attachment, peer: Peer): Attachment {
    attachment.peer = peer;
    attachment.talk.connected({ send: (message) => peer.send(JSON.stringify(message)) });
    return attachment;
  }
}

/** `keyed`: the server has API keys, and calls belong to them. */
export function relaySocket(attachments: RelayAttachments, keyed: boolean): Dialect {
  const keyOf = ({ client, isAdmitted }: Handshake) => (keyed && isAdmitted !== true ? client : undefined);
  return {
    name: 'relay',
    path: '/v1/calls/{id}/relay',
    admits: ({ url, params, key }) => {
      const token = url.searchParams.get(PARAMETER) ?? key ?? '';
      return attachments.isTokenOf(params['id'] ?? '', token);
    },
    check: (handshake) => {
      attachments.check(handshake.params['id'] ?? '', keyOf(handshake));
      attributesOf(handshake.url);
    },
    open: (peer, handshake) => new AttachedApplication(attachments, peer, handshake, keyOf(handshake)),
  };
}

class AttachedApplication implements SocketHandler {
  readonly #attachments: RelayAttachments;
  readonly #peer: Peer;
  readonly #attachment: Attachment | undefined;

  constructor(attachments: RelayAttachments, peer: Peer, handshake: Handshake, key: string | undefined) {
    this.#attachments = attachments;
    this.#peer = peer;
    try {
      const { url, params } = handshake;
      this.#attachment = attachments.attach(params['id'] ?? '', key, attributesOf(url), peer);
    } catch (error) {
      // The call has ended, or another application has come, since the handshake.
      const message = attachments.wordsOf(error, handshake.requestId);
      peer.send(JSON.stringify({ type: 'error', description: message }));
      peer.close(POLICY, message);
    }
  }

  message(data: string | Uint8Array): void {
    this.#attachment?.talk.receive(data);
  }

  closed(): Promise<void> {
    if (this.#attachment !== undefined) this.#attachments.left(this.#attachment, this.#peer);
    return Promise.resolve();
  }
}

/** Throws INVALID_FIELD with every mistake. */
function attributesOf(url: URL): RelayAttributes {
  const query = new URLSearchParams(url.searchParams);
  query.delete(PARAMETER);
  return checkedAttributes('query', (read) => readRelayAttributes(read, query, 'query'));
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

const TOKEN_SCHEMA: RouteSchema = {
  summary: 'A token with which an application attaches to this call, and to no other',
  description:
    'The application opens a WebSocket at `url` with the token as bearer or as `?token=`, and speaks ConversationRelay. ' +
    'The token ends with the call, or with the next one.',
  tags: [TAGS.calls],
  params: object({ id: { ...STRING, description: 'of a call by telephone or browser' } }),
  response: {
    201: jsonAnswer(
      'the token',
      object({
        object: { ...STRING, enum: ['call.relay'] },
        call: STRING,
        url: { ...STRING, description: 'path at this server' },
        token: STRING,
      }),
    ),
    404: { description: 'there is no open call of this id' },
    409: { description: 'an agent or another application conducts the call' },
  },
};

/** Without `relays` there are no calls. */
export function addRelayRoutes(app: FastifyInstance, relays: RelayAttachments | undefined): void {
  app.post<{ Params: { id: string } }>('/v1/calls/:id/relay', { schema: TOKEN_SCHEMA }, (request, reply) => {
    const { params, key } = request;
    const { id } = params;
    if (relays === undefined) throw new ParleyError('NOT_FOUND', 'there is no open call of this id');
    const token = relays.tokenFor(id, key);
    const url = `${forwardedPrefix(request)}/v1/calls/${id}/relay`;
    return reply.code(201).send({ object: 'call.relay', call: id, url, token });
  });
}
