// Telephone numbers as Russians say them: in groups, each as one number.
import type { TelephoneFormat } from '../language.js';
import { sayGroup } from './numbers.js';
import { words } from './vocabulary.js';

export const TELEPHONE: TelephoneFormat = {
  patterns: [
    /8[ -]?\(\d{3,5}\)[ -]?\d{1,7}(?:[ -]\d{2,3}){0,3}(?!\d)/y,
    /8[ -]\d{3}[ -]\d{3}[ -]\d{2}[ -]?\d{2}(?![\d,]|-\d)/y,
    /8-\d{3}-\d{3}-\d{4}(?![\d,]|-\d)/y,
    /8\d{10}(?!\d)/y,
    /\(\d{3,5}\) ?\d{1,3}(?:[ -]\d{2}){2}(?![\d,]|-\d)/y,
    /\d{3}-\d{2}-\d{2}(?!\d|-\d)/y,
    /\d{2}-\d{2}-\d{2}(?!\d|-\d)/y,
  ],
  keywords: words(
    'телефон телефону телефона тел звоните позвоните звонить номеру факс моб мобильный набери наберите доб добавочный горячая вызовите звони перезвоните whatsapp ватсап',
  ),
};

/** How many digits each group has where none were written. */
const CUTS: Readonly<Record<number, readonly number[]>> = {
  4: [2, 2], 5: [1, 2, 2], 6: [2, 2, 2], 7: [3, 2, 2], 8: [2, 2, 2, 2], 9: [3, 2, 2, 2], 10: [3, 3, 2, 2], 11: [1, 3, 3, 2, 2], 12: [3, 2, 3, 2, 2],
}; // prettier-ignore

function cut(group: string): string[] {
  if (group.length <= 3) return [group];
  const sizes = CUTS[group.length] ?? Array.from({ length: Math.ceil(group.length / 2) }, () => 2);
  let at = 0;
  return sizes.map((size) => group.slice(at, (at += size)));
}

export function sayTelephone(groups: readonly string[], plus: boolean): string {
  return (plus ? 'плюс ' : '') + groups.flatMap(cut).map(sayGroup).join(', ');
}
