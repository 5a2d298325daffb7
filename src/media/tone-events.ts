// The tones that the native listening thread finds in the sound of far ends, and their order on the way from
// the addon.
import { cadenceOf, type Country, PROGRESS_TONES } from '../audio/country-tones.js';
import { mediaAddon } from './media-addon.js';

/** By the numbers of native/audio/call_tones.h. */
const KINDS = [undefined, ...PROGRESS_TONES, 'sit', 'cng', 'ced', 'beep', 'steady'] as const;

/**
 * `ring_back`, `busy` and `reorder` are those of a country. `sit` precedes an announcement of the network.
 * `cng` is a fax that calls, `ced` a fax that answers, `beep` the beep of an answering machine. `steady`: a
 * tone that may be such a beep has lasted 0.1 s, and goes on.
 */
export type ToneKind = Exclude<(typeof KINDS)[number], undefined>;

/** Tones are told when they are certain: a beep 0.1 s after its end, a fax that answers after 0.5 s. */
export interface HeardTone {
  readonly kind: ToneKind;
  /** Frequency of its first sine. */
  readonly hz: number;
  /** On the plane's clock: when it began, in the sound that leaves the jitter buffer. */
  readonly atMs: number;
  /** Length until it was told; for a cadence, from its first burst on. */
  readonly durationMs: number;
}

const CADENCE_FIELDS = 12; // kind, two frequencies, steps, 8 × ms
const STEPS_AT = 4;

/** Cadences of a country as the addon takes them; none without a country. */
export function cadenceFields(country: Country | undefined): Float64Array {
  const fields = new Float64Array(country === undefined ? 0 : PROGRESS_TONES.length * CADENCE_FIELDS);
  if (country === undefined) return fields;
  for (const [index, tone] of PROGRESS_TONES.entries()) {
    const { hz, ms } = cadenceOf(country, tone);
    const at = index * CADENCE_FIELDS;
    fields.set([index + 1, hz[0] ?? 0, hz[1] ?? 0, ms.length], at);
    fields.set(ms, at + STEPS_AT);
  }
  return fields;
}

/** Undefined for a number without a meaning. */
export function toneOf(kind: number, hz: number, atMs: number, durationMs: number): HeardTone | undefined {
  const name = KINDS[kind];
  return name === undefined ? undefined : { kind: name, hz, atMs, durationMs };
}

/**
 * Finds keys, with their RFC 4733 events, and tones in a sound of 8 or 16 kHz. None is `steady`, which is
 * for those who listen.
 */
export interface FoundTones {
  readonly keys: readonly { readonly event: number; readonly atMs: number; readonly durationMs: number }[];
  readonly tones: readonly HeardTone[];
}

const FOUND_FIELDS = 6;

/** Finds the keys and tones of a whole sound as the listening thread finds those of a call. */
export function findTones(samples: Float32Array, sampleRate: number, country?: Country): FoundTones {
  const found = mediaAddon().tonesFind(samples, sampleRate, cadenceFields(country));
  const keys = [];
  for (let at = 0; at < found.length; at += FOUND_FIELDS) {
    const [isKey = 0, event = 0, , atMs = 0, durationMs = 0] = found.subarray(at, at + FOUND_FIELDS);
    if (isKey === 1) keys.push({ event, atMs, durationMs });
  }
  const tones = tonesIn(found).flatMap(({ tone }) => (tone.kind === 'steady' ? [] : [tone]));
  return { keys, tones };
}

/** A tone, and when it is told: milliseconds of the sound. */
export interface ToldTone {
  readonly tone: HeardTone;
  readonly toldMs: number;
}

/** The tones of a whole sound as those who listen to a call are told, with `steady`. */
export function toldTones(samples: Float32Array, sampleRate: number, country?: Country): ToldTone[] {
  return tonesIn(mediaAddon().tonesFind(samples, sampleRate, cadenceFields(country)));
}

function tonesIn(found: Float64Array): ToldTone[] {
  const tones: ToldTone[] = [];
  for (let at = 0; at < found.length; at += FOUND_FIELDS) {
    const [isKey = 0, kind = 0, hz = 0, atMs = 0, ms = 0, toldMs = 0] = found.subarray(at, at + FOUND_FIELDS);
    const tone = isKey === 1 ? undefined : toneOf(kind, hz, atMs, ms);
    if (tone !== undefined) tones.push({ tone, toldMs });
  }
  return tones;
}
