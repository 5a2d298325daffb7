// Whose DTLS is listened to before anybody has proved who they are, where no
// check of ICE says it: the far end may stand behind a translator, and everybody
// may send a datagram.
//
//   the announced address     always; others in the middle of a handshake make way for it
//   another one, we wait      who begins a handshake, once whoever began before has been silent for a second
//   another one, we connect   who answers, once the announced address has been silent for a second
//
// What others send ends no handshake but their own.
import type { Time } from '../time.js';

export interface Source {
  readonly address: string;
  readonly port: number;
}

/** `anew`: it begins another handshake, in place of the present one; `restart`: so do we, and it is not taken in. */
export type Hearing = 'take' | 'anew' | 'restart' | 'drop';

export interface DtlsHearingOptions {
  readonly role: 'active' | 'passive';
  readonly time: Time;
  readonly announced: () => Source | undefined;
}

const QUIET_MS = 1000; // five retransmissions of the first flight
const MOST_STRANGERS = 16; // that made a handshake begin again; from then on the announced address alone is heard
const ALERT = 21; // content types of RFC 6347 section 4.3.1
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEAD = 13;

export class DtlsHearing {
  readonly #options: DtlsHearingOptions;
  #heardMs: number;
  #strangers = 0;

  constructor(options: DtlsHearingOptions) {
    this.#options = options;
    this.#heardMs = options.time.now();
  }

  isAnnounced(source: Source): boolean {
    const announced = this.#options.announced();
    return announced !== undefined && sameSource(announced, source);
  }

  /** `far` is who is in the middle of the handshake, if anybody. */
  judge(data: Uint8Array, source: Source, far: Source | undefined): Hearing {
    if (far !== undefined && sameSource(far, source)) {
      this.#heardMs = this.#options.time.now();
      return 'take';
    }
    const isAnnounced = this.isAnnounced(source);
    if (isAnnounced && far === undefined) return 'take';
    if (data[0] === ALERT || (!isAnnounced && this.#strangers >= MOST_STRANGERS)) return 'drop';
    const isQuiet = this.#options.time.now() - this.#heardMs >= QUIET_MS;
    const isPassive = this.#options.role === 'passive';
    if (isPassive && !isHello(data)) return 'drop';
    if (far !== undefined && (isAnnounced || isQuiet)) return isPassive ? 'anew' : 'restart';
    return far === undefined && (isPassive || isQuiet) ? 'take' : 'drop';
  }

  /** The handshake begins again, because of somebody who is not the far end. */
  again(): void {
    this.#strangers++;
    this.#heardMs = this.#options.time.now();
  }
}

export function sameSource(one: Source, other: Source): boolean {
  return one.address === other.address && one.port === other.port;
}

function isHello(data: Uint8Array): boolean {
  return data[0] === HANDSHAKE && data[RECORD_HEAD] === CLIENT_HELLO;
}
