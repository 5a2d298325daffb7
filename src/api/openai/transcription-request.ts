// Reads the fields of requests for a transcription or a translation.
import { checkLanguage, primaryTag } from '../../engines/language-names.js';
import { ParleyError } from '../../errors.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import { CUE_RULES, type CueRules } from '../../transcribing/cues.js';
import type { FileUpload } from '../http/file-upload.js';
import { srtSpeaker } from '../../transcribing/subtitle-files.js';
import { BY_SPEAKER, type TranscriptFormat } from './transcription-forms.js';
import { IGNORED_FIELDS } from './transcription-schema.js';

const LEAST_COLUMNS = 10;

export interface TranscriptionOptions {
  readonly task: 'transcribe' | 'translate';
  readonly model: string | undefined;
  /** BCP 47 tag of the speech; undefined: it is found. */
  readonly language: string | undefined;
  readonly context: string | undefined;
  readonly format: TranscriptFormat;
  /** How times are found; undefined if the answer has none. */
  readonly times: 'accurate' | 'fast' | undefined;
  readonly words: boolean;
  readonly segments: boolean;
  readonly rules: CueRules;
  /** Names of the speakers of the two channels; undefined: speakers are not told apart. */
  readonly speakers: readonly [string, string] | undefined;
  /** The text is written with figures; undefined: the server's default. */
  readonly smartFormat: boolean | undefined;
  readonly stream: boolean;
  readonly progress: boolean;
  /** Fields that make no difference. */
  readonly ignored: readonly string[];
}

/** The fields as the schemas let them pass. */
interface Fields {
  readonly model?: string;
  readonly language?: string;
  readonly languages?: readonly string[];
  readonly source_language?: string;
  readonly prompt?: string;
  readonly keywords?: readonly string[];
  readonly response_format?: TranscriptFormat;
  readonly speaker_labels?: readonly string[];
  readonly temperature?: number;
  readonly timestamp_granularities?: readonly ('word' | 'segment')[];
  readonly include?: readonly ('logprobs' | 'progress')[];
  readonly smart_format?: boolean;
  readonly stream?: boolean;
  readonly timestamps?: 'accurate' | 'fast';
  readonly max_line_chars?: number;
  readonly min_cue_seconds?: number;
  readonly max_cue_seconds?: number;
  readonly chars_per_second?: number;
}

type Upload = Pick<FileUpload, 'fields' | 'names'>;

interface TranscriberFacts {
  readonly canAlign: boolean;
  /** BCP 47 primary tags; absent or empty: they are not known. */
  readonly alignedLanguages?: readonly string[];
  readonly ignoresContext?: boolean;
}

/** Throws INVALID_FIELD. */
export function readTranscription({ fields, names }: Upload, facts: TranscriberFacts): TranscriptionOptions {
  const asked = fields as Fields;
  const { language, languages = [], stream = false, include = [] } = asked;
  const { response_format: format = 'json' } = asked;
  const speakers = speakersOf(asked);
  const granularities = asked.timestamp_granularities ?? [];
  const segments =
    granularities.includes('segment') || (format === 'verbose_json' && granularities.length === 0);
  const words = granularities.includes('word');
  const isTimed = format === 'srt' || format === 'vtt' || format === BY_SPEAKER;
  const hasTimes = isTimed || ((format === 'verbose_json' || stream) && (segments || words));
  const only = languages.length === 1 ? languages[0] : undefined;
  const times = hasTimes ? timesOf(asked, facts) : undefined;
  const tag = tagIn(language ?? only);
  return {
    task: 'transcribe',
    ...commonOf(asked),
    rules: speakers === undefined ? rulesOf(asked) : besideName(rulesOf(asked), format, speakers),
    speakers,
    language: tag,
    format,
    times,
    words,
    segments,
    smartFormat: asked.smart_format,
    stream,
    progress: include.includes('progress'),
    ignored: [
      ...ignoredOf(asked, names, facts),
      ...(isRefused(asked, times) ? ['timestamps'] : []),
      ...(isUnaligned(tag, times, facts) ? [language === undefined ? 'languages' : 'language'] : []),
      ...(include.includes('logprobs') ? ['include=logprobs'] : []),
      ...(languages.length > 1 ? ['languages'] : []),
      ...(asked.speaker_labels !== undefined && speakers === undefined ? ['speaker_labels'] : []),
    ],
  };
}

