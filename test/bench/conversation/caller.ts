// A scripted caller in a call: it sends a frame every 20 ms, silence where it says nothing, and records both
// directions. What it says is told to the recogniser and to the turn model of the server.
import { setTimeout as sleep } from 'node:timers/promises';
import { SAMPLE_RATE } from '../../../src/hearing/ear-source.js';
import { systemTime } from '../../../src/time.js';
import type { ToConversationServer } from './conversation-server.js';
import type { Span } from './judge.js';
import { FRAME_SAMPLES, type Line } from './line.js';
import type { LoudspeakerEcho } from './noises.js';
import { type Packet, PACKET_MS, type Recording } from './recording.js';
import type { Spoken } from './spoken.js';

const SOUND = 0.003; // -50 dBFS
const LOOK_MS = 20;
/** Answers of the turn model for a pause within a sentence, and for its end. */
const GOES_ON = 0.05;
const IS_OVER = 0.9;

export interface CallerOptions {
  readonly name: string;
  readonly line: Line;
  readonly tell: (message: ToConversationServer) => void;
}

export class Caller {
  readonly name: string;
  readonly #options: CallerOptions;
  readonly #caller: Packet[] = [];
  readonly #ours: Packet[] = [];
  readonly #startedMs = systemTime.now();
  #slot = 0;
  #queue: Float32Array = new Float32Array(0);
  /** Times at which the frames of the present sound left. */
  #sent: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastSoundMs = -Infinity;
  /** The microphone hears our voice while this is set. */
  echo: LoudspeakerEcho | undefined;

  constructor(options: CallerOptions) {
    const { name, line } = options;
    this.name = name;
    this.#options = options;
    line.onPacket = (packet) => this.#take(packet);
    this.#tick();
  }

  get recording(): Recording {
    return { caller: this.#caller, ours: this.#ours };
  }

  /** Our voice has been heard within the last so many milliseconds. */
  hearsVoice(withinMs: number): boolean {
    return systemTime.now() - this.#lastSoundMs < withinMs;
  }

  /** Resolves when our voice begins; false if it does not within the limit. */
  async voice(limitMs: number): Promise<boolean> {
    const fromMs = systemTime.now();
    while (this.#lastSoundMs < fromMs && systemTime.now() < fromMs + limitMs) await sleep(LOOK_MS);
    return this.#lastSoundMs >= fromMs;
  }

  /** Resolves when our voice has been silent for so long; false if it is not within the limit. */
  async quiet(ms: number, limitMs: number): Promise<boolean> {
    const untilMs = systemTime.now() + limitMs;
    while (this.hearsVoice(ms) && systemTime.now() < untilMs) await sleep(LOOK_MS);
    return !this.hearsVoice(ms);
  }

  /** Says it. Resolves when the last frame was sent, with the times of its sound and its pauses. */
  async say({ sound, words, pauses }: Spoken): Promise<Span & { readonly pauses: readonly Span[] }> {
    const { name, tell } = this.#options;
    const fromMs = this.#nextMs;
    const placed = ({ fromMs: from, toMs }: Span) => ({ fromMs: fromMs + from, toMs: fromMs + toMs });
    const lengthMs = (1000 * sound.length) / SAMPLE_RATE;
    tell({
      type: 'words',
      caller: name,
      words: words.map(({ word, endMs }) => ({ word, atMs: fromMs + endMs })),
    });
    const inner = pauses.map((pause) => ({ atMs: fromMs + pause.fromMs, probability: GOES_ON }));
    const labels = [...inner, { atMs: fromMs + lengthMs, probability: IS_OVER }];
    tell({ type: 'labels', caller: name, labels });
    const span = await this.play(sound);
    return { ...span, pauses: pauses.map(placed) };
  }

  /** Sends a sound without words. Resolves when its last frame was sent. */
  async play(sound: Float32Array): Promise<Span> {
    if (this.#queue.length > 0) throw new Error('the caller speaks already');
    this.#queue = sound;
    this.#sent = [];
    while (this.#queue.length > 0) await sleep(LOOK_MS);
    const [first = 0, last = first] = [this.#sent[0], this.#sent.at(-1)];
    return { fromMs: first - PACKET_MS, toMs: last };
  }

  /** Hangs up. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#options.line.close();
  }

  /** The first sample of the next frame is said then; the frame leaves when it has been said. */
  get #nextMs(): number {
    return this.#startedMs + (this.#slot - 1) * PACKET_MS;
  }

  #take(packet: Packet): void {
    this.#ours.push(packet);
    this.echo?.play(packet.samples, packet.rate);
    if (packet.samples.some((sample) => Math.abs(sample) > SOUND)) this.#lastSoundMs = packet.atMs;
  }

  /** Sends what is due. Due times count from the start, so that a late timer makes nothing slow. */
  #tick(): void {
    while (systemTime.now() >= this.#startedMs + this.#slot * PACKET_MS) {
      const frame = new Float32Array(FRAME_SAMPLES);
      if (this.#queue.length > 0) this.#sent.push(systemTime.now());
      frame.set(this.#queue.subarray(0, FRAME_SAMPLES));
      this.#queue = this.#queue.subarray(Math.min(FRAME_SAMPLES, this.#queue.length));
      this.#slot++;
      this.#caller.push({ atMs: systemTime.now(), samples: frame.slice(), rate: SAMPLE_RATE });
      this.echo?.addTo(frame);
      this.#options.line.send(frame);
    }
    const waitMs = this.#startedMs + this.#slot * PACKET_MS - systemTime.now();
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, waitMs));
  }
}
