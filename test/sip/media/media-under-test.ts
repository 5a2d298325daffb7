// Media legs on a plane whose clock the test controls, over real loopback sockets: packets sent in one step
// of the clock have arrived by the next.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import type { TestContext } from 'node:test';
import type { MediaPort } from '../../../src/call/call-route.js';
import { MediaPlane } from '../../../src/media/media-plane.js';
import { RtpPorts } from '../../../src/media/media-socket.js';
import { CallMedia, type CallMediaParts } from '../../../sip/media/call-media.js';
import type { MediaPolicy } from '../../../sip/sdp/media-policy.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { parseRtp, START_MS, WALL_MS, within, type RtpPacket } from '../../media/plane-under-test.js';
import { countingBytes, POLICY, valueOf } from '../sdp/negotiation-under-test.js';
import { SILENT_LOG } from '../../../src/log.js';

const STEP_MS = 20;
const HOST = '127.0.0.1';
// Below the ports that the system assigns.
const PORTS = { address: HOST, portMin: 24_000, portMax: 25_999, drainMs: 30_000, dscp: 46 };

/** Without comfort noise, so that every tick has a packet. */
export const PLAIN: Partial<MediaPolicy> = {
  security: 'off',
  codecs: ['PCMU', 'PCMA', 'G722', 'opus'],
  comfortNoise: false,
};

/** Records the callbacks of a leg, in order. */
interface SeenEvents {
  readonly ports: MediaPort[];
  readonly digits: [string, number][];
  readonly held: boolean[];
  silences: number;
}

export interface Leg {
  readonly media: CallMedia;
  readonly seen: SeenEvents;
}

interface Stage {
  readonly plane: MediaPlane;
  readonly time: ManualTime;
  readonly ports: RtpPorts;
  /** `confirmed`: whether its peer has shown that it is there. */
  leg(policy?: Partial<MediaPolicy>, parts?: Partial<CallMediaParts>, confirmed?: boolean): Leg;
  /** Advances both clocks, `step` at a time. Returns the number of RTP packets sent. */
  pass(ms: number, step?: number): number;
}

export function stage(t: TestContext, portOptions: Partial<typeof PORTS> = {}): Stage {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const time = new ManualTime(START_MS);
  const ports = RtpPorts.open({ ...PORTS, ...portOptions });
  const legs: CallMedia[] = [];
  t.after(() => {
    for (const media of legs) media.close();
    plane.close();
    ports.close();
  });
  const pass = (ms: number, step = STEP_MS) => {
    let sent = 0;
    for (let left = ms; left > 0; left -= step) {
      const by = Math.min(step, left);
      sent += plane.advance(time.now() + by);
      time.advance(by);
    }
    return sent;
  };
  return {
    plane,
    time,
    ports,
    leg(policy = PLAIN, parts = {}, confirmed = true) {
      const randomBytes = countingBytes(17 * (legs.length + 1));
      const media = CallMedia.open({
        plane,
        ports,
        policy: { ...POLICY, ...policy },
        addresses: { ip4: HOST },
        rtpTimeoutMs: 0,
        time,
        randomBytes,
        log: SILENT_LOG,
        ...parts,
      });
      legs.push(media);
      if (confirmed) {
        media.confirmed();
        media.acknowledged('ACK');
      }
      return { media, seen: listenTo(media) };
    },
    pass,
  };
}

function listenTo(media: CallMedia): SeenEvents {
  const seen: SeenEvents = { ports: [], digits: [], held: [], silences: 0 };
  media.onPort = (port) => seen.ports.push(port);
  media.onDigit = (digit, durationMs) => seen.digits.push([digit, durationMs]);
  media.onHeld = (held) => seen.held.push(held);
  media.onSilent = () => seen.silences++;
  return seen;
}

/** Negotiates what the first leg offers. */
export function agree(caller: Leg, callee: Leg, fork = 'a'): void {
  const offer = valueOf(caller.media.offer());
  const answer = valueOf(callee.media.answer(Buffer.from(offer)));
  assert.equal(caller.media.accept(Buffer.from(answer), fork).refusal, undefined);
}

/** A telephone at a port of its own, with hand-written descriptions. */
export class Phone {
  readonly port: number;
  readonly #socket: Socket;
  readonly #came: { readonly data: Uint8Array; readonly from: number }[] = [];
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.port = socket.address().port;
    socket.on('message', (data, { port }) => {
      this.#came.push({ data, from: port });
      this.#wake?.();
    });
  }

  static async open(t: TestContext, host = HOST): Promise<Phone> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, host, resolve));
    t.after(() => socket.close());
    return new Phone(socket);
  }

  /** A description with one audio section; `lines` are its attributes. */
  describe(
    formats = '0 101',
    lines: readonly string[] = [],
    { profile = 'RTP/AVP', address = HOST, port = this.port } = {},
  ): Buffer {
    const session = ['v=0', `o=- 1 1 IN IP4 ${HOST}`, 's=-', `c=IN IP4 ${address}`, 't=0 0'];
    const maps = ['a=rtpmap:101 telephone-event/8000', 'a=rtpmap:96 opus/48000/2', ...lines];
    return Buffer.from([...session, `m=audio ${port} ${profile} ${formats}`, ...maps, ''].join('\r\n'));
  }

  /** The next `count` datagrams, in order. */
  async raw(count: number): Promise<{ readonly data: Uint8Array; readonly from: number }[]> {
    const all = async () => {
      while (this.#came.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
    };
    await within(`${count} packets at the telephone`, all());
    return this.#came.splice(0, count);
  }

  async packets(count: number): Promise<RtpPacket[]> {
    return (await this.raw(count)).map(({ data }) => parseRtp({ atMs: 0, data }));
  }

  /** The number of datagrams that came and were not taken. */
  get waiting(): number {
    return this.#came.length;
  }

  async send(data: Uint8Array, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#socket.send(data, port, HOST, (error) => (error === null ? resolve() : reject(error)));
    });
  }
}

/** The audio address of a description. */
export function portIn(description: string): number {
  return Number(/^m=audio (\d+)/m.exec(description)?.[1]);
}
