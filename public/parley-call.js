// The connection of a call: messages and the sound of the microphone go out, messages and sound come in. The
// call survives changes of the network.
//
//   new ──▶ opening ──▶ open ⇄ reconnecting
//              └─────────┴───────────┴──▶ ended
//
// When the sound stops, the call restarts ICE. If that does not help, the call resumes by its token on a new
// RTCPeerConnection. The server keeps a call without a connection for a limited time (RESUME_GRACE_S).
//
// A call without a microphone only receives. The first use of the microphone moves an open call to a
// connection that also sends; the sound goes on meanwhile. Such a call never goes back to a connection that
// only receives.
import { Connection, NO_PATH } from './parley-connection.js';
import { CallError, CallSession } from './parley-http.js';
import { closeMicrophone, openMicrophone } from './parley-microphone.js';

const OPEN_MS = 20_000; // from `open` to the open data channel
const READY_MS = 5000; // from there to the first message of the server
const WATCH_MS = 200;
// The server sends a packet every 20 ms, also while nothing is spoken. An ICE restart interrupts no sound.
const QUIET_MS = 600;
const HEAR_MS = 4000; // from an ICE restart to the sound
const LOOK_MS = 100;
const RESUME_MS = 8000; // from an answer to the open data channel
const ATTEMPTS = 8; // with the pauses between them, about as long as the server keeps a lost call
const FIRST_BACK_OFF_MS = 500; // doubled for each attempt
const LONGEST_BACK_OFF_MS = 8000;
const MOST_WAITING = 100; // messages while the call reconnects

const SERVER_ENDED = 'The server ended the call.';
const CALL_OVER = 'The connection was lost, and the call is over on the server.';
const ENDED = 'The call has ended.';
const CLOSED_EARLY = 'The call was closed while it was being connected.';
const SWITCHED_OFF = 'The microphone was switched off again.';

/** @typedef {'new' | 'opening' | 'open' | 'reconnecting' | 'ended'} CallState */
/** @typedef {{ readonly state: CallState, readonly reason: string }} StateChange */
/**
 * A message of either side.
 * @typedef {{ readonly type: string } & Readonly<Record<string, any>>} CallMessage
 */

/**
 * @typedef {object} CallEvents Functions that the call calls.
 * @property {(change: StateChange) => void} state
 * @property {(message: CallMessage) => void} message A message of the server.
 * @property {(stream: MediaStream) => void} sound The sound to play. A call that resumes has another one.
 * @property {(stream: MediaStream | null) => void} microphone The stream that is sent from now on; null:
 *   none.
 */

/**
 * @typedef {object} ConnectionOptions
 * @property {string} server URL of the server's root.
 * @property {string} key An API key or a client secret; empty if the server has no keys.
 * @property {string} [agent] Name of the agent that talks, or `none`.
 * @property {string} [program] Name of the program that conducts the call.
 * @property {RTCIceServer[]} [iceServers] Instead of those that the server gives.
 * @property {number} [attempts] Attempts to recover a lost call; 8 by default.
 */

export class CallConnection {
  /** @type {CallState} */
  #state = 'new';
  /** @type {CallSession} */
  #session;
  /** @type {CallEvents} */
  #on;
  #ending = new AbortController();
  /** @type {Connection | undefined} */
  #connection;
  /** The connection that a resumption is making. @type {Connection | undefined} */
  #next;
  /** @type {MediaStream | undefined} */
  #stream;
  /** @type {RTCIceServer[] | undefined} */
  #iceServers;
  #iceServersUntil = Infinity;
  /** @type {number} */
  #attempts;
  #packets = 0;
  #heardAt = 0;
  /** @type {number | undefined} */
  #watching;
  #networkType = network()?.type;
  /** Messages that wait for the connection. @type {CallMessage[]} */
  #waiting = [];
  /** The call moves to another connection, and the present one is heard until then. */
  #isMoving = false;
  /**
   * Stream of the microphone. Null: there was one in this call. Undefined: there never was.
   * @type {MediaStream | null | undefined}
   */
  #microphone;
  /** Number of the last request for the microphone. */
  #microphoneRequest = 0;
  /** Ends the pause between two attempts. @type {() => void} */
  #hurry = () => undefined;
  /** @type {(ready: CallMessage) => void} */
  #tellReady = () => undefined;
  /** @type {Promise<CallMessage>} */
  #ready = new Promise((resolve) => (this.#tellReady = resolve));

