// Reads Korean text by its neighbours: scores, addresses, particles such as 은(는).
// It also reads emergency numbers (112와 119), the telephone keys # and *, and number plates.
import { beginning } from '../dispatch.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import type { Keywords } from '../recognise/attached.js';
import type { Rules } from '../shared-forms.js';
import { isScore } from './dates.js';
import { cardinal, decimal, finalOf, spellDigits } from './numbers.js';

const PARTS = /(\d{1,6})분의 ?(\d{1,6})(?!\d)/y;
const SCORE = /(\d{1,3}) ?[-–:대] ?(\d{1,3})(?![\d:.-]\d|\d)/y;
const VERSUS = /(\d{1,3}) ?대 ?(\d{1,3})(?!\d|[.,]\d|년|세기)/y;

/** 3분의 2; 3-1로 이겼다, 3대1. */
export function parts(reading: Reading): Found | undefined {
  const part = reading.match(PARTS);
  if (part !== undefined) {
    const spoken = `${cardinal(withoutZeros(part[1] ?? ''))}분의 ${cardinal(withoutZeros(part[2] ?? ''))}`;
    return { end: reading.at + part[0].length, spoken, rule: 'fraction' };
  }
  const versus = reading.match(VERSUS);
  const score = versus ?? reading.match(SCORE);
  const known =
    versus !== undefined || (score !== undefined && isScore(reading, reading.at + score[0].length));
  if (score === undefined || !known) return undefined;
  const spoken = `${cardinal(withoutZeros(score[1] ?? ''))} 대 ${cardinal(withoutZeros(score[2] ?? ''))}`;
  return { end: reading.at + score[0].length, spoken, rule: 'score' };
}

const LOT = /(\d{1,4})-(\d{1,4})(?=번지|호|[에으로입이가은는](?![가-힣]{2})|에서|,|\.|\s|$)/y;

/** 역삼동 123-45번지: 다시 stands for the dash. */
function lot(reading: Reading): Found | undefined {
  if (!/[동리가로길] ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at))) return undefined;
  const match = reading.match(LOT);
  if (match === undefined) return undefined;
  const spoken = `${cardinal(withoutZeros(match[1] ?? ''))} 다시 ${cardinal(withoutZeros(match[2] ?? ''))}`;
  return { end: reading.at + match[0].length, spoken, rule: 'address' };
}

// Written for both sounds, the first behind a consonant.
const PARTICLES: readonly (readonly [written: RegExp, closed: string, open: string])[] = [
  [/은\(는\)|는\(은\)/y, '은', '는'],
  [/이\(가\)|가\(이\)/y, '이', '가'],
  [/을\(를\)|를\(을\)/y, '을', '를'],
  [/과\(와\)|와\(과\)/y, '과', '와'],
  [/아\(야\)|야\(아\)/y, '아', '야'],
];
const OPTIONAL = /\((으|이)\)(?=로|나|라|랑|며|면|니|든|야|시|세|신|실)/y;

/** 홍길동은(는), 사과을(를): the one that fits. */
function particle(reading: Reading): Found | undefined {
  if (reading.text[reading.at + 1] !== '(') return undefined;
  const final = finalOf(reading.text[reading.at - 1] ?? '');
  if (final === undefined) return undefined;
  for (const [written, closed, open] of PARTICLES) {
    const match = reading.match(written);
    if (match === undefined) continue;
    return { end: reading.at + match[0].length, spoken: final === 'vowel' ? open : closed, rule: 'symbol' };
  }
  return undefined;
}

const PARTICLE = /(?:[은는이가을를과와]|으?로(?:는|만|도|부터|의|서|써)?)(?![가-힣])/y;
const STREET = /[로길동] ?\d{1,2}$/; // 종로 3가
const PAIRS = ['은는', '이가', '을를', '과와'];
const NEAREST = 5; // units before a particle that may name a street

/** 8가, 3/4를, 5kcal을, 10분로: the particle that the words before it ask for. */
function behindWords(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const final = at === reading.tokenEnd ? finalOf(reading.tokenWords.slice(-1)) : undefined;
  const written = final && reading.match(PARTICLE)?.[0];
  if (final === undefined || written === undefined) return undefined;
  if (written === '가' && STREET.test(text.slice(Math.max(0, at - NEAREST), at))) return undefined;
  const [closed = '', open = ''] = Array.from(PAIRS.find((pair) => pair.includes(written)) ?? '');
  const way = `${final === 'consonant' ? '으' : ''}${written.replace('으', '')}`;
  const spoken = closed === '' ? way : final === 'vowel' ? open : closed;
  return spoken === written ? undefined : { end: at + written.length, spoken, rule: 'symbol', clings: true };
}

