// Chooses the engine and voice of a request.
//
//   a voice of an engine    ──▶ its engine, if the voice speaks the language
//   a voice made over HTTP, or a reference in the request
//                           ──▶ the first capable engine that speaks the language
//   a name of OpenAI or Qwen
//                           ──▶ the voice that replaces it, or the first choice of the language
//   a language              ──▶ the first engine that speaks it: its default or best voice
//   nothing                 ──▶ the default voice
//
// A language that no engine speaks is refused with a remedy. An unusable engine is passed over if another one
// speaks the language; otherwise its own error is returned, because it may recover.
import { ParleyError } from '../errors.js';
import { stated } from '../stated.js';
import type { EngineDevice, SpeechClass, SpeechEngine, Voice, VoiceReference } from './engine.js';
import { waitingByClass, waitingFor, workOf } from './engine-work.js';
import { canonicalTag, languageName, primaryTag } from './language-names.js';
import { FOREIGN_NAMES, nearestNames, OPENAI_VOICES, standInFor } from './voice-names.js';

export interface VoiceRequest {
  readonly voice?: string | undefined;
  /** BCP 47 tag. */
  readonly language?: string | undefined;
  /** A voice that comes with the request; only engines that can clone or design it are considered. */
  readonly reference?: VoiceReference | undefined;
}

export interface ResolvedVoice {
  readonly engine: SpeechEngine;
  /** Empty if the engine has no voices of its own and uses the reference. */
  readonly voice: string;
  readonly language: string;
  readonly reference?: VoiceReference;
  /** True if it replaces a voice name of OpenAI or Qwen. */
  readonly standsIn?: true;
}

type ReferenceKind = VoiceReference['kind'];

/** A voice made over HTTP, for any capable engine. */
export interface CustomVoice {
  readonly id: string;
  readonly name: string;
  /** BCP 47 tag for requests without a language. */
  readonly language?: string | undefined;
  readonly description: string;
  readonly reference: VoiceReference;
}

interface CustomVoices {
  /** Finds a voice by id or name. */
  named(idOrName: string): CustomVoice | undefined;
  customVoices(): readonly CustomVoice[];
}

/** Checks whether engines support voices made over HTTP. */
export interface VoiceAbilities {
  /**
   * Throws CAPABILITY_MISSING if no engine supports this kind, LANGUAGE_UNAVAILABLE if none of them speaks
   * the language, and AUDIO_INVALID if each needs a longer sample than one of so many seconds.
   */
  checkAble(kind: ReferenceKind, language: string | undefined, field: string, seconds?: number): void;
  /** True if a voice of an engine or of OpenAI has this name. */
  isNamed(name: string): boolean;
}

export interface SpeechRouting {
  /** Throws VOICE_UNKNOWN, LANGUAGE_UNAVAILABLE or CAPABILITY_MISSING, with a remedy in the message. */
  resolve(request: VoiceRequest): ResolvedVoice;
  voices(): Promise<readonly Voice[]>;
}

const NAMED_AT_ONCE = 3;

/** An engine that is not installed or configured, or that is unusable at the moment. */
export interface MissingEngine {
  readonly name: string;
  /** Instruction for the operator. */
  readonly remedy: string;
  /** Primary tags of its languages. */
  readonly languages: readonly string[];
  /** Fetches a neural voice of these languages, so that the next start has it. */
  readonly command?: string | undefined;
}

/** Engines whose voices are not made by a neural network. */
const PLAIN: ReadonlySet<string> = new Set(['flite', 'espeak']);

interface Candidate {
  readonly engine: SpeechEngine;
  readonly voice: Voice;
  /** Primary tags of its languages. */
  readonly primaries: ReadonlySet<string>;
}

