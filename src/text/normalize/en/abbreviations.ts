// Lists English abbreviations and acronyms with their spoken forms.
// The lists decide which names in capitals are spelled and which are read as words.
import type { Saying } from '../language.js';
import type { Around, Recogniser } from '../reading.js';
import { doctorOrDrive, inStreet, saintOrStreet, streetOrSaint } from './addresses.js';
import { DAYS_AND_MONTHS } from './dates.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Acronyms that contain a vowel and are still spelled. Those without a vowel are always spelled. */
export const SPELLED: ReadonlySet<string> = words(`
  HDMI CDA AAA AAC AAPL AARP ABA ABC ABS ABV AC ACA ACC ACH ACL ACLU ADHD ADP AED AES AFC AFL AFP AI AIG AKA ALS AM AMA AMC AMD AMZN AOL AP APA APB API APR APY AQI ASC
  ASL ASN ASPCA ASR ATF ATM ATV AV AWD AWS BA BAC BCE BMI BSE BYOB BYOD BYU CAGR CBO CCPA CDO CEO CEU CFA CFO CIA CIO CISO CLI CMA CMO CNA COA COB COE COI COO
  COPD CPA CPI CPO CPU CRO CSA CSO CTA CTO CUI CUNY CVA DA DAX DEA DEI DIY DMCA DNA DOA DOB DOD DOE DOI DOJ DOT DPI DUI DWI EBT EC2 ECB ECG ECU EDI EDR EEA EEG
  EEOC EFT EGD EHR EIN EKG EMEA EMI EMR EMS EMT EMV ENT EOB EOD EOF EOL EOM EOY EPA EPL EPS ER ERP ESA ESG ESL ESP ESPN ESR ETA ETF ETH ETL EU EV EVP FAA FAQ
  FBI FCA FDA FDIC FEC FHA FIU FOB FOIA FSA FWIW GAO GCSE GE GED GI GIS GMO GOP GPA GPIO GPU GRE GTA GUI HIV HMO HOA HOV IAEA IBM IBS ICBM ICC ICD ICU ID IDE IDK
  IEC IED IEEE IEP IETF IFC IFSC IGN IIM IIRC IIT IMEI IMF IMHO IMO IOC IOS IoT IOU IP IPA IPCC IPL IPO IPS IPTV IQ IRA IRC IRL IRS IRT ISA ISBN ISO ISP ISS IT
  ITR ITU ITV IUCN IUD IVF IVR KPI KYC LA LAPD LAX LED LGBTQIA LOL MAU MBA MIA MIT MLA MOQ MOT MOU MPAA MRE MRI MSU MTA MUA NAACP NBA NBER NCAA NCIS NDA NEA NGO
  NIH NPO NRA NRI NSA NVDA NYC NYPD NYSE NYU OAuth OB OBE OBGYN OCC OCD OCR OECD OED OEM OJ OMB OMG OOO OPD OPM OS OSI OSS OST OTC OTP OTT PA PBA PCI PCOS PDA
  PE PGA PMI PO POA POC POS POV POW PPE PPI PPO PSA PSI PTA PTO PVA QA QE QOL RAF RBI RCA RCE RDA REI RFI RFID RIAA RIP RNA ROA ROI RPA RPI RSA RSI RTO RUC S3
  SAE SAP SASE SAT SBA SDI SDSU SEC SEO SKU SLA SOP SOS SPCA SRE SSA SSDI SSI SSO STI SUNY SUV TA TBA TBI TCO TDI TEU TKO TLA TOS TSA TSLA UAE UAT UAV UBC UBI
  UBS UCI UCL UCLA UCSD UCSF UDF UDP UEI UFC UFO UGC UHF UI UIUC UK UN UNC UNHCR UPC UPI UPS URI URL US USA USAA USAF USB USC USCIS USDA USGS USMC USN USO USP
  USPS USSR UTC UTF UTI UUID UV UVA UWB UX VA VAT VIN VIP VOC VOD WEF WIP WPA WTO WWE XAI XYZ YMCA YOY YTD YWCA
`);

export const READ: ReadonlySet<string> = words(
  'NASA NATO SWAT OPEC UNESCO UNICEF FIFA SIM PIN RAM ROM LAN WAN ZIP JPEG GIF LASER AIDS COVID NAFTA OSHA HIPAA',
);

