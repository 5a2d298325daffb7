// The engines of this server, and which of them speaks what.
//
//   a voice of ours  ──▶ its engine, if the voice speaks the language
//   a voice made here, or one that comes along
//                    ──▶ the first engine that can speak with it, in the language
//   OpenAI's or Qwen's name
//                    ──▶ the voice it stands for, or the language's first choice
//   a language       ──▶ the first engine that speaks it: its default or best voice
//   nothing          ──▶ the default voice
//
// A language that nobody speaks is refused with what would help, never spoken
// in the accent of another. An engine in trouble is passed over where another
// speaks the language; where none does it answers for itself, and may be back.
import { ParleyError } from '../errors.js';
import type { SpeechEngine, Voice, VoiceReference } from './engine.js';
import { workOf, type EngineFigures, waitingByClass, waitingFor } from './engine-figures.js';
import { enginesOf, type EngineSetup, type MissingEngine } from './engine-setup.js';
import { canonicalTag, languageName, primaryTag } from './language-names.js';
import { checkAble, whoCan } from './reference-routing.js';
import type {
  CustomVoice,
  CustomVoices,
  ReferenceKind,
  ResolvedVoice,
  SpeechRouting,
  VoiceWish,
} from './routing.js';
import type { SpeechClass } from './urgency.js';
import { FOREIGN_NAMES, nearestNames, OPENAI_VOICES, standInFor } from './voice-names.js';

const NAMED_AT_ONCE = 3;

interface Candidate {
  readonly engine: SpeechEngine;
  readonly voice: Voice;
  /** Primary tags of its languages. */
  readonly primaries: ReadonlySet<string>;
}

