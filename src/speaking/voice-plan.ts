// Chooses the engine and voice of each sentence, and normalises its words for the language that is spoken.
//
// The markup of a text has precedence over the request. If neither states a language, the sentence decides
// (language-plan.ts). A sentence without a letter or digit is left out.
import type { VoiceReference } from '../engines/engine.js';
import { canonicalTag, primaryTag } from '../engines/language-names.js';
import { renderingKey } from '../engines/rendering-key.js';
import type { ResolvedVoice, SpeechRouting, VoiceRequest } from '../engines/routing.js';
import { ParleyError } from '../errors.js';
import type { Lexicon } from '../text/lexicon.js';
import type { MarkedSentence } from '../text/markup/marked-sentences.js';
import { continuedForm, type FormOptions, spokenForm } from '../text/spoken-form.js';
import { LanguagePlan } from './language-plan.js';
import type { SpokenSentence } from './speech-piece.js';
import type { TextSettings } from './speech-request.js';
import {
  type FirstPiece,
  nothingToSay,
  sentencesFrom,
  type TextLimits,
  type TextSteps,
  type TokenOptions,
  type Tokens,
} from './text-source.js';

type Marked = Pick<MarkedSentence, 'style' | 'parts' | 'context'>;

interface ArrivingSentence {
  readonly text: string;
  readonly isOnly: boolean;
  readonly continues?: boolean;
  readonly beginning?: string;
}

/** The voice of a sentence, and the tag of its words: that of the voice, with the region that is stated. */
interface Speaker {
  readonly voice: ResolvedVoice;
  readonly language: string;
}

export class VoicePlan {
  readonly #routing: SpeechRouting;
  readonly #settings: TextSettings;
  readonly #languages: LanguagePlan;
  readonly #lexicons: readonly Lexicon[];

  constructor(
    routing: SpeechRouting,
    settings: TextSettings,
    { lexicon }: { readonly lexicon?: Lexicon | undefined } = {},
  ) {
    this.#routing = routing;
    this.#settings = settings;
    this.#languages = new LanguagePlan(settings.language);
    this.#lexicons = [settings.lexicon, lexicon].filter((one) => one !== undefined);
  }

  /**
   * Every sentence of a text with its voice. Throws VOICE_UNKNOWN, LANGUAGE_UNAVAILABLE, or TEXT_EMPTY if
   * none has words.
   */
  *whole(sentences: readonly { readonly text: string }[]): TextSteps<SpokenSentence[]> {
    const isOnly = sentences.length === 1;
    this.#languages.begin(sentences);
    const spoken: SpokenSentence[] = [];
    for (const { text } of sentences) {
      yield;
      const sentence = this.#sentence(text, this.#next(text, isOnly));
      if (sentence !== undefined) spoken.push(sentence);
    }
    if (spoken.length === 0) throw nothingToSay();
    return spoken;
  }

  /** Sentences with their voices, as they arrive. Throws the errors of `whole` and of the source. */
  async *arriving(
    sentences: AsyncIterable<ArrivingSentence>,
  ): AsyncGenerator<SpokenSentence, void, undefined> {
    let isSilent = true;
    let speaker: Speaker | undefined;
    for await (const { text, isOnly, continues = false, beginning } of sentences) {
      if (speaker === undefined || beginning === undefined) speaker = this.#next(text, isOnly);
      const sentence = this.#sentence(text, speaker, { beginning });
      if (sentence === undefined) continue;
      isSilent = false;
      yield continues ? { ...sentence, continues } : sentence;
    }
    if (isSilent) throw nothingToSay();
  }

  /** True if speech may begin with this clause before its sentence is whole: its language is known. */
  mayBegin(clause: string): boolean {
    return this.#languages.isSure(clause);
  }

  /** A sentence of markup; undefined if nothing of it is spoken. */
  marked({ text, ...marked }: MarkedSentence, isOnly: boolean): SpokenSentence | undefined {
    return this.#sentence(text, this.#next(text, isOnly, marked.style), { marked });
  }

  /**
   * Undefined if nothing of it is spoken, as of the fence of a code block. `beginning` is the first clause of
   * the sentence, with the space behind it, if the text is the rest.
   */
  #sentence(
    text: string,
    { voice, language }: Speaker,
    { marked, beginning }: { readonly marked?: Marked; readonly beginning?: string | undefined } = {},
  ): SpokenSentence | undefined {
    const { normalize = true, pace = 1 } = this.#settings;
    const { parts = [], context } = marked ?? {};
    const isMarked = marked !== undefined;
    const lexicons = this.#lexicons;
    const options: FormOptions = { language, normalize, parts, isMarked, context, lexicons };
    const spoken =
      beginning === undefined ? spokenForm(text, options) : continuedForm(beginning, text, options);
    if (!/[\p{L}\p{N}]/u.test(spoken.text)) return undefined;
    return {
      text,
      voice,
      ...(spoken.text === text ? {} : { spoken }),
      ...(pace === 1 || isMarked ? {} : { delivery: { speed: pace } }),
    };
  }

  #next(sentence: string, isOnly: boolean, style?: Marked['style']): Speaker {
    const language = style?.language ?? this.#languages.of(sentence, isOnly);
    const voice = this.#voiceOf(language, style);
    const isStated = language !== undefined && primaryTag(language) === primaryTag(voice.language);
    return { voice, language: isStated ? canonicalTag(language) : voice.language };
  }

  #voiceOf(language: string | undefined, style: Marked['style'] | undefined): ResolvedVoice {
    const voice = style?.voice ?? this.#settings.voice;
    const reference = style?.voice === undefined ? this.#settings.reference : undefined;
    const request: VoiceRequest = { voice, reference, language };
    return style?.language === undefined
      ? this.#routing.resolve(request)
      : this.#inLanguage(style.language, request);
  }

  /** Chooses another voice for a part in another language, if the stated voice does not speak that. */
  #inLanguage(language: string, request: VoiceRequest): ResolvedVoice {
    try {
      return this.#routing.resolve(request);
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'LANGUAGE_UNAVAILABLE') throw error;
      return this.#routing.resolve({ language });
    }
  }
}

interface ArrivingOptions extends Omit<TokenOptions, 'limits' | 'language' | 'mayBegin'> {
  /** `sentence`, if absent. */
  readonly firstPiece?: FirstPiece | undefined;
}

/** The sentences of a text in tokens. Throws the errors of `sentencesFrom` and of the voices. */
export function arrivingSentences(
  tokens: Tokens,
  settings: TextSettings,
  { routing, limits }: { readonly routing: SpeechRouting; readonly limits: TextLimits },
  { firstPiece = 'sentence', ...options }: ArrivingOptions,
): AsyncGenerator<SpokenSentence, void, undefined> {
  const { language } = settings;
  const plan = new VoicePlan(routing, settings, limits);
  const mayBegin = firstPiece === 'clause' ? (clause: string) => plan.mayBegin(clause) : undefined;
  return plan.arriving(sentencesFrom(tokens, { ...options, limits, language, mayBegin }));
}

/** The voice that a request describes in words. */
export function promptVoice(prompt: string): VoiceReference {
  return { kind: 'prompt', hash: renderingKey(['prompt', prompt]), prompt };
}
