// Names of addresses and signs that are said alike in Spanish and Portuguese.

/** Ends of names; letters that stand alone are spelled. */
export const ADDRESS_WORDS: Readonly<Record<string, string>> = {
  com: 'com', org: 'org', net: 'net', edu: 'edu', eu: 'E U', uk: 'U K', io: 'I O', ai: 'A I', tv: 'T V', www: 'W W W', pdf: 'P D F',
  html: 'H T M L', jpg: 'J P G', png: 'P N G', csv: 'C S V', xml: 'X M L', txt: 'T X T', docx: 'doc X', xlsx: 'X L S X', zip: 'zip',
  mp: 'M P', exe: 'exe', js: 'J S', ts: 'T S', md: 'M D', py: 'P Y', api: 'A P I', https: 'H T T P S', http: 'H T T P',
}; // prettier-ignore

/** Signs of running text; those that are empty are not said. */
export const SIGNS: Readonly<Record<string, string>> = {
  '©': 'copyright', '®': '', '™': '', '←': '', '•': '', '†': '', '✓': '', '·': '', '€': 'euros', '=': 'igual a',
}; // prettier-ignore
