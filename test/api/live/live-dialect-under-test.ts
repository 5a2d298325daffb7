// Opens a dialect of live transcription with a scripted recogniser and scripted voice activity.
import type { TestContext } from 'node:test';
import type { LiveSocketParts } from '../../../src/api/live/live-socket-parts.js';
import type { SocketHandler, Dialect, Peer } from '../../../src/api/http/socket-dialect.js';
import { ParleyError } from '../../../src/errors.js';
import { LiveTranscriber } from '../../../src/transcribing/live-transcriber.js';
import { HEARING_SETTINGS } from '../../fakes/hearing-settings.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { ScriptedActivity, type ScriptedStream } from '../../transcribing/scripted-activity.js';
import { ScriptedRecogniser, type ScriptedSession } from '../../transcribing/scripted-recogniser.js';

type Message = Readonly<Record<string, unknown>>;

interface LiveDialectUnderTest {
  readonly recogniser: ScriptedRecogniser;
  readonly activity: ScriptedActivity;
  readonly time: ManualTime;
  readonly conversation: SocketHandler;
  readonly failures: string[];
  readonly closedWith: (readonly [number, string])[];
  /** JSON messages and sound, in order. */
  say(...messages: (object | string | Uint8Array)[]): void;
  /** Messages since the last time. */
  taken(): Message[];
  session(index?: number): ScriptedSession;
  stream(index?: number): ScriptedStream;
}

export function openLiveDialect(
  t: TestContext,
  make: (parts: LiveSocketParts) => Dialect,
  query = '',
  secret?: string,
): LiveDialectUnderTest {
  const recogniser = new ScriptedRecogniser();
  const activity = new ScriptedActivity();
  const time = new ManualTime();
  const failures: string[] = [];
  const closedWith: (readonly [number, string])[] = [];
  const messages: Message[] = [];
  const live = new LiveTranscriber({ recogniser, activity, settings: HEARING_SETTINGS, time });
  const dialect = make({
    live,
    checkModel: (name) => {
      if (name === 'unknown')
        throw new ParleyError('MODEL_UNKNOWN', 'there is no such model', { field: 'model' });
    },
    time,
    failed: ({ code }, requestId) => void failures.push(`${requestId} ${code}`),
    finalText: () => undefined,
  });
  const peer: Peer = {
    send: (message) => void messages.push(JSON.parse(String(message)) as Message),
    drained: () => Promise.resolve(),
    unreadBytes: 0,
    close: (...why) => void closedWith.push(why),
  };
  const handshake = {
    url: new URL(`ws://somewhere${dialect.path}${query}`),
    params: {},
    client: 'key 0',
    requestId: 'req_12345678',
    secret,
    authorize: () => true,
  };
  dialect.check?.(handshake);
  const conversation = dialect.open(peer, handshake);
  t.after(() => conversation.closed());
  const at = <T>(all: readonly T[], index: number): T => {
    const one = all[index];
    if (one === undefined) throw new Error(`there are ${all.length} only`);
    return one;
  };
  return {
    recogniser,
    activity,
    time,
    conversation,
    failures,
    closedWith,
    say: (...all) => {
      for (const message of all) {
        const isRaw = typeof message === 'string' || message instanceof Uint8Array;
        conversation.message(isRaw ? message : JSON.stringify(message));
      }
    },
    taken: () => messages.splice(0),
    session: (index = 0) => at(recogniser.opened, index),
    stream: (index = 0) => at(activity.streams, index),
  };
}

/** Seconds of s16le sound at a rate. */
export function sound(seconds: number, rate = 16_000): Buffer {
  return Buffer.alloc(2 * Math.round(seconds * rate));
}

export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
