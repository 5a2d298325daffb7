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

  /** Any request or response of the peer. */
  note(message: SipRequest | SipResponse): void {
    const methods = message.all('allow');
    if (methods.length > 0) this.#methods = new Set(methods.map((method) => method.toUpperCase()));
  }

  /** Only what it named: a peer that names nothing is asked for nothing new. */
  allows(method: string): boolean {
    return this.#methods?.has(method) ?? false;
  }

  /** It said that it does, and refused it. */
  lacks(method: string): void {
    this.#methods = new Set([...(this.#methods ?? [])].filter((known) => known !== method));
  }
}
