// Calls to the server for any page. Text goes out and is heard as speech. The sound of the microphone goes
// out, too, if the page asks for it. A call survives changes of the network.
//
//   const call = await Parley.call({ microphone: true });
//   call.on('caption', ({ who, text }) => console.log(who, text));
//   call.say('Good morning.');
import { CallConnection } from './parley-call.js';
import { CallCaptions } from './parley-captions.js';
import { CallError } from './parley-http.js';
import { CallSound } from './parley-sound.js';

const HOME = new URL('.', import.meta.url).href;
// A message of this many stays below the 64 KiB that the server takes at once.
const MESSAGE_CHARACTERS = 8000;
const CANCELLED = 'The call was cancelled.';

export { CallError };

/**
 * @typedef {object} CallOptions
 * @property {string | URL} [url] The server's root; by default the folder of this module.
 * @property {string} [key] An API key or a client secret, if the server has keys.
 * @property {string} [agent] Name of the agent that talks, or `none`; by default the one of the server, if it
 *   has one.
 * @property {string} [program] Name of the program of IVR_FILE that conducts the call; not with `agent`.
 * @property {boolean | 'optional' | MediaTrackConstraints} [microphone] True: the user is asked for the
 *   microphone, and the call is not opened without it. `optional`: without it the call only receives, and
 *   `error` tells why.
 * @property {boolean | HTMLMediaElement} [sound] The element that plays the sound; false if the page plays
 *   it. By default the module plays it.
 * @property {boolean} [captions] True: the caller's speech becomes captions while it is spoken, also without
 *   an agent, and the server tells when the voice begins each word.
 * @property {CallListeners} [on] Listeners for the time before the call is open. They stay.
 * @property {AbortSignal} [signal] Ends the call, also while it is being opened.
 * @property {RTCIceServer[]} [iceServers] Instead of those that the server gives.
 * @property {number} [attempts] Attempts to recover a lost call; 8 by default.
 */

/**
 * @typedef {object} CallEvents
 * @property {import('./parley-call.js').StateChange} state
 * @property {import('./parley-captions.js').Caption} caption A text of either side.
 * @property {import('./parley-captions.js').SentenceProgress} sentence A sentence begins or is over.
 * @property {import('./parley-captions.js').WordProgress} word The voice begins a word.
 * @property {import('./parley-captions.js').SentenceWords} words The times of the words of a sentence that
 *   has begun. Only with `captions`, and if the engine of the voice knows them.
 * @property {import('./parley-captions.js').InterruptedSpeech} interrupted
 * @property {CallError} error The call goes on. `code` names the error.
 * @property {MediaStream} sound The sound to play. A call that resumes has another one.
 * @property {MediaStream | null} microphone The stream that is sent from now on; null: none.
 * @property {import('./parley-call.js').CallMessage} message Each message of the server.
 */

/** @typedef {{ [K in keyof CallEvents]?: (event: CallEvents[K]) => void }} CallListeners */

/**
 * @typedef {object} TextOptions
 * @property {boolean} [last] False: more of this text follows. Default: true.
 * @property {string} [voice]
 * @property {string} [language] BCP 47 tag.
 * @property {'none' | 'dtmf' | 'speech' | 'any'} [interruptible] The input of the caller that interrupts it.
 */

/** A call. `Parley.call` makes it. */
export class ParleyCall {
  /** @type {Map<keyof CallEvents, Set<(event: any) => void>>} */
  #listeners = new Map();
  /** @type {CallConnection} */
  #connection;
  /** @type {CallCaptions} */
  #captions;
  /** @type {CallSound | undefined} */
  #sound;
  /** The first message of the server. @type {import('./parley-call.js').CallMessage | undefined} */
  #ready;
  #ending = new AbortController();
  #wantsCaptions;

