// How much a sentence hurries: what the queue in front of an engine orders by.

/** Most urgent first. */
export const SPEECH_CLASSES = ['call', 'interactive', 'http'] as const;

/** Somebody on a line, somebody at a WebSocket, somebody who waits for a file. */
export type SpeechClass = (typeof SPEECH_CLASSES)[number];

export interface Urgency {
  readonly class: SpeechClass;
  /** Who is served a fair share: an API key or an address; of calls, the call. */
  readonly client: string;
  /** When the listener will have heard everything made so far, in milliseconds of the monotonic clock. */
  readonly deadlineMs: number;
  /** Sound of the same text was made already: a refusal now would break it off. */
  readonly begun: boolean;
  /** The server prepares a prompt, which nobody has asked for yet: it comes after everything else. */
  readonly prepared?: boolean;
}

/** Of a sentence that says nothing of itself. */
export const UNHURRIED: Urgency = { class: 'http', client: '', deadlineMs: Infinity, begun: false };
