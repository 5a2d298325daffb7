// `parley speak "…"`: writes a text as a WAV file, without a server.
//
//   parley speak [--voice NAME] [--language TAG] [--out FILE] [TEXT]
//
// Without a text it reads standard input. `--out -` writes to standard output. The environment configures engines and
// encoders as it does for the server.
import { writeFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { readConfig } from './config/config.js';
import { openEncoders } from './encoding/encoder-pool.js';
import { openEngines } from './engines/engine-setup.js';
import { asParleyError } from './errors.js';
import { createLog } from './observe/log.js';
import { Closing } from './shutdown.js';
import { formatNamed } from './speaking/audio-format.js';
import { withLexicon } from './speaking/lexicon-file.js';
import { stated } from './speaking/speech-request.js';
import { SpeechService } from './speaking/speech-stream.js';

export const SPEAK_USAGE = 'parley speak [--voice NAME] [--language TAG] [--out FILE] [TEXT]';

const USAGE = `usage: ${SPEAK_USAGE}
Without TEXT it reads standard input. FILE is speech.wav by default; - is standard output.
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
  try {
    const text = options.words.length > 0 ? options.words.join(' ') : await readAll(terminal.stdin);
    const { wav, seconds } = await spokenWav({ ...options, text }, env);
    await writeWav(options.out, wav);
    terminal.err(
      `${options.out === '-' ? 'standard output' : options.out}: ${seconds.toFixed(1)} s of speech\n`,
    );
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
    },
  });
  if (values.out === '-' && process.stdout.isTTY) {
    throw new Error('standard output is a terminal; write to a file, or into a pipe');
  }
  return { words: positionals, voice: values.voice, language: values.language, out: values.out };
}

type SpokenText = Pick<SpeakOptions, 'voice' | 'language'> & { readonly text: string };

async function spokenWav({ text, voice, language }: SpokenText, env: Environment) {
  const config = withLexicon(readConfig({ ENCODER_WORKERS: '1', ...env }));
  const log = createLog({ level: 'silent', logText: false });
  const closing = new Closing();
  try {
    const encoders = openEncoders(config, log);
    closing.add(() => encoders.close());
    const engines = await openEngines(config, log);
    closing.add(() => engines.close());
    const named = voice ?? config.defaultVoice;
    const request = {
      text,
      format: formatNamed('wav'),
      sampleRate: SAMPLE_RATE,
      ...stated({ voice: named, language }),
    };
    const stream = await new SpeechService(engines, encoders, config).openStream(
      request,
      new AbortController().signal,
    );
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

async function writeWav(out: string, wav: Buffer): Promise<void> {
  if (out !== '-') return await writeFile(out, wav);
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(wav, (error) => (error ? reject(error) : resolve()));
  });
}

function messageOf(error: unknown): string {
  const isSystemError = error instanceof Error && 'syscall' in error;
  return isSystemError ? error.message : asParleyError(error, 'ENGINE_FAILED').message;
}
