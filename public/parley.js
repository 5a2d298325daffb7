// A call to the server for any page: text goes out, sound comes in, and the sound of the microphone goes out if the
// page asks for it. The call survives changes of the network.
//
//   new ──▶ opening ──▶ open ⇄ reconnecting
//              └─────────┴───────────┴──▶ ended
//
// When the sound stops, the call restarts ICE. If that does not help, the call resumes by its token on a new
// RTCPeerConnection. The server keeps a call without a connection for a limited time (RESUME_GRACE_S).
//
// A call without a microphone only receives. The first use of the microphone moves an open call to a connection that
// also sends; the sound goes on meanwhile. Such a call never goes back to a connection that only receives.
import { Connection, NO_PATH } from './parley-connection.js';
import { CallError, CallSession } from './parley-http.js';
import { closeMicrophone, openMicrophone } from './parley-microphone.js';

const OPEN_MS = 20_000; // from `open` to the open data channel
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

const HOME = new URL('.', import.meta.url).href;
const SERVER_ENDED = 'The server ended the call.';
const CALL_OVER = 'The connection was lost, and the call is over on the server.';
const ENDED = 'The call has ended.';
const SWITCHED_OFF = 'The microphone was switched off again.';

export { CallError };

/**
 * Events: `state` with {state, reason}, `message` with a message of the server, `sound` with a MediaStream, `microphone`
 * with the MediaStream that is sent now, or null.
 */
export class ParleyCall extends EventTarget {
  #state = 'new';
  #session;
  #ending = new AbortController();
  #connection;
  /** The connection that a resumption is making. */
  #next;
  #stream;
  #iceServers;
  #iceServersUntil = Infinity;
  #attempts;
  #packets = 0;
  #heardAt = 0;
  #watching;
  #networkType = navigator.connection?.type;
  /** Messages that wait for the connection. */
  #waiting = [];
  /** The call moves to another connection, and the present one is heard until then. */
  #isMoving = false;
  /** Stream of the microphone. Null: there was one in this call. Undefined: there never was. */
  #microphone;
  /** Number of the last request for the microphone. */
  #microphoneRequest = 0;
  /** Ends the pause between two attempts. */
  #hurry = () => undefined;

