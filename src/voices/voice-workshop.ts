// Turns sound of requests into voices. MadeVoices makes, lists and removes the voices made over HTTP, and
// provides their references to engines. VoiceWorkshop builds and joins the parts: decoder, cache, store, and
// their place in the routing.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { toBytesS16le } from '../audio/pcm16.js';
import { readWav, WAV_HEADER_BYTES, wavHeader } from '../codecs/wav.js';
import type { VoicesConfig } from '../config/voices-config.js';
import type { VoiceReference } from '../engines/engine.js';
import { renderingKey } from '../engines/rendering-key.js';
import type { CustomVoice, Engines, VoiceAbilities } from '../engines/routing.js';
import { ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import { type Network, withinLimit } from './audio-source.js';
import { REFERENCE_RATE, ReferenceAudio } from './reference-audio.js';
import { PlayedSounds, References, sampleHash, VoiceCache } from './references.js';
import { SoundLibrary } from './sound-library.js';
import { type NewVoice, type StoredVoice, VoiceStore } from './voice-store.js';

interface MadeVoicesOptions {
  readonly store: VoiceStore;
  readonly cache: VoiceCache;
  readonly audio: Pick<ReferenceAudio, 'decode'>;
  readonly engines: VoiceAbilities;
  /** Bytes of a sample. */
  readonly maxBytes: number;
}

const FIELD = 'audio_sample';

export class MadeVoices {
  readonly #options: MadeVoicesOptions;

  constructor(options: MadeVoicesOptions) {
    this.#options = options;
  }

  named(idOrName: string): CustomVoice | undefined {
    const voice = this.find(idOrName);
    return voice === undefined ? undefined : this.#custom(voice);
  }

  customVoices(): readonly CustomVoice[] {
    return this.list().map((voice) => this.#custom(voice));
  }

  list(): readonly StoredVoice[] {
    return this.#options.store.list();
  }

  find(idOrName: string): StoredVoice | undefined {
    return this.#options.store.find(idOrName);
  }

  /**
   * Rejects with CAPABILITY_MISSING and EXISTS before it decodes the sample, and with AUDIO_INVALID after.
   */
  async make(voice: NewVoice, sample: Uint8Array | undefined, signal: AbortSignal): Promise<StoredVoice> {
    const { store, audio, engines, maxBytes } = this.#options;
    const [kind, field] =
      voice.kind === 'prompt' ? (['prompt', 'prompt'] as const) : (['sample', FIELD] as const);
    engines.checkAble(kind, voice.language, field);
    store.check(voice.name);
    if (engines.isNamed(voice.name)) {
      throw new ParleyError('EXISTS', `"${voice.name}" is a voice that was there before`, { field: 'name' });
    }
    if (sample === undefined) return store.add(voice);
    const samples = await audio.decode(withinLimit(sample, maxBytes, FIELD), FIELD, signal);
    engines.checkAble('sample', voice.language, FIELD, samples.length / REFERENCE_RATE);
    return store.add(voice, wavFile(samples));
  }

  checkAble(kind: VoiceReference['kind'], language: string | undefined, field: string): void {
    this.#options.engines.checkAble(kind, language, field);
  }

  /** False if there is no such voice. */
  async remove(idOrName: string): Promise<boolean> {
    const voice = this.find(idOrName);
    if (voice === undefined) return false;
    if (voice.content !== undefined) this.#options.cache.drop(cacheKey(voice, voice.content.hash));
    return this.#options.store.remove(voice.id);
  }

  #custom(voice: StoredVoice): CustomVoice {
    const { id, name, language, description } = voice;
    return {
      id,
      name,
      language,
      description: description ?? '',
      reference: this.#reference(voice),
    };
  }

  #reference(voice: StoredVoice): VoiceReference {
    const { prompt = '', content, text } = voice;
    if (content === undefined) return { kind: 'prompt', hash: renderingKey(['prompt', prompt]), prompt };
    const samples = () => this.#samplesOf(voice, content.hash);
    return {
      kind: 'sample',
      hash: sampleHash(content.hash, text),
      rate: REFERENCE_RATE,
      text,
      /** Read only when an engine speaks with it; a cached rendering needs no samples. */
      get samples() {
        return samples();
      },
    };
  }

  // Synchronous, as engines need it: 3 MB take a few milliseconds, for a voice that is not in the cache.
  #samplesOf(voice: StoredVoice, content: string): Float32Array {
    const { cache, store } = this.#options;
    const known = cache.find(cacheKey(voice, content));
    if (known !== undefined) return known;
    const samples = readSample(store.samplePath(voice), voice.name, content);
    cache.keep(cacheKey(voice, content), samples);
    return samples;
  }
}

