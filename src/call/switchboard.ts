// Opens calls, keeps the open ones by id, limits their number, and closes them when the server ends.
import { attempt, ParleyError } from '../errors.js';
import { ClientCalls, type ClientLimits } from './client-limits.js';
import type { CallRecording, Recorder } from '../recording/call-recording.js';
import { Call, type CallParts, type SpeakOptions } from './call.js';
import type { MediaPort } from './call-route.js';
import { isMarkup, TextTurns } from '../speaking/text-source.js';
import type { Time } from '../time.js';
import { checkText } from '../speaking/whole-text.js';
import { ownerTag } from '../recording/recording-name.js';

/** The name of the API key that may use every call. */
const ADMIN_KEY = 'admin';

/**
 * True if the client with the API key of this name may use a call of `owner`. A call without an owner belongs
 * to every key. On a server without keys `key` is undefined, and every client may use every call.
 */
export function mayUseCall(key: string | undefined, owner: string | undefined): boolean {
  return key === undefined || owner === undefined || key === owner || key === ADMIN_KEY;
}

/** `mayUseCall` for a recording, by the tag of its owner. */
export function mayUseRecording(key: string | undefined, owner: string | undefined): boolean {
  const isOwner = key !== undefined && owner === ownerTag(key);
  return mayUseCall(key, isOwner ? key : owner);
}

interface SwitchboardOptions {
  readonly maxCalls: number;
  /** Unguessable. */
  readonly newId: (protocol: string) => string;
  /** No limits if absent. */
  readonly clientLimits?: ClientLimits;
}

interface CallOrigin {
  /** `webrtc`, `sip`, `websocket`, `audiosocket` or `room`. */
  readonly protocol: string;
  /** Of `newId`; absent: a new one. */
  readonly id?: string | undefined;
  /** The names under which the call is counted for its client; absent: for no client. */
  readonly clients?: readonly string[] | undefined;
  /** The server itself places the call: it may ring for long, and does not count as half-open. */
  readonly dialled?: boolean;
  /**
   * Resolves when the peer has shown that it is there: until then the call is half-open. Absent: with its
   * port.
   */
  readonly confirmed?: Promise<void>;
}

/** A place among the calls of the server, before there is a call. */
export interface CallPlace {
  readonly id: string;
  /**
   * Opens the call on its port, which the call closes. It is half-open until `confirmed` resolves; absent:
   * set up at once.
   */
  open(port: MediaPort, confirmed?: Promise<void>): Call;
  /** The peer is there although no call was opened: the place is no longer half-open. */
  confirmed(): void;
  /** Gives the place back, unless the call was opened. Idempotent. */
  release(): void;
}

export class Switchboard implements Recorder {
  readonly #parts: CallParts;
  readonly #options: SwitchboardOptions;
  readonly #calls = new Map<string, Call>();
  /** Settled when the place has a call or was released. */
  readonly #reserved = new Set<Promise<void>>();
  readonly #clients: ClientCalls;
  readonly #awaited = new Map<string, (call: Call) => void>();
  #draining = false;
  #closing: Promise<void> | undefined;

  constructor(parts: CallParts, options: SwitchboardOptions) {
    this.#parts = { turns: new TextTurns(), ...parts };
    this.#options = options;
    const unlimited = { maxCallsPerClient: Infinity, maxHalfOpenPerClient: Infinity };
    this.#clients = new ClientCalls(options.clientLimits ?? unlimited);
  }

  get size(): number {
    return this.#calls.size + this.#reserved.size;
  }

  /** True if new calls are refused, because the server is about to end. */
  get draining(): boolean {
    return this.#draining || this.#closing !== undefined;
  }

  get(id: string): Call | undefined {
    return this.#calls.get(id);
  }

  /**
   * Calls `action` once the call of this id can speak or be heard, even before it is answered. The returned
   * function forgets it. One action for each id.
   */
  onceOpen(id: string, action: (call: Call) => void): () => void {
    const call = this.#calls.get(id);
    if (call === undefined) this.#awaited.set(id, action);
    else action(call);
    return () => void this.#awaited.delete(id);
  }

