// Decides the Russian grammar around a number: the case that the words before it govern, the gender of the
// noun behind it.
import { tablesOf } from '../../tables/language-tables.js';
import { Around, isBehindWord, wordAfter, wordBefore } from '../reading.js';
import { type Case, type Gender, pluralOf } from './declension.js';
import type { Agreement } from './numbers.js';

// The word lists below are in small letters.

export function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Prepositions, comparatives and nouns before a number in the genitive. */
const BEFORE_GENITIVE = tablesOf('ru').set('before a genitive');
const BEFORE_DATIVE = tablesOf('ru').set('before a dative');
const BEFORE_INSTRUMENTAL = words('между перед над');
const BEFORE_PREPOSITIONAL = words('о об обо при');
const BEFORE_ACCUSATIVE = words('на за через в во про под спустя сквозь');

/** A number behind one of these stands in a phrase with it; a range is then no "от … до". */
export const PREPOSITIONS = tablesOf('ru').set('prepositions');

/** Verbs in the past whose number is the subject: погибли 1000 человек. */
const WITHOUT_OBJECT = tablesOf('ru').set('verbs without object');
/** Behind 1 these nouns are counted: 1 страница is one page, not the first. */
export const COUNTED_AS_ONE = tablesOf('ru').set('numbered');

/** Behind a number these are no noun that it counts. */
export const NO_NOUN = tablesOf('ru').set('no noun');

/** Masculine although they end in -а, -я; and neuter: two of them are "два". */
const MASCULINE_IN_A = tablesOf('ru').set('masculine nouns in -а');
/** Feminine in the genitive, although they look like verbs in the past (стали). */
const FEMININE_IN_LI = tablesOf('ru').set('feminine nouns in -ли');
const FEMININE_SOFT =
  /(?:ость|есть|ночь|часть|пись|дверь|кровать|тетрадь|площадь|лошадь|модель|очередь|связь|смерть|жизнь|роль|цель|сеть|степень|вещь|речь|печь|область|помощь|мысль|соль|боль|ечать|ость|треть|четверть|ветвь|церковь|осень|дочь|мать|ткань|сталь|медаль|деталь|раль|педаль|ступень|пристань|болезнь|капель|миль|параллель|тысяч)$/;

/** Masculine in the genitive, although they end like feminine nouns. */
const MASCULINE_GENITIVE = tablesOf('ru').set('masculine genitives');

/** Nouns that are counted with "двое", "трое", "четверо". */
export const COUNTED_TOGETHER = tablesOf('ru').set('counted together');

/** Masculine, though they end like the prepositional of feminine nouns. */
const MASCULINE_IN_KE = tablesOf('ru').set('masculine nouns in -ке');

/** Parts of a day: в 2 ночи is a time. */
const PARTS_OF_DAY = words('ночи дня утра вечера пополудни');

/** They end like a dative, instrumental or prepositional plural, but are none. */
const NOT_OBLIQUE = tablesOf('ru').set('genitive plurals in -ам');

/**
 * Singular nouns that a number in front of them orders, and does not count: 5 этаж, на 3 платформу. "stem
 * gender" each.
 */
export const ORDERED = tablesOf('ru').genders('named by an ordinal', ['m', 'f', 'n']);

/**
 * Masculine nouns for people and animals in the genitive, which is their accusative, too: встретили 21
 * студента.
 */
const LIVING =
  /(?:ителя|ателя|иста|дента|иента|ёнка|бенка|человека|пассажира|солдата|актёра|актера|тренера|вратаря|депутата|кандидата|гражданина|менеджера|офицера|оператора|директора|инженера|курьера|партнёра|партнера|волонтёра|волонтера|продавца|покупателя|мигранта|(?:школь|уче|участ|сотруд|призыв|охот|наслед|залож|началь|работ|помощ|полков|племян|всад|худож|защит|против|преступ|выпуск|погранич)ника|чемпиона|претендента|(?<!\p{L})(?:врача|друга|брата|сына|игрока|гостя|агента|автора|доктора|бойца|кота|пса|слона|медведя|волка|тигра|коня|ученика))$/u;

