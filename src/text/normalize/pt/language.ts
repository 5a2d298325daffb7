// Assembles Portuguese, and orders its own recognisers before the shared ones.
// Words are Brazilian where Brazil and Portugal differ. European forms are understood.
// Its own recognisers read results, codes, dates, centuries and time zones.
import { tablesOf } from '../../tables/language-tables.js';
import {
  cardExpiry,
  dayAndMonth,
  letteredPartOfYear,
  monthAndYear,
  monthRange,
  partOfYear,
  spanOfNames,
  zone,
} from '../iberian/dates.js';
import {
  bankAccount,
  lawNumber,
  mixedWithNoun,
  perCubic,
  position,
  rating,
  slashOfCode,
  unionLaw,
} from '../iberian/parts.js';
import { numberOrdered, product, score, thingsOrdered, timesOver } from '../iberian/products.js';
import { timesBy } from '../iberian/sayings.js';
import { initialsOf, isPlural, numberedByRomans } from '../iberian/romans.js';
import { amountRelation, dayHashtag, inches, minutesAndSeconds, scale } from '../iberian/signs.js';
import { localNumber, serviceNumber } from '../iberian/telephone.js';
import type { Language } from '../language.js';
import { type Around, certain, type Found, type Reading, type Recogniser } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark, perWord, primed } from '../shared-forms.js';
import { genderOf } from './grammar.js';
import { cardinal, decimal, ordinal } from './numbers.js';
import { DATES, FRACTIONS, parts, SPEECH } from './speech.js';
import { STATE, stateBehindTown } from './states.js';
import { WRITING } from './writing.js';

/** Dia 15/01, até 3/4. */
const day = dayAndMonth({
  before: tablesOf('pt').set('before a date'),
  beforeTime: /^,? (?:(?:às?|pelas) \d|\d{1,2}[:h]\d\d)/,
  isPressure: FRACTIONS.isPressure,
  say: DATES.dayOf,
  range: (from, to, around) => SPEECH.range(from, to, around),
});

/** Dez/2024, abr-24; without the slash "dez" is ten. */
const shortMonth = monthAndYear(WRITING.dates.months, SPEECH, { dez: 12 });

/** UTC-3, GMT+5:30. */
const utc = zone({ plus: 'mais', minus: 'menos', joint: ' e' }, cardinal, SPEECH);

/** Séculos XV e XVI, séc. XIX. */
const centuries: Recogniser = numberedByRomans({
  names: {
    'séc.': 'século',
    'Séc.': 'Século',
    'sécs.': 'séculos',
    'Sécs.': 'Séculos',
    século: '',
    séculos: '',
    Século: '',
    Séculos: '',
    SÉCULO: '',
  },
  isPlural: (name) => /s\.?$/i.test(name),
  say: (value) => (Number(value) <= 10 ? ordinal(value) : undefined) ?? cardinal(value),
});

const FIRST_OF = /1[ºo°]\/(\d{1,2})(?:\/(\d{4}|\d{2}))?(?![\p{L}\p{N}/])/uy;

/** 1º/05, 1º/1/2025. */
function firstOfMonth(reading: Reading): Found | undefined {
  const match = reading.match(FIRST_OF);
  const [written = '', month = '', year] = match ?? [];
  if (match === undefined || Number(month) < 1 || Number(month) > 12) return undefined;
  const end = reading.at + written.length;
  const date = {
    day: '1',
    month: Number(month),
    style: 'name',
    year,
  } as const;
  const spoken = SPEECH.date(date, reading.around(end));
  return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
}

const MONTHS = WRITING.dates.months.map(([name = '']) => name).join('|');
const ROMAN_DAY = new RegExp(`([IVX]{1,5})(?= de (?:${MONTHS})(?!\\p{L}))`, 'iuy');

/** Rua XV de Novembro. */
function romanDay(reading: Reading): Found | undefined {
  const match = reading.match(ROMAN_DAY);
  if (match === undefined) return undefined;
  const spoken = DATES.day(String(romanValue((match[1] ?? '').toUpperCase())));
  return { end: reading.at + match[0].length, spoken, rule: 'roman' };
}

