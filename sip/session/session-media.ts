// What a session needs of the media of its call: descriptions in and out. The
// media follows each agreement by itself.
import type { Result } from '../message/refusal.js';

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
