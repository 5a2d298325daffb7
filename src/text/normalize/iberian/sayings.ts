// Short forms that depend on their neighbours, shared by Spanish and Portuguese. Each language supplies the
// words.
import type { Saying } from '../language.js';
import type { Around } from '../reading.js';

export function textBefore({ text, start }: Around, units: number): string {
  return text.slice(Math.max(0, start - units), start);
}

export function textBehind({ text, end }: Around, units: number): string {
  return text.slice(end, end + units);
}

/** Only before a name: D. Juan, S. Pedro. */
export function beforeName(word: string): Saying {
  return (around) => (/^\p{Lu}\p{Ll}/u.test(around.nextWord) ? word : undefined);
}

/** CP 28013, apto 42. */
export function beforeDigit(word: string): (around: Around) => string | undefined {
  return (around) => (/^ ?\d/.test(textBehind(around, 2)) ? word : undefined);
}

/** Tel: 93…, Tel 93… */
export function beforeNumberOf(word: string): Saying {
  return (around) => (/^ ?(?:: ?)?[\d+(]/.test(textBehind(around, 4)) ? word : undefined);
}

/** C/ Mayor, c/ desconto, but c/8 h. */
export function unlessDigit(word: string, atDigit: string): Saying {
  return ({ text, end }) => (/\d/.test(text[end] ?? '') ? atDigit : word);
}

function feminineOf(masculine: string): string {
  return masculine.endsWith('o') ? masculine.replace(/o$/, 'a') : `${masculine}a`;
}

/** La Lic. Mora, a Eng. Ana: a title in the gender of its article. */
export function titleBehind(articles: ReadonlySet<string>): (masculine: string) => Saying {
  return (masculine) => {
    const feminine = feminineOf(masculine);
    return ({ previousWord }) => (articles.has(previousWord) ? feminine : masculine);
  };
}

/** La máx. is a temperature: an adjective in the gender of the noun or article before it. */
export function adjectiveBehind(
  articles: ReadonlySet<string>,
  genderOf: (noun: string) => 'm' | 'f',
): (masculine: string) => Saying {
  return (masculine) => {
    const feminine = feminineOf(masculine);
    return ({ previousWord: noun }) =>
      articles.has(noun) || (noun.length > 3 && genderOf(noun) === 'f') ? feminine : masculine;
  };
}

const DAYS_BEHIND = /^ ?\d{1,3} ?(?:d[ií]as?|sem\.?|semanas?|mes|meses)(?!\p{L})/u; // c/12 h x 7 días

/** 2 x 4, 10 cm x 20 cm, 1.000 x R$ 2: said between factors; `ofMoney` where the first is a plain number. */
export function timesSign(by: string, ofMoney: string): (around: Around) => string | undefined {
  return (around) => {
    if (DAYS_BEHIND.test(textBehind(around, 12))) return by;
    const unit = /\d ?([mck]?m)? ?$/.exec(textBefore(around, 6));
    if (unit === null || !/^ ?(?:\d|R?\$|US\$|€)/.test(textBehind(around, 4))) return undefined;
    return unit[1] === undefined ? ofMoney : by;
  };
}
