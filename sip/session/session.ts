// Declares one call leg for its owner, whichever side began it: an INVITE, its dialogs, and the
// requests within them. SessionMedia is what a session needs from the media of its call.
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
    | 'us' // our BYE, CANCEL or refusal
    | 'cancelled' // the caller gave up before the answer
    | 'rejected' // a final response other than 2xx
    | 'unanswered' // not answered in time, or no response came
    | 'unacknowledged' // no ACK (or PRACK) for our answer
    | 'expired' // the session was not refreshed
    | 'transport' // the peer is no longer reachable
    | 'replaced'; // another dialog took its place
  /** Status of the response that ended the call. */
  readonly status?: number;
  /** Reason field of BYE, CANCEL or the response. */
  readonly reason?: Reason;
  /**
   * Human-readable text of the peer's response: the Warning text or the reason phrase, at most 200
   * characters.
   */
  readonly text?: string;
}

/** A transfer that the peer requests. Answer exactly once. */
export interface TransferAsked {
  readonly target: Uri;
  /** Dialog that the new call replaces. */
  readonly replaces: Replaces | undefined;
  readonly referredBy: string | undefined;
  /** Sends 202; report progress with `notify`, the final status last. */
  accept(): void;
  refuse(status: number): void;
  notify(status: number): void;
}

/** Callbacks of the owner. */
export interface SessionUser {
  /** Inbound calls, once: the 2xx was sent. */
  accepted?(): void;
  /** Once: the dialog is confirmed on both sides (2xx and ACK). Media may have been agreed on before. */
  established(): void;
  /** Once, as the last callback. */
  ended(end: SessionEnd): void;
  /** Outbound calls: a provisional response (101-199). */
  progressed?(status: number): void;
  /** A digit in INFO. `!` is a flash. */
  digit?(digit: string, durationMs: number): void;
  /** A REFER; without this callback it is refused with 603. */
  transferAsked?(asked: TransferAsked): void;
}

export interface ReferTarget {
  readonly uri: string;
  /** For an attended transfer: the dialog at the target, with the tags as seen from its own side. */
  readonly replaces?: Replaces | undefined;
}

export interface Session {
  readonly state: SessionState;
  /** Undefined before a dialog exists. */
  readonly dialog: Pick<Dialog, 'callId' | 'localTag' | 'remoteTag' | 'remoteTarget'> | undefined;
  user: SessionUser;
  /**
   * Ends the call with BYE, CANCEL or a refusal, depending on the state. Resolves when answered or given up
   * (32 s). Idempotent.
   */
  hangUp(reason?: Reason): Promise<void>;
  /** Sends a re-INVITE with the current offer of the media: hold, resume, another address. */
  reoffer(): Promise<Result<void>>;
  /** Sends a digit in INFO; false if the peer refused it. */
  sendDigit(digit: string, durationMs: number): Promise<boolean>;
  /** Sends REFER; `onStatus` receives each status of NOTIFY. Resolves with the last status or the refusal. */
  refer(target: ReferTarget, onStatus?: (status: number) => void): Promise<Result<number>>;
}

export interface SessionMedia {
  /** Sets the address of the peer's signalling, before each description of the peer. */
  signalledFrom(address: string): void;
  /**
   * The peer has shown that it receives what is sent to it: by ACK or PRACK, by its password, or over a
   * connection. Before that, or a packet of its own, no media is sent: the address in its description may
   * belong to a third party.
   *
   * `address`: the address of its signalling, if the connection or the password has proven it. Media to a
   * description with this address does not wait for the acknowledgement.
   */
  confirmed(address?: string): void;
  /**
   * The description is acknowledged, by ACK or PRACK. Before that, or a packet of the peer's media, media is
   * sent for a second at most: the peer can name a third party. After PRACK the ACK is still to come.
   */
  acknowledged(by: 'ACK' | 'PRACK'): void;
  /** Sets whether an ACK is to come. A description that names another address needs it anew. */
  awaitAck(isAwaited: boolean): void;
  /** Answers an offer of the peer. Refusals: 488 or 400 without any change, 491 if offers crossed. */
  answer(offer: Uint8Array): Result<string>;
  /**
   * Makes an offer for the current state of the call (held or not); 491 while another one waits for its
   * answer.
   */
  offer(): Result<string>;
  /**
   * Takes the answer to our offer. `fork` is the tag of its dialog: if several phones rang, the media
   * follows the latest answer.
   */
  accept(answer: Uint8Array, fork: string): Result<void>;
  /** Selects the dialog that has the call; the answers of others are dropped. */
  settle(fork: string): void;
  /** Withdraws our offer after its request was refused; the previous state stays. */
  withdraw(): void;
  /** True while our offer waits for its answer. */
  readonly offering: boolean;
  /** True once a description was agreed on. */
  readonly agreed: boolean;
}
