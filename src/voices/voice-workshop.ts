// Builds the parts that turn sound of requests into voices: decoder, cache, store, and their place in the routing.
import type { Config } from '../config/config.js';
import type { Log } from '../observe/log.js';
import type { Engines } from '../engines/routing.js';
import { MadeVoices } from './made-voices.js';
import { PlayedSounds, References, VoiceCache, type VoiceCacheFigures } from './references.js';
import { ReferenceAudio } from './reference-audio.js';
import type { Network } from './audio-source.js';
import { VoiceStore } from './voice-store.js';

type VoiceConfig = Pick<Config, 'voicesDir' | 'voiceCacheMax' | 'referenceUrls' | 'maxUploadBytes'>;

export class VoiceWorkshop {
  /** Voices from samples in requests. */
  readonly samples: References;
  /** Stored voices. */
  readonly made: MadeVoices;
  /** Sounds that are played unchanged. */
  readonly sounds: PlayedSounds;
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
    const from = network === undefined ? {} : { network };
    this.samples = new References({ audio, cache, engines, maxBytes, urls, ...from });
    this.sounds = new PlayedSounds({ audio, maxBytes, urls, ...from });
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

  get figures(): VoiceCacheFigures {
    return this.#cache.figures;
  }

  /** Aborts decoding. */
  close(): Promise<void> {
    return this.#audio.close();
  }
}
