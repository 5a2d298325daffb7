// Short phrases that figures make with the words around them: d'un million, 24/48 h, la touche #, les - de 12
// ans.
import { certain, type Found, type Reading } from '../reading.js';
import { isCounted, of } from './grammar.js';
import { startsLine } from '../recognise/markdown.js';
import { keyedGroups, type Rules } from '../shared-forms.js';
import { cardinal, rank, spellDigits } from './numbers.js';
import { sayFraction } from './amounts.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const ELIDED =
  /(de|que) (?=1(?: (?!(?:à|et|ou|sur|pour|contre|puis|en|est|a|par)(?!\p{L}))\p{L}| ?[€$£%]| ?(?:h|km|kg|m|g|l|min|cm|mm)(?!\p{L})|,\d\d ?m(?!\p{L})))/iuy;
const FEW = /(\d{1,2})\/(\d{1,2})(?: ?(h|j|min|mn)(?!\p{L})| (\p{Ll}{3,24})(?!['’\p{L}]))/uy;
const FEW_NAMES: Readonly<Record<string, string>> = {
  h: 'heures',
  j: 'jours',
  min: 'minutes',
  mn: 'minutes',
};
const PORTION =
  /(\d)\/(\d) (tasse|verre|cuillère|bol|sachet|bouteille|oignon|citron|paquet|tablette|baguette|litre|kilo|journée|page|tour|dose|comprimé|portion|livre|gousse|botte)(?!\p{L})/uy;
const LONGEST_LEAD = 60; // units
const FEWER = /(?:[-–−]|(\+)) ?(?:de (?=\d)|(?=\d{1,3} ans(?!\p{L})))/uy;
const TIMES_PER = /x ?(\d{1,2}) ?(?:fois ?)?\/ ?(\p{L}+)/uy;
const WAR = /(14)-(18)|(39)-(45)/uy;
const KEYED =
  /(?:(?<!\p{L})code(?: (?!postal|civil|pénal|de la route)[\p{L}’'-]{1,16}){0,4}|mot de passe|commande|dossier|réservation|suivi|confirmation|facture|contrat|ticket|colis|client|sinistre|réf\.|référence)(?: est)?(?: le)?(?: ?:)?(?: [A-Z]{2,6})?(?: (?:n°|nº|numéro|no))? ?$/iu;

/** D'un million, qu'une place: no vowel stands before "un". */
export function elided(reading: Reading): Found | undefined {
  const match = reading.match(ELIDED);
  const [written = '', word = ''] = match ?? [];
  if (match === undefined) return undefined;
  return { end: reading.at + written.length, spoken: `${word.slice(0, -1)}'`, rule: 'cardinal' };
}

/** 24/48 h, 2/3 jours: from the one to the other; 4/5 étoiles is a grade. */
function fewOf(reading: Reading): Found | undefined {
  const match = reading.match(FEW);
  const [written = '', few = '', more = '', unit, word = ''] = match ?? [];
  if (match === undefined) return undefined;
  const grade = word === 'étoiles';
  if (unit === 'h' && Number(more) <= 4) return undefined; // 3/4 h
  const eaters = /^(?:personnes|parts|couverts|convives)$/.test(word);
  const lengths = (unit?.startsWith('m') === true || /^(?:minutes|jours)$/.test(word)) && Number(more) > 4;
  const steps =
    eaters ||
    lengths ||
    Number(more) === Number(few) + 1 ||
    (Number(few) % 12 === 0 && Number(more) % 12 === 0);
  if (!grade && (!steps || Number(few) < 2 || Number(few) >= Number(more))) return undefined;
  const noun = unit === undefined ? word : FEW_NAMES[unit];
  if (noun === undefined || !(isCounted(noun) || noun === 'fois')) return undefined;
  const spoken = `${cardinal(few)} ${grade ? 'sur' : 'à'} ${cardinal(more)} ${noun}`;
  return { end: reading.at + written.length, spoken, rule: 'range' };
}

/** 3/4 tasse */
function portion(reading: Reading): Found | undefined {
  const match = reading.match(PORTION);
  const [written = '', numerator = '', denominator = '', noun = ''] = match ?? [];
  if (match === undefined || Number(numerator) >= Number(denominator)) return undefined;
  if (numerator === '1' && denominator === '2') return undefined;
  const part = sayFraction({ numerator, denominator }, 'part', false);
  return { end: reading.at + written.length, spoken: `${part} ${of(noun)}`, rule: 'fraction' };
}

/** Les - de 12 ans, les +65 ans. */
function fewer(reading: Reading): Found | undefined {
  const match = reading.match(FEWER);
  const { text, at } = reading;
  if (match === undefined || !/^[\s(]?$/.test(text[at - 1] ?? '')) return undefined;
  if (text[at + 1] === ' ' && startsLine(text, at)) return undefined; // an item of a list
  return {
    end: at + match[0].length,
    spoken: match[1] === undefined ? 'moins de ' : 'plus de ',
    rule: 'symbol',
  };
}

/** 10 ml x 3/jour */
function timesEach(reading: Reading): Found | undefined {
  const match = reading.match(TIMES_PER);
  const [written = '', number = '', period = ''] = match ?? [];
  const per = WRITING.per[period];
  if (match === undefined || per === undefined) return undefined;
  return {
    end: reading.at + written.length,
    spoken: `${cardinal(number, true)} fois ${per}`,
    rule: 'measure',
  };
}

/** La guerre de 14-18. */
function greatWar(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(WAR);
  if (match === undefined || !/guerre/i.test(text.slice(Math.max(0, at - LONGEST_LEAD), at)))
    return undefined;
  const [from = '', to = ''] = match.slice(1).filter((year) => year !== undefined);
  return { end: at + match[0].length, spoken: `${cardinal(from)}-${cardinal(to)}`, rule: 'year' };
}

/** Votre code est le 482 913, commande 2024-00158. */
const keyed = keyedGroups(KEYED, spellDigits);

const LAST_DIGITS = /\d{3,4}(?![\p{L}\d]|[.,:/-]\d)/uy;
const ENDING =
  /(?:se terminant|finissant|terminant|terminée?|se termine|finit) par(?: le)? $|(?<!\p{L})code(?: \p{L}+){0,2} est le $/iu;

/** Carte se terminant par 4242, votre code est le 4711. */
function lastDigits(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (text[at - 1] !== ' ') return undefined;
  const digits = reading.match(LAST_DIGITS)?.[0];
  if (digits === undefined || !ENDING.test(text.slice(Math.max(0, at - LONGEST_LEAD), at))) return undefined;
  return { end: at + digits.length, spoken: spellDigits(digits), rule: 'digits' };
}

const SHORT_NUMBER =
  /3[0269]\d\d(?= (?:est|n['’]est|reste|sera) (?:joignable|gratuit|accessible|ouvert|disponible|pas|surtaxé|facturé))/uy;

/** Le 3949 est joignable. */
function shortNumber(reading: Reading): Found | undefined {
  const called = reading.match(SHORT_NUMBER);
  if (called === undefined || reading.around(reading.at).previousWord !== 'le') return undefined;
  return {
    end: reading.at + called[0].length,
    spoken: SPEECH.telephone([called[0]], false),
    rule: 'telephone',
  };
}

const DECADE = /['’]\d0(?!\d)/uy;

/** Les années '80. */
function decade(reading: Reading): Found | undefined {
  const match = reading.match(DECADE);
  if (match === undefined || reading.around(reading.at).previousWord !== 'années') return undefined;
  return { end: reading.at + match[0].length, spoken: rank(match[0].slice(1)), rule: 'decade' };
}

const FIRST_OF_MONTH = /1er\/(0?[1-9]|1[0-2])(?:\/(\d{4}))?(?![\p{L}\d/])/uy;

/** Le 1er/05 */
function firstOfMonth(reading: Reading): Found | undefined {
  const match = reading.match(FIRST_OF_MONTH);
  const [written = '', month = '', year] = match ?? [];
  if (match === undefined) return undefined;
  const date = { day: '1', month: Number(month), year, style: 'name' } as const;
  const spoken = SPEECH.date(date, reading.around(reading.at));
  return spoken === undefined ? undefined : { end: reading.at + written.length, spoken, rule: 'date' };
}

const RATE = /(\d{1,3})\/(jour|j|semaine|sem|mois|an|heure)(?![\p{L}\p{N}])/uy;

/** Max. 4/jour */
function rate(reading: Reading): Found | undefined {
  const match = reading.match(RATE);
  const [written = '', number = '', period = ''] = match ?? [];
  const per = WRITING.per[period];
  if (match === undefined || per === undefined) return undefined;
  return { end: reading.at + written.length, spoken: `${cardinal(number)} ${per}`, rule: 'measure' };
}

const APPEAL = /(\d{2})-(\d{2})\.(\d{3})(?![\p{L}\d]|[.,]\d)/uy;

/** Cass., n° 19-12.345 */
function appeal(reading: Reading): Found | undefined {
  const match = /n°|numéro|pourvoi/.test(reading.text.slice(Math.max(0, reading.at - 9), reading.at))
    ? reading.match(APPEAL)
    : undefined;
  if (match === undefined) return undefined;
  const spoken = match
    .slice(1)
    .map((part) => SPEECH.telephone([part], false))
    .join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'digits' };
}

const OF_LAW = /(art|chap|fig|vol|al|ann)\. ?(?=\d)/uy;
const PLURALS: Readonly<Record<string, string>> = {
  art: 'articles',
  chap: 'chapitres',
  fig: 'figures',
  vol: 'volumes',
  al: 'alinéas',
  ann: 'annexes',
};

/** Les art. 5 et 6 */
function lettersOfLaw(reading: Reading): Found | undefined {
  const match = reading.match(OF_LAW);
  if (match === undefined || !/^(?:les|des|aux|ces)$/.test(reading.around(reading.at).previousWord))
    return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `${PLURALS[match[1] ?? ''] ?? ''} `,
    rule: 'abbreviation',
  };
}

const VERSE_NUMBER = /([12]) (?=(?:Co|Th|Tm|R|S|Ch|P)\.? \d{1,3}, ?\d)/y;

/** 1 Co 13, 4 */
function verseNumber(reading: Reading): Found | undefined {
  const match = reading.match(VERSE_NUMBER);
  return (
    match && {
      end: reading.at + match[0].length,
      spoken: match[1] === '1' ? 'premier ' : 'second ',
      rule: 'ordinal',
    }
  );
}

/** In the order in which the language asks them. */
export const phraseRules = {
  behindDigits: [
    [/[A-Z]/, verseNumber],
    [/\//, certain(fewOf)],
    [/\//, rate],
    [/\//, portion],
    [/-/, greatWar],
    [/e/, firstOfMonth],
    [[4, 4], shortNumber],
    [/[-\d]/, keyed],
    [[3, 4], lastDigits],
    [/-/, appeal],
  ],
  atLetter: [
    [/[acfv]/, lettersOfLaw],
    [/x/, timesEach, /\d/],
  ],
  atMark: [
    [/[-–−+]/, certain(fewer)],
    [/['’]/, decade],
  ],
} satisfies Rules;
