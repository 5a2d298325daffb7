// The dialects in which a WebSocket asks for speech without a call.
import type { SentenceSpeaker } from '../../speaking/spoken-sentences.js';
import type { Time } from '../../time.js';
import type { Dialect } from './dialect.js';
import { elevenLabsDialects } from '../elevenlabs/elevenlabs-dialects.js';
import { legacySocket } from '../legacy/legacy-socket.js';
import type { MannerLimits } from './manner-fields.js';
import { omniSocket } from '../omni/omni-socket.js';
import type { FailureNote } from './told-error.js';

export interface SpeechSocketLimits extends MannerLimits {
  /** UTF-16 units of one text. */
  readonly maxTextLength: number;
  /** Texts that may wait behind the one being spoken. */
  readonly maxWaitingUtterances: number;
}

export interface SpeechSocketParts {
  readonly speaker: SentenceSpeaker;
  readonly limits: SpeechSocketLimits;
  readonly time: Time;
  /** Names of voices by the ids that ElevenLabs' clients send. */
  readonly elevenLabsVoices?: ReadonlyMap<string, string>;
  /** Throws MODEL_UNKNOWN where a text may not name its model so. */
  readonly checkModel: (name: string | undefined) => void;
  /** Told of every failure that is not the peer's. */
  readonly failed: FailureNote;
  /** Milliseconds from the arrival of a text to its first sound, where nothing was being spoken. */
  readonly firstSound: (ms: number) => void;
}

export function speechDialects(parts: SpeechSocketParts): readonly Dialect[] {
  const { limits, elevenLabsVoices } = parts;
  const { maxTextLength } = limits;
  const voices = elevenLabsVoices === undefined ? {} : { voices: elevenLabsVoices };
  return [
    legacySocket(parts),
    omniSocket(parts),
    ...elevenLabsDialects({ ...parts, ...voices, maxTextLength }),
  ];
}
