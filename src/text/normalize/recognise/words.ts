// Short forms: abbreviations, acronyms, initials, Roman numerals, the words before a number.
import { classAt, isCapitalAt, isDigitAt, isSmallAt, isWordAt, LETTER } from '../characters.js';
import type { Row } from '../dispatch.js';
import type { Language, Saying } from '../language.js';
import { LiteralTable } from '../literals.js';
import { numeralOf } from '../numerals.js';
import { skipSpaces, type Found, type Reading } from '../reading.js';

const DOTTED = /(?:\p{Lu}\.){2,6}(?:\p{Lu}(?!\p{L}))?|\p{Lu}\.\p{Lu}(?![\p{L}\p{N}.])/uy; // also A.D
/** A Roman numeral that is written as it should be. */
export const ROMAN = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;
const ROMAN_VALUES: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };
const VOWEL = /[AEIOUYÄÖÜÀÂÉÈÊËÎÏÔÙÛŒÁÍÓÚÃÕАЕЁИОУЫЭЮЯ]/u;
const LONGEST_ACRONYM = 6;
/** Airlines whose code is no other short form. */
const CARRIERS = new Set(
  'AA UA DL WN LH BA AF KL LX EK QR EY SQ QF VS JL NH TK FR EW AZ IB TP AY LO SK'.split(' '),
);
const FLIGHT = / (\d{3,4})(?![\p{L}\p{N}]|[.,:/-]\d| ?[%€$])/uy;

export class Words {
  readonly #language: Language;
  readonly #abbreviations: LiteralTable<Saying>;
  readonly #beforeNumber: LiteralTable<string>;
  /** The characters behind the digits of short forms that begin with digits. */
  readonly #behindDigits: ReadonlySet<string>;

  constructor(language: Language) {
    const { abbreviations, beforeNumber } = language.writing;
    this.#language = language;
    this.#abbreviations = new LiteralTable(withCapitals(abbreviations));
    const numbered = Object.keys(abbreviations).filter((written) => /^\d/.test(written));
    this.#behindDigits = new Set(numbered.map((written) => written.replace(/^\d+/, '').slice(0, 1)));
    this.#beforeNumber = new LiteralTable(withCapitals({ ...numberSigns(beforeNumber), ...beforeNumber }));
  }

  readonly atLetter: Row = {
    knows: ({ isFresh, first }) => isFresh && (/\p{Lu}/u.test(first) || this.#mayBegin(first)),
    recognise: (reading) => {
      const found = this.#short(reading);
      if (found !== undefined || !isCapitalAt(reading.text, reading.at)) return found;
      return this.#dotted(reading) ?? this.#capitals(reading);
    },
  };

  /** 24/7 and other short forms that begin with a digit. */
  readonly atDigit: Row = {
    knows: ({ isFresh, behind }) => isFresh && this.#behindDigits.has(behind.slice(0, 1)),
    recognise: (reading) => this.#abbreviation(reading),
  };

  /** Short forms may begin with a mark: § 3, # 5. */
  readonly atMark: Row = {
    knows: ({ first }) => this.#mayBegin(first),
    recognise: (reading) => this.#short(reading),
  };

  #mayBegin(first: string): boolean {
    return this.#beforeNumber.beginsWith(first) || this.#abbreviations.beginsWith(first);
  }