/** As `readTranscription`, with the BCP 47 tag of the language to translate into. */
export function readTranslation(
  { fields, names }: Upload,
  facts: TranscriberFacts,
): { readonly options: TranscriptionOptions; readonly target: string } {
  const asked = fields as Fields;
  const format = translatedFormat(asked);
  const hasTimes = format !== 'json' && format !== 'text';
  const times = hasTimes ? timesOf(asked, facts) : undefined;
  const language = tagIn(asked.source_language);
  const options = {
    task: 'translate',
    ...commonOf(asked),
    rules: rulesOf(asked),
    speakers: undefined,
    language,
    format,
    times,
    words: false, // a translation has other words than the sound
    segments: format === 'verbose_json',
    smartFormat: false,
    stream: asked.stream ?? false,
    progress: asked.include?.includes('progress') === true,
    ignored: [
      ...ignoredOf(asked, names, facts),
      ...(isRefused(asked, times) ? ['timestamps'] : []),
      ...(isUnaligned(language, times, facts) ? ['source_language'] : []),
    ],
  } as const;
  const target = tagIn(asked.language) ?? 'en';
  checkLanguage(target, 'language');
  return { options, target };
}

/** Without an aligner all times are shared out. */
function timesOf({ timestamps }: Fields, { canAlign }: TranscriberFacts): 'accurate' | 'fast' {
  return canAlign ? (timestamps ?? 'accurate') : 'fast';
}

function isRefused({ timestamps }: Fields, times: TranscriptionOptions['times']): boolean {
  return timestamps === 'accurate' && times === 'fast';
}

/** The aligner does not know the stated language: it finds the words as if none were stated. */
function isUnaligned(
  language: string | undefined,
  times: TranscriptionOptions['times'],
  { alignedLanguages = [] }: TranscriberFacts,
): boolean {
  if (language === undefined || times !== 'accurate' || alignedLanguages.length === 0) return false;
  return !alignedLanguages.includes(primaryTag(language));
}

function commonOf(asked: Fields) {
  return { model: asked.model, context: contextOf(asked) };
}

const FORMATS_WITH_NAMES: readonly TranscriptFormat[] = ['verbose_json', 'srt', 'vtt'];

/** Undefined where speakers are not told apart. Throws INVALID_FIELD for a stream by speakers. */
function speakersOf(asked: Fields): readonly [string, string] | undefined {
  const { response_format: format = 'json', speaker_labels: labels, stream } = asked;
  const isWanted = format === BY_SPEAKER || (labels !== undefined && FORMATS_WITH_NAMES.includes(format));
  if (!isWanted) return undefined;
  if (stream === true) {
    const message = '"stream" must be false if speakers are told apart: their texts are joined at the end';
    throw new ParleyError('INVALID_FIELD', message, { field: 'stream' });
  }
  const [first = 'A', second = first === 'B' ? 'A' : 'B'] = labels ?? [];
  if (first !== second) return [first, second];
  const field = 'speaker_labels';
  throw new ParleyError('INVALID_FIELD', `"${field}" must be two different names`, { field });
}

/** SubRip has the name in the first line of a cue: the name and the text share its columns. */
function besideName(rules: CueRules, format: TranscriptFormat, speakers: readonly string[]): CueRules {
  if (format !== 'srt') return rules;
  const longest = Math.max(...speakers.map((speaker) => srtSpeaker(speaker).length));
  return { ...rules, maxLineColumns: Math.max(LEAST_COLUMNS, rules.maxLineColumns - longest) };
}

function translatedFormat({ response_format: format = 'json' }: Fields): TranscriptFormat {
  if (format !== BY_SPEAKER) return format;
  const message = `"response_format" of a translation must not be "${BY_SPEAKER}"`;
  throw new ParleyError('INVALID_FIELD', message, { field: 'response_format' });
}

function tagIn(language: string | undefined): string | undefined {
  return language === undefined ? undefined : tagOfStated(language);
}

function contextOf({ prompt, keywords = [] }: Fields): string | undefined {
  const parts = [prompt?.trim() ?? '', keywords.join(', ')].filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts.join('\n');
}

function rulesOf(asked: Fields): CueRules {
  const { min_cue_seconds: minSeconds, max_cue_seconds: maxSeconds } = asked;
  const rules = {
    maxLineColumns: asked.max_line_chars ?? CUE_RULES.maxLineColumns,
    minSeconds: minSeconds ?? Math.min(CUE_RULES.minSeconds, maxSeconds ?? CUE_RULES.minSeconds),
    maxSeconds: maxSeconds ?? Math.max(CUE_RULES.maxSeconds, minSeconds ?? CUE_RULES.maxSeconds),
    columnsPerSecond: asked.chars_per_second ?? CUE_RULES.columnsPerSecond,
  };
  if (rules.minSeconds <= rules.maxSeconds) return rules;
  const field = 'min_cue_seconds';
  throw new ParleyError('INVALID_FIELD', `"${field}" must not be above "max_cue_seconds"`, { field });
}

function ignoredOf(
  { temperature = 0, prompt, keywords }: Fields,
  names: ReadonlySet<string>,
  { ignoresContext = false }: TranscriberFacts,
): string[] {
  return [
    ...(temperature > 0 ? ['temperature'] : []),
    ...(ignoresContext && prompt !== undefined ? ['prompt'] : []),
    ...(ignoresContext && keywords !== undefined ? ['keywords'] : []),
    ...IGNORED_FIELDS.filter((name) => names.has(name)),
  ];
}
