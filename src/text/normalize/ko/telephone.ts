// Numbers that somebody calls or keys in: 112와 119, the keys # and *, plates of cars.
import type { Found, Reading } from '../reading.js';
import type { Keywords } from '../recognise/attached.js';
import { spellDigits } from './numbers.js';

const LINK = '(?:번호|코드)?(?:는|은|가|이|를|을|로|으로|에|:)? ?[「“"‘\'\\[(]{0,2}$';

/** What stands before a code and before a telephone number. */
export const KEYWORDS: Keywords = {
  codes: new RegExp(
    `(?:인증|비밀|주민등록|주민|사업자|면허|여권|확인|주문|예약|접수|상담|계좌|우편|사원|학생|고객|회원|송장|운송장|카드\\]?|등록|일련|차량|승인|관리|뒷자리|앞자리|끝자리|끝|사번|학번|코드|종목|PIN|ID|HTTP|오류|에러|상태|포트|생년월일)${LINK}`,
  ),
  calls: new RegExp(`(?:전화|휴대폰|휴대전화|핸드폰|연락처|고객센터|콜센터|팩스|문의|대표|내선|직통|호출|국번 없이|긴급|TEL|Tel|tel|FAX|☎)${LINK}`),
  counted: /^ ?(?:[개명원년월일회건장대분초시간%만억천백위차권살세층호단점배]|[/~–-]\d)/,
  pause: ', ',
}; // prettier-ignore

const EMERGENCY =
  /1(?:12|19|14|20|10|11|17|18|25|32|82|88|330|345|355|366|388|393|577)(?!\d|[.,:/~-]\d| ?[개명원년월일회건장대분초시%만억천백위권살세층호점배])/y;
const CALLED_AFTER =
  /^(?:번?(?:에|로|으로) ?(?:전화|신고|연락|문의|걸)|번? ?(?:신고|구급|구조|상황실|긴급|콜센터|안내|민원|다산|대원|종합|센터|경찰|소방))/;
const CALLED_NEAR = /신고|구급|화재|범죄|긴급|응급|국번|콜센터|상황실|경찰|소방|출동/;
const NEAR = 16; // units on either side in which somebody calls

/** 119에 신고, 화재는 119: each digit. */
export function emergency(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (!reading.isFresh || text[at] !== '1' || runEnd - at > 4) return undefined;
  const digits = reading.match(EMERGENCY)?.[0];
  if (digits === undefined) return undefined;
  const after = text.slice(runEnd, runEnd + NEAR);
  const near = CALLED_NEAR.test(text.slice(Math.max(0, at - NEAR), at) + after);
  const known = CALLED_AFTER.test(after) || (near && /^1(?:12|19|10|20|14|82|17|18)$/.test(digits));
  return known ? { end: runEnd, spoken: spellDigits(digits), rule: 'telephone' } : undefined;
}

const PLATE = /(\d{2,3})([가-힣]) ?(\d{4})(?!\d)/y;

const ATTACHED_PLATE =
  /(\d{2,3})([가나다라마거너더러머버서어저고노로모보소오구누두루무부수우하허])(\d{4})(?![\d억만천백원개명])/y;

/** 차량번호 12가 3456: each digit. */
export function plate(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 8), reading.at);
  if (!reading.isFresh) return undefined;
  const named = /(?:차량|번호|차|\d{4},)(?:는|은|이|가|:)? ?$/.test(before);
  const match = reading.match(ATTACHED_PLATE) ?? (named ? reading.match(PLATE) : undefined);
  if (match === undefined) return undefined;
  const [written, first = '', letter = '', second = ''] = match;
  const spoken = `${spellDigits(first)}${letter} ${spellDigits(second)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const KEY =
  /\(?([#＃*＊])\)?(?:([을를])|([은는])|([이가](?= ))|([와과]))?(?= ?(?:버튼|키|표|눌러|누르|입력)|[ ,.)]|$)/y;

/** #을 눌러 주세요: the keys of a telephone, with the particle that their names ask for. */
export function key(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[#＃*＊(]/.test(text[at] ?? '')) return undefined;
  const match = reading.match(KEY);
  if (match === undefined) return undefined;
  const [written, sign = '', object, topic, subject, and] = match;
  const before = text.slice(Math.max(0, at - 24), at);
  const near = before + text.slice(at + written.length, at + written.length + 24);
  if (!/누르|눌러|누른|버튼|입력|종료/.test(near) || (/[*#]/.test(near) && /\*\*|##/.test(near)))
    return undefined;
  const particle =
    object !== undefined
      ? '를'
      : topic !== undefined
        ? '는'
        : subject !== undefined
          ? '가'
          : and !== undefined
            ? '와'
            : '';
  const bracketed = written.startsWith('(') && /(?:우물 ?정자?|샵|별표) ?$/.test(before);
  if (written.startsWith('(') && !bracketed) return undefined;
  const star = text[at + written.length] === '표' ? '별' : '별표';
  const name = bracketed ? '' : /[#＃]/.test(sign) ? '우물 정자' : star;
  const gap = /^(?:버튼|키)/.test(text.slice(at + written.length, at + written.length + 2)) ? ' ' : '';
  return { end: at + written.length, spoken: name + particle + gap, rule: 'symbol' };
}
