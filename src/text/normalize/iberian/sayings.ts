// Short forms that depend on their neighbours, shared by Spanish and Portuguese. Each language supplies the
// words.
import type { Saying } from '../language.js';
import type { Around, Recogniser } from '../reading.js';

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

/** The cell of a table or the front of a line. */
export function standsAlone(around: Around): boolean {
  return /^ ?[|:]/.test(textBehind(around, 2)) && /(?:^|[|\n*-] ?)$/.test(textBefore(around, 2));
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
    return (around) => {
      const noun = around.previousWord;
      const heat = /° ?[CF]? ?de $/.test(textBefore(around, 8)); // 21 °C de máx.
      return heat || articles.has(noun) || (noun.length > 3 && genderOf(noun) === 'f') ? feminine : masculine;
    };
  };
}

const BEHIND_NOUN = /(?:(\p{L}{3,}) d[eao]s? )?(\p{L}{3,}) (?:no |não |ya |já |todo |tudo )?\(?$/u;

/** IVA incl., bebidas no incl.: in the form of the noun before it; `alone` behind a number or nothing. */
export function participleBehind(
  genderOf: (noun: string) => 'm' | 'f',
): (masculine: string, alone: string) => Saying {
  return (masculine, alone) => (around) => {
    const [, first, last] = BEHIND_NOUN.exec(textBefore(around, 40)) ?? [];
    const noun = first ?? last;
    if (noun === undefined) return alone;
    const form = genderOf(noun) === 'f' ? feminineOf(masculine) : masculine;
    return noun.endsWith('s') ? `${form}s` : form;
  };
}

const DAYS_BEHIND = /^ ?\d{1,3} ?(?:d|d[ií]as?|sem\.?|semanas?|m[eê]s|meses)(?!\p{L})/u; // c/12 h x 7 días

/** 2 x 4, 10 cm x 20 cm, 1.000 x R$ 2: said between factors; `ofMoney` where the first is a plain number. */
export function timesSign(by: string, ofMoney: string): (around: Around) => string | undefined {
  return (around) => {
    if (DAYS_BEHIND.test(textBehind(around, 12))) return by;
    const unit = /\d ?([mck]?m)? ?$/.exec(textBefore(around, 6));
    if (unit === null || !/^ ?(?:\d|R?\$|US\$|€)/.test(textBehind(around, 4))) return undefined;
    return unit[1] === undefined ? ofMoney : by;
  };
}

const SIDE_BEFORE = /\d ?[mck]?m(?: ?\([^()]{1,12}\))? ?$/;

/** 52 cm (larg.) × 71 cm, 5 mL × 7 dias: between sides and before days the sign is not that of sums. */
export function timesBy(by: string): Recogniser {
  return ({ text, at }) => {
    const [before, behind] = [text.slice(Math.max(0, at - 20), at), text.slice(at + 1, at + 13)];
    if (!DAYS_BEHIND.test(behind) && !SIDE_BEFORE.test(before)) return undefined;
    return { end: at + 1, spoken: by, rule: 'measure' };
  };
}

/** Próx. vacuna, últ. 4 dígitos: an adjective in the form of the noun that follows. */
export function adjectiveBefore(genderOf: (noun: string) => 'm' | 'f'): (masculine: string) => Saying {
  return (masculine) => (around) => {
    const noun = /^ (?:\d{1,3} )?(\p{Ll}{3,})/u.exec(textBehind(around, 30))?.[1];
    if (noun === undefined) return undefined;
    const form = genderOf(noun) === 'f' ? feminineOf(masculine) : masculine;
    return noun.endsWith('s') && noun !== 'mes' && noun !== 'mês' ? `${form}s` : form;
  };
}