const WEEKDAYS = ['segunda', 'terça', 'quarta', 'quinta', 'sexta', 'sábado', 'domingo'];
const WEEK = /(seg|ter|qua|qui|sex|s[áa]b|dom)\.? ?[-–] ?(seg|ter|qua|qui|sex|s[áa]b|dom)(?![\p{L}])/iuy;

const NUMBERED_WEEK = /([2-6])ªs?[-–]([3-6])ªs?(?![\p{L}\p{N}])/uy;

/** 2ª-6ª */
function numberedWeek(reading: Reading): Found | undefined {
  const match = reading.match(NUMBERED_WEEK);
  const [from, to] = [match?.[1], match?.[2]].map((day) => WEEKDAYS[Number(day) - 2]);
  if (match === undefined || from === undefined || to === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${from} a ${to}`, rule: 'date', isCertain: true };
}

const FEIRA = /([2-6])[ªa]?(?: a ([3-6])[ªa]?)?[ -]feiras?(?!\p{L})/uy;

/** Na 3ª feira, de 2ª a 6ª-feira */
function feira(reading: Reading): Found | undefined {
  const [written, first = '', last] = reading.match(FEIRA) ?? [];
  if (written === undefined) return undefined;
  const [from, to] = [first, last ?? ''].map((day) => WEEKDAYS[Number(day) - 2]);
  const plural = written.endsWith('s') ? 's' : '';
  const name = (day: string | undefined): string => `${day ?? ''}${plural}-feira${plural}`;
  const spoken = last === undefined ? name(from) : `${from ?? ''} a ${name(to)}`;
  return { end: reading.at + written.length, spoken, rule: 'date', isCertain: true };
}

/** Seg-sex. */
function weekdays(reading: Reading): Found | undefined {
  const match = reading.match(WEEK);
  const [from, to] = [match?.[1], match?.[2]].map((short = '') =>
    WEEKDAYS.find((name) => name.startsWith(short.toLowerCase().replace('sab', 'sáb'))),
  );
  if (match === undefined || from === undefined || to === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${from} a ${to}`, rule: 'date' };
}

const SPOON = /\((sopa|chá|café|sobremesa)\)/y;

/** 2 colheres (sopa) de farinha */
function spoon(reading: Reading): Found | undefined {
  const [written, name = ''] = reading.match(SPOON) ?? [];
  const { text, at } = reading;
  if (written === undefined || !/[Cc]olher(?:es)? $/.test(text.slice(Math.max(0, at - 9), at)))
    return undefined;
  return { end: at + written.length, spoken: `de ${name}`, rule: 'abbreviation' };
}

const NAMES: Readonly<Record<string, string>> = tablesOf('pt').map('before several Romans');

const INITIALS = initialsOf(NAMES);

const CARD =
  /(?:venc\p{L}*|caduc\p{L}*|expir\p{L}*|exp|v[áa]lid[oa]s?|validade|vigência|vigente|cartão)\.?[^.;\d]{0,18}$/iu;
const CALLS = /(?:tel(?:efone)?|fone|fixo|celular|cel|telem[óo]vel|fax|whatsapp|zap|lig[auo]|disqu|contat)/iu;
const SERVICES =
  /(?:[Ll]i(?:gue|gar|ga|guem)|[Dd]isqu?[eca]\p{L}*)(?: grátis)?(?: para)?(?: [oa]s?)? (?:\d{3}(?:, | ou | e )(?:para )?(?:[oa]s? )?)+$|(?:SAMU|[Pp]olícia(?: Militar)?|[Bb]ombeiros|Defesa Civil|Disque(?:-\p{L}+)?) (?=$)/u;

/** 10'; o minuto 45'. */
function sayMinutes(digits: string, { previousShort, previousWord }: Around): string {
  const named = /^(?:minutos?|min)$/.test(previousShort);
  if (previousWord === 'o' || previousWord === 'no') return `minuto ${cardinal(digits)}`;
  return named ? cardinal(digits) : `${cardinal(digits)} minuto${digits === '1' ? '' : 's'}`;
}

const DIRECTIONS = { N: 'norte', S: 'sul', E: 'leste', L: 'leste', O: 'oeste', W: 'oeste' };
const LAWS =
  /(?:lei|leis|complementar|PLP?|PEC|MP|decreto|decreto-lei|portaria|resolução|provisória|processo|n\.?º) $/iu;

