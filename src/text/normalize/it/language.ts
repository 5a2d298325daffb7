// Assembles Italian as spoken in Italy, and orders its own recognisers before the shared ones.
// It also reads Roman numerals: XX secolo, capitolo IV. Kings and chapters take ordinals.
import type { Language } from '../language.js';
import type { Found, Reading } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { commitHash, currencyPair, letterPair } from '../shared-codes.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark } from '../shared-forms.js';
import { clockRules, offset } from './clock.js';
import { andAHalf, countRules, roundMillions } from './counts.js';
import { dateRules, shortDate, shortWeekday, shortYear } from './dates.js';
import { billions, figureRules, namedMoney, pointed, pointedMoney } from './figures.js';
import { words } from './grammar.js';
import { beforePostcode, nameRules, province, taxCode } from './names.js';
import { cardinal, type Gender, ordinal } from './numbers.js';
import { keys, phraseRules, verse, windward } from './phrases.js';
import { area, by, chemical, signRules } from './signs.js';
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';

const NUMERAL = /([IVXLCDM]{1,9})(?:[°ºª]|-?esim[oa])?(?![\p{L}\p{N}]|\.\p{L})/uy;
const ROMAN = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;
const FIRST_CENTURY = /secoli [IVXLC]{1,7} ?[-–] ?$/iu; // secoli XV-XVI
const AND_NEXT = /^ ?(?:e|ed|o|-|–|\/|,) ?(?:il |l['’])?[IVXLC]{1,7} (\p{L}{3,})/u;

const MONTHS = words(
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
);
const RULERS =
  words(`luigi enrico carlo francesco napoleone filippo giacomo edoardo giorgio guglielmo riccardo paolo pio benedetto gregorio leone innocenzo clemente
  giovanni nicola alessandro federico ferdinando alfonso alberto leopoldo emanuele umberto juan hassan ramses ramsete tolomeo urbano bonifacio cristiano gustavo
  amedeo ottone corrado giulio sisto adriano massimiliano mehmed solimano haakon harald cosimo baldovino pietro ivan eugenio callisto martino onorio costantino giuseppe
  felipe abdullah abdallah teodosio valentiniano dario serse artaserse mitridate ludovico lorenzo ranuccio celestino stefano niccolò silvestro pasquale marcello vaticano lateranense`);
const QUEENS = words('elisabetta caterina margherita maria isabella cristina giovanna cleopatra anna');
// prettier-ignore
const CHAPTERS: Readonly<Record<string, Gender>> = {
  capitolo: 'm', cap: 'm', libro: 'm', volume: 'm', vol: 'm', tomo: 'm', atto: 'm', canto: 'm', titolo: 'm', secolo: 'm', sec: 'm', secoli: 'm', secc: 'm', millennio: 'm', comma: 'm', quadro: 'm', municipio: 'm', grado: 'm', concilio: 'm',
  parte: 'f', scena: 'f', sezione: 'f', legislatura: 'f', circoscrizione: 'f', edizione: 'f', dinastia: 'f', epoca: 'f', categoria: 'f', declinazione: 'f', appendice: 'f', internazionale: 'f',
};
const NUMBERED = words(
  'tipo fase livello rocky apollo mark figura tabella tavola allegato punto windows episodio guerre punta classe gruppo articolo art paragrafo salmo expo lotto serie',
);
// prettier-ignore
const COUNTED: Readonly<Record<string, Gender>> = {
  secolo: 'm', sec: 'm', secc: 'm', millennio: 'm', piano: 'm', congresso: 'm', concilio: 'm', municipio: 'm', reich: 'm', reggimento: 'm', battaglione: 'm', torneo: 'm', convegno: 'm', premio: 'm', anniversario: 'm', centenario: 'm', posto: 'm', turno: 'm', girone: 'm', grado: 'm',
  liceo: 'm', governo: 'm', vertice: 'm', forum: 'm', festival: 'm', campionato: 'm', trofeo: 'm', memorial: 'm', trimestre: 'm', semestre: 'm', quadrimestre: 'm', canto: 'm', capitolo: 'm', libro: 'm', atto: 'm', circolo: 'm', distretto: 'm', corpo: 'm', emendamento: 'm', rapporto: 'm', arrondissement: 'm', corso: 'm', ciclo: 'm', raduno: 'm', meeting: 'm', incontro: 'm', comma: 'm',
  edizione: 'f', guerra: 'f', legislatura: 'f', giornata: 'f', circoscrizione: 'f', dinastia: 'f', repubblica: 'f', legione: 'f', armata: 'f', divisione: 'f', brigata: 'f', olimpiade: 'f', conferenza: 'f', sessione: 'f', commissione: 'f', sezione: 'f', assemblea: 'f', internazionale: 'f', crociata: 'f', parte: 'f', media: 'f', elementare: 'f', superiore: 'f', domenica: 'f',
  stagione: 'f', rassegna: 'f', mostra: 'f', fase: 'f', categoria: 'f', corte: 'f', scena: 'f', biennale: 'f', festa: 'f', sinfonia: 'f', classe: 'f', tappa: 'f', zona: 'f', fiera: 'f', asta: 'f', udienza: 'f', riunione: 'f', punica: 'f',
};

function own(noun: string): Gender | undefined {
  return Object.hasOwn(COUNTED, noun) ? COUNTED[noun] : undefined;
}

/**
 * Reads a Roman numeral by the word after it, which takes precedence: XX secolo, XX Settembre, XIX e XX
 * secolo.
 */
function before(reading: Reading, end: number, value: string): string | undefined {
  const around = reading.around(end);
  const next = around.nextWord.toLowerCase();
  if (MONTHS.has(next)) return Number(value) > 31 ? undefined : value === '1' ? 'primo' : cardinal(value);
  const shared = AND_NEXT.exec(reading.text.slice(end, end + LOOK_AHEAD))?.[1]?.toLowerCase() ?? '';
  const gender = own(next) ?? own(shared);
  return gender === undefined ? undefined : ordinal(value, gender);
}

const LOOK_AHEAD = 40; // units

/** Reads a Roman numeral by the word before it: Luigi XIV, Elisabetta II, capitolo IV, tipo II. */
function behind(reading: Reading, value: string): string | undefined {
  const around = reading.around(reading.at);
  const word = FIRST_CENTURY.test(around.text.slice(Math.max(0, around.start - 24), around.start))
    ? 'secoli'
    : around.previousShort;
  if (QUEENS.has(word)) return ordinal(value, 'f');
  if (RULERS.has(word)) return ordinal(value);
  const gender = Object.hasOwn(CHAPTERS, word) ? CHAPTERS[word] : undefined;
  if (gender !== undefined) return ordinal(value, gender);
  return NUMBERED.has(word) ? cardinal(value) : undefined;
}

function roman(reading: Reading): Found | undefined {
  const match = reading.match(NUMERAL);
  const [written = '', letters = ''] = match ?? [];
  if (match === undefined || !ROMAN.test(letters)) return undefined;
  const end = reading.at + written.length;
  const value = String(romanValue(letters));
  const marked = written.length > letters.length;
  const spoken =
    before(reading, end, value) ??
    behind(reading, value) ??
    (marked ? ordinal(value, /[ªa]$/.test(written) ? 'f' : 'm') : undefined);
  return spoken === undefined ? undefined : { end, spoken, rule: 'roman' };
}

const traded = currencyPair({
  EUR: 'euro',
  USD: 'dollaro',
  GBP: 'sterlina',
  JPY: 'yen',
  CHF: 'franco svizzero',
  CNY: 'yuan',
  BTC: 'bitcoin',
});

/** Recognisers by the text behind the digits. The first that matches reads the token. */
const atDigit = [
  behindDigits([
    [/[a-f]/, commitHash(SPEECH)],
    ...phraseRules.behindDigits,
    ...signRules.behindDigits,
    ...dateRules.behindDigits,
    ...countRules.behindDigits,
    ...signRules.behindDigitsLater,
    [/[-–]/, beforePostcode],
    [/\./, billions],
    ...clockRules.behindDigits,
    ...figureRules.behindDigits,
    ...countRules.behindDigitsLater,
    ...signRules.behindDigitsLast,
    [/\//, shortDate],
    [/[\d,.'’]/, namedMoney],
    [/[,xX×]/, area],
    [/[\d.]/, roundMillions],
    ...nameRules.behindDigits,
    [/[.,]/, pointed],
  ]),
];

const atLetter = [
  byFirstLetter([
    ...phraseRules.atLetter,
    [/[A-Z]/, traded, /\//],
    [/[A-Z]/, letterPair(SPEECH), /\//],
    [/[NSEO]/, windward],
    [/[A-Z]/, chemical, /[₀-₉]/],
    ...nameRules.atLetter,
    ...phraseRules.atLetterLater,
    [/[A-Z]/, taxCode, /\d/],
    [/[lmgvsd]/i, shortWeekday],
    ...clockRules.atLetter,
    [/[IVXLCDM]/, roman],
    [/[GELNDSQIMACRFT]/, verse, /[.\d]/],
    [/x/i, by, /\d/],
    ...nameRules.atLetterLater,
  ]),
];

const atMark = [
  byMark([
    [/[#*]/, keys],
    ...signRules.atMark,
    [/\//, betweenAmounts],
    [/['’]/, shortYear],
    [/½/, andAHalf],
    [/[-−+]/, offset],
    [/[-−$€£¥]/, pointedMoney],
    [/\(/, province],
  ]),
];

export const ITALIAN: Language = {
  tag: 'it',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
