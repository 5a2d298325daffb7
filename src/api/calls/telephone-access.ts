// Gives each client access to its own telephone calls: commands, idempotent placing, and errors that name the
// fields of requests. Routes and sockets share it. `TelephoneAccess.forClient` hides the calls of other API
// keys.
import { telephoneOff } from '../../call/listed-calls.js';
import type { Interruption } from '../../call/utterance-queue.js';
import type {
  CallText,
  DigitsRequest,
  PhoneCallEvent,
  PhoneCallRequest,
  PhoneCalls,
  PhoneCallView,
  TransferOutcome,
  TransferRequest,
} from '../../call/phone-calls.js';
import type { HearingSettings } from '../../config/hearing-config.js';
import type { Interruptible } from '../../call/utterance.js';
import { mayUseCall } from '../../call/switchboard.js';
import { ParleyError } from '../../errors.js';
import type { PlayedSound } from '../../speaking/speech-piece.js';
import type { Time } from '../../time.js';
import { type FieldNames, renamed } from '../speech/speech-request.js';
import { callJson } from './call-json.js';
import { Idempotency, type KeyedRequest, type Outcome } from './idempotency.js';
import {
  type DtmfBody,
  type ListenBody,
  type PlayBody,
  type PlayRequest,
  readDigits,
  readListen,
  readPlayMessage,
  readSpeech,
  readTransfer,
  type SpeechFields,
} from './telephone-requests.js';
import { stated } from '../../stated.js';

/** Decodes audio files into samples. */
export interface SoundReader {
  /**
   * The source is a file, or a data: or http(s) URL of one. Rejects with INVALID_FIELD, AUDIO_INVALID,
   * TOO_LARGE, QUEUE_FULL or ABORTED, naming the field.
   */
  read(source: string | Uint8Array, field: string, signal: AbortSignal): Promise<PlayedSound>;
  /** A file of SOUNDS_DIR. Rejects likewise, but not with ABORTED. */
  named(name: string, field: string): Promise<PlayedSound>;
}

/** The parts of the telephone that HTTP needs. */
export interface TelephoneParts {
  readonly calls: PhoneCalls;
  readonly sounds: SoundReader;
}

export const COMMANDS = [
  'say',
  'play',
  'listen',
  'interrupt',
  'dtmf',
  'transfer',
  'hold',
  'resume',
  'hangup',
] as const;
export type CommandName = (typeof COMMANDS)[number];

/** Validates the body of a socket message; throws MALFORMED or INVALID_FIELD. */
type CheckMessage = (command: CommandName, body: unknown) => void;

/** Names in requests of the fields of a text that is spoken when the call is answered. */
const SAY_NAMES = { text: 'say.text', voice: 'say.voice', language: 'say.language' };

export class TelephoneAccess {
  /** Validates socket messages. Undefined until the schemas are compiled. */
  checkMessage: CheckMessage | undefined;
  readonly #parts: TelephoneParts | undefined;
  readonly #placed: Idempotency<PhoneCallView>;

  constructor(time: Time, parts: TelephoneParts | undefined) {
    this.#parts = parts;
    this.#placed = new Idempotency(time);
  }

  /** Throws TELEPHONE_OFF if no call can be placed. */
  checkPlacing(): void {
    if (this.#parts === undefined || this.#parts.calls.canPlace === false) throw telephoneOff();
  }

  /** Undefined: the server has no calls. */
  get sounds(): SoundReader | undefined {
    return this.#parts?.sounds;
  }

  /** The telephone for the API key of this name; undefined allows every call. Throws TELEPHONE_OFF. */
  forClient(key: string | undefined): ClientTelephone {
    if (this.#parts === undefined) throw telephoneOff();
    return new ClientTelephone(
      { ...this.#parts, calls: new ClientCalls(this.#parts.calls, key) },
      this.#placed,
    );
  }
}

/** The telephone as one client may use it. */
export class ClientTelephone {
  readonly calls: PhoneCalls;
  readonly #parts: TelephoneParts;
  readonly #placed: Idempotency<PhoneCallView>;

  constructor(parts: TelephoneParts, placed: Idempotency<PhoneCallView>) {
    this.calls = parts.calls;
    this.#parts = parts;
    this.#placed = placed;
  }

  async place(request: PhoneCallRequest): Promise<PhoneCallView> {
    try {
      return await this.calls.place(request);
    } catch (error) {
      // Here CALL_CLOSED means that the server is closing, so the client may retry elsewhere.
      if (error instanceof ParleyError && error.code === 'CALL_CLOSED') throw error;
      throw callFailure(error, SAY_NAMES);
    }
  }

  /**
   * Returns the call that this idempotency key has placed, or places it. Also rejects as `Idempotency.once`
   * does.
   */
  async placeOnce(request: PhoneCallRequest, keyed: KeyedRequest): Promise<Outcome<PhoneCallView>> {
    const { value, replayed } = await this.#placed.once(keyed, () => this.place(request));
    return { value: replayed ? this.#now(value) : value, replayed };
  }

  /** Runs a command; errors name the fields of requests. `signal` cancels a command that has not begun. */
  async run(name: CommandName, id: string, body: unknown, signal: AbortSignal): Promise<object> {
    try {
      return await this.#run(name, id, body, signal);
    } catch (error) {
      throw callFailure(error);
    }
  }

  /** Plays a sound in the call, like `run`. */
  async play(
    id: string,
    { source, name, field, times, interruptible }: PlayRequest,
    signal: AbortSignal,
  ): Promise<object> {
    const { calls, sounds } = this.#parts;
    try {
      calls.get(id); // throws NOT_FOUND before anything is decoded
      const named = name === undefined ? undefined : await sounds.named(name, field);
      const sound = named ?? (await sounds.read(source, field, signal));
      const played: PlayedSound = { ...sound, ...stated({ times }) };
      return utteranceJson(id, calls.play(id, played, interruptible).utterance);
    } catch (error) {
      throw callFailure(error);
    }
  }

  async #run(name: CommandName, id: string, body: unknown, signal: AbortSignal): Promise<object> {
    const { calls } = this.#parts;
    switch (name) {
      case 'say':
        return utteranceJson(id, calls.say(id, readSpeech(body as SpeechFields)).utterance);
      case 'play':
        return this.play(id, readPlayMessage(body as PlayBody), signal);
      case 'listen': {
        const settings = readListen(body as ListenBody);
        calls.listen(id, settings);
        return { object: 'call.listening', call: id, on: settings !== undefined };
      }
      case 'interrupt':
        return this.#interrupt(id);
      case 'dtmf': {
        const request = readDigits(body as DtmfBody);
        await calls.press(id, request);
        return { object: 'call.dtmf', call: id, digits: request.digits };
      }
      case 'transfer': {
        const { accepted, status } = await calls.transfer(id, readTransfer(body as object));
        return { object: 'call.transfer', call: id, accepted, status };
      }
      case 'hold':
      case 'resume':
        return callJson(await calls.hold(id, name === 'hold'));
      case 'hangup':
        return callJson(await calls.hangUp(id));
    }
  }

  #interrupt(id: string): object {
    const interruption = this.#parts.calls.interrupt(id);
    return {
      object: 'call.interruption',
      call: id,
      text: interruption.text,
      utterances: interruption.utterances.map(({ utterance, text, sentMs }) => ({
        utterance,
        text,
        sent_ms: sentMs,
      })),
    };
  }

  /** The current view of the call, or the old view if the call ended too long ago to be known. */
  #now(view: PhoneCallView): PhoneCallView {
    try {
      return this.calls.get(view.id);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'NOT_FOUND') return view;
      throw error;
    }
  }
}

