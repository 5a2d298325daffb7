// How English is written, as data.
import { endsSentenceAt } from '../../sentence-end.js';
import { shortFormsOf } from '../../short-forms/short-forms.js';
import type { Saying, Writing } from '../language.js';
import type { Around } from '../reading.js';
import { CURRENCIES, CURRENCY_SIGNS, MAGNITUDES, PER, UNITS } from './units.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const MONTHS = [
  ['January', 'Jan', 'Jan.'], ['February', 'Feb', 'Feb.'], ['March', 'Mar', 'Mar.'], ['April', 'Apr', 'Apr.'], ['May'],
  ['June', 'Jun', 'Jun.'], ['July', 'Jul', 'Jul.'], ['August', 'Aug', 'Aug.'], ['September', 'Sep', 'Sep.', 'Sept', 'Sept.'],
  ['October', 'Oct', 'Oct.'], ['November', 'Nov', 'Nov.'], ['December', 'Dec', 'Dec.'],
]; // prettier-ignore
const WEEKDAYS = [
  ['Monday', 'Mon.', 'Mon'], ['Tuesday', 'Tue.', 'Tues.', 'Tue', 'Tues'], ['Wednesday', 'Wed.', 'Wed'], ['Thursday', 'Thu.', 'Thur.', 'Thurs.', 'Thu', 'Thur', 'Thurs'],
  ['Friday', 'Fri.', 'Fri'], ['Saturday', 'Sat.', 'Sat'], ['Sunday', 'Sun.', 'Sun'],
]; // prettier-ignore

const STREET_BEFORE = /^(?:\p{Lu}|\d)/u;
const FORMS = shortFormsOf('en');
/** Before a saint's name they are part of a place's: Lake St. Clair, Fort St. John. */
const PLACES = words('Mount Mt Port Fort Ft Lake Sault Cape Point Bay Bury River Isle Chapel');
const SAINTS = words(`
  Louis Paul Petersburg Patrick John Mary James Peter George Andrew Andrews Joseph Anthony Francis Thomas Michael Nicholas Martin Augustine Clair
  Helens Helena Lucia Lucie Kitts Vincent Moritz Croix Cloud Albans Ives Pancras Charles Bernard Valentine Basil Pierre Tropez Barts Catharines
  Catherine Stephen Stephens Matthew Luke Mark Jude Anne Agnes Nick Germain Denis Lawrence Pauli Simon Maarten Edmunds Benedict Clement
`);

