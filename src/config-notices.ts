// What the operator should know of an environment that is no mistake as it
// stands: names that are nearly one of ours, and settings that change nothing.
//
// The environment is shared with the system and with other programs, so a name
// counts as nearly ours only where part of it is exactly ours.
import type { Environment } from './config-reader.js';

/** Names that an older server had. */
const RENAMED: Readonly<Record<string, string>> = {
  SSL_CERTFILE: 'TLS_CERT',
  SSL_KEYFILE: 'TLS_KEY',
  UNIX_SOCKET_PATH: 'UDS_PATH',
};

const NATIVE_ONLY = [
  'QUANTIZE',
  'CODEC_FORMAT',
  'CONTINUITY',
  'MAX_STREAMS',
  'MAX_BATCH',
  'DEVICE',
  'CUDA_GRAPHS',
  'FULL_VECTORS',
  'INFERENCE_THREADS',
  'INFERENCE_CPU_CORES',
  'INFERENCE_NUMA_NODE',
];
const LONGEST_NAME = 40; // what is longer is no mistyped name
const SHORT = 5; // characters up to which a part may have one mistake, and two above
const LEAST = 3; // characters of a part below which a mistake makes it another

/** `hasModel`: a checkpoint is configured. */
export function noticesOf(env: Environment, ours: readonly string[], hasModel: boolean): readonly string[] {
  const set = Object.keys(env).filter((name) => (env[name] ?? '').trim() !== '');
  const speaks = hasModel && !['flite', 'espeak'].includes(env.ENGINE?.trim() ?? '');
  return set.toSorted().flatMap((name) => {
    const notice = noticeOf(name, ours, speaks);
    return notice === undefined ? [] : [`${name} ${notice}`];
  });
}

function noticeOf(name: string, ours: readonly string[], hasModel: boolean): string | undefined {
  if (NATIVE_ONLY.includes(name) && !hasModel)
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

/** How many mistakes make a setting into this name; undefined where it is no mistyped one. */
function mistakesIn(name: string, setting: string): number | undefined {
  const [given, wanted] = [name.split('_'), setting.split('_')];
  if (given.length + wanted.length > 2 && squeezed(name) === squeezed(setting)) return 1;
  if (given.length !== wanted.length) return undefined;
  if (wanted.length === 1) return setting.length > SHORT && distance(name, setting) === 1 ? 1 : undefined;
  const wrong = wanted.map((part, i) => ({ part, as: given[i] ?? '' })).filter(({ part, as }) => part !== as);
  if (wrong.length === wanted.length) return undefined;
  let sum = 0;
  for (const { part, as } of wrong) {
    if (Math.min(part.length, as.length) < LEAST) return undefined;
    const away = distance(as, part);
    if (away > (part.length > SHORT ? 2 : 1)) return undefined;
    sum += away;
  }
  return sum <= 2 ? sum : undefined;
}

function squeezed(name: string): string {
  return name.replaceAll('_', '').toUpperCase();
}

/** Characters inserted, removed, replaced, or swapped with their neighbour. */
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
