// Shows how a text would be spoken, without speaking it: the normalised sentences and the rule behind each
// change. It asks no engine and no voice.
import { type Lexicon, readLexicon } from '../text/lexicon.js';
import { sentencesOfMarkup, type MarkedBleep, type MarkedSentence } from '../text/markup/marked-sentences.js';
import type { MarkedHint, MarkedStyle, Unheeded } from '../text/markup/marked-text.js';
import { readMarkup } from '../text/markup/read-markup.js';
import type { Span } from '../text/markup/source-map.js';
import type { Sentence } from '../text/sentences.js';
import type { PlannedLanguage } from './language-plan.js';
import { SentenceReader, type Speaker, usualLanguage, type WrittenText } from './sentence-reader.js';
import type { TextRequest } from './speech-request.js';
import type { SpeakerTables } from './text-tables.js';
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
  readonly tables?: SpeakerTables | undefined;
  /**
   * The BCP 47 tag of the words that a voice, or without one the default voice, speaks for a text. Default:
   * the language that is planned, or English.
   */
  readonly spokenLanguage?:
    ((language: PlannedLanguage | undefined, voice: string | undefined) => string) | undefined;
}

/** Reads the lexicon of a request. Throws INVALID_FIELD with the entry and its field. */
export function requestLexicon(entries: unknown): Lexicon {
  return readLexicon(entries, { name: 'lexicon', mostEntries: MOST_REQUEST_ENTRIES, code: 'INVALID_FIELD' });
}

/**
 * The parts of an SSML document that have no effect, each once. `followed` answers which hints the engine
 * follows; it is asked only for a document with hints. Throws INVALID_FIELD for invalid SSML.
 */
export function unheededMarkup(source: string, followed: () => readonly MarkedHint['kind'][]): string[] {
  const { unheeded, hinted } = readMarkup(source);
  const kinds = hinted.size === 0 ? [] : followed();
  const isFollowed = (one: Unheeded) => {
    const kind = hinted.get(one);
    return kind !== undefined && kinds.includes(kind);
  };
  return [...new Set(unheeded.filter((one) => !isFollowed(one)).map(({ what }) => what))];
}

/** Throws TEXT_TOO_LONG, TEXT_EMPTY, and INVALID_FIELD for invalid SSML. */
export function readText(request: TextRequest, limits: ReadingLimits): ReadText {
  return atOnce(readingOf(request, limits));
}

/** Reads a text. Throws the errors of `readText`. */
export function* readingOf(request: TextRequest, limits: ReadingLimits): TextSteps<ReadText> {
  const { text, language, format } = request;
  const { spokenLanguage = usualLanguage } = limits;
  const reader = new SentenceReader<Speaker>(request, limits, (planned, style) => ({
    language: spokenLanguage(planned, style?.voice ?? request.voice),
  }));
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  if (!isMarkup(text, format)) {
    const sentences = yield* sentencesOf(text, limits, request);
    const isOnly = sentences.length === 1;
    reader.begin(sentences);
    const read: ReadSentence[] = [];
    for (const sentence of sentences) {
      yield;
      read.push(plainSentence(sentence, { text, isOnly, reader }));
    }
    return { sentences: read, endPauseMs: 0, unheeded: [] };
  }
  const marked = readMarkup(text);
  const { sentences, endPauseMs } = sentencesOfMarkup(
    marked,
    language,
    limits.tables?.layerFor(request.client),
  );
  if (sentences.length === 0) throw nothingToSay();
  const isOnly = sentences.length === 1;
  const read: ReadText['sentences'][number][] = [];
  for (const one of sentences) {
    yield;
    read.push(one.kind === 'bleep' ? one : markedSentence(one, { text, isOnly, reader }));
  }
  return { sentences: read, endPauseMs, unheeded: marked.unheeded };
}

interface TextOf {
  /** The whole text of the request. */
  readonly text: string;
  readonly isOnly: boolean;
  readonly reader: SentenceReader<Speaker>;
}

function plainSentence(
  { text, start, end }: Sentence,
  { text: source, isOnly, reader }: TextOf,
): ReadSentence {
  const spanOf = sourceSpans(text, source.slice(start, end));
  const place = (from: number, to: number) => {
    const span = spanOf(from, to);
    return { start: start + span.start, end: start + span.end };
  };
  return readSentence({ text, isOnly }, place, { source, reader });
}

function markedSentence(sentence: MarkedSentence, { text: source, isOnly, reader }: TextOf): ReadSentence {
  const { text, style, pauseBeforeMs, marksBefore, marksAfter } = sentence;
  const place = (from: number, to: number) => sentence.sourceSpan(from, to);
  return {
    ...readSentence({ text, isOnly, marked: sentence }, place, { source, reader }),
    style,
    pauseBeforeMs,
    ...(marksBefore.length === 0 ? {} : { marksBefore }),
    ...(marksAfter.length === 0 ? {} : { marksAfter }),
  };
}

function readSentence(
  written: WrittenText,
  place: (start: number, end: number) => Span,
  { source, reader }: { readonly source: string; readonly reader: SentenceReader<Speaker> },
): ReadSentence {
  const { text } = written;
  const { speaker, form } = reader.read(written);
  const rules = form.replacements.map(({ rule, start, end, spoken: words }) => {
    const at = place(start, end);
    return { rule, written: source.slice(at.start, at.end), spoken: words, place: at };
  });
  const { language } = speaker;
  return {
    kind: 'sentence',
    written: text,
    spoken: form.text,
    language,
    place: place(0, text.length),
    rules,
  };
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