/** The calls that one API key may use. Any other call is treated as not existing. */
class ClientCalls implements PhoneCalls {
  readonly #calls: PhoneCalls;
  readonly #key: string | undefined;

  constructor(calls: PhoneCalls, key: string | undefined) {
    this.#calls = calls;
    this.#key = key;
  }

  place(request: PhoneCallRequest): Promise<PhoneCallView> {
    return this.#calls.place(this.#key === undefined ? request : { ...request, owner: this.#key });
  }

  list(): readonly PhoneCallView[] {
    return this.#calls.list().filter(({ owner }) => mayUseCall(this.#key, owner));
  }

  get(id: string): PhoneCallView {
    const view = this.#calls.get(id);
    if (mayUseCall(this.#key, view.owner)) return view;
    throw new ParleyError('NOT_FOUND', 'there is no call of this id');
  }

  say(id: string, speech: CallText): { readonly utterance: number } {
    return this.#of(id).say(id, speech);
  }

  play(id: string, sound: PlayedSound, interruptible?: Interruptible): { readonly utterance: number } {
    return this.#of(id).play(id, sound, interruptible);
  }

  listen(id: string, settings: Partial<HearingSettings> | undefined): void {
    this.#of(id).listen(id, settings);
  }

  interrupt(id: string): Interruption {
    return this.#of(id).interrupt(id);
  }

  async press(id: string, request: DigitsRequest): Promise<void> {
    await this.#of(id).press(id, request);
  }

  async hold(id: string, held: boolean): Promise<PhoneCallView> {
    return this.#of(id).hold(id, held);
  }

  /** An attended transfer uses two calls; the client must be allowed to use both. */
  async transfer(id: string, request: TransferRequest): Promise<TransferOutcome> {
    if (request.call !== undefined && this.#key !== undefined) this.get(request.call);
    return this.#of(id).transfer(id, request);
  }

  async hangUp(id: string): Promise<PhoneCallView> {
    return this.#of(id).hangUp(id);
  }

  follow(id: string, after: number, onEvent: (event: PhoneCallEvent) => void): () => void {
    return this.#of(id).follow(id, after, onEvent);
  }

  /** Throws NOT_FOUND for a call that the client may not use. */
  #of(id: string): PhoneCalls {
    this.get(id);
    return this.#calls;
  }
}

function utteranceJson(call: string, utterance: number): object {
  return { object: 'call.utterance', call, utterance };
}

/** Names of fields in requests, by their names in `PhoneCalls`. */
const NAMES: FieldNames = {
  displayName: 'display_name',
  ringTimeoutMs: 'ring_timeout',
  durationMs: 'duration_ms',
  pauseMs: 'pause_ms',
};

/**
 * Translates an error of a call for the client. A command that the state of the call forbids is the client's
 * mistake (409) and not worth a retry.
 */
function callFailure(error: unknown, names: FieldNames = {}): unknown {
  if (error instanceof ParleyError && (error.code === 'WRONG_STATE' || error.code === 'CALL_CLOSED')) {
    return new ParleyError('CALL_STATE', error.message, { cause: error });
  }
  return renamed(error, { ...NAMES, ...names });
}