const SUBJECT = /(\d{1,4})(?:\.(\d{1,4}))?가(?![가-힣]| ?\d)/y;

/** 점수는 8가: a particle, no section of a street. */
function subject(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(SUBJECT);
  if (match === undefined || /[로길동] ?$/.test(text.slice(Math.max(0, at - 2), at))) return undefined;
  const [written, digits = '', decimals = ''] = match;
  const number = decimal({ ...numeralOf(withoutZeros(digits)), decimals });
  const spoken = number + (finalOf(written.slice(-2, -1)) === 'vowel' ? '가' : '이');
  return { end: at + written.length, spoken, rule: decimals === '' ? 'cardinal' : 'decimal' };
}

/** 서울(으)로, 학생(이)나. */
function optionalVowel(reading: Reading): Found | undefined {
  const match = reading.match(OPTIONAL);
  const final = finalOf(reading.text[reading.at - 1] ?? '');
  if (match === undefined || final === undefined) return undefined;
  const [written, vowel = ''] = match;
  const rieul = final === 'rieul' && vowel === '으' && reading.text[reading.at + written.length] === '로';
  const spoken = final === 'vowel' || rieul ? '' : vowel;
  return { end: reading.at + written.length, spoken, rule: 'symbol' };
}

const ROMAN = /(I{1,3}|IV|VI{0,3}|IX|X{1,2}I{0,3}V?)(?=[세형기부장권급류]|단계)/y;
const ROMANS = 'I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX'.split(' ');

/** 2세 as II세; an X세대 is no number. */
export function roman(reading: Reading): Found | undefined {
  const written = reading.isFresh ? reading.match(ROMAN)?.[0] : undefined;
  const value = written === undefined ? 0 : ROMANS.indexOf(written) + 1;
  if (written === undefined || value === 0 || (written.length === 1 && written !== 'I')) return undefined;
  return { end: reading.at + written.length, spoken: cardinal(String(value)), rule: 'roman' };
}

const COMPANY = /㈜ ?/y;

/** ㈜ is one character, and one of the script. */
function company(reading: Reading): Found | undefined {
  const match = reading.match(COMPANY);
  return match && { end: reading.at + match[0].length, spoken: '주식회사 ', rule: 'abbreviation' };
}

const EQUALS = /={1,2} ?(?=[-\d(]|[가-힣]|[A-Za-z](?![A-Za-z]{3}))/y;

/** 5 + 3 = 8: 은 or 는 by the number before it. */
function equals(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const before = text
    .slice(Math.max(0, at - 2), at)
    .trimEnd()
    .slice(-1);
  const amount = /\d ?[가-힣]{1,3} ?$/.test(text.slice(Math.max(0, at - 6), at)); // 1달러=1,300원
  const formula = /[가-힣]/.test(before) && /^.{0,24}[÷×]/.test(text.slice(at + 1, at + 26));
  const match = formula || amount || /[\dA-Za-z)²³]/.test(before) ? reading.match(EQUALS) : undefined;
  if (match === undefined) return undefined;
  const end = text[at - 1] === ' ' ? at - 1 : at;
  const isBehind = reading.tokenEnd === (text[end - 1] === ')' ? end - 1 : end);
  const last = isBehind ? reading.tokenWords.slice(-1) : before;
  const spoken = finalOf(last) === 'vowel' ? '는 ' : '은 ';
  return { end: at + match[0].length, spoken, rule: 'math', clings: true };
}

const CAR = /(\d{1,3})-(\d{1,2})(?=번 ?(?:칸|출입문|승강장|문|홈|버스))/y;

/** 9-4번 칸: 다시 stands for the dash. */
function car(reading: Reading): Found | undefined {
  const match = reading.match(CAR);
  if (match === undefined) return undefined;
  const spoken = `${cardinal(match[1] ?? '')} 다시 ${cardinal(match[2] ?? '')}번`;
  return { end: reading.at + match[0].length + 1, spoken, rule: 'identifier' };
}

const DOCUMENT = /(\d{2,8})-(\d{4,12})(?=호)/y;

