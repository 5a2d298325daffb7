// Describes how Chinese is written: marks, months, units, counters, currencies and magnitudes.
import { ENGLISH_DATES, englishMonths, greekLetters } from '../greek.js';
import type { Currency, Noun, Writing } from '../language.js';
import { WESTERN_MAGNITUDES } from '../myriads.js';
import { cardinal } from './numbers.js';

/**
 * Nouns behind a number, by form: `scale` is counted with 二, `degrees` has 零下 below zero, the others have 两.
 */
function nouns(list: Readonly<Record<string, string>>, form?: string): Record<string, Noun> {
  const found: Record<string, Noun> = {};
  for (const [written, said] of Object.entries(list)) {
    for (const one of written.split(' ')) found[one] = { forms: [said], form };
  }
  return found;
}

/** Written as they are said. */
function counters(list: string, form?: string): Record<string, Noun> {
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
  'km ㎞': '公里', m: '米', 'cm CM ㎝': '厘米', 'mm MM ㎜': '毫米', 'μm µm': '微米', nm: '纳米', dm: '分米',
  'km² km2': '平方公里', 'm² m2 ㎡': '平方米', 'cm² cm2': '平方厘米', 'm³ m3 ㎥': '立方米', 'cm³ cm3': '立方厘米',
  'kg KG Kg ㎏': '公斤', 'g': '克', mg: '毫克', 'μg µg': '微克', t: '吨', 'lb lbs': '磅', oz: '盎司',
  'L l': '升', 'mL ml ML': '毫升', 'km/h 公里/小时 公里/小時 公里/时': '公里每小时', 'm/s 米/秒': '米每秒', 'm/s²': '米每二次方秒', mph: '英里每小时',
  'mi': '英里', ft: '英尺', yd: '码', 'h hr': '小时', min: '分钟', 's sec': '秒', ms: '毫秒', ns: '纳秒',
  Hz: '赫兹', kHz: '千赫', MHz: '兆赫', GHz: '吉赫', W: '瓦', 'kW KW': '千瓦', MW: '兆瓦', GW: '吉瓦', 'kWh kW·h': '千瓦时', V: '伏', kV: '千伏', mA: '毫安',
  mAh: '毫安时', Ω: '欧姆', 'dB db': '分贝', Pa: '帕', hPa: '百帕', kPa: '千帕', MPa: '兆帕', J: '焦耳', kJ: '千焦', N: '牛', cal: '卡', kcal: '千卡',
  KB: 'KB', MB: 'MB', GB: 'GB', TB: 'TB', PB: 'PB', 'Kbps kbps': '千比特每秒', Mbps: '兆比特每秒', Gbps: '吉比特每秒', 'MB/s': 'MB每秒', 'KB/s': 'KB每秒', 'TB/s': 'TB每秒', 'Mb/s': '兆比特每秒', 'Kb/s kb/s': '千比特每秒', 'Gb/s': '吉比特每秒', 'bp bps BP': '个基点', 'GB/s': 'GB每秒',
  rpm: '转每分钟', fps: '帧每秒', bpm: '次每分钟', ppm: 'ppm', mmHg: '毫米汞柱', 'mmol/L': '毫摩尔每升', 'mg/L mg/l': '毫克每升', 'g/L': '克每升', 'mg/dL': '毫克每分升',
  'μg/m³ µg/m³ μg/m3': '微克每立方米', 'mg/m³': '毫克每立方米', 'g/cm³': '克每立方厘米', 'kg/m³': '公斤每立方米', '次/分': '次每分钟', 'kg/m²': '公斤每平方米', T: 'T', px: '像素', dpi: 'DPI', ha: '公顷', 'nit nits': '尼特', lm: '流明', lx: '勒克斯', 'U/L': '单位每升', 'IU/L': '国际单位每升', IU: '国际单位', 'μmol/L': '微摩尔每升', 'ng/mL ng/ml': '纳克每毫升', 'g/dL': '克每分升', 'mg/kg': '毫克每公斤',
});

