// Which four digits are a year: seit 1989, Luther starb 1546; but 1500 Menschen, § 1922.
import type { Around } from '../reading.js';
import { year } from './numbers.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const NUMBERED =
  /(?:§|Nr\.|Art\.|Artikel|Zimmer|Raum|Seite|S\.|Kapitel|Linie|Gate|Platz|Nummer|Rn\.|Rz\.) ?$/u;
/** What happens to one person or thing; behind it a noun in capitals is not counted. */
const HAPPENED = words(
  `wurde starb war kam ging zog trat fiel begann endete fand geboren gestorben gegründet erbaut errichtet eröffnet eröffnete gewann heiratete
   entstand erschien erhielt gründete entdeckte verließ übernahm folgte verstorben geb tsv sv fc vfl sc tus ssv bsg`,
);
/** Behind a number they show that nothing is counted. */
const NOT_COUNTED = words(
  `seine ihre sein ihr das die der den dem ein eine einen einem im am vom zum zur als aus ins in nach durch auf an mit geboren gestorben gegründet
   erbaut errichtet entstanden erstmals zerstört vollendet eingeweiht veröffentlicht erwähnt gekrönt entdeckt urkundlich starb wurde war begann kam
   gab unter über bei von vor er sie es`,
);
/** Before a number they show that something is. */
const COUNTING = words(
  `kostet kosten kostete zahlt zahlte zahlen rund etwa circa ca fast knapp nur auf über unter um von insgesamt mit zählt zählte hat hatte sind waren
   wiegt misst bis beträgt betrug verkaufte verdient verdiente gleich macht mal plus minus höchstens mindestens ungefähr genau für je pro`,
);

/** A year stands behind "im Jahr", "seit" and the like, or alone; "1999 Menschen" counts. */
export function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  const { text, start, nextWord: next } = around;
  if (value < 1100 || value > 2099 || NUMBERED.test(text.slice(Math.max(0, start - 9), start)))
    return undefined;
  if (sure && !/^\p{Lu}\p{Ll}+(?:en|er|e)$/u.test(next)) return year(digits);
  const before = around.previousWord;
  if (HAPPENED.has(before)) return year(digits);
  if (/^\p{Lu}/u.test(next)) return undefined;
  return value >= 1800 || isYearOfOld(before, next, around) ? year(digits) : undefined;
}

/** Before 1800 more than its place must tell: brackets, † and *, or a word that cannot follow what is counted. */
function isYearOfOld(before: string, next: string, { text, start, end }: Around): boolean {
  const mark = text
    .slice(Math.max(0, start - 2), start)
    .trimEnd()
    .slice(-1);
  if (mark === '†' || mark === '*') return true;
  if (mark === '(' && /^(?:\)|,| ?[-–])/.test(text.slice(end, end + 2))) return true;
  return NOT_COUNTED.has(next) && !COUNTING.has(before);
}
