// A realtime transcription socket of one session. Turns go through it one after the other: the sound of the
// next is held back until the text of the last one came, so every message of the server is of one turn.
//
// If a socket fails, its turns reject, and the session sends their sound to the transcription endpoint. It
// opens another socket for a later turn.
import { WebSocket } from 'ws';
import { toBytesS16le } from '../../audio/pcm16.js';
import { Resampler } from '../../audio/resampler.js';
import { guarded } from '../../errors.js';
import type { Time } from '../../time.js';
import type { RealtimeDialect, RealtimeNews } from './realtime-dialects.js';
import type { Lease } from './server-pool.js';
import { joinTexts, TRANSCRIPTION_RATE } from './transcription-client.js';

const OPEN_MS = 5000; // until the server is ready
const MOST_HELD = 16 << 20; // bytes of messages that wait here or in the socket: minutes of sound
const MOST_MESSAGE = 1 << 20; // bytes of one of the server's

interface Turn {
  readonly resampler: Resampler;
  readonly onText: (text: string) => void;
  readonly settle: { resolve: (text: string) => void; reject: (error: Error) => void };
  /** Messages that could not be sent yet. */
  held: string[];
  /** Text of the parts that the server completed while the turn went on. */
  before: string;
  /** Text of the part since then. */
  text: string;
  isOver: boolean;
}

export interface RealtimeTurn {
  /** Takes sound at `TRANSCRIPTION_RATE`. */
  append(samples: Float32Array): void;
  /** Says that the turn is over; `text` settles within the time limit. */
  end(): void;
  /** The whole text. Rejects if the socket failed or took too long. */
  readonly text: Promise<string>;
}

interface RealtimeSocketOptions {
  /** The socket ends it. */
  readonly lease: Lease;
  readonly model: string;
  readonly dialect: RealtimeDialect;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** Milliseconds from the end of a turn to its text. */
  readonly finalMs: number;
  readonly time: Time;
  readonly onFailed: (reason: string) => void;
}

export class RealtimeSocket {
  readonly #options: RealtimeSocketOptions;
  readonly #socket: WebSocket;
  readonly #turns: Turn[] = [];
  #isReady = false;
  #failure: string | undefined;
  #heldBytes = 0;
  #forget: () => void;

  constructor(options: RealtimeSocketOptions) {
    this.#options = options;
    const { lease, dialect, time } = options;
    const { apiKey, baseUrl } = lease.server;
    this.#socket = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/${dialect.path}`, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      perMessageDeflate: false,
      maxPayload: MOST_MESSAGE,
      handshakeTimeout: OPEN_MS,
    });
    const fail = ({ message }: Error) => this.#fail(message);
    this.#socket.on(
      'message',
      guarded({ work: 'recognition' }, (data) => this.#take(data as Buffer), fail),
    );
    this.#socket.on('error', (error) => this.#fail(error.message));
    this.#socket.on('close', (code) => this.#fail(`the server closed the socket (${code})`));
    this.#forget = time.after(OPEN_MS, () => this.#fail(`the server was not ready within ${OPEN_MS} ms`));
  }

  get usable(): boolean {
    return this.#failure === undefined;
  }

  /** `onText` gets the text so far. */
  begin(onText: (text: string) => void): RealtimeTurn {
    const { dialect } = this.#options;
    let settle: Turn['settle'] | undefined;
    const text = new Promise<string>((resolve, reject) => (settle = { resolve, reject }));
    text.catch(() => undefined); // whoever is interested awaits it
    const turn: Turn = {
      resampler: new Resampler(TRANSCRIPTION_RATE, dialect.rate),
      onText,
      settle: settle as unknown as Turn['settle'],
      held: [],
      before: '',
      text: '',
      isOver: false,
    };
    if (this.#failure === undefined) this.#turns.push(turn);
    else turn.settle.reject(new Error(this.#failure));
    for (const message of dialect.begin) this.#send(turn, message);
    return { text, append: (samples) => this.#append(turn, samples), end: () => this.#endTurn(turn) };
  }

  close(): void {
    this.#end('the session is over');
  }

  #append(turn: Turn, samples: Float32Array): void {
    const sound = new Float32Array(turn.resampler.maxOutput(samples.length));
    this.#sendSound(turn, sound, turn.resampler.process(samples, samples.length, sound));
  }

  #endTurn(turn: Turn): void {
    const rest = new Float32Array(turn.resampler.maxFlush);
    this.#sendSound(turn, rest, turn.resampler.flush(rest));
    turn.isOver = true;
    this.#send(turn, this.#options.dialect.end);
    if (turn === this.#turns[0]) this.#expectText();
  }

  #sendSound(turn: Turn, sound: Float32Array, count: number): void {
    if (count === 0) return;
    const bytes = Buffer.alloc(2 * count);
    toBytesS16le(sound, count, bytes);
    this.#send(turn, { type: 'input_audio_buffer.append', audio: bytes.toString('base64') });
  }

  #send(turn: Turn, message: object): void {
    if (this.#failure !== undefined) return;
    const text = JSON.stringify(message);
    if (this.#isReady && turn === this.#turns[0]) {
      this.#socket.send(text);
    } else {
      turn.held.push(text);
      this.#heldBytes += text.length;
    }
    if (this.#heldBytes + this.#socket.bufferedAmount > MOST_HELD) this.#fail('the server is too slow');
  }

  #sendHeld(): void {
    const [turn] = this.#turns;
    if (!this.#isReady || turn === undefined) return;
    for (const text of turn.held.splice(0)) {
      this.#heldBytes -= text.length;
      this.#socket.send(text);
    }
    if (turn.isOver) this.#expectText();
  }

  #expectText(): void {
    if (!this.#isReady) return; // the limit of the opening runs
    const { time, finalMs } = this.#options;
    this.#forget();
    this.#forget = time.after(finalMs, () => this.#fail(`no text within ${finalMs} ms of the turn's end`));
  }

  #take(data: Buffer): void {
    let news: RealtimeNews;
    try {
      news = this.#options.dialect.read(JSON.parse(data.toString('utf8')));
    } catch {
      return this.#fail('the server sent a message that is no JSON');
    }
    const [turn] = this.#turns;
    if (news === undefined) return;
    if (news.what === 'failed') return this.#fail(news.reason);
    if (news.what === 'ready') return this.#greet();
    if (turn === undefined) return;
    turn.text = news.what === 'delta' ? turn.text + news.text : news.text;
    const whole = joinTexts([turn.before, turn.text]);
    if (news.what === 'delta') return turn.onText(whole);
    if (!turn.isOver) {
      [turn.before, turn.text] = [whole, ''];
      return;
    }
    this.#forget();
    this.#turns.shift();
    turn.settle.resolve(whole);
    this.#sendHeld();
  }

  #greet(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#forget();
    const { model, dialect, language, prompt } = this.#options;
    for (const message of dialect.hello({ model, language, prompt }))
      this.#socket.send(JSON.stringify(message));
    this.#sendHeld();
  }

  #fail(reason: string): void {
    if (this.#end(reason)) this.#options.onFailed(reason);
  }

  /** True the first time. */
  #end(reason: string): boolean {
    if (this.#failure !== undefined) return false;
    this.#failure = reason;
    this.#forget();
    // A server may do without the socket: only its answers to requests speak for or against it.
    this.#options.lease.givenUp();
    this.#socket.terminate();
    for (const turn of this.#turns.splice(0)) turn.settle.reject(new Error(reason));
    return true;
  }
}
