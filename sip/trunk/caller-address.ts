// Whom a call is to and from: numbers, names, tel and SIP URIs as an
// application writes them, made into the URIs that go into an INVITE.
import { asRequestUri, parseUri, type Uri } from '../message/uri.js';

/** What was written: somebody whose domain is to be completed, or a whole address. */
export type WrittenAddress =
  | { readonly kind: 'user'; readonly user: string; readonly isNumber: boolean }
  | { readonly kind: 'uri'; readonly uri: Uri };

const NUMBER = /^\+?[\d*#]+$/;
const NAME = /^[\w.~!*'&=+$,%-]{1,100}$/;
const MOST_CHARACTERS = 512;

/** Undefined for what is neither number nor name nor URI. URIs with headers (`?`) are none that can be called. */
export function readAddress(text: string): WrittenAddress | undefined {
  const plain = text.trim();
  if (plain === '' || plain.length > MOST_CHARACTERS) return undefined;
  if (/^sips?:/i.test(plain)) return ofUri(plain);
  if (/^tel:/i.test(plain)) return ofTel(plain.slice('tel:'.length));
  if (plain.includes('@')) return ofUri(`sip:${plain}`);
  const number = plain.replace(/[ ().-]/g, '');
  if (NUMBER.test(number)) return { kind: 'user', user: number, isNumber: true };
  return NAME.test(plain) ? { kind: 'user', user: plain, isNumber: false } : undefined;
}

/** The address of this user at a domain, whatever characters the name holds. */
export function addressAt(user: string, domain: string): string {
  return `sip:${escapedUser(user)}@${domain}`;
}

/** Everything escaped that a user part does not allow as it is (RFC 3261, section 25.1). */
export function escapedUser(user: string): string {
  return encodeURIComponent(user).replace(/%(?:2B|26|3D|24|2C|3F|2F)/g, (escape) => decodeURIComponent(escape));
} // prettier-ignore

function ofUri(text: string): WrittenAddress | undefined {
  const uri = parseUri(text);
  const isUsable = uri !== undefined && uri.isSip && uri.headers.length === 0 && !/[<>\s"]/.test(text);
  return isUsable ? { kind: 'uri', uri: asRequestUri(uri) } : undefined;
}

/** A local number keeps its context, as a user part does (RFC 3261, section 19.1.6). */
function ofTel(text: string): WrittenAddress | undefined {
  const [written = '', ...params] = text.split(';');
  const number = written.replace(/[().-]/g, '');
  if (!NUMBER.test(number)) return undefined;
  const context = params.find((param) => /^phone-context=[\w.+-]{1,100}$/i.test(param));
  if (!number.startsWith('+') && context === undefined) return undefined;
  return { kind: 'user', user: number.startsWith('+') ? number : `${number};${context ?? ''}`, isNumber: true };
} // prettier-ignore
