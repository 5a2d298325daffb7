// A call that an agent conducts: the call, its queue and the encoder are real; the engine, the recogniser,
// the worker that hears, the far end and time are the test's.
import assert from 'node:assert/strict';
import type { CallParts } from '../../src/call/call.js';
import type { MediaPort } from '../../src/call/call-route.js';
import type { HandledCall } from '../../src/call/call-handler.js';
import {
  type CallerListener,
  CallerTexts,
  type ExpectedSpeech,
  writing,
} from '../../src/call/caller-texts.js';
import { CallerTurns } from '../../src/call/caller-turns.js';
import type { CallEvent } from '../../src/call/call-events.js';
import type { Recogniser } from '../../src/engines/recogniser.js';
import type { ParleyError } from '../../src/errors.js';
import type { MediaPlane } from '../../src/media/media-plane.js';
import { stated } from '../../src/stated.js';
import { type CallUnderTest, FRAME_MS, type openCalls } from '../fakes/call-under-test.js';
import { FakeHearing } from '../fakes/fake-hearing.js';
import { until } from '../fakes/until.js';

interface CallSetting {
  readonly isCallerRecognised?: boolean;
  /** It recognises the caller in place of the test's `text` and `fail`. */
  readonly recogniser?: Recogniser;
  readonly makePort?: (plane: MediaPlane) => MediaPort;
  readonly recordings?: CallParts['recordings'];
  /** Status with which transfers are refused. */
  readonly transferStatus?: number;
  /** A transfer takes so long. */
  readonly transfer?: Promise<void>;
}

export interface HandledCallUnderTest extends CallUnderTest {
  readonly handled: HandledCall;
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow' | 'conceal'>;
  readonly hearing: FakeHearing;
  /** The words of the caller are concealed now. */
  conceals(): boolean;
  /** The expectations that the recogniser was told. */
  readonly expected: (ExpectedSpeech | undefined)[];
  /** The orders to the far end. */
  readonly orders: string[];
  /** The caller speaks a whole turn of a second. */
  says(text: string): void;
  begins(): void;
  /** Ends the turn, after 600 ms of silence. */
  stops(): void;
  /** The text of a turn; final if it is over. */
  text(text: string, isFinal?: boolean): void;
  fail(error: ParleyError): void;
  /** The caller interrupts the voice, and speaks on. */
  interrupts(): void;
  count(type: CallEvent['type']): number;
  /** Lets time pass in frames until the condition holds. */
  passUntil(condition: () => boolean): Promise<void>;
  /** Resolves when the sound of a text, 20 ms a character, is in the playout but for what was sent. */
  queued(text: string): Promise<void>;
}

/** Frames after which other threads get a millisecond. */
const FRAMES_AT_ONCE = 10;

/** Lets everything happen that is due at this moment. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function openHandledCall(
  calls: ReturnType<typeof openCalls>,
  { isCallerRecognised = true, recogniser, makePort, recordings, transferStatus, transfer }: CallSetting = {},
): HandledCallUnderTest {
  const hearing = new FakeHearing();
  const under = calls.open(undefined, { hearing, ...stated({ makePort, recordings }) });
  const { call, time, port, events } = under;
  const orders: string[] = [];
  const expected: (ExpectedSpeech | undefined)[] = [];
  const listeners = new Set<CallerListener>();
  let concealers = 0;
  const turns = new CallerTurns(time, listeners);
  /** Numbers of the turns whose texts have not come. */
  const awaited: number[] = [];
  const played = {
    isCallerRecognised,
    conceal: () => {
      concealers++;
      return () => void concealers--;
    },
    follow: (_call: unknown, given: CallerListener, speech?: ExpectedSpeech) => {
      listeners.clear();
      listeners.add(speech?.smartFormat === true ? writing(given, () => speech.language) : given);
      expected.push(speech);
      return () => undefined;
    },
  };
  call.observe((event) => {
    if (event.type !== 'turn.ended') return;
    turns.ended(event);
    awaited.push(event.turn);
  });
  const callerTexts = recogniser === undefined ? played : new CallerTexts({ recogniser, time });
  const handled: HandledCall = {
    call,
    direction: 'inbound',
    from: 'sip:anna@example.com',
    to: 'sip:100@example.com',
    hangUp: async () => {
      orders.push('hang up');
      await call.close('agent hung up');
    },
    leg: {
      press: async ({ digits }) => void orders.push(`press ${digits}`),
      transfer: async ({ to, isLimited }) => {
        orders.push(isLimited === true ? `transfer ${to}, if it is allowed` : `transfer ${to}`);
        await transfer;
        return { accepted: transferStatus === undefined, status: transferStatus ?? 200 };
      },
      suspendSilence: () => () => undefined,
    },
  };
  const begins = () => hearing.report({ type: 'speech.started', atMs: time.now() });
  const stops = () => {
    const atMs = time.now();
    hearing.report({ type: 'speech.stopped', atMs, durationMs: 1000 });
    under.pass(600);
    const turn = { startedMs: atMs - 1000, speechMs: 1000, reason: 'silence' } as const;
    hearing.report({ type: 'turn.ended', atMs: time.now(), ...turn });
  };
  const text = (said: string, isFinal = true) => {
    const words = { text: said, language: 'en' };
    const number = isFinal ? (awaited.shift() ?? call.turn) : call.turn;
    for (const listener of listeners) listener.text?.({ number, ...words, isFinal, beginMs: 0, endMs: 0 });
    if (isFinal) turns.heard(number, words);
  };
  const fail = (error: ParleyError) => {
    for (const listener of listeners) listener.failed?.(error);
    for (const number of awaited.splice(0)) turns.lost(number, error);
  };
  return {
    ...under,
    handled,
    callerTexts,
    hearing,
    conceals: () => concealers > 0,
    expected,
    orders,
    begins,
    stops,
    text,
    fail,
    says: (said) => {
      begins();
      under.pass(1000);
      stops();
      text(said);
    },
    interrupts: () => {
      const [track = assert.fail('nothing may be interrupted')] = hearing.tracks;
      begins();
      port.playout.fade(track);
      hearing.report({ type: 'bargein.paused', track, onsetMs: 0, atMs: 0 });
      hearing.report({ type: 'bargein.confirmed', track, atMs: 0 });
    },
    count: (type) => events.filter((event) => event.type === type).length,
    passUntil: async (condition) => {
      await settle();
      // The encoder is a thread: time must not run away from it on a machine that is busy.
      let frames = 0;
      await until(async () => {
        if (condition()) return true;
        under.pass(FRAME_MS);
        if (++frames % FRAMES_AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        return condition();
      });
    },
    queued: async (said) => {
      await until(() => call.stats().queuedMs >= 20 * said.length - 200);
      await settle();
    },
  };
}
