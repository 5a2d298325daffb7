// Live captions of the microphone: its sound goes to the server over a WebSocket, and the texts come back.
import { followEnd } from './follow-end.js';
import { CallError } from './parley-http.js';
import { closeMicrophone, openMicrophone } from './parley-microphone.js';

const PATH = 'v1/audio/transcriptions/stream';
const KEY_PROTOCOL = 'openai-insecure-api-key.'; // browsers can set no header of a WebSocket
const LOST = 'The connection to the server was lost.';
const REFUSED =
  'The server does not take the sound. Perhaps it recognises no speech (see the guide), or it wants an API key.';
/** Characters of a subprotocol (RFC 6455 section 4.1, RFC 9110 section 5.6.2). */
const SENDABLE = /^[\w!#$%&'*+.^`|~-]*$/;
const UNSENDABLE =
  "A browser cannot send this key over a WebSocket: it may have letters, digits and !#$%&'*+-.^_`|~ only.";
const MOST_LINES = 200;

export class LiveCaptions {
  #list;
  #empty;
  #announce;
  #onEnd;
  #lines = new Map();
  #socket;
  #stream;
  #context;
  #isReady = false;
  #isStarting = false;
  /** The user has ended the session. */
  #isStopped = false;
  #problem = '';

  /**
   * `announce` gets each text once it no longer changes: a screen reader reads it. `onEnd` is called once a
   * session is over, with the reason; it is empty if the user has ended it.
   */
  constructor({ list, empty, announce, onEnd }) {
    this.#list = list;
    this.#empty = empty;
    this.#announce = announce;
    this.#onEnd = onEnd;
    followEnd(list);
  }

  get isOpen() {
    return this.#isStarting || this.#socket !== undefined;
  }

  /** Rejects with CallError. */
  async start(key) {
    this.#isStarting = true;
    this.#isStopped = false;
    try {
      this.#stream = await openMicrophone({ channelCount: 1 });
      this.#context = new AudioContext();
      await this.#context.audioWorklet.addModule('pcm-worklet.js');
      if (!this.#isStopped) return this.#connect(key);
      this.#close();
      return this.#onEnd('');
    } catch (cause) {
      this.#close();
      if (cause instanceof CallError) throw cause;
      throw new CallError(`The browser cannot listen: ${cause.message}`, 0, { cause });
    } finally {
      this.#isStarting = false;
    }
  }

  /** What was said so far still becomes text. */
  stop() {
    this.#isStopped = true;
    closeMicrophone(this.#stream);
    if (this.#isReady) this.#socket?.send(JSON.stringify({ type: 'end' }));
    else this.#socket?.close();
  }

  #connect(key) {
    // The browser's own error would repeat the key.
    if (!SENDABLE.test(key)) throw new CallError(UNSENDABLE, 401);
    const url = new URL(PATH, document.baseURI);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url, key === '' ? [] : ['parley', `${KEY_PROTOCOL}${key}`]);
    this.#socket = socket;
    this.#lines.clear();
    this.#problem = '';
    const { sampleRate } = this.#context;
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ type: 'config', sample_rate: Math.round(sampleRate) })),
    );
    socket.addEventListener('message', ({ data }) => this.#read(JSON.parse(data)));
    socket.addEventListener('close', ({ code }) => {
      const isOurs = code === 1000 || (this.#isStopped && !this.#isReady);
      const reason = isOurs ? '' : this.#isReady ? LOST : REFUSED;
      this.#close();
      this.#onEnd(this.#problem || reason);
    });
  }

  #send() {
    const worklet = new AudioWorkletNode(this.#context, 'pcm-sender');
    worklet.port.onmessage = ({ data }) => {
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(data);
    };
    // A browser runs only what leads to its output; this leaves silence there.
    this.#context.createMediaStreamSource(this.#stream).connect(worklet).connect(this.#context.destination);
  }

  #read(message) {
    switch (message.type) {
      case 'ready':
        this.#isReady = true;
        return this.#send();
      case 'partial':
      case 'final':
        return this.#show(message);
      case 'error':
        this.#problem = message.message;
        return this.#socket.close();
      default:
        return undefined;
    }
  }

  #show({ turn, text, start, type }) {
    let line = this.#lines.get(turn);
    if (line === undefined && text === '') return;
    if (line === undefined) {
      line = lineAt(start);
      this.#lines.set(turn, line);
      this.#list.append(line.element);
      while (this.#list.children.length > MOST_LINES) this.#list.firstElementChild.remove();
    }
    line.words.textContent = text;
    line.words.classList.toggle('partial', type === 'partial');
    if (type === 'final' && text === '') line.element.remove();
    if (type === 'final' && text !== '') this.#announce.textContent = text;
    this.#list.hidden = false;
    this.#empty.hidden = true;
  }

  #close() {
    closeMicrophone(this.#stream);
    void this.#context?.close();
    [this.#socket, this.#stream, this.#context] = [];
    this.#isReady = false;
  }
}

function lineAt(seconds) {
  const element = document.createElement('li');
  const time = document.createElement('time');
  time.textContent = clock(seconds);
  const words = document.createElement('span');
  element.append(time, words);
  return { element, words };
}

function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
