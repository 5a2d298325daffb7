// Figures that Russian reads by what stands around them: 3.5 as in English, 12,50 рубля, 2:1, 10-7=3.
import { isWordAt } from '../characters.js';
import { numeralOf } from '../numerals.js';
import { type Candidate, certain, type Found, type Reading, wordBefore } from '../reading.js';
import { Quantities } from '../recognise/quantities.js';
import type { Rules } from '../shared-forms.js';
import type { DigitRule } from './digit-rules.js';
import { cardinal, sayGroup } from './numbers.js';
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';
import { PREPOSITIONS } from './grammar.js';

const POINTED = /(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|\d+\.\d+)(?!\d|[.,:/]\d)/y;
const RATIO = /(\d{1,3}):(\d{1,6})(?![\d:]|[.,]\d)/y;
const NAMED_MONEY =
  /(\d{1,9}(?: \d{3}){0,3})[,.](\d\d) (рубл(?:ь|я|ей)|доллар(?:|а|ов)|евро|грив(?:на|ны|ен))(?!\p{L})/uy;
const NAMES: Readonly<Record<string, string>> = { руб: 'RUB', дол: 'USD', евр: 'EUR', гри: 'UAH' };

/** Recognises numbers in English notation, which programs write, too. */
const RUSSIAN_PARTS = { tag: 'ru', writing: WRITING, speech: SPEECH, symbols: SYMBOLS };
const english = new Quantities({
  ...RUSSIAN_PARTS,
  writing: { ...WRITING, numbers: { decimal: '.', grouping: [',', ' '] } },
});

function isInside({ text, at }: Reading): boolean {
  return /[.,:/]/.test(text[at - 1] ?? '');
}

/** 3.5 ГГц is a decimal, Python 3.11 and версия 2.5 are versions. */
function pointed(reading: Reading): Candidate | undefined {
  const { text, at, runEnd } = reading;
  if (!/[.,]/.test(text[runEnd] ?? '') || isInside(reading) || reading.match(POINTED) === undefined)
    return undefined;
  const found = english.atDigit.recognise(reading);
  if (found?.rule !== 'decimal' || !isNameBefore(reading)) return found;
  const said = text.slice(at, found.end).split('.').map(sayGroup).join(' точка ');
  return { end: found.end, spoken: said, rule: 'version', isCertain: true };
}

function isNameBefore({ text, at }: Reading): boolean {
  const before = wordBefore(text, text[at - 1] === '-' ? at - 1 : at);
  if (
    /^(?:верси|релиз|обновлени|пункт|раздел|таблиц|рисун)/iu.test(before) ||
    /^[A-Z]|^(?:ГОСТ|ОКВЭД|ОКПД|СП|СНиП|ТУ)$/.test(before)
  )
    return true;
  return /(?:^|[\s(])(?:п|пп|подп|рис|табл|разд|гл|ст|v|вер|ver)\. ?$|§ ?$/iu.test(
    text.slice(Math.max(0, at - 8), at),
  );
}

/** $3.50 */
function pointedMoney(reading: Reading): Candidate | undefined {
  const { text, at } = reading;
  if (!/^[-−]?[$€£¥₽]\d/.test(text.slice(at, at + 3)) || isWordAt(text, at - 1)) return undefined;
  const digits = at + text.slice(at, at + 3).search(/\d/);
  return reading.match(POINTED, digits) === undefined ? undefined : english.atMark.recognise(reading);
}

/** 12,50 рубля: with two decimals the name counts hundredths, too. */
function namedMoney(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(NAMED_MONEY);
  const [written = '', whole = '', decimals = '', name = ''] = match ?? [];
  const currency = WRITING.currencies[NAMES[name.slice(0, 3)] ?? ''];
  if (match === undefined || currency === undefined) return undefined;
  const end = reading.at + written.length;
  const number = { ...numeralOf(whole.replaceAll(' ', '')), decimals };
  return { end, spoken: SPEECH.money({ number }, currency, reading.around(end)), rule: 'currency' };
}

const LONGEST_GAME = 48; // units before a score that may tell of a game
const ANNOUNCED = /(?:счёт|счет|счёте|счётом|счетом|результат)\p{L}{0,3}:? ?(?:[—–-] ?)?$/iu;

/** «Спартак» — ЦСКА — 2:2 */
const TEAMS = /[»\p{L}] [—–-] [«\p{Lu}][^:,.!?]{1,20}[»\p{L}] ?[—–-]? $/u;

/** Счёт 2:1 is "два один", a ratio 16:9 "шестнадцать к девяти". */
function ratio(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = isInside(reading) ? undefined : reading.match(RATIO);
  const [written = '', one = '', two = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = at + written.length;
  const around = reading.around(end);
  const behind = [around.nextWord, around.secondNextWord].map((word) => word.toLowerCase());
  const near =
    text
      .slice(Math.max(0, at - LONGEST_GAME), at)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  const isNamed = [...near, ...behind].some((word) => WRITING.scoreWords.has(word));
  const rows =
    /\d:\d{1,2}(?: \(|, )$/.test(text.slice(Math.max(0, at - 8), at)) ||
    TEAMS.test(text.slice(Math.max(0, at - LONGEST_GAME), at));
  const game = two === '0' || isNamed || rows || ANNOUNCED.test(text.slice(Math.max(0, at - 16), at));
  const scale = /^(?:соотношени|пропорци|масштаб|курс|формат|отношени)/.test(around.previousWord);
  const clock = !scale && /^\d\d$/.test(two) && Number(two) < 60 && Number(one) < 25;
  if (clock && (!game || PREPOSITIONS.has(around.previousWord))) return undefined;
  if (game) return { end, spoken: `${cardinal(one)} ${cardinal(two)}`, rule: 'score' };
  if (/^ ?=/.test(text.slice(end, end + 2))) {
    return { end, spoken: `${cardinal(one)} разделить на ${cardinal(two)}`, rule: 'math' };
  }
  return { end, spoken: `${cardinal(one)} к ${cardinal(two, 'dative')}`, rule: 'score' };
}

const WORTH = /=(?= ?\d[\d ]{0,8}(?:,\d{1,2})? ?(?:\p{L}|[₽$€%]))/uy;

/** 1 балл = 1 ₽: both sides are counted. */
function worth(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const isCounted = /\d ?(?:\p{L}{1,16}\.?|[₽$€]) ?$/u.test(text.slice(Math.max(0, at - 24), at));
  const isSum = /[+×÷*=√²³·]/u.test(text.slice(Math.max(0, at - 32), at));
  if (!isCounted || isSum || reading.match(WORTH) === undefined) return undefined;
  return { end: at + 1, spoken: 'это', rule: 'math', isCertain: true };
}

/** In the order in which the language asks them. */
export const figureRules = {
  behindDigits: [
    [certain(ratio), 1, 3, /:/, /^:/],
    [namedMoney, 1, 9, /[,.\d]/, /^(?:[,.]\d| \d{3})/],
    [pointed, 1, 99, /[.,]/, /^[.,]\d/],
  ],
  atMark: [
    [/=/, worth],
    [/[-−$€£¥₽]/, pointedMoney],
  ],
} satisfies Rules<DigitRule>;
