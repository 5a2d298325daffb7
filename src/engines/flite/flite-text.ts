// Converts text to the ASCII that flite reads, and computes the times of its words.
//
// Flite reports the end of every phone, but not its word. The cheapest alignment of letters and phones yields
// the words: a usual sound of a letter costs nothing, letters may be silent, phones may have no letter.
// Digits, symbols and words in capitals match any phone. A pause between two words belongs to neither.
import type { WordTime } from '../engine.js';

export interface Phone {
  readonly name: string;
  readonly endMs: number;
}

/** A letter of a word; `' '` and `','` stand between two words, the latter where punctuation does. */
interface Letter {
  readonly sign: string;
  /** Index of its word; for a separator, of the word before it. */
  readonly word: number;
  /** It may sound like anything. */
  readonly any: boolean;
  /** Cost of a silent letter. */
  readonly silent: number;
}

interface Word {
  readonly text: string;
  readonly offset: number;
}

const PAUSE = 'pau';
const SIGN = String.raw`[\p{L}\p{M}\p{N}€£¥$%°©½¼¾×÷&@#+=*~^]`;
const WORD = new RegExp(`${SIGN}+(?:(?:['’._]|(?<=\\d)[,:](?=\\d))${SIGN}+)*`, 'gu');
const BREAK = /[.,;:!?()"“”„«»–—…]/;
const ANYTHING = /[^a-z']/i;
const CAPITALS = /^[^a-z]{2,}$/;

const NEVER = 50;
const AS_USUAL = 0;
const LESS_USUAL = 0.05;
const VOWELS = new Set('aa ae ah ao aw ax axr ay eh er ey ih iy ow oy uh uw'.split(' '));
const VOWEL_LETTERS = new Set('aeiouy');
/** Usual phones of a letter, alone or as the first of two; the most usual first. */
const SOUNDS: Readonly<Record<string, string>> = {
  a: '',
  b: 'b',
  c: 'k s ch sh',
  d: 'd dx t jh',
  e: 'y',
  f: 'f v',
  g: 'g jh zh f k',
  h: 'hh',
  i: 'y',
  j: 'jh y zh hh',
  k: 'k',
  l: 'l el',
  m: 'm em',
  n: 'n ng en nx',
  o: '',
  p: 'p f',
  q: 'k',
  r: 'r er axr',
  s: 's z sh zh',
  t: 't dx d th dh ch sh',
  u: 'y w',
  v: 'v f',
  w: 'w uw ow aw',
  x: 'k g z s',
  y: 'y',
  z: 'z s zh t',
};
const SOUND_COSTS = new Map(
  Object.entries(SOUNDS).map(([letter, phones]) => [
    letter,
    new Map(phones.split(' ').map((phone, place) => [phone, place === 0 ? AS_USUAL : LESS_USUAL])),
  ]),
);

const VOWEL_LIKE = 0.1; // one vowel for another
const SILENT: Readonly<Record<string, number>> = {
  e: 0.15,
  a: 0.3,
  i: 0.3,
  o: 0.3,
  u: 0.3,
  y: 0.4,
  h: 0.25,
  "'": 0,
};
const SILENT_CONSONANT = 0.6;
const SILENT_TWIN = 0.05;
const SILENT_NEEDED = 1; // the only vowel of a word, or a y before one
const SILENT_SECOND = 0.15; // "say"
const SILENT_ANYTHING = 0.05;
const ADDED_ANYTHING = 0.15;
const ADDED_VOWEL = 0.7;
const ADDED_GLIDE = 0.45; // "one", "use"
const ADDED_CONSONANT = 1;
const ADDED_PAUSE = 0.6; // between words without punctuation

/** The words of `text` that sound, in order. `phones` are those of the whole text. */
export function wordsOfPhones(text: string, phones: readonly Phone[]): WordTime[] {
  const words = wordsIn(text);
  const letters = lettersOf(text, words);
  const owners = align(letters, phones);
  const times: WordTime[] = [];
  words.forEach(({ text: word, offset }, index) => {
    const first = owners.indexOf(index);
    if (first < 0) return;
    const startMs = phones[first - 1]?.endMs ?? 0;
    times.push({
      word,
      textOffset: offset,
      startMs,
      endMs: phones[owners.lastIndexOf(index)]?.endMs ?? startMs,
    });
  });
  return times;
}

function wordsIn(text: string): Word[] {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({ text: word, offset: index }));
}

function lettersOf(text: string, words: readonly Word[]): Letter[] {
  const letters: Letter[] = [];
  let end = 0;
  words.forEach(({ text: word, offset }, index) => {
    if (index > 0) {
      const sign = BREAK.test(text.slice(end, offset)) ? ',' : ' ';
      letters.push({ sign, word: index - 1, any: false, silent: sign === ' ' ? AS_USUAL : VOWEL_LIKE });
    }
    end = offset + word.length;
    const plain = asciiText(word).replaceAll(' ', '');
    const any = ANYTHING.test(plain) || CAPITALS.test(plain);
    const signs = plain.toLowerCase();
    for (let at = 0; at < signs.length; at++) {
      letters.push({
        sign: signs.charAt(at),
        word: index,
        any,
        silent: any ? SILENT_ANYTHING : silentCost(signs, at),
      });
    }
  });
  return letters;
}

function silentCost(word: string, at: number): number {
  const sign = word.charAt(at);
  const before = word.charAt(at - 1);
  if (before === sign) return SILENT_TWIN;
  if ((sign === 'y' || sign === 'w') && VOWEL_LETTERS.has(before)) return SILENT_SECOND;
  if (VOWEL_LETTERS.has(sign) && isNeeded(word, at)) return SILENT_NEEDED;
  return SILENT[sign] ?? SILENT_CONSONANT;
}

function isNeeded(word: string, at: number): boolean {
  if (at === 0 && word.charAt(at) === 'y') return true;
  return !Array.from(word).some((other, place) => place !== at && VOWEL_LETTERS.has(other));
}

// Kinds of alignment steps.
const NOWHERE = 0;
const MATCHED = 1;
const SILENCED = 2;
const ADDED = 3;

// Limits of the distance between an alignment and an even pace.
const REACH_PHONES = 60;
const REACH_SHARE = 0.08;

/** The word of each phone, by the cheapest alignment; -1 for a pause. */
function align(letters: readonly Letter[], phones: readonly Phone[]): number[] {
  const columns = phones.length + 1;
  const steps = new Uint8Array((letters.length + 1) * columns);
  let costs = new Float64Array(columns).fill(Infinity);
  let before = new Float64Array(columns).fill(Infinity);
  for (let row = 0; row <= letters.length; row++) {
    [before, costs] = [costs, before.fill(Infinity)];
    if (row === 0) costs[0] = 0;
    // Long texts: letters and phones go on at nearly the same pace.
    const middle = Math.round((row * phones.length) / Math.max(1, letters.length));
    const reach = REACH_PHONES + Math.ceil(phones.length * REACH_SHARE);
    const last = Math.min(columns - 1, middle + reach);
    for (let column = Math.max(0, middle - reach); column <= last; column++) {
      const letter = letters[row - 1];
      const phone = phones[column - 1]?.name;
      const matched =
        letter === undefined || phone === undefined
          ? Infinity
          : (before[column - 1] as number) + matchCost(letter, phone);
      const silenced = letter === undefined ? Infinity : (before[column] as number) + letter.silent;
      const added =
        phone === undefined
          ? Infinity
          : (costs[column - 1] as number) + addedCost(letter, letters[row], phone);
      const cost = Math.min(matched, silenced, added);
      if (cost === Infinity) continue;
      steps[row * columns + column] = cost === matched ? MATCHED : cost === silenced ? SILENCED : ADDED;
      costs[column] = cost;
    }
  }
  return owned(letters, phones, steps);
}

function matchCost({ sign, any }: Letter, phone: string): number {
  if (phone === PAUSE) return sign === ',' ? AS_USUAL : sign === ' ' ? ADDED_PAUSE : NEVER;
  if (sign === ',' || sign === ' ') return NEVER;
  if (any) return ADDED_ANYTHING / 2;
  const usual = SOUND_COSTS.get(sign)?.get(phone);
  if (usual !== undefined) return usual;
  return VOWEL_LETTERS.has(sign) && VOWELS.has(phone) ? VOWEL_LIKE : NEVER;
}

/** Cost of a phone without a letter, between `letter` and `next`. */
function addedCost(letter: Letter | undefined, next: Letter | undefined, phone: string): number {
  if (phone === PAUSE) return letter === undefined || next === undefined ? AS_USUAL : NEVER;
  if (letter === undefined || letter.sign === ' ' || letter.sign === ',') return addedFirst(next, phone);
  if (letter.any) return ADDED_ANYTHING;
  if (letter.sign === 'x' && (phone === 's' || phone === 'z')) return AS_USUAL;
  return VOWELS.has(phone) ? ADDED_VOWEL : ADDED_CONSONANT;
}

/** Letters at the beginning of a word. */
function addedFirst(next: Letter | undefined, phone: string): number {
  if (next === undefined) return NEVER;
  if (next.any) return ADDED_ANYTHING;
  return phone === 'w' || phone === 'y' ? ADDED_GLIDE : ADDED_CONSONANT;
}

function owned(letters: readonly Letter[], phones: readonly Phone[], steps: Uint8Array): number[] {
  const columns = phones.length + 1;
  const owners = phones.map(() => -1);
  let row = letters.length;
  let column = phones.length;
  while (row > 0 || column > 0) {
    const step = steps[row * columns + column];
    if (step === NOWHERE) break;
    const isPhone = step === MATCHED || step === ADDED;
    if (isPhone && phones[column - 1]?.name !== PAUSE) owners[column - 1] = wordAt(letters, row);
    if (step !== ADDED) row--;
    if (isPhone) column--;
  }
  return owners;
}

/** The word of a phone after the letter before `row`. */
function wordAt(letters: readonly Letter[], row: number): number {
  const letter = letters[row - 1];
  if (letter === undefined) return 0;
  return letter.sign === ' ' || letter.sign === ',' ? letter.word + 1 : letter.word;
}

const REPLACEMENTS: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': ', ',
  '—': ', ',
  '―': ', ',
  '−': '-',
  '×': ' times ',
  '÷': ' divided by ',
  '°': ' degrees ',
  '€': ' euros ',
  '£': ' pounds ',
  '¥': ' yen ',
  '©': ' copyright ',
  '½': ' one half ',
  '¼': ' one quarter ',
  '¾': ' three quarters ',
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

// The amount belongs before the unit: "€5" is "5 euros".
const AMOUNT = /([€£¥])\s?(\d[\d.,]*\d|\d)/g;

/** Characters without an equivalent in ASCII are left out. */
export function asciiText(text: string): string {
  const spaced = text
    .replace(AMOUNT, '$2$1')
    .replace(/./gsu, (character) => REPLACEMENTS[character] ?? character);
  const plain = spaced
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[\u2044]/g, '/')
    .replace(/[^\u0020-\u007e]/g, ' ');
  return plain
    .replace(/\s+/g, ' ')
    .replace(/ ([,.;:!?])/g, '$1')
    .trim();
}
