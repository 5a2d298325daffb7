// Which calls are answered with what: rules in order, the first that fits
// counts. This file asks; routing-file.ts reads the table.
import type { NameAddr, Uri } from './message/uri.js';

export interface SpokenAnswer extends SpokenText {
  readonly kind: 'say';
  /** What happens when everything has been heard. */
  readonly after: 'stay' | 'hangup';
}

export type RouteAnswer =
  | SpokenAnswer
  /** What the request asks for (announcement.ts), up to so many characters. */
  | { readonly kind: 'announce'; readonly mostCharacters: number; readonly after: 'stay' | 'hangup' }
  /** Nothing is said: whoever watches the calls speaks, or the caller hangs up. */
  | { readonly kind: 'wait' }
  /** The agent backend of this name. */
  | { readonly kind: 'agent'; readonly agent: string }
  /** The cause is one of Q.850, for the Reason field. */
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
}

/** What a caller hears before the call is answered. */
export interface Ringing {
  readonly seconds: number;
  /** Media flows before the answer: the text of the answer, or this one. */
  readonly early: boolean;
  readonly earlyText?: string;
}

export interface Route {
  /** For logs and counters. */
  readonly name: string;
  /** Of the Request-URI: its user, or user@host where the pattern has an `@`. */
  readonly to?: Pattern;
  readonly from?: Pattern;
  /** By name in small letters; each must have a value that fits. */
  readonly headers: ReadonlyMap<string, Pattern>;
  readonly answer: RouteAnswer;
  /** Name of the API key that the call belongs to; absent: to every key. */
  readonly key?: string;
  /** Absent: answered at once. */
  readonly ringing?: Ringing;
}

export interface RoutedCall {
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

  /** Undefined where no rule fits. */
  find({ uri, from, all }: RoutedCall): Route | undefined {
    return this.routes.find(
      (route) =>
        (route.to === undefined || fits(route.to, uri)) &&
        (route.from === undefined || fits(route.from, from.uri)) &&
        [...route.headers].every(([name, pattern]) => all(name).some((value) => pattern.matches(value))),
    );
  }
}

/** Its user, or user@host where the pattern has an `@`. */
export function fits(pattern: Pattern, uri: Uri): boolean {
  const user = uri.isSip ? (uri.user ?? '') : uri.text.slice(uri.scheme.length + 1);
  return pattern.matches(pattern.text.includes('@') ? `${user}@${uri.host}` : user);
}

// Patterns of the routing table: `*` stands for any text, `?` for one
// character, anything else for itself, in capitals or not. Time grows with the
// length of the text, whatever a caller writes.

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
        // The last star takes one character more; those before it never have to.
        resume++;
        [at, here] = [star + 1, resume];
      } else return false;
    }
    while (pattern[at] === '*') at++;
    return at === pattern.length;
  }
}
