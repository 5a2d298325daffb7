// The values of attributes: what may be written, and what it comes to.

export interface AttributeRule {
  readonly pattern: RegExp;
  /** In words that follow `must be`. */
  readonly allowed: string;
  /** Nothing here can do it: it is checked and has no effect. */
  readonly isUnheeded?: true;
}

export const LONGEST_BREAK_MS = 20_000;
export const RATES: readonly [least: number, most: number] = [0.25, 4];
export const MOST_GAIN = 4; // + 12 dB

const MEDIUM_BREAK_MS = 400;
const BREAK_MS: Readonly<Record<string, number>> = {
  none: 0,
  'x-weak': 100,
  weak: 200,
  medium: MEDIUM_BREAK_MS,
  strong: 700,
  'x-strong': 1000,
};

const RATE_NAMES: Readonly<Record<string, number>> = {
  'x-slow': 0.5,
  slow: 0.75,
  medium: 1,
  default: 1,
  fast: 1.4,
  'x-fast': 1.8,
};

const GAIN_DB: Readonly<Record<string, number>> = {
  silent: -Infinity,
  'x-soft': -12,
  soft: -6,
  medium: 0,
  default: 0,
  loud: 4,
  'x-loud': 8,
};

const NUMBER = '\\d{1,6}(?:\\.\\d{1,6})?|\\.\\d{1,6}';
const SIGNED = `[+-](?:${NUMBER})`;
const TIME = `(?:\\+?(?:${NUMBER}))(?:ms|s)`;

/** A rule of some names, or of an expression beside them. */
function rule(names: readonly string[], others: readonly string[], allowed: string): AttributeRule {
  return { pattern: new RegExp(`^(?:${[...names, ...others].join('|')})$`, 'u'), allowed };
}

function oneOf(...names: string[]): AttributeRule {
  return rule(names, [], `one of ${names.join(', ')}`);
}

function unheeded(known: AttributeRule): AttributeRule {
  return { ...known, isUnheeded: true };
}

const PITCHES = ['x-low', 'low', 'medium', 'high', 'x-high', 'default'];
export const PITCH = unheeded(
  rule(PITCHES, [`(?:${NUMBER})Hz`, `${SIGNED}(?:Hz|st|%)?`], `one of ${PITCHES.join(', ')}, a change such as +10% or -2st, or 120Hz`),
); // prettier-ignore

export const ANY: AttributeRule = { pattern: /^/u, allowed: 'anything' };
export const UNHEEDED: AttributeRule = unheeded(ANY);
export const LANGUAGE: AttributeRule = {
  pattern: /^(?:[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4})?$/u,
  allowed: 'a language tag such as en or fr-CA',
};
export const NAME: AttributeRule = {
  pattern: /^\s*\S.{0,198}\s*$/su,
  allowed: 'a name of 1 to 200 characters',
};
export const WORDS: AttributeRule = { pattern: /\S/u, allowed: 'the words to say' };
export const STRENGTH = oneOf(...Object.keys(BREAK_MS));
export const BREAK_TIME = rule([], [TIME], 'a time such as 500ms or 1.5s');
export const DURATION = unheeded(BREAK_TIME);
export const EMPHASIS = oneOf('strong', 'moderate', 'none', 'reduced');
export const RATE = rule(
  Object.keys(RATE_NAMES),
  [`(?:${NUMBER})%?`, `${SIGNED}%`],
  `one of ${Object.keys(RATE_NAMES).join(', ')}, a share of the usual pace such as 80%, or a change such as +10%`,
);
export const VOLUME = rule(
  Object.keys(GAIN_DB),
  [NUMBER, `${SIGNED}(?:dB|%)`],
  `one of ${Object.keys(GAIN_DB).join(', ')}, a number from 0 to 100, or a change such as -6dB or +10%`,
);
export const CONTOUR: AttributeRule = unheeded({
  pattern: /^(?:\s*\([^()]{1,40}\)){1,100}\s*$/u,
  allowed: 'pairs such as (0%,+20Hz) (50%,-10%)',
});
export const ALPHABET: AttributeRule = {
  pattern: /^(?:ipa|x-[\w-]{1,40}|sapi|ups)$/u,
  allowed: 'ipa, or the name of another alphabet such as x-sampa',
};
export const VERSION: AttributeRule = { pattern: /^1\.[01]$/u, allowed: '1.0 or 1.1' };
export const SSML_NAMESPACE: AttributeRule = {
  pattern: /^http:\/\/www\.w3\.org\/2001\/10\/synthesis$/u,
  allowed: 'http://www.w3.org/2001/10/synthesis',
};
export const LANGUAGE_FAILURE = unheeded(oneOf('changevoice', 'ignoretext', 'ignorelang', 'processorchoice'));

/** Milliseconds of a time such as 1.5s. */
function timeMs(time: string): number {
  const value = Number.parseFloat(time);
  return time.endsWith('ms') ? value : value * 1000;
}

/** A time outweighs a strength; without either the strength is medium. */
export function breakMs(strength: string | undefined, time: string | undefined): number {
  if (time !== undefined) return timeMs(time);
  return strength === undefined ? MEDIUM_BREAK_MS : (BREAK_MS[strength] ?? MEDIUM_BREAK_MS);
}

/** Names and shares are of the voice's own pace, changes of the pace around. */
export function rateOf(written: string, around: number): number {
  const named = RATE_NAMES[written];
  if (named !== undefined) return named;
  const value = Number.parseFloat(written);
  if (/^[+-]/.test(written)) return around * (1 + value / 100);
  return written.endsWith('%') ? value / 100 : value;
}

/** Names and numbers are of the voice's own loudness, changes of that around. */
export function gainOf(written: string, around: number): number {
  const named = GAIN_DB[written];
  if (named !== undefined) return 10 ** (named / 20);
  const value = Number.parseFloat(written);
  if (written.endsWith('dB')) return around * 10 ** (value / 20);
  return written.endsWith('%') ? around * Math.max(0, 1 + value / 100) : value / 100;
}
