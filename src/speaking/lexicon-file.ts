// Reads the server's own lexicon from the JSON file that its configuration names: a list of entries, such as
// {"word": "SQL", "say": "sequel", "case": "ignore", "language": "en"}.
import { readFileSync } from 'node:fs';
import { ParleyError } from '../errors.js';
import { type Lexicon, readLexicon } from '../text/lexicon.js';

const MOST_ENTRIES = 100_000;

/** Adds the lexicon of the named file. Throws CONFIG_INVALID, naming the file, the entry and its field. */
export function withLexicon<T extends { readonly lexiconFile?: string | undefined }>(
  config: T,
): T & { readonly lexicon: Lexicon | undefined } {
  const { lexiconFile } = config;
  return { ...config, lexicon: lexiconFile === undefined ? undefined : readLexiconFile(lexiconFile) };
}

function readLexiconFile(path: string): Lexicon {
  const fail = (what: string) => new ParleyError('CONFIG_INVALID', `LEXICON_FILE ${path}: ${what}`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fail(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail(`is not JSON: ${(error as Error).message}`);
  }
  try {
    return readLexicon(value, { name: 'lexicon', mostEntries: MOST_ENTRIES, code: 'CONFIG_INVALID' });
  } catch (error) {
    throw error instanceof ParleyError ? fail(error.message) : error;
  }
}
