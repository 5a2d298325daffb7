// German, Austrian and Swiss addresses: streets, house numbers, postcodes.
import type { Found, Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';

const STREET = /(?!gestr)\p{L}[\p{L}-]{1,40}str\.(?!\p{L})/uy;
const SQUARE = /\p{Lu}[\p{L}-]{3,40}pl\.(?= \d)/uy;

/** Hauptstr. is the Hauptstraße, Lindenpl. 4 the Lindenplatz. */
export function street(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  const match = text.startsWith('str', runEnd - 3) ? reading.match(STREET) : reading.match(SQUARE);
  if (match === undefined) return undefined;
  const ending = text.startsWith('str', runEnd - 3) ? 'aße' : 'atz';
  return { end: at + match[0].length, spoken: `${match[0].slice(0, -1)}${ending}`, rule: 'abbreviation' };
}

const POSTCODE = /\d{4,5}(?= \p{Lu}\p{Ll})/uy;
/** In 10115 Berlin, Hauptstr. 5, 10115 Berlin, D-10115; a line of an address begins with it. */
const LEAD = /(?:(?<!\p{L})(?:in|nach|aus|PLZ:?|D|DE|A|AT|CH)[ -]|\d ?[a-z]?(?:,|\n| ?[·|]) ?|,\s)$/u;
/** Four digits need more than a preposition: in 1990 Wien is no address. */
const SHORT_LEAD = /(?:(?<!\p{L})(?:PLZ:? |A-|AT-|CH-|D-)|\p{L} \d{1,3} ?[a-z]?(?:,|\n) ?)$/u;
const PLACE_OF_FOUR =
  /^ (?:Wien|Graz|Linz|Salzburg|Innsbruck|Klagenfurt|Villach|Wels|Dornbirn|Bregenz|Eisenstadt|Zürich|Genf|Basel|Bern|Lausanne|Winterthur|Luzern|Zug|Chur|Biel|Thun|Baden|Aarau|Lugano|Schaffhausen|Sankt|St\.)(?!\p{L})/u;
const LINE = /(?:^|\n)\s*$/;
const PLACE_ON_LINE = /^ \p{Lu}[\p{L}-]+(?: (?:am|an der|im|bei|ob der|\p{Lu}[\p{L}-]+)){0,3}\s*(?:$|\n|,)/u;
const COUNTED = /^ (?:Euro|Menschen|Personen|Stück)/u;
const LONGEST_LEAD = 12; // units

/** Said digit by digit. */
function postcode(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (reading.match(POSTCODE) === undefined) return undefined;
  const before = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  const behind = text.slice(runEnd, runEnd + 40);
  const long = runEnd - at === 5;
  if (!(long ? isLong(before, behind) : isShort(before, behind))) return undefined;
  const digits = text.slice(at, runEnd);
  if (long && (digits.endsWith('000') || COUNTED.test(behind))) return undefined;
  return { end: runEnd, spoken: SPEECH.digits(digits), rule: 'digits' };
}

function isLong(before: string, behind: string): boolean {
  return LEAD.test(before) || (LINE.test(before) && PLACE_ON_LINE.test(behind));
}

function isShort(before: string, behind: string): boolean {
  return SHORT_LEAD.test(before) || ((LEAD.test(before) || LINE.test(before)) && PLACE_OF_FOUR.test(behind));
}

const HOUSE = /(\d{1,4})(?: (?=[a-df]))?([a-h])(?![\p{L}\p{N}])/uy;
const NUMBERED =
  /(?:[sS]tr\.|[sS]traße|[wW]eg|[pP]latz|[aA]llee|[gG]asse|[dD]amm|[uU]fer|[rR]ing|Markt|Nr\.|Hausnummer|Gleis|Steig|Bahnsteig|Klasse|Haus|Zimmer|Raum|Linie|Bus|Gate|§|Paragraf|Art\.|Artikel|Abs\.|Anlage|Tor|Reihe|Platz|Nummer|(?<!\p{L})[AB]) ?$/u;
/** Hörsaal 3b: behind a name these letters are no unit. */
const NAME = /(?:\p{Lu}\p{Ll}{2,}|HS) $/u;
const LONGEST_NAME = 24; // units

/** Hauptstr. 12a, Gleis 5a, § 8b */
function houseNumber(reading: Reading): Found | undefined {
  const match = reading.match(HOUSE);
  const before = reading.text.slice(Math.max(0, reading.at - LONGEST_NAME), reading.at);
  const [written = '', number = '', letter = ''] = match ?? [];
  const isNamed = /[abcef]/.test(letter) && NAME.test(before);
  if (match === undefined || (!isNamed && !NUMBERED.test(before))) return undefined;
  return { end: reading.at + written.length, spoken: `${cardinal(number)} ${letter}`, rule: 'cardinal' };
}

/** In the order in which the language asks them. */
export const placeRules = {
  behindDigits: [
    [/\p{Lu}/u, postcode],
    [/[a-h]/, houseNumber],
  ],
} satisfies Rules;
