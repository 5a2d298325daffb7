// Names in capitals: spelled although they could be read, or read although they look as if they were spelled.
import type { Recogniser } from '../reading.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Those without a vowel are spelled anyway. */
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
`); // prettier-ignore

export const READ: ReadonlySet<string> = words('NASA NATO SWAT OPEC UNESCO UNICEF FIFA SIM PIN RAM ROM LAN WAN ZIP JPEG GIF LASER AIDS COVID NAFTA OSHA HIPAA'); // prettier-ignore

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
