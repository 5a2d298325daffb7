// Roman numerals in Russian: XX век, Пётр I, глава IV, II квартал. Cyrillic letters of the same shape are
// typed for them, too.
import { tablesOf } from '../../tables/language-tables.js';
import { wordAfter, wordBefore, type Found, type Reading } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import type { Case } from './declension.js';
import { caseBefore, ORDERED, wordAhead, words } from './grammar.js';
import { ordinal, type Agreement } from './numbers.js';
import { partOfYear } from './calendar.js';

const NUMERAL =
  /([IVXLCDMІХСМ]{1,9})(?: ?[-–—] ?([IVXLCDMІХСМ]{1,9}))?(?:-(?:й|го|му|м|я|ю|е|х))?(?![\p{L}\p{N}])/uy;
const ROMAN = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;
const CENTURY = / ?(вв?)\.(?!\p{L})/uy;
const LATIN: Readonly<Record<string, string>> = { І: 'I', Х: 'X', С: 'C', М: 'M' };

const KINGS = tablesOf('ru').set('rulers');
const QUEENS = words('екатерина елизавета мария анна изабелла маргарита клеопатра');

const WORD: Readonly<Record<Case, readonly [one: string, many: string]>> = {
  nominative: ['век', 'века'],
  genitive: ['века', 'веков'],
  dative: ['веку', 'векам'],
  accusative: ['век', 'века'],
  instrumental: ['веком', 'веками'],
  prepositional: ['веке', 'веках'],
};

function valueOf(letters: string): number | undefined {
  const latin = Array.from(letters, (letter) => LATIN[letter] ?? letter).join('');
  return latin !== '' && ROMAN.test(latin) ? romanValue(latin) : undefined;
}

const BEFORE_ERA = /^ ?(?:вв?\.|век\p{L}{0,3}) до (?:н|Р)/u; // V–IV вв. до н. э.

