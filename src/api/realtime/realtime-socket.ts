// OpenAI's Realtime API over WebSocket: /v1/realtime. Each socket is a call of its own, whose sound goes in
// events; the conversation is that of the data channel (realtime-channel.ts). Transcription has the same
// address.
//
// https://platform.openai.com/docs/guides/realtime-websocket
import { type ChannelOpening, NO_AGENT } from '../../call/call-handler.js';
import type { SoundCall, SoundCalls } from '../../call/sound-calls.js';
import { asParleyError, ParleyError } from '../../errors.js';
import { socketError } from '../http/error-reply.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import { checkIntent, type SecretSessions, type TranscriptionDialect } from './transcription-socket.js';
import { RealtimeTalk, type RealtimeParts } from './realtime-channel.js';
import { USUAL_FORMATS } from './realtime-sound.js';

export interface RealtimeSocketParts extends RealtimeParts {
  readonly soundCalls: Pick<SoundCalls, 'open'>;
  readonly handler: { readonly usual: string | undefined; has(agent: string): boolean };
}

const PROTOCOL = 'websocket';
/** Its client gets sound as parts of responses, and there is none to which that of another call belongs. */
const JOIN_REFUSAL =
  'is a Realtime session over WebSocket, which gets the sound of its own responses only: it cannot be joined';
const NORMAL = 1000;
const TRY_AGAIN = 1013;

interface Access {
  /** The server has API keys, and calls belong to them. */
  readonly keyed: boolean;
  /** The session that a client secret was made with. */
  readonly secrets: SecretSessions;
}

/** `transcription` takes the sockets that ask for it. */
export function realtimeConversations(
  transcription: TranscriptionDialect,
  parts: RealtimeSocketParts | undefined,
  access: Access,
): Dialect {
  if (parts === undefined) return transcription;
  const { path, query = [] } = transcription;
  return {
    name: 'realtime',
    path,
    query: [...query, 'agent'],
    carriesSound: true,
    takesSecrets: true,
    check: (handshake) => {
      checkIntent(handshake);
      if (!transcription.takes(handshake)) return void agentOf(handshake, parts);
      transcription.check?.(handshake);
      if (handshake.url.searchParams.has('agent'))
        throw new ParleyError('INVALID_FIELD', 'a transcription has no "agent"', { field: 'agent' });
    },
    open: (peer, handshake) =>
      transcription.takes(handshake)
        ? transcription.open(peer, handshake)
        : new RealtimeConversation(parts, peer, handshake, access),
  };
}

/** `agent` of the URL, or the usual one. Throws INVALID_FIELD. */
function agentOf({ url }: Handshake, { handler }: RealtimeSocketParts): string | undefined {
  const agent = url.searchParams.get('agent') ?? undefined;
  if (agent === NO_AGENT) return undefined;
  if (agent === undefined || handler.has(agent)) return agent ?? handler.usual;
  throw new ParleyError('INVALID_FIELD', `there is no agent ${JSON.stringify(agent)}`, { field: 'agent' });
}

class RealtimeConversation implements SocketHandler {
  readonly #talk: RealtimeTalk | undefined;
  readonly #call: SoundCall | undefined;

  constructor(parts: RealtimeSocketParts, peer: Peer, handshake: Handshake, { keyed, secrets }: Access) {
    const { client, secret } = handshake;
    const session = secret === undefined ? undefined : secrets.sessionOf(secret);
    try {
      const call = (this.#call = parts.soundCalls.open({
        protocol: PROTOCOL,
        clients: [client],
        owner: keyed ? client : undefined,
        ...USUAL_FORMATS,
        joinRefusal: JOIN_REFUSAL,
        onFrame: (payload) => this.#talk?.frame(payload),
      }));
      const opening: ChannelOpening = { agent: agentOf(handshake, parts), session };
      const send = (message: object) => peer.send(JSON.stringify(message));
      this.#talk = new RealtimeTalk(call.handled, opening, { send }, parts, call);
      void call.call.closed.then((reason) => peer.close(NORMAL, reason));
    } catch (error) {
      const { code } = asParleyError(error, 'WRONG_STATE');
      const { message } = socketError(error, handshake.requestId, (failure, requestId) =>
        parts.log.warn({ requestId, err: failure }, 'a realtime session failed'),
      );
      peer.send(JSON.stringify({ type: 'error', error: { type: 'server_error', code, message } }));
      peer.close(TRY_AGAIN, code);
    }
  }

  message(data: string | Uint8Array): void {
    this.#talk?.receive(data);
  }

  async closed(): Promise<void> {
    this.#talk?.close();
    await this.#call?.call.close('client closed its socket');
  }
}