const COUNTERS = counters(`
  个 個 位 名 人 只 隻 条 條 张 張 本 件 台 臺 辆 輛 家 次 天 年 周 週 星期 小时 小時 个小时 個小時 钟头 鐘頭 分钟 分鐘 秒 秒钟 秒鐘 刻钟 刻鐘
  块 塊 角 毛 分 米 公里 里 斤 公斤 克 毫克 吨 噸 升 毫升 厘米 公分 毫米 英里 英尺 英寸 英吋 海里 磅 盎司 加仑 加侖 亩 畝 公顷 公頃 坪 千米 千克
  平米 平方米 平方公里 平方公尺 平方千米 平方英尺 立方米 公尺 千瓦 千瓦时 瓦 伏 兆 度电 度電
  岁 歲 周岁 週歲 届 屆 场 場 项 項 种 種 类 類 份 把 双 雙 对 對 片 颗 顆 座 间 間 厅 廳 卫 衛 室 套 支 枝 部 倍 点 點 点钟 點鐘 国 國 省 市 县 縣 顿 頓 杯 瓶 箱 包
  袋 盒 口 头 頭 匹 架 艘 棵 朵 枚 封 首 句 段 页 頁 篇 节 節 门 門 笔 筆 轮 輪 局 盘 盤 步 圈 趟 遍 回 批 组 組 队 隊 列 大 侧 側 成 折 晚 夜 根 粒 滴 束
  滴 桶 罐 碗 勺 串 幅 副 道 栋 棟 幢 扇 则 則 起 例 人次 个月 個月 个半 個半 月份 个百分点 個百分點 枪 發 发 股 户 戶 顶 頂 帧 帧 票 连冠 連霸 者 万元 萬元
  美金 港币 港幣 台币 台幣 新台币 新台幣 人民币 人民幣 泰铢 泰銖 卢布 盧布 卢比 盧比 瑞士法郎 新元 比特币 万 萬 亿 億 千 百 百万 百萬 千万 千萬
`);

/** The two of these is 二: they name a place in an order, or are words that only begin like a counter. */
const SCALES = counters('年级 年級 次元 次方 次函数 次函數 分之 两 兩', 'scale');

const DEGREES = nouns(
  {
    '′': '分',
    '″': '秒',
    '℃ °C': '摄氏度',
    '℉ °F': '华氏度',
    '摄氏度 攝氏度': '摄氏度',
    '度 °': '度',
  },
  'degrees',
);

const UNITS: Readonly<Record<string, Noun>> = {
  ...MEASURES,
  ...COUNTERS,
  ...SCALES,
  ...DEGREES,
  '%': { forms: ['百分之'], form: 'part' },
  '‰': { forms: ['千分之'], form: 'part' },
};

// prettier-ignore
const PER: Readonly<Record<string, string>> = Object.fromEntries([
  ...'年 月 周 週 天 日 人 次 个 個 件 小时 小時 时 分钟 分鐘 分 秒 晚 间 間 公斤 千克 斤 克 吨 噸 升 毫升 公里 千米 米 平方米 平米 立方米 亩 畝 公顷 股 桶 盎司 加仑 加侖 张 張 份 位 套 台 辆 輛 瓶 盒 箱 袋 包 桶 罐 户 度 千瓦时 字 页 条 條 晚上 坪 平 百公里 剂 針 针'
    .split(' ')
    .map((word) => [word, `每${word === '分' ? '分钟' : word}`] as const),
  ['kg', '每公斤'], ['km', '每公里'], ['m²', '每平方米'], ['㎡', '每平方米'], ['m³', '每立方米'], ['L', '每升'], ['h', '每小时'], ['kWh', '每千瓦时'], ['g', '每克'], ['t', '每吨'],
  ['hour', '每小时'], ['day', '每天'], ['month', '每月'], ['mo', '每月'], ['year', '每年'], ['min', '每分钟'], ['s', '每秒'],
]);

/** Behind the number, or around it. */
function currency(after: string, before?: string): Currency {
  return before === undefined ? { forms: [after] } : { forms: [after, before] };
}

