// Reads single variables of the environment and collects every mistake. It also finds names that are probably
// mistyped settings, and settings that have no effect.
import { isIP } from 'node:net';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A line about one variable in the users' guide. */
export interface VariableEntry {
  readonly meaning: string;
  /** A default that depends on something else, or that the reader has no value for. */
  readonly default?: string;
  /** Accepted values, if the reader checks them by a rule of its own. */
  readonly values?: string;
}

export type VariableSection = Readonly<Record<string, VariableEntry>>;

// Older servers accepted all of these.
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Memory of a model on its device: bytes, or a share of what the device has (0 to 1). */
export type MemoryLimit = { readonly bytes: number } | { readonly share: number };

const MEMORY = /^(\d+(?:\.\d+)?)([KMGT]|%)?$/i;
const LEAST_MEMORY = 2 ** 20; // a smaller number lacks its unit

export class ConfigReader<Variable extends string> {
  readonly problems: string[] = [];
  /** Warnings, one sentence each. */
  readonly notices: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  raw(name: Variable): string | undefined {
    const value = this.#env[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  }

  problem(name: Variable, what: string): void {
    this.problems.push(`${name} ${what}`);
  }

  notice(name: Variable, what: string): void {
    this.notices.push(`${name} ${what}`);
  }

  number(name: Variable, fallback: number, min: number, max: number): number {
    const raw = this.raw(name);
    if (raw === undefined) return fallback;
    const value = Number(raw);
    if (/^-?\d+(\.\d+)?$/.test(raw) && value >= min && value <= max) return value;
    this.problem(name, `must be a number from ${min} to ${max}, not "${raw}"`);
    return fallback;
  }

  integer(name: Variable, fallback: number, min: number, max: number): number {
    const value = this.number(name, fallback, min, max);
    if (Number.isInteger(value)) return value;
    this.problem(name, `must be a whole number, not "${value}"`);
    return fallback;
  }

  flag(name: Variable, fallback = false): boolean {
    const raw = this.raw(name)?.toLowerCase();
    if (raw === undefined) return fallback;
    const flag = FLAGS.get(raw);
    if (flag === undefined) this.problem(name, `must be 1 or 0, not "${raw}"`);
    return flag ?? fallback;
  }

  /** Bytes, such as 40G (units of powers of 1024), or a share, such as 50%; undefined if it is not set. */
  memory(name: Variable): MemoryLimit | undefined {
    const raw = this.raw(name);
    if (raw === undefined) return undefined;
    const [, digits, unit = ''] = MEMORY.exec(raw) ?? [];
    const number = Number(digits);
    const limit = unit === '%' ? number / 100 : number * 1024 ** ' KMGT'.indexOf(unit.toUpperCase() || ' ');
    if (unit === '%' && limit > 0 && limit <= 1) return { share: limit };
    if (unit !== '%' && limit >= LEAST_MEMORY && limit <= Number.MAX_SAFE_INTEGER)
      return { bytes: Math.round(limit) };
    this.problem(
      name,
      `must be at least 1M, such as 40G, or a share of the device, such as 50%, not "${raw}"`,
    );
    return undefined;
  }

  list(name: Variable): readonly string[] {
    const items = (this.raw(name) ?? '').split(',').map((item) => item.trim());
    return items.filter((item) => item !== '');
  }

  /** A list whose items must all be of one kind; the error names the `kind`. */
  listOf(name: Variable, kind: string, isOne: (item: string) => boolean): readonly string[] {
    const items = this.list(name);
    const wrong = items.find((item) => !isOne(item));
    if (wrong !== undefined) this.problem(name, `must be ${kind}, not "${wrong}"`);
    return items;
  }

  choice<T extends string>(name: Variable, allowed: readonly T[], fallback: T): T {
    const raw = this.raw(name);
    if (raw === undefined) return fallback;
    const found = allowed.find((item) => item === raw.toLowerCase());
    if (found === undefined) this.problem(name, `must be one of ${allowed.join(', ')}, not "${raw}"`);
    return found ?? fallback;
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** An address, or a network such as 10.0.0.0/8. */
export function isNetwork(item: string): boolean {
  const [address = '', bits, more] = item.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    more === undefined && (bits === undefined ? most > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= most)
  );
}

/** Names of an older server. */
const RENAMED: Readonly<Record<string, string>> = {
  SSL_CERTFILE: 'TLS_CERT',
  SSL_KEYFILE: 'TLS_KEY',
  UNIX_SOCKET_PATH: 'UDS_PATH',
};

/** They concern the native voice, recogniser and aligner. */
const HEARING_TOO = [
  'QUANTIZE',
  'DEVICE',
  'CUDA_GRAPHS',
  'FULL_VECTORS',
  'INFERENCE_THREADS',
  'INFERENCE_CPU_CORES',
  'INFERENCE_NUMA_NODE',
];
const NATIVE_ONLY = [
  ...HEARING_TOO,
  'CODEC_FORMAT',
  'CONTINUITY',
  'MAX_STREAMS',
  'MAX_BATCH',
  'SPEECH_MEMORY',
];
const LONGEST_NAME = 40; // longer names are not compared
const SHORT = 5; // characters up to which a part may have one mistake, and two above
const LEAST = 3; // characters of a part below which a mistake makes it another
const LEAST_ABBREVIATION = 4; // characters
/** First parts that other programs hardly share: behind them a part may be shortened or left out. */
const OWN_FAMILIES = ['AGENT', 'ALIGNER', 'ASR', 'GREETING', 'TRANSLATE', 'TTS'];
const MOST_MISSING = 2; // parts

/** The checkpoints that are configured. */
interface Checkpoints {
  readonly voice: boolean;
  /** True for the checkpoint of a recogniser or an aligner. */
  readonly hearing: boolean;
}

/**
 * Warnings about variables that are not mistakes: mistyped names, and settings without effect. The
 * environment is shared with other programs, so a name counts as mistyped only if a part of it is exactly
 * that of a setting: a typing mistake in a part, parts in another order, a part shortened or left out.
 */
export function noticesOf(
  env: Environment,
  ours: readonly string[],
  checkpoints: Checkpoints,
): readonly string[] {
  const set = Object.keys(env).filter((name) => (env[name] ?? '').trim() !== '');
  const speaks = checkpoints.voice && !['flite', 'espeak'].includes(env.ENGINE?.trim() ?? '');
  return set.toSorted().flatMap((name) => {
    const notice =
      noticeOf(name, ours, { voice: speaks, hearing: checkpoints.hearing }) ??
      (checkpoints.hearing && name === 'QUANTIZE' ? quantizeNotice(env[name]) : undefined);
    return notice === undefined ? [] : [`${name} ${notice}`];
  });
}

function quantizeNotice(value = ''): string | undefined {
  if (!['fp8', 'int8-talker'].includes(value.trim().toLowerCase())) return undefined;
  return 'is for the voice with this value; recogniser and aligner keep the weights of their files, and int8 is what they take';
}

function noticeOf(
  name: string,
  ours: readonly string[],
  { voice, hearing }: Checkpoints,
): string | undefined {
  const isUsed = voice || (hearing && HEARING_TOO.includes(name));
  if (NATIVE_ONLY.includes(name) && !isUsed)
    return 'concerns the native engine; flite and espeak take no account of it';
  if (ours.includes(name)) return undefined;
  if (name.startsWith('TORCH_COMPILE')) return 'has no effect: nothing here is compiled by PyTorch';
  const renamed = RENAMED[name];
  if (renamed !== undefined) return `is no setting; it is called ${renamed} here`;
  const near = nearest(name, ours);
  return near === undefined ? undefined : `is no setting; did you mean ${near}?`;
}

function nearest(name: string, ours: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  let found: { readonly setting: string; readonly mistakes: number } | undefined;
  for (const setting of ours) {
    const mistakes = mistakesIn(name, setting);
    if (mistakes !== undefined && mistakes < (found?.mistakes ?? Infinity)) found = { setting, mistakes };
  }
  return found?.setting;
}

/** Number of typing mistakes between a setting and this name; undefined if it is not a mistyped setting. */
function mistakesIn(name: string, setting: string): number | undefined {
  const [given, wanted] = [name.split('_'), setting.split('_')];
  if (given.length + wanted.length > 2 && squeezed(name) === squeezed(setting)) return 1;
  if (given.length < wanted.length) return missingParts(given, wanted);
  if (given.length > wanted.length) return undefined;
  if (wanted.length > 1 && given.toSorted().join() === wanted.toSorted().join()) return 1; // another order
  if (wanted.length === 1) return setting.length > SHORT && distance(name, setting) === 1 ? 1 : undefined;
  const wrong = wanted.map((part, i) => ({ part, as: given[i] ?? '' })).filter(({ part, as }) => part !== as);
  if (wrong.length === wanted.length) return undefined;
  const isOwn = OWN_FAMILIES.includes(given[0] ?? '');
  let sum = 0;
  for (const { part, as } of wrong) {
    if (Math.min(part.length, as.length) < LEAST) return undefined;
    const isShortened = isOwn && as.length >= LEAST_ABBREVIATION && part.startsWith(as);
    const away = isShortened ? 1 : distance(as, part);
    if (away > (part.length > SHORT ? 2 : 1)) return undefined;
    sum += away;
  }
  return sum <= 2 ? sum : undefined;
}

/** Their number plus one, as in AGENT_URL for AGENT_LLM_URL; undefined if others differ. */
function missingParts(given: readonly string[], wanted: readonly string[]): number | undefined {
  const missing = wanted.length - given.length;
  const [family = ''] = wanted;
  if (given.length < 2 || missing > MOST_MISSING || !OWN_FAMILIES.includes(family)) return undefined;
  if (given[0] !== family || given.at(-1) !== wanted.at(-1)) return undefined;
  let at = 0;
  for (const part of wanted) if (part === given[at]) at++;
  return at === given.length ? missing + 1 : undefined;
}

function squeezed(name: string): string {
  return name.replaceAll('_', '').toUpperCase();
}

/** Characters inserted, removed, replaced, or swapped with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (beforeLast[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