export class Engines implements SpeechRouting {
  readonly #engines: readonly SpeechEngine[]; // preferred ones first; some have no voice of their own
  readonly #missing: readonly MissingEngine[];
  readonly #intended: readonly string[];
  /** Undefined if no engine has a voice of its own. */
  #default: Candidate | undefined;
  #isDefaultStated = false;
  /** Default voice made over HTTP, and its engine. */
  #defaultCustom: { readonly name: string; readonly engine: SpeechEngine } | undefined;
  readonly #candidates: readonly Candidate[]; // preferred engines first, each one's first choice first
  #custom: CustomVoices | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    engines: readonly SpeechEngine[],
    candidates: readonly Candidate[],
    missing: readonly MissingEngine[],
    intended: readonly string[],
  ) {
    this.#intended = intended;
    this.#engines = engines;
    this.#candidates = candidates;
    this.#missing = missing;
    this.#default = candidates.find(({ voice }) => voice.refusal === undefined);
  }

  /** Earlier engines are preferred. `intended` are BCP 47 tags of languages that this server will speak. */
  static async of(
    engines: readonly SpeechEngine[],
    missing: readonly MissingEngine[] = [],
    intended: readonly string[] = [],
  ): Promise<Engines> {
    const candidates: Candidate[] = [];
    for (const engine of engines) {
      for (const voice of await engine.voices()) {
        candidates.push({ engine, voice, primaries: new Set(voice.languages.map(primaryTag)) });
      }
    }
    if (engines.length === 0) throw new ParleyError('ENGINE_UNAVAILABLE', 'this server has no speech engine');
    return new Engines(engines, candidates, missing, intended);
  }

  /** Engines that are not available, or not usable now. */
  get missing(): readonly MissingEngine[] {
    const remedied = this.#engines.flatMap((engine) => {
      const { name, usable, trouble = 'it cannot be loaded', capabilities } = engine;
      const languages = capabilities.languages.filter((tag) => !isUsable(engine, tag));
      return usable && languages.length === 0 ? [] : { name, remedy: `mend this: ${trouble}`, languages };
    });
    return [...this.#missing, ...remedied];
  }

  /** Advice on how to get other languages; undefined unless all engines speak English only. */
  get languageNotice(): string | undefined {
    const isEnglish = this.#candidates.every(({ primaries }) => [...primaries].every((tag) => tag === 'en'));
    if (!isEnglish || this.#candidates.length === 0) return undefined;
    const others = this.#missing.filter(
      ({ name, languages }) => name === 'espeak' || !languages.includes('en'),
    );
    const ways = ['espeak', 'pocket'].flatMap((engine) => {
      const missing = others.find(({ name }) => name === engine);
      return missing === undefined ? [] : [`${engine} (${missing.remedy})`];
    });
    const all = [...ways, 'a checkpoint (set MODEL_DIR)'].join(', or ');
    return `this server speaks English only; other languages need ${all}`;
  }

  /** What the engines lack, and how to get it; undefined if there is nothing to say. */
  get advice() {
    const { missing, languageNotice: languages, voiceCommand } = this;
    return { missing, languages, voiceCommand };
  }

  /**
   * The command that fetches a neural voice, for the first of the intended languages that lacks one; without
   * any such language for English, if no engine has one at all. Undefined if none is lacking, or no command
   * helps.
   */
  get voiceCommand(): string | undefined {
    const neural = this.#engines.filter(({ name }) => !PLAIN.has(name));
    const wanted = this.#intended.length > 0 || neural.length > 0 ? this.#intended : ['en'];
    const lacks = wanted.find((tag) => !neural.some((engine) => engineSpeaks(engine, tag)));
    if (lacks === undefined) return undefined;
    const fetched = this.#missing.filter(({ languages: spoken }) => spoken.includes(primaryTag(lacks)));
    return fetched.find(({ command }) => command !== undefined)?.command;
  }

  /** Loads every engine; rejects only if the default engine cannot be loaded. */
  async load(): Promise<void> {
    const loads = this.#engines.map(async (engine) => {
      try {
        await engine.load();
      } catch (error) {
        if (engine === this.#defaultEngine) throw error;
      }
    });
    await Promise.all(loads);
  }

  resolve({ voice, language: tag, reference }: VoiceRequest): ResolvedVoice {
    const language = tag === undefined ? undefined : canonicalTag(tag);
    if (reference !== undefined) return this.#byReference(reference, language);
    if (voice === undefined) return this.#byLanguage(language);
    const name = voice.trim().toLowerCase();
    const own = this.#named(name);
    if (own !== undefined) return this.#checked(own, language);
    const isCustom = this.#custom?.named(voice) !== undefined;
    const standIn = isCustom ? undefined : this.#standIn(name, language);
    if (standIn === undefined && (isCustom || standInFor(name) === undefined))
      return this.#byCustom(voice, language);
    const meant = standIn === undefined ? this.#byLanguage(language) : resolved(standIn, language);
    return { ...meant, standsIn: true };
  }

  /** The voice that stands for a name of another product, of the first engine that has one for it. */
  #standIn(name: string, language: string | undefined): Candidate | undefined {
    let passedOver: Candidate | undefined;
    for (const engine of this.#engines) {
      const spoken = language === undefined ? engine.capabilities.languages[0] : primaryTag(language);
      const own = engine.standIn?.(name, spoken ?? '');
      const found = this.#candidates.find((one) => one.engine === engine && one.voice.name === own);
      if (found === undefined || !speaks(found, language)) continue;
      if (isUsable(engine, spoken)) return found;
      passedOver ??= found;
    }
    const usual = this.#named(standInFor(name) ?? '');
    return usual !== undefined && speaks(usual, language) ? usual : passedOver;
  }

  /** Adds voices that are made while the server runs. */
  useCustom(custom: CustomVoices): void {
    this.#custom = custom;
  }

  /** Sets the voice of requests without a voice. Throws like `resolve` if the voice is not available. */
  useDefault(voice: string): void {
    const name = voice.trim().toLowerCase();
    const isCustom = this.#custom?.named(voice) !== undefined;
    const found = this.#named(name) ?? (isCustom ? undefined : this.#standIn(name, undefined));
    if (found !== undefined) {
      checkAllowed(found);
      this.#default = found;
      this.#isDefaultStated = true;
    }
    this.#defaultCustom =
      found === undefined ? { name: voice, ...this.#byCustom(voice, undefined) } : undefined;
  }

  checkAble(kind: ReferenceKind, language: string | undefined, field: string, seconds = Infinity): void {
    checkReference(kind, this.#engines, language, field);
    checkSeconds(enginesFor(kind, this.#engines, language), seconds, field);
  }

  /**
   * True if a voice of an engine or of OpenAI has this name. Names of Qwen are free for voices made over
   * HTTP.
   */
  isNamed(name: string): boolean {
    const known = name.trim().toLowerCase();
    return this.#named(known) !== undefined || Object.hasOwn(OPENAI_VOICES, known);
  }

  /** Usability of each engine by name; missing engines are not usable. */
  health(): Readonly<Record<string, boolean>> {
    return Object.fromEntries([
      ...this.#missing.map(({ name }) => [name, false] as const),
      ...this.#engines.map(({ name, usable }) => [name, usable] as const),
    ]);
  }

  /** Number of sentences that wait for any engine. */
  get waiting(): number {
    return waitingFor(this.#engines);
  }

  get figures(): EngineFigures {
    const engine = this.#defaultEngine;
    const { name, loaded: modelLoaded, trouble } = engine;
    const more = stated({ trouble, voiceCommand: this.voiceCommand });
    return { engines: this.health(), engine: name, modelLoaded, ...more, device: engine.device() };
  }

  /** Number of sentences that wait for any engine, by class. */
  waitingByClass(): Readonly<Record<SpeechClass, number>> {
    return waitingByClass(this.#engines);
  }

  /** Work of the native engine. */
  get work(): ReturnType<typeof workOf> {
    return workOf(this.#engines);
  }

  voices(): Promise<readonly Voice[]> {
    const custom = this.#custom?.customVoices() ?? [];
    return Promise.resolve([
      ...this.#candidates.map(({ voice }) => voice),
      ...custom.flatMap((voice) => this.#listed(voice)),
    ]);
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#engines.map((engine) => engine.close())).then(() => undefined);
    return this.#closed;
  }

  get #defaultEngine(): SpeechEngine {
    return (this.#defaultCustom ?? this.#default)?.engine ?? (this.#engines[0] as SpeechEngine);
  }

  #named(name: string): Candidate | undefined {
    return this.#candidates.find(({ voice }) => voice.name === name);
  }

  /** Voices of the language, whatever its region; only those of usable engines if there are any. */
  #able(language: string): Candidate[] {
    const primary = primaryTag(language);
    const all = this.#candidates.filter(
      ({ primaries, voice }) => primaries.has(primary) && voice.refusal === undefined,
    );
    const now = all.filter(({ engine }) => isUsable(engine, primary));
    return now.length > 0 ? now : all;
  }

  #checked(candidate: Candidate, language: string | undefined): ResolvedVoice {
    checkAllowed(candidate);
    if (language === undefined || speaks(candidate, language)) return resolved(candidate, language);
    const primary = primaryTag(language);
    const others = this.#able(language);
    if (others.length === 0) throw this.#unspoken(language);
    const bestFirst = others.sort((a, b) => Number(serves(b, primary)) - Number(serves(a, primary)));
    const names = bestFirst.slice(0, NAMED_AT_ONCE).map(({ voice }) => voice.name);
    const own = languageName(candidate.voice.languages[0] ?? '');
    throw new ParleyError(
      'LANGUAGE_UNAVAILABLE',
      `the voice ${candidate.voice.name} speaks ${own}, not ${languageName(language)}; voices that do: ${names.join(', ')}`,
      { field: 'language' },
    );
  }

  #byLanguage(language: string | undefined): ResolvedVoice {
    const custom = this.#defaultCustom?.name;
    if (custom !== undefined && (language === undefined || this.#customSpeaks(custom, language))) {
      const meant = this.#byCustom(custom, language);
      const other = this.#insteadOf(meant.engine, meant.language, language);
      return other === undefined ? meant : resolved(other, meant.language);
    }
    if (language === undefined && this.#default !== undefined) {
      const { engine, voice } = this.#default;
      const spoken = primaryTag(voice.languages[0] ?? '');
      return resolved(this.#insteadOf(engine, spoken, language) ?? this.#default, undefined);
    }
    if (language === undefined) throw noOwnVoice();
    const able = this.#able(language);
    const usual = able.find((candidate) => candidate === this.#default);
    const engine = (able.find((candidate) => candidate.engine === this.#defaultEngine) ?? able[0])?.engine;
    const own = able.filter((candidate) => candidate.engine === engine);
    const ofLanguage = own.find(({ voice }) => voice.usualFor?.includes(primaryTag(language)));
    const best =
      (this.#isDefaultStated ? undefined : ofLanguage) ??
      [usual, ...own].find((candidate) => serves(candidate, language)) ??
      usual ??
      own.find((candidate) => serves(candidate, primaryTag(language))) ??
      own[0];
    if (best !== undefined) return resolved(best, language);
    const isSpoken = this.#engines.some((engine) =>
      engine.capabilities.languages.includes(primaryTag(language)),
    );
    throw isSpoken ? noOwnVoice(language) : this.#unspoken(language);
  }

  /**
   * The fallback voice when no voice was requested and the preferred engine is unavailable; undefined if none
   * is needed or none exists. It speaks the language of the preferred voice. Without a requested language any
   * voice is better than none.
   */
  #insteadOf(engine: SpeechEngine, spoken: string, requested: string | undefined): Candidate | undefined {
    if (isUsable(engine, spoken)) return undefined;
    const others = this.#candidates.filter(({ voice }) => voice.refusal === undefined);
    const same = others.find((one) => one.primaries.has(spoken) && isUsable(one.engine, spoken));
    const any = () => others.find(({ engine: other, voice }) => isUsable(other, voice.languages[0]));
    return same ?? (requested === undefined ? any() : undefined);
  }

  /** True if the voice is made for this language, or for no particular one. */
  #customSpeaks(name: string, language: string): boolean {
    const custom = this.#custom?.named(name);
    if (custom === undefined) return false;
    const { language: own, reference } = custom;
    const isMeant = own === undefined || primaryTag(own) === primaryTag(language);
    return isMeant && enginesFor(reference.kind, this.#engines, language).length > 0;
  }

  #byCustom(name: string, language: string | undefined): ResolvedVoice {
    const custom = this.#custom?.named(name);
    if (custom === undefined) throw this.#unknown(name);
    return this.#byReference(custom.reference, language ?? custom.language);
  }

  #byReference(reference: VoiceReference, language: string | undefined): ResolvedVoice {
    checkReference(reference.kind, this.#engines, language, 'voice');
    const engines = enginesFor(reference.kind, this.#engines, language);
    const engine = engines.find((one) => one === this.#defaultEngine) ?? (engines[0] as SpeechEngine);
    const own = this.#candidates.filter((candidate) => candidate.engine === engine);
    const best = own.find((candidate) => candidate === this.#default) ?? own[0];
    const all = referenceLanguagesOf(engine);
    const now = all.filter((tag) => isUsable(engine, tag));
    const able = now.length > 0 ? now : all;
    const usual = best?.voice.languages.find((tag) => able.includes(primaryTag(tag))) ?? able[0] ?? '';
    // An engine without voices of its own uses the reference alone.
    return { engine, voice: best?.voice.name ?? '', language: primaryTag(language ?? usual), reference };
  }

  /** Empty if no engine can use the voice now. */
  #listed({ id, name, language, description, reference }: CustomVoice): Voice[] {
    const [engine] = enginesFor(reference.kind, this.#engines, language);
    if (engine === undefined) return [];
    const languages = language === undefined ? referenceLanguagesOf(engine) : [language];
    const made = { id, kind: reference.kind };
    return [{ name, engine: engine.name, languages, description, made }];
  }

  #unspoken(language: string): ParleyError {
    const able = this.#engines.map(({ name, capabilities: { languages } }) => {
      const few = languages.length <= NAMED_AT_ONCE;
      return `${name} speaks ${few ? `${languages.map(languageName).join(', ')} only` : `${languages.length} others`}`;
    });
    const primary = primaryTag(language);
    const remedies = this.#missing
      .filter(({ languages }) => languages.includes(primary))
      .map(({ name, remedy }) => `; the engine ${name} would: ${remedy}`);
    return new ParleyError(
      'LANGUAGE_UNAVAILABLE',
      `no engine of this server speaks ${languageName(language)}: ${able.join(', ')}${remedies.join('')}`,
      { field: 'language' },
    );
  }

  #unknown(name: string): ParleyError {
    const custom = this.#custom?.customVoices() ?? [];
    const names = [...this.#candidates.map(({ voice }) => voice.name), ...custom.map((voice) => voice.name)];
    const nearest = nearestNames(name, [...names, ...FOREIGN_NAMES], NAMED_AT_ONCE);
    return new ParleyError(
      'VOICE_UNKNOWN',
      `there is no voice "${name}"; the nearest are ${nearest.join(', ')}`,
      { field: 'voice' },
    );
  }
}

/** Throws CAPABILITY_MISSING for a voice that does not speak on this server. */
function checkAllowed({ voice: { name, refusal } }: Candidate): void {
  if (refusal === undefined) return;
  throw new ParleyError('CAPABILITY_MISSING', `the voice ${name} does not speak here: ${refusal}`, {
    field: 'voice',
  });
}

function speaks(candidate: Candidate, language: string | undefined): boolean {
  return language === undefined || candidate.primaries.has(primaryTag(language));
}

/** Without a language: for any of its languages. */
function isUsable(engine: SpeechEngine, language: string | undefined): boolean {
  const own = language === undefined ? undefined : engine.usableFor?.(primaryTag(language));
  return own ?? engine.usable;
}

/** True if the voice is made for exactly this tag. */
function serves(candidate: Candidate | undefined, tag: string): boolean {
  return candidate?.voice.languages.includes(tag) === true;
}

function resolved({ engine, voice }: Candidate, language: string | undefined): ResolvedVoice {
  return { engine, voice: voice.name, language: primaryTag(language ?? voice.languages[0] ?? '') };
}

/** All engines need a sample or a description. */
function noOwnVoice(language?: string): ParleyError {
  const inLanguage = language === undefined ? '' : ` for ${languageName(language)}`;
  const message = `no engine of this server has a voice of its own${inLanguage}; name one that was made here, or bring one`;
  return new ParleyError('VOICE_UNKNOWN', message, { field: 'voice' });
}

interface EngineFigures {
  /** The result of `health()`. */
  readonly engines: Readonly<Record<string, boolean>>;
  /** The default engine. */
  readonly engine: string;
  readonly modelLoaded: boolean;
  /** Fetches a neural voice, if no engine has one. */
  readonly voiceCommand?: string;
  /** Reason why the default engine is not usable. */
  readonly trouble?: string;
  readonly device: EngineDevice;
}

const WHAT: Readonly<Record<ReferenceKind, readonly [verb: string, what: string]>> = {
  sample: ['clone', 'speak with the voice of a sample'],
  prompt: ['design', 'make a voice from a description'],
};

const LANGUAGES_AT_ONCE = 20;

/** Capable engines in order of preference; only usable ones if there are any. */
function enginesFor(
  kind: ReferenceKind,
  engines: readonly SpeechEngine[],
  language: string | undefined,
): readonly SpeechEngine[] {
  const able = engines.filter((engine) => isCapable(kind, engine) && isMadeFor(engine, language));
  const now = able.filter((engine) => isUsable(engine, language));
  return now.length > 0 ? now : able;
}

/**
 * Throws CAPABILITY_MISSING with the name of every engine, and LANGUAGE_UNAVAILABLE with the languages of
 * capable ones.
 */
function checkReference(
  kind: ReferenceKind,
  engines: readonly SpeechEngine[],
  language: string | undefined,
  field: string,
): void {
  const [verb, what] = WHAT[kind];
  const able = engines.filter((engine) => isCapable(kind, engine));
  if (able.length === 0) {
    const lacks = engines.map(({ name }) => `${name} cannot ${verb} voices`).join(', ');
    const message = `no engine of this server can ${what}: ${lacks}`;
    throw new ParleyError('CAPABILITY_MISSING', message, { field });
  }
  if (language === undefined || able.some((engine) => isMadeFor(engine, language))) return;
  const spoken = able.map((engine) => `${engine.name} speaks ${namesOf(referenceLanguagesOf(engine))}`);
  const message = `no engine of this server can ${what} in ${languageName(language)}: ${spoken.join('; ')}`;
  throw new ParleyError('LANGUAGE_UNAVAILABLE', message, { field: 'language' });
}

/** Throws AUDIO_INVALID if each engine needs a longer sample. */
function checkSeconds(engines: readonly SpeechEngine[], seconds: number, field: string): void {
  const least = Math.min(...engines.map(({ capabilities }) => capabilities.leastSampleSeconds ?? 0));
  if (seconds >= least) return;
  const message = `no voice can be made of this audio: it lasts ${seconds.toFixed(2)} s; ${least} s are the least`;
  throw new ParleyError('AUDIO_INVALID', message, { field });
}

function namesOf(languages: readonly string[]): string {
  const named = languages.slice(0, LANGUAGES_AT_ONCE).map(languageName).join(', ');
  const others = languages.length - LANGUAGES_AT_ONCE;
  return others > 0 ? `${named} and ${others} others` : named;
}

function isCapable(kind: ReferenceKind, { capabilities: { clone, design } }: SpeechEngine): boolean {
  return kind === 'sample' ? clone : design;
}

/** Primary tags of the languages in which it speaks with voices of references. */
function referenceLanguagesOf({ capabilities }: SpeechEngine): readonly string[] {
  return capabilities.referenceLanguages ?? capabilities.languages;
}

function isMadeFor(engine: SpeechEngine, language: string | undefined): boolean {
  return language === undefined || referenceLanguagesOf(engine).includes(primaryTag(language));
}

function engineSpeaks({ capabilities: { languages } }: SpeechEngine, language: string | undefined): boolean {
  return language === undefined || languages.includes(primaryTag(language));
}
