// Russian ordinals in figures: 5-й этаж, 90-е годы, на 3 этаже, 25-летие, 5-ти.
import type { Around, Found, Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import {
  AWARDED,
  COUNTED_ALONE,
  COUNTED_AS_ONE,
  COUNTED_TOGETHER,
  OF_RANK,
  ORDERED,
  PREPOSITIONS,
  RANKS,
  wordAhead,
} from './grammar.js';
import { inCase, noun, pluralOf, type Case } from './declension.js';
import type { DigitRule } from './digit-rules.js';
import { cardinal, ordinal, prefix, together, type Agreement } from './numbers.js';
import { isDecade } from './years.js';

/** Source of an expression: the end of an ordinal's word behind its digits. */
export const ORDINAL_MARK =
  '-(?:мью|тью|ого|его|ому|ему|ыми|ими|ый|ий|ой|го|му|ым|им|ом|ем|ая|ую|ью|ое|ье|ые|ых|их|ми|мя|ти|ро|й|м|я|ю|е|х|и)|(?:ый|ой|й|ого|го|ому|му|ая|ую)';

const DIRECT_FEMININE = /(?:[аяь]|ая|яя)$/;
const OBLIQUE_FEMININE = /(?:[еиы]|ой|ей)$/;

/** Spoken form of digits with an ending, chosen by the ending and the next noun. */
export function marked(digits: string, around: Around, mark: string): string | undefined {
  const next = around.nextWord.toLowerCase();
  const end = mark.replace('-', '');
  const counted = asCardinal(digits, end, next);
  if (counted !== undefined) return counted;
  switch (end) {
    case 'й':
    case 'ый':
    case 'ий':
    case 'ой':
      if (next === 'ул' || isFeminineRuled(around)) return ordinal(digits, 'genitive', 'f');
      return OBLIQUE_FEMININE.test(next) && isFeminineAsked(around, next)
        ? ordinal(digits, 'genitive', 'f')
        : ordinal(digits);
    case 'го':
    case 'ого':
    case 'его':
      return ordinal(digits, 'genitive');
    case 'му':
    case 'ому':
    case 'ему':
      return ordinal(digits, 'dative');
    case 'ым':
    case 'им':
      return /(?:ам|ям)$/.test(next) ? ordinal(digits, 'dative', 'p') : ordinal(digits, 'instrumental');
    case 'м':
    case 'ом':
    case 'ем':
      return ordinal(digits, caseOfM(around, next));
    case 'я':
    case 'ая':
    case 'ья':
      return ordinal(digits, 'nominative', 'f');
    case 'ю':
    case 'ую':
    case 'ью':
      return ordinal(digits, 'accusative', 'f');
    case 'е':
    case 'ое':
    case 'ье':
    case 'ые':
      return ordinal(
        digits,
        'nominative',
        end === 'ые' || (end === 'е' && !isOfWeekday(around) && isPluralAhead(digits, next)) ? 'p' : 'n',
      );
    case 'х':
    case 'ых':
    case 'их':
      return ordinal(digits, 'genitive', 'p');
    case 'ми':
    case 'ыми':
    case 'ими':
      return ordinal(digits, 'instrumental', 'p');
    default:
      return undefined;
  }
}

const WEEKDAY =
  /(?<!\p{L})(?:понедельник|вторник|сред[ау]|четверг|пятниц[ау]|суббот[ау]|воскресенье|пн|вт|ср|чт|пт|сб|вс)\.?,? $/iu;

/** Четверг, 20-е: a day and no decade. */
function isOfWeekday({ text, start }: Around): boolean {
  return WEEKDAY.test(text.slice(Math.max(0, start - 16), start));
}

/** 5-ти, 2-х, 3-мя are cardinals. */
function asCardinal(digits: string, end: string, next: string): string | undefined {
  const unit = Number(digits.slice(-1));
  if (end === 'ро') return together(digits);
  if (end === 'мью' || end === 'тью') return cardinal(digits, 'instrumental');
  if (/^[ое]?е$/.test(end) && COUNTED_TOGETHER.has(next)) return together(digits);
  const few = pluralOf(digits) === 'few';
  if (end === 'х' && few && !/^(?:год|гг)/.test(next)) return cardinal(digits, 'genitive');
  if (end === 'мя' && few) return cardinal(digits, 'instrumental');
  if (end === 'м' && few && /(?:ам|ям)$/.test(next)) return cardinal(digits, 'dative');
  if (end === 'ти' || end === 'и') return cardinal(digits, 'genitive');
  return end === 'ми' && (unit === 7 || unit === 8) ? cardinal(digits, 'genitive') : undefined;
}

/** В 5-й главе, but 5-й и 6-й этажи. */
function isFeminineAsked(around: Around, next: string): boolean {
  if (DIRECT_FEMININE.test(next)) return false;
  return PREPOSITIONS.has(wordAhead(around)) || /(?:ой|ей|ии|[гкхжшщчц]е|[нтдрлсв]е)$/.test(next);
}

const IN_ROW = /^(?:(?:, | и | или )\d{1,3}(?:\+\d)?-й){0,5} \p{L}{2,24}[ая](?:м|х|ми)(?!\p{L})/u;

/** С 3-й, на 1-й и 2-й линиях: a masculine ordinal would end in another letter. */
function isFeminineRuled(around: Around): boolean {
  const rules = /^(?:со?|до|из|от|у|около|после|для|без|ко?|об?|при|между|перед)$/.test(wordAhead(around));
  return rules || IN_ROW.test(around.text.slice(around.end, around.end + 64));
}

function caseOfM(around: Around, next: string): Case {
  if (/(?:ом|ем|ём|ым)$/.test(next)) return 'instrumental';
  if (next !== 'и' && /[еиу]$|[ая]х$/.test(next)) return 'prepositional';
  const first = /(\p{L}+) \d{1,3}-м(?:,| и| или) $/u.exec(
    around.text.slice(Math.max(0, around.start - 24), around.start),
  );
  const before = first?.[1]?.toLowerCase() ?? wordAhead(around); // на 2-м и 3-м
  return /^(?:в|во|на|о|об|при)$/.test(before) ? 'prepositional' : 'instrumental';
}

function isPluralAhead(digits: string, next: string): boolean {
  return isDecade(digits, next) || /^(?:сутки|выборы|игры|роды|ворота)$/.test(next);
}

type Endings = Readonly<Record<string, Case>>;
const MASCULINE: Endings = {
  '': 'nominative',
  ь: 'nominative',
  а: 'genitive',
  я: 'genitive',
  у: 'dative',
  ю: 'dative',
  ом: 'instrumental',
  ем: 'instrumental',
  е: 'prepositional',
};
const FEMININE: Endings = {
  а: 'nominative',
  я: 'nominative',
  ь: 'nominative',
  у: 'accusative',
  ю: 'accusative',
  ы: 'genitive',
  и: 'genitive',
  е: 'prepositional',
  ой: 'instrumental',
  ей: 'instrumental',
};
const NEUTER: Endings = {
  о: 'nominative',
  е: 'nominative',
  а: 'genitive',
  я: 'genitive',
  у: 'dative',
  ю: 'dative',
  ом: 'instrumental',
  ем: 'instrumental',
  и: 'prepositional',
};

interface Ordered {
  readonly case: Case;
  readonly gender: Agreement;
}

const FORMS = new Map<string, Ordered>(
  [...ORDERED].flatMap(([word, gender]) => {
    const stem = gender === 'm' && !/[ьй]$/.test(word) ? word : word.slice(0, -1);
    const endings = gender === 'm' ? MASCULINE : gender === 'f' ? FEMININE : NEUTER;
    const fitting = Object.entries(endings).filter(([end]) => end !== 'ь' || word.endsWith('ь')); // 12 недель
    return fitting
      .map(([end, grammatical]): [string, Ordered] => [
        stem + end,
        { case: word === stem + end ? 'nominative' : grammatical, gender },
      ])
      .concat([[word, { case: 'nominative', gender }]]);
  }),
);
FORMS.set('окне', { case: 'prepositional', gender: 'n' }).set('месте', {
  case: 'prepositional',
  gender: 'n',
});
FORMS.set('числе', { case: 'prepositional', gender: 'n' }).set('пути', {
  case: 'prepositional',
  gender: 'm',
});

const SMALL_NUMBER = /\d{1,3}(?= \p{Ll})/uy;

const EACH: Readonly<Record<string, Ordered>> = {
  каждый: { case: 'nominative', gender: 'm' },
  каждого: { case: 'genitive', gender: 'm' },
  каждому: { case: 'dative', gender: 'm' },
  каждым: { case: 'instrumental', gender: 'm' },
  каждом: { case: 'prepositional', gender: 'm' },
  каждая: { case: 'nominative', gender: 'f' },
  каждую: { case: 'accusative', gender: 'f' },
  каждой: { case: 'genitive', gender: 'f' },
  каждое: { case: 'nominative', gender: 'n' },
};

/** 5 этаж, на 3 этаже, на 2 путь: a noun in the singular that the number cannot count. */
function beforeOrdered(reading: Reading): Found | undefined {
  const match = reading.match(SMALL_NUMBER);
  if (match === undefined || /[.,:/-]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const [digits] = match;
  const end = reading.at + digits.length;
  const around = reading.around(end);
  const each = Object.hasOwn(EACH, around.previousWord) ? EACH[around.previousWord] : undefined;
  if (each !== undefined && Number(digits) > 1)
    return { end, spoken: ordinal(digits, each.case, each.gender), rule: 'ordinal' }; // каждый 5 житель
  const ordered = FORMS.get(around.nextWord);
  if (ordered === undefined || digits.startsWith('0')) return undefined;
  const grammatical = caseOf(ordered, digits, around);
  return grammatical === undefined
    ? undefined
    : { end, spoken: ordinal(digits, grammatical, ordered.gender), rule: 'ordinal' };
}

/** Undefined where the noun is counted: 3 этажа, 2 места. */
function caseOf({ case: shown, gender }: Ordered, digits: string, around: Around): Case | undefined {
  const before = wordAhead(around);
  const plural = pluralOf(digits);
  if (RANKS.test(around.nextWord) && OF_RANK.test(before)) return 'genitive';
  if (plural === 'one' && shown !== 'prepositional' && COUNTED_ALONE.test(around.nextWord)) return undefined;
  if (digits === '1' && around.nextWord === 'комнате') return undefined;
  const ranked =
    AWARDED.test(before) ||
    (before === '' && /^ [—–]/.test(around.text.slice(around.end + 6, around.end + 8)));
  if (around.nextWord === 'место' && plural === 'one' && !ranked) return undefined;
  if (shown === 'genitive') {
    if (!/^(?:с|со|до|из|от|у|около|после|для|без)$/.test(before))
      return plural === 'many' && before !== '' ? 'genitive' : undefined;
    return 'genitive'; // counted, the noun would be plural
  }
  if (shown === 'nominative' && plural === 'one' && COUNTED_AS_ONE.has(around.nextWord)) return undefined;
  if (shown === 'prepositional' && gender === 'f' && /^(?:к|ко|по)$/.test(before)) return 'dative';
  if (shown === 'dative' && /^(?:в|на)$/.test(before)) return 'prepositional'; // на 2 пути, в 3 ряду
  return shown;
}

const SCHOOL_CLASS = /(\d{1,2})(?: ?["«“„']?([А-Я])["»”']?)(?= (класс\p{L}{0,3})(?!\p{L}))/uy;

/** Ученик 9 «А» класса, в 5Б классе. */
function schoolClass(reading: Reading): Found | undefined {
  const match = reading.match(SCHOOL_CLASS);
  const [written = '', digits = '', letter = '', noun = ''] = match ?? [];
  const ordered = FORMS.get(noun);
  if (match === undefined || ordered === undefined || digits.startsWith('0')) return undefined;
  const around = reading.around(reading.at + written.length);
  const grammatical = caseOf(ordered, digits, around) ?? ordered.case;
  const tail = written.slice(digits.length).trim();
  const spoken = `${ordinal(digits, grammatical)} ${tail === letter ? letter : tail}`;
  return { end: reading.at + written.length, spoken, rule: 'ordinal' };
}

const CLASS_ALONE = /([1-9]|1[01]) ?["«“„]([А-Я])["»”](?! класс)/uy;
const CASE_OF_CLASS: readonly (readonly [before: RegExp, shown: Case])[] = [
  [/(?:пер[её]\p{L}+|поступ\p{L}+|зачисл\p{L}+) в $/iu, 'accusative'],
  [/(?<!\p{L})(?:во?|об?|при) $/iu, 'prepositional'],
  [/(?<!\p{L})(?:из|для|от|у|до|со?|учени\p{L}{1,5}|родител\p{L}{1,3}|учител\p{L}{1,3}) $/iu, 'genitive'],
  [/(?<!\p{L})ко? $/iu, 'dative'],
];

/** Собрание в 7 «Б» */
function classAlone(reading: Reading): Found | undefined {
  const match = reading.match(CLASS_ALONE);
  const [written = '', digits = ''] = match ?? [];
  const { text, at } = reading;
  const before = match && text.slice(Math.max(0, at - 32), at);
  const shown = before && CASE_OF_CLASS.find(([pattern]) => pattern.test(before))?.[1];
  if (!shown) return undefined;
  const spoken = `${ordinal(digits, shown)}${written.slice(digits.length)}`;
  return { end: at + written.length, spoken, rule: 'ordinal' };
}

const YEARS_OF_STUDY = /(\d{1,2}) ?[-–—] ?(\d{1,2})(?= (?:курсов|классов)(?!\p{L}))/uy;
const STUDYING = /^(?:студент|уче?ни|уча|школьник|дет|аспирант|выпускник|ребят|для)/;

/** Ученики 5–7 классов. */
function yearsOfStudy(reading: Reading): Found | undefined {
  const match = reading.match(YEARS_OF_STUDY);
  if (match === undefined || !STUDYING.test(reading.around(reading.at).previousWord)) return undefined;
  const ends = [match[1] ?? '', match[2] ?? ''].map((digits) => ordinal(digits, 'genitive'));
  return { end: reading.at + match[0].length, spoken: ends.join('-'), rule: 'range' };
}

const KILOMETRE = /(\d{1,4})-?(й|м|го|му) км(?!\p{L}|\/)/uy;
const KILOMETRES: Readonly<Record<string, readonly [Case, string]>> = {
  й: ['nominative', 'километр'],
  м: ['prepositional', 'километре'],
  го: ['genitive', 'километра'],
  му: ['dative', 'километру'],
};

/** На 141-м км. */
function kilometre(reading: Reading): Found | undefined {
  const match = reading.match(KILOMETRE);
  const [written = '', digits = '', mark = ''] = match ?? [];
  const [grammatical, name] = KILOMETRES[mark] ?? [];
  if (match === undefined || grammatical === undefined || name === undefined) return undefined;
  return {
    end: reading.at + written.length,
    spoken: `${ordinal(digits, grammatical)} ${name}`,
    rule: 'ordinal',
  };
}

const STOREY = /(\d{1,2})\/(\d{1,2}) ?(?:эт\.?|этаж)(?!\p{L})/uy;

/** 5/9 эт.: the fifth floor of nine. */
function storey(reading: Reading): Found | undefined {
  const match = reading.match(STOREY);
  const [written = '', floor = '', of = ''] = match ?? [];
  if (match === undefined || Number(floor) < 1) return undefined;
  const spoken = `${ordinal(floor)} этаж из ${cardinal(of, 'genitive')}`;
  return { end: reading.at + written.length, spoken, rule: 'ordinal' };
}

const COMPOUND =
  /(\d{1,4})(?:,5)?[-–](?:(?:х|ти|и|ми)[- ])?(\p{Ll}{0,12}(?:летн|лети|лет[а-я]|этажн|комнатн|дневн|месячн|часов|минутн|секундн|метров|километров|литров|процентн|кратн|местн|тысячн|миллионн|градусн|звёздочн|звездочн|балльн|очков|томн|значн|мерн|угольн|струнн|ступенчат|ядерн|дюймов|битн|рублёв|рублев|долларов|евров|страничн|листов|вагонн|квартирн|палубн|тактн|строчн|буквенн|цветн|сантиметров|миллиметров|миллилитров|килограммов|гектарн|киловатт|мегапиксел|гигабайт|годичн|недельн|тонн|ваттн|вольтов|граммов|разов|дверн|колёсн|этажк|комнатк|скоростн|полосн|цилиндров|канальн)\p{Ll}{0,6})(?!\p{L})/uy;
const PERCENT =
  /(\d{1,3})(?:[,.](\d{1,2}))? ?%-?н?(ый|ого|ому|ым|ом|ая|ой|ую|ое|ые|ых|ыми|й|го|му|м|я|ю|е|х)(?!\p{L})/uy;

/** 25-летие двадцатипятилетие, 5-этажный пятиэтажный. */
function compound(reading: Reading): Found | undefined {
  const match = reading.match(COMPOUND);
  const [written = '', digits = '', word = ''] = match ?? [];
  if (match === undefined || word.length < 4 || digits.startsWith('0')) return undefined;
  const half = written.slice(digits.length).startsWith(',5');
  if (half && digits !== '1') return undefined;
  const first = half ? 'полутора' : digits === '100' && word.startsWith('лети') ? 'сто' : prefix(digits);
  return { end: reading.at + written.length, spoken: first + word, rule: 'ordinal' };
}

const FULL_ENDINGS: Readonly<Record<string, string>> = {
  й: 'ый',
  го: 'ого',
  му: 'ому',
  м: 'ом',
  я: 'ая',
  ю: 'ую',
  е: 'ое',
  х: 'ых',
};

/** 20%-ный раствор: двадцатипроцентный. */
function percentAdjective(reading: Reading): Found | undefined {
  const match = reading.match(PERCENT);
  const [written = '', digits = '', decimals, ending = ''] = match ?? [];
  if (match === undefined || decimals !== undefined) return undefined;
  return {
    end: reading.at + written.length,
    spoken: `${prefix(digits)}процентн${FULL_ENDINGS[ending] ?? ending}`,
    rule: 'percent',
  };
}

const ROOMS =
  /(\d)-?к(?:омн)?\.? ?(кв(?:артир\p{L}{1,3}|\.(?! ?м))|(?=студи)|(?<=комн\. ?)(?=[^\p{L}])|(?<=комн\. )(?=\p{Ll}))/uy;
const ENDINGS: Readonly<Record<string, string>> = {
  а: 'ая',
  у: 'ую',
  ы: 'ой',
  е: 'ой',
  ой: 'ой',
  '': 'ых',
  ам: 'ым',
  ами: 'ыми',
  ах: 'ых',
};

/** 2-комн. кв., 1-к. квартиру */
function rooms(reading: Reading): Found | undefined {
  const match = reading.match(ROOMS);
  const [written = '', digits = '', noun = ''] = match ?? [];
  if (match === undefined || digits === '0') return undefined;
  const isShort = noun === '' || noun.endsWith('.');
  const ending = ENDINGS[isShort ? 'а' : noun.slice('квартир'.length)];
  if (ending === undefined) return undefined;
  const named = isShort ? (noun === '' && written.includes('комн') ? '' : ' квартира') : ` ${noun}`;
  const tail = /[ ]$/.test(written) ? ' ' : '';
  const spoken = `${prefix(digits)}комнатн${ending}${named}${tail}`;
  return { end: reading.at + written.length, spoken, rule: 'ordinal' };
}

const FLOOR = /(\d{1,2}) ?эт\.?(?![\p{L}/])/uy;
const FLOORS = noun('m этаж этажа этажей');

/** Д. 14, 3 эт., на 2 эт. */
function floor(reading: Reading): Found | undefined {
  const match = reading.match(FLOOR);
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined || reading.text[reading.at - 1] === '-') return undefined;
  const before = wordAhead(reading.around(reading.at));
  if (/^(?:дом|здани|в$|во$)/.test(before)) return undefined;
  const place = before === 'на' ? 'prepositional' : /^(?:со?|до)$/.test(before) ? 'genitive' : 'nominative';
  const spoken = `${ordinal(digits, place)} ${inCase(FLOORS.forms, place)}`;
  return { end: reading.at + written.length, spoken, rule: 'ordinal' };
}

/** In the order in which the language asks them. */
export const ordinalRules = {
  behindDigits: [
    [rooms, 1, 1, /-/, /^-к/],
    [storey, 1, 2, /\//, /^\/\d/],
    [floor, 1, 2, /э/, /^ ?эт/],
  ],
  behindDigitsLater: [
    [compound, 1, 4, /[,–-]/, /^(?:,5)?[-–]\p{Ll}/u],
    [percentAdjective, 1, 3, /[,.%]/, /^(?:[,.]\d+)? ?%-?[ноаыйгмяюех]/],
    [beforeOrdered, 1, 3, /\p{Ll}/u, /^ \p{Ll}/u],
    [kilometre, 1, 4, /[йгм-]/, /^-?[йгм]/],
    [classAlone, 1, 2, /["«“„ ]/, /^ ?["«“„][А-Я]/u],
    [schoolClass, 1, 2, /["«“„'А-Я]/, /^ ?["«“„']?[А-Я]/u],
    [yearsOfStudy, 1, 2, /[-–—]/, /^ ?[-–—] ?\d/],
  ],
} satisfies Rules<DigitRule>;