const HALF = { m: 'meio', f: 'meia' };
const NOT_COUNTED = tablesOf('pt').set('not counted');
const VEZ = { forms: ['vez', 'vezes'], gender: 'f' } as const;
const { numbers, units } = WRITING;

const EVERY = /(\d{1,2})\/(\d{1,2}) ?(?:hs?|hrs?|horas?)(?![\p{L}\p{N}])\.?/uy;

/** De 12/12 h, 8/8h: a dose, and when the next one is. */
function everyHours(reading: Reading): Found | undefined {
  const [written = '', first = '', second = ''] = reading.match(EVERY) ?? [];
  if (written === '' || first !== second) return undefined;
  const hours = Number(first) === 2 ? 'duas' : cardinal(first);
  const lead = reading.around(reading.at).previousWord === 'de' ? '' : 'de ';
  const stop = written.endsWith('.') ? 1 : 0;
  return {
    end: reading.at + written.length - stop,
    spoken: `${lead}${hours} em ${hours} horas`,
    rule: 'duration',
  };
}

const PARTS_OF_YEAR = {
  quarter: 'trimestre',
  half: 'semestre',
  ordinals: ['primeiro', 'segundo', 'terceiro', 'quarto'],
  cardinal,
};

const ORDER = {
  unit: { forms: ['unidade', 'unidades'], gender: 'f' },
  count: cardinal,
  genderOf,
  noThings: new Set([...NOT_COUNTED, ...tablesOf('pt').set('no things')]),
  speech: SPEECH,
} as const;

