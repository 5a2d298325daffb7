// Everything that is made of sound that requests bring, built in order: the
// decoder, what is in memory, what is on disk, and their place in the routing.
import type { Config } from '../config/config.js';
import type { Log } from '../observe/log.js';
import type { Engines } from '../engines/engine-choice.js';
import { MadeVoices } from './made-voices.js';
import { PlayedSounds } from './played-sounds.js';
import { ReferenceAudio } from './reference-audio.js';
import { References } from './references.js';
import type { Network } from './remote-file.js';
import { VoiceCache, type VoiceCacheFigures } from './voice-cache.js';
import { VoiceStore } from './voice-store.js';

type VoiceConfig = Pick<Config, 'voicesDir' | 'voiceCacheMax' | 'referenceUrls' | 'maxUploadBytes'>;

export class VoiceWorkshop {
  /** Voices that come with requests. */
  readonly samples: References;
  /** Voices that are kept. */
  readonly made: MadeVoices;
  /** What is played as it is. */
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

  /** Rejects with CONFIG_INVALID when what is on disk cannot be read. */
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

  /** Gives up what is being decoded. */
  close(): Promise<void> {
    return this.#audio.close();
  }
}
