// The settings of a talk that a client steers. The client may change them while it lasts.
import type { ExpectedSpeech } from '../call/caller-texts.js';
import type { HearingSettings } from '../config/hearing-config.js';
import type { ChatTool } from './chat-model.js';

export interface TalkSettings {
  /** In place of the agent's prompt. */
  readonly prompt: string | undefined;
  readonly voice: string | undefined;
  /** BCP 47 tag of what is spoken; undefined: it is found in each text. */
  readonly language: string | undefined;
  /** Factor of the voice's own pace. */
  readonly pace: number;
  /** False: responses are text only. */
  readonly isSpoken: boolean;
  /** Each turn of the caller is answered. */
  readonly answersTurns: boolean;
  /** The caller's speech interrupts the voice. */
  readonly isInterruptible: boolean;
  /** Milliseconds after which a caller who says nothing is addressed; undefined: never. */
  readonly idleMs: number | undefined;
  /** With `endedByHand` the client ends the turns of the caller, who is not answered by itself. */
  readonly hearing: Partial<HearingSettings>;
  readonly expected: ExpectedSpeech;
  /** Functions of the client, which the agent's model may call. */
  readonly tools: readonly ChatTool[];
}

export function isByHand({ hearing }: Pick<TalkSettings, 'hearing'>): boolean {
  return hearing.endedByHand === true;
}