const AT_DIGIT = behindDigits([
  [/[TQS]/, partOfYear(PARTS_OF_YEAR)],
  [/\//, unionLaw(cardinal, SPEECH)],
  [/\//, everyHours],
  [/[.-]/, grouped],
  [
    /[xX×.,]/,
    product({
      numbers,
      units,
      decimal,
      by: 'por',
      ofSum: 'vezes',
      isGame: isOfGame,
      score: (home, guest) => SPEECH.score(home, guest),
    }),
  ],
  [/[x×X]/, certain(thingsOrdered(ORDER))],
  [/[x×.,]/, timesOver(VEZ, numbers, WRITING.per, SPEECH)],
  [/[½¼¾⅓⅔\dey]/, mixedWithNoun({ and: 'e', half: HALF, cardinal, parts, genderOf, noNouns: NOT_COUNTED })],
  [/\//, cardExpiry(CARD, SPEECH, (month, year) => `${cardinal(month)} de ${cardinal(year)}`)],
  [/\//, day],
  [/[ºo°]/, firstOfMonth],
  [/ª/, numberedWeek],
  [/[ªaf-]/, feira],
  [/[/.]/, lawNumber(LAWS, cardinal)],
  [/[.,]/, rating('de', numbers, decimal, cardinal)],
  [/[°º]/, position({ degree: 'grau', minute: 'minuto', second: 'segundo' }, DIRECTIONS, cardinal)],
  [/-/, localNumber(CALLS, SPEECH)],
  [[3, 3], serviceNumber(SERVICES, SPEECH)],
  [/["”″/.,\d]/, inches({ forms: ['polegada', 'polegadas'], gender: 'f' }, numbers, SPEECH)],
  [/['’′]/, minutesAndSeconds(SPEECH)],
  [/['’′]/, primed(sayMinutes)],
  [/:/, scale(SPEECH)],
  [/[-–]/, score(SPEECH)],
]);

const AT_LETTER = byFirstLetter([
  [/[xX]/, numberOrdered(ORDER), /\d/],
  [/[UG]/, utc, /[+−–-]/],
  [/[sSIVXLC]/, centuries],
  [/[a-zA-Z]/, shortMonth, /[-/]/],
  [/[a-zA-Z]/, monthRange(WRITING.dates.months, SPEECH), /[-–/.]/],
  [/[TQS]/, letteredPartOfYear(PARTS_OF_YEAR), /[1-4]/],
  [INITIALS, numberedByRomans({ names: NAMES, isPlural, say: cardinal })],
  [/[IVX]/, romanDay, /d/i],
  [/[stqdSTQD]/, weekdays, /[.–-]/],
  [/[A-Z]/, bankAccount(SPEECH), /\d/],
  [/[A-Z]/, plate, /\d/],
]);

const SPAN = spanOfNames({
  weekdays: WRITING.dates.weekdays,
  ends: tablesOf('pt').map('end of a span'),
  toThe: 'a',
  range: (from, to, around) => SPEECH.range(from, to, around),
});

const OWN: NonNullable<Language['own']> = {
  atDigit: [AT_DIGIT],
  atLetter: [AT_LETTER, STATE],
  atMark: [
    byMark([
      [/×/, numberOrdered(ORDER)],
      [/×/, timesBy('por')],
      [/\(/, certain(spoon)],
      [/[–-]/, certain(SPAN)],
      [/[<>≤≥≈]/, amountRelation(tablesOf('pt').signs.inFront, tablesOf('pt').set('no plural nouns'))],
      [/#/, dayHashtag(cardinal)],
      [/\//, perWord(WRITING.per, 'a cada')],
      [/\//, betweenAmounts],
      [/\//, slashOfCode],
      [/[/–-]/, certain(stateBehindTown)],
      [/\//, perCubic('por milímetro cúbico')],
    ]),
  ],
};

const NEARBY = 48; // units in which a word tells of a game

function isOfGame({ text, start, end }: Around): boolean {
  const teams =
    /\p{Lu}\p{Ll}+ $/u.test(text.slice(Math.max(0, start - 24), start)) &&
    /^ \p{Lu}\p{Ll}/u.test(text.slice(end, end + 3)); // Brasil 2 x 0 Chile
  if (teams) return true;
  const near = `${text.slice(Math.max(0, start - NEARBY), start)} ${text.slice(end, end + NEARBY)}`;
  return (near.toLowerCase().match(/\p{L}+/gu) ?? []).some((word) => WRITING.scoreWords.has(word));
}

const TAX_NUMBER = /\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}(?!\d)/y;
const ACCOUNT = /\d{1,3}\.\d{3}-[\dX](?![\p{L}\p{N}-])/uy;
const SHORT_ACCOUNT = /\d{4,8}-[\dX](?![\p{L}\p{N}-])/uy;
const BEFORE_ACCOUNT = /(?:c\/c|conta|corrente|poupança|ag[.]|agência):? (?:n\.?º )?$/iu;
const IDENTITY_CARD = /\d{1,2}\.\d{3}\.\d{3}-[\dX](?![\p{L}\p{N}])/uy;
const LAWSUIT = /\d{7}-\d{2}\.\d{4}\.\d\.\d{2}\.\d{4}(?!\d)/y;
const POSTCODE = /\d{5}-\d{3}(?!\d)|\d{4}-\d{3}(?= \p{Lu})/uy;

/** CPF, CNPJ, RG, lawsuits and postcodes: digit by digit, in the groups that are written. */
function grouped(reading: Reading): Found | undefined {
  const found = [TAX_NUMBER, IDENTITY_CARD, ACCOUNT, LAWSUIT, POSTCODE]
    .map((pattern) => reading.match(pattern))
    .find((known) => known !== undefined);
  const match = found ?? (isBehindAccount(reading) ? reading.match(SHORT_ACCOUNT) : undefined);
  if (match === undefined) return undefined;
  const spoken = (match[0].match(/\d+|X/g) ?? []).map((group) => SPEECH.digits(group)).join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'digits' };
}

function isBehindAccount({ text, at }: Reading): boolean {
  return BEFORE_ACCOUNT.test(text.slice(Math.max(0, at - 16), at));
}

const PLATE = /[A-Z]{3}\d[A-Z]\d{2}(?![\p{L}\p{N}-])/uy;

/** BRA2E19: a number plate. */
function plate(reading: Reading): Found | undefined {
  const match = reading.match(PLATE);
  if (match === undefined) return undefined;
  const spoken = Array.from(match[0], (sign) => (/\d/.test(sign) ? SPEECH.digits(sign) : sign)).join(' ');
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}

// prettier-ignore
export const PORTUGUESE: Language = {
  tag: 'pt',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
  symbols: {
    ...tablesOf('pt').signs,
    versionPoint: 'ponto',
    version: 'versão',
    minus: 'menos',
    plus: 'mais',
    keys: { star: 'asterisco', hash: 'cerquilha', before: /\b(?:tecl|pression|prim|digit|disq|apert|marque|carreg|insira)/i },
    hashtag: 'hashtag',
    pause: ',',
    per: 'por',
  },
};