/** Genitive plurals without an ending. */
const MANY_OF = tablesOf('ru').set('genitive plurals');

/** They decline like adjectives, and live: задержали двух подозреваемых. */
const LIVING_PLURAL = tablesOf('ru').set('living, in the plural');

/** Nouns whose age may follow in the genitive: мальчик пяти лет. */
const PERSONS = tablesOf('ru').set('persons');

/** Verbs that ask for the genitive and the instrumental: лишился пяти зубов, владеет двадцатью процентами. */
const GENITIVE_VERB =
  /^(?:дости(?:г|гл[аои]|гнет|гнут|гает|гают|чь|гнуть|гать)|(?:доб(?:и|ь)|лиши|каса|придержива|опаса)\p{L}*с[ья]|избежа(?:л[аои]?|ть|т))$/u;
const INSTRUMENTAL_VERB =
  /^(?:(?:огранич|обо(?:йт|йд|шл|шёл|шел)|обменя|обмениваю?т)\p{L}*с[ья]|(?:располага|владе|облада|распоряжа|управля|завладе|рискова|пожертвова)(?:ет|ют|ем|ю|л|ла|ли|ло|ть)|рискует|рискуют)$/u;

/** Words that take a class, stage or degree in the genitive: студент второго курса, ожог третьей степени. */
export const OF_RANK =
  /^(?:уче?ни|студент|учащ|школьник|выпускник|инвалид|врач|водител|мастер|слесар|электромонт|сварщик|токар|пассажир|жител|игрок|диабет|ожог|рак|опухол|гиперт|ожирен|депутат|преподавател|гепатит|обморож|сколиоз|недостаточност|билет|вагон|мест|мука|муки|товар|спортсмен|судь|повар|продав)/u;
export const RANKS =
  /^(?:типа|группы|степени|стадии|категории|класса|курса|разряда|уровня|сорта|ранга|созыва|подъезда|этажа|дивизиона|лиги)$/;
/** Behind these a place is a rank: заняла 1 место, but осталось 1 место. */
export const AWARDED =
  /^(?:за|на|с|заня|займ|заним|взял|завоева|выигра|раздел|подел|присужд|удерж|гарант|награ)/;
/** One of them is one, not the first: через 1 неделю, 21 попытка; but на 1 неделе. */
export const COUNTED_ALONE =
  /^(?:месяц|недел|минут|попытк|остановк|товар|урок|заход|тип|вариант|уров|сорт|маршрут|автобус|трамва|троллейбус|сектор|лиг|ребр|квартир|комнат|дом|кабинет|аудитори|школ|больниц|офис|поликлиник)/;

const NEAR = 60; // units before a token that may hold the word which rules it
const LONGEST_LIST = 160; // units of a list before its last number
// между 5 и 10, but not до 5 мая и
const ROW =
  /(\p{L}+) [−-]?\d(?!\d?\.\d\d )[\d.,:]*(?: ?(?:%|°C?)|(?: ?(?!(?:янв|фев|мар|апр|ма[яй]|ию[нл]|авг|сен|окт|ноя|дек))\p{L}{1,12}\.?){1,3})?(?: и| или|, \d[\d.,]* и) $/u;
const BARE_ROW = /(\p{L}+) [−-]?\d{1,9}(?:, \d{1,9}){0,6}(?:,| и| или) $/u; // в 3, 5 и
const LONGEST_REST = 48; // units of a list behind its first number
const LIST_MARK = /, | и | или /;
const FIRST_OF_LIST = /(\p{L}+) [−-]?[\d½¼¾](?:[^.!?:;—]|\.(?! ?\p{Lu}))*$/u;
const LAST_OF_LIST = /^(?:, \d{1,9}){0,6},? (?:и|или) (\d{1,9})(?= \p{L})/u;
const DENIED =
  /(?<!\p{L})не (?:был[оаи]?|будет|прошло|пройдёт|пройдет|осталось|останется|превыша(?:ет|ют|л[аио]?)|превысит|превысил[аио]?|нашлось|набралось|наберётся|наберется|исполнилось|исполнится|оказалось|существует|имеется|видно|стало|хватало) $/iu;
