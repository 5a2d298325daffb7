// Creates the log: one JSON object a line, or lines for people.
//
// A message is a fixed phrase, and variable parts are fields. Words of a caller appear only in the fields
// named in WORDS, which are masked unless the operator sets LOG_TEXT. Keys and tokens are always masked.
import { writeSync } from 'node:fs';
import { pino, type DestinationStream } from 'pino';
import type { Log } from '../log.js';

export type LogLevel = 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

const WORDS = ['text', 'token', 'input', 'sdp'];
const SECRETS = ['authorization', 'apiKey', 'apiKeys', 'key', 'salt'];

const DEPTH = 2; // the field itself, and one inside an event logged whole

type Fields = Record<string, unknown>;

interface LogOptions {
  readonly level: LogLevel;
  /** True logs the words of callers. */
  readonly logText: boolean;
  /** Standard output by default. */
  readonly destination?: DestinationStream | undefined;
  /** `auto`, the default: lines for people if `isTerminal`, JSON otherwise. */
  readonly style?: 'auto' | 'json' | 'text';
  readonly isTerminal?: boolean;
}

/** The log has no child loggers: their bindings would bypass the mask. */
export function createLog({
  level,
  logText,
  destination,
  style = 'auto',
  isTerminal = false,
}: LogOptions): Log {
  const hidden = new Set(logText ? SECRETS : [...SECRETS, ...WORDS]);
  const mask = (fields: Fields) => masked(fields, hidden, DEPTH);
  const options = {
    level,
    base: null,
    timestamp: timestamps(),
    // pino's own redaction walks each path of its own through each line: 5 µs a request, this is 0.5.
    formatters: { level: (label: string) => ({ level: label }), log: mask },
  };
  const isText = style === 'text' || (style === 'auto' && isTerminal);
  if (!isText) return pino(options, destination ?? standardOutput());
  const out = destination ?? process.stdout;
  return pino(options, { write: (line: string) => void out.write(textOf(line)) });
}

const MOST_WAITS = 100; // of a millisecond, for a pipe that is full and does not block
const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Lines that cannot be written are dropped. When the process ends, pino's own destination would try to write
 * them for ever, as on a full disk.
 */
function standardOutput(): DestinationStream {
  return {
    write(line) {
      let left = Buffer.from(line);
      for (let waits = 0; left.length > 0 && waits < MOST_WAITS;) {
        try {
          left = left.subarray(writeSync(process.stdout.fd, left));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
          Atomics.wait(pause, 0, 0, 1);
          waits++;
        }
      }
    },
  };
}

const MOST_ITEMS = 6; // of a list, in a line for people
const MOST_STACK_LINES = 12;

/**
 * A line of the log for people: local time, level, message, and the fields as name=value. Long lists are cut.
 * Control characters are escaped: a caller's words must not command the terminal.
 */
export function textOf(line: string): string {
  let record: Fields;
  try {
    record = JSON.parse(line) as Fields;
  } catch {
    return line;
  }
  const { level, time, msg = '', err, ...fields } = record;
  const head = [clockTime(String(time)), String(level).toUpperCase().padEnd(5), plain(msg as string)];
  const named = Object.entries(fields).map(([name, value]) => `${plain(name)}=${shown(value)}`);
  const [error, ...stack] = errorLines(err);
  const words = [...head, ...named, ...(error === undefined ? [] : [`error=${error}`])];
  return `${[words.join(' '), ...stack].join('\n')}\n`;
}

/** Hours to milliseconds, where this machine is. */
function clockTime(time: string): string {
  const at = new Date(time);
  const digits = (value: number, count = 2) => String(value).padStart(count, '0');
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => digits(part)).join(':');
  return `${clock}.${digits(at.getMilliseconds(), 3)}`;
}

function shown(value: unknown, isInside = false): string {
  if (typeof value === 'string')
    return /^[^\s"=,()[\]{}]+$/.test(value) ? plain(value) : plain(JSON.stringify(value));
  if (Array.isArray(value)) {
    if (isInside && value.length > MOST_ITEMS) return `[${value.length} items]`;
    const items = value.slice(0, MOST_ITEMS).map((item) => shown(item, true));
    const more = value.length - items.length;
    return `[${[...items, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')}]`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${plain(name)}: ${shown(one, true)}`)
    .join(', ')}}`;
}

/** Its message, and the indented lines of its stack. */
function errorLines(err: unknown): string[] {
  if (err === undefined) return [];
  if (typeof err !== 'object' || err === null) return [shown(err)];
  const { message, code, stack } = err as Readonly<Record<string, string | undefined>>;
  const text = [code, message].filter((one) => one !== undefined).join(': ');
  const frames = (stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [JSON.stringify(text), ...frames.slice(0, MOST_STACK_LINES)].map(plain);
}

function plain(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Many lines fall into one millisecond, and writing a date takes longer than the rest of a line. */
function timestamps(): () => string {
  let writtenMs = -1;
  let written = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== writtenMs) written = `,"time":"${new Date(nowMs).toISOString()}"`;
    writtenMs = nowMs;
    return written;
  };
}

/** The fields with hidden ones masked; a copy only if there are any. */
function masked<T extends Fields>(fields: T, hidden: ReadonlySet<string>, depth: number): T {
  let copy: Fields | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    let shown = value;
    if (hidden.has(name) && value !== undefined) shown = '[redacted]';
    else if (depth > 1 && typeof value === 'object' && value !== null) {
      shown = masked(value as Fields, hidden, depth - 1);
    }
    if (shown === value) continue;
    copy ??= copyOf(fields);
    copy[name] = shown;
  }
  return (copy ?? fields) as T;
}

/** A copy with the same prototype: an error stays an error. */
function copyOf(fields: Fields): Fields {
  const kind = Object.getPrototypeOf(fields) as object | null;
  if (kind === Object.prototype) return { ...fields };
  return Object.create(kind, Object.getOwnPropertyDescriptors(fields)) as Fields;
}