export function roman(reading: Reading): Found | undefined {
  if (!/[IVXLCDMІХСМ]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(NUMERAL);
  const [written = '', letters = '', last] = match ?? [];
  const value = valueOf(letters);
  const to = last === undefined ? undefined : valueOf(last);
  const end = reading.at + written.length;
  if (match === undefined || value === undefined || (last !== undefined && to === undefined))
    return undefined;
  if (to !== undefined && to <= value && !BEFORE_ERA.test(reading.text.slice(end, end + 16)))
    return undefined;
  const values = to === undefined ? [value] : [value, to];
  return (
    untilCentury(reading, end, values) ??
    century(reading, end, values) ??
    partOfYear(reading, end, values) ??
    royal(reading, end, value) ??
    beforeNoun(reading, end, values) ??
    behindNoun(reading, end, value) ??
    inRow(reading, end, values)
  );
}

function sayAll(values: readonly number[], grammatical: Case, agreement: Agreement): string {
  return values.map((value) => ordinal(String(value), grammatical, agreement)).join(' – ');
}

const UNTIL =
  / ?[—–-] ?(?:начал|кон[еи]?ц|середин|перв|втор)\p{L}{0,4} (?:половин\p{L} )?[IVXХ]{1,5} (?:век|в\.)/uy;

/** Конец XVIII — начало XIX века. */
function untilCentury(reading: Reading, end: number, values: readonly number[]): Found | undefined {
  if (reading.match(UNTIL, end) === undefined) return undefined;
  return { end, spoken: sayAll(values, 'genitive', 'm'), rule: 'roman' };
}

/** XX в., в XIX–XX вв. */
function century(reading: Reading, end: number, values: readonly number[]): Found | undefined {
  const match = reading.match(CENTURY, end);
  if (match === undefined) return undefined;
  const grammatical = caseOfCentury(reading, end);
  const many = match[1] === 'вв';
  const name = WORD[grammatical][many ? 1 : 0];
  return { end: end + match[0].length, spoken: `${sayAll(values, grammatical, 'm')} ${name}`, rule: 'roman' };
}

function caseOfCentury(reading: Reading, end: number): Case {
  const around = reading.around(end);
  const before = wordAhead(around);
  if (/(?:пол|гг|нач|кон|сер)\. $/u.test(around.text.slice(Math.max(0, around.start - 5), around.start)))
    return 'genitive';
  if (/^(?:в|во|о)$/.test(before)) return 'prepositional';
  if (/^(?:к|ко)$/.test(before)) return 'dative';
  if (/^(?:по|на|за)$/.test(before)) return 'accusative';
  return before === '' || before === 'и' ? 'nominative' : 'genitive'; // конец XIX в., до XX в.
}

// prettier-ignore
const NOUN_ENDS: Readonly<Record<'m' | 'f' | 'n', readonly (readonly [end: RegExp, grammatical: Case, plural?: true])[]>> = {
  m: [[/(?:ов|ев|ей)$/, 'genitive', true], [/(?:ам|ям)$/, 'dative', true], [/ами$/, 'instrumental', true], [/ах$/, 'prepositional', true], [/[ыи]$/, 'nominative', true],
    [/[ая]$/, 'genitive'], [/[ую]$/, 'dative'], [/[оеё]м$/, 'instrumental'], [/е$/, 'prepositional'], [/./, 'nominative']],
  f: [[/[ая]$/, 'nominative'], [/[ую]$/, 'accusative'], [/[ыи]$/, 'genitive'], [/е$/, 'prepositional'], [/[оеё]й$/, 'instrumental'], [/./, 'nominative']],
  n: [[/ии$/, 'prepositional'], [/(?:о|е|ье)$/, 'nominative'], [/[ая]$/, 'genitive'], [/[ую]$/, 'dative'], [/[оеё]м$/, 'instrumental'], [/./, 'nominative']],
};

const OTHERS = tablesOf('ru').genders('named by a Roman numeral only', ['m', 'f', 'n']);

function genderOf(word: string): 'm' | 'f' | 'n' | undefined {
  const stem = word.replace(/(?:ами|ями|ах|ях|ам|ям|ов|ев|ом|ем|ой|ей|[аеёиоуыюяьй])$/u, '');
  for (const list of [ORDERED, OTHERS]) {
    for (const known of [
      word,
      stem,
      `${stem}а`,
      `${stem}я`,
      `${stem}ь`,
      `${stem}о`,
      `${stem}е`,
      `${stem}ие`,
      `${stem}ия`,
    ]) {
      const gender = list.get(known);
      if (gender !== undefined) return gender;
    }
  }
  return undefined;
}

/** XX век, во II квартале, XXII Олимпийские игры, II мировая война. */
function beforeNoun(reading: Reading, end: number, values: readonly number[]): Found | undefined {
  const around = reading.around(end);
  const first = around.nextWord.toLowerCase();
  const found = (said: string): Found => ({ end, spoken: said, rule: 'roman' });
  const adjective = adjectiveCase(first);
  if (adjective !== undefined && values.length === 1)
    return found(sayAll(values, adjective.case, adjective.agreement));
  const gender = genderOf(first);
  if (gender === undefined) return undefined;
  const [, shown = 'nominative', plural] = NOUN_ENDS[gender].find(([ending]) => ending.test(first)) ?? [];
  const located =
    /^(?:в|во|на)$/.test(wordAhead(around)) && (shown === 'dative' || /(?:[нт]и|ст)е$/.test(first));
  const isTaken = gender === 'f' && first.endsWith('ь') && /^(?:за|на|про|через)$/.test(wordAhead(around));
  const place = located ? 'prepositional' : isTaken ? 'accusative' : shown;
  const shared = SHARED.test(reading.text.slice(Math.max(0, reading.at - 6), reading.at));
  const single = values.length === 1 && !shared && plural === true;
  return found(sayAll(values, place, single ? 'p' : gender));
}

const ADJECTIVES: readonly (readonly [RegExp, Case, Agreement])[] = [
  [/^(?:зимн|летн)ие$|^всемирные$/, 'nominative', 'p'],
  [/^(?:зимн|летн)их$|^(?:всемирн|международн|юношеск)[ыи]х$/, 'genitive', 'p'],
  [/(?:вой|нск|йск|родн|ров|ск|вск)ые$|ские$/, 'nominative', 'p'],
  [/ских$/, 'genitive', 'p'],
  [/(?:ск|ов|н)ый$|ский$/, 'nominative', 'm'],
  [/(?:ск|ов|н)ого$/, 'genitive', 'm'],
  [/(?:ск|ов|н)ому$/, 'dative', 'm'],
  [/(?:ск|ов|н)ом$/, 'prepositional', 'm'],
  [/(?:ск|ов|н)ая$/, 'nominative', 'f'],
  [/(?:ск|ов|н)ую$/, 'accusative', 'f'],
  [/(?:ск|ов|н)ой$/, 'genitive', 'f'],
];

/** An adjective behind the numeral has the same case: XV Московский фестиваль. */
function adjectiveCase(word: string): { case: Case; agreement: Agreement } | undefined {
  if (word.length < 6) return undefined;
  const known = ADJECTIVES.find(([ending]) => ending.test(word));
  return known && { case: known[1], agreement: known[2] };
}

/** Пётр I, при Николае II, Екатерины II. */
function royal(reading: Reading, end: number, value: number): Found | undefined {
  const name = wordBefore(reading.text, reading.at);
  if (!/^\p{Lu}/u.test(name)) return undefined;
  const found = royalOf(name.toLowerCase(), wordAheadOf(reading, name));
  if (found === undefined) return undefined;
  const said = ordinal(String(value), found.case, found.agreement);
  const named = said.replace(/(?:^|(?<= ))\p{L}(?=\p{L}*$)/u, (letter) => letter.toUpperCase());
  return { end, spoken: named, rule: 'roman' };
}

const BEHIND_SHORT: Readonly<Record<string, string>> = {
  гл: 'глава',
  ст: 'статья',
  разд: 'раздел',
  ч: 'часть',
  т: 'том',
};

/** Глава IV, в томе II, гл. IV. */
function behindNoun(reading: Reading, end: number, value: number): Found | undefined {
  const word = (
    BEHIND_SHORT[reading.around(reading.at).previousShort] ?? wordBefore(reading.text, reading.at)
  ).toLowerCase();
  if (word === 'крови') return { end, spoken: ordinal(String(value), 'nominative', 'f'), rule: 'roman' };
  const gender = genderOf(word);
  // Терминал D, полис серии ХХХ.
  if (word.startsWith('сери') && value === 30) return undefined;
  if (gender === undefined || /^[CDLMСМ]$/.test(reading.text.slice(reading.at, end))) return undefined;
  const known = ORDERED.has(word) || OTHERS.has(word);
  const [, shown = 'nominative'] = known
    ? []
    : (NOUN_ENDS[gender].find(([ending]) => ending.test(word)) ?? []);
  return { end, spoken: ordinal(String(value), shown, gender), rule: 'roman' };
}

/** Case of a plural noun that several numerals share: на рубеже XIX и XX веков. */
function pluralCase(word: string): Case | undefined {
  if (/(?:ов|ев|ей)$/.test(word)) return 'genitive';
  if (/(?:ам|ям)$/.test(word)) return 'dative';
  if (/[ая]ми$/.test(word)) return 'instrumental';
  return /[ая]х$/.test(word) ? 'prepositional' : undefined;
}

const SHARED = /[IVXLC](?:,| и| или) $/u;

const ROW = /(?:,| и| или| по| до| к) (?:[IVXLC]{1,7}|[ХІ]{1,4}) (?=\p{Ll})/uy;

/** The first of "с XV по XVII век". */
function inRow(reading: Reading, end: number, values: readonly number[]): Found | undefined {
  const match = reading.match(ROW, end);
  if (match === undefined) return undefined;
  const behind = wordAfter(reading.text, end + match[0].length).toLowerCase();
  const gender = /^вв?$/.test(behind) ? 'm' : genderOf(behind);
  if (gender === undefined) return undefined;
  const around = reading.around(end);
  const before = wordAhead(around);
  const place = /^(?:в|во|на)$/.test(before) && /[ех]$/.test(behind);
  const shown = place ? 'prepositional' : (pluralCase(behind) ?? caseBefore(around));
  return { end, spoken: sayAll(values, shown, gender), rule: 'roman' };
}

function wordAheadOf(reading: Reading, name: string): string {
  return wordBefore(reading.text, reading.at - name.length - 1).toLowerCase();
}

function royalOf(name: string, before: string): { case: Case; agreement: Agreement } | undefined {
  for (const queen of QUEENS) {
    const stem = queen.slice(0, -1);
    if (!name.startsWith(stem) || name.length > queen.length + 1) continue;
    const [, shown = 'nominative'] = NOUN_ENDS.f.find(([ending]) => ending.test(name)) ?? [];
    return { case: shown, agreement: 'f' };
  }
  const fleeting = name
    .replace(/^(?:павл|пав)(?=[ауое])/, 'павел')
    .replace(/^льв/, 'лев')
    .replace(/^петр/, 'пётр');
  for (const king of KINGS) {
    const stem = king.replace(/[ьй]$/, '');
    if (!fleeting.startsWith(stem) || fleeting.length > king.length + 2) continue;
    if (fleeting === king) return { case: 'nominative', agreement: 'm' };
    const [, shown = 'nominative'] = NOUN_ENDS.m.find(([ending]) => ending.test(fleeting)) ?? [];
    const prepositional = shown === 'nominative' && name.endsWith('и');
    const place = prepositional || (/^(?:при|о|об|в|на)$/.test(before) && /[еи]$/.test(name));
    return { case: place ? 'prepositional' : shown, agreement: 'm' };
  }
  return undefined;
}