  #short(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const before = this.#beforeNumber.at(text, at);
    if (before !== undefined) {
      const end = at + before.written.length;
      const next = skipSpaces(text, end);
      if (isDigitAt(text, next) || (next > end && /^[-−]\d/.test(text.slice(next, next + 2))))
        return { end, spoken: before.value, rule: 'abbreviation' };
    }
    return this.#abbreviation(reading);
  }

  #abbreviation(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const literal = this.#abbreviations.at(text, at);
    if (literal === undefined) return undefined;
    const end = at + literal.written.length;
    const { value } = literal;
    const spoken = typeof value === 'string' ? value : value(reading.around(end));
    return spoken === undefined ? undefined : { end, spoken, rule: 'abbreviation' };
  }

  /** U.S., J.R.R. */
  #dotted(reading: Reading): Found | undefined {
    if (reading.text[reading.at + 1] !== '.') return undefined;
    const match = reading.match(DOTTED);
    if (match === undefined) return undefined;
    const [written] = match;
    return {
      end: reading.at + written.length,
      spoken: this.#language.speech.letters(written.replaceAll('.', '')),
      rule: 'acronym',
    };
  }

  #capitals(reading: Reading): Found | undefined {
    const { text, at } = reading;
    if (isSmallAt(text, at + 1)) return undefined;
    const bank = BANK_WORDS.has(reading.around(at).previousShort) ? reading.match(BANK) : undefined;
    if (bank !== undefined)
      return { end: at + bank[0].length, spoken: this.#language.speech.letters(bank[0]), rule: 'acronym' };
    let end = at;
    while (end - at <= LONGEST_ACRONYM + 2 && isCapitalAt(text, end)) end++;
    if (end - at > LONGEST_ACRONYM + 2) return undefined;
    const word = text.slice(at, end);
    return this.#roman(reading, word, end) ?? this.#acronym(reading, word, end);
  }

  #roman(reading: Reading, word: string, end: number): Found | undefined {
    const isLetter = /^[CDLM]$/.test(word); // group C
    if (isLetter || !ROMAN.test(word) || isWordAt(reading.text, end)) return undefined;
    const { speech, writing } = this.#language;
    const around = reading.around(end);
    const next = reading.text[end] === '.' ? reading.around(end + 1).nextWord : around.nextWord;
    const kind = writing.romanBefore.has(next.toLowerCase())
      ? 'ordinal'
      : writing.romanAfter[around.previousWord];
    if (kind === undefined) return undefined;
    const stop =
      reading.text[end] === '.' && writing.ordinalMark.includes('\\.') && kind === 'ordinal' ? 1 : 0;
    const value = String(romanValue(word));
    const spoken =
      kind === 'ordinal'
        ? speech.ordinal(value, around.upTo(end + stop), stop === 1 ? '.' : '')
        : speech.number(numeralOf(value), around);
    return spoken === undefined ? undefined : { end: end + stop, spoken, rule: 'roman' };
  }

  #acronym(reading: Reading, word: string, end: number): Found | undefined {
    const { text } = reading;
    const { speech, writing } = this.#language;
    if (word.length < 2 || writing.read.has(word)) return undefined;
    const spell = writing.spelled.has(word) || (word.length <= LONGEST_ACRONYM && !VOWEL.test(word));
    const flight = CARRIERS.has(word) ? reading.match(FLIGHT, end)?.[1] : undefined;
    if (flight !== undefined) {
      const spoken = `${speech.letters(word)} ${speech.digits(flight)}`;
      return { end: end + 1 + flight.length, spoken, rule: 'acronym' };
    }
    const isAir = isAirport(text, reading.at, word) || this.#isAirport(reading, word, end);
    if (!spell && !isAir && !this.#isCarrier(reading, end)) return undefined;
    const plural = text[end] === 's' && classAt(text, end + 1) !== LETTER ? 's' : '';
    if (isWordAt(text, end + plural.length) && plural.length === 0) return undefined;
    const greek = writing.abbreviations[word.slice(0, 1)]; // ΔT
    const spoken =
      typeof greek === 'string' && word > 'Z'
        ? `${greek} ${speech.letters(word.slice(1))}`
        : speech.letters(word);
    return {
      end: end + plural.length,
      spoken: plural === '' ? spoken : spoken + (writing.letterPlural ?? 's'),
      rule: 'acronym',
    };
  }

  /** Flight UA 1234. */
  #isCarrier(reading: Reading, end: number): boolean {
    if (end - reading.at > 3 || !/^ \d{2,4}(?!\d)/.test(reading.text.slice(end, end + 6))) return false;
    return this.#language.writing.digitsAfter.has(reading.around(end).previousWord);
  }

  /** From SEA to BOS, but FROM SEA TO SEA. */
  #isAirport(reading: Reading, word: string, end: number): boolean {
    if (!AIRPORTS.has(word)) return false;
    const { previousWord, nextWord } = reading.around(end);
    const isLed =
      this.#language.writing.journeyWords.has(previousWord) ||
      /[→–] ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at));
    return isLed && (!/^\p{Lu}{2}/u.test(nextWord) || nextWord.length === word.length);
  }
}

