// Opens the engines that the configuration asks for, and applies its voices to them.
import { ParleyError } from '../errors.js';
import type { AgentsConfig } from '../config/agent-config.js';
import type { Config } from '../config/config.js';
import type { VoicesConfig } from '../config/voices-config.js';
import type { Log } from '../log.js';
import type { SpeechEngine } from './engine.js';
import type { EngineNews } from './engine-lifecycle.js';
import { ESPEAK_LANGUAGES, ESPEAK_PACKAGE, espeakEngine, installedPackage } from './espeak/espeak.js';
import { FLITE_LANGUAGES, fliteEngine } from './flite/flite.js';
import { POCKET_MODELS } from '../config/pocket-catalog.js';
import { isPocketFolder, type PocketConfig } from '../config/pocket-config.js';
import { OpenAiSpeech } from './openai/openai-speech.js';
import { ServerPool } from './openai/server-pool.js';
import { deviceOptions } from './native/native-device.js';
import type { NativeEngineOptions } from './native/native-engine.js';
import { PocketEngine, type PocketOptions } from './pocket/pocket.js';
import { QWEN3_LANGUAGES } from './qwen3/checkpoint.js';
import { openQwen3 } from './qwen3/qwen3.js';
import { Engines, type MissingEngine } from './routing.js';
import { systemTime } from '../time.js';
import type { EngineLimits } from './worker-engine.js';

export interface EngineSetup {
  readonly engine: Config['engines']['engine'];
  /** Sentences of each class that may wait for one engine. */
  readonly maxWaiting: number;
  /** Milliseconds that a sentence may wait; no limit by default. */
  readonly maxWaitMs?: number;
  readonly renderTimeoutMs: number;
  /** Milliseconds without a sentence after which an engine is unloaded; 0, or absent, keeps it loaded. */
  readonly idleMs?: number;
  /** Codec frames that a sentence may have at most. */
  readonly maxNewTokens?: number;
  /** Called when an engine is loaded, unloaded or lost. */
  readonly onNews?: (engine: string, news: EngineNews) => void;
  /** Allows espeak if its package is installed. */
  readonly espeak?: boolean;
  readonly resolvePackage?: typeof installedPackage;
  /** Absent: the engine `openai` does not exist. */
  readonly speechServers?: Config['engines']['speechServers'];
  /** Options of the native engine; absent without a checkpoint of Qwen3-TTS. */
  readonly native?: NativeEngineOptions['native'] | undefined;
  /** BCP 47 tags of the languages that this server will speak, if the configuration names any. */
  readonly intended?: readonly string[];
  /** Absent: the engine `pocket` has no model. */
  readonly pocket?: { readonly config: PocketConfig; readonly native: PocketOptions['native'] } | undefined;
}

type EngineGroups = Pick<Config, 'engines' | 'model' | 'pocket' | 'voices'> &
  Partial<Pick<Config, 'agents' | 'sip'>>;

type Found = SpeechEngine | MissingEngine;

/** Opens the engines that the configuration asks for. */
export function openEngines(config: EngineGroups, log: Log): Promise<Engines> {
  const { engine, espeak, maxNewTokens, speechServers, ...limits } = config.engines;
  return enginesOf({
    engine,
    espeak,
    maxWaiting: limits.maxQueueDepth,
    maxWaitMs: limits.requestTimeoutMs,
    renderTimeoutMs: limits.engineTimeoutMs,
    idleMs: limits.idleTimeoutMs,
    maxNewTokens,
    native: nativeOf(config),
    pocket: pocketOf(config),
    speechServers,
    intended: intendedLanguages(config),
    onNews: (engine, { what, ...news }) =>
      log[what === 'loaded' || what === 'unloaded' ? 'info' : 'error']({ engine, ...news }, `engine ${what}`),
  });
}

/**
 * Opens the engines of a setup, preferred ones first. Rejects with ENGINE_UNAVAILABLE if a named one is
 * unavailable.
 */
