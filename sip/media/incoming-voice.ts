// What the call hears: formats, keys and whereabouts of the far end, and its
// sound for whoever listens.
import { CODECS } from '../../src/rtp/codec.js';
import { CallerAudio, type CallerSound } from '../../src/rtp/caller-audio.js';
import type { MediaSocket, PayloadFormat } from '../../src/rtp/media-socket.js';
import type { SrtpKeys } from '../../src/rtp/media-addon.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import type { AudioCodecName } from '../sdp/audio-format.js';

const NOISE_CLOCK = 8000; // RFC 3389 section 4

export class IncomingVoice {
  readonly #socket: MediaSocket;
  /** Every format of the call so far: packets of an older one may be under way, and no number has two meanings. */
  readonly #formats = new Map<number, PayloadFormat>();
  readonly #codecs = new Map<number, AudioCodecName>();
  #onAudio: ((sound: CallerSound) => void) | undefined;
  #audio: CallerAudio | undefined;

  constructor(socket: MediaSocket) {
    this.#socket = socket;
    socket.srtp('closed');
  }

  /** Nothing is believed before there are keys. */
  follow(agreed: AgreedAudio, keys: SrtpKeys | 'plain' | 'closed'): void {
    this.#socket.srtp(keys);
    this.#learnFormats(agreed);
    this.#socket.formats([...this.#formats.values()]);
    this.#audio?.learn(this.#codecs);
    const { remote, remoteRtcp } = agreed;
    // Nobody is there; a new address will follow.
    if (isNowhere(remote.address)) return;
    const { address, port } = remote;
    const rtcp =
      remoteRtcp === undefined || isNowhere(remoteRtcp.address)
        ? {}
        : { rtcpAddress: remoteRtcp.address, rtcpPort: remoteRtcp.port };
    this.#socket.learn({ address, port, mux: remoteRtcp === undefined, ...rtcp });
  }

  /** Undefined stops. */
  listen(onAudio: ((sound: CallerSound) => void) | undefined): void {
    this.#onAudio = onAudio;
    this.#audio = onAudio === undefined ? undefined : new CallerAudio(this.#codecs);
    if (onAudio === undefined) return this.#socket.listen(undefined);
    this.#socket.listen((payloads) => {
      for (const sound of this.#audio?.take(payloads) ?? []) this.#onAudio?.(sound);
    });
  }

  #learnFormats({ receivable, receive, eventClockRate }: AgreedAudio): void {
    for (const [payloadType, name] of receivable) {
      this.#codecs.set(payloadType, name);
      const { clockRate } = CODECS[name];
      this.#formats.set(payloadType, { payloadType, kind: 'sound', clockRate });
    }
    const { telephoneEvent, comfortNoise } = receive;
    if (comfortNoise !== undefined) this.#learn(comfortNoise, 'comfort-noise', NOISE_CLOCK);
    if (telephoneEvent !== undefined) this.#learn(telephoneEvent, 'digit', eventClockRate ?? NOISE_CLOCK);
  }

  #learn(payloadType: number, kind: PayloadFormat['kind'], clockRate: number): void {
    this.#codecs.delete(payloadType);
    this.#formats.set(payloadType, { payloadType, kind, clockRate });
  }
}

/** An address that cannot be sent to (RFC 3264 section 8.4). */
export function isNowhere(address: string): boolean {
  return /^(?:0\.0\.0\.0|[0:]+)$/.test(address);
}
