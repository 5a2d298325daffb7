// Puts a cache before the speech service: a text that was rendered before costs neither an engine nor an
// encoder.
import type { EncoderSettings } from '../encoding/encoder-messages.js';
import type { AudioCache } from './audio-cache.js';
import { ParleyError } from '../errors.js';
import type { EngineCapabilities, Voice, VoiceReference } from '../engines/engine.js';
import type { VoiceSample } from '../voices/references.js';
import { keyFields, renderingKey } from '../engines/rendering-key.js';
import type { SpeechRouting, VoiceRequest } from '../engines/routing.js';
import type { Sound, SoundSource } from './sound.js';
import type { Lexicon } from '../text/lexicon.js';
import { SentenceStream } from '../text/sentences.js';
import type { Continuity } from './continuity.js';
import type { FrameCache } from './frame-cache.js';
import { LanguagePlan, type PlannedLanguage } from './language-plan.js';
import { voiceIn } from './sentence-reader.js';
import type { RunPart } from './sentence-run.js';
import { SENTENCE_PAUSE_MS } from './speech-pipeline.js';
import type { SpeechRequest } from './speech-request.js';
import type { SpeakerTables } from './text-tables.js';
import { SLICE } from './text-source.js';

const FORM = 4; // version of cached audio; raise it when audio changes but no key field does

interface Speech {
  openStream(request: SpeechRequest, signal: AbortSignal): Promise<SoundSource>;
  openPart(part: RunPart, request: SpeechRequest, signal: AbortSignal): Promise<SoundSource>;
  voices(): Promise<readonly Voice[]>;
}

/** Makes a voice from the sample of a request. */
interface SampleVoices {
  reference(sample: VoiceSample, signal: AbortSignal): Promise<VoiceReference>;
}

interface CachedSpeechParts {
  readonly cache: AudioCache;
  readonly routing: SpeechRouting;
  /** Settings of the encoders. Servers that share renderings may have others. */
  readonly settings: EncoderSettings;
  /** Continuity of the speech service. The same text sounds different in one generation. */
  readonly continuity?: Continuity;
  /** Lexicon of the server. Servers that share renderings may have another. */
  readonly lexicon?: Lexicon | undefined;
  readonly tables?: SpeakerTables | undefined;
  /** Cleared together with the renderings. */
  readonly frames?: FrameCache;
  /** If absent, requests cannot bring a sample of a voice. */
  readonly samples?: SampleVoices;
}

/** The parts of a request that decide who speaks; the text does if no language is stated. */
export type SpeakerRequest = VoiceRequest & Partial<Pick<SpeechRequest, 'text' | 'markup'>>;

export interface Speaker {
  readonly voice?: string;
  readonly language: string;
  /** The voice stands in for the one of OpenAI or Qwen that the request names. */
  readonly standsIn?: true;
}

export class CachedSpeech {
  readonly #speech: Speech;
  readonly #cache: AudioCache;
  readonly #routing: SpeechRouting;
  readonly #frames: FrameCache | undefined;
  readonly #samples: SampleVoices | undefined;
  readonly #tables: SpeakerTables | undefined;
  /** Hash of the fields that are the same in every request. */
  readonly #own: string;

  constructor(speech: Speech, parts: CachedSpeechParts) {
    const { cache, routing, settings, continuity, lexicon, tables, frames, samples } = parts;
    this.#tables = tables;
    this.#speech = speech;
    this.#cache = cache;
    this.#routing = routing;
    this.#frames = frames;
    this.#samples = samples;
    const mode = continuity?.mode === 'utterance' ? [continuity.mode] : [];
    const words = lexicon === undefined ? [] : ['lexicon', lexicon.id];
    this.#own = renderingKey([FORM, SENTENCE_PAUSE_MS, ...mode, ...words, ...keyFields(settings)]);
  }

  /** Capabilities of the engine that would speak. Throws VOICE_UNKNOWN and LANGUAGE_UNAVAILABLE. */
  abilities(request: VoiceRequest): EngineCapabilities & { readonly engine: string } {
    const { engine } = this.#routing.resolve(request);
    return { ...engine.capabilities, engine: engine.name };
  }

