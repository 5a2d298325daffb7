// Receives the far end's audio: sets formats, keys and expected addresses of the media socket, and reports
// silence.
import { CODECS } from '../../src/codecs/codec.js';
import type { SrtpKeys } from '../../src/media/media-addon.js';
import type { IceComponent, MediaSocket, PayloadFormat, RemoteMedia } from '../../src/media/media-socket.js';
import type { Time } from '../../src/time.js';
import { isUnroutable } from '../guard/address-list.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import { isUnknown } from '../sdp/ice-parameters.js';

const NOISE_CLOCK = 8000; // RFC 3389 section 4

export class IncomingVoice {
  readonly #socket: MediaSocket;
  /**
   * All formats of the call so far: packets of an older one may be under way, and no payload type has two
   * meanings.
   */
  readonly #formats = new Map<number, PayloadFormat>();
  readonly #networks: readonly string[];
  #remote: RemoteMedia = {};
  #signalling = '';
  #mux = false;

  /** Media may come from `networks`, besides the announced address and that of the signalling. */
  constructor(socket: MediaSocket, networks: readonly string[] = []) {
    this.#socket = socket;
    this.#networks = networks;
    socket.srtp('closed');
  }

  /** Sets the address of the peer's signalling for the descriptions that follow. */
  signalledFrom(address: string): void {
    // The zone (RFC 4007) names a link and is no part of the address.
    this.#signalling = address.replace(/%.*/, '');
  }

  /** Without keys no packet is accepted. */
  follow(agreed: AgreedAudio, keys: SrtpKeys | 'plain' | undefined): void {
    this.protect(keys);
    this.#learnFormats(agreed);
    this.#socket.formats([...this.#formats.values()]);
    this.#mux = agreed.remoteRtcp === undefined;
    const { remote, remoteRtcp, ice } = agreed;
    // An ICE check will show the address; until then no packet is accepted.
    if (ice !== undefined) return this.#learn({ ...this.#remote, announcedOnly: true });
    // The address is not known yet: another description will bring it.
    if (isUnknown(remote.address)) {
      if (this.#remote.address === undefined) this.#learn({});
      return;
    }
    const { address, port } = remote;
    const rtcp =
      remoteRtcp === undefined || isUnknown(remoteRtcp.address)
        ? {}
        : { rtcpAddress: remoteRtcp.address, rtcpPort: remoteRtcp.port };
    this.#learn({ address, port, ...rtcp });
  }

  protect(keys: SrtpKeys | 'plain' | undefined): void {
    this.#socket.srtp(keys ?? 'closed');
  }

  /** A check or handshake has shown the far end's address. */
  found(address: string, port: number, component: IceComponent): void {
    const rtcp = { rtcpAddress: address, rtcpPort: port };
    this.#learn(component === 1 ? { ...this.#remote, address, port } : { ...this.#remote, ...rtcp });
  }

  #learn(remote: RemoteMedia): void {
    this.#remote = remote;
    const [signalling, networks, { address = '' }] = [this.#signalling, this.#networks, remote];
    const anywhere = isUnroutable(address, signalling);
    this.#socket.learn({ ...remote, mux: this.#mux, signalling, networks, anywhere });
  }

  #learnFormats({ receivable, receive, eventClockRate }: AgreedAudio): void {
    for (const [payloadType, codec] of receivable) {
      const { clockRate } = CODECS[codec];
      this.#formats.set(payloadType, { payloadType, kind: 'sound', clockRate, codec });
    }
    const { telephoneEvent, comfortNoise } = receive;
    if (comfortNoise !== undefined) this.#note(comfortNoise, 'comfort-noise', NOISE_CLOCK);
    if (telephoneEvent !== undefined) this.#note(telephoneEvent, 'digit', eventClockRate ?? NOISE_CLOCK);
  }

  #note(payloadType: number, kind: 'comfort-noise' | 'digit', clockRate: number): void {
    this.#formats.set(payloadType, { payloadType, kind, clockRate });
  }
}

// Reports that a far end that was heard has gone silent: no RTP and no RTCP for the timeout. It reports
// nothing before the first packet, or while the far end is not expected to send.
//
// It uses one timer, set to the earliest time at which the silence would be long enough, so packets cost
// nothing here.

interface LastHeard {
  /** Milliseconds of the monotonic clock; null before the first packet. */
  readonly lastRtpMs: number | null;
  readonly lastRtcpMs: number | null;
}

export class SilenceWatch {
  readonly #time: Time;
  readonly #timeoutMs: number;
  readonly #lastHeard: () => LastHeard;
  readonly #onSilent: () => void;
  #cancel: (() => void) | undefined;
  /** The time since which the far end is expected to send. */
  #sinceMs = 0;

  /** `onSilent` is called once for each period of silence. */
  constructor(time: Time, timeoutMs: number, lastHeard: () => LastHeard, onSilent: () => void) {
    this.#time = time;
    this.#timeoutMs = timeoutMs;
    this.#lastHeard = lastHeard;
    this.#onSilent = onSilent;
  }

  /** True if the far end is expected to send. */
  expect(sound: boolean): void {
    if (sound === (this.#cancel !== undefined) || this.#timeoutMs === 0) return;
    if (!sound) return this.close();
    this.#sinceMs = this.#time.now();
    this.#wait(this.#timeoutMs, -1);
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(ms: number, toldOf: number): void {
    this.#cancel = this.#time.after(ms, () => this.#look(toldOf));
  }

  /** `toldOf` is the time of the packet after which a silence was reported already. */
  #look(toldOf: number): void {
    const { lastRtpMs, lastRtcpMs } = this.#lastHeard();
    const last = Math.max(this.#sinceMs, lastRtpMs ?? 0, lastRtcpMs ?? 0);
    const leftMs = last + this.#timeoutMs - this.#time.now();
    if (lastRtpMs === null || last === toldOf) return this.#wait(this.#timeoutMs, toldOf);
    if (leftMs > 0) return this.#wait(leftMs, toldOf);
    this.#wait(this.#timeoutMs, last);
    this.#onSilent();
  }
}
