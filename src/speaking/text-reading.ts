// Shows how a text would be spoken, without speaking it: the normalised sentences and the rule behind each
// change. It asks no engine and no voice.
import { canonicalTag } from '../engines/language-names.js';
import { type Lexicon, readLexicon } from '../text/lexicon.js';
import { sentencesOfMarkup, type MarkedBleep, type MarkedSentence } from '../text/markup/marked-sentences.js';
import type { MarkedStyle, Unheeded } from '../text/markup/marked-text.js';
import { readMarkup } from '../text/markup/read-markup.js';
import type { Span } from '../text/markup/source-map.js';
import type { Sentence } from '../text/sentences.js';
import { spokenForm, type FormOptions } from '../text/spoken-form.js';
import { LanguagePlan } from './language-plan.js';
import type { TextRequest } from './speech-request.js';
import { atOnce, isMarkup, nothingToSay, sentencesOf, type TextSteps, tooLong } from './text-source.js';

const BLANK = /[\p{Cc}\s]/u;
const MOST_REQUEST_ENTRIES = 1000; // entries of a lexicon that comes with a request

interface FiredRule {
  readonly rule: string;
  readonly written: string;
  readonly spoken: string;
  /** Offsets in the text of the request. */
  readonly place: Span;
}

interface ReadSentence {
  readonly kind: 'sentence';
  /** In one line and without invisible characters, as it is spoken. */
  readonly written: string;
  readonly spoken: string;
  readonly language: string;
  /** Offsets in the text of the request. */
  readonly place: Span;
  readonly rules: readonly FiredRule[];
  /** Present for markup only, as the next three. */
  readonly style?: MarkedStyle;
  readonly pauseBeforeMs?: number | undefined;
  readonly marksBefore?: readonly string[];
  readonly marksAfter?: readonly string[];
}

export interface ReadText {
  readonly sentences: readonly (ReadSentence | MarkedBleep)[];
  /** Milliseconds of silence after the last sentence. */
  readonly endPauseMs: number;
  readonly unheeded: readonly Unheeded[];
}

export interface ReadingLimits {
  /** UTF-16 units. */
  readonly maxTextLength: number;
  /** Lexicon of the server. */
  readonly lexicon?: Lexicon | undefined;
  /**
   * The language in which a voice, or without one the default voice, speaks a text whose language is not
   * known. Default English.
   */
  readonly usualLanguage?: ((voice?: string) => string) | undefined;
}

/** Reads the lexicon of a request. Throws INVALID_FIELD with the entry and its field. */
export function requestLexicon(entries: unknown): Lexicon {
  return readLexicon(entries, { name: 'lexicon', mostEntries: MOST_REQUEST_ENTRIES, code: 'INVALID_FIELD' });
}

/** The parts of an SSML document that have no effect, each once. Throws INVALID_FIELD for invalid SSML. */
export function unheededMarkup(source: string): string[] {
  return [...new Set(readMarkup(source).unheeded.map(({ what }) => what))];
}

/** Throws TEXT_TOO_LONG, TEXT_EMPTY, and INVALID_FIELD for invalid SSML. */
export function readText(request: TextRequest, limits: ReadingLimits): ReadText {
  return atOnce(readingOf(request, limits));
}

/** Reads a text. Throws the errors of `readText`. */
export function* readingOf(request: TextRequest, limits: ReadingLimits): TextSteps<ReadText> {
  const { text, language, format } = request;
  const lexicons = [request.lexicon, limits.lexicon].filter((lexicon) => lexicon !== undefined);
  const languages = new LanguagePlan(language);
  const { usualLanguage = () => 'en' } = limits;
  const reader = new Reader(languages, lexicons, usualLanguage);
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  if (!isMarkup(text, format)) {
    const sentences = yield* sentencesOf(text, limits, language);
    const isOnly = sentences.length === 1;
    languages.begin(sentences);
    const read: ReadSentence[] = [];
    for (const sentence of sentences) {
      yield;
      read.push(reader.plain(sentence, text, isOnly));
    }
    return { sentences: read, endPauseMs: 0, unheeded: [] };
  }
  const marked = readMarkup(text);
  const { sentences, endPauseMs } = sentencesOfMarkup(marked, language);
  if (sentences.length === 0) throw nothingToSay();
  const isOnly = sentences.length === 1;
  const read: ReadText['sentences'][number][] = [];
  for (const one of sentences) {
    yield;
    read.push(one.kind === 'bleep' ? one : reader.marked(one, text, isOnly));
  }
  return { sentences: read, endPauseMs, unheeded: marked.unheeded };
}

class Reader {
  readonly #languages: LanguagePlan;
  readonly #lexicons: readonly Lexicon[];
  readonly #usualLanguage: (voice?: string) => string;

  constructor(
    languages: LanguagePlan,
    lexicons: readonly Lexicon[],
    usualLanguage: (voice?: string) => string,
  ) {
    this.#languages = languages;
    this.#lexicons = lexicons;
    this.#usualLanguage = usualLanguage;
  }

  plain({ text, start, end }: Sentence, source: string, isOnly: boolean): ReadSentence {
    const language = this.#languages.of(text, isOnly) ?? this.#usualLanguage();
    const spanOf = sourceSpans(text, source.slice(start, end));
    const place = (from: number, to: number) => {
      const span = spanOf(from, to);
      return { start: start + span.start, end: start + span.end };
    };
    return this.#read(text, { language }, place, source);
  }

  marked(sentence: MarkedSentence, source: string, isOnly: boolean): ReadSentence {
    const { text, style, parts, context, pauseBeforeMs, marksBefore, marksAfter } = sentence;
    const stated = style.language ?? this.#languages.of(text, isOnly);
    const language = stated === undefined ? this.#usualLanguage(style.voice) : canonicalTag(stated);
    const place = (from: number, to: number) => sentence.sourceSpan(from, to);
    return {
      ...this.#read(text, { language, parts, context, isMarked: true }, place, source),
      style,
      pauseBeforeMs,
      ...(marksBefore.length === 0 ? {} : { marksBefore }),
      ...(marksAfter.length === 0 ? {} : { marksAfter }),
    };
  }

  #read(
    written: string,
    options: FormOptions,
    place: (start: number, end: number) => Span,
    source: string,
  ): ReadSentence {
    const { text: spoken, replacements } = spokenForm(written, { ...options, lexicons: this.#lexicons });
    const rules = replacements.map(({ rule, start, end, spoken: words }) => {
      const at = place(start, end);
      return { rule, written: source.slice(at.start, at.end), spoken: words, place: at };
    });
    return {
      kind: 'sentence',
      written,
      spoken,
      language: options.language,
      place: place(0, written.length),
      rules,
    };
  }
}

/** Places in `source` of spans of `text`: the same with invisible characters left out and spaces joined. */
function sourceSpans(text: string, source: string): (start: number, end: number) => Span {
  if (text === source) return (start, end) => ({ start, end });
  const places: number[] = [];
  let at = 0;
  for (const unit of text.split('')) {
    while (at < source.length && (unit === ' ' ? !BLANK.test(source[at] ?? '') : source[at] !== unit)) at++;
    places.push(at++);
  }
  return (start, end) => ({
    start: places[start] ?? source.length,
    end: end > start ? (places[end - 1] ?? source.length - 1) + 1 : (places[start] ?? source.length),
  });
}
