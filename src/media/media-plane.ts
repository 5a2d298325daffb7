// The media plane: one native clock thread sends the packets of every call, and JavaScript cannot delay it.
// This class controls the plane from the main thread.
//
// A manual plane has no thread: `advance` runs the ticks, each exactly at its due time, and reports marks
// before it returns. It is for tests.
import { unwatchReady, watchReady } from '../audio/ready.js';
import { ParleyError, tellDefect } from '../errors.js';
import {
  type CapturedPacket,
  INBOUND,
  INBOUND_FIELDS,
  type ListenerOptions,
  mediaAddon,
  type PlaneStats,
  type StreamOptions,
} from './media-addon.js';
import { type AssociationOptions, DtlsAssociation } from './dtls-association.js';
import { MediaMixer } from './media-mixer.js';
import { MediaSocket, type SocketOptions } from './media-socket.js';
import { Playout } from './playout.js';
import { PlayoutListener } from './playout-listener.js';

type PlaneOptions =
  | {
      readonly clock: 'real';
      readonly seed: number;
      /** Called with exceptions of callbacks; if absent, they become unhandled rejections. */
      readonly failed?: (error: unknown) => void;
    }
  | {
      readonly clock: 'manual';
      readonly seed: number;
      /** Initial value of its monotonic clock, in milliseconds. */
      readonly startMs: number;
      /** Milliseconds since 1970 at that moment. */
      readonly wallMs: number;
    };

/** Due time and send time of one packet, for benchmarks. */
interface TracedPacket {
  readonly stream: number;
  readonly dueMs: number;
  readonly sentMs: number;
}

/** Sound of callers that was decoded since the plane was opened. */
interface HeardSound {
  /** Samples at 16 kHz, and those of them that replaced lost packets. */
  readonly heardSamples: number;
  readonly concealedSamples: number;
  /** Mean delay of the jitter buffers of the calls that are or were heard; 0 without one. */
  readonly jitterBufferMs: number;
}

const MAX_KEPT = 50_000; // a quarter of an hour of one stream
const MAX_STREAMS = 4000; // the native plane's limit, less those that end within a tick
// Marks come within a turn of the loop; where none comes at all, these are all that are kept.
const MAX_PARTING = 256;
const MARK_FIELDS = 4;
const TRACE_FIELDS = 3;

export class MediaPlane {
  readonly handle: number;
  readonly #manual: boolean;
  readonly #failed: (error: unknown) => void;
  readonly #playouts = new Map<number, Playout>();
  readonly #listeners = new Map<number, PlayoutListener>();
  /** Closed playouts with marks that were reached before and are not reported yet. */
  readonly #parting = new Map<number, Playout>();
  readonly #sockets = new Map<number, MediaSocket>();
  readonly #associations = new Map<number, DtlsAssociation>();
  readonly #mixers = new Set<MediaMixer>();
  /** Sums of sockets that were closed. */
  readonly #heardBefore = { samples: 0, concealed: 0 };
  /** Packets of streams without `onPacket`: at most MAX_KEPT, the oldest are forgotten. */
  #kept: CapturedPacket[] = [];
  /** Packets of this turn, in the order they left. */
  #packets: CapturedPacket[] = [];
  /** Place of the first of them that is not carried. */
  #uncarried = 0;
  #closed = false;
  /** Marks or packets wait. What comes meanwhile is left for the next turn of the loop. */
  readonly #onReady = () => {
    try {
      this.#deliver();
    } finally {
      if (!this.#closed && mediaAddon().planeWatch(this.handle)) setImmediate(this.#onReady);
    }
  };

  private constructor(handle: number, manual: boolean, failed: (error: unknown) => void) {
    this.handle = handle;
    this.#manual = manual;
    this.#failed = failed;
  }