export async function enginesOf(setup: EngineSetup): Promise<Engines> {
  const limits = (name: string): EngineLimits => ({
    ...setup,
    onNews: (news: EngineNews) => setup.onNews?.(name, news),
  });
  const voices = await pocket(setup, limits('pocket'));
  const isStated = setup.pocket?.config.stated !== undefined;
  const all = [
    await qwen3(setup, limits('qwen3')),
    isStated ? voices : undefined,
    openai(setup, limits('openai')),
    isStated ? undefined : voices,
    flite(setup, limits('flite')),
    espeak(setup, limits('espeak')),
    ...missingPocket(setup, voices),
  ];
  const found = all.filter((one) => one !== undefined);
  const engines = found.filter((one): one is SpeechEngine => !isMissing(one));
  return await Engines.of(engines, found.filter(isMissing), setup.intended);
}

function isMissing(one: Found): one is MissingEngine {
  return 'remedy' in one;
}

function isWanted({ engine }: EngineSetup, name: EngineSetup['engine']): boolean {
  return engine === 'auto' || engine === name;
}

/** Undefined without a checkpoint, so that the engine is not reported as missing. */
async function qwen3({ native, ...setup }: EngineSetup, limits: EngineLimits): Promise<Found | undefined> {
  if (isWanted(setup, 'qwen3') && native !== undefined) return await openQwen3({ ...limits, native });
  if (setup.engine === 'qwen3') throw lacks('qwen3', 'set MODEL_DIR, or MODEL_ID, to a checkpoint');
  return native && { name: 'qwen3', remedy: 'set ENGINE=auto', languages: QWEN3_LANGUAGES };
}

/** Undefined without servers, so that the engine is not reported as missing. */
function openai(setup: EngineSetup, { onNews }: EngineLimits): Found | undefined {
  const { engine, speechServers, renderTimeoutMs: timeoutMs } = setup;
  if (speechServers === undefined) {
    if (engine === 'openai') throw lacks('openai', 'set TTS_BASE_URL');
    return undefined;
  }
  const { baseUrls, apiKey, ...more } = speechServers;
  if (!isWanted(setup, 'openai'))
    return { name: 'openai', remedy: 'set ENGINE=auto', languages: more.languages };
  const pool = ServerPool.of(baseUrls, apiKey, systemTime);
  return new OpenAiSpeech({ ...more, pool, timeoutMs, ...(onNews === undefined ? {} : { onNews }) });
}

/** Undefined without a model. */
async function pocket(setup: EngineSetup, limits: EngineLimits): Promise<SpeechEngine | undefined> {
  const { engine, pocket: models } = setup;
  const isThere = models !== undefined && (models.config.stated ?? models.config.models[0]) !== undefined;
  const opened =
    isThere && isWanted(setup, 'pocket')
      ? await PocketEngine.open(models.config, { ...limits, native: models.native })
      : undefined;
  if (opened !== undefined && opened.capabilities.languages.length > 0) return opened;
  if (engine === 'pocket') throw lacks('pocket', fetching('pocket-en'));
  return undefined;
}

/** The languages of Pocket TTS that lack a model, because a command gets one. */
function missingPocket(setup: EngineSetup, found: SpeechEngine | undefined): MissingEngine[] {
  const open = POCKET_MODELS.filter(({ isGated }) => !isGated);
  const spoken = found?.capabilities.languages ?? [];
  return open
    .filter(({ language }) => !spoken.includes(language))
    .map(({ name, language }) => {
      const isAllowed = isWanted(setup, 'pocket') && setup.pocket?.config.isOff !== true;
      const remedy = [...(isWanted(setup, 'pocket') ? [] : ['set ENGINE=auto']), fetching(name)].join(
        ' and ',
      );
      const command = isAllowed ? pulling(name) : undefined;
      return { name: 'pocket', remedy, languages: [language], command };
    });
}

