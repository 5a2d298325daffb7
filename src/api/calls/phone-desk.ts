// Telephone calls as routes and sockets share them: the door, if there is one,
// what was asked for under a key, and how messages are held against schemas.
// A client reaches calls through `PhoneDesk.of`, which shows it its own only.
import type { Interruption } from '../../call/call.js';
import type {
  DigitsRequest,
  PhoneCallEvent,
  PhoneCallRequest,
  PhoneCalls,
  PhoneCallView,
  PhoneSpeech,
  TransferOutcome,
  TransferRequest,
} from '../../call/phone-calls.js';
import type { PlayedSound } from '../../speaking/line-piece.js';
import { mayUseCall } from '../../call/switchboard.js';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { Idempotency, type Outcome } from './idempotency.js';
import { type CommandName, PhoneCommands } from './phone-commands.js';
import { type PhoneDoor, phoneFailure, telephoneOff } from './phone-door.js';

/** Throws what is wrong with a body. */
export type CheckMessage = (command: CommandName, body: unknown) => void;

export interface Keyed {
  readonly client: string;
  readonly key: string;
  readonly body: object;
}

/** Of a text that is spoken once the call is answered. */
const SAY_NAMES = { text: 'say.text', voice: 'say.voice', language: 'say.language' };

export class PhoneDesk {
  /** Holds a message of a socket against the schema of its command. Set when the schemas are compiled. */
  check: CheckMessage | undefined;
  readonly #door: PhoneDoor | undefined;
  readonly #placed: Idempotency<PhoneCallView>;

  constructor(time: Time, door: PhoneDoor | undefined) {
    this.#door = door;
    this.#placed = new Idempotency(time);
  }

  /**
   * The calls that the client with the API key of this name may use; undefined: every call. Throws TELEPHONE_OFF.
   */
  of(key: string | undefined): ClientDesk {
    if (this.#door === undefined) throw telephoneOff();
    return new ClientDesk({ ...this.#door, calls: new ClientCalls(this.#door.calls, key) }, this.#placed);
  }
}

/** What one client may do with telephone calls. */
export class ClientDesk {
  readonly calls: PhoneCalls;
  readonly commands: PhoneCommands;
  readonly #placed: Idempotency<PhoneCallView>;

  constructor(door: PhoneDoor, placed: Idempotency<PhoneCallView>) {
    this.calls = door.calls;
    this.commands = new PhoneCommands(door);
    this.#placed = placed;
  }

  async place(request: PhoneCallRequest): Promise<PhoneCallView> {
    try {
      return await this.calls.place(request);
    } catch (error) {
      // It is the server that closes, and not a call: another one may take it.
      if (error instanceof ParleyError && error.code === 'CALL_CLOSED') throw error;
      throw phoneFailure(error, SAY_NAMES);
    }
  }

  /** The call that this key has placed, as it is now; placed now, if none. Rejects as `Idempotency.once` does, too. */
  async placeOnce(request: PhoneCallRequest, keyed: Keyed): Promise<Outcome<PhoneCallView>> {
    const { value, replayed } = await this.#placed.once(keyed, () => this.place(request));
    return { value: replayed ? this.#now(value) : value, replayed };
  }

  /** As it was, where it ended too long ago to be known. */
  #now(view: PhoneCallView): PhoneCallView {
    try {
      return this.calls.get(view.id);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'NOT_FOUND') return view;
      throw error;
    }
  }
}

/** The calls that one API key may use. Every other call is answered as one that does not exist. */
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

  say(id: string, speech: PhoneSpeech): { readonly utterance: number } {
    return this.#of(id).say(id, speech);
  }

  play(id: string, sound: PlayedSound): { readonly utterance: number } {
    return this.#of(id).play(id, sound);
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

  /** An attended transfer uses two calls: both must be the client's. */
  async transfer(id: string, request: TransferRequest): Promise<TransferOutcome> {
    if (request.call !== undefined && this.#key !== undefined) this.get(request.call);
    return this.#of(id).transfer(id, request);
  }

  async hangUp(id: string): Promise<PhoneCallView> {
    return this.#of(id).hangUp(id);
  }

  follow(id: string, after: number, told: (event: PhoneCallEvent) => void): () => void {
    return this.#of(id).follow(id, after, told);
  }

  /** Throws NOT_FOUND for a call that the client may not use. */
  #of(id: string): PhoneCalls {
    this.get(id);
    return this.#calls;
  }
}