  /**
   * The engine's voice and the primary tag of the language that would speak. The voice is absent if it is
   * made from a sample or a description. If it stands in for another voice, the first sentence decides.
   * Throws VOICE_UNKNOWN and LANGUAGE_UNAVAILABLE.
   */
  spokenBy({ text = '', markup, ...request }: SpeakerRequest): Speaker {
    const resolved = this.#routing.resolve(request);
    if (resolved.reference !== undefined) return { language: resolved.language };
    if (resolved.standsIn !== true) return { voice: resolved.voice, language: resolved.language };
    const found = request.language === undefined && markup !== true ? firstLanguage(text) : undefined;
    const standIn = found === undefined ? resolved : voiceIn(found, request, this.#routing);
    return { voice: standIn.voice, language: standIn.language, standsIn: true };
  }

  async reference(sample: VoiceSample, signal: AbortSignal): Promise<VoiceReference> {
    if (this.#samples !== undefined) return this.#samples.reference(sample, signal);
    const engines = new Set((await this.voices()).map(({ engine }) => engine));
    const message = `no engine of this server can speak with the voice of a sample: there is ${[...engines].join(', ')}`;
    throw new ParleyError('CAPABILITY_MISSING', message, { field: 'ref_audio' });
  }

  voices(): Promise<readonly Voice[]> {
    return this.#speech.voices();
  }

  /** The rendering, if it is stored whole. Throws VOICE_UNKNOWN and LANGUAGE_UNAVAILABLE. */
  find(request: SpeechRequest): Sound | undefined {
    return this.#uses(request) ? this.#cache.find(this.#key(request)) : undefined;
  }

  /** True if `find` would find it. It does not count as a use. */
  has(request: SpeechRequest): boolean {
    return this.#uses(request) && this.#cache.has(this.#key(request));
  }

  /**
   * Opens a sentence of a run. It is neither looked up nor kept, because its sound depends on the sentences
   * before.
   */
  openPart(
    part: RunPart,
    { cache: _cache, ...request }: SpeechRequest,
    signal: AbortSignal,
  ): Promise<SoundSource> {
    return this.#speech.openPart(part, request, signal);
  }

  /** Rejects as the speech service does. `cache` of the result is absent if the cache was not asked. */
  openStream({ cache, ...request }: SpeechRequest, signal: AbortSignal): Promise<SoundSource> {
    if (!this.#uses({ ...request, cache: cache ?? true })) return this.#speech.openStream(request, signal);
    const start = (own: AbortSignal) => this.#speech.openStream(request, own);
    return this.#cache.follow(this.#key(request), start, signal);
  }

  /** Returns how many renderings and sentences of calls left the memory of this server. */
  clear(): number {
    return this.#cache.clear() + (this.#frames?.clear() ?? 0);
  }

  // The voice of a request's own sample or description is private. A voice that markup names is known here
  // only by its name, which may later belong to another voice.
  #uses({ cache, reference, markup, text }: SpeechRequest): boolean {
    const namesVoices = markup === true && text.includes('<voice');
    return this.#cache.enabled && cache !== false && reference === undefined && !namesVoices;
  }

  // The key has every field that a request has or will have, except who asks (only the tables of
  // their key count), how soon the sound is wanted
  // and how it is sent. If a field were missing here, a client could get the wrong sound.
  #key({
    client,
    cache: _cache,
    kind: _kind,
    dueAtMs: _dueAtMs,
    delivery: _delivery,
    ignoredFields: _ignored,
    format: { container },
    ...request
  }: SpeechRequest): string {
    // A name may later belong to another voice, so the key has the hash of the voice, too.
    const { engine, voice, language, reference } = this.#routing.resolve(request);
    const tables = this.#tables?.layerFor(client);
    const words = tables === undefined ? [] : ['tables', tables.id];
    const voiced = [
      ...words,
      engine.name,
      engine.identity,
      voice,
      language,
      reference?.kind,
      reference?.hash,
    ];
    return renderingKey([this.#own, ...voiced, ...keyFields({ ...request, container })]);
  }
}

/** The language of the first sentence, as far as the first slice of the text shows it. */
function firstLanguage(text: string): PlannedLanguage | undefined {
  const stream = new SentenceStream({});
  const sentences = [...stream.push(text.slice(0, SLICE)), ...stream.end()];
  const [first] = sentences;
  if (first === undefined) return undefined;
  const plan = new LanguagePlan();
  plan.begin(sentences);
  return plan.of(first.text, sentences.length === 1);
}