function fetching(model: string): string {
  return `fetch a model with: ${pulling(model)}`;
}

function pulling(model: string): string {
  return `npm run parley -- pull ${model}`;
}

function flite(setup: EngineSetup, limits: EngineLimits): Found {
  if (isWanted(setup, 'flite')) return fliteEngine(limits);
  return { name: 'flite', remedy: 'set ENGINE=auto', languages: FLITE_LANGUAGES };
}

function espeak(setup: EngineSetup, limits: EngineLimits): Found {
  const packageFile = (setup.resolvePackage ?? installedPackage)(ESPEAK_PACKAGE);
  const wanted = isWanted(setup, 'espeak');
  const { espeak: allowed = false } = setup;
  if (wanted && allowed && packageFile !== undefined) return espeakEngine({ ...limits, packageFile });
  const settings = [...(wanted ? [] : ['ENGINE=auto']), ...(allowed ? [] : ['ESPEAK=1'])];
  const remedy = [
    ...(settings.length > 0 ? [`set ${settings.join(' and ')}`] : []),
    ...(packageFile === undefined ? [`install the optional package ${ESPEAK_PACKAGE}`] : []),
  ].join(' and ');
  const missing = { name: 'espeak', remedy, languages: ESPEAK_LANGUAGES };
  if (setup.engine === 'espeak') throw lacks('espeak', remedy);
  return missing;
}

function lacks(name: string, remedy: string): ParleyError {
  return new ParleyError('ENGINE_UNAVAILABLE', `ENGINE=${name} lacks its engine: ${remedy}`);
}

/** Undefined without a checkpoint of Qwen3-TTS. */
function nativeOf(config: EngineGroups): EngineSetup['native'] {
  const { directory } = config.model;
  if (directory === undefined || isPocketFolder(directory)) return undefined;
  return { directory, ...withoutFolder(config) };
}

function pocketOf(config: EngineGroups): EngineSetup['pocket'] {
  return { config: config.pocket, native: withoutFolder(config) };
}

function withoutFolder({ model, voices }: EngineGroups): PocketOptions['native'] {
  const { quantize, codecFormat, maxStreams, maxBatch, maxNewTokens } = model;
  return {
    quantize,
    codecFormat,
    ...deviceOptions(model, model.memory),
    maxStreams,
    maxBatch,
    maxNewTokens,
    maxVoices: voices.voiceCacheMax,
  };
}

/** A voice and a language that the configuration names, and the names of both fields for errors. */
export interface ConfiguredVoice {
  readonly voice: string | undefined;
  readonly language: string | undefined;
  readonly fields: { readonly voice: string; readonly language: string };
}

interface VoiceGroups extends Partial<Pick<Config, 'agents' | 'sip'>> {
  readonly voices: Partial<Pick<VoicesConfig, 'defaultVoice' | 'elevenLabsVoices'>>;
}

/**
 * Sets the default voice, and checks all voices and languages that are given. Stored voices must be open,
 * because they may be among them. Throws CONFIG_INVALID with every mistake at once. Returns warnings about
 * those that calls replace by a default.
 */
export function useConfiguredVoices(
  engines: Pick<Engines, 'useDefault' | 'resolve'>,
  { voices, agents, sip }: VoiceGroups,
): readonly string[] {
  const { defaultVoice, elevenLabsVoices = new Map() } = voices;
  const mistakes = new VoiceMistakes(engines);
  if (defaultVoice !== undefined)
    mistakes.check(() => engines.useDefault(defaultVoice), { voice: 'DEFAULT_VOICE' });
  for (const [id, voice] of elevenLabsVoices)
    mistakes.find([{ voice, language: undefined, fields: both(`ELEVENLABS_VOICES_FILE "${id}"`) }]);
  if (sip?.enabled === true) {
    const fields = { voice: 'GREETING_VOICE', language: 'GREETING_LANGUAGE' };
    mistakes.find([{ voice: sip.greetingVoice, language: sip.greetingLanguage, fields }]);
  }
  mistakes.find(voicesOfAgents(agents));
  mistakes.throwAll();
  const replaced = new VoiceMistakes(engines);
  replaced.find(voicesOfRelays(agents));
  return replaced.messages.map((message) => `${message}; calls get a default instead`);
}