const NO_MORE = /(?<!\p{L})нет (?:ещё|еще|уже|и|даже|пока|больше|таких) $/iu;
const OBJECT = /(?:[еёиуюая]т|[аеиоуыя]ла?|[аеиоуыя]ли|[аеиоуыя]ть|[йиь]те)$/; // ends a non-reflexive verb

const TAG_END = /<\/?[a-z][^<>]{0,36}> ?$/i;

/** The word before a token; "ок." is "около", a sign is the word that it is read as. */
export function wordAhead({ text, start }: Around): string {
  const before = wordBefore(text, start).toLowerCase();
  if (before !== '') {
    const joined = text.slice(Math.max(0, start - before.length - 4), start).toLowerCase();
    return /из-(?:за|под) ?$/.test(joined) ? 'из' : before;
  }
  if (/(?:^|[\s(])(?:ок|св)\. ?$/i.test(text.slice(Math.max(0, start - 5), start))) return 'около';
  const [, sign, spaced] = /([<>~≈≤≥≠√])=?( ?)$/u.exec(text.slice(Math.max(0, start - 3), start)) ?? [];
  const isTag = sign === '>' && TAG_END.test(text.slice(Math.max(0, start - 40), start)); // <td>5 ГБ
  if (sign === undefined || isTag) return '';
  const at = start - (spaced === ' ' ? 2 : 1);
  return (spaced === ' ' && /[≈≤≥]/.test(sign) && !isBehindWord(text, at)) || sign === '≠'
    ? 'равно'
    : 'более';
}

/** The hours of "от 1 ч 40 мин", which have the case of the minutes. */
const LARGER_PART =
  /(?<![\p{L}\p{N}.,:/-])\d{1,4} ?(?:ч|час(?:а|ов)?|сут|дн|мин|год(?:а)?|лет|мес|кг|м|км|руб)\.? $/u;

/** The case that the words before a token ask for. */
export function caseBefore(around: Around): Case {
  const { text, start } = around;
  const larger = LARGER_PART.exec(text.slice(Math.max(0, start - NEAR), start));
  if (larger !== null) return caseBefore(new Around(text, start - larger[0].length, start - 1));
  const word = wordAhead(around);
  const found = caseBehind(word);
  if (found !== undefined) return found;
  const near = around.text.slice(Math.max(0, around.start - NEAR), around.start);
  if ((near.includes('е ') && DENIED.test(near)) || (near.includes('ет ') && NO_MORE.test(near)))
    return 'genitive';
  if (ADJECTIVE_BEFORE.test(word)) return adjectiveCase(word, near);
  if (word === '' || word === 'и') {
    const ruling = rulingOfList(around);
    if (ruling !== '' && caseBehind(ruling) === undefined && takesObject(ruling)) return 'accusative';
  }
  const inList = word === '' && near.endsWith(', ') && LAST_OF_LIST.test(behindOf(around));
  if (inList || word === 'и' || word === 'или') {
    const ruling = BARE_ROW.exec(near)?.[1] ?? (inList ? undefined : ROW.exec(near)?.[1]);
    if (ruling === undefined) return 'nominative';
    return (
      caseBehind(ruling.toLowerCase()) ?? (takesObject(ruling.toLowerCase()) ? 'accusative' : 'nominative')
    );
  }
  return takesObject(word) ? 'accusative' : 'nominative';
}

/** The verb before a list of amounts: возьмите 2 кг яблок, ½ ст. л. соли и. */
function rulingOfList({ text, start }: Around): string {
  const parts = text.slice(Math.max(0, start - LONGEST_LIST), start).split(LIST_MARK);
  if (parts.pop() !== '') return '';
  const first = parts.findLast((part) => !/^[\d½¼¾]/.test(part));
  const match = FIRST_OF_LIST.exec(first ?? '');
  const ruling = match?.[1]?.toLowerCase() ?? '';
  if (match === null || takesObject(ruling)) return ruling;
  const rest = match[0].slice(ruling.length); // на 4 порции возьмите 2 яйца
  return FIRST_OF_LIST.exec(rest)?.[1]?.toLowerCase() ?? ruling;
}

const ADJECTIVE_BEFORE =
  /^(?:всех|тех|этих|всеми|теми|этими|(?:перв|последн|следующ|ближайш|предыдущ|прошедш|оставш|друг|остальн|любы?|сво|наш|ваш|больш|крупнейш|лучш|нов|цел|добр|полн)(?:ых|их|ыми|ими|ихся|имися))$/u;

/** Первых трёх суток, в последних двух, с этими пятью. */
function adjectiveCase(word: string, near: string): Case {
  if (/ми(?:ся)?$/.test(word)) return 'instrumental';
  return /(?<!\p{L})(?:в|во|на|о|об|при) \p{L}+ $/iu.test(near) ? 'prepositional' : 'genitive';
}

function caseBehind(word: string): Case | undefined {
  if (BEFORE_GENITIVE.has(word)) return 'genitive';
  if (BEFORE_DATIVE.has(word)) return 'dative';
  if (BEFORE_INSTRUMENTAL.has(word)) return 'instrumental';
  if (BEFORE_PREPOSITIONAL.has(word)) return 'prepositional';
  if (BEFORE_ACCUSATIVE.has(word)) return 'accusative';
  if (word.length < 5) return undefined;
  if (INSTRUMENTAL_VERB.test(word)) return 'instrumental';
  return GENITIVE_VERB.test(word) ? 'genitive' : undefined;
}

function takesObject(word: string): boolean {
  return OBJECT.test(word) && !WITHOUT_OBJECT.has(word);
}

/** True if a preposition or the like rules the token. */
export function isRuled(around: Around): boolean {
  return PREPOSITIONS.has(wordAhead(around));
}

interface Counted {
  readonly case: Case;
  readonly gender: Agreement;
  /** The noun is there, in small letters. */
  readonly noun?: string;
}

/** Case, gender and noun that a number of this value agrees with. */
export function countedBy(around: Around, whole: string): Counted {
  const shared = listedBefore(around);
  const first = shared.nextWord.toLowerCase();
  if (shared !== around && pluralOf(whole) === 'one')
    return { case: caseBefore(shared), gender: genderOfFew(first, first), noun: first };
  return countedIn(shared, first, whole);
}

function behindOf({ text, end }: Around): string {
  return /^(?:, \d| и | или )/.test(text.slice(end, end + 5)) ? text.slice(end, end + LONGEST_REST) : '';
}

/** The token up to the last number of в 3, 5 и 10 минутах: a list shares the noun. */
function listedBefore(around: Around): Around {
  const { text, end } = around;
  const list = LAST_OF_LIST.exec(behindOf(around));
  const next = list === null ? '' : wordAfter(text, end + list[0].length).toLowerCase();
  return list === null || NO_NOUN.has(next) ? around : around.upTo(end + list[0].length);
}

function countedIn(around: Around, first: string, whole: string): Counted {
  if (isAge(around)) return { case: 'genitive', gender: 'm', noun: first };
  const before = caseBefore(around);
  if (first === '' || NO_NOUN.has(first)) return { case: distributive(around, whole, before), gender: 'm' };
  if (pluralOf(whole) === 'one') return countedByOne(first, distributive(around, whole, before));
  const noun = nounAhead(around, first);
  const oblique = obliqueOf(noun) ?? obliqueOf(first) ?? severalOf(noun, whole, before);
  const timed = PARTS_OF_DAY.has(first) && PREPOSITIONS.has(wordAhead(around));
  const gender = timed ? 'm' : genderOfFew(first, noun);
  return { case: oblique ?? distributive(around, whole, before), gender, noun };
}

const AGED = /^(?: и \d{1,3})? (?:лет|года|месяцев)(?!\p{L})/u;
const OF_AGE = /(\p{L}+) (?:\d{1,3} и )?$/u;

/** Мальчик пяти лет, женщины двадцати двух и тридцати семи лет. */
function isAge({ text, start, end }: Around): boolean {
  if (!AGED.test(text.slice(end, end + 14)) || /\D/.test(text.slice(start, end))) return false;
  const word = OF_AGE.exec(text.slice(Math.max(0, start - 24), start))?.[1] ?? '';
  return PERSONS.has(word.toLowerCase());
}

/**
 * Behind two to four an object is in the genitive plural where it lives: двух студентов; else it is the
 * singular.
 */
function severalOf(noun: string, whole: string, before: Case): Case | undefined {
  if (before === 'accusative' && LIVING_PLURAL.has(noun))
    return pluralOf(whole) === 'few' ? 'genitive' : undefined;
  return pluralOf(whole) === 'few' &&
    (GENITIVE_PLURAL.test(noun) || MANY_OF.has(noun)) &&
    !COUNTED_TOGETHER.has(noun)
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
    if (next === '' || NO_NOUN.has(next)) return word;
    word = next;
  }
  return word;
}

