// Speaks with Pocket TTS: one model for each language, each loaded at its first use. The same voices speak
// all languages.
import type { PcmRing } from '../../audio/pcm-ring.js';
import type { PocketConfig, PocketFolder } from '../../config/pocket-config.js';
import { ParleyError } from '../../errors.js';
import {
  type EngineCapabilities,
  type EngineDevice,
  keepRingContract,
  type SpeechClass,
  type SpeechEnd,
  type SpeechEngine,
  type SynthesisRequest,
  type Voice,
} from '../engine.js';
import { chunksOf, NO_CHUNKS, together } from '../engine-work.js';
import { checkpointIdentity } from '../native/checkpoint-identity.js';
import { NativeEngine, type NativeEngineOptions } from '../native/native-engine.js';
import { inspectModel, type ModelFacts, type NativeOptions } from '../native/native-speech.js';
import { pocketStandIn, voicesOf } from './pocket-voices.js';

export interface PocketOptions extends Omit<NativeEngineOptions, 'native'> {
  readonly native: Omit<NativeOptions, 'directory'>;
}

export class PocketEngine implements SpeechEngine {
  readonly name = 'pocket';
  readonly identity: string;
  readonly capabilities: EngineCapabilities;
  /** By language, preferred ones first. */
  readonly #models: ReadonlyMap<string, NativeEngine>;
  readonly #voices: readonly Voice[];

  private constructor(models: ReadonlyMap<string, NativeEngine>, voices: readonly Voice[]) {
    const cloning = [...models].flatMap(([language, { capabilities }]) =>
      capabilities.clone ? language : [],
    );
    this.#models = models;
    this.#voices = voices;
    this.identity = JSON.stringify([...models].map(([language, { identity }]) => [language, identity]));
    this.capabilities = {
      clone: cloning.length > 0,
      design: false,
      instruct: false,
      sampling: true,
      wordTimes: false,
      // Each chunk of text begins anew with the voice, so that text which follows gains nothing.
      textStreaming: false,
      languages: [...models.keys()],
      referenceLanguages: cloning,
      leastSampleSeconds: LEAST_SAMPLE_SECONDS,
    };
  }

  /**
   * Inspects the models without loading them. Rejects with ENGINE_UNAVAILABLE, naming the defect, if one that
   * the configuration names is unusable. One that was found in the cache is left out, and so is a voice that
   * does not fit its model, with news of it. The engine may have no model left.
   */
  static async open(
    { stated, models: named, nonCommercial, isFound = false }: PocketConfig,
    options: PocketOptions,
  ): Promise<PocketEngine> {
    const folders = [...(stated === undefined ? [] : [stated]), ...named].filter(
      ({ language }, index, all) => all.findIndex((one) => one.language === language) === index,
    );
    const looked = folders.map((folder) =>
      inspected(folder, folder === stated).catch((error: unknown) => {
        if (!isFound || folder === stated) throw error;
        options.onNews?.({ what: 'model refused', reason: (error as Error).message });
        return [];
      }),
    );
    const found = (await Promise.all(looked)).flat();
    for (const reason of found.flatMap(({ facts }) => facts.voiceProblems))
      options.onNews?.({ what: 'voice refused', reason });
    const voices = voicesOf(found, nonCommercial);
    const models = found.map(({ directory, language, facts, identity }) => {
      const own = voices.filter(({ name }) => facts.speakers.includes(name));
      const model = {
        engine: 'pocket',
        identity,
        facts,
        voices: own,
        capabilities: { ...NO_CAPABILITIES, clone: facts.takesRecording, languages: [language] },
        about: { language },
        languageOf: () => undefined,
      };
      return [
        language,
        new NativeEngine(model, { ...options, native: { ...options.native, directory } }),
      ] as const;
    });
    return new PocketEngine(new Map(models), voices);
  }

  get usable(): boolean {
    return this.#all.some(({ usable }) => usable);
  }

  /** False if the model of the language could not be loaded. */
  usableFor(language: string): boolean {
    return this.#models.get(language)?.usable ?? false;
  }

  get trouble(): string | undefined {
    const troubles = [...this.#models].flatMap(([language, { trouble }]) =>
      trouble === undefined ? [] : `${language}: ${trouble}`,
    );
    return troubles.length === 0 ? undefined : troubles.join('; ');
  }

  get loaded(): boolean {
    return this.#all.some(({ loaded }) => loaded);
  }

  get waiting(): number {
    return sum(this.#all, ({ waiting }) => waiting);
  }

  waitingOf(kind: SpeechClass): number {
    return sum(this.#all, (model) => model.waitingOf(kind));
  }

  device(): EngineDevice {
    const devices = this.#all.map((model) => model.device());
    const [first] = devices;
    const main = devices.find(({ work }) => work !== undefined) ?? (first as EngineDevice);
    const works = devices.flatMap(({ work }) => work ?? []);
    const chunks = chunksOf(devices.map((device) => device.chunks ?? NO_CHUNKS));
    return { ...main, work: works.length === 0 ? undefined : together(works), chunks };
  }

  voices(): Promise<readonly Voice[]> {
    return Promise.resolve(this.#voices);
  }

  standIn(name: string, language: string): string | undefined {
    return pocketStandIn(name, language);
  }

  sampleRate(voice: string): number {
    const model = this.#all.find((one) => one.has(voice)) ?? (this.#all[0] as NativeEngine);
    return model.sampleRate(voice);
  }

  synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    const model = this.#models.get(request.language);
    if (model !== undefined) return model.synthesize(request, out, signal);
    const reason = `the engine ${this.name} has no model for the language "${request.language}"`;
    return keepRingContract(out, signal, () =>
      Promise.reject(new ParleyError('LANGUAGE_UNAVAILABLE', reason, { field: 'language' })),
    );
  }

  async load(): Promise<void> {
    await Promise.all(this.#all.map((model) => model.load()));
  }

  async unload(): Promise<void> {
    await Promise.all(this.#all.map((model) => model.unload()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((model) => model.close()));
  }

  get #all(): readonly NativeEngine[] {
    return [...this.#models.values()];
  }
}

const LEAST_SAMPLE_SECONDS = 3; // of a longer one the first 30 s are used

const NO_CAPABILITIES = {
  clone: false,
  design: false,
  instruct: false,
  sampling: true,
  wordTimes: false,
  textStreaming: false,
};

interface Inspected extends PocketFolder {
  readonly facts: ModelFacts;
  readonly identity: string;
}

async function inspected(folder: PocketFolder, isStated: boolean): Promise<Inspected> {
  const { directory } = folder;
  try {
    const [facts, identity] = await Promise.all([
      inspectModel(directory),
      checkpointIdentity(directory, ['embeddings']),
    ]);
    const { speakers, takesRecording, voiceProblems } = facts;
    if (speakers.length === 0 && voiceProblems.length === 0 && !takesRecording)
      throw new Error(`${directory} has no voice in embeddings, and no encoder, which would clone one`);
    return { ...folder, facts, identity };
  } catch (cause) {
    const field = isStated ? 'MODEL_DIR' : 'POCKET_MODELS';
    const names = isStated ? 'MODEL_DIR or MODEL_ID' : 'POCKET_MODELS';
    const message = `the model of ${names} cannot be used: ${(cause as Error).message}`;
    throw new ParleyError('ENGINE_UNAVAILABLE', message, { field, cause });
  }
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
