// The messages between the bench webrtc and its clients, which run in a process of their own.

/** A client of one call. */
export interface BenchPeer {
  readonly offer: string;
  /** Milliseconds of the monotonic clock at which each step was reached. */
  readonly at: { ready?: number; audible?: number; ended?: number };
  readonly ready: Promise<void>;
  readonly audible: Promise<void>;
  readonly packets: number;
  readonly missing: number;
  readonly longestGapMs: number;
  accept(answer: string): void;
  close(): Promise<void>;
}

export type Step = 'ready' | 'audible';

/** Opens calls and ends each of them when it has reached a step. */
export interface SetUpPlan {
  readonly type: 'set-up';
  readonly url: string;
  readonly until: Step;
  /** Number of offers; Infinity is not allowed. */
  readonly calls: number;
  /** Offers leave at this rate, whatever the server does. */
  readonly perSecond?: number;
  /** Without a rate: calls that are set up at once. */
  readonly atOnce?: number;
  /** No further offer after so many seconds. */
  readonly seconds?: number;
}

/** Opens calls and leaves them open. */
export interface StandPlan {
  readonly type: 'stand';
  readonly url: string;
  readonly calls: number;
  readonly atOnce: number;
}

/** Opens one call after another, and ends the oldest one whenever more than `standing` are open. */
export interface TurnoverPlan {
  readonly type: 'turn-over';
  readonly url: string;
  readonly calls: number;
  readonly standing: number;
  readonly atOnce: number;
}

export type ToClients = SetUpPlan | StandPlan | TurnoverPlan | { readonly type: 'standing' | 'drop' };

export interface SetUpResult {
  /** Milliseconds from the offer, one of each call that reached the step. */
  readonly answerMs: readonly number[];
  readonly readyMs: readonly number[];
  readonly audibleMs: readonly number[];
  readonly failed: number;
  /** The first reason of a failure. */
  readonly failure: string | undefined;
  readonly seconds: number;
  readonly cpuMs: number;
}

export interface TurnoverResult {
  /** Calls that became audible and stood until their client ended them. */
  readonly done: number;
  /** Offers that the server refused for want of time. Each was made again a second later. */
  readonly refused: number;
  readonly failed: number;
  /** The first reason of a failure. */
  readonly failure: string | undefined;
  /** Packets that calls missed between their first and their last one. */
  readonly missing: number;
  readonly seconds: number;
}

export interface Standing {
  readonly open: number;
  readonly failed: number;
  /** The first reason of a failure. */
  readonly failure: string | undefined;
  readonly packets: number;
  readonly missing: number;
  readonly longestGapMs: number;
  /** Milliseconds of processor time since the question before. */
  readonly cpuMs: number;
}
