// What the address of an ElevenLabs socket says of how to speak. Parameters that
// make no difference here (model_id, enable_logging, optimize_streaming_latency
// and others) are taken as they come.
import { DEFAULT_OUTPUT_FORMAT } from './output-format.js';
import { isStatedLanguage, tagOfStated } from '../../speaking/language-plan.js';
import { readSocketFormat, type SocketFormat } from './elevenlabs-format.js';
import { invalid } from '../http/message-fields.js';

export interface SocketSettings {
  readonly format: SocketFormat;
  readonly language?: string;
  readonly seed?: number;
  /** Text is spoken as it comes, sentence by sentence, instead of by the schedule. */
  readonly autoMode: boolean;
  /** False: the engine is given the text as it is written. */
  readonly normalize?: boolean;
  /** Markup in the text is not to be read out. */
  readonly markup: boolean;
  /** Milliseconds without a message after which a socket or context is let go. */
  readonly inactivityMs: number;
}

const INACTIVITY_S = { usual: 20, most: 180 };
const MAX_SEED = 4_294_967_295;

/** Throws INVALID_FIELD with the parameter named and what it may be. */
export function readSocketSettings(query: URLSearchParams): SocketSettings {
  const language = readLanguage(query.get('language_code'));
  const seed = readWhole(query, 'seed', 0, MAX_SEED);
  const normalization = readChoice(query, 'apply_text_normalization', ['auto', 'on', 'off']);
  readFlag(query, 'sync_alignment'); // every message of sound has its times, asked for or not
  return {
    format: readSocketFormat(query.get('output_format') ?? DEFAULT_OUTPUT_FORMAT),
    autoMode: readFlag(query, 'auto_mode'),
    markup: readFlag(query, 'enable_ssml_parsing'),
    inactivityMs: 1000 * (readWhole(query, 'inactivity_timeout', 1, INACTIVITY_S.most) ?? INACTIVITY_S.usual),
    ...(language === undefined ? {} : { language }),
    ...(seed === undefined ? {} : { seed }),
    ...(normalization === 'off' ? { normalize: false } : {}),
  };
}

function readFlag(query: URLSearchParams, name: string): boolean {
  switch (query.get(name)?.toLowerCase()) {
    case undefined:
    case '':
    case 'false':
    case '0':
      return false;
    case 'true':
    case '1':
      return true;
    default:
      throw invalid(name, 'must be true or false');
  }
}

function readWhole(query: URLSearchParams, name: string, least: number, most: number): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw invalid(name, `must be a whole number from ${least} to ${most}`);
}

function readChoice(query: URLSearchParams, name: string, choices: readonly string[]): string | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (choices.includes(value)) return value;
  throw invalid(name, `must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}`);
}

function readLanguage(value: string | null): string | undefined {
  if (value === null || value === '') return undefined;
  if (isStatedLanguage(value)) return tagOfStated(value);
  throw invalid('language_code', 'must be a tag such as "en" or "fr"');
}
