// The sentence cutter asks this file whether a sentence ends at a stop mark.
// The rules look at the word before the mark (short forms, list numbers) and at the text behind it.
// Text may still be arriving. A rule that would need more text than has arrived answers 'wait'.
// The answer therefore never depends on how the text was split into tokens.
// The caller's window limits how far a rule may look.
import { CharacterSet } from './character-set.js';
import { endsWithListLetter, endsWithListNumber, isLaterItem, nextItemLength } from './list-items.js';
import { isCapitalAt, isDigitAt, isSmallAt } from './normalize/characters.js';
import type { ShortForms } from './short-forms.js';

/** Text around a stop mark. `complete` says that nothing after the window matters. */
interface StopWindow {
  /** The sentence so far, up to the stop mark. */
  readonly before: string;
  /** From the stop mark on. */
  readonly after: string;
  readonly complete: boolean;
  /** Short forms of the text's language, or of all languages if it is unknown. */
  readonly forms: ShortForms;
  /** True if the caller knows that a short form precedes the mark. */
  readonly isShort?: boolean;
}

/**
 * Units of `after` that belong to the ended sentence, negative if the sentence ends before the mark; 'none'
 * if it does not end; 'wait' if more text is needed.
 */
export type StopVerdict = number | 'none' | 'wait';

const EXCLAIMING_NAMES: ReadonlySet<string> = new Set(['yahoo', 'jeopardy', 'joomla']); // Yahoo!

export const STOP_MARK = /[.!?…。！？｡．‼⁇⁈⁉]/u;
/** A blank line, or a paragraph separator. A sentence never goes on behind it. */
export const PARAGRAPH = /\u2029|(?:\r\n|\r(?!\n)|[\n\u0085\u2028])[^\S\r\n]*[\n\r\u0085\u2028]/;

