// Words for a date whose order is stated: mdy, dmy, ymd, md, dm, ym, my, y, m, d, or yyyymmdd.
import type { Language, WrittenDate } from '../normalize/language.js';
import { withoutZeros } from '../normalize/numerals.js';
import type { Around } from '../normalize/reading.js';

type Part = 'd' | 'm' | 'y';

const ORDERS = new Set(['mdy', 'dmy', 'ymd', 'ydm', 'md', 'dm', 'ym', 'my', 'y', 'm', 'd']);
const USUAL_DIGITS: Readonly<Record<Part, number>> = { d: 2, m: 2, y: 4 };

/** Undefined where no order is stated, or the text has another one. */
export function sayDate(
  text: string,
  format: string,
  language: Language,
  around: Around,
): string | undefined {
  const letters = format.toLowerCase().replace(/[^dmy]/g, '');
  const order = letters.replace(/(.)\1+/g, '$1');
  if (!ORDERS.has(order)) return undefined;
  const parts = partsOf(text, letters, Array.from(order) as Part[]);
  return parts === undefined ? undefined : say(parts, language, around);
}

type Parts = Readonly<Partial<Record<Part, string>>>;

function partsOf(text: string, letters: string, order: readonly Part[]): Parts | undefined {
  const tokens = text.match(/\d+|\p{L}[\p{L}\p{M}.]*/gu) ?? [];
  const [only = ''] = tokens;
  const isRun = tokens.length === 1 && order.length > 1 && /^\d+$/.test(only);
  const values = isRun ? cutRun(only, letters, order) : tokens;
  if (values?.length !== order.length) return undefined;
  return Object.fromEntries(order.map((part, index) => [part, values[index]]));
}

/** 20240115 by its widths: those of yyyymmdd, or the usual ones. */
function cutRun(digits: string, letters: string, order: readonly Part[]): string[] | undefined {
  const stated = letters.length === digits.length;
  const values: string[] = [];
  let at = 0;
  for (const part of order) {
    const width = stated ? letters.split(part).length - 1 : USUAL_DIGITS[part];
    values.push(digits.slice(at, at + width));
    at += width;
  }
  return at === digits.length ? values : undefined;
}

function say({ d, m, y }: Parts, language: Language, around: Around): string | undefined {
  const { speech } = language;
  const month = m === undefined ? undefined : monthOf(m, language);
  if (m !== undefined && month === undefined) return undefined;
  if (d !== undefined && !(/^\d{1,2}$/.test(d) && Number(d) >= 1 && Number(d) <= 31)) return undefined;
  if (y !== undefined && !/^\d{2}(?:\d{2})?$/.test(y)) return undefined;
  if (month === undefined && y !== undefined) {
    return speech.year(y, around, true) ?? speech.count({ number: numeral(y) }, around);
  }
  if (month === undefined) {
    const [usual = ''] = language.writing.dates.dayMark.replaceAll('\\', '').split('|');
    return speech.ordinal(withoutZeros(d ?? ''), around, usual);
  }
  const date: WrittenDate = {
    ...(d === undefined ? {} : { day: withoutZeros(d) }),
    month,
    ...(y === undefined ? {} : { year: y }),
    style: d !== undefined && y !== undefined ? 'numeric' : 'name',
  };
  return speech.date(date, around)?.trim();
}

function numeral(digits: string) {
  return { negative: false, whole: withoutZeros(digits), decimals: '', grouped: false };
}

/** 1 to 12, of figures or a name. */
function monthOf(written: string, { writing }: Language): number | undefined {
  if (/^\d{1,2}$/.test(written)) {
    const month = Number(written);
    return month >= 1 && month <= 12 ? month : undefined;
  }
  const name = written.toLowerCase();
  const bare = name.replace(/\.$/, '');
  const index = writing.dates.months.findIndex((names) =>
    names.some((known) => known.toLowerCase() === name || known.toLowerCase() === bare),
  );
  return index < 0 ? undefined : index + 1;
}
