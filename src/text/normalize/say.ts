// Asks a language for the words of a token.
import type { Speech } from './language.js';
import { numeralOf, withoutZeros } from './numerals.js';
import { type Candidate, NOWHERE, type Token } from './reading.js';

/** Undefined where the language leaves the token as written. */
export function say(token: Token, speech: Speech): string | undefined {
  const { around } = token;
  switch (token.type) {
    case 'count':
      return speech.count(token.quantity, around);
    case 'year':
      return speech.year(token.digits, around, token.isSure);
    case 'money':
      return speech.money(token.quantity, token.currency, around);
    case 'measure':
      return speech.measure(token.quantity, token.unit, around);
    case 'attribute':
      return `${speech.number(token.numeral, around)}-${token.unit}`;
    case 'fraction':
      return sayFraction(token, speech);
    case 'rate':
      return sayRate(token, speech);
    case 'signed':
      return join(token.sign, say(token.of, speech));
    case 'date':
      return speech.date(token.date, around);
    case 'time':
      return speech.time(token.time, around);
    case 'moment':
      return join(speech.date(token.date, around), speech.time(token.time, around), ', ');
    case 'duration':
      return speech.duration(token.parts, around);
    case 'telephone':
      return speech.telephone(token.groups, token.isInternational);
    case 'digits':
      return token.groups.map((group) => speech.digits(group)).join(', ');
    case 'ordinal':
      return speech.ordinal(token.digits, around, token.mark);
    case 'decade':
      return speech.decade(token.digits, around);
    case 'score':
      return speech.score(speech.number(token.home, around), speech.number(token.guest, around));
    case 'number':
      return speech.number(token.numeral, around);
    case 'version':
      return sayVersion(token, speech);
    case 'composed':
      return token.words();
    case 'range':
      return sayRange(token, speech);
    case 'verse':
      return sayVerse(token, speech);
  }
}

type TokenOf<Type extends Token['type']> = Extract<Token, { readonly type: Type }>;

function sayFraction({ fraction, unit, around }: TokenOf<'fraction'>, speech: Speech): string | undefined {
  if (unit === undefined) return speech.fraction(fraction, around);
  if (speech.fractionOf !== undefined) return speech.fractionOf(fraction, unit, around);
  const isMany = Number(fraction.numerator) >= Number(fraction.denominator) && unit.forms.length === 2;
  return join(speech.fraction(fraction, around), unit.forms[isMany ? 1 : 0] ?? ''); // 500/500 Mbps
}

function sayRate({ of, per, around }: TokenOf<'rate'>, speech: Speech): string | undefined {
  const said = say(of, speech);
  if (said === undefined || speech.rate === undefined) return join(said, per);
  return speech.rate(said, per, around, of.type === 'money');
}

function sayRange({ from, to, around }: TokenOf<'range'>, speech: Speech): string | undefined {
  const [first, last] = [say(from, speech), say(to, speech)];
  return first === undefined || last === undefined ? undefined : speech.range(first, last, around);
}

/** Digits that count nothing, without the zeros in front. */
export function cardinal(digits: string, speech: Pick<Speech, 'number'>): string {
  return speech.number(numeralOf(withoutZeros(digits)), NOWHERE);
}

function sayVersion({ before, parts, point, stage, build }: TokenOf<'version'>, speech: Speech): string {
  const name = stage === 'rc' ? speech.letters(stage) : stage;
  const words = [
    before,
    parts.map((part) => cardinal(part, speech)).join(` ${point} `),
    name,
    build === '' ? '' : cardinal(build, speech),
  ];
  return words.filter((word) => word !== '').join(' ');
}

function sayVerse({ book, chapter, first, last }: TokenOf<'verse'>, speech: Speech): string {
  const verses = [first, ...(last === undefined ? [] : [last])].map((verse) => cardinal(verse, speech));
  if (speech.verse !== undefined) return speech.verse(book, cardinal(chapter, speech), verses);
  const [from = '', to] = verses;
  return `${book} ${cardinal(chapter, speech)}, ${to === undefined ? from : speech.range(from, to, NOWHERE)}`;
}

function join(first: string | undefined, second: string | undefined, mark = ' '): string | undefined {
  return first === undefined || second === undefined ? undefined : `${first}${mark}${second}`;
}

/** The words of a candidate. */
export function wordsOf(candidate: Candidate, speech: Speech): string | undefined {
  return candidate.token === undefined ? candidate.spoken : say(candidate.token, speech);
}