  /** An id for a call that is not reserved yet. */
  newId(protocol: string): string {
    return this.#options.newId(protocol);
  }

  /** See Recorder. Throws RECORDING_OFF if this server records no calls. */
  recordingOf(id: string, key: string | undefined): CallRecording | undefined {
    const owner = this.#parts.recordings?.ownerOf(id);
    return mayUseCall(key, owner) ? this.#calls.get(id)?.recording : undefined;
  }

  /** Throws what `Call.speak` would throw at once for this text, before there is a call. */
  check(text: string, options: SpeakOptions = {}): void {
    checkText(text, { ...options, markup: isMarkup(text, options.format) }, this.#parts);
  }

  /**
   * Reserves a place for a call whose port is still being made. Throws CALL_CLOSED, CALL_LIMIT or
   * CLIENT_LIMIT. The owner opens the call on its port or releases the place.
   */
  reserve({ protocol, id: given, clients = [], dialled = false }: CallOrigin): CallPlace {
    const { maxCalls } = this.#options;
    if (this.draining) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    if (this.size >= maxCalls) {
      throw new ParleyError('CALL_LIMIT', `${maxCalls} calls are open, which is what MAX_CALLS allows`, {
        retryAfterSeconds: 5,
      });
    }
    const counted = this.#clients.take(clients, !dialled);
    const id = given ?? this.newId(protocol);
    let [reserved, settle] = [true, () => {}];
    const settled = new Promise<void>((resolve) => (settle = resolve));
    this.#reserved.add(settled);
    const vacate = () => {
      reserved = false;
      this.#reserved.delete(settled);
      settle();
    };
    const release = () => {
      if (!reserved) return;
      vacate();
      counted.release();
    };
    const open = (port: MediaPort, confirmed?: Promise<void>) => {
      if (!reserved) throw new ParleyError('WRONG_STATE', `the place of call ${id} was given back`);
      const call = new Call(id, protocol, port, this.#parts);
      if (confirmed === undefined) counted.opened();
      else void confirmed.then(() => counted.opened());
      void call.closed.then(() => counted.release());
      this.#connect(call);
      vacate();
      return call;
    };
    return { id, open, confirmed: () => counted.opened(), release };
  }

  /**
   * A new call on the port that `makePort` makes. Rejects as `reserve` throws before anything is made, or
   * with the error that `makePort` rejects with.
   */
  async open(makePort: (callId: string) => Promise<MediaPort>, origin: CallOrigin): Promise<Call> {
    const place = this.reserve(origin);
    try {
      return place.open(await makePort(place.id), origin.confirmed);
    } finally {
      place.release();
    }
  }

  #connect(call: Call): void {
    this.#calls.set(call.id, call);
    const awaited = this.#awaited.get(call.id);
    if (this.#awaited.delete(call.id)) attempt({ work: 'call', call: call.id }, () => awaited?.(call));
    this.#parts.metrics.callOpened(call.protocol);
    void call.closed.then(() => this.#calls.delete(call.id));
    // The server began to close while the port was being made.
    if (this.#closing !== undefined) void call.close('server closing');
  }

  /** Refuses new calls. Resolves when the open ones have ended, or after `limitMs` milliseconds. */
  async drain(limitMs: number, time: Time): Promise<void> {
    this.#draining = true;
    if (this.size === 0) return;
    let cancelTimer: () => void = () => undefined;
    const limit = new Promise<void>((resolve) => (cancelTimer = time.after(limitMs, resolve)));
    await Promise.race([this.#empty(), limit]);
    cancelTimer();
  }

  async #empty(): Promise<void> {
    while (this.size > 0) {
      await Promise.all(this.#reserved);
      await Promise.all([...this.#calls.values()].map(({ closed }) => closed));
    }
  }

  /** Ends every call and refuses new ones. Resolves when all are freed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#calls.values()].map((call) => call.close('server closing')));
    await Promise.all(this.#reserved);
    await Promise.allSettled([...this.#calls.values()].map((call) => call.close('server closing')));
  }
}
