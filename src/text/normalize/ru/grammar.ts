// Russian grammar around a number: the case that the words before it ask for, the gender of the noun behind it.
import { wordAfter, wordBefore, type Around } from '../reading.js';
import { pluralOf, type Case, type Gender } from './declension.js';
import type { Agreement } from './numbers.js';
import * as known from './vocabulary.js';

const NEAR = 60; // units before a token that may hold the word which rules it
const ROW = /(\p{L}+) [−-]?\d[\d.,:]*(?: ?(?:%|°C?)|(?: ?\p{L}{1,12}\.?){1,3})?(?: и| или|, \d[\d.,]* и) $/u; // между 5 и 10
const LIST =
  /(\p{L}+) [−-]?\d[\d.,]*(?: ?\p{L}{1,16}\.?){1,3}(?:, \d[\d.,]*(?: ?\p{L}{1,16}\.?){1,3}){0,3}(?: и|,) $/u; // купите 2 кг яблок, 3 л молока и
const DENIED =
  /(?<!\p{L})не (?:был[оаи]?|будет|прошло|пройдёт|пройдет|осталось|останется|превыша(?:ет|ют|л[аио]?)|превысит|превысил[аио]?|нашлось|набралось|наберётся|наберется|исполнилось|исполнится|оказалось|существует|имеется|видно|стало|хватало) $/iu;
const NO_MORE = /(?<!\p{L})нет (?:ещё|еще|уже|и|даже|пока|больше|таких) $/iu;
const OBJECT = /(?:[еёиуюая]т|[аеиоуыя]ла?|[аеиоуыя]ли|[аеиоуыя]ть|[йиь]те)$/; // ends a non-reflexive verb

