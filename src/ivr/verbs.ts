// The verbs of call programs. A door writes them: a document over HTTP, or a file. program-run.ts performs
// them over the call.
//
// Times are in milliseconds. A target is in the words of its door: a URL, or the name of a program.

export interface Target {
  readonly at: string;
  /** `POST`, if absent. */
  readonly method?: 'GET' | 'POST' | undefined;
}

export interface Say {
  readonly verb: 'say';
  readonly text: string;
  readonly format: 'text' | 'ssml';
  readonly voice?: string | undefined;
  /** BCP 47 tag. */
  readonly language?: string | undefined;
  /** Times that it is said, 1 to 1000. */
  readonly times: number;
}

export interface Play {
  readonly verb: 'play';
  /** A sound, in the words of the door: a URL, or a name of the library. */
  readonly sound: string;
  /** Times that it is played, 1 to 1000. */
  readonly times: number;
}

/** Presses keys towards the far end. */
export interface Press {
  readonly verb: 'press';
  /** See DigitsRequest. */
  readonly digits: string;
}

export interface Pause {
  readonly verb: 'pause';
  readonly ms: number;
}

export type Prompt = Say | Play | Pause;

/** Collects keys, words or both. */
export interface Gather {
  readonly verb: 'gather';
  readonly inputs: readonly ('keys' | 'speech')[];
  /** Heard meanwhile. */
  readonly prompts: readonly Prompt[];
  /** A key, or speech if it is an input, stops the prompts. */
  readonly isInterruptible: boolean;
  /** From the end of the prompts to the first key or word. */
  readonly firstMs: number;
  /** From each key to the next one. */
  readonly betweenMs: number;
  /** Keys that end the input, and are no part of it; empty: none does. */
  readonly finishKeys: string;
  /** The input ends with so many keys; undefined: keys do not end it. */
  readonly mostKeys?: number | undefined;
  /** Silence that ends the speech; undefined: the server decides, by its model of the ends of turns. */
  readonly speechEndMs?: number | undefined;
  readonly mostSpeechMs: number;
  /** BCP 47 tag of the speech; undefined: it is found. */
  readonly language?: string | undefined;
  /** Names and words that may be said. */
  readonly hints: readonly string[];
  /** Its keys and words appear in its result only; false, if absent. */
  readonly isSensitive?: boolean | undefined;
  /** Gets the result; undefined: the next verb follows. */
  readonly action?: Target | undefined;
  /** `action` gets an empty result, too. Otherwise the next verb follows without input. */
  readonly tellsEmpty: boolean;
  /** Gets the words so far. */
  readonly partial?: Target | undefined;
  /** Programs by keys, or by words of the speech. They come before `action`. */
  readonly choices?: ReadonlyMap<string, Target> | undefined;
}

/** Goes on with another program. */
export interface Redirect {
  readonly verb: 'redirect';
  readonly to: Target;
}

export interface HangUp {
  readonly verb: 'hangup';
}

/** Refuses a call that is not answered yet; as HangUp in one that is. */
export interface Reject {
  readonly verb: 'reject';
  readonly reason: 'rejected' | 'busy';
}

/** Ends the verb that this program is performed within: a wait. */
export interface Leave {
  readonly verb: 'leave';
}

export type Verb = Say | Play | Press | Pause | Gather | Redirect | HangUp | Reject | Leave;

/** The result of a verb, for the author of the program. */
export type VerbResult =
  | { readonly of: 'redirect' }
  | {
      readonly of: 'gather';
      readonly by: 'keys';
      readonly digits: string;
      /** The key that ended the input; undefined: none did. */
      readonly finishKey: string | undefined;
    }
  | {
      readonly of: 'gather';
      readonly by: 'speech';
      readonly text: string;
      /** BCP 47 tag. */
      readonly language: string | undefined;
      /** 0 to 1; absent: the recogniser does not tell it. */
      readonly confidence?: number | undefined;
    }
  | { readonly of: 'gather'; readonly by: 'none' };

/** Something that a target is told of while a verb runs. Nobody answers it. */
export type Notice = PartialWords;

/** The words of a gather so far. */
export interface PartialWords {
  readonly of: 'partial';
  readonly text: string;
  /** Counts from 0 within the gather. */
  readonly number: number;
}
