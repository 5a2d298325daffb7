// Months as English writes them, for languages in whose texts an English date may stand.
const NAMES =
  'January Jan, February Feb, March Mar, April Apr, May, June Jun, July Jul, August Aug, September Sept Sep, October Oct, November Nov, December Dec';

/** With the name that is said when a month stands alone, such as 一月. */
export function englishMonths(said: (month: number) => string): readonly (readonly string[])[] {
  return NAMES.split(', ').map((names, index) => [
    said(index + 1),
    ...names.split(' ').flatMap((name) => (name.length > 4 || name === 'May' ? [name] : [name, `${name}.`])),
  ]);
}

export const ENGLISH_DATES = {
  named: ['month-day', 'day-month'],
  dayMark: 'st|nd|rd|th',
  between: ',? ',
} as const;
