// Speaks Korean: numbers, dates, times, amounts and counters.
// Before 번, 대 and 분 the words around a number decide whether it names or counts: 3번 출구, 하루 3번.
import type { Speech } from '../language.js';
import type { Currency, Fraction, Noun, Quantity, WrittenDate, WrittenTime } from '../quantity.js';
import { inMyriads } from '../myriads.js';
import { integerOf, type Numeral, numeralOf, valueOf, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { cardinal, decimal, finalOf, letterNames, native, spellDigits } from './numbers.js';

const LAST_TIME = 20; // 스무 번, but 이십일번 is the name of something

// Behind the number: what has one.
const NAMED =
  /^(?:은|이(?!나|상|하|내|었|라도)|과|이나 ?\d|으로|에서|부터|까지(?= ?(?:문제|문항|항목|번호|출구))|을(?! ?(?:더|연속|실패|시도|했|하|반복|이겼|이기|졌|봤|만났|찾|물|갔|왔|도전|넘|채))|(?:입|이에|예|인데|이죠|이고|이며|인가|일|이었)| ?(?:앞(?!서)|옆|출구|버스|게이트|홈|국도|도로|고속|문항|문제|창구|좌석|승강장|선수|타자|투수|테이블|방|메뉴|트랙|채널|항목|보기|후보|시드|교향곡|마을버스|노선|탑승구|진료실|진찰실|검사실|상담실|강의실|교실|부스|구역|카운터|병실|탈의실|환자|고객|손님|학생|레인|회선|매듭|포트|키|버튼|눌러|누르|홀|염색체|요추|경추|코스|코트|유형|질문|답|칸|사진|그림|참조|선택|클릭|연결|님|척추|카메라|활주로|국번|차로|차선|플랫폼|라인|대기|기호|트레이|슬롯|단자|코너|매장|진열|핀|램프|존|루트|구간|주차|구장|회의실|스튜디오|밸브|센서|배터리|모듈|디스크|드라이브|서버|타석|실린더|장면|서랍|엘리베이터|승차장|정류장|터미널|그린|레일|사이트|체어|유닛|룸|베드|침대|단지|동 |호기|필터|섹션|스텝|단계|공정))/;
const COPULA = /^(?:입|이에|예|인데|이죠|이고|이며|인가|일|이었)/;
// Before it: what is named by one.
const NUMBERED =
  /(?:내선|진료실|검사실|상담실|수술실|부스|구역|탈의실|번호|번호는|번호가|국도|지방도|노선|문제|보기|정답은?|답은?|교향곡|소나타|협주곡|채널|트랙|좌석|창구|게이트|출구|테이블|기호|레인|메뉴|학년|\d반|선수|타자|버스|지하철|단축|다이얼|버튼은?|과목|항목|승강장|탑승구|케이스|포트|카드) ?$/;
const LISTED = /\d번?(?:과|와|,|·|~|-|또는|이나|나|하고|및|부터|에서|혹은) ?$/;
const TOPIC = /(?:은|는|시려면|려면|경우|원하시면|분은|,) ?$/;
const ENDS = /^(?:[,.·;!]|$)/;
const OFTEN =
  /(?:하루|하루에|매일|매주|매월|매년|총|최대|최소|약|단|또|한 달에|달에|주에|년에|벌써|모두|지난|이미|무려|횟수는|횟수가|기회는|기회가|겨우|불과|고작|평균|적어도|딱|일주일에|연|월|주|회당|만에) ?$/;
const PRESSED = /(?:버튼|키|벨|초인종|화면|스위치|전원|건반|클랙슨)(?:을|를|은)? ?$/;
const MENU = /(?:^|\D)1번 [가-힣 ]{1,12}[,.] ?2번 [가-힣]/; // 1번 예약, 2번 변경
const MENU_NEAR = 48;
const NEAR = 10; // units that are looked at on either side

/** True if 번 names something instead of counting how often. */
function isName({ number }: Quantity, { text, start, end }: Around): boolean {
  const before = text.slice(Math.max(0, start - NEAR), start);
  const after = text.slice(end, end + NEAR);
  const value = Number(number.whole);
  if (value === 0 || value > LAST_TIME) return true;
  if (before.trimEnd().endsWith('|') && after.trimStart().startsWith('|')) return true; // a cell of a table
  if (OFTEN.test(before) && !/버튼/.test(after)) return false;
  if (PRESSED.test(before) && !ENDS.test(after) && !COPULA.test(after)) return false;
  if (NUMBERED.test(before) || (LISTED.test(before) && !/^ ?(?:더|째|씩)/.test(after))) return true;
  if (NAMED.test(after)) return true;
  if (TOPIC.test(before) && ENDS.test(after)) return true;
  return MENU.test(text.slice(Math.max(0, start - MENU_NEAR), end + MENU_NEAR));
}

const MACHINE =
  /(?:차량?|차|버스|택시|트럭|컴퓨터|노트북|폰|기|카메라|TV|서버|에어컨|냉장고|오토바이|헬기|드론|로봇|피아노|총|약|모두|각각|장비|열차|구급차|소방차|승용차|트랙터|모니터|태블릿|자전거|비행기|프린터|세탁기|킥보드|화물차|순찰차|전동차) ?$/;

/** 20대 are people of that age, 3대 의혹 the greatest three; 차량 3대 are counted. */
function isEra({ number }: Quantity, { text, start, end }: Around): boolean {
  if (MACHINE.test(text.slice(Math.max(0, start - 6), start))) return false;
  return (
    /^[1-9]0$/.test(number.whole) ||
    /^(?:강|양|악|륙|째|손)/.test(text.slice(end, end + 1)) ||
    /^ [가-힣]/.test(text.slice(end, end + 2)) ||
    /대 ?$/.test(text.slice(Math.max(0, start - 2), start))
  );
}

const GUESTS =
  /(?:손님|고객님?|어르신|선생님|교수님|어른|환자분?|부모님|할머니|할아버지|참석자|일행|성인|신도|스님|기사님) ?$/;
const HONOURED =
  /^(?:이서|의 (?:손님|고객|선생|어르신|교수|부모)|께서|께|이 (?:오|계|참석|앉|기다리시|신청하)|을 (?:모시|초대|추첨)| ?(?:모두|모십|예약하|테이블|자리(?!(?:를|을)? ?(?:비|떠|뜨|이탈))))/;

/** 손님 3분: people, not minutes. */
function arePeople({ text, start, end }: Around): boolean {
  const before = text.slice(Math.max(0, start - 6), start);
  if (/\d ?시 ?$/.test(before)) return false; // 10시 21분께
  return GUESTS.test(before) || HONOURED.test(text.slice(end, end + 8));
}

const LIMITED = /^(?: ?(?:이상|이하|이내|내외|미만|까지|씩)|로 |[,.]|를? ?(?:입력|포함))/; // 8자 이상

/** 신청서 2부: copies; 1부 is the first part. */
function areCopies({ text, start, end }: Around): boolean {
  return (
    /(?:서류?|본|사본|신문|책자|[AB]\d|자료|보고서|명함|안내문|서식|각) ?$/.test(
      text.slice(Math.max(0, start - 5), start),
    ) ||
    /^(?:씩|[를을]? ?(?:제출|준비|복사|출력|인쇄|발급|필요|지참|동봉|작성|첨부))/.test(
      text.slice(end, end + 6),
    )
  );
}

const RANGE = '에서';
const LAST_SHORT = 19; // 열두 시간, but 이십사 시간
const LAST_HOUR = 12; // 열두 시, but 십삼 시

function amount(quantity: Quantity): string {
  const { number, to, magnitude, fraction } = inMyriads(quantity);
  const name = magnitude?.forms[0] ?? '';
  const mixed =
    fraction === undefined ? '' : `${particle(number.whole, '과', '와')} ${sayFraction(fraction)}`;
  const range = to === undefined ? '' : `${RANGE} ${multiple(to, name)}`;
  return multiple(number, name) + mixed + range;
}

/** 만, 천, 일억: the one before them is said from 억 on. */
function multiple(number: Numeral, name: string): string {
  const lone = number.whole === '1' && number.decimals === '' && /^[십백천만]/.test(name);
  return `${lone ? (number.negative ? '마이너스 ' : '') : decimal(number)}${name}`;
}

function particle(before: string, closed: string, open: string): string {
  return finalOf(before.slice(-1)) === 'vowel' ? open : closed;
}

/** Each number of a counted thing, where native words are asked for. */
function counted(quantity: Quantity, name: string, most: number): string {
  const { number, to, magnitude, fraction } = quantity;
  if (magnitude !== undefined || fraction !== undefined) return `${amount(quantity)} ${name}`;
  const said = (numeral: Numeral): string => `${nativeOf(numeral, most) ?? decimal(numeral)} ${name}`;
  return to === undefined ? said(number) : `${said(number)}${RANGE} ${said(to)}`;
}

function nativeOf({ whole, decimals, negative }: Numeral, most: number): string | undefined {
  return decimals === '' && !negative && Number(whole) <= most ? native(whole) : undefined;
}

function measure(quantity: Quantity, unit: Noun, around: Around): string {
  const [name = '', before] = unit.forms;
  // 제3장.
  const numbered = /(?:제|개정|증보) ?$/.test(around.text.slice(Math.max(0, around.start - 3), around.start));
  switch (numbered ? 'close' : unit.form) {
    case 'native':
      return isOrdinal(quantity, name) ? '첫 번째' : counted(quantity, name, Infinity);
    case 'short':
      return counted(quantity, name, LAST_SHORT);
    case 'hours':
      return counted(quantity, name, LAST_HOUR);
    case 'times':
      return isName(quantity, around) ? amount(quantity) + name : counted(quantity, name, LAST_TIME);
    case 'minutes':
      return arePeople(around) ? counted(quantity, name, Infinity) : `${amount(quantity)} ${name}`;
    case 'machines':
      return isEra(quantity, around) ? amount(quantity) + name : counted(quantity, name, Infinity);
    case 'letters':
      return LIMITED.test(around.text.slice(around.end, around.end + 4))
        ? counted(quantity, name, LAST_TIME)
        : close(quantity, name);
    case 'copies':
      return areCopies(around) ? counted(quantity, name, LAST_TIME) : close(quantity, name);
    case 'close':
      return close(quantity, name);
    case 'degrees':
      return degrees(quantity, name);
    default:
      return `${speed(before, around)}${amount(quantity)} ${name}`;
  }
}

/** 1번째 is 첫 번째. */
function isOrdinal({ number, to }: Quantity, name: string): boolean {
  return name === '번째' && number.whole === '1' && to === undefined;
}

/** 유월, 시월 and all else that is written together. */
function close(quantity: Quantity, name: string): string {
  const { number, to, magnitude } = quantity;
  if (to !== undefined && magnitude === undefined) {
    return `${close({ number }, name)}${RANGE} ${close({ number: to }, name)}`;
  }
  const month = name.startsWith('월') ? IRREGULAR_MONTHS[number.whole] : undefined;
  if (month !== undefined && number.decimals === '') return month + name.slice(1); // 유월호
  const together = number.decimals === '' && magnitude === undefined;
  return together ? amount(quantity) + name : `${amount(quantity)} ${name}`;
}

const IRREGULAR_MONTHS: Readonly<Record<string, string>> = { '6': '유월', '10': '시월' };

function degrees(quantity: Quantity, name: string): string {
  const { number } = quantity;
  if (!number.negative) return `${amount(quantity)} ${name}`;
  const last = quantity.to?.negative === true ? degrees({ number: quantity.to }, name) : undefined;
  const first = {
    ...quantity,
    number: { ...number, negative: false },
    to: last === undefined ? quantity.to : undefined,
  };
  return `영하 ${amount(first)}${last === undefined ? ` ${name}` : `${RANGE} ${last}`}`;
}

/** 시속 오십 킬로미터, unless 시속 is written already. */
function speed(before: string | undefined, { text, start }: Around): string {
  return before === undefined || text.slice(Math.max(0, start - 4), start).includes(before)
    ? ''
    : `${before} `;
}

function money(quantity: Quantity, { forms, minor }: Currency): string {
  const { number, to, magnitude, fraction } = quantity;
  const name = forms[0] ?? '';
  const cents = minor !== undefined && number.decimals.length === 2 && to === undefined;
  if (!cents || magnitude !== undefined || fraction !== undefined) return `${amount(quantity)} ${name}`;
  const small = numeralOf(withoutZeros(number.decimals));
  const major = number.whole === '0' && valueOf(small) !== 0 ? '' : `${cardinal(number.whole)} ${name}`;
  const rest = valueOf(small) === 0 ? '' : `${cardinal(small.whole)} ${minor.forms[0] ?? ''}`;
  return (number.negative ? '마이너스 ' : '') + [major, rest].filter((part) => part !== '').join(' ');
}

function sayFraction({ numerator, denominator }: Fraction): string {
  return `${cardinal(withoutZeros(denominator))}분의 ${cardinal(withoutZeros(numerator))}`;
}

function date({ day, month, year, style }: WrittenDate): string | undefined {
  if (style === 'numeric' && year === undefined) return undefined;
  const full = year?.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year;
  const parts = [
    full === undefined ? '' : `${cardinal(full)}년`,
    month === undefined ? '' : (IRREGULAR_MONTHS[String(month)] ?? `${cardinal(String(month))}월`),
    day === undefined ? '' : `${cardinal(day)}일`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** 아홉 시 오 분, 십오 시 삼십 분. */
export function time({ hours, minutes, seconds, half }: WrittenTime): string {
  const hour = Number(hours) <= LAST_HOUR ? (native(hours) ?? cardinal(hours)) : cardinal(hours);
  const parts = half === undefined ? [] : [half];
  parts.push(hour, '시');
  if (Number(minutes || '0') > 0 || seconds !== undefined) parts.push(cardinal(withoutZeros(minutes)), '분');
  if (seconds !== undefined) parts.push(cardinal(withoutZeros(seconds)), '초');
  return parts.join(' ');
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = {
  h: { forms: ['시간'], form: 'short' },
  min: { forms: ['분'] },
  s: { forms: ['초'] },
};

/** 01012345678 as it is said: three, four, four. */
function parted(group: string): string[] {
  return /^01\d{8,9}$/.test(group) ? [group.slice(0, 3), group.slice(3, -4), group.slice(-4)] : [group];
}

export const SPEECH: Speech = {
  exchange: (from, to) => `${letterNames(from)}투${letterNames(to)}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${spellDigits(model)}`,
  number: (numeral) => decimal(numeral),
  verse: (book, chapter, verses) =>
    `${book} ${chapter}${book.endsWith('편') ? '편' : '장'} ${verses.map((verse) => `${verse}절`).join('에서 ')}`,
  ordinal: (digits) => `제${cardinal(digits)}`,
  digits: spellDigits,
  letters: letterNames,
  year: (digits, _around, sure) => (sure ? cardinal(digits) : undefined),
  decade: () => undefined, // 90년대 is a number and a noun
  fraction: (fraction) => sayFraction(fraction),
  fractionOf: (fraction, unit) =>
    `${sayFraction(fraction)}${unit.form === 'close' || unit.forms[0] === '도' ? '' : ' '}${unit.forms[0] ?? ''}`,
  count: amount,
  measure,
  money,
  date,
  per: (amount) => `${amount}당`,
  rate: (amount, per, { text, start }) =>
    text.slice(Math.max(0, start - per.length - 1), start).trim() === per ? amount : `${per} ${amount}`,
  time,
  duration: (parts, around) =>
    parts.map(([digits, unit]) => measure({ number: numeralOf(digits) }, DURATION[unit], around)).join(' '),
  power: (exponent) =>
    exponent === '2' ? ' 제곱' : exponent === '3' ? ' 세제곱' : `의 ${decimal(integerOf(exponent))}제곱`,
  range: (from, to) => `${from}${RANGE} ${to}`,
  score: (home, guest) => `${home} 대 ${guest}`,
  outOf: (got, most, behind) =>
    `${cardinal(most)}점 만점에 ${cardinal(got)}${behind.startsWith('점') ? '' : '점'}`,
  atLeast: (number, noun) => `${number}${noun} 이상`,
  telephone: (groups, plus) => (plus ? '플러스 ' : '') + groups.flatMap(parted).map(spellDigits).join(', '),
};
