// Assembles Spanish of Spain and America, and orders its own recognisers before the shared ones.
import { currencyPair, planeType } from '../shared-codes.js';
import { cardExpiry, letteredPartOfYear, monthRange, partOfYear } from '../iberian/dates.js';
import { product, score, timesOver } from '../iberian/products.js';
import {
  bankAccount,
  groupedOrdinal,
  lawNumber,
  mixedWithNoun,
  perCubic,
  position,
  rating,
  slashOfCode,
  unionLaw,
} from '../iberian/parts.js';
import { initialsOf, isPlural, numberedByRomans } from '../iberian/romans.js';
import { dayHashtag, inches, minutesAndSeconds, scale } from '../iberian/signs.js';
import { ADDRESS_WORDS, SIGNS } from '../iberian/nouns.js';
import { localNumber, serviceNumber } from '../iberian/telephone.js';
import type { Language } from '../language.js';
import { numeralOf } from '../numerals.js';
import type { Around, Found, Reading } from '../reading.js';
import { processor, scientific } from '../recognise/formulas.js';
import {
  atLeast,
  behindDigits,
  byFirstLetter,
  byMark,
  negativePower,
  perWord,
  primed,
  schoolYear,
} from '../shared-forms.js';
import { centsOfHundred, magnifiedMoney, namedMoney, shopPrice } from './amounts.js';
import { house, identity, lettersAndDigits, openingMarks, postcode, road, taxNumber } from './codes.js';
import { genderOf } from './grammar.js';
import { centuries, day, dottedTime, romanMonth, shortMonth, shortYear, utc } from './moments.js';
import { cardinal, decimal, inForm, ordinal } from './numbers.js';
import { parts, SPEECH } from './speech.js';
import { CURRENCIES, noun, PER } from './units.js';
import { WRITING } from './writing.js';

const NAMES: Readonly<Record<string, string>> = {
  'cap.': 'capítulo', 'Cap.': 'capítulo', 'caps.': 'capítulos', 'Caps.': 'capítulos', 'vol.': 'volumen', 'Vol.': 'volumen',
  'vols.': 'volúmenes', 't.': 'tomo', 'T.': 'tomo', 'art.': 'artículo', 'Art.': 'artículo', 'arts.': 'artículos', 'fig.': 'figura',
  'Fig.': 'figura', 'figs.': 'figuras', 'tab.': 'tabla', 'sec.': 'sección', 'Sec.': 'sección', 'pág.': 'página', 'p.': 'página',
  'pp.': 'páginas', 'tít.': 'título', 'Tít.': 'título', 'ap.': 'apartado', 'inc.': 'inciso', 'lám.': 'lámina', 'núm.': 'número',
  capítulos: '', tomos: '', volúmenes: '', títulos: '', artículos: '', anexos: '', libros: '', partes: '', secciones: '', fases: '',
  grupos: '', apartados: '', niveles: '', actos: '', clases: '', tipos: '', Capítulos: '', Tomos: '', Títulos: '', Anexos: '',
}; // prettier-ignore

const INITIALS = initialsOf(NAMES);

const CARD =
  /(?:venc\p{L}*|caduc\p{L}*|expir\p{L}*|exp|vto|v[áa]lid[oa]s?|validez|vigencia|vigente|tarjeta)\.?[^.;\d]{0,18}$/iu;
const CALLS = /(?:tel[ée]?f?|tfno|tlf|m[óo]vil|cel|celular|fax|whatsapp|llam|marc|comuni|contact)/iu;
const SERVICES =
  /(?:llam[ea]\p{L}*|marqu?[eca]\p{L}*)(?: gratis)? al? (?:los? )?(?:\d{3}(?:, | [oyu] )(?:al? |el |los )*)+$/iu;

/** 10'; el minuto 45'. */
function sayMinutes(digits: string, { previousShort }: Around): string {
  const named = /^(?:minutos?|min|m)$/.test(previousShort);
  return named ? cardinal(digits) : `${cardinal(digits, 'm')} minuto${digits === '1' ? '' : 's'}`;
}

const DIRECTIONS = { N: 'norte', S: 'sur', E: 'este', O: 'oeste', W: 'oeste' };
const LAWS =
  /(?:ley|leyes|orgánica|decreto|decreto-ley|RD|orden|resolución|expediente|circular|directiva|reglamento) $/iu;

const HALF = { m: 'medio', f: 'media' };
const NO_NOUNS = new Set('por con del más que para las los'.split(' '));
const VEZ = noun('vez|veces f');
const { numbers, units } = WRITING;

// By the character behind the digits and at most one space.
const ROOMS = /(\d) hab\.(?!\/)/y;
const ROOM = noun('habitación|habitaciones f');

/** Piso de 3 hab.: so few are no inhabitants. */
function rooms(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(ROOMS) : undefined;
  if (match === undefined || match[1] === '0') return undefined;
  const end = reading.at + match[0].length;
  const spoken = SPEECH.measure({ number: numeralOf(match[1] ?? '') }, ROOM, reading.around(end));
  return { end, spoken, rule: 'measure' };
}

const PARTS_OF_YEAR = {
  quarter: 'trimestre',
  half: 'semestre',
  ordinals: ['primer', 'segundo', 'tercer', 'cuarto'],
  cardinal,
};