  /**
   * `key`: an API key or a client secret, if the server has keys. `server`: URL of the folder that has this module;
   * by default the one from which it was loaded. `iceServers`: instead of those that the server gives. `attempts`:
   * how often the call tries to recover before it ends; 8 by default. `agent`: name of the agent that talks, or
   * `none`; by default the one of the server, if it has one.
   */
  constructor({ key = '', server = HOME, iceServers, attempts = ATTEMPTS, agent } = {}) {
    super();
    this.#attempts = attempts;
    this.#session = new CallSession(server, key, this.#ending.signal, agent);
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

  /** Resolves when both sides can hear each other. Rejects with CallError; the call has ended then. */
  async open() {
    if (this.#state !== 'new') throw new CallError('A call can be opened once.');
    this.#setState('opening');
    try {
      await this.#loadIceServers();
      this.#connection = await this.#connect((offer) => this.#session.open(offer), OPEN_MS);
    } catch (error) {
      this.close();
      throw error;
    }
    this.#watch();
    this.#opened();
  }

  /** Speaks a text, or a part of it: `last` is false if more of this text follows. See `send`. */
  say(token, { last = true, ...options } = {}) {
    return this.send({ type: 'text', token, last, ...options });
  }

  /**
   * Asks the server to report when the caller speaks and has finished, with these settings; `false` ends that. The
   * microphone must be on. See `send`.
   */
  listen(settings = {}) {
    return this.send(settings === false ? { type: 'listen', on: false } : { type: 'listen', ...settings });
  }

  /** Says a text to the agent of the call, as if the caller had spoken it. See `send`. */
  prompt(text) {
    return this.send({ type: 'prompt', text });
  }

  /** Presses a key: 0-9, *, #, A-D. See `send`. */
  press(digit) {
    return this.send({ type: 'digit', digit });
  }

  /** Interrupts the speech. See `send`. */
  clear() {
    return this.send({ type: 'clear' });
  }

  /** Sends a message. While the call reconnects, the message waits. False if it can neither be sent nor wait. */
  send(message) {
    if (this.#state === 'open' && !this.#isMoving) return this.#connection.send(message);
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
   * Asks the user for the microphone, and sends its sound from now on or from the opening of the call. `constraints`
   * are MediaTrackConstraints: echo cancellation, noise suppression and gain control are on by default. Resolves to
   * the stream once the server can hear it. Rejects with CallError; the call goes on without the microphone.
   */
  async startMicrophone(constraints) {
    if (this.#state === 'ended') throw new CallError(ENDED);
    if (this.#microphone) return this.#microphone;
    const request = ++this.#microphoneRequest;
    const stream = await openMicrophone(constraints);
    if (this.#state === 'ended' || request !== this.#microphoneRequest) {
      closeMicrophone(stream);
      throw new CallError(this.#state === 'ended' ? ENDED : SWITCHED_OFF);
    }
    const [track] = stream.getAudioTracks();
    track.onended = () => this.#microphone === stream && this.stopMicrophone(); // the device was removed
    this.#microphone = stream;
    try {
      if (this.#state === 'open') await this.#sendMicrophone();
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

  #end(reason) {
    if (this.#state === 'ended') return;
    clearTimeout(this.#watching);
    removeEventListener('online', this.#networkChanged);
    navigator.connection?.removeEventListener('change', this.#networkTypeChanged);
    if (reason !== SERVER_ENDED && reason !== CALL_OVER) this.#session.hangUp();
    this.#ending.abort();
    this.#hurry();
    this.#connection?.close();
    this.#next?.close();
    this.#setState('ended', reason);
    this.stopMicrophone();
  }

  #tellMicrophone() {
    this.dispatchEvent(new CustomEvent('microphone', { detail: this.#microphone ?? null }));
  }

  /** The track to send; null or undefined as for Connection. */
  get #track() {
    return this.#microphone?.getAudioTracks()[0] ?? this.#microphone;
  }

  /** Sends the microphone on the present connection, or moves the call to one that can. */
  async #sendMicrophone() {
    if (this.#connection.sends) return this.#connection.sendTrack(this.#track);
    if (this.#isMoving || !this.#microphone) return;
    this.#isMoving = true;
    const before = this.#connection;
    try {
      await this.#loadIceServers();
      this.#connection = await this.#connect((offer) => this.#session.resume(offer), RESUME_MS);
    } catch (error) {
      this.#isMoving = false;
      if (this.#state === 'open') this.#sendWaiting();
      throw error;
    }
    this.#isMoving = false;
    before.close();
    this.#opened();
  }

  #setState(state, reason = '') {
    this.#state = state;
    this.dispatchEvent(new CustomEvent('state', { detail: { state, reason } }));
  }

  // TURN credentials expire. If the server refuses others, for example because the key has expired, the call goes
  // on with those that it has.
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

  /** A connection whose data channel is open. `exchange` sends the offer and returns the answer. */
  async #connect(exchange, limitMs) {
    let stream;
    const isCurrent = () => connection === this.#connection;
    const on = {
      message: (message) => this.dispatchEvent(new CustomEvent('message', { detail: message })),
      sound: (arrived) => (stream = arrived),
      changed: (state) => isCurrent() && this.#connectionChanged(state),
      channelClosed: () => isCurrent() && this.#channelClosed(),
    };
    const connection = new Connection(this.#iceServers, on, this.#track);
    this.#next = connection;
    try {
      await connection.accept(await exchange(await connection.offer()));
      if (this.#state === 'ended') throw new CallError('The call was closed while it was being connected.');
      await within(limitMs, connection.opened);
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

  /** The connection has become the one of the call. */
  #opened() {
    this.#packets = 0;
    this.#recovered();
    if (this.#stream !== undefined) {
      this.dispatchEvent(new CustomEvent('sound', { detail: this.#stream }));
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
    for (const message of this.#waiting.splice(0)) this.#connection.send(message);
  }

  #watch() {
    addEventListener('online', this.#networkChanged);
    navigator.connection?.addEventListener('change', this.#networkTypeChanged);
    const look = async () => {
      if (await this.#isHeard()) this.#heardAt = performance.now();
      else if (performance.now() - this.#heardAt > QUIET_MS) void this.#recover('No sound arrives.');
      if (this.#state !== 'ended') this.#watching = setTimeout(look, WATCH_MS);
    };
    this.#watching = setTimeout(look, WATCH_MS);
  }

  /** True if packets of sound have arrived since the last look. */
  async #isHeard() {
    const packets = await this.#connection.packets().catch(() => 0);
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
    const { type } = navigator.connection;
    if (type === this.#networkType) return;
    this.#networkType = type;
    if (type !== 'none') this.#networkChanged();
  };

  #connectionChanged(state) {
    if (state === 'disconnected' || state === 'failed') void this.#recover('The connection is interrupted.');
  }

  /** The server closes the channel of a call that it ends, but a lost connection closes it as well. */
  #channelClosed() {
    if (this.#state !== 'open' || this.#isMoving) return;
    if (this.#connection.state === 'connected') this.#end(SERVER_ENDED);
    else void this.#recover('The connection is interrupted.');
  }

  async #recover(reason) {
    if (this.#state !== 'open' || this.#isMoving) return;
    this.#setState('reconnecting', reason);
    const since = performance.now();
    let [isRestarted, trouble] = [false, new CallError(NO_PATH)];
    for (let attempt = 0; attempt < this.#attempts; attempt++) {
      await this.#pause(attempt, trouble);
      if (this.#state === 'ended') return;
      if (this.#heardAt > since) return this.#recovered();
      try {
        if (isRestarted) return await this.#resume();
        await this.#restartIce();
        isRestarted = true; // it is of no use to repeat it
        if (await this.#soundReturns()) return this.#recovered();
      } catch (error) {
        if (this.#state === 'ended') return;
        trouble = error;
        if (isFinal(error, isRestarted)) break;
        isRestarted ||= error.status !== 0; // refused; without an answer the restart is tried again
      }
    }
    this.#end(isOver(trouble) ? CALL_OVER : `The connection was lost. ${trouble.message}`);
  }

  async #restartIce() {
    await this.#loadIceServers();
    const received = await this.#connection.lastTimestamp();
    await this.#connection.restartIce(this.#iceServers, (fragment) =>
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
    const before = this.#connection;
    const received = await before.lastTimestamp();
    this.#connection = await this.#connect((offer) => this.#session.resume(offer, received), RESUME_MS);
    before.close();
    this.#opened();
  }

  /** A server that asks for a longer pause gets it, within the limit. */
  #pause(attempt, { retryAfterSeconds = 0 }) {
    const backOffMs = attempt === 0 ? 0 : FIRST_BACK_OFF_MS * 2 ** (attempt - 1);
    return this.#delay(Math.min(Math.max(backOffMs, retryAfterSeconds * 1000), LONGEST_BACK_OFF_MS));
  }

  /** A change of the network, and the end of the call, end the delay. */
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
}

/** The server has said that there is nothing to go on with. */
function isOver({ status }) {
  return status === 404 || status === 409;
}

/** No further attempt can succeed. After a refused ICE restart a resumption may. */
function isFinal(error, isResumption) {
  const { status } = error;
  return isOver(error) || (isResumption && status >= 400 && status < 500 && status !== 429);
}

async function within(limitMs, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new CallError(NO_PATH)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
