// The log: one JSON object a line, made once and handed down.
//
// A message is a fixed phrase; what varies stands in fields. Words of a caller
// stand only under the names in WORDS, and leave the process only when the
// operator asked for them (LOG_TEXT). Keys and tokens never do.
import { pino, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

const WORDS = ['text', 'token', 'input', 'sdp'];
const SECRETS = ['authorization', 'apiKey', 'apiKeys', 'key', 'salt'];

export interface LogOptions {
  readonly level: LogLevel;
  /** True lets the words of callers into the log. */
  readonly logText: boolean;
  /** Where lines go; standard output when absent. */
  readonly destination?: DestinationStream;
}

export function createLog({ level, logText, destination }: LogOptions): Log {
  const hidden = logText ? SECRETS : [...SECRETS, ...WORDS];
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    // Two levels deep: the field itself, and one inside an event logged whole.
    redact: { paths: hidden.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** A log that says nothing, for parts that are used without one. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}