/** 제2024-1234567호 */
function document(reading: Reading): Found | undefined {
  const match = reading.match(DOCUMENT);
  if (match === undefined) return undefined;
  const spoken = `${spellDigits(match[1] ?? '')}, ${spellDigits(match[2] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'digits' };
}

const LINK = '(?:번호|코드)?(?:는|은|가|이|를|을|로|으로|에|:)? ?[「“"‘\'\\[(]{0,2}$';

/** Keywords before a code and before a telephone number. */
export const KEYWORDS: Keywords = {
  codes: new RegExp(
    `(?:인증|비밀|주민등록|주민|사업자|면허|여권|확인|주문|예약|접수|상담|계좌|우편|사원|학생|고객|회원|송장|운송장|카드\\]?|등록|일련|차량|승인|관리|뒷번호|앞번호|끝번호|우편번호\\)|\\(우\\)|뒷자리|앞자리|끝자리|끝|사번|학번|코드|종목|암호|비번|PIN|ID|HTTP|오류|에러|상태|포트|생년월일)${LINK}`,
  ),
  calls: new RegExp(
    `(?:전화|휴대폰|휴대전화|핸드폰|연락처|고객센터|콜센터|팩스|문의|대표|내선|직통|호출|국번 없이|긴급|TEL|Tel|tel|FAX|☎)${LINK}`,
  ),
  counted: /^ ?(?:[개명원년월일회건장대분초시간%만억천백위차권살세층호단점배]|[/~–-]\d)/,
  pause: ', ',
  called: /^(?:번)?(?:으로|로) ?(?:전화|신고|문의|연락)/,
};

const PRESSED_CODE = /\d{4,12}(?=[를을] ?(?:누르|눌러|입력))|[1-5]\d\d(?= ?(?:오류|에러))/y;

/** 880409를 누르시면, 404 오류: each digit. */
function pressedCode(reading: Reading): Found | undefined {
  const digits = reading.match(PRESSED_CODE)?.[0];
  if (digits === undefined) return undefined;
  return { end: reading.at + digits.length, spoken: spellDigits(digits), rule: 'digits', isCertain: true };
}

const EMERGENCY =
  /1(?:12|19|14|20|10|11|17|18|25|32|82|88|330|345|355|366|388|393|577)(?!\d|[.,:/~-]\d| ?[개명원년월일회건장대분초시%만억천백위권살세층호점배])/y;
const CALLED_AFTER =
  /^(?:번?(?:나|이나|와|또는) ?1\d{2,3}번?(?:에|로|으로) |번?(?:에|로|으로) ?(?:전화|신고|연락|문의|걸)|번? ?(?:신고|구급|구조|상황실|긴급|콜센터|안내|민원|다산|대원|종합|센터|경찰|소방))/;
const CALLED_NEAR = /병원|신고|구급|화재|범죄|긴급|응급|국번|콜센터|상황실|경찰|소방|출동/;
const NEAR = 16; // units on either side in which a word for calling is looked for

/** 119에 신고, 화재는 119: each digit. */
function emergency(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (text[at] !== '1') return undefined;
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
function plate(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 8), reading.at);
  const named = /(?:차량|번호|차|\d{4},)(?:는|은|이|가|:)? ?\(?$/.test(before);
  const match = reading.match(ATTACHED_PLATE) ?? (named ? reading.match(PLATE) : undefined);
  if (match === undefined) return undefined;
  const [written, first = '', letter = '', second = ''] = match;
  const spoken = `${spellDigits(first)}${letter} ${spellDigits(second)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const KEY =
  /\(?([#＃*＊])\)?(?:([을를])|([은는])|([이가](?= ))|([와과]))?(?= ?(?:버튼|키|표|눌러|누르|입력)|[ ,.)]|$)/y;

/** #을 눌러 주세요: the keys of a telephone, with the particle that their names ask for. */
function key(reading: Reading): Found | undefined {
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

/** In the order in which the language asks them. */
export const numberedRules = {
  behindDigits: [
    [[1, 4], emergency],
    [[3, 12], pressedCode],
    [/[가-힣]/, plate],
    [/[가.]/, certain(subject)],
    [/-/, certain(document)],
  ],
  behindDigitsLater: [
    [/-/, car],
    [/-/, certain(lot)],
  ],
  atMark: [
    [/[*＊#＃(]/, certain(key)],
    [/\(/, optionalVowel],
    [/=/, equals],
  ],
  atIdeograph: [particle, behindWords, beginning(/㈜/, company)],
} satisfies Rules;