  /** `seed` (32 bits) decides when sender reports leave. */
  static open(options: PlaneOptions): MediaPlane {
    const manual = options.clock === 'manual';
    const failed = options.clock === 'manual' ? thrown : (options.failed ?? tellDefect);
    const plane = new MediaPlane(mediaAddon().planeOpen({ ...options, manual }), manual, failed);
    if (!manual) {
      watchReady(plane.handle, plane.#onReady);
      plane.#onReady();
    }
    return plane;
  }

  /** The plane's clock. */
  get nowMs(): number {
    return mediaAddon().planeNow(this.#open());
  }

  /**
   * A stream that ticks from now on; nothing leaves before it has a target. It may take the place of another
   * one of its SSRC, which sends nothing any more, no BYE either, and is closed with it at the latest:
   * sequence numbers, timestamps and, where the keys are the same, SRTP go on, so that a change of the codec
   * restarts nothing at the far end. Throws CALL_LIMIT.
   */
  openStream(options: StreamOptions, continues?: Playout): Playout {
    if (this.#playouts.size >= MAX_STREAMS) {
      throw new ParleyError('CALL_LIMIT', `the media plane has its ${MAX_STREAMS} streams`);
    }
    const playout = new Playout(this.#open(), options, (closing) => this.#closing(closing), continues);
    this.#playouts.set(playout.handle, playout);
    return playout;
  }

  /**
   * Sends what the playout sends from its next tick on, to a target of its own and under its own SSRC, keys
   * and reports. A key that the playout presses is silence here. Throws CALL_LIMIT if the playout has 64
   * listeners, and WRONG_STATE if it is closed or of another plane.
   */
  openListener(playout: Playout, options: ListenerOptions): PlayoutListener {
    this.#open();
    if (!this.#playouts.has(playout.handle)) {
      throw new ParleyError('WRONG_STATE', 'the playout is closed or of another media plane');
    }
    if (this.#listeners.size >= MAX_STREAMS) {
      throw new ParleyError('CALL_LIMIT', `the media plane has its ${MAX_STREAMS} listeners`);
    }
    const listener = new PlayoutListener(playout, options, (closing) => {
      if (closing.onPacket !== undefined) this.#deliver();
      this.#listeners.delete(closing.handle);
    });
    this.#listeners.set(listener.handle, listener);
    return listener;
  }

  /** A call's sockets, read from now on. Throws CALL_LIMIT when no port is free. */
  openSocket(options: SocketOptions): MediaSocket {
    const socket = new MediaSocket(this.#open(), options, {
      openDtls: (association) => this.openDtls(association),
      onClose: () => {
        this.#sockets.delete(socket.handle);
        const { samples = 0, concealed = 0 } = socket.stats().hearing ?? {};
        this.#heardBefore.samples += samples;
        this.#heardBefore.concealed += concealed;
      },
    });
    this.#sockets.set(socket.handle, socket);
    return socket;
  }

  /** An association of DTLS, whose work a native thread does. Throws DTLS_FAILED or CALL_LIMIT. */
  openDtls(options: AssociationOptions): DtlsAssociation {
    const association = new DtlsAssociation(this.#open(), options, () =>
      this.#associations.delete(association.handle),
    );
    this.#associations.set(association.handle, association);
    return association;
  }

  /** Joins calls of this plane; `loudest` of them are heard at once. Use MediaMixer.open. */
  openMixer(loudest: number): MediaMixer {
    const mixer = new MediaMixer(this.#open(), loudest, () => this.#mixers.delete(mixer));
    this.#mixers.add(mixer);
    return mixer;
  }

  /** Manual: runs every tick that is due until then and returns how many RTP packets left. */
  advance(toMs: number): number {
    const packets = mediaAddon().planeAdvance(this.#ofManual(), toMs);
    this.#deliver();
    return packets;
  }

  /** Manual: the clock wakes only at `atMs`, as after a stall of the machine. */
  wakeAt(atMs: number): number {
    const packets = mediaAddon().planeWakeAt(this.#ofManual(), atMs);
    this.#deliver();
    return packets;
  }

  /** Packets of capturing streams that have no `onPacket`, in the order they left. */
  takePackets(): CapturedPacket[] {
    this.#deliver();
    const packets = this.#kept;
    this.#kept = [];
    return packets;
  }

  stats(): PlaneStats & HeardSound {
    return { ...mediaAddon().planeStats(this.#open()), ...this.#heard() };
  }

  #heard(): HeardSound {
    const open = [...this.#sockets.values()].map((socket) => socket.stats().hearing);
    const heard = open.filter((hearing) => hearing !== undefined);
    const sum = (field: 'samples' | 'concealed' | 'delayMs') =>
      heard.reduce((total, hearing) => total + hearing[field], 0);
    return {
      heardSamples: this.#heardBefore.samples + sum('samples'),
      concealedSamples: this.#heardBefore.concealed + sum('concealed'),
      jitterBufferMs: heard.length === 0 ? 0 : sum('delayMs') / heard.length,
    };
  }

  /** From now on notes up to `capacity` packets between two `takeTrace`. */
  startTrace(capacity: number): void {
    mediaAddon().planeTrace(this.#open(), capacity);
  }

  takeTrace(): TracedPacket[] {
    const flat = mediaAddon().planeTakeTrace(this.#open());
    const packets: TracedPacket[] = [];
    for (let at = 0; at < flat.length; at += TRACE_FIELDS) {
      packets.push({ stream: flat[at] ?? 0, dueMs: flat[at + 1] ?? 0, sentMs: flat[at + 2] ?? 0 });
    }
    return packets;
  }

  /** Closes what streams, associations and sockets are left and joins the threads. Idempotent. */
  close(): void {
    if (this.#closed) return;
    for (const mixer of this.#mixers) mixer.close();
    for (const listener of this.#listeners.values()) listener.close();
    for (const playout of this.#playouts.values()) playout.close();
    for (const association of this.#associations.values()) association.close();
    for (const socket of this.#sockets.values()) socket.close();
    this.#closed = true;
    unwatchReady(this.handle, this.#onReady);
    mediaAddon().planeClose(this.handle);
  }

  #open(): number {
    if (this.#closed) throw new ParleyError('WRONG_STATE', 'the media plane is closed');
    return this.handle;
  }

  #ofManual(): number {
    if (!this.#manual) throw new ParleyError('WRONG_STATE', 'only a manual media plane is advanced by hand');
    return this.#open();
  }

  /** Calls all callbacks even if one throws; `#failed` gets the errors afterwards. */
  #deliver(): void {
    if (this.#closed) return;
    const failures: unknown[] = [];
    const marks = mediaAddon().planeTakeMarks(this.handle);
    // All that left before those marks were reached are among them.
    this.#takeCaptured();
    this.#tellMarks(marks, failures);
    if (!this.#closed) this.#tellInbound(failures);
    this.#carryPackets(Infinity, failures);
    if (this.#kept.length > MAX_KEPT) this.#kept.splice(0, this.#kept.length - MAX_KEPT);
    for (const failure of failures) this.#failed(failure);
  }

  #takeCaptured(): void {
    const captured = mediaAddon().planeTakePackets(this.handle);
    if (this.#packets.length === 0) this.#packets = captured;
    else for (const packet of captured) this.#packets.push(packet);
  }

  /** Packets that left before a mark was reached are carried before it is told. */
  #tellMarks(marks: Float64Array, failures: unknown[]): void {
    const parting = [...this.#parting.keys()];
    for (let at = 0; at < marks.length; at += MARK_FIELDS) {
      const handle = marks[at] ?? 0;
      this.#carryPackets(marks[at + 3] ?? 0, failures);
      const playout = this.#playouts.get(handle) ?? this.#parting.get(handle);
      try {
        playout?.onMark?.(marks[at + 1] ?? 0, marks[at + 2] ?? 0, marks[at + 3] ?? 0);
      } catch (error) {
        failures.push(error);
      }
    }
    // The addon had all of theirs ready when they were closed; what closes in a callback has its turn next.
    for (const handle of parting) this.#parting.delete(handle);
  }

  #tellInbound(failures: unknown[]): void {
    const events = mediaAddon().planeTakeInbound(this.handle);
    for (let at = 0; at < events.length; at += INBOUND_FIELDS) {
      const [handle = 0, ...event] = events.subarray(at, at + INBOUND_FIELDS);
      const socket = this.#sockets.get(handle);
      try {
        if (event[0] === INBOUND.dtls) this.#associations.get(handle)?.tell();
        else socket?.tell(event);
      } catch (error) {
        failures.push(error);
        socket?.onDefect?.(error);
      }
    }
  }

  /** Reports the packets that left until then. A callback may close a playout, and so come here again. */
  #carryPackets(untilMs: number, failures: unknown[]): void {
    for (;;) {
      const packet = this.#packets[this.#uncarried];
      if (packet === undefined) break;
      if (packet.atMs > untilMs) return;
      this.#uncarried++;
      const carry = (this.#playouts.get(packet.stream) ?? this.#listeners.get(packet.stream))?.onPacket;
      try {
        if (carry === undefined) this.#kept.push(packet);
        else carry(packet);
      } catch (error) {
        failures.push(error);
      }
    }
    this.#packets.length = 0;
    this.#uncarried = 0;
  }

  /** Its BYE still has to be carried. */
  #closing(playout: Playout): void {
    if (playout.onPacket !== undefined) this.#deliver();
    this.#playouts.delete(playout.handle);
    this.#parting.set(playout.handle, playout);
    const [oldest = 0] = this.#parting.keys();
    if (this.#parting.size > MAX_PARTING) this.#parting.delete(oldest);
  }
}

/** Error handler of a manual clock: the exception reaches the code that advances the clock. */
function thrown(error: unknown): never {
  throw error;
}
