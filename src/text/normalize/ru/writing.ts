// Describes how Russian is written: its tables, and the short forms that depend on their neighbours.
import { type MakeSaying, tablesOf } from '../../tables/language-tables.js';
import type { Saying, SymbolNames, Writing } from '../language.js';
import type { Magnitude, Noun } from '../quantity.js';
import type { Around } from '../reading.js';
import { MONTH_FORMS } from './calendar.js';
import { behindNumber, type Case, CASES, type Gender, inCase, noun, rowNoun } from './declension.js';
import { caseBefore, wordAhead } from './grammar.js';
import { ORDINAL_MARK } from './ordinals.js';
import { TELEPHONE } from './speech.js';

const TABLES = tablesOf('ru');

/** An entry for `noun`: adjectives are joined to the singular. */
function entryOf(gender: Gender, [one = '', ...others]: readonly string[]): string {
  return [gender, one.replaceAll(' ', '_'), ...others].join(' ');
}

/** Words written out tell their case themselves, where it is no more than one. */
function writtenCases({ forms }: Noun): [string, Case | undefined][] {
  const shown = new Map<string, Case | undefined>();
  const accusative = forms[CASES.indexOf('accusative')] ?? '';
  for (const form of forms) shown.set(form, undefined);
  if (accusative !== forms[0]) shown.set(accusative, 'accusative');
  for (const grammatical of ['dative', 'instrumental', 'prepositional'] as const) {
    shown.set(forms[CASES.length + CASES.indexOf(grammatical)] ?? '', grammatical);
  }
  return [...shown];
}

function magnitudes(): Readonly<Record<string, Magnitude>> {
  const short = TABLES.magnitudes(undefined, rowNoun);
  const written = Object.values(short).flatMap((known) =>
    writtenCases(known).map(([form, shown]): [string, Magnitude] => [
      form,
      shown === undefined ? known : { ...known, form: shown },
    ]),
  );
  return { ...short, ...Object.fromEntries(written) };
}

// Russian short forms. Nouns before a name or number stand in the case that the preposition asks for:
// на ул. Ленина, в г. Москве.

type Behind = 'name' | 'number' | 'either';