/** The languages that the configuration names for the greeting and for agents. */
function intendedLanguages({ agents, sip }: Partial<Pick<Config, 'agents' | 'sip'>>): readonly string[] {
  const greeting = sip?.enabled === true ? sip.greetingLanguage : undefined;
  const all = [greeting, ...voicesOfAgents(agents).map(({ language }) => language)];
  return [...new Set(all.filter((language) => language !== undefined))];
}

/** Throws CONFIG_INVALID with every voice and language that this server lacks. */
export function checkVoices(engines: Pick<Engines, 'resolve'>, all: readonly ConfiguredVoice[]): void {
  const mistakes = new VoiceMistakes(engines);
  mistakes.find(all);
  mistakes.throwAll();
}

class VoiceMistakes {
  readonly messages: string[] = [];
  readonly #engines: Pick<Engines, 'resolve'>;
  #first: ParleyError | undefined;

  constructor(engines: Pick<Engines, 'resolve'>) {
    this.#engines = engines;
  }

  find(all: readonly ConfiguredVoice[]): void {
    for (const { voice, language, fields } of all)
      if (voice !== undefined || language !== undefined)
        this.check(() => this.#engines.resolve({ voice, language }), fields);
  }

  check(use: () => unknown, fields: { readonly voice: string; readonly language?: string }): void {
    try {
      use();
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      const field = (error.field === 'language' ? fields.language : undefined) ?? fields.voice;
      this.#first ??= error;
      this.messages.push(`${field}: ${error.message}`);
    }
  }

  throwAll(): void {
    const [only = '', ...others] = this.messages;
    if (this.#first === undefined) return;
    const all = `the configuration is not usable:\n- ${this.messages.join('\n- ')}`;
    throw new ParleyError('CONFIG_INVALID', others.length === 0 ? only : all, { cause: this.#first });
  }
}

function both(name: string): ConfiguredVoice['fields'] {
  return { voice: name, language: name };
}

function inFile(agent: string, place = ''): ConfiguredVoice['fields'] {
  const at = `AGENTS_FILE agents.${agent}${place}`;
  return { voice: `${at}.voice`, language: `${at}.language` };
}

/** Agents of the file have the voice and language of the environment where they name none. */
function voicesOfAgents(agents: AgentsConfig | undefined): ConfiguredVoice[] {
  if (agents === undefined) return [];
  const { usualVoice: usual } = agents;
  const fields = { voice: 'AGENT_VOICE', language: 'AGENT_LANGUAGE' };
  const own = usual === undefined ? [] : [{ ...usual, fields }];
  const named = [...agents.agents.values(), ...agents.mediaStreams.values()]
    .filter(({ voice, language }) => voice !== usual?.voice || language !== usual?.language)
    .map(({ name, voice, language }) => {
      const place = agents.mediaStreams.has(name) ? '.mediaStream' : '';
      return { voice, language, fields: inFile(name, place) };
    });
  return [...own, ...named];
}

function voicesOfRelays(agents: AgentsConfig | undefined): ConfiguredVoice[] {
  return [...(agents?.relays.values() ?? [])].flatMap(({ name, voice, ttsLanguage, languages }) => {
    const fields = inFile(name, '.relay');
    const ofLanguages = languages.map(({ code, voice: own }, index) => {
      const at = inFile(name, `.relay.languages[${index}]`);
      return {
        voice: own,
        language: code,
        fields: { ...at, language: at.language.replace(/language$/, 'code') },
      };
    });
    const named = { voice, language: voice === undefined ? undefined : ttsLanguage, fields };
    return [named, ...ofLanguages];
  });
}