// The id alone is not enough: another server may have stored another voice under the same name since.
function cacheKey({ id }: StoredVoice, content: string): string {
  return `voice ${id} ${content}`;
}

function readSample(path: string, name: string, content: string): Float32Array {
  try {
    const file = readFileSync(path);
    if (hash('sha256', file, 'hex') !== content) throw new Error('it is not what was written');
    const wav = readWav(file);
    const samples = new Float32Array(wav.frames);
    wav.read(0, 0, samples);
    return samples;
  } catch (error) {
    throw new ParleyError('ENGINE_UNAVAILABLE', `the sample of the voice ${name} cannot be read`, {
      cause: error,
    });
  }
}

function wavFile(samples: Float32Array): Uint8Array {
  const file = new Uint8Array(WAV_HEADER_BYTES + 2 * samples.length);
  file.set(wavHeader(REFERENCE_RATE, samples.length));
  toBytesS16le(samples, samples.length, file, WAV_HEADER_BYTES);
  return file;
}

type VoiceConfig = Pick<
  VoicesConfig,
  'voicesDir' | 'voiceCacheMax' | 'soundCacheBytes' | 'soundsDir' | 'referenceUrls' | 'maxUploadBytes'
>;

export class VoiceWorkshop {
  /** Voices from samples in requests. */
  readonly samples: References;
  /** Stored voices. */
  readonly made: MadeVoices;
  /** Sounds that are played unchanged. */
  readonly sounds: PlayedSounds;
  /** Sounds by name. */
  readonly library: SoundLibrary;
  readonly #cache: VoiceCache;
  readonly #audio: ReferenceAudio;

  private constructor(
    config: VoiceConfig,
    engines: Engines,
    store: VoiceStore,
    network: Network | undefined,
  ) {
    const { maxUploadBytes: maxBytes, referenceUrls: urls } = config;
    const cache = new VoiceCache(config.voiceCacheMax);
    const audio = new ReferenceAudio();
    this.#cache = cache;
    this.#audio = audio;
    this.samples = new References({ audio, cache, engines, maxBytes, urls, network });
    const library = new SoundLibrary({ folder: config.soundsDir, audio });
    this.library = library;
    const { soundCacheBytes: cacheBytes } = config;
    this.sounds = new PlayedSounds({ audio, library, maxBytes, urls, network, cacheBytes });
    this.made = new MadeVoices({ audio, cache, engines, maxBytes, store });
  }

  /** Rejects with CONFIG_INVALID if VOICES_DIR cannot be read. */
  static async open(
    config: VoiceConfig,
    engines: Engines,
    log: Log,
    network?: Network,
  ): Promise<VoiceWorkshop> {
    const store = await VoiceStore.open({
      folder: config.voicesDir,
      onBroken: (folder, reason) => log.error({ folder, reason }, 'voice left out: its folder is not usable'),
    });
    const workshop = new VoiceWorkshop(config, engines, store, network);
    engines.useCustom(workshop.made);
    return workshop;
  }

  get figures(): VoiceCache['figures'] {
    return this.#cache.figures;
  }

  /** Aborts decoding. */
  close(): Promise<void> {
    return this.#audio.close();
  }
}
