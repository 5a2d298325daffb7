// What is configured of a trunk: the account at a carrier or an exchange that
// calls go out by.
import type { CodecName } from '../../src/codecs/codec.js';
import type { Uri } from '../message/uri.js';
import type { Keying, Security } from '../sdp/media-policy.js';

export type TrunkTransport = 'udp' | 'tcp' | 'tls';

export interface TrunkSettings {
  readonly name: string;
  /** Of the addresses of its callers and callees, and of the Request-URI of REGISTER. */
  readonly domain: string;
  /** Everything goes there first, if set; with the parameter `lr` it also stands in Route. */
  readonly proxy?: Uri;
  /** Over which the proxy, or else the domain, is reached; what DNS says, if absent. */
  readonly transport?: TrunkTransport;
  readonly username?: string;
  readonly password?: string;
  /** Whose challenges are answered; that of the domain, without its port, if absent. */
  readonly authRealms: readonly string[];
  /** The caller where a call says none: a number, a user name or a SIP URI. */
  readonly from?: string;
  readonly displayName?: string;
  readonly register?: { readonly expires: number; readonly contactUser?: string };
  readonly options?: { readonly intervalSeconds: number };
  readonly callsPerSecond?: number;
  readonly mostCalls?: number;
  /** Those of the server, if absent. */
  readonly codecs?: readonly CodecName[];
  readonly srtp?: Security;
  /** Ways to agree on keys, the preferred one first. */
  readonly keying?: readonly Keying[];
  /** Its INVITEs have no offer: the trunk makes it (RFC 3264, section 4). */
  readonly lateOffer: boolean;
  /** Who calls is told in P-Asserted-Identity besides: the trunk trusts us (RFC 3325). */
  readonly assertedIdentity: boolean;
  /** Where the trunk is, and calls of it come in from: addresses, or networks such as 192.0.2.0/24. Its account is shown there. */
  readonly addresses: readonly string[];
}