export class Engines implements SpeechRouting {
  readonly #engines: readonly SpeechEngine[]; // preferred ones first; some have no voice of their own
  readonly #missing: readonly MissingEngine[];
  /** Absent where no engine has a voice of its own. */
  #default: Candidate | undefined;
  /** The name of a voice made here that speaks where none is named, and the engine that does. */
  #defaultCustom: { readonly name: string; readonly engine: SpeechEngine } | undefined;
  readonly #candidates: readonly Candidate[]; // preferred engines first, each one's first choice first
  #custom: CustomVoices | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    engines: readonly SpeechEngine[],
    candidates: readonly Candidate[],
    missing: readonly MissingEngine[],
  ) {
    this.#engines = engines;
    this.#candidates = candidates;
    this.#missing = missing;
    [this.#default] = candidates;
  }

  /** The engines that the setup asks for; ENGINE_UNAVAILABLE when one that it names cannot be had. */
  static async open(setup: EngineSetup): Promise<Engines> {
    const { engines, missing } = await enginesOf(setup);
    return await Engines.of(engines, missing);
  }

  /** Routes between engines made elsewhere; earlier ones are preferred. */
  static async of(
    engines: readonly SpeechEngine[],
    missing: readonly MissingEngine[] = [],
  ): Promise<Engines> {
    const candidates: Candidate[] = [];
    for (const engine of engines) {
      for (const voice of await engine.voices()) {
        candidates.push({ engine, voice, primaries: new Set(voice.languages.map(primaryTag)) });
      }
    }
    if (engines.length === 0) throw new ParleyError('ENGINE_UNAVAILABLE', 'this server has no speech engine');
    return new Engines(engines, candidates, missing);
  }

  /** Why other engines are not here or cannot speak now. */
  get missing(): readonly MissingEngine[] {
    const inTrouble = this.#engines.filter(({ usable }) => !usable);
    const remedied = inTrouble.map(({ name, trouble = 'it cannot be loaded', capabilities }) => ({
      name,
      remedy: `mend this: ${trouble}`,
      languages: capabilities.languages,
    }));
    return [...this.#missing, ...remedied];
  }

  /** What else it takes to speak other languages, where the engines speak English only. */
  get languageNotice(): string | undefined {
    const isEnglish = this.#candidates.every(({ primaries }) => [...primaries].every((tag) => tag === 'en'));
    if (!isEnglish || this.#candidates.length === 0) return undefined;
    const espeak = this.#missing.find(({ name }) => name === 'espeak');
    const other = espeak === undefined ? '' : `espeak (${espeak.remedy}), or `;
    return `this server speaks English only; other languages need ${other}a checkpoint (set MODEL_DIR)`;
  }

  /** Makes every engine ready to speak at once; rejects only where the default's cannot be made so. */
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

  resolve(wish: VoiceWish): ResolvedVoice {
    const language = wish.language === undefined ? undefined : canonicalTag(wish.language);
    if (wish.reference !== undefined) return this.#byReference(wish.reference, language);
    if (wish.voice === undefined) return this.#byLanguage(language);
    const name = wish.voice.trim().toLowerCase();
    const own = this.#named(name);
    if (own !== undefined) return this.#checked(own, language);
    const standIn = this.#custom?.named(wish.voice) === undefined ? standInFor(name) : undefined;
    if (standIn === undefined) return this.#byCustom(wish.voice, language);
    const meant = this.#named(standIn);
    const isAble = meant !== undefined && speaks(meant, language);
    return { ...(isAble ? resolved(meant, language) : this.#byLanguage(language)), standsIn: true };
  }

  /** Voices that are made while the server runs. */
  useCustom(custom: CustomVoices): void {
    this.#custom = custom;
  }

  /** Whose voice is meant where none is named. Throws as `resolve` does where it cannot be spoken with. */
  useDefault(voice: string): void {
    const name = voice.trim().toLowerCase();
    const isCustom = this.#custom?.named(voice) !== undefined;
    const found = this.#named(name) ?? (isCustom ? undefined : this.#named(standInFor(name) ?? ''));
    if (found !== undefined) this.#default = found;
    this.#defaultCustom =
      found === undefined ? { name: voice, ...this.#byCustom(voice, undefined) } : undefined;
  }

  /** Throws CAPABILITY_MISSING where no engine can speak with a voice of this kind, LANGUAGE_UNAVAILABLE where none that can does so in the language. */
  checkAble(kind: ReferenceKind, language: string | undefined, field: string): void {
    checkAble(kind, this.#engines, language, field);
  }

  /** A voice of an engine, or of OpenAI, bears this name. Qwen's names are free for voices made here. */
  isNamed(name: string): boolean {
    const known = name.trim().toLowerCase();
    return this.#named(known) !== undefined || Object.hasOwn(OPENAI_VOICES, known);
  }

  /** By name, whether each engine can speak at this moment; one that this server has not cannot. */
  health(): Readonly<Record<string, boolean>> {
    return Object.fromEntries([
      ...this.#missing.map(({ name }) => [name, false] as const),
      ...this.#engines.map(({ name, usable }) => [name, usable] as const),
    ]);
  }

  /** Sentences that wait for any engine. */
  get waiting(): number {
    return waitingFor(this.#engines);
  }

  get figures(): EngineFigures {
    const engine = this.#defaultEngine;
    const { name, loaded: modelLoaded, trouble } = engine;
    const about = { engines: this.health(), engine: name, modelLoaded, device: engine.device() };
    return trouble === undefined ? about : { ...about, trouble };
  }

  /** Sentences that wait for any engine, by class. */
  waitingByClass(): Readonly<Record<SpeechClass, number>> {
    return waitingByClass(this.#engines);
  }

  /** What the native engine is at. */
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

  /** Who speaks the language at all, whatever its region; who can do so now, if anybody can. */
  #able(language: string): Candidate[] {
    const primary = primaryTag(language);
    const all = this.#candidates.filter(({ primaries }) => primaries.has(primary));
    const now = all.filter(({ engine }) => engine.usable);
    return now.length > 0 ? now : all;
  }

  #checked(candidate: Candidate, language: string | undefined): ResolvedVoice {
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
    const best =
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
   * The fallback voice when no voice was requested and the preferred engine is unavailable; undefined if none is needed or
   * none exists. It speaks the language of the preferred voice. Without a requested language any voice is better than none.
   */
  #insteadOf({ usable }: SpeechEngine, spoken: string, requested: string | undefined): Candidate | undefined {
    if (usable) return undefined;
    const others = this.#candidates.filter(({ engine }) => engine.usable);
    const same = others.find(({ primaries }) => primaries.has(spoken));
    return same ?? (requested === undefined ? others[0] : undefined);
  }

  /** The voice is made for this language, or for none in particular. */
  #customSpeaks(name: string, language: string): boolean {
    const custom = this.#custom?.named(name);
    if (custom === undefined) return false;
    const { language: own, reference } = custom;
    const isMeant = own === undefined || primaryTag(own) === primaryTag(language);
    return isMeant && whoCan(reference.kind, this.#engines, language).length > 0;
  }

  #byCustom(name: string, language: string | undefined): ResolvedVoice {
    const custom = this.#custom?.named(name);
    if (custom === undefined) throw this.#unknown(name);
    return this.#byReference(custom.reference, language ?? custom.language);
  }

  #byReference(reference: VoiceReference, language: string | undefined): ResolvedVoice {
    checkAble(reference.kind, this.#engines, language, 'voice');
    const able = whoCan(reference.kind, this.#engines, language);
    const engine = able.find((one) => one === this.#defaultEngine) ?? (able[0] as SpeechEngine);
    const own = this.#candidates.filter((candidate) => candidate.engine === engine);
    const best = own.find((candidate) => candidate === this.#default) ?? own[0];
    if (best !== undefined) return { ...resolved(best, language), reference };
    // An engine without a voice of its own needs none to speak with this one.
    const spoken = language ?? engine.capabilities.languages[0] ?? '';
    return { engine, voice: '', language: primaryTag(spoken), reference };
  }

  /** Nothing where no engine can speak with it now. */
  #listed({ id, name, language, description, reference }: CustomVoice): Voice[] {
    const [engine] = whoCan(reference.kind, this.#engines, language);
    if (engine === undefined) return [];
    const languages = language === undefined ? engine.capabilities.languages : [language];
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

function speaks(candidate: Candidate, language: string | undefined): boolean {
  return language === undefined || candidate.primaries.has(primaryTag(language));
}

/** Whether the voice is made for exactly this tag. */
function serves(candidate: Candidate | undefined, tag: string): boolean {
  return candidate?.voice.languages.includes(tag) === true;
}

function resolved({ engine, voice }: Candidate, language: string | undefined): ResolvedVoice {
  return { engine, voice: voice.name, language: primaryTag(language ?? voice.languages[0] ?? '') };
}

/** Engines that speak only with voices of samples or descriptions. */
function noOwnVoice(language?: string): ParleyError {
  const inLanguage = language === undefined ? '' : ` for ${languageName(language)}`;
  const message = `no engine of this server has a voice of its own${inLanguage}; name one that was made here, or bring one`;
  return new ParleyError('VOICE_UNKNOWN', message, { field: 'voice' });
}