const DOUBTFUL = /(?:US|IT|AM|WHO|ER|OS|DA|LA|PE|RIP|SAT|DOT|ID|IP|OR|PA)(?![\p{L}\p{N}])/uy;
const SHOUTED_BEFORE = /(?:^|[^\p{L}\p{N}])(\p{Lu}{2,}) $/u;
const SHOUTED_BEHIND = /^ (\p{Lu}{2,})(?![\p{L}\p{N}])/u;

/** CALL US NOW: among words in capitals that is no acronym; the WHO is one. */
export const shouted: Recogniser = (reading) => {
  const word = reading.match(DOUBTFUL)?.[0];
  if (word === undefined) return undefined;
  const { text, at } = reading;
  const end = at + word.length;
  const beside = [
    SHOUTED_BEFORE.exec(text.slice(Math.max(0, at - 24), at))?.[1],
    SHOUTED_BEHIND.exec(text.slice(end, end + 24))?.[1],
  ];
  if (beside.some((other) => other !== undefined && isWord(other)))
    return { end, spoken: word, rule: 'acronym' };
  return word === 'WHO' ? { end, spoken: 'W H O', rule: 'acronym' } : undefined;
};

function isWord(capitals: string): boolean {
  return /[AEIOUY]/.test(capitals) && !SPELLED.has(capitals) && !READ.has(capitals);
}

const CAPITALS = /([A-Z]{3,5})(s?)(?![\p{L}\p{N}])/uy;
const ONSET =
  /^(?:[AEIOUY]|[^AEIOUY][AEIOUY]|B[LR]|C[HLRZ]|D[RW]|F[LR]|G[HLNR]|K[HLNR]|LL|P[FHLRS]|QU|RH|S[CHKLMNPRTVWQ]|T[HRSW]|V[LR]|W[HR]|ZH)/;

/** CDA: no word begins so. */
export const unsayable: Recogniser = (reading) => {
  const match = reading.match(CAPITALS);
  const [written = '', capitals = '', plural = ''] = match ?? [];
  if (match === undefined || !/[AEIOU]/.test(capitals) || capitals.startsWith('WW')) return undefined; // WWII
  if (ONSET.test(capitals) || READ.has(capitals)) return undefined;
  if (/^-\d/.test(reading.text.slice(reading.at + written.length, reading.at + written.length + 2)))
    return undefined; // CVE-2024-3094
  const spoken = Array.from(capitals).join(' ') + (plural === '' ? '' : "'s");
  return { end: reading.at + written.length, spoken, rule: 'acronym' };
};

const INITIALS = /[A-Z]{2}(?=&[A-Z](?![a-z]))|(?<=[A-Z]&)[A-Z]{2}(?![\p{L}\p{N}])/uy;

/** The AT of AT&T. */
export const initials: Recogniser = (reading) => {
  const match = reading.match(INITIALS);
  return match && { end: reading.at + 2, spoken: Array.from(match[0]).join(' '), rule: 'acronym' };
};

/** Letters of formulas and versions. */
// prettier-ignore
const GREEK: Readonly<Record<string, string>> = {
  α: 'alpha', β: 'beta', γ: 'gamma', δ: 'delta', ε: 'epsilon', ζ: 'zeta', η: 'eta', θ: 'theta', κ: 'kappa', λ: 'lambda', μ: 'mu', ν: 'nu', ξ: 'xi',
  π: 'pi', ρ: 'rho', σ: 'sigma', τ: 'tau', φ: 'phi', χ: 'chi', ψ: 'psi', ω: 'omega', Γ: 'gamma', Δ: 'delta', Θ: 'theta', Λ: 'lambda', Π: 'pi', Σ: 'sigma', Φ: 'phi', Ψ: 'psi', Ω: 'omega',
};

function behind({ text, start }: Around, units: number): string {
  return text.slice(Math.max(0, start - units), start);
}

function ahead({ text, end }: Around, units: number): string {
  return text.slice(end, end + units);
}

/** Said where what follows, or what stands before, is such. */
const before =
  (what: RegExp, said: string): Saying =>
  (around) =>
    what.test(ahead(around, 24)) ? said : undefined;
const after =
  (what: RegExp, said: string): Saying =>
  (around) =>
    what.test(behind(around, 24)) ? said : undefined;

