// One call leg as the door sees it, whichever side began it: an INVITE, the
// dialogs that came of it, and everything that is asked within them.
//
//   inviting ─▶ early ─▶ confirmed ─▶ ended
//       └─────────┴───────────────────▲
import type { Reason, Result } from '../message/refusal.js';
import type { Replaces } from '../message/replaces.js';
import type { Uri } from '../message/uri.js';
import type { Dialog } from './dialog.js';

export type SessionState = 'inviting' | 'early' | 'confirmed' | 'ended';

export interface SessionEnd {
  readonly by:
    | 'peer' // BYE
    | 'us' // BYE or CANCEL of ours, or our refusal
    | 'cancelled' // the caller gave up before the answer
    | 'rejected' // a final response that is no 2xx
    | 'unanswered' // nobody took it in time, or no response came
    | 'unacknowledged' // no ACK (or PRACK) for our answer
    | 'expired' // nobody refreshed the session
    | 'transport' // the peer cannot be reached any more
    | 'replaced'; // another dialog took its place
  /** Of the response that ended it. */
  readonly status?: number;
  /** Of the Reason field of BYE, CANCEL or the response. */
  readonly reason?: Reason;
  /** What the peer's response says to people: the text of Warning, or the reason phrase. At most 200 characters. */
  readonly text?: string;
}

/** A transfer that the peer asks for. Answer exactly once. */
export interface TransferAsked {
  readonly target: Uri;
  /** The dialog that the new call is to take the place of. */
  readonly replaces: Replaces | undefined;
  readonly referredBy: string | undefined;
  /** 202; progress is told with `notify`, the final status last. */
  accept(): void;
  refuse(status: number): void;
  notify(status: number): void;
}

/** Set by the owner; each is told at most as often as it says. */
export interface SessionUser {
  /** Once, of a call that came in: its 2xx has been sent. */
  accepted?(): void;
  /** Once: the dialog stands and both sides know it (2xx and ACK). Media may have been agreed before. */
  established(): void;
  /** Once, last of all. */
  ended(end: SessionEnd): void;
  /** A provisional response of an outbound call (101-199). */
  progressed?(status: number): void;
  /** A digit in INFO. `!` is a flash. */
  digit?(digit: string, durationMs: number): void;
  /** Refused with 603 where nobody listens. */
  transferAsked?(asked: TransferAsked): void;
}

export interface ReferTarget {
  readonly uri: string;
  /** For an attended transfer: the dialog at the target, as its own side calls the tags. */
  readonly replaces?: Replaces;
}

export interface Session {
  readonly state: SessionState;
  /** Undefined before there is a dialog. */
  readonly dialog: Pick<Dialog, 'callId' | 'localTag' | 'remoteTag' | 'remoteTarget'> | undefined;
  user: SessionUser;
  /** BYE, CANCEL or refusal, as the state asks. Resolves when it was answered or given up (32 s); idempotent. */
  hangUp(reason?: Reason): Promise<void>;
  /** A re-INVITE with what the media now offers: hold, resume, another address. Resolves with what came of it. */
  reoffer(): Promise<Result<void>>;
  /** A digit in INFO; false if the peer refused it. */
  sendDigit(digit: string, durationMs: number): Promise<boolean>;
  /** REFER; `told` hears each status of NOTIFY. Resolves with the last one, or with the refusal. */
  refer(target: ReferTarget, told?: (status: number) => void): Promise<Result<number>>;
}

// What a session needs of the media of its call: descriptions in and out. The
// media follows each agreement by itself.

export interface SessionMedia {
  /** The peer's signalling comes from this address. Told before each description of the peer. */
  signalledFrom(address: string): void;
  /**
   * The peer has shown that it gets what is sent to it: by ACK or PRACK, by its password, or over a connection. Before
   * that, or a packet of its own, no media leaves: whoever is named in its description may not have asked for any.
   */
  confirmed(): void;
  /** Answers an offer of the peer; 488 or 400 where nothing changes, 491 where offers crossed. */
  answer(offer: Uint8Array): Result<string>;
  /** An offer of ours, as the call now stands (held or not); 491 while another waits for its answer. */
  offer(): Result<string>;
  /**
   * The answer to our offer. `fork` is the tag of the dialog that it came in: of an INVITE that rang at several phones,
   * the one that answered latest is heard.
   */
  accept(answer: Uint8Array, fork: string): Result<void>;
  /** Of several phones this one has the call; the answers of others are forgotten. */
  settle(fork: string): void;
  /** Our offer was refused with its request: everything is as before. */
  withdraw(): void;
  /** An offer of ours waits for its answer. */
  readonly offering: boolean;
  /** A description was agreed on. */
  readonly agreed: boolean;
}
