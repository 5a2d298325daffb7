// Describes how Korean is written: marks, months, units, counters, currencies and magnitudes.
import { ENGLISH_DATES, englishMonths, greekLetters } from '../greek.js';
import type { Currency, Noun, Writing } from '../language.js';
import { WESTERN_MAGNITUDES } from '../myriads.js';
import { cardinal } from './numbers.js';

/**
 * Nouns behind a number, by form. `native`: 세 개. `short`: native up to nineteen. `close`: Sino-Korean and
 * written together, as 이천이십사년. `degrees`: 영하 below zero. Without a form: Sino-Korean with a space.
 */
function nouns(list: Readonly<Record<string, string>>, form?: string): Record<string, Noun> {
  const found: Record<string, Noun> = {};
  for (const [written, said] of Object.entries(list)) {
    for (const one of written.split(' ')) found[one] = { forms: [said], form };
  }
  return found;
}

/** Written as they are said. */
function counters(list: string, form: string): Record<string, Noun> {
  return nouns(
    Object.fromEntries(
      list
        .trim()
        .split(/\s+/)
        .map((word) => [word, word]),
    ),
    form,
  );
}

// prettier-ignore
const MEASURES = nouns({
  '% ％ 프로': '퍼센트', '%p %P %포인트': '퍼센트포인트', '‰': '퍼밀', 'km ㎞ KM': '킬로미터', m: '미터', 'cm ㎝ CM': '센티미터', 'mm ㎜ MM': '밀리미터', 'μm µm': '마이크로미터', nm: '나노미터',
  'km² km2 ㎢': '제곱킬로미터', 'm² m2 ㎡': '제곱미터', 'cm² cm2 ㎠': '제곱센티미터', 'm³ m3 ㎥': '세제곱미터', 'cm³ cm3': '세제곱센티미터', cc: '시시',
  'kg ㎏ KG Kg': '킬로그램', g: '그램', 'mg ㎎': '밀리그램', 'μg µg ㎍': '마이크로그램', t: '톤', lb: '파운드', oz: '온스', ha: '헥타르', 'L l ℓ': '리터', 'mL ml ㎖ ML': '밀리리터', dL: '데시리터',
  'km/L km/l': '킬로미터 퍼 리터', 'km/h': '킬로미터', 'm/s': '미터', 'm/s²': '미터 매 초 제곱', mph: '마일', mi: '마일', ft: '피트', yd: '야드', in: '인치', h: '시간', min: '분', 's sec': '초', ms: '밀리초', ns: '나노초',
  Hz: '헤르츠', kHz: '킬로헤르츠', MHz: '메가헤르츠', GHz: '기가헤르츠', W: '와트', 'kW KW': '킬로와트', MW: '메가와트', GW: '기가와트', kWh: '킬로와트시', V: '볼트', kV: '킬로볼트', mA: '밀리암페어', mAh: '밀리암페어시',
  Ω: '옴', dB: '데시벨', Pa: '파스칼', hPa: '헥토파스칼', kPa: '킬로파스칼', MPa: '메가파스칼', J: '줄', kJ: '킬로줄', N: '뉴턴', cal: '칼로리', kcal: '킬로칼로리',
  KB: '킬로바이트', MB: '메가바이트', GB: '기가바이트', TB: '테라바이트', PB: '페타바이트', kbps: '킬로비피에스', Mbps: '메가비피에스', Gbps: '기가비피에스', 'MB/s': '메가바이트 매 초', 'GB/s': '기가바이트 매 초', 'TB/s': '테라바이트 매 초', 'KB/s': '킬로바이트 매 초', rpm: '알피엠', fps: '프레임', bpm: '비피엠', ppm: '피피엠',
  mmHg: '수은주밀리미터', 'mg/dL': '밀리그램 퍼 데시리터', 'mmol/L': '밀리몰 퍼 리터', 'μg/m³ µg/m³ ㎍/㎥': '마이크로그램 퍼 세제곱미터', px: '픽셀',
  포인트: '포인트', 배럴: '배럴', 온스: '온스', 칼로리: '칼로리', 헥타르: '헥타르', 기가: '기가', 메가: '메가', 킬로: '킬로', 바이트: '바이트', 볼트: '볼트', 와트: '와트', 데시벨: '데시벨', 'bp bps': '비피', 초: '초', 주: '주', 주일: '주일', 배속: '배속', 평: '평', 미터: '미터', 킬로미터: '킬로미터', 킬로그램: '킬로그램', 그램: '그램', 리터: '리터', 톤: '톤', 인치: '인치', 열차: '열차', 승인: '승인', 포트: '포트',
});

const SPEEDS: Readonly<Record<string, Noun>> = {
  'km/h': { forms: ['킬로미터', '시속'] },
  'm/s': { forms: ['미터', '초속'] },
  mph: { forms: ['마일', '시속'] },
  '회/분': { forms: ['회', '분당'] },
  '박/분': { forms: ['박', '분당'] },
};

