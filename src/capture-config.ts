// The variables of captures: copies of what telephone calls say and hear, for a
// collector and in files.
import { isIP } from 'node:net';
import type { ConfigReader } from './config-reader.js';

export interface CaptureConfig {
  /** Of SIP messages and reports of media, by HEP; undefined: none. */
  readonly collector: CollectorConfig | undefined;
  /** Undefined: no files. */
  readonly files: CaptureFilesConfig | undefined;
  /** Keys and proofs of passwords stay in them. */
  readonly keys: boolean;
}

export interface CollectorConfig {
  /** Address or name. */
  readonly host: string;
  readonly port: number;
  readonly captureId: number;
  readonly key: string | undefined;
}

export interface CaptureFilesConfig {
  readonly folder: string;
  readonly calls: CapturedCalls;
  /** Media too. */
  readonly rtp: boolean;
  readonly bytesPerFile: number;
  /** How long files are kept, and their bytes together; 0: without limit. */
  readonly keepMs: number;
  readonly keepBytes: number;
}

/** `marked`: those that ask for it. A call that fits one of the patterns is captured besides them. */
export type CapturedCalls = 'off' | 'all' | 'marked' | readonly CallPattern[];

export interface CallPattern {
  readonly field: 'to' | 'from';
  readonly pattern: string;
}

/** Every variable with what it means; part of VARIABLES. */
export const CAPTURE_VARIABLES = {
  HEP_COLLECTOR: 'host:port of a collector (Homer) that is sent a copy of all SIP by HEP',
  HEP_ID: 'number of this server among those that send to the collector',
  HEP_KEY: 'key that the collector knows it by',
  PCAP_DIR: 'folder for a capture file of each telephone call that PCAP_CALLS chooses',
  PCAP_CALLS:
    'off, all, marked (those whose INVITE has X-Parley-Capture: 1), or patterns such as to:100,from:+49*',
  PCAP_RTP: '1 has the sound in the files too, as on the wire',
  PCAP_BYTES: 'bytes of one file; what comes later is left out',
  PCAP_KEEP_DAYS: 'days after which a file is removed; 0 keeps files for ever',
  PCAP_KEEP_BYTES: 'bytes of all files together, above which the oldest are removed; 0 sets no limit',
  PCAP_KEYS: '1 leaves keys (SDES) and proofs of passwords in captures, which are blanked otherwise',
} as const;

type Variable = keyof typeof CAPTURE_VARIABLES;
type Reader = ConfigReader<Variable>;

const HEP_PORT = 9060; // Homer's
const USUAL_BYTES = 32 * 1024 * 1024; // an hour of G.711 both ways is 80 MB
const USUAL_KEPT_BYTES = 10 * 1024 ** 3;
const DAY_MS = 86_400_000;
const MOST_KEY = 256;
const MOST_PATTERN = 256;

export function readCaptureConfig(read: Reader): CaptureConfig {
  return { collector: readCollector(read), files: readFiles(read), keys: read.flag('PCAP_KEYS') };
}

function readCollector(read: Reader): CollectorConfig | undefined {
  const [captureId, key] = [read.integer('HEP_ID', 1, 0, 2 ** 32 - 1), read.raw('HEP_KEY')];
  if ((key?.length ?? 0) > MOST_KEY) read.problem('HEP_KEY', `must have at most ${MOST_KEY} characters`);
  const raw = read.raw('HEP_COLLECTOR');
  if (raw === undefined) {
    for (const name of ['HEP_ID', 'HEP_KEY'] as const) {
      if (read.raw(name) !== undefined) read.problem(name, 'wants HEP_COLLECTOR, whom it is told');
    }
    return undefined;
  }
  const [, six, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(raw) ?? [];
  const [host, port] = [six ?? plain ?? '', Number(digits ?? HEP_PORT)];
  const isHost = six === undefined ? /^[\w.-]{1,253}$/.test(host) : isIP(six) === 6;
  if (!isHost || port < 1 || port > 65_535) {
    read.problem('HEP_COLLECTOR', `must be host:port, such as 192.0.2.1:${HEP_PORT}, not "${raw}"`);
  }
  return { host, port, captureId, key };
}

function readFiles(read: Reader): CaptureFilesConfig | undefined {
  const folder = read.raw('PCAP_DIR');
  const files = {
    calls: readCalls(read),
    rtp: read.flag('PCAP_RTP'),
    bytesPerFile: read.integer('PCAP_BYTES', USUAL_BYTES, 100_000, 2 ** 40),
    keepMs: read.number('PCAP_KEEP_DAYS', 30, 0, 36_500) * DAY_MS,
    keepBytes: read.integer('PCAP_KEEP_BYTES', USUAL_KEPT_BYTES, 0, 2 ** 50),
  };
  if (folder !== undefined) return files.calls === 'off' ? undefined : { folder, ...files };
  for (const name of ['PCAP_CALLS', 'PCAP_RTP', 'PCAP_BYTES', 'PCAP_KEEP_DAYS', 'PCAP_KEEP_BYTES'] as const) {
    if (read.raw(name) !== undefined) read.problem(name, 'wants PCAP_DIR, the folder of the files');
  }
  return undefined;
}

function readCalls(read: Reader): CapturedCalls {
  const items = read.list('PCAP_CALLS');
  const [first = 'marked'] = items;
  const word = first.toLowerCase();
  if (items.length <= 1 && (word === 'off' || word === 'all' || word === 'marked')) return word;
  const patterns = items.map((item) => /^(to|from):(.+)$/i.exec(item));
  const wrong = items.find((item, at) => patterns[at] === null || item.length > MOST_PATTERN);
  if (wrong !== undefined) {
    const what = 'must be off, all, marked, or patterns such as to:100,from:+49*';
    read.problem('PCAP_CALLS', `${what}, not "${wrong.slice(0, MOST_PATTERN)}"`);
  }
  return patterns.flatMap((match) => {
    const [, field, pattern] = match ?? [];
    return field === undefined || pattern === undefined
      ? []
      : [{ field: field.toLowerCase() as 'to' | 'from', pattern }];
  });
}
