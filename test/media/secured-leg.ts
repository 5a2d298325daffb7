// One end of an encrypted call: real sockets on loopback,
// a handshake, and a tone that flows as soon as there are keys.
import type { ParleyError } from '../../src/errors.js';
import type { DtlsKeys } from '../../src/media/media-addon.js';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import { MU_LAW } from '../../src/codecs/g711.js';
import { type HandshakeTerms, MediaHandshake } from '../../src/media/media-handshake.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { type MediaSocket, RtpPorts } from '../../src/media/media-socket.js';
import type { Playout } from '../../src/media/playout.js';
import type { UdpMux } from '../../src/media/udp-mux.js';
import { systemTime, type Time } from '../../src/time.js';
import { TELEPHONE } from './plane-under-test.js';

export const LOOPBACK = '127.0.0.1';
const TONE_HZ = 440;
const TONE_FRAMES = 1500; // half a minute, longer than any test

const TONE = Array.from({ length: TONE_FRAMES }, (_frame, frame) =>
  Uint8Array.from({ length: 160 }, (_octet, at) => {
    const sample = 8000 * Math.sin((2 * Math.PI * TONE_HZ * (160 * frame + at)) / 8000);
    return MU_LAW[Math.round(sample) + 32_768] ?? 0xff;
  }),
);

interface LegOptions {
  readonly portMin: number;
  readonly mux?: boolean;
  readonly time?: Time;
  /** Instead of a port of its own. */
  readonly udpMux?: UdpMux;
  /** Another one's, whose owner closes it. */
  readonly plane?: MediaPlane;
}

export class SecuredLeg {
  readonly plane: MediaPlane;
  readonly certificate = DtlsCertificate.make();
  readonly ports: RtpPorts;
  readonly socket: MediaSocket;
  readonly keys: DtlsKeys[] = [];
  readonly failures: ParleyError[] = [];
  readonly nominated: string[] = [];
  readonly digits: string[] = [];
  closedByPeer = 0;
  handshake: MediaHandshake | undefined;
  playout: Playout | undefined;
  readonly #time: Time;
  readonly #ownsPlane: boolean;

  constructor({ portMin, mux = true, time = systemTime, udpMux, plane }: LegOptions) {
    this.#time = time;
    this.plane = plane ?? MediaPlane.open({ clock: 'real', seed: 1 });
    this.#ownsPlane = plane === undefined;
    const portMax = portMin + 99;
    this.ports = RtpPorts.open({ address: LOOPBACK, portMin, portMax, drainMs: 0, dscp: 0 });
    this.socket = this.plane.openSocket(udpMux === undefined ? { ports: this.ports, mux } : { udpMux, mux });
    this.socket.srtp('closed');
    this.socket.onDigit = (digit) => this.digits.push(digit);
  }

  get fingerprint() {
    return this.certificate.fingerprint;
  }

  /** Sets the payload types for sound and events, and begins the handshake. */
  begin(terms: HandshakeTerms, payloadType = 0, events = 101): void {
    this.socket.formats([
      { payloadType, kind: 'sound', clockRate: 8000, codec: 'PCMU' },
      { payloadType: events, kind: 'digit', clockRate: 8000 },
    ]);
    this.handshake = new MediaHandshake({
      ...terms,
      socket: this.socket,
      certificate: this.certificate,
      time: this.#time,
      onKeys: (keys) => this.#secure(keys, payloadType),
      onFailed: (error) => this.failures.push(error),
      onNominated: (address, port, component) => {
        this.nominated.push(`${address} ${port} ${component}`);
        if (component === 1) this.socket.learn({ address, port });
      },
      onClosed: () => this.closedByPeer++,
    });
  }

  close(): void {
    this.handshake?.close();
    this.playout?.close();
    this.socket.close();
    this.ports.close();
    if (this.#ownsPlane) this.plane.close();
    this.certificate.close();
  }

  #secure(keys: DtlsKeys, payloadType: number): void {
    this.keys.push(keys);
    this.socket.srtp(keys.receive);
    const options = {
      ...TELEPHONE,
      payloadType,
      srtp: keys.send,
      highMs: 20 * TONE_FRAMES,
      rtcpIntervalMs: 1000,
    };
    const playout = this.plane.openStream(options, this.playout);
    this.socket.bind(playout);
    for (const frame of TONE) playout.push(playout.generation, 1, frame);
    this.playout = playout;
  }
}
