// `parley ivr check FILE|URL`: validates call programs, or a TwiML document, and shows what they do. It makes
// no call.
import { parseArgs } from 'node:util';
import { parseTwiml } from './api/twiml/twiml-parser.js';
import { isDocumentUrl, DOCUMENT_URL_RULE } from './config/ivr-config.js';
import { asParleyError, ParleyError } from './errors.js';
import { ProgramError, type Warning } from './ivr/door.js';
import { programsIn, textOfFile } from './ivr/program-file.js';
import { programTree } from './ivr/program-tree.js';
import { responseText } from './response-text.js';
import type { Terminal } from './speak-command.js';

export const IVR_USAGE = 'parley ivr check [--get] FILE|URL';

const USAGE = `usage: ${IVR_USAGE}
FILE has call programs as in IVR_FILE, or a TwiML document. A document at a URL is fetched with POST, or with GET.
`;
const USAGE_STATUS = 2;
const FETCH_MS = 15_000;
const MOST_DOCUMENT = 65_536; // bytes
/** Parameters of a call that rings. */
const CALL = {
  CallSid: `CA${'0'.repeat(32)}`,
  AccountSid: `AC${'0'.repeat(32)}`,
  From: '+15005550006',
  To: '+15005550001',
  CallStatus: 'ringing',
  Direction: 'inbound',
  ApiVersion: '2010-04-01',
};

interface CheckOptions {
  /** A path or a URL. */
  readonly source: string;
  readonly isGet: boolean;
}

/** Returns the exit status: 1 if the programs cannot run. Warnings are shown, and are no failure. */
export async function ivrCommand(
  args: readonly string[],
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<number> {
  let options: CheckOptions;
  try {
    options = readArguments(args);
  } catch (error) {
    terminal.err(`parley: ${(error as Error).message}\n${USAGE}`);
    return USAGE_STATUS;
  }
  try {
    const { trees, warnings } = await checked(options);
    for (const warning of warnings) terminal.err(`parley: ${shown(warning)}\n`);
    terminal.out(trees.map((tree) => `${tree}\n`).join('\n'));
    return 0;
  } catch (error) {
    const warning = error instanceof ProgramError ? error.warning : asParleyError(error, 'CONFIG_INVALID');
    terminal.err(`parley: ${shown(warning)}\n`);
    return 1;
  }
}

function readArguments(args: readonly string[]): CheckOptions {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { get: { type: 'boolean', default: false } },
  });
  const [action, source, ...more] = positionals;
  if (action !== 'check') throw new Error('the action of ivr is check');
  if (source === undefined || more.length > 0) throw new Error('state one FILE or URL');
  return { source, isGet: values.get };
}

interface Checked {
  readonly trees: readonly string[];
  readonly warnings: readonly Warning[];
}

async function checked({ source, isGet }: CheckOptions): Promise<Checked> {
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(source))
    return checkedDocument(await fetched(source, isGet), source, source);
  const text = await textOfFile(source);
  if (/^\s*</.test(text)) return checkedDocument(text, source, undefined);
  const programs = programsIn(text, source);
  return { trees: [...programs].map(([name, verbs]) => programTree(name, verbs)), warnings: [] };
}

function checkedDocument(text: string, name: string, url: string | undefined): Checked {
  if (Buffer.byteLength(text) > MOST_DOCUMENT) throw tooLarge();
  const { verbs, warnings } = parseTwiml(text, url);
  return { trees: [programTree(name, verbs)], warnings };
}

/** The document as a call would get it, without a signature. */
async function fetched(address: string, isGet: boolean): Promise<string> {
  if (!isDocumentUrl(address)) throw new ParleyError('INVALID_FIELD', `the URL must be ${DOCUMENT_URL_RULE}`);
  const url = new URL(address);
  url.hash = '';
  const form = new URLSearchParams(CALL);
  if (isGet) for (const [name, value] of form) url.searchParams.append(name, value);
  const signal = AbortSignal.timeout(FETCH_MS);
  try {
    const response = await fetch(url, isGet ? { signal } : { method: 'POST', body: form, signal });
    if (!response.ok) throw new ParleyError('WRONG_STATE', `the URL answered with status ${response.status}`);
    const { text, isWhole } = await responseText(response, MOST_DOCUMENT);
    if (!isWhole) throw tooLarge();
    return text;
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    if (signal.aborted)
      throw new ParleyError('TIMEOUT', `the URL did not answer within ${FETCH_MS / 1000} s`);
    const { message, cause } = error as Error;
    const detail = cause instanceof Error ? cause.message : message;
    throw new ParleyError('WRONG_STATE', `the document cannot be fetched: ${detail}`, { cause: error });
  }
}

function tooLarge(): ParleyError {
  return new ParleyError('TOO_LARGE', `the document must have at most ${MOST_DOCUMENT} bytes`);
}

function shown({ message, code, line, column }: Warning): string {
  const place = line === undefined ? '' : `line ${line}, column ${column ?? 1}: `;
  return `${place}${message}${code === undefined || !/^\d+$/.test(code) ? '' : ` (${code})`}`;
}