const FOLLOWS: Readonly<Record<Behind, RegExp>> = {
  name: /^ ?[«"“]?[\p{Lu}]/u,
  number: /^ ?(?:[№\d]|[IVX]+(?!\p{L})|[«"][а-яё][»"])/u,
  either: /^ ?(?:[«"“]?\p{Lu}|№|\d)/u,
};

const LONGEST_LEAD = 40; // units
/** На 3-й ул., согласно ст. 5 и п. 3: the preposition stands further away. */
const SHARED_PREPOSITION =
  /(\p{L}+) \d{1,3}-(?:й|я|ю|м) $|(\p{L}+) (?:ст|пп?|ч|гл|рис|табл|стр|подп)\. ?[\d.]{1,8}(?: \p{Lu}{2,4}){0,2} (?:и|или) $/u;

// см. ст. 5: смотри статью
const COMPARED = /(?:^|[\s(])(?:см|ср)\. ?(?:\p{L}{1,6}\. ?[\d.]{1,8}(?: и|,) )?$/iu;

/** Доставим на улицу */
const MOTION = TABLES.set('verbs of motion');

/** Case of a place name: behind в and на the prepositional, but behind a verb of motion the accusative. */
function caseOfPlace(around: Around): Case {
  const lead = around.text.slice(Math.max(0, around.start - LONGEST_LEAD), around.start);
  if (COMPARED.test(lead)) return 'accusative';
  const before =
    SHARED_PREPOSITION.exec(lead)
      ?.slice(1)
      .find((word) => word)
      ?.toLowerCase() ?? wordAhead(around);
  if (/^(?:в|во|на)$/.test(before) && MOTION.has(around.secondPreviousWord)) return 'accusative';
  if (/^(?:в|во|на|о|об|при)$/.test(before)) return 'prepositional';
  if (/^(?:с|со|до|от|из|у|около|возле|для|после|без)$/.test(before)) return 'genitive';
  if (/^(?:к|ко|по|согласно)$/.test(before)) return 'dative';
  if (/^(?:через|сквозь|про)$/.test(before)) return 'accusative';
  return /^(?:между|за|над|под|перед)$/.test(before) ? 'instrumental' : 'nominative';
}

const RANGE = /^ ?\d{1,4} ?[-–—] ?\d/u;

/** Only before what it names. */
function named(entry: string, behind: Behind): Saying {
  const known = noun(entry);
  return (around) => {
    const { text, start, end } = around;
    if (!FOLLOWS[behind].test(text.slice(end, end + 4))) return undefined;
    const part =
      behind !== 'name' &&
      /(?:^|[\s(])(?:п|пп|ч|абз)\. ?\d{1,3} ?$/u.test(text.slice(Math.max(0, start - 10), start));
    const grammatical = part ? 'genitive' : caseOfPlace(around);
    const several =
      known.gender === 'f' && /^(?:nom|acc)/.test(grammatical) && RANGE.test(text.slice(end, end + 8));
    return inCase(known.forms, several ? 'genitive' : grammatical); // страницы 5–7
  };
}

/** One of two readings, whichever fits: с. 5 is a page, с. Ивановка a village. */
function either(...sayings: readonly Saying[]): Saying {
  return (around) => {
    for (const saying of sayings) {
      const said = typeof saying === 'string' ? saying : saying(around);
      if (said !== undefined) return said;
    }
    return undefined;
  };
}

function behind(pattern: RegExp, said: string): Saying {
  return ({ text, start }) => (pattern.test(text.slice(Math.max(0, start - 12), start)) ? said : undefined);
}

function before(pattern: RegExp, said: string): Saying {
  return ({ text, end }) => (pattern.test(text.slice(end, end + 12)) ? said : undefined);
}

/** Behind a date it is the year's, before a name a city. */
const yearOrCity: Saying = either(behind(/\d{4} ?$/, 'года'), named('m город города городов', 'name'));

const OF_DEGREES =
  /^ ?(?:(?:от|до|выше|ниже|не выше|не ниже|не более|свыше|[=:<>≤≥]) ?)?[-−+]?\d[\d,.]{0,5}[^.;!?°]{0,12} ?°/u;
const TEMPERATURE = noun('f температура температуры температур');
const temperature: Saying = (around) =>
  OF_DEGREES.test(around.text.slice(around.end, around.end + 40))
    ? inCase(TEMPERATURE.forms, caseBefore(around))
    : undefined;

/** Возраст 5 л. and other forms that a number rules. */
function countedNoun(entry: string): Saying {
  const known = noun(entry);
  return ({ text, start }) => {
    const digits = /(\d+) ?$/.exec(text.slice(Math.max(0, start - 8), start))?.[1];
    return digits === undefined ? undefined : behindNumber(known, digits, 'nominative');
  };
}

const PHONE = noun('m телефон телефона телефонов');
const STATION = noun('f станция станции станций');
const phone = (around: Around): string => inCase(PHONE.forms, caseOfPlace(around));
const upper = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
const metro: Saying = (around) => `${inCase(STATION.forms, caseOfPlace(around))} метро`;

export const SYMBOLS: SymbolNames = {
  ...TABLES.signs,
  timesPower: 'на',
  versionPoint: 'точка',
  version: 'версия',
  minus: 'минус',
  plus: 'плюс',
  keys: { star: 'звёздочка', hash: 'решётка', before: /нажм|нажат|набер|набра|введ|клавиш|кнопк/i },
  hashtag: 'хештег',
  pause: ',',
};

/** "m before name": a noun and its gender. */
const DECLINED: Readonly<Record<string, MakeSaying>> = Object.fromEntries(
  (['m', 'f', 'n'] as const).flatMap((gender) =>
    (['name', 'number', 'either'] as const).map((follows): [string, MakeSaying] => [
      `${gender} before ${follows}`,
      (...forms) => named(entryOf(gender, forms), follows),
    ]),
  ),
);

const WORDS = TABLES.words({ noun: rowNoun, sayings: DECLINED });

/** Short forms with more than one reading. */
const OWN: Readonly<Record<string, Saying>> = {
  'др.': behind(/(?:^| )и $/u, 'другие'),
  'см.': either(before(/^ (?:\p{L}|\d|\()/u, 'смотри'), 'смотри'),
  'ср.': behind(/(?:^|[(;.] ?)$/u, 'сравни'),
  'пол.': either(behind(/(?:^| )во? \S{1,4} $/u, 'половине'), before(/^ [IVX]/u, 'половина')),
  'нач.': before(/^ (?:[IVX]|\d)/u, 'начало'),
  'кон.': before(/^ (?:[IVX]|\d)/u, 'конец'),
  'сер.': before(/^ (?:[IVX]|\d)/u, 'середина'),
  'лит.': before(/^ [А-Я](?!\p{L})/u, 'литера'),
  'ок.': before(/^ ?\d/u, 'около'),
  t: temperature,
  'мин.': before(/^ ?\d/u, 'минимум'),
  'прим.': either(before(/^ ?\d/u, 'примерно'), 'примечание'),
  'гг.': either(behind(/\d-?х ?$/u, 'годов'), behind(/\d-?е ?$/u, 'годы'), before(/^ \p{Lu}/u, 'города')),
  'гр.': before(/^ \p{Lu}/u, 'гражданин'),
  'ул.': either(named('f улица улицы улиц', 'either'), behind(/ая $/u, 'улица'), behind(/ой $/u, 'улице')),
  'пр.': either(
    behind(/(?:^| )и $/u, 'прочее'),
    named('m проспект проспекта проспектов', 'name'),
    behind(/\p{L} $/u, 'проспект'),
  ),
  'пр-т': either(named('m проспект проспекта проспектов', 'name'), behind(/(?:ий|ый|ой) $/u, 'проспект')),
  'пер.': either(named('m переулок переулка переулков', 'name'), behind(/\p{L}(?:ий|ый|ой) $/u, 'переулок')),
  'пл.': either(
    before(/^ ?\d{1,2} \p{Lu}\p{Ll}/u, 'площадь'),
    named('f площадь площади площадей', 'name'),
    behind(/ая $/u, 'площадь'),
  ),
  'наб.': either(
    named('f набережная набережной набережных', 'name'),
    before(/^ (?:реки|канала)/u, 'набережная'),
    behind(/ая $/u, 'набережная'),
  ),
  'ш.': either(named('n шоссе', 'name'), behind(/ое $/u, 'шоссе')),
  'г.': yearOrCity,
  'гор.': either(
    named('m город города городов', 'name'),
    before(/^ \p{Ll}+[ая](?!\p{L})/u, 'городская'),
    before(/^ \p{Ll}+[бвгджзклмнпрстфхцчшщ](?!\p{L})/u, 'городской'),
  ),
  'авт.': before(/^ ?\d/u, 'автобус'),
  'с.': either(named('f страница страницы страниц', 'number'), named('n село села сёл', 'name')),
  'д.': either(named('m дом дома домов', 'number'), named('f деревня деревни деревень', 'name')),
  'стр.': either(
    behind(/(?:д|дом|корп|к)\.? ?\d{1,4}\p{L}?,? ?$/u, 'строение'),
    named('f страница страницы страниц', 'number'),
  ),
  'эт.': either(
    behind(/\d-м ?$/, 'этаже'),
    behind(/\d-го ?$/, 'этажа'),
    named('m этаж этажа этажей', 'number'),
    behind(/\d(?:-й)? ?$/, 'этаж'),
  ),
  'р.': either(before(/^ \p{Lu}/u, 'река'), behind(/г\. ?$/u, 'рождения')),
  'о.': before(/^ \p{Lu}\p{Ll}{2}/u, 'остров'),
  'м.': before(/^ [«"]?\p{Lu}\p{Ll}{2}/u, 'метро'),
  'ст. м.': metro,
  'ст. метро': metro,
  'в.': behind(/\d{4} ?г\. ?$/u, 'выпуска'),
  'т.': either(named('m том тома томов', 'number'), before(/^ \p{Lu}/u, 'товарищ')),
  'гл.': either(named('f глава главы глав', 'number'), before(/^ \p{Ll}/u, 'главный')),
  'пп.': before(/^ ?\d/u, 'пункты'),
  'ст.': either(
    behind(/\d[/,]\d $/, 'стакана'),
    named('f статья статьи статей', 'number'),
    countedNoun('m стакан стакана стаканов'),
    named('f станция станции станций', 'name'),
    before(/^ \p{Ll}/u, 'старший'),
  ),
  'упр.': named('n упражнение упражнения упражнений', 'number'),
  'ком.': named('f комната комнаты комнат', 'number'),
  'тел.': phone,
  'Тел.': (around) => upper(phone(around)),
  'л.': countedNoun('m год года лет'),
  'род.': before(/^ (?:\d|в )/u, 'родился'),
  'ум.': before(/^ (?:\d|в )/u, 'умер'),
  'св.': either(before(/^ ?\d/u, 'свыше'), before(/^ \p{Lu}\p{Ll}+(?:а|я|ого|его) /u, 'святого')),
  'эл.': before(/^ (?:почт|адрес)/u, 'электронный'),
};

export const WRITING: Writing = {
  ...WORDS,
  magnitudes: magnitudes(),
  abbreviations: { ...WORDS.abbreviations, ...OWN },
  numbers: { decimal: ',', grouping: [' ', '.', "'"] },
  dates: {
    ...TABLES.dates,
    months: MONTH_FORMS,
    orders: { '.': 'dmy', '/': 'dmy', '-': 'dmy' },
    named: [], // its own recognisers know them: see calendar.ts
    dayMark: '',
    between: ' ?',
  },
  times: { ...TABLES.times, marks: [':'] },
  telephone: TELEPHONE,
  fractionMark: '-(?:ая|я|ую|ю|ой|ей|й|х)',
  ordinalMark: ORDINAL_MARK,
  decadeMark: '',
};
