// SIDs: the identifiers of accounts, calls and recordings in Twilio's form, two letters and 32 hexadecimal
// digits. Each API key of this server is an account, and so are the calls without a key.
import { hash } from 'node:crypto';

/** An API key of this server. */
export interface AccountKey {
  /** Undefined: the key has no name. */
  readonly name: string | undefined;
  readonly key: string;
}

/** @param key undefined: the account of calls without a key */
export function accountSid(key: AccountKey | undefined): string {
  return sid('AC', key === undefined ? 'parley' : (key.name ?? key.key));
}

/** @param id of the call on this server */
export function callSid(id: string): string {
  return sid('CA', id);
}

/** @param name of the recording on this server */
export function recordingSid(name: string): string {
  return sid('RE', name);
}

/** @param base address of this server, without `/` at its end */
export function recordingUrl(base: string, account: string, name: string): string {
  return `${base}/2010-04-01/Accounts/${account}/Recordings/${recordingSid(name)}`;
}

/** The SID of the text of a recording, by the recording's name. */
export function transcriptionSid(name: string): string {
  return sid('TR', name);
}

/** @param owner name of the API key that the room belongs to; undefined: to every key */
export function conferenceSid(owner: string | undefined, name: string): string {
  return sid('CF', `${owner ?? ''}\n${name}`);
}

/** @param owner as of a conference */
export function queueSid(owner: string | undefined, name: string): string {
  return sid('QU', `${owner ?? ''}\n${name}`);
}

function sid(prefix: string, text: string): string {
  return prefix + hash('sha256', text, 'hex').slice(0, 32);
}

/** The account that a call belongs to. */
export interface TwimlAccount {
  readonly sid: string;
  /** Signs the requests; undefined: they are not signed. */
  readonly authToken: string | undefined;
}

interface AccountsParts {
  /** The API key that calls name as their owner; undefined: it is not valid any more. */
  readonly keyOf: (owner: string) => AccountKey | undefined;
  /** Signs the requests of calls without a key; undefined: they are not signed. */
  readonly authToken: string | undefined;
}

/** Finds the account of an owner of calls. A call whose key is gone is not signed. */
export function twimlAccounts({
  keyOf,
  authToken,
}: AccountsParts): (owner: string | undefined) => TwimlAccount {
  const ofEveryKey: TwimlAccount = { sid: accountSid(undefined), authToken };
  return (owner) => {
    if (owner === undefined) return ofEveryKey;
    const key = keyOf(owner);
    return { sid: accountSid(key ?? { name: owner, key: '' }), authToken: key?.key };
  };
}