const COUNTED = counters(
  `
  개 명 마리 권 장 잔 병 그루 송이 켤레 벌 채 자루 척 곳 가지 군데 번째 살 달 사람 통 건 곡 편 끼 판 모금 조각 알 정 포기 쌍 팀 차례 방 바퀴 경기 골 과목 문제 컵 스푼 큰술 작은술 숟가락
  캡슐 방울 앰플 포 봉지 상자 박스 캔 팩 세트 그릇 접시 줄 다발 칸 다리 발 걸음 마디 마리씩 개씩 명씩 가닥 꼭지 뭉치 묶음 자리 자릿수 갑 되 말 대 번 배 해 시 여개 점포 가족 나라 형제 자매 식구 종류 줄기 쪽박 타래 토막 톨 필 홉 평생 시합 게임 번씩 도움 공기 스쿱 대접 꾸러미
`,
  'native',
);

/** Written together with their number: what names a place in an order rather than counting. */
const CLOSE = counters(
  `
  년 월 일 년대 년도 년간 년차 개월 개국 개년 개사 개소 개교 세기 층 호 호선 호실 회 회차 차 차례차 위 등 등급 급 학년 반 교시 단계 단원 절 장조 조 항 호점 번지 번길 길 가 동 기 대 세 인 인분 인승 인용 박 일간 일째 주년 주간 주차
  승 패 무 연승 연패 관왕 점 쪽 페이지 분기 사분기 라운드 강 타수 루 할 푼 리 도 번선 주기 형 종 부 부작 화 막 권역 구역 시리즈 세대 촌 인칭 진법 원칙 자 행 열 번대 절기 월호 일자 시즌 이닝 회말 회초 층짜리 단 인실 인조 교대
`,
  'close',
);

const UNITS: Readonly<Record<string, Noun>> = {
  ...MEASURES,
  ...SPEEDS,
  ...COUNTED,
  ...CLOSE,
  번: { forms: ['번'], form: 'times' },
  분: { forms: ['분'], form: 'minutes' },
  대: { forms: ['대'], form: 'machines' },
  장: { forms: ['장'], form: 'native' },
  시: { forms: ['시'], form: 'hours' },
  시간: { forms: ['시간'], form: 'short' },
  배: { forms: ['배'], form: 'short' },
  ...nouns({ '℃ °C': '도', '°': '도', 도: '도', '℉ °F': '도' }, 'degrees'),
};

// prettier-ignore
const PER: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    '월 month mo': '매월', '년 year': '매년', '일 day': '매일', '주 week': '매주', 시간: '시간당', 'h hour': '시간당', '분 min': '분당', '초 s': '초당', 명: '명당', 인: '일인당', 개: '개당', 회: '회당', 박: '박당', 건: '건당', 대: '대당', 병상: '병상당', 평방미터: '제곱미터당',
    kg: '킬로그램당', km: '킬로미터당', L: '리터당', 'm² ㎡': '제곱미터당', 평: '평당', GB: '기가바이트당', kWh: '킬로와트시당', g: '그램당', 주식: '주당', 장: '장당', 병: '병당',
  }).flatMap(([forms, said]) => forms.split(' ').map((form) => [form, said] as const)),
);

function currency(name: string, minor?: string): Currency {
  return { forms: [name], minor: minor === undefined ? undefined : { forms: [minor] } };
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

// prettier-ignore
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
  currencies: {
    KRW: currency('원'), USD: currency('달러', '센트'), EUR: currency('유로', '센트'), GBP: currency('파운드', '펜스'), JPY: currency('엔'), CNY: currency('위안'), RMB: currency('위안'), HKD: currency('홍콩 달러'), TWD: currency('대만 달러'),
    SGD: currency('싱가포르 달러'), AUD: currency('호주 달러', '센트'), CAD: currency('캐나다 달러', '센트'), NZD: currency('뉴질랜드 달러', '센트'), CHF: currency('스위스 프랑'), INR: currency('루피'), RUB: currency('루블'), THB: currency('바트'),
    VND: currency('동'), PHP: currency('페소'), BRL: currency('헤알'), BTC: currency('비트코인'),
  },
  currencySigns: {
    원: 'KRW', '₩': 'KRW', $: 'USD', US$: 'USD', 달러: 'USD', 불: 'USD', '€': 'EUR', 유로: 'EUR', '£': 'GBP', 파운드: 'GBP', '¥': 'JPY', 엔: 'JPY', 위안: 'CNY', 'CN¥': 'CNY', HK$: 'HKD', NT$: 'TWD', S$: 'SGD', A$: 'AUD', AU$: 'AUD', C$: 'CAD', CA$: 'CAD',
    '₹': 'INR', '₽': 'RUB', '฿': 'THB', '₫': 'VND', '₱': 'PHP',
  },
  units: UNITS,
  per: PER,
  magnitudes: {
    ...WESTERN_MAGNITUDES,
    ...Object.fromEntries(
      Object.entries({ 백: 2, 천: 3, 만: 4, 십만: 5, 백만: 6, 천만: 7, 억: 8, 십억: 9, 백억: 10, 천억: 11, 조: 12, 경: 16 }).map(
        ([form, power]) => [form, { power, forms: [form] }] as const,
      ),
    ),
  },
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
};