  /**
   * @param {ConnectionOptions} options
   * @param {CallEvents} on
   */
  constructor({ server, key, agent, program, iceServers, attempts = ATTEMPTS }, on) {
    this.#on = on;
    this.#attempts = attempts;
    this.#session = new CallSession(server, key, this.#ending.signal, {
      ...(agent === undefined ? {} : { agent }),
      ...(program === undefined ? {} : { program }),
    });
    this.#iceServers = iceServers;
  }

  /** `new`, `opening`, `open`, `reconnecting` or `ended`. */
  get state() {
    return this.#state;
  }

  /** The call's id on the server; undefined before the call is open, and after its end. */
  get id() {
    return this.#session.id;
  }

  /** Milliseconds that the sound waits in the browser before it is played. */
  get delayMs() {
    return this.#connection?.delayMs ?? 0;
  }

  /**
   * Resolves with the first message of the server when both sides can hear each other. Rejects with
   * CallError; the call has ended then.
   */
  async open() {
    if (this.#state !== 'new') throw new CallError('A call can be opened once.');
    this.#setState('opening');
    try {
      await this.#loadIceServers();
      this.#connection = await this.#connect((offer) => this.#session.open(offer), OPEN_MS);
      const ready = await this.#within(READY_MS, this.#ready);
      if (this.#isOver()) throw new CallError(CLOSED_EARLY);
      this.#watch();
      this.#opened();
      return ready;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Sends a message. While the call reconnects, the message waits. False if it can neither be sent nor wait.
   * @param {CallMessage} message
   */
  send(message) {
    if (this.#state === 'open' && !this.#isMoving) return this.#live.send(message);
    const mayWait = this.#state === 'open' || this.#state === 'reconnecting';
    if (!mayWait || this.#waiting.length >= MOST_WAITING) return false;
    this.#waiting.push(message);
    return true;
  }

  /** Stream of the microphone that is sent, or will be once the call is open; undefined if there is none. */
  get microphone() {
    return this.#microphone ?? undefined;
  }

  /**
   * Asks the user for the microphone, and sends its sound from now on or from the opening of the call.
   * `constraints` are MediaTrackConstraints: echo cancellation, noise suppression and gain control are on by
   * default. Resolves to the stream once the server can hear it. Rejects with CallError; the call goes on
   * without the microphone.
   * @param {MediaTrackConstraints} [constraints]
   */
  async startMicrophone(constraints) {
    if (this.#isOver()) throw new CallError(ENDED);
    if (this.#microphone) return this.#microphone;
    const request = ++this.#microphoneRequest;
    const stream = await openMicrophone(constraints);
    if (this.#isOver() || request !== this.#microphoneRequest) {
      closeMicrophone(stream);
      throw new CallError(this.#isOver() ? ENDED : SWITCHED_OFF);
    }
    const [track] = stream.getAudioTracks();
    track.onended = () => this.#microphone === stream && this.stopMicrophone(); // the device was removed
    this.#microphone = stream;
    try {
      if (this.#isOpen()) await this.#sendMicrophone();
    } catch (error) {
      if (this.#microphone === stream) this.stopMicrophone();
      throw error instanceof CallError ? error : new CallError(NO_PATH, 0, { cause: error });
    }
    if (this.#microphone !== stream) throw new CallError(SWITCHED_OFF);
    this.#tellMicrophone();
    return stream;
  }

  /** Releases the microphone. The call goes on. Idempotent. */
  stopMicrophone() {
    this.#microphoneRequest++;
    if (!this.#microphone) return;
    closeMicrophone(this.#microphone);
    this.#microphone = null;
    if (this.#connection?.sends) this.#connection.sendTrack(null).catch(() => undefined);
    this.#tellMicrophone();
  }

  /** See Connection.figures. */
  async figures() {
    return (await this.#connection?.figures()) ?? {};
  }

  /** Ends the call on both sides. Idempotent. */
  close() {
    this.#end('');
  }

  /** The call may change while a method waits. */
  #isOver() {
    return this.#state === 'ended';
  }

  #isOpen() {
    return this.#state === 'open';
  }

  /** The connection of a call that has been opened. */
  get #live() {
    if (this.#connection === undefined) throw new CallError('The call is not open.');
    return this.#connection;
  }

  /** @param {string} reason */
  #end(reason) {
    if (this.#state === 'ended') return;
    clearTimeout(this.#watching);
    removeEventListener('online', this.#networkChanged);
    network()?.removeEventListener('change', this.#networkTypeChanged);
    if (reason !== SERVER_ENDED && reason !== CALL_OVER) this.#session.hangUp();
    this.#ending.abort();
    this.#hurry();
    this.#connection?.close();
    this.#next?.close();
    this.#setState('ended', reason);
    this.stopMicrophone();
  }

  #tellMicrophone() {
    this.#on.microphone(this.#microphone ?? null);
  }

  /** The track to send; null or undefined as for Connection. */
  get #track() {
    return this.#microphone && this.#microphone.getAudioTracks()[0];
  }

  /** Sends the microphone on the present connection, or moves the call to one that can. */
  async #sendMicrophone() {
    const before = this.#live;
    if (before.sends) return before.sendTrack(this.#track ?? null);
    if (this.#isMoving || !this.#microphone) return;
    this.#isMoving = true;
    try {
      await this.#loadIceServers();
      this.#connection = await this.#connect((offer) => this.#session.resume(offer), RESUME_MS);
    } catch (error) {
      this.#isMoving = false;
      if (this.#isOpen()) this.#sendWaiting();
      throw error;
    }
    this.#isMoving = false;
    before.close();
    this.#opened();
  }

  /** @param {CallState} state */
  #setState(state, reason = '') {
    this.#state = state;
    this.#on.state({ state, reason });
  }

  // TURN credentials expire. If the server refuses others, for example because the key has expired, the call
  // goes on with those that it has.
  async #loadIceServers() {
    const isFirst = this.#iceServers === undefined;
    if (!isFirst && performance.now() < this.#iceServersUntil) return;
    try {
      const { iceServers, ttlSeconds } = await this.#session.iceServers();
      this.#iceServers = iceServers;
      this.#iceServersUntil = ttlSeconds > 0 ? performance.now() + ttlSeconds * 1000 : Infinity;
    } catch (error) {
      if (isFirst) throw error;
    }
  }

  /**
   * A connection whose data channel is open. `exchange` sends the offer and returns the answer.
   * @param {(offer: string) => Promise<string>} exchange
   * @param {number} limitMs
   */
  async #connect(exchange, limitMs) {
    /** @type {MediaStream | undefined} */
    let stream;
    const isCurrent = () => connection === this.#connection;
    /** @type {import('./parley-connection.js').ConnectionEvents} */
    const on = {
      message: (message) => this.#read(message),
      sound: (arrived) => (stream = arrived),
      changed: (state) => isCurrent() && this.#connectionChanged(state),
      channelClosed: () => isCurrent() && this.#channelClosed(),
    };
    const connection = new Connection(this.#iceServers ?? [], on, this.#track);
    this.#next = connection;
    try {
      await connection.accept(await exchange(await connection.offer()));
      if (this.#isOver()) throw new CallError(CLOSED_EARLY);
      await this.#within(limitMs, connection.opened);
    } catch (error) {
      connection.close();
      if (this.#state === 'ended') this.#session.hangUp(); // it may have begun after the end
      throw error instanceof CallError ? error : new CallError(NO_PATH, 0, { cause: error });
    } finally {
      this.#next = undefined;
    }
    this.#stream = stream;
    return connection;
  }

  /** @param {CallMessage} message */
  #read(message) {
    if (message.type === 'ready') this.#tellReady(message);
    this.#on.message(message);
  }

  /** The connection has become the one of the call. */
  #opened() {
    this.#packets = 0;
    this.#recovered();
    if (this.#stream !== undefined) {
      this.#on.sound(this.#stream);
    }
  }

  #recovered() {
    this.#heardAt = performance.now();
    // The microphone may have been switched on or off while there was no connection.
    if (this.#microphone !== undefined) this.#sendMicrophone().catch(() => this.stopMicrophone());
    if (this.#state !== 'open') this.#setState('open');
    if (!this.#isMoving) this.#sendWaiting();
  }

  #sendWaiting() {
    for (const message of this.#waiting.splice(0)) this.#live.send(message);
  }

  #watch() {
    addEventListener('online', this.#networkChanged);
    network()?.addEventListener('change', this.#networkTypeChanged);
    const look = async () => {
      if (await this.#isHeard()) this.#heardAt = performance.now();
      else if (performance.now() - this.#heardAt > QUIET_MS) void this.#recover('No sound arrives.');
      if (this.#state !== 'ended') this.#watching = setTimeout(look, WATCH_MS);
    };
    this.#watching = setTimeout(look, WATCH_MS);
  }

  /** True if packets of sound have arrived since the last look. */
  async #isHeard() {
    const packets = await this.#live.packets().catch(() => 0);
    const isHeard = packets > this.#packets;
    this.#packets = packets;
    return isHeard;
  }

  #networkChanged = () => {
    this.#hurry();
    void this.#recover('The network has changed.');
  };

  /** Browsers report `change` also for an estimate of the bandwidth. */
  #networkTypeChanged = () => {
    const type = network()?.type;
    if (type === this.#networkType) return;
    this.#networkType = type;
    if (type !== 'none') this.#networkChanged();
  };

  /** @param {RTCPeerConnectionState} state */
  #connectionChanged(state) {
    if (state === 'disconnected' || state === 'failed') void this.#recover('The connection is interrupted.');
  }

  /** The server closes the channel of a call that it ends, but a lost connection closes it as well. */
  #channelClosed() {
    if (this.#state !== 'open' || this.#isMoving) return;
    if (this.#live.state === 'connected') this.#end(SERVER_ENDED);
    else void this.#recover('The connection is interrupted.');
  }

  /** @param {string} reason */
  async #recover(reason) {
    if (this.#state !== 'open' || this.#isMoving) return;
    this.#setState('reconnecting', reason);
    const since = performance.now();
    let [isRestarted, trouble] = [false, new CallError(NO_PATH)];
    for (let attempt = 0; attempt < this.#attempts; attempt++) {
      await this.#pause(attempt, trouble);
      if (this.#isOver()) return;
      if (this.#heardAt > since) return this.#recovered();
      try {
        if (isRestarted) return await this.#resume();
        await this.#restartIce();
        isRestarted = true; // it is of no use to repeat it
        if (await this.#soundReturns()) return this.#recovered();
      } catch (error) {
        if (this.#isOver()) return;
        trouble = error instanceof CallError ? error : new CallError(NO_PATH, 0, { cause: error });
        if (isFinal(trouble, isRestarted)) break;
        // Refused, or not possible in the browser. Without an answer the restart is tried again.
        isRestarted ||= trouble !== error || trouble.status !== 0;
      }
    }
    this.#end(isOver(trouble) ? CALL_OVER : `The connection was lost. ${trouble.message}`);
  }

  async #restartIce() {
    await this.#loadIceServers();
    const received = await this.#live.lastTimestamp();
    await this.#live.restartIce(this.#iceServers ?? [], (fragment) =>
      this.#session.restartIce(fragment, received),
    );
  }

  async #soundReturns() {
    const until = performance.now() + HEAR_MS;
    await this.#isHeard();
    while (performance.now() < until && this.#state !== 'ended') {
      await this.#delay(LOOK_MS);
      if (await this.#isHeard()) return true;
    }
    return false;
  }

  async #resume() {
    await this.#loadIceServers();
    const before = this.#live;
    const received = await before.lastTimestamp();
    this.#connection = await this.#connect((offer) => this.#session.resume(offer, received), RESUME_MS);
    before.close();
    this.#opened();
  }

  /**
   * A server that asks for a longer pause gets it, within the limit.
   * @param {number} attempt
   * @param {CallError} trouble
   */
  #pause(attempt, { retryAfterSeconds = 0 }) {
    const backOffMs = attempt === 0 ? 0 : FIRST_BACK_OFF_MS * 2 ** (attempt - 1);
    return this.#delay(Math.min(Math.max(backOffMs, retryAfterSeconds * 1000), LONGEST_BACK_OFF_MS));
  }

  /**
   * A change of the network, and the end of the call, end the delay.
   * @param {number} ms
   * @returns {Promise<void>}
   */
  #delay(ms) {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /**
   * The value of the promise. Rejects with CallError at the limit, and at the end of the call.
   * @template T
   * @param {number} limitMs
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  async #within(limitMs, promise) {
    const { signal } = this.#ending;
    /** @type {(message: string) => void} */
    let refuse = () => undefined;
    const late = new Promise((_, reject) => (refuse = (message) => reject(new CallError(message))));
    const timer = setTimeout(() => refuse(NO_PATH), limitMs);
    const ended = () => refuse(CLOSED_EARLY);
    signal.addEventListener('abort', ended);
    try {
      return await /** @type {Promise<T>} */ (Promise.race([promise, late]));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', ended);
    }
  }
}

/** Not in every browser. */
function network() {
  const { connection } = /** @type {{ connection?: EventTarget & { readonly type: string } }} */ (navigator);
  return connection;
}

/** The server has said that there is nothing to go on with. @param {CallError} error */
function isOver({ status }) {
  return status === 404 || status === 409;
}

/**
 * No further attempt can succeed. After a refused ICE restart a resumption may.
 * @param {CallError} error
 * @param {boolean} isResumption
 */
function isFinal(error, isResumption) {
  const { status } = error;
  return isOver(error) || (isResumption && status >= 400 && status < 500 && status !== 429);
}