  /** @param {CallOptions} options */
  constructor({
    url = HOME,
    key = '',
    sound = true,
    on = {},
    captions = false,
    agent,
    program,
    iceServers,
    attempts,
  }) {
    const server = rootOf(url);
    this.#wantsCaptions = captions;
    for (const [name, listener] of Object.entries(on))
      if (listener !== undefined)
        this.on(/** @type {keyof CallEvents} */ (name), /** @type {(event: any) => void} */ (listener));
    const onError = (/** @type {CallError} */ error) => this.#tell('error', error);
    if (sound !== false) this.#sound = new CallSound(sound === true ? undefined : sound, onError);
    this.#captions = new CallCaptions(
      {
        caption: (caption) => this.#tell('caption', caption),
        sentence: (sentence) => this.#tell('sentence', sentence),
        word: (word) => this.#tell('word', word),
        words: (words) => this.#tell('words', words),
        interrupted: (interrupted) => this.#tell('interrupted', interrupted),
      },
      () => this.#connection.delayMs,
    );
    this.#connection = new CallConnection(
      { server, key, ...stated({ agent, program, iceServers, attempts }) },
      {
        state: (change) => this.#changed(change),
        message: (message) => this.#read(message),
        sound: (stream) => {
          this.#sound?.play(stream);
          this.#tell('sound', stream);
        },
        microphone: (stream) => this.#tell('microphone', stream),
      },
    );
  }

  /**
   * Resolves when both sides can hear each other. Rejects with CallError.
   * @param {CallOptions} [options]
   */
  static async open(options = {}) {
    const { signal, microphone = false } = options;
    if (signal?.aborted) throw new CallError(CANCELLED);
    const call = new ParleyCall(options);
    const cancel = () => call.hangUp();
    signal?.addEventListener('abort', cancel, { once: true });
    call.#ending.signal.addEventListener('abort', () => signal?.removeEventListener('abort', cancel));
    try {
      if (microphone !== false) await call.#openMicrophone(microphone);
      call.#ready = await call.#connection.open();
      if (call.#wantsCaptions) call.send({ type: 'captions' });
      return call;
    } catch (error) {
      call.hangUp();
      throw error;
    }
  }

  /** `opening`, `open`, `reconnecting` or `ended`. */
  get state() {
    return this.#connection.state;
  }

  /** The call's id on the server; undefined after its end. */
  get id() {
    return this.#connection.id;
  }

  /** Name of the agent that talks; undefined if none does. @returns {string | undefined} */
  get agent() {
    return this.#ready?.agent;
  }

  /** Name of the program that conducts the call; undefined if none does. @returns {string | undefined} */
  get program() {
    return this.#ready?.program;
  }

  /** Name of the codec. @returns {string} */
  get codec() {
    return this.#ready?.codec ?? '';
  }

  /** The longest text that the server speaks, in UTF-16 units. @returns {number} */
  get textLength() {
    return this.#ready?.limits?.textLength ?? Infinity;
  }

  /**
   * Calls the listener with each event of this name, until the returned function is called.
   * @template {keyof CallEvents} K
   * @param {K} name
   * @param {(event: CallEvents[K]) => void} listener
   * @returns {() => void}
   */
  on(name, listener) {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    // A function of its own, so that one listener may be added twice.
    const added = (/** @type {CallEvents[K]} */ event) => listener(event);
    listeners.add(added);
    return () => void listeners.delete(added);
  }

  /**
   * Speaks a text, or a part of it. False if it can neither be sent nor wait.
   * @param {string} text
   * @param {TextOptions} [options]
   */
  say(text, { last = true, ...options } = {}) {
    const tokens = text.match(new RegExp(`[^]{1,${MESSAGE_CHARACTERS}}`, 'gu')) ?? [''];
    return tokens.every((token, index) => {
      const isLast = last && index === tokens.length - 1;
      return this.send({ type: 'text', token, last: isLast, ...(index === 0 ? options : {}) });
    });
  }

  /** Interrupts the voice. */
  interrupt() {
    return this.send({ type: 'clear' });
  }

  /** Says a text to the agent or the program of the call, as if the caller had spoken it. @param {string} text */
  prompt(text) {
    return this.send({ type: 'prompt', text });
  }

  /** Presses a key: 0-9, *, #, A-D. @param {string} digit */
  press(digit) {
    return this.send({ type: 'digit', digit });
  }

  /**
   * Asks the server to report when the caller speaks and has finished, with these settings; `false` ends
   * that.
   * @param {Readonly<Record<string, unknown>> | false} [settings]
   */
  listen(settings = {}) {
    return this.send(settings === false ? { type: 'listen', on: false } : { ...settings, type: 'listen' });
  }

  /**
   * Sends a message. While the call reconnects, the message waits. False if it can neither be sent nor wait.
   * @param {import('./parley-call.js').CallMessage} message
   */
  send(message) {
    return this.#connection.send(message);
  }

  /** Stream of the microphone that is sent; undefined if there is none. */
  get microphone() {
    return this.#connection.microphone;
  }

  /**
   * Asks the user for the microphone, and sends its sound from now on. Echo cancellation, noise suppression
   * and gain control are on by default. Rejects with CallError; the call goes on without the microphone.
   * @param {MediaTrackConstraints} [constraints]
   */
  startMicrophone(constraints) {
    return this.#connection.startMicrophone(constraints);
  }

  /** Releases the microphone. The call goes on. Idempotent. */
  stopMicrophone() {
    this.#connection.stopMicrophone();
  }

  /** Measurements of the browser. */
  figures() {
    return this.#connection.figures();
  }

  /** Ends the call on both sides. Idempotent. */
  hangUp() {
    this.#connection.close();
  }

  /** @param {true | 'optional' | MediaTrackConstraints} microphone */
  async #openMicrophone(microphone) {
    try {
      await this.#connection.startMicrophone(typeof microphone === 'object' ? microphone : undefined);
    } catch (error) {
      if (microphone !== 'optional' || this.state === 'ended' || !(error instanceof CallError)) throw error;
      this.#tell('error', error);
    }
  }

  /** @param {import('./parley-call.js').StateChange} change */
  #changed(change) {
    if (change.state === 'ended') {
      this.#captions.close();
      this.#sound?.close();
      this.#ending.abort();
    }
    this.#tell('state', change);
  }

  /** @param {import('./parley-call.js').CallMessage} message */
  #read(message) {
    this.#tell('message', message);
    this.#captions.apply(message);
    const { type, error } = message;
    if (type !== 'error' && type !== 'agent.failed' && type !== 'utterance.failed') return;
    this.#tell('error', new CallError(error.message, 0, { code: error.code }));
  }

  /**
   * A listener that throws does not keep the event from the others. An error that nobody listens to is
   * reported.
   * @template {keyof CallEvents} K
   * @param {K} name
   * @param {CallEvents[K]} event
   */
  #tell(name, event) {
    const listeners = this.#listeners.get(name);
    if (name === 'error' && !listeners?.size) reportError(event);
    for (const listener of listeners ?? []) {
      try {
        listener(event);
      } catch (error) {
        reportError(error);
      }
    }
  }
}

/** @param {string | URL} url */
function rootOf(url) {
  const root = new URL(url, document.baseURI);
  if (!root.pathname.endsWith('/')) root.pathname += '/';
  return root.href;
}

/**
 * Without the members that are undefined.
 * @template {object} T
 * @param {T} members
 * @returns {{ [K in keyof T]?: Exclude<T[K], undefined> }}
 */
function stated(members) {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return /** @type {{ [K in keyof T]?: Exclude<T[K], undefined> }} */ (Object.fromEntries(entries));
}

export const Parley = Object.freeze({
  /**
   * Opens a call. Resolves when both sides can hear each other. Rejects with CallError, whose message can be
   * shown. Call it in the handler of a click: browsers hold sound back before a click.
   * @param {CallOptions} [options]
   */
  call: (options) => ParleyCall.open(options),
});