const BANK = /[A-Z]{8}(?:[A-Z]{3})?(?![\p{L}\p{N}])/uy;
const BANK_WORDS = new Set(['bic', 'swift']);
const AIRPORTS = new Set(
  `ABJ ACC ACE ADD AEP AGP ALC AMS ANC ARN ATH ATL AUH BER BIO BLQ BOD BOG BOM BOS BRE BRI BRU BUD CAG
   CAI CAN CDG CGN CIA CPH CTA CUN DEL DEN DOH DUB DUS DXB EDI EIN EWR EZE FAO FCO FLR FRA FUE GIG GOA
   GOT GRU GUA GVA GYE HAM HAN HEL HKG HND IAD IAH IBZ ICN IST JFK KIX KUL LAS LAX LCA LED LEJ LGA LGW
   LHR LIL LIM LIN LIS LPA LTN LUX LYS MAD MAH MAN MAO MDE MEL MEX MIA MUC MXP NAP NCE NRT NTE NUE OLB
   OPO ORD ORY OSL OTP PEK PMI PMO PRG PSA PTY RAK REC RIX SAW SCL SDU SEA SFO SIN SJO SOF SSA STR SUF
   SVO SVQ SYD TFN TIA TLS TLV TPE TRN TUN UIO VCE VIE VIX VKO WAW YUL YVR YYZ ZAG ZRH`.split(/\s+/),
);
const BESIDE_AIRPORT = /(?:\p{Lu}\p{Ll}[\p{L}’'-]{1,24}[ -]\(?|[A-Z]{3} ?[-–—→>/] ?)$/u;
const LONGEST_BESIDE = 28; // units

/** Roma FCO, Paris-CDG, Milano (LIN), FCO → CDG */
function isAirport(text: string, at: number, word: string): boolean {
  if (!AIRPORTS.has(word)) return false;
  const behind = /^ ?[-–—→>/] ?([A-Z]{3})(?!\p{L})/u.exec(text.slice(at + 3, at + 10))?.[1] ?? '';
  return AIRPORTS.has(behind) || BESIDE_AIRPORT.test(text.slice(Math.max(0, at - LONGEST_BESIDE), at));
}

const NUMBER_SIGNS = ['n', 'N'].flatMap((letter) =>
  ['°', 'º', '.°', '.º'].flatMap((sign) => [letter + sign, `${letter + sign}.`]),
);

/** N°, nº, N.º and № with or without a full stop, by the language's word for one of them. */
function numberSigns(forms: Readonly<Record<string, string>>): Record<string, string> {
  const word = forms['№'] ?? forms['n°'] ?? forms['Nr.'] ?? forms['#'];
  if (word === undefined) return {};
  return Object.fromEntries([...NUMBER_SIGNS, '№', '№.'].map((sign) => [sign, word]));
}

/** A short form may begin a sentence: Vgl., Approx. */
function withCapitals<Said extends Saying>(forms: Readonly<Record<string, Said>>): [string, Said][] {
  return Object.entries(forms).flatMap(([written, said]): [string, Said][] => {
    const capital = upper(written);
    if (capital === written || /^.\.?$/u.test(written) || forms[capital] !== undefined)
      return [[written, said]];
    return [
      [written, said],
      [capital, typeof said === 'string' ? (upper(said) as Said) : said],
    ];
  });
}

function upper(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** The value of a word that is a Roman numeral. */
export function romanNumeral(word: string): number | undefined {
  return word !== '' && ROMAN.test(word) ? romanValue(word) : undefined;
}

export function romanValue(word: string): number {
  const values = Array.from(word, (letter) => ROMAN_VALUES[letter] ?? 0);
  return values.reduce(
    (sum, value, index) => (value < (values[index + 1] ?? 0) ? sum - value : sum + value),
    0,
  );
}
