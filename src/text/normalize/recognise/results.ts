// Results that no word tells of, as Chinese, Japanese and Korean write them: 2-1(1-0), 前半1-0.

const HALF_BEHIND = /^ ?[(（][^\d()（）]{0,4}\d{1,3}[-–−ー]\d{1,3}[)）]/;
const WHOLE_BEFORE = /\d{1,3}[-–−ー]\d{1,3} ?[(（][^\d()（）]{0,4}$/;
const LONGEST = 16; // units of a result in brackets, with its name

/** 2-1(1-0): the whole, or the half of a game that stands in brackets behind it. */
export function isWithHalf(text: string, start: number, end: number): boolean {
  if (/[(（]/.test(text.slice(end, end + 2)) && HALF_BEHIND.test(text.slice(end, end + LONGEST))) return true;
  return WHOLE_BEFORE.test(text.slice(Math.max(0, start - LONGEST), start));
}
