// `parley speak "…"`: writes a text as a WAV file, without a server.
//
//   parley speak [--voice NAME] [--language TAG] [--out FILE] [--force] [TEXT]
//
// Without a text it reads standard input, up to MAX_TEXT_LENGTH. `--out -` writes to standard output. The
// environment configures engines, voices and encoders as it does for the server. An existing file is kept
// unless `--force` is stated, as ffmpeg does with `-y`.
import { stat, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from './config/config.js';
import { openEncoders } from './encoding/encoder-pool.js';
import { openEngines, useConfiguredVoices } from './engines/engine-setup.js';
import { asParleyError, ParleyError } from './errors.js';
import { SILENT_LOG } from './log.js';
import { Closing } from './shutdown.js';
import { formatNamed } from './speaking/audio-format.js';
import { Continuity } from './speaking/continuity.js';
import { withLexicon } from './speaking/lexicon-file.js';
import { stated } from './stated.js';
import { SpeechService } from './speaking/speech-stream.js';
import { isMarkup, type TextLimits, tooLong } from './speaking/text-source.js';
import { VoiceWorkshop } from './voices/voice-workshop.js';

export const SPEAK_USAGE = 'parley speak [--voice NAME] [--language TAG] [--out FILE] [--force] [TEXT]';

const USAGE = `usage: ${SPEAK_USAGE}
Without TEXT it reads standard input. FILE is speech.wav by default; - is standard output.
An existing FILE is overwritten only with --force.
`;
const SAMPLE_RATE = 24_000;
const USAGE_STATUS = 2;

/** The person, or the pipe, that uses the program. */
export interface Terminal {
  readonly stdin: AsyncIterable<Uint8Array>;
  out(text: string): void;
  err(text: string): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface SpeakOptions {
  readonly words: readonly string[];
  readonly voice: string | undefined;
  readonly language: string | undefined;
  /** A path, or `-` for standard output. */
  readonly out: string;
  /** True if an existing file may be overwritten. */
  readonly force: boolean;
}

/** Returns the exit status. */
export async function speakCommand(
  args: readonly string[],
  env: Environment,
  terminal: Terminal,
): Promise<number> {
  let options: SpeakOptions;
  try {
    options = readArguments(args);
  } catch (error) {
    terminal.err(`parley: ${(error as Error).message}\n${USAGE}`);
    return USAGE_STATUS;
  }
  const { words, out, force } = options;
  try {
    const config = readConfig({ ENCODER_WORKERS: '1', ...env });
    const limits = withLexicon(config.texts);
    const flag = force ? 'w' : await flagForNew(out);
    const text = words.length > 0 ? words.join(' ') : await readInput(terminal.stdin, limits.maxTextLength);
    const { wav, seconds } = await spokenWav({ ...options, text }, config, limits);
    await writeWav(out, wav, flag);
    terminal.err(`${out === '-' ? 'standard output' : out}: ${seconds.toFixed(1)} s of speech\n`);
    return 0;
  } catch (error) {
    terminal.err(`parley: ${messageOf(error)}\n`);
    return 1;
  }
}

function readArguments(args: readonly string[]): SpeakOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      voice: { type: 'string', short: 'v' },
      language: { type: 'string', short: 'l' },
      out: { type: 'string', short: 'o', default: 'speech.wav' },
      force: { type: 'boolean', short: 'f', default: false },
    },
  });
  if (values.out === '-' && process.stdout.isTTY) {
    throw new Error('standard output is a terminal; write to a file, or into a pipe');
  }
  const { voice, language, out, force } = values;
  return { words: positionals, voice, language, out, force };
}

/** Reads standard input. Throws TEXT_TOO_LONG as soon as there are more than `maxTextLength` UTF-16 units. */
export async function readInput(stdin: AsyncIterable<Uint8Array>, maxTextLength: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of stdin) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > maxTextLength) throw tooLong(maxTextLength);
  }
  return text + decoder.decode();
}

type WriteFlag = 'w' | 'wx';

/**
 * Checks before synthesis that no file is overwritten, and returns the flag that keeps a file which appears
 * meanwhile. Devices and pipes exist already. Throws EXISTS, and the errors of the system but ENOENT.
 */
async function flagForNew(out: string): Promise<WriteFlag> {
  if (out === '-') return 'w';
  const found = await stat(out).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found?.isFile() === true) throw exists(out);
  return found === undefined ? 'wx' : 'w';
}

function exists(out: string): ParleyError {
  return new ParleyError('EXISTS', `${out} exists; --force overwrites it`);
}

type SpokenText = Pick<SpeakOptions, 'voice' | 'language'> & { readonly text: string };

async function spokenWav({ text, voice, language }: SpokenText, config: Config, limits: TextLimits) {
  const log = SILENT_LOG;
  const closing = new Closing();
  try {
    const encoders = openEncoders(config.encoders, log);
    closing.add(() => encoders.close());
    const engines = await openEngines(config, log);
    closing.add(() => engines.close());
    const workshop = await VoiceWorkshop.open(config.voices, engines, log);
    closing.add(() => workshop.close());
    if (voice === undefined)
      useConfiguredVoices(engines, { voices: { defaultVoice: config.voices.defaultVoice } });
    const continuity = new Continuity(config.model.continuity);
    const service = new SpeechService(engines, encoders, limits, { continuity });
    const settings = stated({ voice, language, markup: isMarkup(text) || undefined });
    const format = formatNamed('wav');
    const request = { text, format, sampleRate: SAMPLE_RATE, delivery: 'whole', ...settings } as const;
    const stream = await service.openStream(request, new AbortController().signal);
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const { header, durationMs = 0 } = (await stream.outcome) ?? {};
    const bytes = Buffer.concat(chunks);
    // A stream cannot state its length when it begins: the final header replaces the first one.
    const wav = header === undefined ? bytes : Buffer.concat([header.bytes, bytes.subarray(header.replaced)]);
    return { wav, seconds: durationMs / 1000 };
  } finally {
    await closing.close();
  }
}

async function writeWav(out: string, wav: Buffer, flag: WriteFlag): Promise<void> {
  if (out !== '-') {
    return await writeFile(out, wav, { flag }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? exists(out) : error;
    });
  }
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(wav, (error) => (error ? reject(error) : resolve()));
  });
}

function messageOf(error: unknown): string {
  const isSystemError = error instanceof Error && 'syscall' in error;
  return isSystemError ? error.message : asParleyError(error, 'ENGINE_FAILED').message;
}
