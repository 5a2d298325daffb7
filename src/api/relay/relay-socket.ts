// ConversationRelay on a WebSocket that is the call itself: /v1/relay. The client is the application, and
// carries the sound of its caller.
//
//   text messages    ConversationRelay, both ways
//   binary messages  sound, both ways: `format` of the URL; the server sends 20 ms each, without a pause
//
// Silence is left out while the client has much sound to read.
import type { Agents } from '../../agents/agents.js';
import type { SoundCall, SoundCalls } from '../../call/sound-calls.js';
import { type FrameCodec, isNeedless } from '../../call/sound-port.js';
import { readRelayAttributes, type RelayAttributes } from '../../config/relay-config.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import { checkedAttributes, wordsOf } from './relay-messages.js';
import { RelayTalk, type RelayTalkParts } from './relay-talk.js';

export interface RelaySocketParts extends RelayTalkParts {
  readonly soundCalls: Pick<SoundCalls, 'open'>;
  readonly agents: Pick<Agents, 'clientConducts'>;
}

interface Opening {
  readonly attributes: RelayAttributes;
  readonly codec: FrameCodec;
}

const PARAMETER = 'format';
/** `pcm`: samples of 16 bits at 24 kHz, the least significant byte first. */
const FORMATS: Readonly<Record<string, FrameCodec>> = { pcm: 'L16', ulaw: 'PCMU', alaw: 'PCMA' };
const PROTOCOL = 'websocket';
const NAME = 'a socket';
const FRAME_MS = 20;
const TRY_AGAIN = 1013;
const TOO_BIG = 1009;

/** `keyed`: the server has API keys, and calls belong to them. */
export function relayCallSocket(parts: RelaySocketParts, keyed: boolean): Dialect {
  return {
    name: 'relay-call',
    path: '/v1/relay',
    carriesSound: true,
    check: ({ url }) => void openingOf(url),
    open: (peer, handshake) => new RelayConversation(parts, peer, handshake, keyed),
  };
}

class RelayConversation implements SocketHandler {
  readonly #peer: Peer;
  readonly #requestId: string;
  readonly #log: RelaySocketParts['log'];
  readonly #codec: FrameCodec;
  readonly #talk: RelayTalk | undefined;
  readonly #call: SoundCall | undefined;

  constructor(parts: RelaySocketParts, peer: Peer, handshake: Handshake, keyed: boolean) {
    const { url, client, requestId } = handshake;
    const { attributes, codec } = openingOf(url);
    this.#peer = peer;
    this.#requestId = requestId;
    this.#log = parts.log;
    this.#codec = codec;
    try {
      this.#call = parts.soundCalls.open({
        protocol: PROTOCOL,
        clients: [client],
        owner: keyed ? client : undefined,
        sends: codec,
        receives: codec,
        onFrame: (payload) => this.#sendFrame(payload),
      });
      const { call, handled } = this.#call;
      parts.agents.clientConducts(call.id);
      this.#talk = new RelayTalk(handled, attributes, parts, {
        kind: 'socket_relay',
        name: NAME,
        ended: (_end, closeCode) => peer.close(closeCode, ''),
      });
      this.#talk.connected({ send: (message) => peer.send(JSON.stringify(message)) });
    } catch (error) {
      peer.send(JSON.stringify({ type: 'error', description: this.#wordsOf(error) }));
      peer.close(TRY_AGAIN, asParleyError(error, 'WRONG_STATE').code);
    }
  }

  message(data: string | Uint8Array): void {
    if (typeof data === 'string') this.#talk?.receive(data);
    else this.#hear(data);
  }

  async closed(): Promise<void> {
    await this.#call?.call.close('client closed its socket');
  }

  /** The next 20 ms of the call. */
  #sendFrame(payload: Uint8Array): void {
    const unreadMs = (this.#peer.unreadBytes * FRAME_MS) / payload.length;
    if (!isNeedless(() => payload, this.#codec, unreadMs)) this.#peer.send(this.#swapped(payload));
  }

  get #isPcm(): boolean {
    return this.#codec === 'L16';
  }

  #hear(sound: Uint8Array): void {
    try {
      if (this.#isPcm && sound.length % 2 !== 0)
        throw new ParleyError('INVALID_FIELD', 'binary messages must have whole samples of 16 bits');
      this.#call?.receive(this.#swapped(sound));
    } catch (error) {
      const { code } = asParleyError(error, 'WRONG_STATE');
      this.#peer.send(JSON.stringify({ type: 'error', description: this.#wordsOf(error) }));
      if (code === 'QUEUE_FULL') this.#peer.close(TOO_BIG, code);
    }
  }

  #wordsOf(error: unknown): string {
    return wordsOf(error, this.#requestId, this.#log);
  }

  /** A copy, with the bytes of samples in the order of the other side. */
  #swapped(sound: Uint8Array): Buffer {
    const copy = Buffer.from(sound);
    return this.#isPcm ? copy.swap16() : copy;
  }
}

/** Throws INVALID_FIELD. */
function openingOf(url: URL): Opening {
  const query = new URLSearchParams(url.searchParams);
  const format = query.get(PARAMETER) ?? 'pcm';
  query.delete(PARAMETER);
  const codec = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (codec === undefined) {
    const message = `"${PARAMETER}" must be one of ${Object.keys(FORMATS).join(', ')}`;
    throw new ParleyError('INVALID_FIELD', message, { field: PARAMETER });
  }
  return {
    attributes: checkedAttributes('query', (read) => readRelayAttributes(read, query, 'query')),
    codec,
  };
}
