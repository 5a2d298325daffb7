// Chooses the engine and voice of each sentence, and normalises its words for the language that is spoken.
//
// The markup of a text has precedence over the request. If neither states a language, the sentence decides
// (language-plan.ts). A sentence without a letter or digit is left out.
import type { SpeechHint, VoiceReference } from '../engines/engine.js';
import { renderingKey } from '../engines/rendering-key.js';
import type { ResolvedVoice, SpeechRouting, VoiceRequest } from '../engines/routing.js';
import { ParleyError } from '../errors.js';
import { type MarkedSentence, placeFrom } from '../text/markup/marked-sentences.js';
import type { MarkedHint, MarkedStyle } from '../text/markup/marked-text.js';
import type { Normalized } from '../text/normalize/spoken-text.js';
import type { PlannedLanguage } from './language-plan.js';
import { SentenceReader, type Speaker, voiceIn, wordsLanguage, type WrittenText } from './sentence-reader.js';
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

interface ArrivingSentence {
  readonly text: string;
  readonly isOnly: boolean;
  readonly continues?: boolean;
  readonly beginning?: string;
}

interface VoicedSpeaker extends Speaker {
  readonly voice: ResolvedVoice;
}

/** The hint with its place in the spoken words. */
function placedIn(spoken: Normalized | undefined, { start, end, ...hint }: MarkedHint): SpeechHint {
  if (spoken === undefined) return { ...hint, start, end };
  const { text, sourceSpan } = spoken;
  return {
    ...hint,
    start: placeFrom(text.length, (place) => sourceSpan(place, place + 1).end > start),
    end: placeFrom(text.length, (place) => sourceSpan(place, place + 1).start >= end),
  };
}

export class VoicePlan {
  readonly #routing: SpeechRouting;
  readonly #settings: TextSettings;
  readonly #reader: SentenceReader<VoicedSpeaker>;

  constructor(
    routing: SpeechRouting,
    settings: TextSettings,
    limits: Pick<TextLimits, 'lexicon' | 'tables'> = {},
  ) {
    this.#routing = routing;
    this.#settings = settings;
    this.#reader = new SentenceReader(settings, limits, (language, style) => {
      const voice = this.#voiceOf(language, style);
      return { voice, language: wordsLanguage(language, voice) };
    });
  }

  /**
   * Every sentence of a text with its voice. Throws VOICE_UNKNOWN, LANGUAGE_UNAVAILABLE, or TEXT_EMPTY if
   * none has words.
   */
  *whole(sentences: readonly { readonly text: string }[]): TextSteps<SpokenSentence[]> {
    const isOnly = sentences.length === 1;
    this.#reader.begin(sentences);
    const spoken: SpokenSentence[] = [];
    for (const { text } of sentences) {
      yield;
      const sentence = this.#sentence({ text, isOnly });
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
    for await (const { text, isOnly, continues = false, beginning } of sentences) {
      const sentence = this.#sentence({ text, isOnly, beginning });
      if (sentence === undefined) continue;
      isSilent = false;
      yield continues ? { ...sentence, continues } : sentence;
    }
    if (isSilent) throw nothingToSay();
  }

  /** True if speech may begin with this clause before its sentence is whole. */
  mayBegin(clause: string, ahead: string): boolean {
    return this.#reader.mayBegin(clause, ahead);
  }

  /** A sentence of markup; undefined if nothing of it is spoken. */
  marked({ text, hints, ...marked }: MarkedSentence, isOnly: boolean): SpokenSentence | undefined {
    const sentence = this.#sentence({ text, isOnly, marked });
    const followed = sentence?.voice.engine.capabilities.hints ?? [];
    const able = hints.filter(({ kind }) => followed.includes(kind));
    if (sentence === undefined || able.length === 0) return sentence;
    return { ...sentence, hints: able.map((hint) => placedIn(sentence.spoken, hint)) };
  }

  /** Undefined if nothing of it is spoken, as of the fence of a code block. */
  #sentence(written: WrittenText): SpokenSentence | undefined {
    const { text, marked } = written;
    const { pace = 1 } = this.#settings;
    const { form, speaker } = this.#reader.read(written);
    if (!/[\p{L}\p{N}]/u.test(form.text)) return undefined;
    return {
      text,
      voice: speaker.voice,
      ...(form.text === text ? {} : { spoken: form }),
      ...(pace === 1 || marked !== undefined ? {} : { delivery: { speed: pace } }),
    };
  }

  #voiceOf(language: PlannedLanguage | undefined, style: MarkedStyle | undefined): ResolvedVoice {
    const voice = style?.voice ?? this.#settings.voice;
    const reference = style?.voice === undefined ? this.#settings.reference : undefined;
    const request: VoiceRequest = { voice, reference, language: language?.tag };
    return style?.language === undefined
      ? voiceIn(language, request, this.#routing)
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
  const { language, client } = settings;
  const plan = new VoicePlan(routing, settings, limits);
  const mayBegin =
    firstPiece === 'clause' ? (clause: string, ahead: string) => plan.mayBegin(clause, ahead) : undefined;
  return plan.arriving(sentencesFrom(tokens, { ...options, limits, language, client, mayBegin }));
}

/** The voice that a request describes in words. */
export function promptVoice(prompt: string): VoiceReference {
  return { kind: 'prompt', hash: renderingKey(['prompt', prompt]), prompt };
}
