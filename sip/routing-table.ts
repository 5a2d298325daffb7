// Decides how an incoming call is answered: the first matching rule counts. routing-file.ts reads the rules.
// Patterns match numbers, addresses and header fields.
import type { Interruptible } from '../src/call/utterance.js';
import type { ProgramSource } from '../src/config/ivr-config.js';
import type { HearingSettings } from '../src/config/hearing-config.js';
import type { RelayConfig } from '../src/config/relay-config.js';
import type { StartRecording } from '../src/recording/call-recording.js';
import type { JoinAnswer } from './routing-rules.js';
import type { NameAddr, Uri } from './message/uri.js';

interface SpokenAnswer extends SpokenText {
  readonly kind: 'say';
  /** Action after the text has been heard in full. */
  readonly after: 'stay' | 'hangup';
}

export type RouteAnswer =
  | SpokenAnswer
  /** Speaks the text that the request carries (see answering.ts), up to that length. */
  | {
      readonly kind: 'announce';
      readonly mostCharacters: number;
      readonly after: 'stay' | 'hangup';
      readonly interruptible?: Interruptible;
    }
  /** Says nothing: an application speaks, or the caller hangs up. */
  | { readonly kind: 'wait' }
  /** Name of an agent. */
  | { readonly kind: 'agent'; readonly agent: string }
  /** Joined to others from the answer on. */
  | JoinAnswer
  /** A program conducts the call. */
  | { readonly kind: 'program'; readonly source: ProgramSource }
  /** An application that the answer for one call names. */
  | { readonly kind: 'relay'; readonly relay: RelayConfig }
  /** `cause` is a Q.850 cause for the Reason field. */
  | {
      readonly kind: 'reject';
      readonly status: number;
      readonly cause?: number;
      readonly text?: string;
      /** Spoken before the refusal, as early media. */
      readonly announcement?: SpokenText;
    };

export interface SpokenText {
  readonly text: string;
  readonly voice?: string;
  readonly language?: string;
  /** `none`, if absent. */
  readonly interruptible?: Interruptible;
}

/** Ringing and early media before the answer. */
export interface Ringing {
  readonly seconds: number;
  /** Media flows before the answer: the text of the answer, or `earlyText`. */
  readonly early: boolean;
  readonly earlyText?: string;
}

export interface Route {
  /** Name for logs and counters. */
  readonly name: string;
  /** Pattern for the Request-URI: for its user, or for user@host if the pattern has an `@`. */
  readonly to?: Pattern;
  readonly from?: Pattern;
  /** Patterns by header name in lower case; each must match a value. */
  readonly headers: ReadonlyMap<string, Pattern>;
  readonly answer: RouteAnswer;
  /** Name of the API key that owns the call; absent: visible to every key. */
  readonly key?: string;
  /** Absent: answered at once. */
  readonly ringing?: Ringing;
  /** The caller is heard from the answer on, with these settings. Absent: not before somebody asks. */
  readonly listen?: Partial<HearingSettings>;
  /** The call is recorded from the answer on. Absent: not before somebody asks. */
  readonly record?: StartRecording;
}

interface RoutedCall {
  readonly uri: Uri;
  readonly from: NameAddr;
  /** All values of a header field, by name. */
  readonly all: (name: string) => readonly string[];
}

export class RoutingTable {
  readonly routes: readonly Route[];

  constructor(routes: readonly Route[]) {
    this.routes = routes;
  }

  /** Undefined if no rule matches. */
  find({ uri, from, all }: RoutedCall): Route | undefined {
    return this.routes.find(
      (route) =>
        (route.to === undefined || fits(route.to, uri)) &&
        (route.from === undefined || fits(route.from, from.uri)) &&
        [...route.headers].every(([name, pattern]) => all(name).some((value) => pattern.matches(value))),
    );
  }
}

/** Matches the user, or user@host if the pattern has an `@`. */
export function fits(pattern: Pattern, uri: Uri): boolean {
  const user = uri.isSip ? (uri.user ?? '') : uri.text.slice(uri.scheme.length + 1);
  return pattern.matches(pattern.text.includes('@') ? `${user}@${uri.host}` : user);
}

// A pattern: `*` stands for any text, `?` for one character, anything else for itself. Case is ignored.
// Matching takes time proportional to the length of the text times that of the pattern at most.

export class Pattern {
  readonly text: string;
  readonly #folded: string;

  constructor(text: string) {
    this.text = text;
    this.#folded = text.toLowerCase();
  }

  matches(value: string): boolean {
    const pattern = this.#folded;
    const text = value.toLowerCase();
    let [at, star, resume] = [0, -1, 0];
    let here = 0;
    while (here < text.length) {
      if (at < pattern.length && pattern[at] === '*') {
        [star, resume] = [at, here];
        at++;
      } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[here])) {
        at++;
        here++;
      } else if (star >= 0) {
        // The last star takes one more character; earlier stars never need to.
        resume++;
        [at, here] = [star + 1, resume];
      } else return false;
    }
    while (pattern[at] === '*') at++;
    return at === pattern.length;
  }
}
