// Reads the sentences of a text as they are spoken: first the language of a sentence, then its words.
//
// This is the one way from written to spoken sentences. Speech, `parley normalize` and POST
// /v1/text/normalize differ in the speaker alone: speech asks for a voice, the other two for its language.
import { canonicalTag, primaryTag } from '../engines/language-names.js';
import type { ResolvedVoice, SpeechRouting, VoiceRequest } from '../engines/routing.js';
import { ParleyError } from '../errors.js';
import type { Lexicon } from '../text/lexicon.js';
import type { MarkedSentence } from '../text/markup/marked-sentences.js';
import type { MarkedStyle } from '../text/markup/marked-text.js';
import type { Normalized } from '../text/normalize/spoken-text.js';
import type { TableLayer } from '../text/tables/layer.js';
import { completeForm, type FormOptions, windowForm } from '../text/spoken-form.js';
import { LanguagePlan, type PlannedLanguage } from './language-plan.js';
import type { TextSettings } from './speech-request.js';
import type { TextLimits } from './text-source.js';

/** Speaks a sentence. `language` is the BCP 47 tag of its words. */
export interface Speaker {
  readonly language: string;
}

/** Chooses who speaks a sentence. `language` is undefined if nothing is known. */
type SpeakerOf<S extends Speaker> = (
  language: PlannedLanguage | undefined,
  style: MarkedStyle | undefined,
) => S;

export interface WrittenText {
  readonly text: string;
  /** The first clause of the sentence, with the space behind it, if the text is the rest. */
  readonly beginning?: string | undefined;
  readonly isOnly: boolean;
  /** Present for a sentence of markup. */
  readonly marked?: Pick<MarkedSentence, 'style' | 'parts' | 'context'> | undefined;
}

interface ReadWords<S extends Speaker> {
  readonly speaker: S;
  readonly form: Normalized;
}

export class SentenceReader<S extends Speaker> {
  readonly #isNormalized: boolean;
  readonly #languages: LanguagePlan;
  readonly #lexicons: readonly Lexicon[];
  readonly #tables: () => TableLayer | undefined;
  readonly #speakerOf: SpeakerOf<S>;
  #speaker: S | undefined;

  /** `lexicon` is that of the server. The tables are those of each sentence's moment. */
  constructor(
    settings: Pick<TextSettings, 'language' | 'lexicon' | 'normalize' | 'client'>,
    { lexicon, tables }: Pick<TextLimits, 'lexicon' | 'tables'>,
    speakerOf: SpeakerOf<S>,
  ) {
    this.#isNormalized = settings.normalize !== false;
    this.#languages = new LanguagePlan(settings.language);
    this.#lexicons = [settings.lexicon, lexicon].filter((one) => one !== undefined);
    this.#tables = () => tables?.layerFor(settings.client);
    this.#speakerOf = speakerOf;
  }

  /** Takes all plain sentences, if they are known before the first call of `read`. */
  begin(sentences: readonly { readonly text: string }[]): void {
    this.#languages.begin(sentences);
  }

  /**
   * True if speech may begin with this clause before its sentence is whole: its language is known, and what
   * follows changes none of its words as lexicons and tables say them.
   */
  mayBegin(clause: string, ahead: string): boolean {
    if (!this.#languages.isSure(clause)) return false;
    const tables = this.#tables();
    if (this.#lexicons.length === 0 && tables === undefined) return true; // the stream has read the clause
    const language = usualLanguage(this.#languages.beginsWith(clause));
    const window = { text: clause, ahead, isComplete: false };
    return windowForm(window, { language, lexicons: this.#lexicons, tables }) !== 'wait';
  }

  /** The next sentence. The rest of a sentence has the speaker of its first clause. */
  read({ text, beginning, isOnly, marked }: WrittenText): ReadWords<S> {
    const style = marked?.style;
    const before = beginning === undefined ? undefined : this.#speaker;
    const speaker = before ?? this.#speakerOf(this.#languageOf(text, isOnly, style), style);
    this.#speaker = speaker;
    const { parts = [], context } = marked ?? {};
    const options: FormOptions = {
      language: speaker.language,
      normalize: this.#isNormalized,
      parts,
      isMarked: marked !== undefined,
      context,
      lexicons: this.#lexicons,
      tables: this.#tables(),
    };
    return { speaker, form: completeForm({ spoken: beginning, text }, options) };
  }

  #languageOf(text: string, isOnly: boolean, style: MarkedStyle | undefined): PlannedLanguage | undefined {
    const stated = style?.language;
    return stated === undefined ? this.#languages.of(text, isOnly) : { tag: stated, isSure: true };
  }
}

/**
 * The voice for a request whose language the text shows. A language that is in doubt yields to that of the
 * voice if no voice speaks it. Throws like `resolve` if the language is sure.
 */
export function voiceIn(
  planned: PlannedLanguage | undefined,
  request: VoiceRequest,
  routing: SpeechRouting,
): ResolvedVoice {
  const language = planned?.tag;
  if (planned === undefined || planned.isSure) return routing.resolve({ ...request, language });
  const usual = routing.resolve({ ...request, language: undefined });
  if (primaryTag(usual.language) === primaryTag(planned.tag)) return usual;
  try {
    return routing.resolve({ ...request, language });
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return usual;
  }
}

/** The tag of the words that a voice speaks: that of the voice, with the region that is stated. */
export function wordsLanguage(planned: PlannedLanguage | undefined, voice: ResolvedVoice): string {
  const isSpoken = planned !== undefined && primaryTag(planned.tag) === primaryTag(voice.language);
  return isSpoken ? canonicalTag(planned.tag) : voice.language;
}

/** The tag of the words that this voice, or without a name the usual one, would speak. It never throws. */
export function spokenLanguage(
  planned: PlannedLanguage | undefined,
  voice: string | undefined,
  routing: SpeechRouting,
): string {
  try {
    return wordsLanguage(planned, voiceIn(planned, { voice }, routing));
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return usualLanguage(planned);
  }
}

/** The tag without a voice: English if nothing is known. */
export function usualLanguage(planned: PlannedLanguage | undefined): string {
  return planned === undefined ? 'en' : canonicalTag(planned.tag);
}