/** The word before a token; "ок." is "около", a sign is the word that it is read as. */
export function wordAhead({ text, start }: Around): string {
  const before = wordBefore(text, start).toLowerCase();
  if (before !== '') {
    const joined = text.slice(Math.max(0, start - before.length - 4), start).toLowerCase();
    return /из-(?:за|под) ?$/.test(joined) ? 'из' : before;
  }
  if (/(?:^|[\s(])(?:ок|св)\. ?$/i.test(text.slice(Math.max(0, start - 5), start))) return 'около';
  const [, sign, spaced] = /([<>~≈≤≥≠√])=?( ?)$/u.exec(text.slice(Math.max(0, start - 3), start)) ?? [];
  if (sign === undefined) return '';
  return (spaced === ' ' && /[≈≤≥]/.test(sign)) || sign === '≠' ? 'равно' : 'более';
}

/** The case that the words before a token ask for. */
export function caseBefore(around: Around): Case {
  const word = wordAhead(around);
  const found = caseBehind(word);
  if (found !== undefined) return found;
  const near = around.text.slice(Math.max(0, around.start - NEAR), around.start);
  if ((near.includes('е ') && DENIED.test(near)) || (near.includes('ет ') && NO_MORE.test(near)))
    return 'genitive';
  if (ADJECTIVE_BEFORE.test(word)) return adjectiveCase(word, near);
  if (word === '' || word === 'и') {
    const ruling =
      near.endsWith('и ') || near.endsWith(', ') ? LIST.exec(near)?.[1]?.toLowerCase() : undefined;
    if (ruling !== undefined && caseBehind(ruling) === undefined && takesObject(ruling)) return 'accusative';
  }
  if (word === 'и' || word === 'или') {
    const ruling = ROW.exec(near)?.[1];
    if (ruling === undefined) return 'nominative';
    return (
      caseBehind(ruling.toLowerCase()) ?? (takesObject(ruling.toLowerCase()) ? 'accusative' : 'nominative')
    );
  }
  return takesObject(word) ? 'accusative' : 'nominative';
}

const ADJECTIVE_BEFORE =
  /^(?:всех|тех|этих|всеми|теми|этими|(?:перв|последн|следующ|ближайш|предыдущ|прошедш|оставш|друг|остальн|любы?|сво|наш|ваш|больш|крупнейш|лучш|нов|цел|добр|полн)(?:ых|их|ыми|ими|ихся|имися))$/u;

/** Первых трёх суток, в последних двух, с этими пятью. */
function adjectiveCase(word: string, near: string): Case {
  if (/ми(?:ся)?$/.test(word)) return 'instrumental';
  return /(?<!\p{L})(?:в|во|на|о|об|при) \p{L}+ $/iu.test(near) ? 'prepositional' : 'genitive';
}

function caseBehind(word: string): Case | undefined {
  if (known.BEFORE_GENITIVE.has(word)) return 'genitive';
  if (known.BEFORE_DATIVE.has(word)) return 'dative';
  if (known.BEFORE_INSTRUMENTAL.has(word)) return 'instrumental';
  if (known.BEFORE_PREPOSITIONAL.has(word)) return 'prepositional';
  if (known.BEFORE_ACCUSATIVE.has(word)) return 'accusative';
  if (word.length < 5) return undefined;
  if (known.INSTRUMENTAL_VERB.test(word)) return 'instrumental';
  return known.GENITIVE_VERB.test(word) ? 'genitive' : undefined;
}

function takesObject(word: string): boolean {
  return OBJECT.test(word) && !known.WITHOUT_OBJECT.has(word);
}

/** Whether a preposition or the like rules the token. */
export function isRuled(around: Around): boolean {
  return known.PREPOSITIONS.has(wordAhead(around));
}

export interface Counted {
  readonly case: Case;
  readonly gender: Agreement;
  /** The noun is there, in small letters. */
  readonly noun?: string;
}

/** Case, gender and noun that a number of this value agrees with. */
export function countedBy(around: Around, whole: string): Counted {
  const first = around.nextWord.toLowerCase();
  if (isAge(around)) return { case: 'genitive', gender: 'm', noun: first };
  const before = caseBefore(around);
  if (first === '' || known.NO_NOUN.has(first))
    return { case: distributive(around, whole, before), gender: 'm' };
  if (pluralOf(whole) === 'one') return countedByOne(first, distributive(around, whole, before));
  const noun = nounAhead(around, first);
  const oblique = obliqueOf(noun) ?? obliqueOf(first) ?? severalOf(noun, whole, before);
  const timed = known.PARTS_OF_DAY.has(first) && known.PREPOSITIONS.has(wordAhead(around));
  const gender = timed ? 'm' : genderOfFew(first, noun);
  return { case: oblique ?? distributive(around, whole, before), gender, noun };
}

const AGED = /^(?: и \d{1,3})? (?:лет|года|месяцев)(?!\p{L})/u;
const OF_AGE = /(\p{L}+) (?:\d{1,3} и )?$/u;

/** Мальчик пяти лет, женщины двадцати двух и тридцати семи лет. */
function isAge({ text, start, end }: Around): boolean {
  if (!AGED.test(text.slice(end, end + 14)) || /\D/.test(text.slice(start, end))) return false;
  const word = OF_AGE.exec(text.slice(Math.max(0, start - 24), start))?.[1] ?? '';
  return known.PERSONS.has(word.toLowerCase());
}

/** Behind two to four an object is in the genitive plural where it lives: двух студентов; else it is the singular. */
function severalOf(noun: string, whole: string, before: Case): Case | undefined {
  if (before === 'accusative' && known.LIVING_PLURAL.has(noun))
    return pluralOf(whole) === 'few' ? 'genitive' : undefined;
  return pluralOf(whole) === 'few' &&
    (GENITIVE_PLURAL.test(noun) || known.MANY_OF.has(noun)) &&
    !known.COUNTED_TOGETHER.has(noun)
    ? 'genitive'
    : undefined;
}

/** По одному, по тысяче; but по два, по пять. */
function distributive(around: Around, whole: string, otherwise: Case): Case {
  if (wordAhead(around) !== 'по') return otherwise;
  return /^1(?:000)*$/.test(whole) || pluralOf(whole) === 'one' ? 'dative' : 'accusative';
}

const ADJECTIVE = /(?:[ыи]х|[ыи]е|[ыи]ми?)$/;
const GENITIVE_PLURAL =
  /\p{L}{2}(?:[оёе]в|тей|рей|лей|дей|жей|шей|зей|щей|[аеия]ций|[ае]ний|[иео]ц|[оае]к)$/u;
const MOST_ADJECTIVES = 2;

/** The first word that is no adjective in the plural. */
function nounAhead(around: Around, first: string): string {
  let word = first;
  let end = around.end;
  for (let skipped = 0; skipped < MOST_ADJECTIVES && word.length > 3 && ADJECTIVE.test(word); skipped++) {
    end = around.text.indexOf(word.slice(1), end) + word.length - 1;
    const next = wordAfter(around.text, end).toLowerCase();
    if (next === '' || known.NO_NOUN.has(next)) return word;
    word = next;
  }
  return word;
}

/** The case that the plural ending of a noun or adjective shows. */
function obliqueOf(word: string): Case | undefined {
  if (word.length < 4 || known.NOT_OBLIQUE.has(word)) return undefined;
  if (/(?:[аяь]ми|[ыи]ми)$/.test(word)) return 'instrumental';
  if (/(?:[ая]м|[ыи]м)$/.test(word)) return 'dative';
  return /[ая]х$/.test(word) ? 'prepositional' : undefined;
}

/** Behind two the genitive singular tells: две книги, два дня; and the adjective: две новые. */
function genderOfFew(first: string, noun: string): Gender {
  if (/[ыи]е$/.test(first) && first.length > 3) return 'f';
  if (noun.length < 3 || known.MASCULINE_IN_A.has(noun) || noun.endsWith('мени')) return 'm';
  if (/(?:ли|ти|сь|йте)$/.test(noun)) {
    return known.FEMININE_IN_LI.has(noun) || /(?:ости|асти|сети|смерти|ерти|[яа]ти)$/.test(noun) ? 'f' : 'm';
  }
  return /[ыи]$/.test(noun) ? 'f' : 'm';
}

/** The word behind 1, 21, ... has the number's gender, number and case. */
function countedByOne(word: string, before: Case): Counted {
  const agreed = adjectiveAgreement(word, before) ?? nounAgreement(word, before);
  return { ...agreed, noun: word };
}

type Agreed = Pick<Counted, 'case' | 'gender'>;

const ADJECTIVE_ENDINGS: readonly (readonly [RegExp, Gender | 'p', Case | undefined])[] = [
  [/[ое]го$/, 'm', 'genitive'],
  [/[ое]му$/, 'm', 'dative'],
  [/[ыи]ми$/, 'p', 'instrumental'],
  [/[ыи]м$/, 'm', 'instrumental'],
  [/[ыи]х$/, 'p', 'genitive'],
  [/[ую]ю$/, 'f', 'accusative'],
  [/[ая]я$/, 'f', undefined],
  [/[ое]е$/, 'n', undefined],
  [/ый$|[кгхжшщчн]ий$/, 'm', undefined],
  [/ые$/, 'p', undefined],
];

function adjectiveAgreement(word: string, before: Case): Agreed | undefined {
  if (word.length < 4) return undefined;
  for (const [ending, gender, shown] of ADJECTIVE_ENDINGS) {
    if (ending.test(word)) return { gender, case: shown ?? before };
  }
  if (!word.endsWith('ой')) return undefined;
  return before === 'nominative' || before === 'accusative' ? undefined : { gender: 'f', case: before };
}

function nounAgreement(word: string, before: Case): Agreed {
  const direct = before === 'nominative' || before === 'accusative' ? before : undefined;
  if (word === 'сутки') return { gender: 'p', case: before };
  if (direct !== undefined && known.LIVING.test(word)) return { gender: 'living', case: 'accusative' };
  if (/[ая]$/.test(word)) {
    const masculine = known.MASCULINE_IN_A.has(word) || before === 'genitive';
    return masculine ? { gender: 'm', case: before } : { gender: 'f', case: 'nominative' };
  }
  if (/[ую]$/.test(word))
    return before === 'dative' ? { gender: 'm', case: before } : { gender: 'f', case: 'accusative' };
  if (/[ыи]$/.test(word)) return { gender: 'f', case: direct === undefined ? before : 'genitive' };
  if (/(?:[оь]е|ие|о)$/.test(word)) return { gender: 'n', case: direct ?? before };
  if (word.endsWith('е')) {
    const feminine =
      !known.MASCULINE_IN_KE.has(word) &&
      /(?:[кцг]е|уте|нате|ртире|[нд]еле|уппе|оте|коле|ране|зоне|мме|орме|хеме|теме|арте)$/.test(word);
    const place = direct === undefined ? before : 'prepositional';
    return { gender: feminine ? 'f' : 'm', case: place };
  }
  const together = before === 'genitive' || before === 'instrumental'; // с 1 рублём, but 21 дом
  if (together && /[оеё]м$/.test(word)) return { gender: 'm', case: 'instrumental' };
  if (/[ое]й$/.test(word) && before !== 'nominative')
    return { gender: 'f', case: direct === undefined ? before : 'instrumental' };
  return { gender: known.FEMININE_SOFT.test(word) ? 'f' : 'm', case: direct ?? before };
}
