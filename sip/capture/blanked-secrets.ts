// Copies of messages without what would give away a call's media or a caller's
// password: keys in descriptions, and what answers a challenge is computed from.
// Lengths stay, so that Content-Length goes on to be true.

const BLANK = '*';
const MAY_HAVE_SOME = /inline:|\nk=|authorization|authentication-info/i;

/** `keep` of each match is what stands before the secret. */
const SECRETS: readonly RegExp[] = [
  /(?<keep>\binline:)(?<secret>[^\s|;]+)/gi, // RFC 4568, section 6.1
  /(?<keep>(?:^|\n)k=)(?<secret>[^\r\n]+)/g, // RFC 4566, section 5.12
  /(?<keep>\n(?:proxy-)?authorization[ \t]*:[ \t]*(?!digest\b)[\w-]+[ \t]+)(?<secret>[^\r\n]+)/gi, // Basic and its kin
];
const PROOF_LINE = /\n(?:(?:proxy-)?authorization|(?:proxy-)?authentication-info)[ \t]*:(?:[^\n]|\n[ \t])*/gi;
const PROOF = /(?<keep>\b(?:response|rspauth)[ \t]*=[ \t\r\n]*")(?<secret>[^"]*)/gi;

/** The same bytes where nothing is to be blanked. */
export function blankedSecrets(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  if (!MAY_HAVE_SOME.test(text)) return bytes;
  const blanked = SECRETS.reduce(blank, text).replace(PROOF_LINE, (line) => blank(line, PROOF));
  return blanked === text ? bytes : Buffer.from(blanked, 'latin1');
}

function blank(text: string, secret: RegExp): string {
  return text.replace(secret, (_, keep: string, found: string) => keep + BLANK.repeat(found.length));
}
