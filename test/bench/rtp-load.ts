// The far ends of calls in native programs. Of bridged calls (native/bench/rtp_load.cc): each gets a stream
// of G.711 from one socket, and a packet that comes back by another call tells how long it took. Of the
// members of a room (native/bench/room_load.cc): each sends its codec, some talk, and their sound is looked
// for in what the others hear.
import { type LoadPlan, NativeLoad } from './native-load.js';

export interface LoadedCall {
  readonly port: number;
  readonly secured: boolean;
}

interface Delays {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly received: number;
  /** Packets that found the load's own buffer full. */
  readonly dropped: number;
  readonly delayMs: Delays;
}

export class RtpLoad {
  readonly #load: NativeLoad;

  private constructor(load: NativeLoad) {
    this.#load = load;
  }

  static async open(): Promise<RtpLoad> {
    return new RtpLoad(await NativeLoad.open({ name: 'rtp_load' }));
  }

  get port(): number {
    return this.#load.port;
  }

  /** Sends to all calls and measures. The program ends with it. */
  async run(calls: readonly LoadedCall[], plan: LoadPlan): Promise<LoadResult> {
    const ports = calls.map(({ port, secured }) => `${port}${secured ? 's' : ''}`);
    const [sent = NaN, received = NaN, dropped = NaN, ...delays] = await this.#load.run(ports, plan);
    return { sent, received, dropped, delayMs: delaysOf(delays) };
  }

  close(): void {
    this.#load.close();
  }
}

export interface LoadedMember {
  readonly port: number;
  readonly codec: 'pcmu' | 'pcma' | 'g722' | 'opus';
  readonly secured: boolean;
  readonly talks: boolean;
}

export interface RoomResult extends LoadResult {
  /** Sounds of talkers that the others should have heard, and those of them that they have. */
  readonly bursts: number;
  readonly heard: number;
}

export class RoomLoad {
  readonly #load: NativeLoad;

  private constructor(load: NativeLoad) {
    this.#load = load;
  }

  static async open(): Promise<RoomLoad> {
    return new RoomLoad(await NativeLoad.open({ name: 'room_load', hasCodecs: true }));
  }

  get port(): number {
    return this.#load.port;
  }

  /** At most four members talk. The program ends with it. */
  async run(members: readonly LoadedMember[], plan: LoadPlan): Promise<RoomResult> {
    const words = members.map(
      ({ port, codec, secured, talks }) => `${port}/${codec}/${secured ? 's' : ''}${talks ? 't' : ''}`,
    );
    const [sent = NaN, received = NaN, dropped = NaN, bursts = NaN, heard = NaN, ...delays] =
      await this.#load.run(words, plan);
    return { sent, received, dropped, bursts, heard, delayMs: delaysOf(delays) };
  }

  close(): void {
    this.#load.close();
  }
}

const delaysOf = ([p50 = NaN, p99 = NaN, max = NaN]: readonly number[]): Delays => ({
  p50: p50 / 1000,
  p99: p99 / 1000,
  max: max / 1000,
});
