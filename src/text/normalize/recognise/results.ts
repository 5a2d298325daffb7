// Results that no word tells of, as Chinese, Japanese and Korean write them: 2-1(1-0), 3-1(25-20, 23-25), 前半1-0.

const PAIR = String.raw`\d{1,3}[-–−ー]\d{1,3}`;
const ROW = String.raw`(?:${PAIR}[,、，] ?){0,5}`;
const PARTS_BEHIND = new RegExp(String.raw`^ ?[(（][^\d()（）]{0,4}${ROW}${PAIR}[)）]`);
const WHOLE_BEFORE = new RegExp(String.raw`${PAIR} ?[(（](?:[^\d()（）]{0,4}${ROW})$`);
const LONGEST = 56; // units of the results in brackets

/** 2-1(1-0): the whole, and the parts of a game that stand in brackets behind it. */
export function isWithHalf(text: string, start: number, end: number): boolean {
  if (/[(（]/.test(text.slice(end, end + 2)) && PARTS_BEHIND.test(text.slice(end, end + LONGEST)))
    return true;
  return WHOLE_BEFORE.test(text.slice(Math.max(0, start - LONGEST), start));
}
