// Far ends of every kind that a server under test takes calls from: SIP with RTP, a browser (werift), a
// WebSocket and an AudioSocket. Each sends 20 ms of its sound after the other, keeps what it hears, and
// presses keys.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { MU_LAW, MU_LAW_VALUES } from '../../src/codecs/g711.js';
import { FarEnd as AudioSocketPeer } from '../api/audiosocket/far-end.js';
import { SocketClient } from '../api/http/socket-client.js';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { readEvent, RtpPeer, writeRtp } from '../interop/telephone/rtp-peer.js';
import type { Address } from '../interop/telephone/sipp.js';
import type { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { WeriftClient } from '../signaling/werift-client.js';
import { description, EVENTS, mediaPortIn } from './heard-calls.js';
import { callFrom, hangUp, type RawCall, UdpCaller } from './raw-caller.js';

const FRAME = 160; // samples of 8 kHz
const FRAME_MS = 20;
const FULL_SCALE = 32_768;
const SOUND_KIND = 0x10; // of AudioSocket
const KEY_KIND = 0x03;
const HANG_UP_KIND = 0x00;

/** A SIP caller with all its parts. */
export interface Caller {
  readonly signalling: UdpCaller;
  readonly rtp: RtpPeer;
  readonly dialog: RawCall;
  /** Id of the call at the server. */
  readonly id: string;
  readonly stream: ReturnType<RtpPeer['stream']>;
  /** Where the server takes its media. */
  readonly media: Address;
}

/** One far end, whatever it speaks. */
export interface AnyCaller {
  readonly id: string;
  /** Says samples of 8 kHz; resolves when all of them were sent. */
  says(samples: Float32Array): Promise<void>;
  press(key: string): Promise<void>;
  /** The keys that came as events, not as sound. */
  keys(): readonly string[];
  /** Frames of 20 ms that it heard so far. */
  readonly frames: number;
  /** The frames from this one on, in samples of 8 kHz. */
  heard(from: number): Float32Array;
  hangUp(): Promise<void>;
}

export type CallerKind = 'sip' | 'browser' | 'websocket' | 'audiosocket';

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

/** Asks the server over HTTP. */
export async function ask(
  { server }: TelephoneServer,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${server.url}/v1${path}`, { method, ...(body === undefined ? {} : json) });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** Calls the server by SIP, and waits until the call is connected and heard. */
export async function sipCaller(t: TestContext, { server, rtp: given }: FarEnds): Promise<Caller> {
  const signalling = await kept(t, UdpCaller.open(server.address));
  const rtp = given ?? (await kept(t, RtpPeer.open()));
  const heardBefore = rtp.heard.length;
  const known = new Set(server.telephone.list().map(({ id }) => id));
  const body = description(rtp.port, 'mu');
  const dialog = await callFrom(signalling, { uri: 'sip:wait@127.0.0.1', body });
  const media = { host: '127.0.0.1', port: mediaPortIn(dialog.answer) };
  const stream = rtp.stream(media);
  const isNew = ({ id, state }: { id: string; state: string }) => state === 'connected' && !known.has(id);
  await until(() => server.telephone.list().some(isNew));
  const { id = '' } = server.telephone.list().find(isNew) ?? {};
  await until(() => rtp.heard.length > heardBefore);
  return { signalling, rtp, dialog, id, stream, media };
}

const isSound = ({ payloadType }: { readonly payloadType: number }) => payloadType === 0 || payloadType === 8;

/** Each key once: its packets have one timestamp. */
function keysOf({ rtp }: Pick<Caller, 'rtp'>): readonly string[] {
  const events = rtp.heard.filter(({ payloadType }) => payloadType === EVENTS);
  const keys = new Map(events.map(({ timestamp, payload }) => [timestamp, readEvent(payload)?.digit ?? '?']));
  return [...keys.values()];
}

function samplesOf(codes: Uint8Array): Float32Array {
  return Float32Array.from(codes, (code) => (MU_LAW_VALUES[code] ?? 0) / FULL_SCALE);
}

const muLawOf = (frame: Int16Array) =>
  Buffer.from(Array.from(frame, (sample) => MU_LAW[sample + FULL_SCALE] ?? 0));

/** Gives a frame of 20 ms in its time, silence where nothing is to be said, until it is closed. */
class PacedSound {
  readonly #send: (frame: Int16Array) => void;
  readonly #queue: Int16Array[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #startedAtMs = performance.now();
  #frames = 0;
  #drained: (() => void)[] = [];

  constructor(send: (frame: Int16Array) => void) {
    this.#send = send;
    this.#timer = setInterval(() => this.#tick(), FRAME_MS / 2);
  }

  says(samples: Float32Array): Promise<void> {
    for (let at = 0; at < samples.length; at += FRAME) {
      const frame = new Int16Array(FRAME);
      samples
        .subarray(at, at + FRAME)
        .forEach((sample, n) => (frame[n] = Math.round(sample * (FULL_SCALE - 1))));
      this.#queue.push(frame);
    }
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #tick(): void {
    for (; performance.now() >= this.#startedAtMs + this.#frames * FRAME_MS; this.#frames++) {
      this.#send(this.#queue.shift() ?? new Int16Array(FRAME));
      if (this.#queue.length === 0) for (const resolve of this.#drained.splice(0)) resolve();
    }
  }
}

export interface FarEnds {
  readonly server: TelephoneServer;
  /** Of AUDIOSOCKET_PORT. */
  readonly audioSocketPort: number;
  /** The media of SIP calls, one after the other; absent: each has its own. */
  readonly rtp?: RtpPeer;
}

/** A call of this kind, which nobody conducts but the client of a WebSocket. */
export async function callOf(t: TestContext, kind: CallerKind, farEnds: FarEnds): Promise<AnyCaller> {
  switch (kind) {
    case 'sip':
      return sipCall(await sipCaller(t, farEnds));
    case 'browser':
      return browserCall(t, farEnds);
    case 'websocket':
      return socketCall(t, farEnds);
    case 'audiosocket':
      return audioSocketCall(t, farEnds);
  }
}

export function sipCall(caller: Caller): AnyCaller {
  return {
    id: caller.id,
    says: (samples) => caller.stream.play(samples),
    press: (key) => caller.stream.press(key),
    keys: () => keysOf(caller),
    get frames() {
      return caller.rtp.heard.filter(isSound).length;
    },
    heard: (from) => {
      const sound = caller.rtp.heard.filter(isSound).slice(from);
      return samplesOf(Buffer.concat(sound.map(({ payload }) => payload)));
    },
    hangUp: () => {
      caller.stream.stop();
      return hangUp(caller.signalling, caller.dialog);
    },
  };
}

async function browserCall(t: TestContext, { server }: FarEnds): Promise<AnyCaller> {
  const client = await kept(t, new WeriftClient('PCMU', { speaks: true }));
  const answer = await fetch(`${server.server.url}/v1/realtime/calls?agent=none`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: await client.offer(),
  });
  assert.equal(answer.status, 201);
  const id = answer.headers.get('location')?.split('/').at(-1) ?? '';
  await client.accept(await answer.text());
  await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
  let sequence = 0;
  const sound = await kept(
    t,
    new PacedSound((frame) => {
      const head = { marker: sequence === 0, payloadType: 0, ssrc: 0, sequence, timestamp: sequence * FRAME };
      client.sendRtp(writeRtp({ ...head, payload: muLawOf(frame) }));
      sequence++;
    }),
  );
  return {
    id,
    says: (samples) => sound.says(samples),
    press: async (key) => client.send({ type: 'digit', digit: key }),
    keys: () => [],
    get frames() {
      return client.packets.length;
    },
    heard: (from) => samplesOf(Buffer.concat(client.packets.slice(from).map(({ payload }) => payload))),
    hangUp: async () => {
      await sound.close();
      await fetch(`${server.server.url}/v1/realtime/calls/${id}`, { method: 'DELETE' });
    },
  };
}

async function socketCall(t: TestContext, { server }: FarEnds): Promise<AnyCaller> {
  const client = await SocketClient.open(t, `${server.server.url}/v1/relay?format=ulaw`);
  const sounds = () => client.messages.filter((message) => typeof message !== 'string');
  const setup = () => client.received.find(({ type }) => type === 'setup');
  await until(() => setup() !== undefined);
  const sound = await kept(t, new PacedSound((frame) => client.send(muLawOf(frame))));
  return {
    id: String(setup()?.['callSid']),
    says: (samples) => sound.says(samples),
    press: () => assert.fail('the protocol carries keys to the far end only'),
    keys: () => client.received.filter(({ type }) => type === 'dtmf').map(({ digit }) => String(digit)),
    get frames() {
      return sounds().length;
    },
    heard: (from) => samplesOf(Buffer.concat(sounds().slice(from))),
    hangUp: async () => {
      await sound.close();
      client.socket.close();
    },
  };
}

async function audioSocketCall(t: TestContext, { server, audioSocketPort }: FarEnds): Promise<AnyCaller> {
  const list = async () => {
    const { json } = await ask(server, 'GET', '/calls?limit=100');
    const open = json['data'] as { id: string; protocol: string; state: string }[];
    return open.filter(({ protocol, state }) => protocol === 'audiosocket' && state === 'connected');
  };
  const known = new Set((await list()).map(({ id }) => id));
  const peer = await AudioSocketPeer.call(t, audioSocketPort);
  const sound = await kept(t, new PacedSound((frame) => peer.send(SOUND_KIND, new Uint8Array(frame.buffer))));
  let id: string | undefined;
  await until(async () => (id = (await list()).find((call) => !known.has(call.id))?.id) !== undefined);
  return {
    id: id ?? '',
    says: (samples) => sound.says(samples),
    press: async (key) => peer.send(KEY_KIND, Buffer.from(key)),
    keys: () => [],
    get frames() {
      return peer.sounds(SOUND_KIND).length;
    },
    heard: (from) => {
      const bytes = Buffer.concat(peer.sounds(SOUND_KIND).slice(from));
      return Float32Array.from({ length: bytes.length / 2 }, (_, n) => bytes.readInt16LE(2 * n) / FULL_SCALE);
    },
    hangUp: async () => {
      await sound.close();
      peer.send(HANG_UP_KIND);
    },
  };
}
