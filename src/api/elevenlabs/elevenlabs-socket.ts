// Serves the part that both of ElevenLabs' sockets share: it checks the key, reads messages, makes contexts,
// and refuses in ElevenLabs' words: {"message", "error", "code"}, where the code is the close code of the
// socket.
import { asParleyError, type ErrorCode, forClient, meaningOf, ParleyError } from '../../errors.js';
import { stated } from '../../stated.js';
import type { SentenceSpeaker } from '../../speaking/spoken-sentences.js';
import type { Time } from '../../time.js';
import type { SocketHandler, Handshake, Peer } from '../http/socket-dialect.js';
import { type Alignment, SpeechRate } from './sound-messages.js';
import { ElevenLabsContext, IdleTimer } from './elevenlabs-context.js';
import {
  type ClientMessage,
  readClientMessage,
  readSocketSettings,
  type SocketSettings,
} from './elevenlabs-request.js';

export interface ElevenLabsParts {
  readonly speaker: SentenceSpeaker;
  readonly time: Time;
  /** Names of voices by the ids that clients send; an id that is not there is itself a name. */
  readonly voices?: ReadonlyMap<string, string>;
  /** Characters that the speaker takes as one text. */
  readonly maxTextLength: number;
  /** Called for every failure that the client did not cause, for the log. */
  readonly failed?: (error: ParleyError, requestId: string) => void;
}

/** The contexts of one socket. */
export interface SocketContexts {
  /** True if a context is there: each has its own idle timer. */
  readonly busy: boolean;
  /** True if no message is read any more. */
  readonly ended: boolean;
  /** Throws the error that refuses the socket. */
  take(message: ClientMessage): void;
  /** Stops all contexts; resolves when nothing of them runs any more. */
  stop(): Promise<unknown>;
}

interface ContextOptions {
  /** The first message, which says how the context speaks. */
  readonly first: ClientMessage;
  readonly message: (audio: string, alignment: Alignment | null) => object;
  /** Called once nothing was received or sent for too long. */
  readonly silent: () => void;
  readonly over: (error: ParleyError | undefined) => void;
  readonly after?: Promise<void> | undefined;
}

const MAX_REASON_BYTES = 123; // reason of a close frame (RFC 6455, section 5.5)

export class ElevenLabsSocket implements SocketHandler {
  readonly #parts: ElevenLabsParts;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #contexts: SocketContexts;
  readonly #idle: IdleTimer | undefined;
  #settings: SocketSettings | undefined;
  #rate: SpeechRate | undefined;
  #known = false;
  #over = false;

  /** Closes the socket where its address is wrong. */
  constructor(
    parts: ElevenLabsParts,
    peer: Peer,
    handshake: Handshake,
    contexts: (socket: ElevenLabsSocket) => SocketContexts,
  ) {
    this.#parts = parts;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#contexts = contexts(this);
    this.#attempt(() => (this.#settings = readSocketSettings(handshake.url.searchParams)));
    if (this.#over) return;
    const busy = () => this.#contexts.busy;
    this.#idle = new IdleTimer(parts.time, this.inactivityMs, busy, () => this.refuseSilence());
  }

  get inactivityMs(): number {
    return this.#settings?.inactivityMs ?? 0;
  }

  message(data: string | Uint8Array): void {
    if (this.#over) return;
    if (this.#contexts.ended) return this.#refuseLateText(data);
    this.#attempt(() => {
      const message = readClientMessage(data);
      this.#checkKey(message);
      this.touch();
      this.#contexts.take(message);
    });
  }

  async closed(): Promise<void> {
    this.close(1001, '');
    await this.#contexts.stop();
  }

  /** Something was received or sent. */
  touch(): void {
    this.#idle?.touch();
  }

  context({ first, ...options }: ContextOptions): ElevenLabsContext {
    const { format, language, seed, normalize, autoMode, markup } = this.#usable();
    const { speaker, time, maxTextLength, voices } = this.#parts;
    const id = this.#handshake.params['voice_id'] ?? '';
    const { speed, schedule } = first;
    return new ElevenLabsContext({
      id: first.contextId,
      speaker,
      time,
      inactivityMs: this.inactivityMs,
      maxTextLength,
      format,
      peer: this.#peer,
      rate: (this.#rate ??= new SpeechRate(speed)),
      schedule: { autoMode, markup, schedule },
      settings: {
        voice: voices?.get(id) ?? id,
        format: format.format,
        sampleRate: format.sampleRate,
        client: this.#handshake.client,
        ...stated({ language, speed, normalize, options: seed === undefined ? undefined : { seed } }),
      },
      ...options,
    });
  }

  /** Text after the end is not spoken, and the client learns it. What came before is spoken to its end. */
  #refuseLateText(data: string | Uint8Array): void {
    try {
      const { text = '', contextId } = readClientMessage(data);
      if (text.trim() !== '') this.send({ ...LATE, contextId });
    } catch {
      // Nothing in it could be spoken.
    }
  }

  /** An error refuses the socket. */
  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.refuse(this.refusalOf(asParleyError(error, 'WRONG_STATE')));
    }
  }

  /** Returns the error as the client gets it. Errors that the client did not cause are logged. */
  refusalOf(error: ParleyError): ErrorRefusal {
    const { requestId } = this.#handshake;
    const refusal = refusalOf(error, requestId);
    if (refusal.hidden) this.#parts.failed?.(error, requestId);
    return refusal;
  }

  send(message: object): void {
    if (!this.#over) this.#peer.send(JSON.stringify(message));
  }

  /** Tells it and closes. */
  refuse({ message, error, code }: Refusal): void {
    this.send({ message, error, code });
    this.close(code, message);
  }

  refuseSilence(): void {
    this.refuse(inactive(this.inactivityMs));
  }

  close(code: number, reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#idle?.close();
    this.#peer.close(code, closeReason(reason));
  }

  #usable(): SocketSettings {
    if (this.#settings === undefined) throw new TypeError('the socket was refused');
    return this.#settings;
  }

  /** The first message settles it, with a key or without. */
  #checkKey({ key = '' }: ClientMessage): void {
    if (this.#known) return;
    if (!this.#handshake.authorize(key)) {
      throw new ParleyError(
        'UNAUTHORIZED',
        'the first message must carry a valid key in "xi_api_key" or "authorization", or the request in a header',
      );
    }
    this.#known = true;
  }
}

