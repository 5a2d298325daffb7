// Calls that a mixer joins: what each far end gets. The clock is held by the test, unless a name mentions
// real sockets.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { MU_LAW, MU_LAW_VALUES } from '../../src/codecs/g711.js';
import { OpusFrameDecoder } from '../../src/codecs/opus.js';
import type { StreamOptions } from '../../src/media/media-addon.js';
import { MediaMixer, MIX_HZ } from '../../src/media/media-mixer.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { type MediaSocket, type PayloadFormat, RtpPorts } from '../../src/media/media-socket.js';
import type { Playout } from '../../src/media/playout.js';
import { parseRtp, rtp, type RtpPacket, START_MS, TELEPHONE, WALL_MS, within } from './plane-under-test.js';

const FRAME = 160;
const FORMATS: readonly PayloadFormat[] = [
  { payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' },
  { payloadType: 111, kind: 'sound', clockRate: 48_000, codec: 'opus' },
];
const BROWSER = { payloadType: 111, clockRate: 48_000, ticksPerFrame: 960, silence: new Uint8Array(0) };
const LEVEL = 0.3;

/** Sum of squares of the samples that are a tone of `hz`, as a share of all. */
function shareOf(samples: readonly number[], hz: number, rate: number): number {
  let [cosine, sine, all] = [0, 0, 1e-9];
  samples.forEach((sample, n) => {
    const angle = (2 * Math.PI * hz * n) / rate;
    cosine += sample * Math.cos(angle);
    sine += sample * Math.sin(angle);
    all += sample * sample;
  });
  return (2 * (cosine * cosine + sine * sine)) / (samples.length * all);
}

function levelOf(samples: readonly number[]): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** The next frame of a tone, as mu-law. */
function toneFrame(number: number, hz: number): Uint8Array {
  return Uint8Array.from({ length: FRAME }, (_, n) => {
    const value = LEVEL * Math.sin((2 * Math.PI * hz * (number * FRAME + n)) / 8000);
    return MU_LAW[Math.round(value * 32_767) + 32_768] ?? 0;
  });
}

function decoded(packets: readonly RtpPacket[]): number[] {
  return packets.flatMap(({ payload }) => [...payload].map((code) => (MU_LAW_VALUES[code] ?? 0) / 32_768));
}

/** A call whose far end says a tone of its own, or nothing. */
class ToneCall {
  readonly socket: MediaSocket;
  playout: Playout;
  heard: RtpPacket[] = [];
  readonly #plane: MediaPlane;
  readonly #ssrc: number;
  readonly #hz: number | undefined;
  #number = 0;

  constructor(plane: MediaPlane, ssrc: number, hz?: number, options: Partial<StreamOptions> = {}) {
    this.#plane = plane;
    this.#ssrc = ssrc;
    this.#hz = hz;
    this.socket = plane.openSocket({ mux: true });
    this.socket.formats(FORMATS);
    this.socket.learn({ address: '192.0.2.7', port: 4000 + ssrc });
    this.playout = this.#open(options);
  }

  get leg() {
    return { socket: this.socket, playout: this.playout };
  }

  #open(options: Partial<StreamOptions>, continues?: Playout): Playout {
    const stream = { ...TELEPHONE, codec: 'PCMU', ssrc: this.#ssrc, ...options } as const;
    const playout = this.#plane.openStream(stream, continues);
    playout.onPacket = (packet) => this.heard.push(parseRtp(packet));
    playout.target({ capture: true });
    this.socket.bind(playout);
    return playout;
  }

  changeCodec(options: Partial<StreamOptions>): void {
    this.playout = this.#open(options, this.playout);
  }

  say(): void {
    const number = this.#number++;
    if (this.#hz === undefined) return;
    const payload = toneFrame(number, this.#hz);
    const packet = rtp({ sequence: number, timestamp: number * FRAME, ssrc: this.#ssrc, payload });
    this.socket.feed(packet, '192.0.2.7', 4000 + this.#ssrc);
  }

  /** The level of the sound of the last packets, and how much of it is each tone. */
  last(packets: number, ...tones: readonly number[]): { level: number; shares: number[] } {
    const samples = decoded(this.heard.slice(-packets));
    return { level: levelOf(samples), shares: tones.map((hz) => shareOf(samples, hz, 8000)) };
  }
}

function holdCalls(...tones: readonly (number | undefined)[]) {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const mixer = MediaMixer.open(plane);
  const calls = tones.map((hz, n) => new ToneCall(plane, n + 1, hz));
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= 20) {
      for (const call of calls) call.say();
      plane.advance(plane.nowMs + 20);
    }
  };
  return { plane, mixer, calls, pass };
}

function isAbout(value: number | undefined, wanted: number, within = 0.02): boolean {
  return value !== undefined && Math.abs(value - wanted) <= within;
}

test('two calls hear each other and not themselves, and no longer when one leaves', () => {
  const { plane, mixer, calls, pass } = holdCalls(500, 1200);
  const [one, other] = calls as [ToneCall, ToneCall];
  const first = mixer.add(one.leg);
  mixer.add(other.leg);
  pass(1000);
  for (const [call, own, theirs] of [[one, 500, 1200] as const, [other, 1200, 500] as const]) {
    const { level, shares } = call.last(20, own, theirs);
    assert.ok(isAbout(level, LEVEL / Math.SQRT2), `level ${level}`);
    assert.ok((shares[0] ?? 1) < 1e-4 && (shares[1] ?? 0) > 0.99, `shares ${shares.join(' ')}`);
  }
  first.leave();
  first.leave();
  assert.equal(first.stats(), undefined);
  pass(400);
  assert.equal(other.last(10).level < 1e-3, true);
  assert.equal(one.last(10).level < 1e-3, true);
  assert.equal(mixer.members.length, 1);
  plane.close();
});

test('a codec that changes in the middle goes on, with numbers that go on', () => {
  const { plane, mixer, calls, pass } = holdCalls(500, undefined);
  const [one, other] = calls as [ToneCall, ToneCall];
  mixer.add(one.leg);
  const member = mixer.add(other.leg);
  pass(500);
  other.changeCodec({ codec: 'opus', ...BROWSER });
  const before = other.heard.length;
  pass(500);
  const opus = other.heard.slice(before);
  assert.ok(opus.length > 20 && opus.every(({ payloadType }) => payloadType === 111));
  assert.ok(
    other.heard.every(({ sequence }, n) => sequence === ((other.heard[0]?.sequence ?? 0) + n) % 65_536),
  );
  const decoder = new OpusFrameDecoder();
  const samples = opus.flatMap(({ payload }) => [...decoder.decode(payload)]).slice(-9600);
  assert.ok(shareOf(samples, 500, 48_000) > 0.98);
  assert.equal(member.stats()?.late, 0);
  plane.close();
});

test('mute, deaf, gain and who hears whom', () => {
  const { plane, mixer, calls, pass } = holdCalls(500, 1200, 2100);
  const members = calls.map((call) => mixer.add(call.leg));
  const [one, two, three] = members as [(typeof members)[0], (typeof members)[0], (typeof members)[0]];
  const shares = (call: number) => calls[call]?.last(10, 500, 1200, 2100).shares ?? [];
  pass(500);
  assert.ok(
    shares(0).every((share, n) => isAbout(share, [0, 0.5, 0.5][n] ?? 0)),
    shares(0).join(' '),
  );
  two.set({ muted: true });
  pass(400);
  assert.ok(
    shares(0).every((share, n) => isAbout(share, [0, 0, 1][n] ?? 0)),
    shares(0).join(' '),
  );
  assert.ok(
    shares(1).every((share, n) => isAbout(share, [0.5, 0, 0.5][n] ?? 0)),
    shares(1).join(' '),
  );
  two.set({ muted: false, gain: 0.5 });
  three.hears(one, false); // a coach would be heard by one member only
  pass(400);
  assert.ok(
    shares(0).every((share, n) => isAbout(share, [0, 0.2, 0.8][n] ?? 0)),
    shares(0).join(' '),
  );
  assert.ok(
    shares(2).every((share, n) => isAbout(share, [0, 1, 0][n] ?? 0)),
    shares(2).join(' '),
  );
  one.set({ deaf: true });
  three.hears(one, true);
  pass(400);
  assert.ok((calls[0]?.last(10).level ?? 1) < 1e-3);
  assert.ok(
    shares(2).every((share, n) => isAbout(share, [0.8, 0.2, 0][n] ?? 0)),
    shares(2).join(' '),
  );
  plane.close();
});

test('our voice goes before the bridge, or over it', () => {
  const { plane, mixer, calls, pass } = holdCalls(500, undefined);
  const [one, other] = calls as [ToneCall, ToneCall];
  mixer.add(one.leg);
  const member = mixer.add(other.leg);
  const speak = () => {
    for (let n = 0; n < 20; n++) other.playout.push(other.playout.generation, 1, toneFrame(n, 1200));
    pass(400);
    return other.last(15, 500, 1200).shares;
  };
  pass(400);
  const [bridge = 1, voice = 0] = speak();
  assert.ok(bridge < 0.001 && voice > 0.99, `${bridge} ${voice}`);
  member.voice = 'ducked';
  assert.equal(member.voice, 'ducked');
  pass(400);
  assert.ok((other.last(10, 500).shares[0] ?? 0) > 0.99);
  const [under = 0, over = 0] = speak();
  assert.ok(isAbout(under, 1 / 17, 0.01) && isAbout(over, 16 / 17, 0.01), `${under} ${over}`);
  pass(400);
  const after = other.last(10, 500);
  assert.ok((after.shares[0] ?? 0) > 0.99 && isAbout(after.level, LEVEL / Math.SQRT2), 'the bridge goes on');
  plane.close();
});

test('sounds of ours are heard by all or by some, and end', async () => {
  const { plane, mixer, calls, pass } = holdCalls(undefined, undefined);
  const [first] = calls.map((call) => mixer.add(call.leg));
  const ring = PcmRing.open(MIX_HZ, MIX_HZ);
  const tone = Float32Array.from(
    { length: MIX_HZ / 2 },
    (_, n) => LEVEL * Math.sin((2 * Math.PI * 800 * n) / MIX_HZ),
  );
  ring.write(tone);
  ring.end();
  const only = first === undefined ? [] : [first];
  const source = mixer.addSource(ring, { gain: 0.5, only });
  const ended = new Promise<void>((resolve) => (source.onEnd = resolve));
  pass(400);
  assert.ok((calls[0]?.last(10, 800).shares[0] ?? 0) > 0.99);
  assert.ok(isAbout(calls[0]?.last(10).level, LEVEL / 2 / Math.SQRT2));
  assert.ok((calls[1]?.last(10).level ?? 1) < 1e-3);
  pass(400);
  await within('the end of the sound', ended);
  source.close();
  ring.close();
  const other = PcmRing.open(8000, 8000);
  assert.throws(() => mixer.addSource(other), /16000 Hz/);
  other.close();
  plane.close();
});

test('the mix is recorded, and members that speak are reported', async () => {
  const { plane, mixer, calls, pass } = holdCalls(500, 1200, undefined);
  const members = calls.map((call) => mixer.add(call.leg));
  const told: (readonly [number, boolean])[] = [];
  const spoken = new Promise<void>((resolve) => {
    mixer.onSpeaking = (member, isSpeaking) => {
      told.push([members.indexOf(member), isSpeaking]);
      if (told.length === 2) resolve();
    };
  });
  const sink = mixer.addSink({ capacityMs: 2000 });
  pass(800);
  await within('two speakers', spoken);
  assert.deepEqual(
    told.toSorted(([a], [b]) => a - b),
    [
      [0, true],
      [1, true],
    ],
  );
  const samples = new Float32Array(2 * MIX_HZ);
  const count = sink.ring.read(samples);
  assert.ok(count >= 0.78 * MIX_HZ && count <= 0.8 * MIX_HZ, `${count} samples`);
  const tail = [...samples.subarray(count - 3200, count)];
  assert.ok(isAbout(shareOf(tail, 500, MIX_HZ), 0.5) && isAbout(shareOf(tail, 1200, MIX_HZ), 0.5));
  sink.close();
  assert.equal(sink.ring.status()?.ended, true);
  sink.ring.close();
  plane.close();
});

test('a call is a member of one mixer, and closed ones are refused', () => {
  const watched = watchedHandles();
  const { plane, mixer, calls } = holdCalls(undefined);
  const second = MediaMixer.open(plane);
  const [call] = calls as [ToneCall];
  mixer.add(call.leg);
  assert.throws(() => second.add(call.leg), { code: 'WRONG_STATE' });
  mixer.close();
  mixer.close();
  second.add(call.leg).leave();
  call.socket.close();
  assert.throws(() => second.add(call.leg), { code: 'WRONG_STATE' });
  second.close();
  assert.throws(() => second.add(call.leg), { code: 'WRONG_STATE' });
  assert.throws(() => second.addSink({ capacityMs: 100 }), { code: 'WRONG_STATE' });
  plane.close();
  assert.equal(watchedHandles(), watched);
});

const ADDRESS = '127.0.0.1';

async function bound(): Promise<Socket> {
  const far = createSocket('udp4');
  await new Promise<void>((resolve) => far.bind(0, ADDRESS, resolve));
  return far;
}

test('a bridge of G.711 and Opus over real sockets: what one says the other hears', async (context) => {
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const range = { address: ADDRESS, portMin: 41_600, portMax: 41_699, drainMs: 0, dscp: 46 };
  const ports = RtpPorts.open(range);
  const mixer = MediaMixer.open(plane);
  const far = [await bound(), await bound()] as const;
  context.after(() => {
    plane.close();
    ports.close();
    for (const peer of far) peer.close();
  });
  const legs = far.map((peer, n) => {
    const socket = plane.openSocket({ ports, mux: true });
    socket.formats(FORMATS);
    socket.learn({ address: ADDRESS, port: peer.address().port });
    const codec = n === 0 ? { codec: 'PCMU' as const } : { codec: 'opus' as const, ...BROWSER };
    const playout = plane.openStream({ ...TELEPHONE, ssrc: n + 1, ...codec });
    socket.bind(playout);
    mixer.add({ socket, playout });
    return { socket, playout };
  });
  const decoder = new OpusFrameDecoder();
  const heard: number[] = [];
  const enough = new Promise<void>((resolve) =>
    far[1].on('message', (data) => {
      const { payloadType, payload } = parseRtp({ atMs: 0, data });
      if (payloadType === 111) heard.push(...decoder.decode(payload));
      if (heard.length >= 48_000) resolve();
    }),
  );
  let number = 0;
  const talker = setInterval(() => {
    const packet = { sequence: number, timestamp: number * FRAME, payload: toneFrame(number, 500) };
    far[0].send(rtp(packet), legs[0]?.socket.port ?? 0, ADDRESS);
    number++;
  }, 20);
  context.after(() => clearInterval(talker));
  await within('a second of the tone', enough);
  clearInterval(talker);
  // This process may be late with a packet: most pieces of 20 ms are the tone alone.
  const shares: number[] = [];
  for (let at = 0; at + 960 <= heard.length; at += 960) {
    shares.push(shareOf(heard.slice(at, at + 960), 500, 48_000));
  }
  const median = shares.toSorted((one, other) => one - other)[Math.floor(shares.length / 2)] ?? 0;
  assert.ok(median > 0.95, `${median}`);
  mixer.close();
});
