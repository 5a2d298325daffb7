// Recognises the markers of list items: "1.", "2)", "(3)", "b.", "•". The sentence cutter asks this file
// whether a stop or bracket belongs to a marker, and whether an item ends in front of one on the same line.
import { CharacterSet } from './character-set.js';

/** Characters that begin an item of a list, on a line of its own or within a line. */
export const BULLET_MARK = /[•‣◦▪⁃]/u;
/** Characters behind the number of an item that are no stop marks. */
export const ITEM_BRACKET = /[)）]/u;

const BULLETS = new CharacterSet(BULLET_MARK);
const BRACKETS = new CharacterSet(ITEM_BRACKET);

export function isBulletAt(text: string, at: number): boolean {
  return BULLETS.at(text, at);
}

export function isItemBracketAt(text: string, at: number): boolean {
  return BRACKETS.at(text, at);
}

const LONGEST_LEAD = 64; // units of a line before and with its number
const LONGEST_MARKER = 12; // units: "(12", with the word before it
const FIRST_MARKER = 100; // units at the beginning of a sentence in which its first marker is looked for
const NUMBER =
  /^[\s*_#>•‣◦·▪⁃–—([-]*(?:(?:step|question|item|point|part|schritt|frage|punkt|teil|étape|paso|passo)\s)?\p{N}{1,2}$/iu;
/** Steps: 1. Peel the onion 2. Fry it */
const FIRST_NUMBER = /[:：]\s{1,3}[*_(]{0,2}1$/u;
/** A. Yes, ii. Two, 가. 신청 */
const LETTER = /^[\s*_#>•‣◦·▪⁃([-]*(?:[A-HQR]|[a-h]|[ivx]{1,4}|[가나다라마바사아자차])$/u;
const LETTERS = new CharacterSet('ABCDEFGHQRabcdefghivx가나다라마바사아자차');

/** The number that the text ends with stands at the beginning of its line. */
export function endsWithListNumber(text: string): boolean {
  const line = lastLine(text);
  return (line.length <= LONGEST_LEAD && NUMBER.test(line)) || FIRST_NUMBER.test(text.slice(-LONGEST_MARKER));
}

export function endsWithListLetter(text: string): boolean {
  if (!LETTERS.at(text, text.length - 1)) return false;
  const line = lastLine(text);
  return line.length <= LONGEST_LEAD && LETTER.test(line);
}

function lastLine(text: string): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

/** The first marker of a sentence: at its beginning, or behind a colon. */
const FIRST = /(?:^[\s*_#>•‣◦·▪⁃–—-]*|[:：]\s{1,3})[(（]?(\p{N}{1,2}|[a-h])(\.\)?|[)）])(?=\s|\p{Lo})/u;
/** The marker that a text ends with, without its stop or bracket. */
const LAST = /(?:^|[\s。；;.])([(（]?(\p{N}{1,2}|[a-h]))$/u;
/** An item ends with a word or a closing mark; a list with commas between its items is one sentence. */
const ITEM_END = /[\p{L}\p{M}\p{N}.!?。…"'”’»)\]%*_]$/u;
/** Words that a number belongs to: "close at 2. Call us", "page 2. Then". */
const TAKES_NUMBER = new Set(
  (
    'a à al alla alle and as at auf aux bei bis by das de del der di die do e el em en et for from gegen i ' +
    'il im in is la las le les los mit nach no nº nr number o ob oder of on or ou page pour press pro se sind ' +
    'sobre step than the to um und und unter until vom von vor was were y zu zum às с в во до и из к на о от ' +
    'по или номер пункт шаг seite schritt option opción opzione opção étape paso passo numéro número numero'
  ).split(' '),
);

interface Marker {
  readonly value: number;
  readonly isLetter: boolean;
  readonly isBracketed: boolean;
}

function markerOf(written: string, isBracketed: boolean): Marker {
  const isLetter = /^[a-z]$/.test(written);
  const value = isLetter ? written.charCodeAt(0) : Number(written);
  return { value, isLetter, isBracketed };
}

/**
 * Units at the end of the text that are the marker of the next item on the line: 2 for "2" in "1) Yes 2"
 * with its space; 0 if it is none. `mark` is the stop or bracket behind it.
 */
export function nextItemLength(text: string, mark: string): number {
  const [ending = '', written = '', name = ''] = LAST.exec(text.slice(-LONGEST_MARKER)) ?? [];
  if (ending === '') return 0;
  const item = text.slice(0, text.length - written.length).trimEnd();
  const first = FIRST.exec(item.slice(0, FIRST_MARKER));
  if (first === null || !ITEM_END.test(item)) return 0;
  const [head, firstName = '', firstMark = ''] = first;
  if (item.length <= first.index + head.length) return 0;
  const before = markerOf(firstName, !firstMark.startsWith('.'));
  const next = markerOf(name, mark !== '.');
  const follows = next.value === before.value + 1 && next.isLetter === before.isLetter;
  if (!follows || next.isBracketed !== before.isBracketed) return 0;
  const isAnswer = /^no$/i.test(item.slice(first.index + head.length).trim()); // 2) No 3) Maybe
  const word = /(?<![\p{L}-])\p{L}+$/u.exec(item.slice(-LONGEST_MARKER))?.[0].toLowerCase() ?? '';
  return !isAnswer && TAKES_NUMBER.has(word) ? 0 : written.length;
}

const LONGEST_LIST = 200; // units of items on one line
const MOST_ITEMS = 10;
const LATER_ITEM = /^\s*(\p{N}{1,2})[.)]\s.*[^.\s]\s(\p{N}{1,2})$/su;

/** Table: 1. One (68), 2. Two (61) */
const ITEM_BEHIND_COMMA = /(?:^|[:,;(]\s)(\p{N}{1,2})\.\s.{1,100}[^\p{N}\s][,;]\s(\p{N}{1,2})$/su;

/** 1. One 3. Three: an item of a list on one line, though not the next one. */
export function isLaterItem(text: string): boolean {
  const begins = text.slice(0, LONGEST_LIST);
  const [, first = '', last = ''] = LATER_ITEM.exec(begins) ?? ITEM_BEHIND_COMMA.exec(begins) ?? [];
  return Number(last) > Number(first) && Number(last) < Number(first) + MOST_ITEMS;
}

const RUNNING_ITEM = /^[\s*_#>-]*(?:[•‣◦▪⁃]|.{0,100}[:：.!?…]\s*$)/su;

/**
 * True if an item ends in front of this bullet within a line: the sentence before it is an item itself, or
 * its last mark is a colon.
 */
export function endsBeforeBullet(before: string, after: string): boolean {
  return /[\p{L}\p{N}]/u.test(before) && /^.[ \t]*[^\s]/u.test(after) && RUNNING_ITEM.test(before);
}
