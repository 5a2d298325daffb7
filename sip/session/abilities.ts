// What this server understands within calls, and what it has seen of a peer.
import type { Abilities } from '../message/inspection.js';
import type { SipRequest } from '../message/request.js';
import type { SipResponse } from '../message/response.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { SessionFields } from '../session-expires.js';

export const ABILITIES: Abilities = {
  methods: ['INVITE', 'ACK', 'BYE', 'CANCEL', 'OPTIONS', 'INFO', 'UPDATE', 'PRACK', 'REFER', 'NOTIFY'],
  extensions: ['100rel', 'timer', 'replaces', 'norefersub'],
  mediaTypes: [
    'application/sdp',
    'application/dtmf',
    'application/dtmf-relay',
    'message/sipfrag',
    'multipart/mixed',
  ],
  schemes: ['sip', 'sips', 'tel'],
};

/** For requests and responses that make, refresh or ask about a dialog. */
export const ALLOW: HeaderLine = ['Allow', ABILITIES.methods.join(', ')];
export const SUPPORTED: HeaderLine = ['Supported', ABILITIES.extensions.join(', ')];
/** The same for INVITE and UPDATE of ours within a dialog: nobody waits there for provisional responses, nor sends PRACK. */
export const SUPPORTED_WITHIN: HeaderLine = [
  'Supported',
  ABILITIES.extensions.filter((tag) => tag !== '100rel').join(', '),
];
export const ACCEPT: HeaderLine = ['Accept', ABILITIES.mediaTypes.join(', ')];
/** Packages of events that a REFER makes us send and take. */
export const ALLOW_EVENTS: HeaderLine = ['Allow-Events', 'refer'];

/** Option tags of Supported and Require, small letters. */
export function optionTags(message: SipRequest | SipResponse): string[] {
  return [...message.all('supported'), ...message.all('require')].map((tag) => tag.toLowerCase());
}

/** What a message says of the session's timer. */
export function sessionFields(message: SipRequest | SipResponse): SessionFields {
  return {
    sessionExpires: message.first('session-expires'),
    minSe: message.first('min-se'),
    supported: optionTags(message),
  };
}

/** What the peer of a dialog has said that it knows; the latest Allow counts. */
export class PeerAbilities {
  #methods: ReadonlySet<string> | undefined;
  readonly #refused = new Set<string>();

  /** Any request or response of the peer. */
  note(message: SipRequest | SipResponse): void {
    const methods = message.all('allow');
    if (methods.length > 0) this.#methods = new Set(methods.map((method) => method.toUpperCase()));
  }

  /** Only what it named: a peer that names nothing is asked for nothing new. */
  allows(method: string): boolean {
    return (this.#methods?.has(method) ?? false) && !this.#refused.has(method);
  }

  /** It refused what it says that it allows, and may go on saying so. */
  lacks(method: string): void {
    this.#refused.add(method);
  }
}
