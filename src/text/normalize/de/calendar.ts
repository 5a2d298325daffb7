// Names of German months and days, as data: what is said first, then what is written.
export const MONTHS: readonly (readonly string[])[] = [
  ['Januar', 'Jänner', 'Jan.', 'Jan', 'Jän.'], ['Februar', 'Feber', 'Feb.', 'Feb', 'Febr.'], ['März', 'Mrz.', 'Mär.'], ['April', 'Apr.', 'Apr'], ['Mai'],
  ['Juni', 'Jun.', 'Jun', 'Juno'], ['Juli', 'Jul.', 'Jul'], ['August', 'Aug.', 'Aug'], ['September', 'Sept.', 'Sep.', 'Sept', 'Sep'],
  ['Oktober', 'Okt.', 'Okt'], ['November', 'Nov.', 'Nov'], ['Dezember', 'Dez.', 'Dez'],
]; // prettier-ignore
export const WEEKDAYS: readonly (readonly string[])[] = [
  ['Montag', 'Mo.', 'Mo'], ['Dienstag', 'Di.', 'Di'], ['Mittwoch', 'Mi.', 'Mi'], ['Donnerstag', 'Do.', 'Do'], ['Freitag', 'Fr.', 'Fr'],
  ['Samstag', 'Sa.', 'Sa'], ['Sonntag', 'So.', 'So'],
]; // prettier-ignore
