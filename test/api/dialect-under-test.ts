// A conversation with a script behind it and a recording in front of it.
import type { Conversation, Dialect } from '../../src/api/http/socket-dialect.js';
import type { SpeechSocketParts } from '../../src/api/http/speech-sockets.js';
import { SpokenSentences } from '../../src/speaking/spoken-sentences.js';
import { ParleyError } from '../../src/errors.js';
import { InstantEngine } from '../fakes/engines.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { RecordedPeer } from './recorded-peer.js';
import { ScriptedSpeech } from './scripted-speech.js';

const LIMITS = { maxTextLength: 100, maxWaitingUtterances: 2, maxNewTokens: 2048, textIdleMs: 1000 };

export interface DialectUnderTest {
  readonly speech: ScriptedSpeech;
  readonly peer: RecordedPeer;
  readonly time: ManualTime;
  readonly conversation: Conversation;
  /** Codes of failures that went to the log, each with its request. */
  readonly failures: string[];
  readonly firstSounds: number[];
  say(...messages: (object | string)[]): void;
  /** Resolves with all messages since the last time, once there are so many. */
  received(count: number): Promise<(Record<string, unknown> | string)[]>;
}

export function openDialect(make: (parts: SpeechSocketParts) => Dialect): DialectUnderTest {
  const speech = new ScriptedSpeech();
  const time = new ManualTime(100);
  const routing = new InstantEngine({ languages: ['en', 'fr'] });
  const failures: string[] = [];
  const firstSounds: number[] = [];
  const dialect = make({
    speaker: new SpokenSentences({ speech, routing, limits: LIMITS, time }),
    limits: LIMITS,
    time,
    checkModel: (name) => {
      if (name === 'unknown')
        throw new ParleyError('MODEL_UNKNOWN', 'there is no such model', { field: 'model' });
    },
    failed: ({ code }: ParleyError, requestId) => void failures.push(`${requestId} ${code}`),
    firstSound: (ms) => void firstSounds.push(ms),
  });
  const peer = new RecordedPeer();
  const conversation = dialect.open(peer, {
    url: new URL(`ws://somewhere${dialect.path}`),
    params: {},
    client: 'key 0',
    requestId: 'req_1',
    authorize: () => true,
  });
  return {
    speech,
    peer,
    time,
    conversation,
    failures,
    firstSounds,
    say: (...messages) => {
      for (const message of messages) {
        conversation.message(typeof message === 'string' ? message : JSON.stringify(message));
      }
    },
    received: async (count) => {
      await until(() => peer.messages.length >= count);
      return peer.taken();
    },
  };
}
