// Lists the elements of SSML 1.1 that the server accepts, with their contents, attributes and attribute
// values.
//
//   element            what is done
//   speak, p, s        ends of sentences; a paragraph ends with a longer pause
//   break              silence of that length
//   say-as             read as what it says; content that is nothing of the kind, as if it were not there
//   sub                its alias is said
//   prosody            rate and volume; pitch, contour, range and duration have no effect
//   voice              by its name; age, gender and the like have no effect
//   lang, xml:lang     language, and a voice that speaks it
//   mark               reported when the text before it was heard
//   emphasis, phoneme  no engine can: the text is spoken as it stands
//   audio              never fetched: what it holds is spoken in its place, and there must be some
//   token, w           as it stands
//   meta, metadata, desc   not spoken
//   lexicon, lookup    refused: nothing is fetched; a request has a field for it
//   prefix:name        of a vendor, such as amazon:effect: skipped, and what it holds is spoken

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
const PITCH = unheeded(
  rule(
    PITCHES,
    [`(?:${NUMBER})Hz`, `${SIGNED}(?:Hz|st|%)?`],
    `one of ${PITCHES.join(', ')}, a change such as +10% or -2st, or 120Hz`,
  ),
);

const ANY: AttributeRule = { pattern: /^/u, allowed: 'anything' };
const UNHEEDED: AttributeRule = unheeded(ANY);
const LANGUAGE: AttributeRule = {
  pattern: /^(?:[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4})?$/u,
  allowed: 'a language tag such as en or fr-CA',
};
const NAME: AttributeRule = {
  pattern: /^\s*\S.{0,198}\s*$/su,
  allowed: 'a name of 1 to 200 characters',
};
const WORDS: AttributeRule = { pattern: /\S/u, allowed: 'the words to say' };
const STRENGTH = oneOf(...Object.keys(BREAK_MS));
const BREAK_TIME = rule([], [TIME], 'a time such as 500ms or 1.5s');
const DURATION = unheeded(BREAK_TIME);
const EMPHASIS = oneOf('strong', 'moderate', 'none', 'reduced');
const RATE = rule(
  Object.keys(RATE_NAMES),
  [`(?:${NUMBER})%?`, `${SIGNED}%`],
  `one of ${Object.keys(RATE_NAMES).join(', ')}, a share of the usual pace such as 80%, or a change such as +10%`,
);
const VOLUME = rule(
  Object.keys(GAIN_DB),
  [NUMBER, `${SIGNED}(?:dB|%)`],
  `one of ${Object.keys(GAIN_DB).join(', ')}, a number from 0 to 100, or a change such as -6dB or +10%`,
);
const CONTOUR: AttributeRule = unheeded({
  pattern: /^(?:\s*\([^()]{1,40}\)){1,100}\s*$/u,
  allowed: 'pairs such as (0%,+20Hz) (50%,-10%)',
});
const ALPHABET: AttributeRule = {
  pattern: /^(?:ipa|x-[\w-]{1,40}|sapi|ups)$/u,
  allowed: 'ipa, or the name of another alphabet such as x-sampa',
};
const VERSION: AttributeRule = { pattern: /^1\.[01]$/u, allowed: '1.0 or 1.1' };
const SSML_NAMESPACE: AttributeRule = {
  pattern: /^http:\/\/www\.w3\.org\/2001\/10\/synthesis$/u,
  allowed: 'http://www.w3.org/2001/10/synthesis',
};
const LANGUAGE_FAILURE = unheeded(oneOf('changevoice', 'ignoretext', 'ignorelang', 'processorchoice'));

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

// Values of the `interpret-as` attribute.

export type SayAsKind =
  | 'address'
  | 'cardinal'
  | 'characters'
  | 'currency'
  | 'date'
  | 'digits'
  | 'duration'
  | 'expletive'
  | 'fraction'
  | 'name'
  | 'net'
  | 'ordinal'
  | 'telephone'
  | 'time'
  | 'unit';

// Some of the names are those of one server or another.
const KINDS: Readonly<Record<string, SayAsKind>> = {
  address: 'address',
  bleep: 'expletive',
  cardinal: 'cardinal',
  characters: 'characters',
  currency: 'currency',
  date: 'date',
  decimal: 'cardinal',
  digits: 'digits',
  duration: 'duration',
  expletive: 'expletive',
  fraction: 'fraction',
  measure: 'unit',
  name: 'name',
  net: 'net',
  number: 'cardinal',
  number_digit: 'digits',
  ordinal: 'ordinal',
  'spell-out': 'characters',
  telephone: 'telephone',
  time: 'time',
  unit: 'unit',
  verbatim: 'characters',
};

const SAY_AS: AttributeRule = {
  pattern: new RegExp(`^(?:${Object.keys(KINDS).join('|')})$`, 'u'),
  allowed: `one of ${Object.keys(KINDS).join(', ')}`,
};

