// Assembles Mandarin, and orders its own recognisers by the character that decides.
// All words are made in simplified characters. For a text of traditional characters they are converted.
import { tablesOf } from '../../tables/language-tables.js';
import type { Language } from '../language.js';
import {
  capitalUnit,
  codeTwice,
  compoundMeasure,
  dateRange,
  keyed,
  listNumber,
  masked,
  numberOfName,
  numberSign,
  plusBetween,
  relation,
  ruleLine,
  signTwice,
  tightListNumber,
  underscore,
  yearMonth,
} from '../recognise/attached.js';
import {
  crossBetween,
  decade,
  plusOfNames,
  processor,
  ratio,
  scientific,
  starBetween,
  sum,
} from '../recognise/formulas.js';
import { currencyPair } from '../shared-codes.js';
import {
  behindDigits,
  bracketedCountry,
  byMark,
  coefficient,
  formula,
  negativePower,
} from '../shared-forms.js';
import { dateRules } from './dates.js';
import { modelMark, nameRules } from './names.js';
import { another, hotline, KEYWORDS, longCount, numberedRules } from './numbered.js';
import { cardinal, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';
import { halfFirst, hundredths, timeRules } from './times.js';
import { WRITING } from './writing.js';

const { inMath: IN_MATH } = tablesOf('zh').signs;

const ANY = /^/; // no filter: the recogniser checks the text before the number

const OWN: NonNullable<Language['own']> = {
  atDigit: [
    behindDigits([
      [
        /s/,
        decade(
          (digits) => `${spellDigits(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [ANY, hotline],
      [/[.)）、]/, listNumber(SPEECH, '、')],
      [/\./, tightListNumber(SPEECH, '、')],
      [ANY, hundredths],
      [/[./-]/, dateRange(SPEECH)],
      [/[/-]/, yearMonth(SPEECH)],
      [/[-*＊xX•]/, masked(SPEECH)],
      ...dateRules.behindDigits,
      [/[-−+×÷*/xX.=]/, sum(SPEECH, IN_MATH)],
      ...numberedRules.behindDigits,
      [/[.:]/, ratio(SPEECH)],
      ...nameRules.behindDigits,
      ...timeRules.behindDigits,
      ...dateRules.behindDigitsLater,
      [ANY, keyed(SPEECH, KEYWORDS)],
      [ANY, another],
      ...nameRules.behindDigitsLater,
      [
        /[eE.]/,
        scientific(
          SPEECH,
          (number, negative, exponent) => `${number}乘十的${negative ? '负' : ''}${cardinal(exponent)}次方`,
        ),
      ],
      [/[mk]/, compoundMeasure(SPEECH, WRITING.units)],
      [/[A-Za-z.,]/, capitalUnit(SPEECH, WRITING.units)],
      ...nameRules.behindDigitsLast,
      [/[a-z]/, coefficient(cardinal, { math: '+=×−<>≤≥-' })],
      [ANY, longCount],
    ]),
    numberOfName(SPEECH),
  ],
  atLetter: [
    formula((letters) => letters, cardinal, ''),
    processor(SPEECH),
    crossBetween('乘'),
    currencyPair(WRITING.currencies, '兑'),
    codeTwice,
    halfFirst,
    ...nameRules.atLetter,
    ...numberedRules.atLetter,
  ],
  atMark: [
    byMark([
      [
        /['’‘]/,
        decade(
          (digits) => `${spellDigits(digits)}年代`,
          (digits) => `${cardinal(digits)}年代`,
        ),
      ],
      [/[⁻^]/, negativePower((digits) => `的负${cardinal(digits)}次方`)],
      [/[—─━═]/, ruleLine()],
      [/[¥$€£₩]/, signTwice()],
      [/\(/, bracketedCountry((groups, plus) => SPEECH.telephone(groups, plus))],
      [/_/, underscore('下划线')],
      [/[<>≠≤≥≈]/u, relation(IN_MATH)],
      [/×/, crossBetween('乘')],
      [/[Ⅰ-Ⅻ①-⑳]/, numberSign(SPEECH, '、')],
      [/-/, modelMark],
      ...numberedRules.atMark,
      [/\+/, plusBetween('加')],
      [/\+/, plusOfNames('加')],
      [/\*/, starBetween('乘')],
      ...dateRules.atMark,
      ...numberedRules.atMarkLater,
    ]),
  ],
};

const PAIRS = `
  万萬 亿億 两兩 点點 负負 个個 们們 这這 来來 时時 说說 为為 国國 会會 学學 对對 发發 请請 电電 话話 号號 码碼 开開 关關 门門 问問 间間 长長 东東 车車 马馬 鸟鳥 鱼魚 见見 现現 观觀
  买買 卖賣 读讀 写寫 语語 词詞 认認 识識 让讓 记記 该該 谁誰 还還 过過 进進 远遠 运運 边邊 连連 达達 迟遲 选選 钱錢 钟鐘 银銀 铁鐵 错錯 镇鎮 头頭 题題 页頁 顺順 须須 预預 领領 风風
  飞飛 饭飯 饮飲 馆館 与與 专專 业業 严嚴 丰豐 临臨 举舉 义義 乐樂 习習 书書 产產 亲親 仅僅 从從 仓倉 价價 众眾 优優 传傳 伤傷 体體 侧側 债債 偿償 兴興 养養 兽獸 军軍 农農 决決 况況
  冻凍 净淨 减減 几幾 则則 刚剛 创創 别別 办辦 动動 务務 劳勞 势勢 区區 医醫 华華 协協 单單 卫衛 历歷 压壓 厅廳 县縣 参參 双雙 变變 叶葉 员員 响響 团團 园園 围圍 图圖 圆圓 场場 块塊
  报報 处處 备備 复複 够夠 夹夾 奖獎 妇婦 实實 审審 宝寶 宽寬 导導 将將 岁歲 师師 币幣 带帶 帮幫 广廣 应應 庆慶 库庫 张張 强強 归歸 当當 录錄 忆憶 态態 总總 惊驚 愿願 户戶 执執 扩擴
  护護 担擔 拥擁 择擇 换換 据據 损損 摄攝 数數 断斷 无無 旧舊 显顯 术術 机機 权權 条條 极極 构構 标標 样樣 桥橋 档檔 检檢 楼樓 欢歡 欧歐 残殘 气氣 汇匯 汉漢 汤湯 没沒 测測 济濟 温溫
  湾灣 满滿 灭滅 灯燈 灵靈 热熱 爱愛 状狀 独獨 环環 画畫 疗療 盐鹽 监監 盘盤 确確 礼禮 离離 种種 积積 称稱 税稅 稳穩 竞競 笔筆 类類 粮糧 红紅 级級 约約 纪紀 纳納 纸紙 线線 练練 组組
  细細 织織 经經 结結 给給 络絡 统統 继繼 绩績 续續 维維 综綜 绿綠 编編 网網 罗羅 罚罰 职職 联聯 胜勝 脑腦 舰艦 艺藝 节節 苏蘇 营營 药藥 虽雖 补補 规規 视視 觉覺 计計 订訂 讨討 训訓
  议議 讯訊 证證 评評 诉訴 诊診 试試 诗詩 询詢 详詳 误誤 课課 调調 谈談 谢謝 财財 责責 败敗 货貨 质質 购購 贵貴 贷貸 费費 资資 赛賽 赢贏 跃躍 轨軌 转轉 轮輪 软軟 轻輕 较較 辆輛 输輸
  迁遷 违違 适適 递遞 邮郵 释釋 钥鑰 铢銖 镑鎊 韩韓 卢盧 吨噸 厘釐 兰蘭 闭閉 阅閱 队隊 阳陽 阴陰 际際 陆陸 险險 随隨 难難 静靜 顶頂 项項 顿頓 频頻 额額 驶駛 验驗 骑騎 龄齡 龙龍 贝貝 纽紐 帐帳
  账賬 亩畝 顷頃 诺諾 尔爾 锁鎖 杠槓 划劃 寻尋 绍紹 纤纖 键鍵 龟龜 鲜鮮 链鏈 云雲 伟偉 伪偽 侨僑 俩倆 倾傾 内內 凤鳳 刘劉 剧劇 励勵 听聽 启啟 吗嗎 呜嗚 哑啞 坏壞 坚堅 垒壘 坛壇 声聲
  壮壯 孙孫 宁寧 宪憲 宫宮 层層 属屬 岛島 帅帥 帜幟 废廢 庄莊 弃棄 弹彈 彻徹 怀懷 恼惱 悬懸 惯慣 战戰 扑撲 扫掃 抢搶 抚撫 挂掛 挤擠 摆擺 撑撐 敌敵 晓曉 暂暫 杨楊 杀殺 杂雜 枪槍 柜櫃
  树樹 桩樁 梦夢 毕畢 沟溝 泪淚 洁潔 浓濃 涨漲 涛濤 润潤 渐漸 湿濕 滨濱 潜潛 炉爐 烂爛 烧燒 烦煩 犹猶 狱獄 猪豬 玛瑪 琼瓊 疯瘋 皱皺 盗盜 矿礦 硕碩 祸禍 窃竊 窝窩 纽紐 绝絕 绕繞 缘緣
  缩縮 罢罷 羡羨 耻恥 聪聰 肃肅 肠腸 肤膚 胁脅 脏髒 荐薦 莱萊 萧蕭 虏虜 虾蝦 蜗蝸 袭襲 誉譽 译譯 谋謀 谎謊 谦謙 贡貢 贩販 贫貧 贯貫 贴貼 贸貿 贺賀 赚賺 赶趕 趋趨 踊踴 辑輯 辞辭 辩辯
  邓鄧 郑鄭 酱醬 闪閃 闻聞 闹鬧 阔闊 陈陳 雾霧 韦韋 颂頌 颇頗 颗顆 颜顏 飘飄 饱飽 饼餅 驱驅 驾駕 骗騙 鸡雞 黄黃 齐齊 齿齒
`;

const TO_TRADITIONAL = new Map<string, string>();
const TO_SIMPLIFIED = new Set<string>();
for (const pair of PAIRS.trim().split(/\s+/)) {
  const [simplified = '', traditional = ''] = pair;
  TO_TRADITIONAL.set(simplified, traditional);
  TO_SIMPLIFIED.add(traditional);
}

// Traditional as well, of characters that are never made here.
for (const character of '週臺裡裏麼著妳鄰壹貳參肆伍陸讚衝鬆佈佔捲麵薑藉榮鳴飾齡賓贈餘鑽礎譜蹟跡搖擊滾濾燦犧獻獲穫穌竊範篩糾綁緊縣繳罵聖聳膠艱蔣蔥蘭蟲襪覽謊譴豎賺蹤軸較輩醜釣鉛鋪鋼鍊鐘鑑閒闆陣隸雜霧韓韻頁頓頸餓餘騰驚髮鬥鬧鮮鴨鹼麗點龐') {
  TO_SIMPLIFIED.add(character);
}

/** Evidence of each character: 1 of a traditional one, -1 of a simplified one. */
const EVIDENCE_OF = new Int8Array(65_536);
for (const character of TO_TRADITIONAL.keys()) EVIDENCE_OF[character.charCodeAt(0)] = -1;
for (const character of TO_SIMPLIFIED) EVIDENCE_OF[character.charCodeAt(0)] = 1;

const EVIDENCE = 2_000; // units that are looked at

/** True if more characters are certainly traditional than certainly simplified. */
function isTraditional(text: string): boolean {
  let balance = 0;
  for (let at = 0; at < text.length && at < EVIDENCE; at++) {
    balance += EVIDENCE_OF[text.charCodeAt(at)] ?? 0;
  }
  return balance > 0;
}

/**
 * Returns a function for the spoken words: it writes ", " as "，" and, for a traditional text, uses its
 * characters.
 */
function respell(text: string): (spoken: string) => string {
  const wide = (spoken: string): string => spoken.replaceAll(', ', '，');
  if (!isTraditional(text)) return wide;
  return (spoken) =>
    Array.from(wide(spoken), (character) => TO_TRADITIONAL.get(character) ?? character).join('');
}

// prettier-ignore
export const CHINESE: Language = {
  tag: 'zh',
  writing: WRITING,
  speech: SPEECH,
  unspaced: true,
  respell,
  own: OWN,
  symbols: {
    ...tablesOf('zh').signs,
    versionPoint: '点',
    version: 'V',
    minus: '负',
    plus: '正',
    keys: { star: '星号', hash: '井号', before: /[按拨撥键鍵]|输入|輸入|结束|結束/, behind: /^[”’」』）)]?[号號]?[键鍵]/ },
    hashtag: '话题',
  },
};