/** The case that the plural ending of a noun or adjective shows. */
function obliqueOf(word: string): Case | undefined {
  if (word.length < 4 || NOT_OBLIQUE.has(word)) return undefined;
  if (/(?:[аяь]ми|[ыи]ми)$/.test(word)) return 'instrumental';
  if (/(?:[ая]м|[ыи]м)$/.test(word)) return 'dative';
  return /[ая]х$/.test(word) ? 'prepositional' : undefined;
}

/** Behind two the genitive singular tells: две книги, два дня; and the adjective: две новые. */
function genderOfFew(first: string, noun: string): Gender {
  if (/[ыи]е$/.test(first) && first.length > 3) return 'f';
  if (noun.length < 3 || MASCULINE_IN_A.has(noun) || noun.endsWith('мени')) return 'm';
  if (/(?:ли|ти|сь|йте)$/.test(noun)) {
    return FEMININE_IN_LI.has(noun) || /(?:ости|асти|сети|смерти|ерти|[яа]ти)$/.test(noun) ? 'f' : 'm';
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
  if (direct !== undefined && LIVING.test(word)) return { gender: 'living', case: 'accusative' };
  if (direct !== undefined && MASCULINE_GENITIVE.has(word)) return { gender: 'm', case: 'genitive' };
  if (/[ая]$/.test(word)) {
    const masculine = MASCULINE_IN_A.has(word) || before === 'genitive';
    return masculine ? { gender: 'm', case: before } : { gender: 'f', case: 'nominative' };
  }
  if (/[ую]$/.test(word))
    return before === 'dative' ? { gender: 'm', case: before } : { gender: 'f', case: 'accusative' };
  if (/[ыи]$/.test(word)) return { gender: 'f', case: direct === undefined ? before : 'genitive' };
  if (/(?:[оь]е|ие|о)$/.test(word)) return { gender: 'n', case: direct ?? before };
  if (word.endsWith('е')) {
    const feminine =
      !MASCULINE_IN_KE.has(word) &&
      /(?:[кцг]е|уте|нате|ртире|[нд]еле|уппе|оте|коле|ране|зоне|мме|орме|хеме|теме|арте)$/.test(word);
    const place = direct === undefined ? before : 'prepositional';
    return { gender: feminine ? 'f' : 'm', case: place };
  }
  const together = before === 'genitive' || before === 'instrumental'; // с 1 рублём, but 21 дом
  if (together && /[оеё]м$/.test(word)) return { gender: 'm', case: 'instrumental' };
  if (/[ое]й$/.test(word) && before !== 'nominative')
    return { gender: 'f', case: direct === undefined ? before : 'instrumental' };
  return { gender: FEMININE_SOFT.test(word) ? 'f' : 'm', case: direct ?? before };
}