/** St. is a saint before a name and a street behind one. */
const saintOrStreet: Saying = (around) => {
  const before = around.text.slice(Math.max(0, around.start - 40), around.start).trimEnd();
  const word = /[\p{L}\d]+$/u.exec(before)?.[0] ?? '';
  const named = STREET_BEFORE.test(word);
  const next = around.nextWord;
  if (named && !/^\p{Lu}\p{Ll}/u.test(next)) return 'Street';
  if (named && endsSentenceAt(around.text, around.end - 1, FORMS)) return 'Street';
  const begins = /(?:^|[.!?:]\s)["'“(]?[\p{L}\d]+$/u.test(before);
  if (named && !begins && !PLACES.has(word) && !SAINTS.has(next.replace(/['’]s$/, ''))) return 'Street';
  if (/^\p{Lu}/u.test(next) && around.text[around.end] !== '\n') return 'Saint';
  return named ? 'Street' : undefined;
};

function inStreetOrSaint(around: Around): string | undefined {
  const street = inStreet('Street');
  const found = typeof street === 'string' ? street : street(around);
  return (
    found ??
    (/^\p{Lu}\p{Ll}/u.test(around.nextWord) && !/^\p{L}/u.test(around.previousWord) ? 'Saint' : undefined)
  );
}

/** Dr. is a doctor before a name and a drive behind one. */
const doctorOrDrive: Saying = (around) => {
  if (/^\p{Lu}/u.test(around.nextWord)) {
    return endsSentenceAt(around.text, around.end - 1, FORMS) ? 'Drive' : 'Doctor';
  }
  return around.previousWord === '' ? 'Doctor' : 'Drive';
};

/** Letters of formulas and versions. */
const GREEK: Readonly<Record<string, string>> = {
  α: 'alpha', β: 'beta', γ: 'gamma', δ: 'delta', ε: 'epsilon', ζ: 'zeta', η: 'eta', θ: 'theta', κ: 'kappa', λ: 'lambda', μ: 'mu', ν: 'nu', ξ: 'xi',
  π: 'pi', ρ: 'rho', σ: 'sigma', τ: 'tau', φ: 'phi', χ: 'chi', ψ: 'psi', ω: 'omega', Γ: 'gamma', Δ: 'delta', Θ: 'theta', Λ: 'lambda', Π: 'pi', Σ: 'sigma', Φ: 'phi', Ψ: 'psi', Ω: 'omega',
}; // prettier-ignore

/** Main St without its stop, where a number stands before the name. */
const inStreet =
  (said: string): Saying =>
  (around) =>
    /\d\S{0,3} (?:[\p{Lu}\d][\p{L}.\d]* ){1,3}$/u.test(
      around.text.slice(Math.max(0, around.start - 40), around.start),
    )
      ? said
      : undefined;
const beforeCapital =
  (said: string): Saying =>
  (around) =>
    /^\d/.test(around.text.slice(Math.max(0, around.start - 2), around.start)) &&
    /^\p{Lu}\p{Ll}/u.test(around.nextWord)
      ? said
      : undefined;
const beforeDigit =
  (said: string): Saying =>
  (around) =>
    /^ \d/.test(around.text.slice(around.end, around.end + 2)) ? said : undefined;
const behindDigit =
  (said: string): Saying =>
  (around) =>
    /\d $/.test(around.text.slice(Math.max(0, around.start - 2), around.start)) ? said : undefined;

const ABBREVIATIONS: Readonly<Record<string, Saying>> = {
  ...GREEK,
  St: (around) => inStreetOrSaint(around), Ave: inStreet('Avenue'), Rd: inStreet('Road'), Ln: inStreet('Lane'), Blvd: inStreet('Boulevard'), Ct: inStreet('Court'), Pkwy: inStreet('Parkway'),
  'N.': beforeCapital('North'), 'S.': beforeCapital('South'), 'E.': beforeCapital('East'), 'W.': beforeCapital('West'), Apt: beforeDigit('Apartment'), Ste: beforeDigit('Suite'), Hwy: beforeDigit('Highway'), Rte: beforeDigit('Route'), 'Rt.': beforeDigit('Route'),
  BC: behindDigit('B C'), BCE: behindDigit('B C E'), AD: beforeDigit('A D'), 'M-F': 'Monday to Friday', 'M–F': 'Monday to Friday',
  'Mr.': 'Mister', Mr: 'Mister', 'Mrs.': 'Missus', Mrs: 'Missus', 'Ms.': 'Miz', 'Dr.': doctorOrDrive, Dr: (around) => (/^\p{Lu}/u.test(around.nextWord) ? 'Doctor' : undefined),
  'Prof.': 'Professor', 'Rev.': 'Reverend', 'Hon.': 'Honorable', 'Gen.': 'General', 'Col.': 'Colonel', 'Capt.': 'Captain', 'Lt.': 'Lieutenant',
  'Sgt.': 'Sergeant', 'Maj.': 'Major', 'Cmdr.': 'Commander', 'Sen.': 'Senator', 'Rep.': 'Representative', 'Gov.': 'Governor', 'Pres.': 'President',
  'Jr.': 'Junior', 'Sr.': 'Senior', 'Esq.': 'Esquire', 'St.': saintOrStreet, 'Mt.': 'Mount', 'Ft.': 'Fort',
  'Ave.': 'Avenue', 'Blvd.': 'Boulevard', 'Rd.': 'Road', 'Ln.': 'Lane', 'Hwy.': 'Highway', 'Pkwy.': 'Parkway', 'Sq.': 'Square', 'Ct.': 'Court',
  'Apt.': 'Apartment', 'Dept.': 'Department', 'Univ.': 'University', 'Assn.': 'Association', 'Bros.': 'Brothers',
  'Inc.': 'Incorporated', 'Ltd.': 'Limited', 'Corp.': 'Corporation', 'Co.': 'Company', 'Mgr.': 'Manager',
  'e.g.': 'for example', 'i.e.': 'that is', 'etc.': 'et cetera', 'vs.': 'versus', vs: 'versus', 'v.': (around) => (/^\p{Lu}/u.test(around.nextWord) ? 'versus' : undefined),
  'approx.': 'approximately', 'est.': 'established', 'et al.': 'et al', 'cf.': 'compare', 'ca.': 'circa', 'aka': 'also known as', 'a.k.a.': 'also known as',
  'w/o': 'without', 'w/': 'with', 'b/c': 'because', 'c/o': 'care of', 'min.': 'minimum', 'max.': 'maximum', 'incl.': 'including', 'excl.': 'excluding',
  'Ph.D.': 'P H D', PhD: 'P H D', 'M.D.': 'M D', 'B.A.': 'B A', 'M.A.': 'M A', 'B.Sc.': 'B S C', 'P.S.': 'P S', 'R.S.V.P.': 'R S V P',
  'a.m.': 'a.m.', 'p.m.': 'p.m.', 'A.M.': 'a.m.', 'P.M.': 'p.m.', 'B.C.': 'B C', 'A.D.': 'A D',
  WWII: 'World War Two', WWI: 'World War One', WW2: 'World War Two', WW1: 'World War One', ASAP: 'as soon as possible', FYI: 'for your information', BTW: 'by the way', IMO: 'in my opinion', TBD: 'to be determined', ETA: 'E T A',
  '24/7': 'twenty-four seven', '9/11': 'nine eleven', '&c.': 'et cetera', 'and/or': 'and or', 'N/A': 'not applicable', 'n/a': 'not applicable',
}; // prettier-ignore

export const WRITING: Writing = {
  numbers: { decimal: '.', grouping: [','] },
  dates: {
    months: MONTHS,
    weekdays: WEEKDAYS,
    orders: { '/': 'mdy', '-': 'mdy', '.': 'mdy' },
    named: ['day-month', 'month-day'],
    dayMark: 'st|nd|rd|th',
    between: ',? (?:of )?',
  },
  times: {
    marks: [':'],
    halves: { 'a.m.': 'a.m.', 'p.m.': 'p.m.', am: 'a.m.', pm: 'p.m.', 'a.m': 'a.m.', 'p.m': 'p.m.' },
    words: { "o'clock": "o'clock", 'o’clock': "o'clock" },
    zones: {
      EST: 'Eastern Standard Time', EDT: 'Eastern Daylight Time', ET: 'Eastern Time', CST: 'Central Standard Time',
      CDT: 'Central Daylight Time', CT: 'Central Time', MST: 'Mountain Standard Time', MDT: 'Mountain Daylight Time',
      MT: 'Mountain Time', PST: 'Pacific Standard Time', PDT: 'Pacific Daylight Time', PT: 'Pacific Time',
      GMT: 'G M T', UTC: 'U T C', CET: 'Central European Time', CEST: 'Central European Summer Time', BST: 'British Summer Time',
      IST: 'India Standard Time', JST: 'Japan Standard Time',
    },
  },
  telephone: {
    patterns: [
      /(?:1[-. ])?\(?[2-9]\d{2}\)?[-. ]{1,2}\d{3}[-. ]\d{4}(?!\d|[-.]\d)/y,
      /\(\d{3}\) ?\d{3}[-. ]\d{4}(?!\d)/y,
      /1-8\d{2}-[A-Z\d]{3,4}-?[A-Z\d]{3,4}(?![A-Z\d])/y,
      /[2-9]\d{2}-\d{4}(?![\d-]|\.\d)/y,
      /0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?!\d|[-.]\d)/y,
    ],
    keywords: words('call phone telephone tel dial fax mobile cell text hotline ring'),
  },
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: 'st|nd|rd|th|ST|ND|RD|TH',
  abbreviations: ABBREVIATIONS,
  beforeNumber: {
    'No.': 'number', 'no.': 'number', 'Nos.': 'numbers', 'nos.': 'numbers', '№': 'number', '#': 'number', 'p.': 'page', 'pp.': 'pages',
    'vol.': 'volume', 'Vol.': 'Volume', 'ch.': 'chapter', 'Ch.': 'Chapter', 'fig.': 'figure', 'Fig.': 'Figure', 'sec.': 'section',
    'Sec.': 'Section', 'art.': 'article', 'Art.': 'Article', 'eq.': 'equation', 'Eq.': 'Equation', '§': 'section', '§§': 'sections',
    'ext.': 'extension', 'Ext.': 'Extension', ext: 'extension', 'Apt.': 'Apartment', 'Rm.': 'Room', 'Ste.': 'Suite', 'approx.': 'approximately',
    'c.': 'circa', 'ca.': 'circa', 'Tel.': 'telephone', 'tel.': 'telephone', 'Rte.': 'Route', 'para.': 'paragraph',
  },
  letterPlural: "'s",
  spelled: words(`
    ISBN VIN SKU ISP USA US UK EU UN AI API URL IBM FBI CIA ATM CEO CFO CTO COO FAQ IT ID IP TV PC DVD CD USB GPS SMS PDF HTML CSS HTTP HTTPS XML SQL
    VIP DIY DNA RNA ER ICU AC DC EV HR PR QA UI UX OS iOS VPN LLC ISO IEEE IRS NFL NBA MLB NHL BBC CNN NBC ABC CBS MIT UCLA NYC
    EMEA APAC SUV AM FM PIN_ IoT SDK CLI GPU CPU RAM_ SSD HDD LED LCD OEM ROI_ KPI MRI EKG ECG ETA AKA USPS UPS IPO GDP IMF WHO_ EPA
    FDA CDC DOJ FCC FTC SEC IVR DOB SSN OTP APR_ EIN AAA IPA UFO AWS EC2 S3 IEC TTS ASR OCR LLM
  `),
  read: words('NASA NATO SWAT OPEC UNESCO UNICEF FIFA SIM PIN RAM ROM LAN WAN ZIP JPEG GIF LASER AIDS COVID NAFTA OSHA HIPAA'),
  romanAfter: {
    ...Object.fromEntries(
      'chapter part volume book section act scene phase type class stage level war article title appendix bowl rocky version apollo mark figure table unit tier grade'
        .split(' ')
        .map((word) => [word, 'cardinal'] as const),
    ),
    ...Object.fromEntries(
      `henry louis elizabeth george edward james charles richard william john paul pius benedict leo gregory innocent clement philip
       ferdinand francis frederick napoleon nicholas alexander catherine peter ivan ramesses ptolemy urban urbanus gustav christian carlos alfonso juan`
        .split(/\s+/)
        .map((word) => [word, 'ordinal'] as const),
    ),
  },
  romanBefore: new Set(),
  digitsAfter: words('code pin pincode passcode password flight extension ext zip id account otp confirmation routing serial tracking isbn sku cvv gate_ imei ending'),
  linking: words('is in number no code of was are with'),
  decadeMark: "['’]?s",
  yearAfter: words('in since year by until from after before during early late mid circa of spring summer autumn fall winter copyright class'),
  scoreWords: words('won win wins lost lose beat beats score scored final victory defeat lead leads led tied tie draw drew game match goals defeated vote votes voted record series majority decision ruling'),
}; // prettier-ignore