// The marks themselves, then closing quotes and brackets, markdown, footnote
// numbers; also "! ! !" and the French closing quote after a space.
const STOP_RUN =
  /^[.!?…。！？｡．‼⁇⁈⁉](?:[.!?…。！？｡．‼⁇⁈⁉\p{M}"'”’»)\]}」』）】〉》*_`~]|[“‘«](?=[\s,;.!?)»]|$)|\[\d{1,3}\])*(?:[^\S\r\n]+[.!?…]+(?=\s|$))*(?:[^\S\r\n]+»(?=[\s,.;:!?]|$))?(?:<\/[a-z]{1,6}>)*/iu;
const DASHES = new CharacterSet('—–-');
const JOINING = new CharacterSet(':;,');
const FULL_WIDTH = new CharacterSet('。！？｡');
const CLOSING = /["'”’“‘»)\]}」』）】〉》]/u;
const QUOTATIVE = /^[、，,とっなはがをにでものへや]/u; // 「…？」と言った: the quote is part of the sentence
// “你好！”他说: so is the verb of saying behind it, and “정말?”이라고 물었다.
const SAYING =
  /^(?:\p{Script=Han}{1,5}?(?:说|說|问道?|問道?|喊道?|答道|叫道|笑道|吼道|嚷道)|[他她我你][们們]?[答叫]|[\p{Script=Han}\p{Script=Katakana}]{1,4}[はが](?:言|聞|尋|叫|答|呟|つぶや)|(?:이?라[고는며]|하[고며는]|고 |는 |란 |면서))/u;
const SAYING_LENGTH = 8; // units of the longest of these
const QUOTE_END = /["'”’»)}」』）】〉》]$/u;
const IDEOGRAPH = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const OPENING = /^[\s"'“‘«»‹›„‚「『（([{¿¡*_#`~]*\+?/u;
const DIALOGUE = /^[^\S\r\n]+(?:[—–] ?|- )/u; // —¿Vienes? —preguntó ella.
const NUMBERS = new CharacterSet(/\p{N}/u);
const UNIT_END = new CharacterSet('mghlstcCF');
const UNIT_BEHIND_NUMBER = /(?:\p{N}\s?(?:[mghlst]|[ckm]m|[cm]l|[km]g|cc)|°\s?[CF])$/u;
const HANGUL = /^\p{Script=Hangul}/u;
const REPORTED = /^[—–](?:\s+|$)(\S?)/u; // «Ты здесь?» — спросил он.
/** 500 руб. Доставка, в 2024 г. Спасибо: common words have no capital there. */
const COUNTED_IN_RUSSIAN =
  /\p{N}{3}\s?г$|(?:\p{N}\s?(?:(?:тыс|млн|млрд)\.?\s)?|(?:за|в|на) )(?:руб|р|коп|мин|сек|час|ч|шт|чел|экз|дн|сут|нед|мес|уп|сот)$|\p{N}\s?(?:тыс|млн|млрд|трлн|[смк]?м|[мк]г|мл|л|т|га|с|°\s?[CСF])$|н\. ?э$|\/ ?(?:чел|мес|шт|сут|нед|дн|мин|сек|час|ч|уп|экз|компл|сот)$/u;
const DRIVE = /\S\s(?!Dear|Hello|Herr|Frau|Prof|Thanks?)\p{Lu}\p{Ll}{2,} Dr$/u; // on Mulholland Dr. The house
const COUNTED = /[\p{N}½¼¾]\+?\s?\p{L}+$/u; // 2 caps, 3+ Mon
const LONGEST_COUNTED = 8; // units of a number's end and its short unit
/** A sign between two words or numbers: no sentence begins with one. */
const SIGN = new CharacterSet('&=×÷≠≤≥<>+');
const IN_WORD = new CharacterSet(/[\p{L}\p{M}\p{N}'’]/u);
const WORD = /^[\p{L}\p{M}\p{N}'’]*/u;

export function judgeStop(window: StopWindow): StopVerdict {
  const { after, complete, forms, isShort = false } = window;
  if (after.length === 1) return complete ? 1 : 'wait';
  if (after.startsWith('.') && isPlainAt(after, 1)) {
    return isCapitalAt(after, 1) ? judgeUnspaced(window) : 'none'; // 3.50, example.com
  }
  const single = after[1] === ' ' && isPlainAt(after, 2);
  const run = single ? after.slice(0, 1) : (STOP_RUN.exec(after)?.[0] ?? after.slice(0, 1));
  const rest = after.slice(run.length);
  if (rest === '') return complete ? run.length : 'wait';
  // Perhaps a footnote number.
  if (!complete && rest.startsWith('[') && /^\[\d{0,3}$/u.test(rest)) return 'wait';
  if (!complete && rest.startsWith('<') && /^<(?:\/[a-z]{0,6})?$/iu.test(rest)) return 'wait';
  if (!WHITE.at(rest, 0)) return judgeTight(window, run, rest);
  const item = judgeItem(window.before, run, rest);
  if (item !== undefined) return item;
  const dash = DASHES.at(rest, whiteAt(rest, 0)) ? (DIALOGUE.exec(rest)?.[0].length ?? 0) : 0;
  if (dash === rest.length || (!complete && /^[^\S\r\n]+-$/u.test(rest)))
    return complete ? run.length : 'wait';
  if (dash > 0 && (/^\p{Ll}/u.test(rest.slice(dash)) || isAside(window.before, rest))) return 'none';
  if (dash > 0 && run === '.' && DATE.test(window.before.slice(-WORD_LIMIT))) return 'none';
  const opening = isPlainAt(rest, 1) ? rest.slice(0, 1) : (OPENING.exec(rest)?.[0] ?? '');
  const next = rest.slice(opening.length);
  if (opening.endsWith('+') && WHITE.at(next, 0)) return 'none'; // $20/mo. + tax
  if (next === '') return complete || PARAGRAPH.test(opening) ? run.length : 'wait';
  const isKorean = run === '.' && /[가-힣][다요죠까]$/u.test(window.before); // 발생합니다. npm install
  if (isFullWidth(run) || isKorean) return judgeTitle(window, run, rest) ?? run.length;
  if (run === '.' && next.startsWith('|') && CELL.test(window.before.slice(-WORD_LIMIT))) return 'none';
  const sign = judgeSign(opening, next, complete);
  if (sign !== undefined) return sign;
  const reported = run.length > 1 && CLOSING.test(run) ? REPORTED.exec(next) : null;
  if (reported?.[1] === '' && !complete) return 'wait';
  if (reported !== null && /^\p{Ll}/u.test(reported[1] ?? '')) return 'none';
  const word = wordOf(next);
  const wordEnds = complete || word.length < next.length;
  const tail = next.slice(word.length);
  const following = { opening, word, wordEnds, tail, complete, forms, isShort };
  const verdict = judgeSpaced(window.before, run, following);
  return verdict === 'end' ? run.length : verdict;
}

/** Vom 5.3. – 9.3., du 01.03. au 31.05. */
const DATE = /(?<![\p{N}.,])(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])$/u;
/** A cell of a table that is one word: | Sex. | 19h | */
const CELL = /\|\s?[\p{L}.]{1,12}$|\/\p{L}{1,5}$/u; // $1.99/mo. |

/** A sign that stands alone, between what is before the stop and what goes on. */
function judgeSign(opening: string, next: string, complete: boolean): 'none' | 'wait' | undefined {
  if (JOINING.at(next, 0)) {
    if (next.length === 1 && !complete) return 'wait';
    if (/^[:;,](?:\s|$)/u.test(next)) return 'none'; // Ex. : une pomme
  }
  if (SIGN.at(next, 0) && !/[\r\n]/.test(opening)) {
    if (!complete && /^.[=>]?$/u.test(next)) return 'wait';
    if (/^.[=>]?(?:\s|$)/u.test(next)) return 'none'; // Wed. & Fri., 5! = 120
  }
  return undefined;
}

/** The stop is that of a list marker: "1.) One", "1. One 2. Two". */
function judgeItem(before: string, run: string, rest: string): StopVerdict | undefined {
  if (run !== '.' && run !== '.)') return undefined;
  if (run === '.)' && endsWithListNumber(before)) return 'none';
  if (!/^\s+["'“„«(*_]{0,3}\p{L}/u.test(rest)) return undefined;
  const length = nextItemLength(before, '.');
  return length === 0 || length >= before.length ? undefined : -length;
}

/** He said – and what a surprise! – that he won. */
function isAside(before: string, rest: string): boolean {
  const dash = rest.trimStart()[0] ?? '';
  const opened = before.lastIndexOf(` ${dash} `);
  return opened > 0 && !before.startsWith(dash) && before.split(` ${dash} `).length % 2 === 0;
}

const TITLE_PAIRS = ['《》', '〈〉'] as const;
const LONGEST_TITLE_BEHIND = 24; // units

/** 《你好！李焕英》: a mark within a title, or at its end, ends no sentence. */
function judgeTitle(
  { before, after, complete }: StopWindow,
  run: string,
  rest: string,
): StopVerdict | undefined {
  for (const [open = '', close = ''] of TITLE_PAIRS) {
    const opened = before.lastIndexOf(open);
    if (opened < 0 || before.indexOf(close, opened) >= 0) continue;
    if (run.includes(close)) return /[。！？!?.]$/u.test(run) ? undefined : 'none';
    const behind = after.slice(run.length, run.length + LONGEST_TITLE_BEHIND);
    const end = behind.search(/[》〉。\n]/u);
    if (end < 0) return complete || rest.length >= LONGEST_TITLE_BEHIND ? undefined : 'wait';
    return behind[end] === close ? 'none' : undefined;
  }
  return undefined;
}

const UNSPACED_WORD = /^\p{L}\p{M}*[\p{Ll}\p{M}]{0,30}/u;
/** Last parts of host and file names. */
const NAME_END =
  /^(?:com|net|org|edu|gov|info|biz|app|dev|html?|php|asp|js|ts|py|io|ai|tv|me|de|fr|es|it|ru|uk|us|eu)$/i;

/** "Hello world.Next sentence": a full stop, or ! and ?, without the space that belongs behind it. */
function judgeUnspaced({ before, after, complete, forms }: StopWindow): StopVerdict {
  const lead = /(?:^|[\s"“„«'(])(\p{L}*\p{Ll}{2}|\p{N}{1,4})$/u.exec(before.slice(-WORD_LIMIT))?.[1] ?? '';
  if (lead === '' || isAbbreviation(lead, forms)) return 'none';
  const word = UNSPACED_WORD.exec(after.slice(1))?.[0] ?? '';
  const behind = after.slice(1 + word.length);
  if (!complete && /^['’.]?$/.test(behind)) return 'wait';
  if (!/^(?:[\s,;:!?…]|['’]\p{L}|\.(?:\s|$)|$)/u.test(behind)) return 'none';
  if (forms.starters.has(word.toLowerCase())) return 1;
  const isName = isCapitalAt(lead, 0) || isDigitAt(lead, 0) || NAME_END.test(word);
  return isName || word.length < SHORTEST_UNSPACED || before.split('`').length % 2 === 0 ? 'none' : 1;
}

const SHORTEST_UNSPACED = 3; // units of a word that begins a sentence without a space before it

function isFullWidth(run: string): boolean {
  for (let at = 0; at < run.length; at++) if (FULL_WIDTH.at(run, at)) return true;
  return false;
}

/** The word that begins here; of rare letters, which are two units, an expression knows more. */
function wordOf(text: string): string {
  let end = 0;
  while (IN_WORD.at(text, end)) end++;
  const unit = text.charCodeAt(end);
  return unit >= 0xd800 && unit <= 0xdfff ? (WORD.exec(text)?.[0] ?? '') : text.slice(0, end);
}

/** Begins with a small letter, but is no iPad. */
function isLower(word: string): boolean {
  return isSmallAt(word, 0) && !isCapitalAt(word, 1);
}

/** A letter that has a capital, or a digit: no mark, no accent. */
function isPlainAt(text: string, at: number): boolean {
  return isSmallAt(text, at) || isCapitalAt(text, at) || isDigitAt(text, at);
}

/** Behind the white space. */
function whiteAt(text: string, from: number): number {
  let at = from;
  while (WHITE.at(text, at)) at++;
  return at;
}

const LOOK_BACK = 200; // units of a sentence that decide about its end
const LOOK_ON = 64;

/**
 * Returns whether a sentence ends with the full stop of a token, in a text that was not cut into sentences.
 * A known short form ends the sentence only before a word that begins one.
 */
export function endsSentenceAt(text: string, at: number, forms: ShortForms, isShort = true): boolean {
  if (isPlainAt(text, at + 1)) return false;
  if (!/^[^\p{L}\p{N}\s]{0,6}\s+[^\p{L}\p{N}\s]{0,6}\p{Lu}/u.test(text.slice(at + 1, at + 16))) return false;
  const before = text.slice(Math.max(0, at - LOOK_BACK), at);
  return (
    judgeStop({ before, after: text.slice(at, at + LOOK_ON), complete: true, forms, isShort }) !== 'none'
  );
}

/** No space follows: only marks of writing systems that do without spaces end a sentence. */
function judgeTight(window: StopWindow, run: string, rest: string): StopVerdict {
  const { before, complete } = window;
  const fullWidth = isFullWidth(run);
  if (fullWidth) {
    const title = judgeTitle(window, run, rest);
    if (title !== undefined) return title;
  } else if (/^[!?]$/.test(run) && isCapitalAt(rest, 0)) return judgeUnspaced(window);
  if (!fullWidth && !(/[!?]/u.test(run) && IDEOGRAPH.test(rest))) return 'none';
  if (!fullWidth && EXCLAIMING_NAMES.has(/[a-z]*$/i.exec(before.slice(-WORD_LIMIT))?.[0].toLowerCase() ?? ''))
    return 'none';
  if (run === '。' && rest.startsWith('の')) return judgeName(rest, complete);
  if (!QUOTE_END.test(run)) return run.length;
  if (QUOTATIVE.test(rest) || SAYING.test(rest)) return 'none';
  return complete || rest.length >= SAYING_LENGTH || !IDEOGRAPH.test(rest) ? run.length : 'wait';
}

/** モーニング娘。のライブ: no sentence begins with の and a noun. */
function judgeName(rest: string, complete: boolean): StopVerdict {
  if (rest.length === 1 && !complete) return 'wait';
  return /^の[\p{Script=Han}\p{Script=Katakana}]/u.test(rest) ? 'none' : 1;
}

function judgeSpaced(before: string, run: string, following: Following): Judgement {
  const closed = run.length > 1 && CLOSING.test(run);
  if (!following.wordEnds && /^\p{Ll}$/u.test(following.word)) return 'wait';
  const lower = isLower(following.word);
  if (run.startsWith('.') && !run.startsWith('..') && !closed) return judgeFullStop(before, following);
  if (/^(?:\.{2,}|…+)$/u.test(run) && HANGUL.test(following.word)) return 'none'; // 저… 죄송합니다만
  if (!lower) return exclaims(before, following);
  // "Stop!" he said. · Ah ! quel plaisir · Well... maybe
  if (closed || /\s$/u.test(before) || /^(?:\.\.|…)/u.test(run)) return 'none';
  if (run.startsWith('.')) return 'none';
  const said = judgeSaying(following);
  if (said !== undefined) return said;
  return EXCLAIMING_NAMES.has(lastWord(before, following.forms).toLowerCase()) ? 'none' : 'end';
}

/** Verbs of saying behind direct speech, and the words that may stand before one. */
const SAYING_VERB =
  /^(?:said|says|asked|yelled|shouted|cried|exclaimed|whispered|screamed|replied|answered|called|begged|laughed|rief|schrie|fragte|sagte|antwortete|flüsterte|brüllte|meinte|bat|cria|demanda|dit|répondit|hurla|murmura|gritó|dijo|preguntó|exclamó|respondió|susurró|gridò|disse|chiese|urlò|esclamò|rispose|sussurrò|gritou|perguntou|exclamou|respondeu|sussurrou|крикнула?|сказала?|спросила?|ответила?|воскликнула?|закричала?)(?![\p{L}\p{N}])/u;
const SPEAKER = /^(?:he|she|they|we|i|it|the \p{L}{2,12}|his \p{L}{2,12}|her \p{L}{2,12}|my \p{L}{2,12})\s/iu;
const SAYING_AHEAD = 32; // units that decide

/** "Leave me alone! he yelled." */
function judgeSaying({ word, tail, complete }: Following): 'none' | 'wait' | undefined {
  const text = word + tail;
  const speaker = SPEAKER.exec(text)?.[0] ?? '';
  if (SAYING_VERB.test(text.slice(speaker.length))) return 'none';
  const isOpen = !complete && text.length < SAYING_AHEAD && (speaker !== '' || !/[.!?\n]/.test(text));
  return isOpen ? 'wait' : undefined;
}

/** Yahoo! Inc. is one name. */
function exclaims(before: string, { word, wordEnds, forms }: Following): Judgement {
  if (!EXCLAIMING_NAMES.has(lastWord(before, forms).toLowerCase())) return 'end';
  if (!wordEnds) return 'wait';
  return forms.oftenFinal.has(word.toLowerCase()) ? 'none' : 'end';
}

/** Dr. med. dent. Weiß */
function isDegree(before: string): boolean {
  const near = before.slice(-WORD_LIMIT);
  return near.includes('Dr.') && DEGREE.test(near);
}

const DEGREE = /(?<!\p{L})Dr\.(?:-Ing\.)?(?:\s?\p{Ll}{1,6}\.)*\s?\p{Ll}{1,6}$/u;
/** Vitamin C. Das hilft: a letter that names one of a kind is no initial. */
const LETTERED =
  /(?:^|\s)(?:Typ|Vitamin|Plan|Klasse|Gruppe|Hepatitis|Kategorie|Vitamine|Classe|Groupe|Catégorie|Vitamina|Gruppo|Serie|Categoria|Type|Group|Class|Category|Option)\s+\p{Lu}$/u;

function namesOneOfKind(before: string): boolean {
  return LETTERED.test(before.slice(-WORD_LIMIT));
}

const DASHES_OF_DAYS = new CharacterSet('-–');
/** German short names of days before an hour or a dash: Sa. 10–14 Uhr, Mo. – Fr. */
const SHORT_DAY = /^(?:Mo|Di|Mi|Do|Sa|So)$/;
/** Am 1./2. Mai, am 3.+4. Oktober */
const DAYS = /(?<!\p{N})\p{N}{1,2}\.\s?[/+&]\s?\p{N}{1,2}$/u;
const LARGE_ORDINAL = /^(?:\p{N}{3}|\p{N}{1,3}\.\p{N}{3}|\p{N}{1,2}\.\p{N}{1,2})$/u;
/** Words that may follow the short form of a company within the sentence: Müller & Co. KG. */
const COMPANIES: ReadonlySet<string> = new Set('kg kgaa ohg gmbh mbh ag se ltd llc inc lp plc'.split(' '));
const LEAD =
  /(?<!\p{L})(\p{L}+)\s+(?:\p{N}{1,2}\.(?:\p{N}{1,2}\.)?,?\s(?:und|oder|bis)\s)?[\p{N}./+&]*\p{N}$/u;
/** Platz 1. Platz 2: behind these the number is no ordinal. */
const COUNTED_NAME =
  /^(?:Platz|Rang|Tag|Kapitel|Klasse|Gleis|Zimmer|Stufe|Teil|Abschnitt|Woche|Seite|Punkt|Runde|Phase|Band|Akt|Szene|Linie|Nummer)$/;
const SHORT_MONTH = /^(?:Jan|Jän|Feb|Mär|Mrz|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)$/;

/** Max. Leistung: at its beginning a sentence does not end. */
const LIMIT = /(?:^|(?<!\p{N})[.!?:]\s{1,2})(?:Max|Min)$/u;
const ELIDED = /^(?:[CJLNS]|Qu)['’]\p{L}/u; // par pers. L'arrivée
/** Hauptstr. 5, 部屋はN°. 5 */
const NUMBER_SIGN = /(?:str|[n№][r°º]|№)$/u;
/** Albert I. Jones, but not King Charles I. */
const INITIAL_I = /(?<!(?:King|Queen|Pope|Emperor|Empress|Tsar|Prince)\s)(?<!\p{L})\p{Lu}\p{Ll}+\s+I$/u;
/** At 5 a.m. Mr. Smith left: the time alone is no sentence. */
const TIME_ALONE =
  /^[\s"“*_-]*(?:At|By|Around|About|Until|Before|After|Since|From|A las?|Hasta las?|Desde las?)\s+[\p{N}:.]{1,5}\s?[ap]\.\s?m$|(?:^|\s)(?:the|your|our|next|last)\s\p{N}{1,2}(?::\p{N}\p{N})?\s?[ap]\.\s?m$/iu;

function judgeFullStop(before: string, following: Following): Judgement {
  const { word, forms } = following;
  const last = lastWord(before, forms);
  const key = last.toLowerCase();
  const digit = NUMBERS.at(word, 0) || (word === '' && /^[-−–~≈±]\p{N}/u.test(following.tail)); // min. -2
  const capital = isCapitalAt(word, 0);
  if (capital && UNIT_END.at(before, before.length - 1) && UNIT_BEHIND_NUMBER.test(before.slice(-5)))
    return 'end'; // à 9 h. Soyez là; not "M. Dupont", no initial
  if (endsWithListLetter(before) && beginsItem(word, key)) return 'none';
  if (capital && last.length === 1 && namesOneOfKind(before) && /^.\p{L}/u.test(word)) return 'end';
  if (forms.neverFinal.has(key)) {
    if (key === 'dr' && DRIVE.test(before)) return onlyBeforeStarter(before, last, following);
    const counted = /\p{N}\s?\p{Ll}+$/u.test(before.slice(-LONGEST_COUNTED)); // 1 hr. Then
    return counted && capital ? onlyBeforeStarter(before, last, following) : 'none';
  }
  if (isLower(word)) return judgeLowerCase(before, last, following);
  if (isDegree(before)) return onlyBeforeStarter(before, last, following);
  if ((digit || DASHES_OF_DAYS.at(following.tail, 0)) && SHORT_DAY.test(last)) return 'none';
  const isCut = /^\p{Ll}{3,}$/u.test(last) && forms.noWordEnds.has(last.slice(-1)); // aliq. 10
  const takesNumber = forms.beforeNumber.has(key) || NUMBER_SIGN.test(key) || (digit && isCut);
  if (digit && takesNumber) return 'none'; // Hauptstr. 5
  if (capital && LIMIT.test(before.slice(-WORD_LIMIT))) return 'none';
  const numbered = takesNumber ? judgeBeforeNumber(before, following) : undefined;
  if (numbered !== undefined) return numbered;
  if ((key === 'ap' || key === 'apr') && word.startsWith('J')) return judgePart(following, /^J$/);
  const counted = NUMBERS.at(before, before.length - 1) ? judgeDigits(before, last, following) : undefined;
  if (counted !== undefined) return counted;
  if (/^(?!.*(?:LL|VV))[IVXL]{2,}$/.test(last)) return judgeRoman(before, following);
  if (key === 'co' && /^[A-Z]/.test(word) && !following.opening.includes('('))
    return unless(COMPANIES, following);
  if (capital && (last === 'inc' || PERIOD.test(before.slice(-LONGEST_COUNTED))))
    return judgeIncluding(following);
  if (following.opening.includes('(') && SHORT_UNIT.test(before.slice(-LONGEST_COUNTED))) return 'none';
  if (forms.oftenFinal.has(key)) {
    if (following.opening.includes('(')) return 'none'; // Acme Inc. (the big one)
    if (following.wordEnds && continuesName(word, forms)) return 'none'; // Acme Co. Ltd., King Jr. Blvd.
    const verdict = digit ? 'none' : unless(forms.afterTime, following);
    const isAlone = verdict === 'end' && TIME_ALONE.test(before.slice(0, WORD_LIMIT));
    return isAlone ? onlyBeforeStarter(before, last, following) : verdict;
  }
  if (last === 'I' && /\p{Ll}\s+I$/u.test(before) && !INITIAL_I.test(before.slice(-WORD_LIMIT))) return 'end'; // "So do I. Then": not an initial
  const isNoAside = /^[А-ЯЁ]/u.test(word) && !following.opening.includes('(');
  if (isNoAside && COUNTED_IN_RUSSIAN.test(before.slice(-WORD_LIMIT))) return 'end';
  if ((following.isShort && !forms.beforeNumber.has(key)) || isAbbreviation(last, forms))
    return onlyBeforeStarter(before, last, following);
  if (forms.behindNumber.has(key) && COUNTED.test(before.slice(-WORD_LIMIT)))
    return onlyBeforeStarter(before, last, following);
  return 'end';
}

/** True if the word can begin a list item behind the letters `key`. */
function beginsItem(word: string, key: string): boolean {
  return isCapitalAt(word, 0) || HANGUL.test(word) || (key.length > 1 && isLower(word));
}

const DOTTED_DATE = /\p{N}{4}\. ?\p{N}{1,2}\. ?\p{N}{1,2}$/u;
/** The word before the stop ends with a digit; undefined where it is no ordinal and no part of a date. */
function judgeDigits(before: string, last: string, following: Following): Judgement | undefined {
  if (/^\p{N}{4}$/u.test(last) && NUMBERS.at(following.word, 0)) return judgePart(following, /^\p{N}{1,2}$/u);
  const behindDate = DOTTED_DATE.test(before.slice(-WORD_LIMIT)) ? following.word + following.tail : '';
  if (HANGUL.test(behindDate) || /^\p{N}{1,2}:\p{N}{2}/u.test(behindDate)) return 'none';
  if (/^\p{N}{1,2}(?::\p{N}?)?$/u.test(behindDate)) return 'wait';
  if (/^\p{N}{1,2}$/u.test(last) || DAYS.test(before.slice(-WORD_LIMIT)))
    return judgeNumber(before, following);
  return LARGE_ORDINAL.test(last) ? judgeLargeNumber(before, following) : undefined;
}

/** Apr. J.-C. is an era, not a month; in the Korean date "2024. 1. 15." a stop follows the year, too. */
function judgePart({ word, wordEnds, tail }: Following, part: RegExp): Judgement {
  if (!wordEnds) return 'wait';
  return part.test(word) && tail.startsWith('.') ? 'none' : 'end';
}

function continuesName(word: string, forms: ShortForms): boolean {
  const key = word.toLowerCase();
  return forms.oftenFinal.has(key) || forms.seldomFinal.has(key);
}

const PERIOD = /(?:\/|\p{N}\s?)(?:mo|yr|wk|hr|tbsp|tsp|oz|lbs?|pkg|qt|gal|ft)$/iu;
const SHORT_UNIT = /\p{N}\s?\p{Ll}{1,3}$/u; // 62 in. (L + W + H)

/** "inc. VAT" in small letters is no company, $275/mo. HOA fee goes on. */
function judgeIncluding({ word, wordEnds, tail, complete }: Following): Judgement {
  if ((!wordEnds || (tail === '' && !complete)) && word.length < 2) return 'wait';
  return /^\p{Lu}{2}/u.test(word) || (word.length === 1 && tail.startsWith('&')) ? 'none' : 'end';
}

/** Short forms of square and cubic measures: 54 кв. м. */
const SQUARE = /\p{N}\s?(?:кв|куб|(?:cu|sq)(?:\.\s?(?:ft|yd|in|mi|m))?)$/u;

/** A small letter follows: "sept. de 2024", or a writer who uses no capitals. */
function judgeLowerCase(before: string, last: string, { word, wordEnds, forms }: Following): Judgement {
  if (isAbbreviation(last, forms) || !writesLowerCase(before)) return 'none';
  const near = before.slice(-WORD_LIMIT);
  if (forms.behindNumber.has(last.toLowerCase()) && COUNTED.test(near)) return 'none'; // 7 bus. days
  if (SQUARE.test(near) || isDegree(before)) return 'none'; // Dr. rer. nat.
  const lead = /^\p{N}{1,2}$/u.test(last) ? (LEAD.exec(before.slice(-WORD_LIMIT))?.[1] ?? '') : '';
  if (forms.beforeOrdinal.has(lead.toLowerCase())) return 'none'; // vom 1. bis
  if (/^\p{N}{1,2}$/u.test(last) && /^(?:u|un|und|b|bi|bis|od|ode|oder)$/.test(word))
    return wordEnds ? 'none' : 'wait'; // 5., 6. und 7. Mai
  if (!forms.beforeNumber.has(last.toLowerCase()) && !DATE.test(near)) return 'end';
  if (!wordEnds) return 'wait';
  return /^(?:del?|al?|à|au|ao|to|bis|through|по|до|incl\p{L}{2,6})$/u.test(word) ? 'none' : 'end';
}

/** "1. First" at the beginning of a line, "am 3. Oktober", or "in the top 10. John". */
function judgeNumber(before: string, following: Following): Judgement {
  if (endsWithListNumber(before) || isLaterItem(before)) return 'none';
  if (/^\p{N}/u.test(following.word)) return judgeSpacedDate(before, following);
  const lead = LEAD.exec(before.slice(-WORD_LIMIT))?.[1] ?? '';
  const { beforeOrdinal, afterOrdinal } = following.forms;
  const plain = unless(afterOrdinal, following);
  if (plain === 'none' && COUNTED_NAME.test(lead)) return 'end';
  if (plain === 'end' && SHORT_MONTH.test(following.word) && following.tail.startsWith('.')) return 'none';
  const isOrdinal = beforeOrdinal.has(lead.toLowerCase()) && /^\p{L}/u.test(following.word);
  return isOrdinal && plain === 'end' ? onlyBeforeStarter(before, '', following) : plain;
}

/** Das XX. Jahrhundert, die XXXIII. Olympischen Spiele; Ludwig XIV. may end a sentence. */
function judgeRoman(before: string, following: Following): Judgement {
  const lead = /(\p{L}+)\s+[IVXL]+$/u.exec(before.slice(-WORD_LIMIT))?.[1] ?? '';
  const isOrdinal = following.forms.beforeOrdinal.has(lead.toLowerCase()) && /^\p{Lu}/u.test(following.word);
  return isOrdinal
    ? onlyBeforeStarter(before, '', following)
    : unless(following.forms.afterOrdinal, following);
}

/**
 * "zum 100. Geburtstag", "der 1.000. Besucher", "am 24.12. Heiligabend"; but "die 112. Retter" were called.
 */
function judgeLargeNumber(before: string, following: Following): Judgement {
  const lead = LEAD.exec(before.slice(-WORD_LIMIT))?.[1] ?? '';
  const isFirst = /^[\s*_>#-]*[\p{N}.]+$/u.test(before); // 100. Geburtstag, 1.000. Besucher
  const isOrdinal =
    isFirst || (following.forms.beforeOrdinal.has(lead.toLowerCase()) && !/^(?:die|des)$/i.test(lead));
  if (isOrdinal && following.forms.afterOrdinal.has(following.word.toLowerCase())) return 'none';
  if (!isOrdinal || !/^\p{L}/u.test(following.word) || /\bI am [\d.]+$/.test(before)) return 'end';
  return onlyBeforeStarter(before, '', following);
}

/** "3. 10. 2024": a full stop between the parts of a date ends nothing. */
function judgeSpacedDate(before: string, { word, wordEnds, tail }: Following): Judgement {
  if (!wordEnds) return 'wait';
  if (/^\p{N}{1,2}$/u.test(word) && tail === '') return 'wait';
  if (/^\p{N}{1,2}$/u.test(word) && tail.startsWith('.')) return 'none';
  return /^\p{N}{4}$/u.test(word) && /\p{N}{1,2}\.\s?\p{N}{1,2}$/u.test(before) ? 'none' : 'end';
}

/** Marshall B. Rosenberg, Ursula K. Le Guin: an article behind a name's initial is part of the name. */
const IN_NAME = /^(?:La|Le|Los|Las|El|Il|Lo|Van|Von|Der|Den|Das|Dos|O|A|An|Do|Ten)$/;
const INITIAL_OF_NAME = /\p{Lu}\p{L}*[\s.]+\p{Lu}$/u;
/** "Main St. Call me": no name is followed by one of these. */
const OBJECT = /^ (?:me|us|him|them)(?![\p{L}\p{N}])/u;
const OBJECT_LENGTH = 6; // units of the longest of these and the one behind it

const LONGEST_TITLE = 4; // units

function onlyBeforeStarter(before: string, last: string, following: Following): Judgement {
  const { opening, word, wordEnds, tail, complete, forms } = following;
  if (/["“«„「]/u.test(opening)) return 'none';
  if (!wordEnds) return 'wait';
  const key = word.toLowerCase().replaceAll('’', "'");
  if (tail.startsWith('.') && forms.shortStarters.has(key)) return 'end';
  const isUnit = /^\p{Lu}{2}$/u.test(word) && COUNTED.test(before.slice(-WORD_LIMIT)); // 2 geh. EL
  const starts = (forms.starters.has(key) && !isUnit) || ELIDED.test(word);
  if (tail.startsWith('.') && !(starts && word.length > LONGEST_TITLE)) return 'none'; // "J. A. Smith", "Prof. Dr. Ott"
  if (word.length === 1 && tail.startsWith('-')) return 'none'; // Bldg. A-12
  if (starts) {
    return last.length === 1 && IN_NAME.test(word) && INITIAL_OF_NAME.test(before) ? 'none' : 'end';
  }
  if (!/^\p{Lu}\p{Ll}/u.test(word)) return 'none';
  if (!complete && tail.length < OBJECT_LENGTH) return 'wait';
  return OBJECT.test(tail) ? 'end' : 'none';
}

/** Initials (J, J.R), dotted letters (U.S, z.B) and the listed abbreviations. */
function isAbbreviation(word: string, forms: ShortForms): boolean {
  const key = word.toLowerCase();
  if (forms.seldomFinalAsWritten.has(word)) return true;
  if (forms.neverFinal.has(key) || forms.seldomFinal.has(key) || forms.oftenFinal.has(key)) return true;
  return /^(?:\p{L}\.)*[\p{Lu}\p{Ll}]$/u.test(word);
}

/** A writer who began this sentence in lower case will begin the next one so, too. */
function writesLowerCase(before: string): boolean {
  return /^[^\p{L}\p{N}]*\p{Ll}/u.test(before);
}

const LONGEST_SERIES = 4; // letters before the digits of a serial number
const LETTER_LENGTH = 3; // units: the rest of "L. 1"
const OPEN_SERIES = /^-[A-Z\d]{0,16}$/;
const ROMAN = /^(?:[IVXLC]{2,8}|[VX])$/; // I alone is a word of English
/** El s. I, del cap. I: not English. */
const NUMBERED_I = /(?:^|\s)(?:(?:e?l|del|al) s|cap|tít|séc|vol|Art|Vol|Ch|Sec|Pt|Bk|Cap|Kap|Bd)$/u;
const SIGNED_LENGTH = 3; // units: +49, (+4

/** Undefined where no number of any kind follows. */
function judgeBeforeNumber(before: string, following: Following): Judgement | undefined {
  const { word, wordEnds, tail, complete } = following;
  if (word === '' && /^[+($€£¥₹₽₩#]/.test(tail)) {
    if (tail.length < SIGNED_LENGTH && !complete) return 'wait';
    return /^[+($€£¥₹₽₩#]{1,2}\p{N}/u.test(tail) ? 'none' : undefined;
  }
  if (!/^[A-Z]/.test(word)) return undefined;
  if (!wordEnds) return 'wait';
  const isNumber = ROMAN.test(word) || (word === 'I' && NUMBERED_I.test(before.slice(-WORD_LIMIT)));
  if (isNumber || /^[A-Z]{1,8}\d/.test(word)) return 'none';
  if (word.length > LONGEST_SERIES) return undefined;
  if (/^[A-HJ-Z]$/.test(word) && /^(?:[,;:)/]|$)/.test(tail)) return 'none'; // Bât. C, escalier 2
  if (word.length === 1 && tail.startsWith('.')) {
    if (!complete && tail.length < LETTER_LENGTH) return 'wait';
    return /^\. ?\p{N}/u.test(tail) ? 'none' : undefined;
  }
  if (!complete && OPEN_SERIES.test(tail)) return 'wait';
  return /^-[A-Z\d]*\d/.test(tail) ? 'none' : undefined;
}

interface Following {
  /** White space and opening quotes. */
  readonly opening: string;
  readonly word: string;
  /** True if the whole word has arrived. */
  readonly wordEnds: boolean;
  /** The text after the word. */
  readonly tail: string;
  readonly complete: boolean;
  readonly forms: ShortForms;
  readonly isShort: boolean;
}

type Judgement = 'end' | 'none' | 'wait';

/** A sentence ends there unless one of these words goes on with it. */
function unless(continuing: ReadonlySet<string>, { word, wordEnds }: Following): Judgement {
  if (!wordEnds) return 'wait';
  return continuing.has(word.toLowerCase()) ? 'none' : 'end';
}

const WORD_LIMIT = 48; // units; no abbreviation is longer
/** White space as expressions know it. */
const WHITE = new CharacterSet(/\s/u);

/** Short forms of two words: 3 p. m., p. ex. */
const SPACED_FORM =
  /(?:(?<=\p{N}\s?)[ap]\. m|(?<!\p{L})(?:p\. e[sxj]|(?:ad|per) es|z\.\sB|т\.\s[дп]|d\.\sh|i\.\sd\.\sR))$/iu;
const SPACED_END = new CharacterSet('msxjbhrдпMSXJBHRДП');
const ALTERNATIVE = /^\p{L}{2,6}\.(?:\p{L}{2,3})?\/(\p{L}{2,6}(?:\.\p{L}{2,3})?)$/u;
const ADDRESS = /[/\\@=]|www\./;
const BEGINS_WORD = new CharacterSet(/[\p{L}\p{N}§№]/u);
const SPACED_LENGTH = 12; // units of one, and of what stands before it

/** The word before the stop; an address or path is one ordinary word, whatever its last letters are. */
export function lastWord(before: string, forms: ShortForms): string {
  const ends = before.length - 1;
  const spaced = SPACED_END.at(before, ends)
    ? SPACED_FORM.exec(before.slice(-SPACED_LENGTH))?.[0]
    : undefined;
  if (spaced !== undefined) return spaced.replaceAll(/\s/gu, '');
  let start = before.length;
  while (start > 0 && before.length - start < WORD_LIMIT && !WHITE.at(before, start - 1)) start--;
  const token = before.slice(start);
  const alternative = token.includes('/') ? ALTERNATIVE.exec(token)?.[1] : undefined; // Sr./Sra.
  if (alternative !== undefined) return alternative;
  const whole = BEGINS_WORD.at(token, 0) ? token : token.replace(/^[^\p{L}\p{N}§]+/u, '');
  const key = whole.toLowerCase();
  if (forms.neverFinal.has(key) || forms.seldomFinal.has(key)) return whole; // г-н, dott.ssa, s/n
  if (ADDRESS.test(token)) return 'address';
  return /[\p{L}\p{M}\p{N}.§ºª°№]*$/u.exec(whole)?.[0] ?? '';
}