/** As much of it as a close frame holds, in whole characters. */
function closeReason(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_REASON_BYTES) return text;
  return bytes.subarray(0, MAX_REASON_BYTES).toString().replace(/�+$/u, '');
}

interface Refusal {
  readonly message: string;
  readonly error: string;
  /** WebSocket close code. */
  readonly code: number;
}

interface Verdict {
  readonly error: string;
  readonly code: number;
  /** Nothing that follows on this socket could succeed. */
  readonly socket?: true;
  /** The message is for the operator and stays in the log. */
  readonly hidden?: true;
}

const POLICY = 1008;
const INTERNAL = 1011;
const TRY_LATER = 1013;

const VERDICTS: Readonly<Partial<Record<ErrorCode, Verdict>>> = {
  CAPABILITY_MISSING: { error: 'unsupported_feature', code: POLICY },
  ENGINE_BUSY: { error: 'system_busy', code: TRY_LATER },
  ENGINE_LOST: { error: 'service_unavailable', code: TRY_LATER },
  ENGINE_UNAVAILABLE: { error: 'service_unavailable', code: TRY_LATER },
  INVALID_FIELD: { error: 'invalid_request', code: POLICY, socket: true },
  LANGUAGE_UNAVAILABLE: { error: 'unsupported_language', code: POLICY },
  MALFORMED: { error: 'invalid_message', code: POLICY, socket: true },
  MODEL_UNKNOWN: { error: 'model_not_found', code: POLICY, socket: true },
  QUEUE_FULL: { error: 'system_busy', code: POLICY },
  RATE_LIMITED: { error: 'too_many_requests', code: POLICY },
  TEXT_TOO_LONG: { error: 'max_character_limit_exceeded', code: POLICY },
  TIMEOUT: { error: 'timeout', code: POLICY },
  UNAUTHORIZED: { error: 'invalid_api_key', code: POLICY, socket: true },
  VOICE_UNKNOWN: { error: 'voice_not_found', code: POLICY, socket: true },
};
const FAILED: Verdict = { error: 'internal_error', code: INTERNAL, hidden: true };

interface ErrorRefusal extends Refusal {
  /** The whole socket is refused, not only one of its contexts. */
  readonly socket: boolean;
  /** The client gets no details of the error. */
  readonly hidden: boolean;
}

function refusalOf(error: ParleyError, requestId: string): ErrorRefusal {
  const verdict = VERDICTS[error.code] ?? FAILED;
  const hidden = verdict.hidden === true;
  const message = hidden
    ? `${meaningOf(error.code)}; the log has more under request ${requestId}`
    : forClient(error).message;
  return { message, error: verdict.error, code: verdict.code, socket: verdict.socket === true, hidden };
}

const LATE: Refusal = {
  message:
    'this text came after the end of the input (an empty "text", or "close_socket") and is not spoken; ' +
    'open another socket for it, or flush with "text": " " and "flush": true instead of the end',
  error: 'input_ended',
  code: POLICY,
};

export function tooManyContexts(most: number): Refusal {
  return {
    message:
      `Maximum simultaneous contexts per WebSocket connection exceeded (${most}). ` +
      'Please close an existing context before opening a new one.',
    error: 'max_active_conversations',
    code: POLICY,
  };
}

export function inactive(ms: number): Refusal {
  return {
    message:
      `Have not received a new text input within the timeout of ${ms / 1000} seconds. Streaming input terminated. ` +
      'Please make sure to either feed the input in the timely manner, or to send the end of input text ' +
      '(empty string "") when done.',
    error: 'input_timeout_exceeded',
    code: POLICY,
  };
}