/** (b. 1920; d. 1999) */
const ofLife =
  (said: string): ((around: Around) => string | undefined) =>
  (around) =>
    /[(;,–] ?$/.test(behind(around, 2)) &&
    /^ (?:c\. |ca\. )?(?:\d{3,4}(?!\d)|\p{Lu}\p{Ll}{2,8}\.? \d)/u.test(ahead(around, 16))
      ? said
      : undefined;

const DIGIT_AHEAD = /^ #?\d/;
const NAME_AHEAD = /^ \p{Lu}\p{Ll}/u;
const NAME_BEHIND = /\p{Lu}[\p{L}'’-]+,? $/u;
const PHONE_AHEAD = /^[:.]? ?[+(]?\d/;
const DOSE_BEHIND = /\d ?(?:mg|mcg|g|mL|ml|units?|tablets?|tabs?|caps?|capsules?|puffs?|drops?)\.?\)? $/i;
const TAKEN =
  /^ (?:\(|PO\b|po\b|by mouth|orally|daily|nightly|once|twice|three|every|q\d|b\.?i\.?d|t\.?i\.?d|\d+x|BID|TID|at bedtime)/;
const CODE_AHEAD = /^ (?:[A-Z]{1,4}-?\d|[A-Z]-)/;
const ROMAN_AHEAD = /^ [IVXLC]{1,7}(?![\p{L}\p{N}])/u;

// prettier-ignore
const STREETS: Readonly<Record<string, Saying>> = {
  St: (around) => streetOrSaint(around), Ave: inStreet('Avenue'), Av: inStreet('Avenue'), Rd: inStreet('Road'), Ln: inStreet('Lane'), Blvd: inStreet('Boulevard'),
  Ct: inStreet('Court'), Pkwy: inStreet('Parkway'), Dr: (around) => (NAME_AHEAD.test(ahead(around, 4)) ? 'Doctor' : said(inStreet('Drive'), around)),
  Pl: inStreet('Place'), Ter: inStreet('Terrace'), Terr: inStreet('Terrace'), Cir: inStreet('Circle'), Sq: inStreet('Square'), Trl: inStreet('Trail'),
  'Pl.': inStreet('Place'), 'Ter.': inStreet('Terrace'), 'Cir.': inStreet('Circle'), 'Trl.': inStreet('Trail'), Expy: 'Expressway', Fwy: 'Freeway',
  'Ave.': 'Avenue', 'Blvd.': 'Boulevard', 'Rd.': 'Road', 'Ln.': 'Lane', 'Hwy.': 'Highway', 'Pkwy.': 'Parkway', 'Sq.': 'Square', 'Ct.': 'Court', 'Expy.': 'Expressway',
  'St.': saintOrStreet, 'Mt.': 'Mount', 'Ft.': before(NAME_AHEAD, 'Fort'), Mt: before(NAME_AHEAD, 'Mount'), Ft: before(NAME_AHEAD, 'Fort'),
  Apt: before(DIGIT_AHEAD, 'Apartment'), Ste: before(DIGIT_AHEAD, 'Suite'), Hwy: before(DIGIT_AHEAD, 'Highway'), Rte: before(DIGIT_AHEAD, 'Route'), 'Rt.': before(DIGIT_AHEAD, 'Route'),
  Bldg: before(/^ [#\dA-Z]/, 'Building'), 'Bldg.': 'Building', 'bldg.': 'building', 'Apt.': 'Apartment', 'apt.': 'apartment', Flr: before(DIGIT_AHEAD, 'Floor'),
  PO: before(/^ Box/, 'P O'), 'P.O.': 'P O', 'Mpls.': 'Minneapolis', 'Calif.': 'California', 'Mass.': 'Massachusetts', 'Conn.': 'Connecticut', 'Tex.': 'Texas', 'Fla.': 'Florida', 'Penn.': 'Pennsylvania',
};

function said(saying: Saying, around: Around): string | undefined {
  return typeof saying === 'string' ? saying : saying(around);
}

// prettier-ignore
const TITLES: Readonly<Record<string, Saying>> = {
  'Mr.': 'Mister', Mr: 'Mister', 'Mrs.': 'Missus', Mrs: 'Missus', 'Ms.': 'Miz', 'Messrs.': 'Messers', 'Dr.': doctorOrDrive, 'Drs.': 'Doctors',
  'Prof.': 'Professor', 'Profs.': 'Professors', 'Rev.': 'Reverend', 'Hon.': 'Honorable', 'Gen.': 'General', 'Col.': 'Colonel', 'Capt.': 'Captain', 'Lt.': 'Lieutenant', 'Msgr.': 'Monsignor',
  'Sgt.': 'Sergeant', 'Maj.': 'Major', 'Cmdr.': 'Commander', 'Sen.': 'Senator', 'Sens.': 'Senators', 'Rep.': 'Representative', 'Reps.': 'Representatives', 'Gov.': 'Governor', 'Govs.': 'Governors',
  'Pres.': 'President', 'Cpl.': 'Corporal', 'Pvt.': 'Private', 'Adm.': 'Admiral', 'Brig.': 'Brigadier', 'Supt.': 'Superintendent', 'Insp.': 'Inspector', 'Det.': 'Detective', 'Amb.': 'Ambassador',
  'Atty.': 'Attorney', 'Asst.': 'Assistant', 'Mgr.': 'Manager', 'Dir.': 'Director', 'Sec.': (around) => (ROMAN_AHEAD.test(ahead(around, 9)) ? 'Section' : NAME_AHEAD.test(ahead(around, 4)) ? 'Secretary' : undefined), 'Treas.': 'Treasurer', 'Cllr.': 'Councillor',
  'Jr.': 'Junior', 'Sr.': 'Senior', Jr: after(NAME_BEHIND, 'Junior'), Sr: after(NAME_BEHIND, 'Senior'), 'Esq.': 'Esquire',
  'Ph.D.': 'P H D', PhD: 'P H D', PhDs: "P H D's", 'M.D.': 'M D', 'B.A.': 'B A', 'M.A.': 'M A', 'B.Sc.': 'B S C', 'M.Sc.': 'M S C', MSc: 'M S C', BSc: 'B S C', 'P.S.': 'P S', 'R.S.V.P.': 'R S V P', 'Ed.D.': 'E D D', 'Psy.D.': 'Psy D',
};

// prettier-ignore
const OFFICES: Readonly<Record<string, Saying>> = {
  'No.': before(CODE_AHEAD, 'number'), 'no.': before(CODE_AHEAD, 'number'),
  'Dept.': 'Department', 'Univ.': 'University', 'Assn.': 'Association', 'Bros.': 'Brothers', 'Inc.': 'Incorporated', 'Ltd.': 'Limited', 'Corp.': 'Corporation', 'Co.': 'Company',
  "Gov't": 'Government', "gov't": 'government', 'Gov’t': 'Government', 'gov’t': 'government', "Int'l": 'International', "int'l": 'international', 'Int’l': 'International', 'Intl.': 'International', "Nat'l": 'National', 'Nat’l': 'National', 'Natl.': 'National', "Dep't": 'Department', "Ass'n": 'Association', "Cont'd": 'Continued', "cont'd": 'continued',
  Attn: before(/^[:.]/, 'Attention'), 'Attn.': 'Attention', 'Acct.': 'Account', 'acct.': 'account', Acct: 'Account', acct: 'account', 'A/c': 'account', 'a/c': 'account', 'A/C': (around) => (/^ (?:#|no|num|[X\d*])/i.test(ahead(around, 8)) ? 'account' : 'A C'),
  Qty: before(/^[:.]? /, 'Quantity'), 'Qty.': 'Quantity', qty: before(/^[:.]? /, 'quantity'), 'qty.': 'quantity', 'Pkg.': 'Package', 'pkg.': 'package', 'Amt.': 'Amount', 'amt.': 'amount', 'Appt.': 'Appointment', 'appt.': 'appointment',
  'Inv.': before(/^ (?:#|no|\d)/i, 'Invoice'), 'Ref.': before(/^ (?:#|no|\d)/i, 'Reference'), 'Tech.': before(NAME_AHEAD, 'Tech'), 'Mfg.': 'Manufacturing', 'Mgmt.': 'Management', 'Admin.': 'Admin',
  Tel: before(PHONE_AHEAD, 'telephone'), Ph: before(PHONE_AHEAD, 'phone'), 'Ph.': before(PHONE_AHEAD, 'phone'), Mob: before(PHONE_AHEAD, 'mobile'), 'Mob.': before(PHONE_AHEAD, 'mobile'),
  Exp: before(/^[:.]? ?\d\d\//, 'Expires'), 'Exp.': before(/^ ?\d\d?\//, 'Expires'), exp: before(/^[:.]? ?\d\d?\//, 'expires'), 'exp.': before(/^ ?\d\d?\//, 'expires'), 'Op.': before(DIGIT_AHEAD, 'Opus'), 'op.': before(DIGIT_AHEAD, 'opus'), 'Vol.': before(ROMAN_AHEAD, 'Volume'), 'vol.': before(ROMAN_AHEAD, 'volume'), 'Ch.': before(ROMAN_AHEAD, 'Chapter'), 'Pt.': (around) => (/^ (?:\d|[IVX]+\b)/.test(ahead(around, 8)) ? 'Part' : /^ (?:is|was|has|had|with|reports|denies|presents|states)\b/.test(ahead(around, 12)) ? 'Patient' : undefined), 'Art.': before(ROMAN_AHEAD, 'Article'), 'art.': before(ROMAN_AHEAD, 'article'),
};

// prettier-ignore
const LATIN: Readonly<Record<string, Saying>> = {
  'e.g.': 'for example', 'i.e.': 'that is', 'etc.': 'et cetera', etc: 'et cetera', 'vs.': 'versus', vs: 'versus', 'v.': before(/^ \p{Lu}/u, 'versus'),
  'approx.': 'approximately', 'est.': (around) => (/\d $/.test(behind(around, 2)) ? 'estimated' : 'established'), pts: after(/\d $/, 'points'), 'pts.': after(/\d $/, 'points'), Fl: before(DIGIT_AHEAD, 'Floor'), 'et al.': 'et al', 'viz.': 'namely', 'b.': ofLife('born'), 'd.': ofLife('died'), 'r.': ofLife('reigned'), 'fl.': (around) => ofLife('flourished')(around) ?? (/\d(?:st|nd|rd|th) $/.test(behind(around, 6)) ? 'floor' : undefined), 'cf.': 'compare', 'ca.': 'circa', aka: 'also known as', 'a.k.a.': 'also known as', AKA: 'also known as',
  'w/o': 'without', 'w/': after(/(?:^|[\s(])$/, 'with'), 'b/c': after(/(?:^|[\s(])$/, 'because'), 'c/o': 'care of', 'min.': (around) => (/\bper $/.test(behind(around, 5)) ? 'minute' : 'minimum'), 'p.a.': 'per annum', 'max.': 'maximum', 'avg.': 'average', 'incl.': 'including', 'excl.': 'excluding', 'temp.': 'temperature', 'temps.': 'temperatures',
  thru: 'through', 'qtr.': 'quarter', 'misc.': 'miscellaneous', 'orig.': 'original', 'cont.': 'continued', 'pop.': before(/^ \d/, 'population'), 'nr.': before(/^ \p{Lu}/u, 'near'), 'hr.': 'hour', 'yr.': 'year', 'mo.': 'month', 'wk.': 'week', 'sq. ft.': 'square feet',
  'ea.': after(/\d ?$/, 'each'), ea: after(/\d ?$/, 'each'), 'c.': (around) => (/(?:(?:^|\D)1|\d\/\d|[¼½¾⅓⅔]) $/.test(behind(around, 4)) ? 'cup' : /\d $/.test(behind(around, 2)) ? 'cups' : undefined), 'p.m': 'p.m.', 'a.m': 'a.m.',
  'a.m.': 'a.m.', 'p.m.': 'p.m.', 'A.M.': 'a.m.', 'P.M.': 'p.m.', 'B.C.': 'B C', 'A.D.': 'A D', BC: after(/\d $/, 'B C'), BCE: after(/\d $/, 'B C E'), AD: (around) => (/^ \d/.test(ahead(around, 2)) || /\d $/.test(behind(around, 2)) ? 'A D' : undefined),
  'b.i.d.': 'twice a day', 't.i.d.': 'three times a day', 'q.i.d.': 'four times a day', 'q.d.': 'once a day', 'p.r.n.': 'as needed', prn: 'as needed', PRN: 'as needed', 'p.o.': 'by mouth', BID: after(DOSE_BEHIND, 'twice a day'), bid: after(DOSE_BEHIND, 'twice a day'),
  TID: after(DOSE_BEHIND, 'three times a day'), tid: after(DOSE_BEHIND, 'three times a day'), QID: after(DOSE_BEHIND, 'four times a day'), QD: after(DOSE_BEHIND, 'once a day'), PO: (around) => (DOSE_BEHIND.test(behind(around, 12)) ? 'by mouth' : /^ Box/i.test(ahead(around, 4)) ? 'P O' : undefined),
  q4h: 'every four hours', q6h: 'every six hours', q8h: 'every eight hours', q12h: 'every twelve hours', q24h: 'every twenty-four hours', qhs: 'at bedtime', Rx: 'prescription', tab: before(TAKEN, 'tablet'), tabs: before(TAKEN, 'tablets'), 'tab.': before(TAKEN, 'tablet'), 'tabs.': before(TAKEN, 'tablets'), cap: before(TAKEN, 'capsule'), caps: before(TAKEN, 'capsules'),
};

// prettier-ignore
const NAMED: Readonly<Record<string, Saying>> = {
  '49ers': 'forty-niners', '76ers': 'seventy-sixers', '9-1-1': 'nine one one', '24x7': 'twenty-four seven', YoY: 'year over year', 'y/y': 'year over year', 'Y/Y': 'year over year', QoQ: 'quarter over quarter', 'q/q': 'quarter over quarter', MoM: after(/\d ?%? $/, 'month over month'), 'm/m': 'month over month', 'Ret.': after(/\($/, 'Retired'), 'C#': 'C sharp', 'F#': 'F sharp', '.NET': 'dot net',
  FY: before(/^ ?['’]?\d/, 'F Y'), AY: before(/^ \d{4}/, 'A Y'), CY: 'C Y',
  WWII: 'World War Two', WWI: 'World War One', WW2: 'World War Two', WW1: 'World War One', ASAP: 'as soon as possible', FYI: 'for your information', BTW: 'by the way', IMO: 'in my opinion', TBD: 'to be determined', ETA: 'E T A',
  '24/7': 'twenty-four seven', '9/11': before(/^(?!\/)/, 'nine eleven'), '&c.': 'et cetera', 'and/or': 'and or', 'N/A': 'not applicable', 'n/a': 'not applicable', 'A-Z': 'A to Z', 'A–Z': 'A to Z', 'a-z': 'A to Z', 'M-F': 'Monday to Friday', 'M–F': 'Monday to Friday',
  'I/O': 'I O', 'm²': 'square meters', 'km²': 'square kilometers', 'cm²': 'square centimeters', 'ft²': 'square feet', 'm³': 'cubic meters', 'cm³': 'cubic centimeters', iOS: 'i O S', macOS: 'mac O S', iPadOS: 'iPad O S', watchOS: 'watch O S', IPv4: 'I P V four', IPv6: 'I P V six', 'PM2.5': 'P M two point five', PM10: 'P M ten', pH: 'P H', SaaS: 'sass', IoT: 'I O T', VRAM: 'V RAM', DRAM: 'D RAM', SRAM: 'S RAM', Ctrl: 'Control', USD: 'U S dollars', EUR: 'euros', GBP: 'British pounds', INR: 'Indian rupees', JPY: 'Japanese yen', CAD: 'Canadian dollars', AUD: 'Australian dollars', mRNA: 'm R N A', LaTeX: 'lay tech', eSIM: 'e SIM', VoIP: 'voip', WiFi: 'Wi-Fi',
};

export const ABBREVIATIONS: Readonly<Record<string, Saying>> = {
  ...GREEK,
  ...DAYS_AND_MONTHS,
  ...STREETS,
  ...TITLES,
  ...OFFICES,
  ...LATIN,
  ...NAMED,
};

// prettier-ignore
export const BEFORE_NUMBER: Readonly<Record<string, string>> = {
  'No.': 'number', 'no.': 'number', 'Nos.': 'numbers', 'nos.': 'numbers', '№': 'number', '#': 'number', 'p.': 'page', 'pp.': 'pages',
  'vol.': 'volume', 'Vol.': 'Volume', 'ch.': 'chapter', 'Ch.': 'Chapter', 'fig.': 'figure', 'Fig.': 'Figure', 'Figs.': 'Figures', 'figs.': 'figures', 'sec.': 'section',
  'Sec.': 'Section', 'art.': 'article', 'Art.': 'Article', 'eq.': 'equation', 'Eq.': 'Equation', '§': 'section', '§§': 'sections', '¶': 'paragraph',
  'ext.': 'extension', 'Ext.': 'Extension', ext: 'extension', Ext: 'extension', 'Apt.': 'Apartment', 'Rm.': 'Room', 'Ste.': 'Suite', 'approx.': 'approximately', 'Fl.': 'Floor', 'Bldg.': 'Building',
  'c.': 'circa', 'ca.': 'circa', 'Tel.': 'telephone', 'tel.': 'telephone', 'Rte.': 'Route', 'para.': 'paragraph', 'cl.': 'clause', 'Cl.': 'Clause', 'Ver.': 'version', 'ver.': 'version', 'Ed.': 'edition',
};
