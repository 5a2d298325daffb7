// Decodes one sound after the other in its thread, whose priority is below that of calls and their encoders.
import { parentPort } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { PcmRing } from '../audio/pcm-ring.js';
import { mixDown, soundFileReader, type SoundFileReader } from '../codecs/sound-file.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { FromDecoder, ToDecoder } from './sound-decoders.js';
import { noSpeakers } from './decoded-sound.js';

const NICENESS = 10;

if (parentPort === null) throw new Error('decoding-worker.js runs in a worker thread');
const port = parentPort;

/** The sound of one file on its way into its rings. */
class Sound {
  readonly #reader: SoundFileReader;
  #rings: readonly PcmRing[] = [];
  #rate = 0;
  #opened: () => void = () => undefined;
  #mono = new Float32Array(0);
  readonly #channel: number | undefined;
  #areDifferent = false;

  constructor(kind: Parameters<typeof soundFileReader>[0], channel: number | undefined) {
    this.#channel = channel;
    this.#reader = soundFileReader(kind, (channels, rate) => this.#take(channels, rate));
  }

  get channels(): number {
    return this.#areDifferent ? 2 : 1;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#reader.write(bytes);
  }

  async end(): Promise<void> {
    await this.#reader.end();
    if (this.#rate === 0) throw new ParleyError('AUDIO_INVALID', 'the file has no sound');
  }

  free(): void {
    this.#reader.free();
  }

  enter(rings: readonly number[], rate: number): void {
    this.#rings = rings.map((handle) => PcmRing.attach(handle, rate));
    this.#opened();
  }

  async #take(channels: readonly Float32Array[], rate: number): Promise<void> {
    if (this.#rate === 0) {
      this.#rate = rate;
      const opened = new Promise<void>((resolve) => (this.#opened = resolve));
      say({ type: 'rate', rate });
      await opened;
    }
    if (rate !== this.#rate) throw new ParleyError('AUDIO_INVALID', 'its sample rate changes on the way');
    const mono = this.#mixed(channels);
    for (const ring of this.#rings) await ring.writeAll(mono);
  }

  #mixed(channels: readonly Float32Array[]): Float32Array {
    const [first = new Float32Array(0)] = channels;
    if (channels.length === 1) return first;
    if (this.#channel !== undefined) return this.#only(this.#channel, channels);
    if (this.#mono.length < first.length) this.#mono = new Float32Array(first.length);
    return mixDown(channels, this.#mono);
  }

  /** One of two channels. Some files have the same sound in both. */
  #only(channel: number, channels: readonly Float32Array[]): Float32Array {
    const [left = new Float32Array(0), right = left] = channels;
    if (channels.length > 2) throw noSpeakers(channels.length);
    this.#areDifferent ||= left.some((sample, at) => sample !== right[at]);
    return channel === 0 ? left : right;
  }
}

function say(message: FromDecoder): void {
  port.postMessage(message);
}

let sound: Sound | undefined;

async function handle(message: ToDecoder): Promise<void> {
  try {
    if (message.type === 'open') {
      sound = new Sound(message.kind, message.channel);
    } else if (message.type === 'rings') {
      sound?.enter(message.rings, message.rate);
    } else if (message.type === 'bytes') {
      await sound?.write(message.bytes);
      say({ type: 'taken' });
    } else {
      await sound?.end();
      const channels = sound?.channels ?? 1;
      sound?.free();
      sound = undefined;
      say({ type: 'done', channels });
    }
  } catch (error) {
    sound?.free();
    sound = undefined;
    const { code, message: text } = asParleyError(error, 'AUDIO_INVALID');
    say({ type: 'failed', code, message: text });
  }
}

loadAddon<{ lowerThreadPriority(nice: number): void }>().lowerThreadPriority(NICENESS);
port.on('message', (message: ToDecoder) => void handle(message));
