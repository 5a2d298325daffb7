// How Korean is written, as data.
import { ENGLISH_DATES, englishMonths } from '../english-months.js';
import { greekLetters } from '../greek.js';
import type { Writing } from '../language.js';
import { cardinal } from './numbers.js';
import { CURRENCIES, CURRENCY_SIGNS, MAGNITUDES, PER, UNITS } from './units.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

export const WRITING: Writing = {
  numbers: { decimal: '.', grouping: [','] },
  dates: { months: englishMonths((month) => `${cardinal(String(month))}월`), weekdays: [], orders: {}, ...ENGLISH_DATES },
  // Times are recognised in `dates.ts`: what stands behind them is no boundary here.
  times: { marks: [], halves: {}, words: {}, zones: {} },
  telephone: {
    patterns: [
      /01[016789]([- .]?)\d{3,4}\1\d{4}(?!\d|[-.]\d)/y,
      /0(?:2|[3-6][1-5]|70|80|50\d?)[-) .]\d{3,4}[- .]\d{4}(?!\d|[-.]\d)/y,
      /\(0(?:2|[3-6][1-5])\) ?\d{3,4}[- .]\d{4}(?!\d|[-.]\d)/y,
      /1[568]\d{2}-\d{4}(?!\d|[-.]\d)/y,
    ],
    keywords: new Set(['tel', 'fax']),
  },
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: '',
  abbreviations: {
    ...greekLetters(
      '알파 베타 감마 델타 엡실론 제타 에타 세타 요타 카파 람다 뮤 뉴 크시 오미크론 파이 로 시그마 타우 입실론 파이 카이 프시 오메가',
    ),
    '(주)': '주식회사 ', '(재)': '재단법인 ', '(사)': '사단법인 ', 'Mr.': '미스터', 'Dr.': '닥터', 'vs.': '대', vs: '대', VS: '대', 'etc.': '등등', 'e.g.': '예를 들어', 'R&D': '알앤디', 'M&A': '엠앤에이', 'Q&A': '큐앤에이', 'S&P': '에스앤피', 'H&M': '에이치앤엠', 'P&G': '피앤지', 'AT&T': '에이티앤티', 'F&B': '에프앤비',
    '24/7': '연중무휴', OFF: '오프', '24/365': '이십사 시간 삼백육십오일', 'N/A': '해당 없음', '1+1': '원 플러스 원', '2+1': '투 플러스 원', '3D': '쓰리디', '2D': '투디', '5G': '파이브지', '4G': '포지', '3G': '쓰리지', '4K': '포케이', '8K': '에이트케이', '1:1': '일대일',
    'PM2.5': '피엠 이 점 오', PM10: '피엠 십', IoT: '아이오티', OK: '오케이',
    NATO: '나토', NASA: '나사', FIFA: '피파', UNESCO: '유네스코', UNICEF: '유니세프', OPEC: '오펙', ASEAN: '아세안', 'Wi-Fi': '와이파이', WiFi: '와이파이', KAIST: '카이스트', APEC: '에이펙',
  },
  beforeNumber: { '#': '샵 ', 'No.': '넘버 ', 'NO.': '넘버 ', 'no.': '넘버 ', '№': '넘버 ', 'p.': '페이지 ', '§': '제', 'Tel.': '전화 ', 'TEL.': '전화 ', 'Vol.': '볼륨 ' },
  spelled: words(`
    AI IT API URL USA EU UN UK US CEO CFO CTO COO UI UX OS IBM FBI CIA IMF OECD WHO AS AP AR VR IR ID IP IPO PIN_ OTP USIM_ ARS EV IoT LED LCD UHD USB UAE UFO UV KBS MBC SBS JTBC TV PC GDP GNP SNS DNA RNA ATM FTA WTO
    KTX SRT ITX LG SK KT CJ GS BTS PDF HTML CSS HTTP HTTPS XML SQL SMS VIP DIY PR HR IVR GPS GPU CPU SSD HDD AED ICU CCTV ESG ETF ELS ISA IRP IOC NBA MLB EPL OTT PPT FAQ QR AM FM DMZ NLL ICBM KOSPI_ VOD MVP MOU R
  `),
  read: words('NATO NASA FIFA OPEC'),
  romanAfter: {},
  romanBefore: new Set(),
  digitsAfter: new Set(['code', 'pin', 'id']),
  linking: new Set(),
  decadeMark: '',
  yearAfter: new Set(),
  scoreWords: new Set(),
}; // prettier-ignore
