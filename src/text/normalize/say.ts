// Asks a language for the words of a token.
import type { Speech } from './language.js';
import type { Candidate, Token } from './reading.js';

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
      return join(say(token.of, speech), token.per);
    case 'signed':
      return join(token.sign, say(token.of, speech));
    case 'range':
      return sayRange(token, speech);
  }
}

type TokenOf<Type extends Token['type']> = Extract<Token, { readonly type: Type }>;

function sayFraction({ fraction, unit, around }: TokenOf<'fraction'>, speech: Speech): string | undefined {
  if (unit === undefined) return speech.fraction(fraction, around);
  if (speech.fractionOf !== undefined) return speech.fractionOf(fraction, unit, around);
  return join(speech.fraction(fraction, around), unit.forms[0] ?? '');
}

function sayRange({ from, to, around }: TokenOf<'range'>, speech: Speech): string | undefined {
  const [first, last] = [say(from, speech), say(to, speech)];
  return first === undefined || last === undefined ? undefined : speech.range(first, last, around);
}

function join(first: string | undefined, second: string | undefined): string | undefined {
  return first === undefined || second === undefined ? undefined : `${first} ${second}`;
}

/** The words of a candidate. */
export function wordsOf(candidate: Candidate, speech: Speech): string | undefined {
  return candidate.token === undefined ? candidate.spoken : say(candidate.token, speech);
}
