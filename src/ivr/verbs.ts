// The verbs of call programs. A door writes them: a document over HTTP, or a file. program-run.ts performs
// them over the call.
//
// Times are in milliseconds. A target is in the words of its door: a URL, or the name of a program.

import type { AnsweredBy, AnswerSettings } from '../call/answer-detector.js';
import type { MemberView, RoomReason } from '../call/room.js';

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
  /** The words are written with figures; undefined: the server's default. */
  readonly smartFormat?: boolean | undefined;
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

/** Records the caller alone. */
export interface RecordVoice {
  readonly verb: 'record';
  readonly beeps: boolean;
  /** Time without speech that ends it; 0: none does. */
  readonly timeoutMs: number;
  /** Keys that end it. */
  readonly finishKeys: string;
  readonly mostMs: number;
  /** The file begins with the first word and ends with the last one. */
  readonly trims: boolean;
  /** Gets the result, even if the call ends; undefined: the next verb follows. */
  readonly action?: Target | undefined;
  readonly callback?: RecordingCallback | undefined;
  /** Gets what the caller has said, as text. */
  readonly transcript?: Target | undefined;
}

/** Is told what becomes of a recording. */
export interface RecordingCallback {
  readonly target: Target;
  readonly events: readonly RecordingNotice['status'][];
}

/** Asks the far end to call another address in place of this server. */
export interface Refer {
  readonly verb: 'refer';
  /** SIP URI. */
  readonly to: string;
  /** Gets the result, even if the call ends; undefined: the next verb follows. */
  readonly action?: Target | undefined;
}

/** Hands the conversation to somebody who talks, until they end it. */
export interface Connect {
  readonly verb: 'connect';
  readonly to:
    /** An agent of this server. */
    | { readonly kind: 'agent'; readonly name: string }
    /** An application of ConversationRelay: the fields of the `relay` of an agent. */
    | { readonly kind: 'relay'; readonly fields: Readonly<Record<string, unknown>> }
    /** A bot of Media Streams: the fields of the `mediaStream` of an agent. */
    | { readonly kind: 'stream'; readonly fields: Readonly<Record<string, unknown>> };
  /** Gets the result, even if the call ends; undefined: the next verb follows. */
  readonly action?: Target | undefined;
}

/** Starts what runs beside the verbs that follow. */
export interface Start {
  readonly verb: 'start';
  readonly forks: readonly Fork[];
}

/** Stops what Start has begun. */
export interface Stop {
  readonly verb: 'stop';
  /** Without a name the latest one of its kind. */
  readonly forks: readonly { readonly kind: ForkKind; readonly name?: string | undefined }[];
}

export type Fork = StreamFork | RecordingFork | TranscriptFork;
export type ForkKind = Fork['kind'];

