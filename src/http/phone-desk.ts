// Telephone calls as routes and sockets share them: the door, if there is one,
// what was asked for under a key, and how messages are held against schemas.
import type { PhoneCalls, PhoneCallRequest, PhoneCallView } from '../call/phone-calls.js';
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
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
  readonly #commands: PhoneCommands | undefined;
  readonly #placed: Idempotency<PhoneCallView>;

  constructor(time: Time, door: PhoneDoor | undefined) {
    this.#door = door;
    this.#commands = door === undefined ? undefined : new PhoneCommands(door);
    this.#placed = new Idempotency(time);
  }

  /** Throws TELEPHONE_OFF. */
  get calls(): PhoneCalls {
    if (this.#door === undefined) throw telephoneOff();
    return this.#door.calls;
  }

  /** Throws TELEPHONE_OFF. */
  get commands(): PhoneCommands {
    if (this.#commands === undefined) throw telephoneOff();
    return this.#commands;
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
