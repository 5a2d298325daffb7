// One connection of Asterisk's AudioSocket, which is one call: its UUID comes first, then sound and keys.
// Either side ends the call with a message or with the connection.
//
// The first sound states the rate of the call, so the call begins with it. Asterisk drops sound of another
// rate than that of its channel, and a greeting would lose its beginning.
import type { Socket } from 'node:net';
import { type HandledCall, NO_AGENT } from '../../call/call-handler.js';
import { callClients } from '../../call/client-limits.js';
import type { SoundCall, SoundCalls } from '../../call/sound-calls.js';
import type { AudioSocketConfig } from '../../config/audio-socket-config.js';
import { isNeedless } from '../../call/sound-port.js';
import { asParleyError, guarded, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { hangUpMessage, type MessageListener, MessageReader } from './audio-socket-messages.js';
import { type SocketSound, socketSound } from './audio-socket-sound.js';
import type { Log } from '../../log.js';

export interface AudioSocketCallParts {
  readonly soundCalls: { open(...request: Parameters<SoundCalls['open']>): Pick<SoundCall, CallPart> };
  readonly handler: {
    readonly usual: string | undefined;
    handle(agent: string, handled: HandledCall): unknown;
    /** An agent or an application conducts the call. */
    isConducted(call: string): boolean;
  };
  readonly config: Pick<AudioSocketConfig, 'agent' | 'unansweredMs' | 'key'>;
  readonly time: Time;
  readonly log: Log;
}

type CallPart = 'call' | 'handled' | 'receive' | 'change';

const PROTOCOL = 'audiosocket';
const UUID_MS = 5000;
const FIRST_SOUND_MS = 300; // without a sound the call begins, at 8 kHz
const SILENT_MS = 60_000; // Asterisk sends nothing while its caller's side sends nothing
const FRAME_MS = 20;
const MOST_UNREAD_FRAMES = 100; // two seconds, besides what the kernel holds
const MOST_RATE_CHANGES = 8;
const LINGER_MS = 2000; // for the far end to read the end of the call

export class AudioSocketCall implements MessageListener {
  /** Resolves when the connection and its call are no more. */
  readonly closed: Promise<void>;
  readonly #parts: AudioSocketCallParts;
  readonly #socket: Socket;
  /** For the log. */
  readonly #names: { address: string; uuid?: string; call?: string };
  readonly #reader = new MessageReader();
  #sound: SocketSound = socketSound(8000);
  #rateChanges = 0;
  #call: Pick<SoundCall, CallPart> | undefined;
  #heardMs: number;
  #isOver = false;
  /** Frames of silence in a row that were not sent, because the far end has much to read. */
  #needlessFrames = 0;
  #cancelTimer: () => void;
  /** Kinds of messages that were named in the log. */
  readonly #unknown = new Set<number>();

  constructor(socket: Socket, address: string, parts: AudioSocketCallParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#names = { address };
    this.#heardMs = parts.time.now();
    const late = () => this.#fail(new ParleyError('TIMEOUT', `no UUID came within ${UUID_MS / 1000} s`));
    this.#cancelTimer = parts.time.after(UUID_MS, late);
    // Asterisk reads the header of a message with one call: a message should arrive whole, and at once.
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('end', () => this.#attempt(() => this.#ended()));
    socket.on('error', (error) => this.#lost(error));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#end('connection lost');
        this.#cancelTimer();
        void (this.#call?.call.closed ?? Promise.resolve()).then(() => resolve());
      });
    });
  }

  /** True while there is a call. */
  get isTalking(): boolean {
    return this.#call !== undefined && !this.#isOver;
  }

  /** Ends the call. Idempotent: every caller gets the same promise. */
  close(reason: string): Promise<void> {
    this.#end(reason);
    return this.closed;
  }

  uuid(uuid: string): void {
    this.#refuseOver();
    if (this.#names.uuid !== undefined) throw new ParleyError('MALFORMED', 'a second UUID came');
    this.#cancelTimer();
    this.#names.uuid = uuid;
    const begin = () => this.#attempt(() => this.#opened());
    this.#cancelTimer = this.#parts.time.after(FIRST_SOUND_MS, begin);
  }

  sound(rate: number, samples: Uint8Array): void {
    this.#requireUuid();
    if (this.#call === undefined) this.#sound = socketSound(rate);
    const call = this.#opened();
    if (rate !== this.#sound.rate) this.#changeRate(rate, call);
    if (samples.length > 0) call.receive(this.#sound.received(samples));
  }

  key(key: string): void {
    this.#requireUuid();
    this.#opened().call.pressed(key);
  }

  hangUp(): void {
    this.#end('far end hung up');
  }

  failed(code: number | undefined): void {
    this.#parts.log.warn({ ...this.#names, code }, 'AudioSocket far end reports an error');
    this.#end('far end failed');
  }

  unknown(kind: number): void {
    this.#requireUuid();
    if (this.#unknown.has(kind)) return;
    this.#unknown.add(kind);
    this.#parts.log.warn({ ...this.#names, kind }, 'AudioSocket message of an unknown kind is left out');
  }

  /** Messages that came together with the end of the call. */
  #refuseOver(): void {
    if (this.#isOver) throw new ParleyError('CALL_CLOSED', 'the call has ended');
  }

  #requireUuid(): void {
    this.#refuseOver();
    if (this.#names.uuid === undefined)
      throw new ParleyError('MALFORMED', 'the first message must be the UUID');
  }

  /** Opens the call if it is not open. Throws as SoundCalls.open does. */
  #opened(): Pick<SoundCall, CallPart> {
    if (this.#call !== undefined) return this.#call;
    this.#cancelTimer();
    const { soundCalls, handler, config, log } = this.#parts;
    const { address, uuid } = this.#names;
    const { codec } = this.#sound;
    const opened = soundCalls.open({
      protocol: PROTOCOL,
      clients: callClients(undefined, address),
      owner: config.key,
      sends: codec,
      receives: codec,
      from: `${PROTOCOL}:${uuid}`,
      onFrame: (frame) => this.#frame(frame),
    });
    this.#call = opened;
    this.#names.call = opened.call.id;
    log.info(this.#names, 'AudioSocket call opened');
    void opened.call.closed.then((reason) => this.#end(reason));
    const agent = config.agent ?? handler.usual;
    if (agent !== undefined && agent !== NO_AGENT) handler.handle(agent, opened.handled);
    else this.#awaitConductor(opened.call.id);
    return opened;
  }

  #awaitConductor(call: string): void {
    const { time, config, handler, log } = this.#parts;
    const { unansweredMs } = config;
    this.#cancelTimer = time.after(unansweredMs, () => {
      if (handler.isConducted(call)) return;
      const seconds = unansweredMs / 1000;
      const reason = `no agent and no application took the call within AUDIOSOCKET_UNANSWERED_SECONDS=${seconds}`;
      log.warn({ ...this.#names, reason }, 'AudioSocket call not answered');
      this.#end('not answered');
    });
  }

  #changeRate(rate: number, call: Pick<SoundCall, CallPart>): void {
    if (++this.#rateChanges > MOST_RATE_CHANGES) {
      const message = `the rate of the sound has changed more than ${MOST_RATE_CHANGES} times`;
      throw new ParleyError('MALFORMED', message);
    }
    const sound = socketSound(rate);
    call.change({ sends: sound.codec, receives: sound.codec });
    this.#sound = sound;
  }

  #take(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#heardMs = this.#parts.time.now();
    this.#attempt(() => this.#reader.read(bytes, this));
  }

  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#fail(asParleyError(error, 'WRONG_STATE'));
    }
  }

  /** The far end sends no more. */
  #ended(): void {
    if (this.#isOver) return;
    if (this.#reader.isInside) this.#fail(new ParleyError('MALFORMED', 'the last message has no end'));
    else if (this.#names.uuid === undefined) this.#fail(new ParleyError('MALFORMED', 'no UUID came'));
    else this.#end('far end hung up');
  }

  #lost(error: Error): void {
    if (this.#isOver) return;
    this.#parts.log.info({ ...this.#names, error: error.message }, 'AudioSocket connection lost');
    this.#end('connection lost');
  }

  /** The next 20 ms of the call. */
  readonly #frame = guarded(
    { work: 'AudioSocket call' },
    (frame: Uint8Array) => this.#send(frame),
    (error) => this.#fail(error),
  );

  #send(frame: Uint8Array): void {
    // A frame of the codec before may follow a change.
    if (this.#isOver || frame.length !== this.#sound.frameBytes) return;
    if (this.#parts.time.now() - this.#heardMs > SILENT_MS) {
      return this.#fail(new ParleyError('TIMEOUT', `nothing came for ${SILENT_MS / 1000} s`));
    }
    const message = this.#sound.message(frame);
    const unreadFrames = this.#socket.writableLength / message.length;
    if (unreadFrames + this.#needlessFrames > MOST_UNREAD_FRAMES) {
      return this.#fail(new ParleyError('LISTENER_SLOW', 'the far end does not read the sound of the call'));
    }
    const isLeftOut = isNeedless(() => frame, this.#sound.codec, unreadFrames * FRAME_MS);
    this.#needlessFrames = isLeftOut ? this.#needlessFrames + 1 : 0;
    if (!isLeftOut) this.#socket.write(message);
  }

  #fail({ code, message }: ParleyError): void {
    if (this.#isOver) return;
    const what = this.#call === undefined ? 'AudioSocket connection refused' : 'AudioSocket call failed';
    this.#parts.log.warn({ ...this.#names, code, reason: message }, what);
    this.#end('far end failed');
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    void this.#call?.call.close(reason);
    if (this.#socket.destroyed) return;
    this.#socket.end(hangUpMessage());
    this.#cancelTimer = this.#parts.time.after(LINGER_MS, () => this.#socket.destroy());
  }
}