/** The sound of the call goes to a bot of Media Streams. */
export interface StreamFork {
  readonly kind: 'stream';
  readonly name?: string | undefined;
  /** The fields of the `mediaStream` of an agent. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly callback?: Target | undefined;
}

export interface RecordingFork {
  readonly kind: 'recording';
  readonly callback?: RecordingCallback | undefined;
}

/** A transcript of the call. */
export interface TranscriptFork {
  readonly kind: 'transcript';
  readonly name?: string | undefined;
  /** Gets the texts. */
  readonly callback: Target;
  /** BCP 47 tag of the caller's speech; undefined: it is found. */
  readonly language?: string | undefined;
  readonly isPartial: boolean;
  readonly hints: readonly string[];
  /** The sides that are transcribed, with their labels. */
  readonly sides: { readonly caller: string | undefined; readonly server: string | undefined };
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

/** Calls others, and joins the caller with the first one that accepts. */
export interface Dial {
  readonly verb: 'dial';
  /** 1 to 10. */
  readonly targets: readonly DialTarget[];
  /** One after another; otherwise all ring at once. */
  readonly isSequential: boolean;
  /** Longest time until the answer of a target. */
  readonly ringMs: number;
  /** Longest time that the two talk. */
  readonly talkMs: number;
  /** A `*` of either side ends the talk. */
  readonly endsByStar: boolean;
  /** Number that the targets see; undefined: the caller's, if it has one. */
  readonly callerId?: string | undefined;
  /** The caller is answered when a target has accepted, and hears ringing until then. */
  readonly answersLate: boolean;
  /** Both are recorded from here on; undefined: they are not. */
  readonly recordsFrom?: 'ringing' | 'talk' | undefined;
  readonly recorded?: RecordingCallback | undefined;
  /** Gets the result, even if the call ends; undefined: the next verb follows. */
  readonly action?: Target | undefined;
}

export interface DialTarget {
  /** A number, a name, or a tel or SIP URI. */
  readonly to: string;
  /** Further header fields of the INVITE. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Pressed after the answer; see DigitsRequest. */
  readonly digits?: string | undefined;
  /** Program that is performed over the call of the target. Its end accepts, and `hangup` declines. */
  readonly whisper?: Target | undefined;
  /** Told of these states of the call. */
  readonly states?: { readonly target: Target; readonly told: readonly DialledState[] } | undefined;
  /** It is detected who answers. */
  readonly detect?: Partial<AnswerSettings> | undefined;
  /** Told who has answered. */
  readonly detected?: Target | undefined;
}

export type DialledState = 'initiated' | 'ringing' | 'answered' | 'completed';

/** The end of a call that was placed. */
export type DialStatus = 'completed' | 'busy' | 'no-answer' | 'failed' | 'canceled';

/** Ends the verb that this program is performed within: a wait. */
export interface Leave {
  readonly verb: 'leave';
}

/** Heard while a call waits: the usual music, nothing, or a program. */
export type Wait = 'music' | 'silence' | Target;

export const CONFERENCE_EVENTS = [
  'start',
  'end',
  'join',
  'leave',
  'mute',
  'hold',
  'modify',
  'speaker',
  'announcement',
] as const;
export type ConferenceEvents = (typeof CONFERENCE_EVENTS)[number];

/** Makes the call a member of a room, until it leaves that. */
export interface Conference {
  readonly verb: 'conference';
  readonly room: string;
  readonly isMuted: boolean;
  /** The sounds that tell the others of this member. */
  readonly chimes: 'both' | 'entry' | 'exit' | 'none';
  /** The members hear each other once there are two, one of whom opens the room. */
  readonly opens: boolean;
  /** The room ends when this member leaves. */
  readonly ends: boolean;
  /** No other member has the same one. */
  readonly label?: string | undefined;
  /** Heard until the room opens. */
  readonly wait: Wait;
  readonly mostMembers: number;
  /** The mix is recorded once the room opens. */
  readonly isRecorded: boolean;
  /** The only member that hears this one: its label, or the name of its call in the words of the door. */
  readonly coach?: string | undefined;
  /** The call leaves after so long; undefined: it may stay. */
  readonly mostMs?: number | undefined;
  /** A key with which the caller leaves; undefined: none does. */
  readonly endKey?: string | undefined;
  /** Gets the result; undefined: the next verb follows. */
  readonly action?: Target | undefined;
  /** Told of the room. Those of the first member hold for the whole room. */
  readonly callback?: Target | undefined;
  readonly events: readonly ConferenceEvents[];
  /** Told of the recording. That of the first member holds, too. */
  readonly recordingCallback?: Target | undefined;
}

/** Has the call wait in a queue, and be joined with the call that takes it. */
export interface Enqueue {
  readonly verb: 'enqueue';
  readonly queue: string;
  readonly mostWaiting: number;
  /** A program begins anew when it ends. */
  readonly wait: Wait;
  /** Gets the result once the call has left the queue and its bridge; undefined: the next verb follows. */
  readonly action?: Target | undefined;
}

/** Takes the next call of a queue. */
export interface Dequeue {
  readonly verb: 'dequeue';
  readonly queue: string;
  /** A program that the call of the queue hears before the two are joined. */
  readonly whisper?: Target | undefined;
  /** While the queue is empty. */
  readonly waitMs: number;
  /** Length of the bridge; undefined: there is no limit. */
  readonly mostMs?: number | undefined;
  /** A key of this call that ends the bridge; undefined: none does. */
  readonly endKey?: string | undefined;
  /** Gets the result; undefined: the next verb follows. */
  readonly action?: Target | undefined;
}

export type Verb =
  | Say
  | Play
  | Press
  | Pause
  | Gather
  | RecordVoice
  | Refer
  | Connect
  | Start
  | Stop
  | Redirect
  | HangUp
  | Reject
  | Conference
  | Enqueue
  | Dequeue
  | Leave
  | Dial;

export type QueueResult =
  | 'bridged'
  | 'hangup'
  | 'leave'
  | 'redirected'
  | 'redirected-from-bridged'
  | 'queue-full'
  | 'error'
  | 'system-error';

/** The result of a verb, for the author of the program. */
export type VerbResult =
  | { readonly of: 'redirect' }
  | ReferResult
  | ConnectResult
  | {
      readonly of: 'record';
      /** Its name. */
      readonly recording: string;
      readonly durationMs: number;
      readonly by: 'key' | 'silence' | 'length' | 'hangup';
      /** The key that ended it; undefined: none did. */
      readonly key: string | undefined;
    }
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
      /** The words as they were recognised; absent where `text` has them. */
      readonly heard?: string | undefined;
      /** BCP 47 tag. */
      readonly language: string | undefined;
      /** 0 to 1; absent: the recogniser does not tell it. */
      readonly confidence?: number | undefined;
    }
  | { readonly of: 'gather'; readonly by: 'none' }
  | { readonly of: 'conference' }
  | {
      readonly of: 'enqueue';
      readonly queue: string;
      readonly result: QueueResult;
      readonly waitedMs: number;
    }
  | {
      readonly of: 'dequeue';
      readonly status: 'completed' | 'no-answer' | 'failed';
      /** Id of the call that was taken; undefined: none was. */
      readonly other: string | undefined;
      readonly durationMs: number;
    }
  | { readonly of: 'wait'; readonly place: QueuePlace | undefined }
  | {
      /** The call is about to be joined with the call that has taken it. */
      readonly of: 'whisper';
      readonly queue: string;
      readonly waitedMs: number;
      /** Id of that call. */
      readonly by: string;
    }
  | DialResult;

/** The end of a session, as far as the one who talks has told it. */
export interface ConnectEnd {
  /** `completed`: the caller has hung up. `ended`: the one who talks has ended it, and the call goes on. */
  readonly status: 'completed' | 'ended' | 'failed';
  readonly sessionId?: string | undefined;
  /** For the program that follows. */
  readonly handoffData?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
}

export interface ConnectResult extends ConnectEnd {
  readonly of: 'connect';
  readonly durationMs: number;
}

export interface ReferResult {
  readonly of: 'refer';
  readonly isAccepted: boolean;
  /** Last SIP status that the far end has told; undefined: it has told none. */
  readonly status: number | undefined;
}

/** The place of a call in a queue. */
export interface QueuePlace {
  readonly queue: string;
  /** From 1. */
  readonly position: number;
  readonly waitedMs: number;
  /** Mean of the calls that wait. */
  readonly averageMs: number;
  readonly size: number;
  readonly mostWaiting: number;
}

/** Something that a target is told of. Nobody answers it. */
export type Notice =
  | PartialWords
  | DialledCallState
  | DialledAnswer
  | RecordingNotice
  | TranscriptionNotice
  | StreamNotice
  | TranscriptNotice
  | LateResult
  | ConferenceNotice;

/** The result of a verb whose program does not go on. */
export interface LateResult {
  readonly of: 'result';
  readonly result: VerbResult;
}

export type ConferenceHappening =
  | 'start'
  | 'end'
  | 'join'
  | 'leave'
  | 'mute'
  | 'unmute'
  | 'hold'
  | 'unhold'
  | 'modify'
  | 'speech-start'
  | 'speech-stop'
  | 'announcement-end'
  | 'announcement-fail';

export interface ConferenceNotice {
  readonly of: 'conference';
  readonly happening: ConferenceHappening;
  readonly room: string;
  /** Counts from 1 within the room. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly member?: MemberView | undefined;
  /** In `end`. */
  readonly reason?: RoomReason | undefined;
  /** In `end`: id of the call that has ended the room by leaving; undefined: none has. */
  readonly by?: string | undefined;
}

export interface DialResult {
  readonly of: 'dial';
  readonly status: DialStatus;
  readonly isBridged: boolean;
  /** Id of the call that was joined, or of the last one that was placed; absent: none was. */
  readonly call?: string | undefined;
  /** From the answer of that call to its end; absent: it was not joined. */
  readonly durationMs?: number | undefined;
  /** Call-ID of that call. */
  readonly sipCallId?: string | undefined;
  /** Status of its final response. */
  readonly sipStatus?: number | undefined;
  /** Name of the recording; absent: there is none. */
  readonly recording?: string | undefined;
}

/** A recording has begun, is whole, or there is none. */
export interface RecordingNotice {
  readonly of: 'recording';
  readonly status: 'in-progress' | 'completed' | 'absent';
  /** Its name; undefined: there never was one. */
  readonly recording: string | undefined;
  readonly durationMs: number;
  /** Milliseconds since 1970; undefined: it never began. */
  readonly startedMs: number | undefined;
  readonly channels: 1 | 2;
  /** The verb that has made it. */
  readonly source: 'record' | 'start' | 'dial' | 'conference';
  readonly track: 'inbound' | 'outbound' | 'both';
  /** The room whose mix it has; absent: it has a call. */
  readonly room?: string | undefined;
}

/** A stream to a bot has begun, or is over. */
export interface StreamTold {
  readonly event: 'stream-started' | 'stream-stopped' | 'stream-error';
  readonly streamSid: string;
  readonly error?: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface StreamNotice extends StreamTold {
  readonly of: 'stream';
  readonly name: string | undefined;
}

/** Somebody has said something, or the transcript has begun or is over. */
export interface TranscriptNotice {
  readonly of: 'transcript';
  readonly event: 'started' | 'content' | 'stopped';
  readonly name: string | undefined;
  /** Counts from 0 within the transcript. */
  readonly number: number;
  readonly side?: 'caller' | 'server';
  readonly label?: string | undefined;
  readonly text?: string | undefined;
  readonly isFinal?: boolean;
  /** BCP 47 tag. */
  readonly language?: string | undefined;
}

/** The text of a recording. */
export interface TranscriptionNotice {
  readonly of: 'transcription';
  readonly recording: string;
  readonly text: string;
  readonly status: 'completed' | 'failed';
}

/** The words of a gather so far. */
export interface PartialWords {
  readonly of: 'partial';
  readonly text: string;
  /** Counts from 0 within the gather. */
  readonly number: number;
}

/** A call that a dial has placed is in this state. The notice is about that call. */
export interface DialledCallState {
  readonly of: 'dialled';
  readonly state: DialledState;
  /** Counts from 0 within the call. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The end of the call; absent: it goes on. */
  readonly status?: DialStatus | undefined;
  /** From the answer to the end; absent: it has not ended. */
  readonly durationMs?: number | undefined;
  /** Status of the final response; absent: there was none. */
  readonly sipStatus?: number | undefined;
}

/** The detected kind of answerer of a call that a dial has placed. */
export interface DialledAnswer {
  readonly of: 'dialled answer';
  readonly by: AnsweredBy;
  /** From the answer to the decision. */
  readonly ms: number;
}