// prettier-ignore
export const WRITING: Writing = {
  numbers: { decimal: '.', grouping: [','] },
  dates: {
    months: englishMonths((month) => `${cardinal(String(month))}月`),
    weekdays: [],
    orders: { '/': 'mdy' },
    ...ENGLISH_DATES,
  },
  // Times are recognised in `times.ts`: what stands behind them is no boundary here.
  times: { marks: [], halves: {}, words: {}, zones: {} },
  telephone: {
    patterns: [
      /1[3-9]\d([- ]?)\d{4}\1\d{4}(?!\d|[-.]\d)/y,
      /\(?0\d{2,3}\)?[- ]?\d{3,4}[- ]?\d{4}(?:-\d{1,5})?(?!\d|[-.]\d)/y,
      /\(?0[2-8](?:\) ?|[- ])\d{3,4}[- ]?\d{4}(?!\d|[-.]\d)/y,
      /[48]00([- ]?)\d{3}\1\d{4}(?!\d|[-.]\d)/y,
      /[48]00[- ]\d{4}[- ]\d{3}(?!\d|[-.]\d)/y,
      /0[589]0\d-\d{3}-\d{3}(?!\d|[-.]\d)/y,
      /09\d{2}([- ]?)\d{3}\1\d{3}(?!\d|[-.]\d)/y,
    ],
    keywords: new Set(['tel', 'phone', 'hotline', 'fax']),
  },
  currencies: {
    CNY: currency('元', '人民币'), RMB: currency('元', '人民币'), YUAN: currency('元'), USD: currency('美元'), EUR: currency('欧元'), GBP: currency('英镑'), JPY: currency('日元'),
    KRW: currency('韩元'), HKD: currency('港元'), TWD: currency('元', '新台币'), NTD: currency('元', '新台币'), MOP: currency('澳门元'), SGD: currency('新加坡元'),
    AUD: currency('澳元'), CAD: currency('加元'), NZD: currency('新西兰元'), CHF: currency('瑞士法郎'), INR: currency('卢比'), RUB: currency('卢布'), THB: currency('泰铢'),
    VND: currency('越南盾'), PHP: currency('比索'), MYR: currency('林吉特'), IDR: currency('印尼盾'), BRL: currency('雷亚尔'), MXN: currency('墨西哥比索'), BTC: currency('比特币'),
  },
  currencySigns: {
    '¥': 'YUAN', '元': 'YUAN', '圆': 'YUAN', '圓': 'YUAN', $: 'USD', US$: 'USD', '美元': 'USD', '€': 'EUR', '欧元': 'EUR', '歐元': 'EUR', '£': 'GBP', '英镑': 'GBP', '英鎊': 'GBP',
    'JP¥': 'JPY', '円': 'JPY', '日元': 'JPY', '日圆': 'JPY', '日圓': 'JPY', '₩': 'KRW', '韩元': 'KRW', '韓元': 'KRW', HK$: 'HKD', '港元': 'HKD', NT$: 'TWD', S$: 'SGD', A$: 'AUD', AU$: 'AUD',
    '澳元': 'AUD', C$: 'CAD', CA$: 'CAD', '加元': 'CAD', '₹': 'INR', '₽': 'RUB', '฿': 'THB', '₫': 'VND', '₱': 'PHP', MOP$: 'MOP', NZ$: 'NZD', 'RM': 'MYR',
  },
  units: UNITS,
  per: PER,
  magnitudes: {
    ...WESTERN_MAGNITUDES,
    ...Object.fromEntries(
      Object.entries({ 百: 2, 千: 3, 万: 4, 萬: 4, 十万: 5, 十萬: 5, 百万: 6, 百萬: 6, 千万: 7, 千萬: 7, 亿: 8, 億: 8, 十亿: 9, 百亿: 10, 千亿: 11, 万亿: 12, 萬億: 12, 兆: 12 })
        .map(([form, power]) => [form, { power, forms: [form] }] as const),
    ),
  },
  ordinalMark: 'st|nd|rd|th',
  abbreviations: {
    ...greekLetters(
      '阿尔法 贝塔 伽马 德尔塔 艾普西龙 泽塔 伊塔 西塔 约塔 卡帕 拉姆达 缪 纽 克西 奥密克戎 派 柔 西格玛 陶 宇普西龙 斐 卡伊 普西 欧米伽',
    ),
    'C++': 'C加加', 'vs.': '对', vs: '对', VS: '对', 'e.g.': '例如', 'i.e.': '即',
    '7*24': '七乘二十四', '24/7': '全天候', 'N/A': '不适用', 'w/': '和',
  },
  beforeNumber: {
    'No.': '第', 'NO.': '第', 'no.': '第', '№': '第', '§': '第', 'p.': '第', 'P.': '第', 'Tel:': '电话', 'Tel：': '电话', 'TEL:': '电话', 'Tel.': '电话', 'TEL：': '电话',
  },
  spelled: new Set(),
  read: new Set(),
  romanAfter: {},
  romanBefore: new Set(),
  digitsAfter: new Set(['code', 'pin', 'id']),
  linking: new Set(),
  decadeMark: '',
  yearAfter: new Set(),
  scoreWords: new Set(),
};
