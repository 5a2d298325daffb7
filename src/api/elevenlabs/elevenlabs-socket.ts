// What both of ElevenLabs' dialects have in common: who may speak, how a context
// is made, how a refusal is told.
import { stated } from '../../speaking/speech-request.js';
import type { SentenceSpeaker } from '../../speaking/spoken-sentences.js';
import type { Time } from '../../time.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { Alignment } from './chunk-alignment.js';
import type { Peer, Visit } from '../http/socket-dialect.js';
import { ElevenLabsContext } from './elevenlabs-context.js';
import { type ErrorRefusal, type Refusal, refusalOf } from './elevenlabs-errors.js';
import { type ClientMessage, readClientMessage } from './elevenlabs-message.js';
import { readSocketSettings, type SocketSettings } from './elevenlabs-query.js';
import { SpeechRate } from './sound-messages.js';

export interface ElevenLabsParts {
  readonly speaker: SentenceSpeaker;
  readonly time: Time;
  /** Names of voices by the ids that clients send; an id that is not there is itself a name. */
  readonly voices?: ReadonlyMap<string, string>;
  /** Characters that the speaker takes as one text. */
  readonly maxTextLength: number;
  /** Told of every failure that is not the peer's: for the log. */
  readonly failed?: (error: ParleyError, requestId: string) => void;
}

export interface ContextWish {
  /** The first message, which says how the context speaks. */
  readonly first: ClientMessage;
  readonly message: (audio: string, alignment: Alignment | null) => object;
  readonly sent: () => void;
  readonly over: (error: ParleyError | undefined) => void;
  readonly after?: Promise<void>;
}

const MAX_REASON_BYTES = 123; // of a close frame (RFC 6455, section 5.5)

export class ElevenLabsSocket {
  readonly parts: ElevenLabsParts;
  readonly #peer: Peer;
  readonly #visit: Visit;
  #settings: SocketSettings | undefined;
  #rate: SpeechRate | undefined;
  #known = false;
  #over = false;

  /** Closes the socket where its address is wrong. */
  constructor(parts: ElevenLabsParts, peer: Peer, visit: Visit) {
    this.parts = parts;
    this.#peer = peer;
    this.#visit = visit;
    this.attempt(() => (this.#settings = readSocketSettings(visit.url.searchParams)));
  }

  /** Nothing more is said or heard. */
  get over(): boolean {
    return this.#over;
  }

  get inactivityMs(): number {
    return this.#settings?.inactivityMs ?? 0;
  }

  /** The message, or undefined where it was refused. */
  read(data: string | Uint8Array): ClientMessage | undefined {
    if (this.#over) return undefined;
    return this.attempt(() => {
      const message = readClientMessage(data);
      this.#checkKey(message);
      return message;
    });
  }

  context({ first, ...wish }: ContextWish): ElevenLabsContext {
    const { format, language, seed, normalize, autoMode, markup } = this.#usable();
    const { speaker, maxTextLength, voices } = this.parts;
    const id = this.#visit.params['voice_id'] ?? '';
    const { speed, schedule } = first;
    return new ElevenLabsContext({
      speaker,
      maxTextLength,
      format,
      peer: this.#peer,
      rate: (this.#rate ??= new SpeechRate(speed)),
      schedule: { autoMode, markup, ...stated({ schedule }) },
      settings: {
        voice: voices?.get(id) ?? id,
        format: format.format,
        sampleRate: format.sampleRate,
        client: this.#visit.client,
        ...stated({ language, speed, normalize, options: seed === undefined ? undefined : { seed } }),
      },
      ...wish,
    });
  }

  /** What an action gives; undefined where it threw, which is told to the peer and ends the socket. */
  attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.refuse(this.refusalOf(asParleyError(error, 'WRONG_STATE')));
      return undefined;
    }
  }

  /** How an error is told, which is noted where it is not the peer's. */
  refusalOf(error: ParleyError): ErrorRefusal {
    const { requestId } = this.#visit;
    const refusal = refusalOf(error, requestId);
    if (refusal.hidden) this.parts.failed?.(error, requestId);
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

  close(code: number, reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#peer.close(code, closeReason(reason));
  }

  #usable(): SocketSettings {
    if (this.#settings === undefined) throw new TypeError('the socket was refused');
    return this.#settings;
  }

  /** The first message settles it, with a key or without. */
  #checkKey({ key = '' }: ClientMessage): void {
    if (this.#known) return;
    if (!this.#visit.authorize(key)) {
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
