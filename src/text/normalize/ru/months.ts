// Russian months in figures: карта до 12/26, с 01.2024, в 03/2025.
import type { Found, Reading } from '../reading.js';
import { MONTH_FORMS } from './calendar.js';
import type { Case } from './declension.js';
import { wordAhead } from './grammar.js';
import { ordinal } from './numbers.js';

const MONTH =
  /(0[1-9]|1[0-2])[./]((?:19|20)\d\d)(?![\d\p{L}]|[.,:/-]\d)(?: ?г\.| ?г(?!\p{L})| года(?!\p{L}))?/uy;
const EXPIRY = /(0?[1-9]|1[0-2])\/(\d\d)(?![\p{L}\d/]|[.,]\d)(?: ?г\.| ?г(?!\p{L})| года(?!\p{L}))?/uy;
/** Behind these words two figures and two are a month and a year. */
const EXPIRING =
  /(?:действ|срок|годн|годен|истека|истеч|исте[кч]|карт|(?<!\p{L})exp)[\p{L} :(*\d.,]{0,28}$/iu;
const LONGEST_LEAD = 48; // units
const NO_MONTH = 12; // 12/06 may be a day
const FORM: Readonly<Record<Case, number>> = {
  nominative: 0, genitive: 1, dative: 2, accusative: 0, instrumental: 3, prepositional: 4,
}; // prettier-ignore

function caseOfMonth(reading: Reading): Case {
  const before = wordAhead(reading.around(reading.at));
  if (/^(?:до|с|со|от|из|после|около|конца|начала)$/.test(before)) return 'genitive';
  if (/^(?:к|ко)$/.test(before)) return 'dative';
  return /^(?:в|во|о|об)$/.test(before) ? 'prepositional' : 'nominative';
}

/** До 12/26 "до декабря две тысячи двадцать шестого года". */
export function monthInFigures(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[.,:/-]/.test(text[at - 1] ?? '')) return undefined;
  const full = reading.match(MONTH);
  const match = full ?? reading.match(EXPIRY);
  const [written = '', month = '', year = ''] = match ?? [];
  if (match === undefined) return undefined;
  const lead = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  if (full === undefined && (Number(year) <= NO_MONTH || !EXPIRING.test(lead))) return undefined;
  const expires = /(?:истека|истеч|закончи|заканчива)\p{L}{1,4} $/iu.test(lead);
  const grammatical = expires ? 'prepositional' : caseOfMonth(reading);
  const name = MONTH_FORMS[Number(month) - 1]?.[FORM[grammatical]] ?? '';
  const stop =
    written.endsWith('.') && /^\s*$/.test(text.slice(at + written.length, at + written.length + 4));
  return {
    end: at + written.length - (stop ? 1 : 0),
    spoken: `${expires ? 'в ' : ''}${name} ${ordinal(year.length === 2 ? `20${year}` : year, 'genitive')} года`,
    rule: 'date',
  };
}
