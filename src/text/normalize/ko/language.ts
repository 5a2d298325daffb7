// Korean: Sino-Korean and native numerals by what is counted, letters by their names.
import type { Language } from '../language.js';
import { IN_MATH, OWN } from './own.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export const KOREAN: Language = {
  tag: 'ko',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
  symbols: {
    inAddress: {
      '@': '골뱅이', '.': '점', '/': '슬래시', '\\': '역슬래시', '-': '하이픈', _: '밑줄', ':': '콜론', '#': '샵',
      '?': '물음표', '=': '이퀄', '&': '앤드', '+': '플러스', '~': '물결', '%': '퍼센트', '*': '별표', '!': '느낌표',
    },
    inMath: IN_MATH,
    inFront: { '≈': '약 ' },
    inText: {
      '∞': '무한대', '&': ' 앤드 ', '©': '저작권', '®': '', '™': '', '°': '도', '→': ',', '←': '', '•': '', '†': '', '✓': '', '★': '', '☆': '', '※': '', '●': '', '○': '', '■': '', '□': '', '◆': '', '▲': '', '▶': '', '♪': '', '♡': '', '♥': '',
    },
    versionPoint: '점',
    version: '버전',
    minus: '마이너스',
    plus: '플러스',
    keys: { star: '별표', hash: '샵', before: /누르|눌러|버튼|입력|다이얼/, behind: /^.{0,10}(?:누르|눌러|누른|버튼|키를|키|입력|다이얼)/ },
    hashtag: '해시태그',
    addressWords: {
      www: '더블유더블유더블유', com: '컴', net: '넷', org: '오알지', kr: '케이알', co: '씨오', go: '지오', gov: '지오브이', ac: '에이씨', re: '알이', or: '오알', io: '아이오', ai: '에이아이', pdf: '피디에프', html: '에이치티엠엘', jpg: '제이피지', png: '피엔지', mp: '엠피', txt: '티엑스티', csv: '씨에스브이',
      js: '제이에스', md: '엠디', docx: '독스', xlsx: '엑셀엑스', json: '제이슨', xml: '엑스엠엘', hwp: '에이치더블유피', zip: '집', https: '에이치티티피에스', http: '에이치티티피', gmail: '지메일', naver: '네이버', google: '구글', daum: '다음', kakao: '카카오',
    },
  },
}; // prettier-ignore