const AT_DIGIT = behindDigits([
  [
    /[eE.,]/,
    scientific(
      SPEECH,
      (number, negative, exponent) =>
        `${number} por diez elevado a ${negative ? 'menos ' : ''}${cardinal(exponent)}`,
    ),
  ],
  [/[TQS]/, partOfYear(PARTS_OF_YEAR)],
  [/h/, rooms],
  [/\//, unionLaw(cardinal, SPEECH)],
  [/\./, groupedOrdinal(ordinal, inForm)],
  [/-/, planeType(cardinal)],
  [
    /[xX×.,]/,
    product({
      numbers,
      units,
      decimal,
      by: 'por',
      ofSum: 'por',
      score: (home, guest) => SPEECH.score(home, guest),
    }),
  ],
  [/[x×.,]/, timesOver(VEZ, numbers, PER, SPEECH)],
  [/[.,]/, dottedTime],
  [/[½¼¾⅓⅔\dey]/, mixedWithNoun({ and: 'y', half: HALF, cardinal, parts, genderOf, noNouns: NO_NOUNS })],
  [/\//, cardExpiry(CARD, SPEECH, (month, year) => `${cardinal(month)} del ${cardinal(year)}`)],
  [/[/-]/, day],
  [/-/, romanMonth],
  [/(?:)/, postcode],
  [/[-A-Z]/, house],
  [/\./, taxNumber],
  [/[-A-Z]/, identity],
  [/[/.]/, lawNumber(LAWS, cardinal)],
  [/[.,kKMm]/, magnifiedMoney],
  [/['’´]/, shopPrice],
  [/[.,]/, rating('sobre', numbers, decimal, cardinal)],
  [/[°º]/, position({ degree: 'grado', minute: 'minuto', second: 'segundo' }, DIRECTIONS, cardinal)],
  [/[+.,]/, atLeast('más de', numbers, SPEECH)],
  [/-/, localNumber(CALLS, SPEECH)],
  [/(?:)/, serviceNumber(SERVICES, SPEECH)],
  [/["”″/.,\d]/, inches(noun('pulgada f'), numbers, SPEECH)],
  [/['’′]/, minutesAndSeconds(SPEECH)],
  [/['’′]/, primed(sayMinutes)],
  [/:/, scale(SPEECH)],
  [/[-–]/, score(SPEECH)],
  [/\//, schoolYear(cardinal)],
]);

const AT_LETTER = byFirstLetter([
  [/[A-Z]/, currencyPair(CURRENCIES), /\//],
  [/[im]/, processor(SPEECH, cardinal), /\d/],
  [/[UG]/, utc, /[+−–-]/],
  [/[sSIVXLC]/, centuries],
  [/[a-zA-Z]/, shortMonth, /[-/]/],
  [/[a-zA-Z]/, monthRange(WRITING.dates.months, SPEECH), /[-–/.]/],
  [/[TQS]/, letteredPartOfYear(PARTS_OF_YEAR), /[1-4]/],
  [/[pds]/, centsOfHundred, /\d/],
  [INITIALS, numberedByRomans({ names: NAMES, isPlural, say: cardinal })],
  [/[A-Z]/, bankAccount(SPEECH), /\d/],
  [/[A-Z]/, lettersAndDigits, /\d/],
  [/N/, road, /-/],
]);

const OWN: NonNullable<Language['own']> = {
  atDigit: [AT_DIGIT],
  atLetter: [AT_LETTER],
  atMark: [
    byMark([
      [/[¿¡]/, openingMarks],
      [/\$/, namedMoney],
      [/['’]/, shortYear],
      [/#/, dayHashtag(cardinal)],
      [/\//, perWord(PER)],
      [/\//, slashOfCode],
      [/\//, perCubic('por milímetro cúbico')],
      [/[⁻^]/, negativePower((digits) => ` elevado a menos ${cardinal(digits)}`)],
    ]),
  ],
};

export const SPANISH: Language = {
  tag: 'es',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
  symbols: {
    inAddress: {
      '@': 'arroba', '.': 'punto', '/': 'barra', '\\': 'barra invertida', '-': 'guion', _: 'guion bajo', ':': 'dos puntos', '#': 'almohadilla',
      '?': 'interrogación', '=': 'igual', '&': 'ampersand', '+': 'más', '~': 'virgulilla', '%': 'por ciento', '*': 'asterisco', '!': 'exclamación',
    },
    inMath: {
      '+': 'más', '-': 'menos', '−': 'menos', '×': 'por', '*': 'por', '·': 'por', '÷': 'entre', '/': 'entre', '=': 'igual a',
      '==': 'igual a', '<': 'menor que', '>': 'mayor que',
      '<=': 'menor o igual que', '>=': 'mayor o igual que', '≤': 'menor o igual que', '≥': 'mayor o igual que', '≠': 'distinto de',
      '!=': 'distinto de', '≈': 'aproximadamente igual a', '~': 'aproximadamente',
      '±': 'más menos', '√': 'raíz cuadrada de', '→': 'a', '∞': 'infinito', π: 'pi',
    },
    inFront: { '<': 'menos de', '>': 'más de', '≤': 'como máximo', '≥': 'como mínimo', '≈': 'aproximadamente', '~': 'aproximadamente',
    '<=': 'como máximo', '>=': 'como mínimo' },
    inText: { ...SIGNS, '&': 'y', '§': 'sección', '°': 'grados', '%': 'por ciento', '→': 'a' },
    versionPoint: 'punto',
    version: 'versión',
    minus: 'menos',
    plus: 'más',
    keys: { star: 'asterisco', hash: 'almohadilla', before: /\b(?:puls|marc|marq|presion|oprim|digit|tecl|toque|introdu)/i },
    hashtag: 'hashtag',
    addressWords: { ...ADDRESS_WORDS, es: 'es', mx: 'M X', ar: 'A R', cl: 'C L', pe: 'P E', uy: 'U Y', gob: 'gob' },
  },
}; // prettier-ignore
