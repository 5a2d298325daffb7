// Sound that calls hear again and again, without a gap: music on hold, ring-back, the music of a queue. One
// mixer serves all calls that hear the same sound. Speech of a call is heard in its place.
import { PcmRing } from '../audio/pcm-ring.js';
import { Resampler } from '../audio/resampler.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import { attempt } from '../errors.js';
import type { Call } from './call.js';
import {
  legOf,
  type MediaJoiner,
  MIX_HZ,
  type Mixer,
  type MixerMember,
  type MixerSource,
} from './joined-media.js';

const RING_SECONDS = 2; // a main thread that is busy for so long is not heard

/** The samples at another rate. */
export function resampled({ samples, sampleRate }: PlayedSound, rate: number): Float32Array {
  if (sampleRate === rate) return samples;
  const resampler = new Resampler(sampleRate, rate);
  const out = new Float32Array(resampler.maxOutput(samples.length));
  const made = resampler.process(samples, samples.length, out);
  return out.subarray(0, made + resampler.flush(out, made));
}

/** Samples of MIX_HZ, in order. They are pulled as they are needed. */
export type MixerSamples = () => AsyncIterable<Float32Array> | Iterable<Float32Array>;

/** The sound as often as it says, or so many times. */
export function samplesOf(sound: PlayedSound, times = sound.times ?? 1): MixerSamples {
  return function* () {
    const samples = resampled(sound, MIX_HZ);
    for (let time = 0; time < times && samples.length > 0; time++) yield samples;
  };
}

/** A sound in a mixer, until it is over or closed. */
export class MixedSound {
  /** Resolves when everything was taken by the mixer, or the sound was closed. Rejects if `sound` fails. */
  readonly over: Promise<void>;
  readonly #ring: PcmRing;
  readonly #source: MixerSource;
  /** The mixer has played the ring to its end. */
  readonly #played: Promise<void>;
  #resolvePlayed!: () => void;
  #isClosed = false;

  constructor(mixer: Pick<Mixer, 'addSource'>, sound: MixerSamples) {
    this.#played = new Promise((resolve) => (this.#resolvePlayed = resolve));
    this.#ring = PcmRing.open(MIX_HZ, RING_SECONDS * MIX_HZ);
    try {
      this.#source = mixer.addSource(this.#ring);
      this.#source.onEnd = () => this.#resolvePlayed();
    } catch (error) {
      this.#ring.close();
      throw error;
    }
    this.over = this.#write(sound());
    this.over.catch(() => undefined);
  }

  async #write(sound: ReturnType<MixerSamples>): Promise<void> {
    try {
      for await (const samples of sound) await this.#ring.writeAll(samples);
      this.#ring.end();
      await this.#played;
    } catch (error) {
      if (!this.#isClosed) throw error;
    } finally {
      this.close();
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#source.close();
    this.#ring.abort();
    this.#ring.close();
    this.#resolvePlayed();
  }
}

/** A mixer of this sound, with those who hear it. */
interface MusicMixer {
  readonly mixer: Mixer;
  readonly sound: MixedSound;
  listeners: number;
}

const MOST_LISTENERS = 250; // a mixer has 256 members

export class CallMusic {
  readonly #joiner: Pick<MediaJoiner, 'openMixer'>;
  readonly #sound: PlayedSound;
  readonly #mixers: MusicMixer[] = [];
  readonly #listeners = new Set<() => void>();

  /** Throws what `openMixer` throws. */
  constructor(joiner: Pick<MediaJoiner, 'openMixer'>, sound: PlayedSound) {
    this.#joiner = joiner;
    this.#sound = sound;
    this.#open();
  }

  get size(): number {
    return this.#listeners.size;
  }

  /**
   * The call hears the sound on each port that it has, until the returned function is called. Throws what
   * `openMixer` throws.
   */
  add(call: Call): () => void {
    const music = this.#mixers.find(({ listeners }) => listeners < MOST_LISTENERS) ?? this.#open();
    let member: MixerMember | undefined;
    const stopFollowing = call.follow((port) => {
      member?.leave();
      const leg = legOf(port);
      member = leg === undefined ? undefined : music.mixer.add(leg, { muted: true });
    });
    music.listeners++;
    const leave = () => {
      if (!this.#listeners.delete(leave)) return;
      music.listeners--;
      stopFollowing();
      attempt({ work: 'music of calls', call: call.id }, () => member?.leave());
    };
    this.#listeners.add(leave);
    return leave;
  }

  /** Idempotent. */
  close(): void {
    for (const leave of this.#listeners) leave();
    for (const { mixer, sound } of this.#mixers.splice(0)) {
      sound.close();
      mixer.close();
    }
  }

  #open(): MusicMixer {
    const mixer = this.#joiner.openMixer();
    try {
      const sound = new MixedSound(mixer, samplesOf(this.#sound, Infinity));
      const music = { mixer, sound, listeners: 0 };
      this.#mixers.push(music);
      return music;
    } catch (error) {
      mixer.close();
      throw error;
    }
  }
}