export function sayAsKind(written: string): SayAsKind {
  return KINDS[written] ?? 'name';
}

export interface ElementRule {
  /** `unspoken`: anything, and none of it is spoken. */
  readonly holds: 'speech' | 'text' | 'nothing' | 'unspoken';
  readonly attributes: Readonly<Record<string, AttributeRule>>;
  readonly required?: readonly string[];
  /** Nothing here can do what it asks for. */
  readonly isUnheeded?: true;
  /** Elements in which it must not stand, however deep. */
  readonly outside?: readonly string[];
  /** The element that it must stand in. */
  readonly within?: string;
}

const SPOKEN_IN = { 'xml:lang': LANGUAGE, onlangfailure: LANGUAGE_FAILURE };

export const ELEMENTS: Readonly<Record<string, ElementRule>> = {
  speak: {
    holds: 'speech',
    attributes: { ...SPOKEN_IN, version: VERSION, xmlns: SSML_NAMESPACE, 'xml:base': ANY },
  },
  p: { holds: 'speech', attributes: SPOKEN_IN, outside: ['p', 's'] },
  s: { holds: 'speech', attributes: SPOKEN_IN, outside: ['s'] },
  break: { holds: 'nothing', attributes: { strength: STRENGTH, time: BREAK_TIME } },
  'say-as': {
    holds: 'text',
    // A language of its own is no part of SSML; some servers take one. The text is read in that of its
    // sentence.
    attributes: {
      'interpret-as': SAY_AS,
      format: ANY,
      detail: ANY,
      language: UNHEEDED,
      'xml:lang': UNHEEDED,
    },
    required: ['interpret-as'],
  },
  sub: { holds: 'text', attributes: { alias: WORDS }, required: ['alias'] },
  phoneme: {
    holds: 'text',
    attributes: { ph: WORDS, alphabet: ALPHABET, type: ANY },
    required: ['ph'],
    isUnheeded: true,
  },
  prosody: {
    holds: 'speech',
    attributes: {
      rate: RATE,
      volume: VOLUME,
      pitch: PITCH,
      range: PITCH,
      contour: CONTOUR,
      duration: DURATION,
    },
  },
  emphasis: { holds: 'speech', attributes: { level: EMPHASIS }, isUnheeded: true },
  voice: {
    holds: 'speech',
    attributes: {
      ...SPOKEN_IN,
      name: NAME,
      gender: UNHEEDED,
      age: UNHEEDED,
      variant: UNHEEDED,
      languages: UNHEEDED,
      required: UNHEEDED,
      ordering: UNHEEDED,
      onvoicefailure: UNHEEDED,
    },
  },
  lang: { holds: 'speech', attributes: SPOKEN_IN, required: ['xml:lang'] },
  mark: { holds: 'nothing', attributes: { name: NAME }, required: ['name'] },
  audio: {
    holds: 'speech',
    attributes: {
      src: ANY,
      fetchtimeout: ANY,
      fetchhint: ANY,
      maxage: ANY,
      maxstale: ANY,
      clipBegin: ANY,
      clipEnd: ANY,
      repeatCount: ANY,
      repeatDur: ANY,
      soundLevel: ANY,
      speed: ANY,
    },
    isUnheeded: true,
  },
  desc: { holds: 'unspoken', attributes: SPOKEN_IN, within: 'audio' },
  token: { holds: 'speech', attributes: { ...SPOKEN_IN, role: UNHEEDED } },
  w: { holds: 'speech', attributes: { ...SPOKEN_IN, role: UNHEEDED } },
  meta: { holds: 'nothing', attributes: { name: ANY, 'http-equiv': ANY, content: ANY } },
  metadata: { holds: 'unspoken', attributes: {} },
};

/** A name of a vendor's namespace: amazon:effect, mstts:express-as, google:style. */
const VENDOR = /^(?!xml(?:ns)?:|xsi:)[A-Za-z_][\w.-]*:[\w.-]+$/;

export function isVendors(name: string): boolean {
  return VENDOR.test(name);
}

/** The rule of a vendor's element: it holds what the element around it does. */
export function vendorRule(around: ElementRule): ElementRule {
  return { holds: around.holds, attributes: {}, isUnheeded: true };
}

const FETCHING = ['lexicon', 'lookup'];

/** Attributes of namespaces and schemas, which say nothing of the sound. */
const FORMAL = /^(?:xmlns:[\w.-]+|xsi:[\w.-]+|xml:(?:id|space))$/;

export function isFormal(attribute: string): boolean {
  return FORMAL.test(attribute);
}

/** Error message for an unsupported element. */
export function unknownElement(name: string): string {
  const shown = `<${name.slice(0, 40)}>`;
  if (FETCHING.includes(name)) {
    return `${shown} is not taken: nothing is fetched for a text; the field "lexicon" of a request says how words are said`;
  }
  return `there is no ${shown} here; there are ${Object.keys(ELEMENTS).join(', ')}`;
}
