// The entries of a lexicon as a file or a request has them, checked one by one.
import { ParleyError, type ErrorCode } from '../errors.js';
import { entryKey, Lexicon, type LexiconEntry } from './lexicon.js';

export const LONGEST_WORD = 100; // characters
const LONGEST_SAYING = 300;

const FIELDS = ['word', 'say', 'case', 'language'];
const LANGUAGE = /^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}$/;

/** Source of the entries, and their maximum number. */
export interface LexiconSource {
  /** Name of the list in error messages: a field of the request, or a file. */
  readonly name: string;
  readonly mostEntries: number;
  readonly code: Extract<ErrorCode, 'INVALID_FIELD' | 'CONFIG_INVALID'>;
}

/** Throws with the code of the source, naming entry and field. */
export function readLexicon(value: unknown, source: LexiconSource): Lexicon {
  const { name, mostEntries } = source;
  if (!Array.isArray(value)) {
    throw refusal(source, name, 'must be a list of entries such as {"word": "SQL", "say": "sequel"}');
  }
  if (value.length > mostEntries) {
    throw refusal(source, name, `has ${value.length} entries, ${mostEntries} is the most`);
  }
  const known = new Map<string, number>();
  const entries = value.map((item: unknown, index) => {
    const entry = readEntry(item, `${name}[${index}]`, source);
    const key = entryKey(entry);
    const before = known.get(key);
    if (before !== undefined) {
      throw refusal(
        source,
        `${name}[${index}].word`,
        `is that of ${name}[${before}], too, with the same case and language`,
      );
    }
    known.set(key, index);
    return entry;
  });
  return new Lexicon(entries);
}

function readEntry(item: unknown, place: string, source: LexiconSource): LexiconEntry {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw refusal(source, place, 'must be an object with "word" and "say"');
  }
  const fields = item as Readonly<Record<string, unknown>>;
  const stray = Object.keys(fields).find((field) => !FIELDS.includes(field));
  if (stray === 'phonemes' || stray === 'ipa') {
    throw refusal(
      source,
      `${place}.${stray}`,
      'is nothing that an engine here can speak; write in "say" how the word sounds',
    );
  }
  if (stray !== undefined) {
    throw refusal(
      source,
      `${place}.${stray.slice(0, 40)}`,
      `is no field of an entry, which has ${FIELDS.join(', ')}`,
    );
  }
  const { case: rule, language } = fields;
  if (rule !== undefined && rule !== 'exact' && rule !== 'ignore') {
    throw refusal(source, `${place}.case`, 'must be "exact" or "ignore"');
  }
  if (language !== undefined && (typeof language !== 'string' || !LANGUAGE.test(language))) {
    throw refusal(source, `${place}.language`, 'must be a language tag such as "en" or "fr-CA"');
  }
  const word = textOf(fields['word'], `${place}.word`, LONGEST_WORD, source);
  const say = textOf(fields['say'], `${place}.say`, LONGEST_SAYING, source);
  return {
    word,
    say,
    ...(rule === undefined ? {} : { case: rule }),
    ...(language === undefined ? {} : { language }),
  };
}

function textOf(value: unknown, place: string, most: number, source: LexiconSource): string {
  const isText = typeof value === 'string' && value.length <= most && !/[\p{Cc}\p{Cs}]/u.test(value);
  if (isText && /[\p{L}\p{N}\p{S}]/u.test(value)) return value;
  throw refusal(
    source,
    place,
    `must be 1 to ${most} characters on one line, with a letter, a digit or a sign`,
  );
}

function refusal({ code }: LexiconSource, place: string, what: string): ParleyError {
  return new ParleyError(code, `"${place}" ${what}`, { field: place });
}
