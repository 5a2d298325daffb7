// Russian short forms. Nouns before a name or number stand in the case that the preposition asks for: на ул. Ленина, в г. Москве.
import { greekLetters } from '../greek.js';
import type { Saying } from '../language.js';
import type { Around } from '../reading.js';
import { behindNumber, inCase, noun, type Case } from './declension.js';
import { wordAhead } from './grammar.js';

type Behind = 'name' | 'number' | 'either';

const FOLLOWS: Readonly<Record<Behind, RegExp>> = {
  name: /^ ?[«"“]?[\p{Lu}]/u,
  number: /^ ?(?:[№\d]|[«"][а-яё][»"])/u,
  either: /^ ?(?:[«"“]?\p{Lu}|№|\d)/u,
};

const LONGEST_LEAD = 40; // units
/** На 3-й ул., согласно ст. 5 и п. 3: the preposition stands further away. */
const SHARED_PREPOSITION =
  /(\p{L}+) \d{1,3}-(?:й|я|ю|м) $|(\p{L}+) (?:ст|пп?|ч|гл|рис|табл|стр|подп)\. ?[\d.]{1,8}(?: \p{Lu}{2,4}){0,2} (?:и|или) $/u;

const COMPARED = /(?:^|[\s(])(?:см|ср)\. ?(?:\p{L}{1,6}\. ?[\d.]{1,8}(?: и|,) )?$/iu; // см. ст. 5: смотри статью

/** Case of a place name: behind в and на the prepositional, not the accusative. */
function caseOfPlace(around: Around): Case {
  const lead = around.text.slice(Math.max(0, around.start - LONGEST_LEAD), around.start);
  if (COMPARED.test(lead)) return 'accusative';
  const before =
    SHARED_PREPOSITION.exec(lead)
      ?.slice(1)
      .find((word) => word)
      ?.toLowerCase() ?? wordAhead(around);
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

export const ABBREVIATIONS: Readonly<Record<string, Saying>> = {
  ...greekLetters('альфа бета гамма дельта эпсилон дзета эта тета йота каппа лямбда мю ню кси омикрон пи ро сигма тау ипсилон фи хи пси омега'),
  'т. е.': 'то есть', 'т. к.': 'так как', 'т. д.': 'так далее', 'т. п.': 'тому подобное', 'т. н.': 'так называемый', 'т. о.': 'таким образом', 'т. ч.': 'том числе', 'т. ж.': 'также', 'и т. д. и т. п.': 'и так далее и тому подобное',
  'и др.': 'и другие', 'и пр.': 'и прочее', 'др.': behind(/(?:^| )и $/u, 'другие'), 'см.': either(before(/^ (?:\p{L}|\d|\()/u, 'смотри'), 'смотри'), 'ср.': behind(/(?:^|[(;.] ?)$/u, 'сравни'), 'напр.': 'например', 'н. э.': 'нашей эры', 'пол.': either(behind(/(?:^| )во? \S{1,4} $/u, 'половине'), before(/^ [IVX]/u, 'половина')), 'нач.': before(/^ (?:[IVX]|\d)/u, 'начало'), 'кон.': before(/^ (?:[IVX]|\d)/u, 'конец'), 'сер.': before(/^ (?:[IVX]|\d)/u, 'середина'), 'с. ш.': 'северной широты', 'ю. ш.': 'южной широты', 'в. д.': 'восточной долготы', 'з. д.': 'западной долготы', 'к. т. н.': 'кандидат технических наук', 'д. т. н.': 'доктор технических наук', 'к. м. н.': 'кандидат медицинских наук', 'д. м. н.': 'доктор медицинских наук', 'к. э. н.': 'кандидат экономических наук', 'д. э. н.': 'доктор экономических наук', 'ver.': 'версия', 'лит.': before(/^ [А-Я](?!\p{L})/u, 'литера'), 'ок.': before(/^ ?\d/u, 'около'),
  'макс.': 'максимум', Ø: 'диаметр', ø: 'диаметр', t: before(/^ ?[=:]? ?[-−+]?\d[\d,.]{0,5} ?°/u, 'температура'), 't°': 'температура', 'мин.': before(/^ ?\d/u, 'минимум'), 'прим.': 'примечание', 'ред.': 'редакция', 'изд.': 'издание', 'обл.': 'область', 'р-н': 'район', 'р-не': 'районе', 'р-на': 'района', 'респ.': 'республика', 'кол-во': 'количество', 'кол-ва': 'количества', 'л-ра': 'литература', 'ин-т': 'институт', 'ун-т': 'университет',
  'б-ка': 'библиотека', 'г-н': 'господин', 'г-на': 'господина', 'г-ну': 'господину', 'г-ном': 'господином', 'г-жа': 'госпожа', 'г-жи': 'госпожи', 'г-же': 'госпоже', 'г-жу': 'госпожу', 'г-жой': 'госпожой', 'гг.': either(behind(/\d-?х ?$/u, 'годов'), behind(/\d-?е ?$/u, 'годы'), before(/^ \p{Lu}/u, 'города')), 'гр.': before(/^ \p{Lu}/u, 'гражданин'), 'д-р': 'доктор', 'д-ра': 'доктора', 'д-ру': 'доктору',
  'проф.': 'профессор', 'акад.': 'академик', 'доц.': 'доцент', 'тов.': 'товарищ', 'им.': 'имени', 'зам.': 'заместитель', 'зав.': 'заведующий', 'ген.': 'генерал', 'полк.': 'полковник', 'кап.': 'капитан', 'инж.': 'инженер', 'канд.': 'кандидат', 'дир.': 'директор', 'пред.': 'председатель', 'чл.-корр.': 'член-корреспондент',
  'ул.': either(named('f улица улицы улиц', 'either'), behind(/ая $/u, 'улица'), behind(/ой $/u, 'улице')), 'пр.': either(behind(/(?:^| )и $/u, 'прочее'), named('m проспект проспекта проспектов', 'name'), behind(/\p{L} $/u, 'проспект')), 'пр-т': either(named('m проспект проспекта проспектов', 'name'), behind(/(?:ий|ый|ой) $/u, 'проспект')), 'пр-та': 'проспекта', 'пр-те': 'проспекте', 'просп.': named('m проспект проспекта проспектов', 'name'), 'пр-д': 'проезд',
  'пер.': either(named('m переулок переулка переулков', 'name'), behind(/\p{L}(?:ий|ый|ой) $/u, 'переулок')), 'пл.': either(before(/^ ?\d{1,2} \p{Lu}\p{Ll}/u, 'площадь'), named('f площадь площади площадей', 'name'), behind(/ая $/u, 'площадь')), 'наб.': either(named('f набережная набережной набережных', 'name'), before(/^ (?:реки|канала)/u, 'набережная'), behind(/ая $/u, 'набережная')), 'ш.': either(named('n шоссе', 'name'), behind(/ое $/u, 'шоссе')), 'б-р': named('m бульвар бульвара бульваров', 'name'), 'бул.': named('m бульвар бульвара бульваров', 'name'), 'туп.': 'тупик', 'мкр.': 'микрорайон', 'мкр-н': 'микрорайон',
  'г.': yearOrCity, 'гор.': either(named('m город города городов', 'name'), before(/^ \p{Ll}+[ая](?!\p{L})/u, 'городская'), before(/^ \p{Ll}+[бвгджзклмнпрстфхцчшщ](?!\p{L})/u, 'городской')), 'ост.': named('f остановка остановки остановок', 'name'), 'авт.': before(/^ ?\d/u, 'автобус'), 'н. у. м.': 'над уровнем моря', 'пос.': named('m посёлок посёлка посёлков', 'name'), 'дер.': named('f деревня деревни деревень', 'name'), 'с.': either(named('f страница страницы страниц', 'number'), named('n село села сёл', 'name')), 'д.': either(named('m дом дома домов', 'number'), named('f деревня деревни деревень', 'name')), 'стр.': either(behind(/(?:д|дом|корп|к)\.? ?\d{1,4}\p{L}?,? ?$/u, 'строение'), named('f страница страницы страниц', 'number')),
  'кв.': named('f квартира квартиры квартир', 'number'), 'корп.': named('m корпус корпуса корпусов', 'number'), 'эт.': either(behind(/\d-м ?$/, 'этаже'), behind(/\d-го ?$/, 'этажа'), named('m этаж этажа этажей', 'number'), behind(/\d ?$/, 'этаж')), 'оф.': named('m офис офиса офисов', 'number'), 'каб.': named('m кабинет кабинета кабинетов', 'number'), 'под.': named('m подъезд подъезда подъездов', 'number'), 'пом.': 'помещение', 'вл.': 'владение',
  'р.': either(before(/^ \p{Lu}/u, 'река'), behind(/г\. ?$/u, 'рождения')), 'оз.': named('n озеро озера озёр', 'name'), 'о.': before(/^ \p{Lu}\p{Ll}{2}/u, 'остров'), 'о-в': 'остров', 'о-ва': 'острова', 'м.': before(/^ [«"]?\p{Lu}\p{Ll}{2}/u, 'метро'), 'ст. м.': metro, 'ст. метро': metro, 'ж/д': 'жэ дэ', 'ж.-д.': 'железнодорожный', 'а/м': 'автомобиль', 'а/я': 'абонентский ящик', 'н/д': 'нет данных', 'б/у': 'бэ у', 'Б/У': 'бэ у', 'г/г': 'год к году', 'м/м': 'месяц к месяцу', 'в.': behind(/\d{4} ?г\. ?$/u, 'выпуска'), СПбГУ: 'эс пэ бэ гэ у', 'з/п': 'зарплата', 'и/или': 'и или', 'п/п': 'по порядку', 'р/с': 'расчётный счёт', 'к/с': 'корреспондентский счёт', 'с/х': 'сельскохозяйственный', 'х/ф': 'художественный фильм',
  'т.': either(named('m том тома томов', 'number'), before(/^ \p{Lu}/u, 'товарищ')), 'гл.': either(named('f глава главы глав', 'number'), before(/^ \p{Ll}/u, 'главный')), 'п.': named('m пункт пункта пунктов', 'number'), 'пп.': before(/^ ?\d/u, 'пункты'), 'подп.': named('m подпункт подпункта подпунктов', 'number'), 'ст.': either(behind(/\d[/,]\d $/, 'стакана'), named('f статья статьи статей', 'number'), named('f станция станции станций', 'name'), before(/^ \p{Ll}/u, 'старший')), 'ч.': named('f часть части частей', 'number'), 'рис.': named('m рисунок рисунка рисунков', 'number'), 'илл.': named('f иллюстрация иллюстрации иллюстраций', 'number'),
  'табл.': named('f таблица таблицы таблиц', 'number'), 'разд.': named('m раздел раздела разделов', 'number'), 'абз.': named('m абзац абзаца абзацев', 'number'), 'вып.': named('m выпуск выпуска выпусков', 'number'), 'тел.': phone, 'Тел.': (around) => upper(phone(around)), 'моб.': 'мобильный', 'доб.': 'добавочный', 'адр.': 'адрес', 'л.': countedNoun('m год года лет'), 'кв. м': 'квадратных метров', 'тыс.': 'тысяч', 'млн': 'миллионов', 'млрд': 'миллиардов', 'руб.': 'рублей', 'коп.': 'копеек', 'долл.': 'долларов',
  'англ.': 'английский', 'нем.': 'немецкий', 'фр.': 'французский', 'лат.': 'латинский', 'рус.': 'русский', 'урожд.': 'урождённая', 'род.': before(/^ (?:\d|в )/u, 'родился'), 'ум.': before(/^ (?:\d|в )/u, 'умер'), 'св.': either(before(/^ ?\d/u, 'свыше'), before(/^ \p{Lu}\p{Ll}+(?:а|я|ого|его) /u, 'святого')), 'сокр.': 'сокращённо', 'соотв.': 'соответственно', 'спец.': 'специальный', 'стд.': 'стандартный', 'эл. почта': 'электронная почта', 'эл.': before(/^ (?:почт|адрес)/u, 'электронный'),
  '24/7': 'двадцать четыре на семь', СПб: 'Санкт-Петербург', СПБ: 'Санкт-Петербург', 'P.S.': 'постскриптум', 'P. S.': 'постскриптум', 'etc.': 'и так далее', 'vs': 'против', 'vs.': 'против',
}; // prettier-ignore

export const BEFORE_NUMBER: Readonly<Record<string, string>> = {
  '№': 'номер', '№№': 'номера', N: 'номер', '#': 'номер', '§': 'параграф', '§§': 'параграфы', 'доб.': 'добавочный', 'ред.': 'редакция', 'вер.': 'версия', 'v.': 'версия', 'стр.:': 'страница',
}; // prettier-ignore
