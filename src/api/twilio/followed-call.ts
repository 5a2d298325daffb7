// A call that the REST API has placed or changed: it begins the call's program, keeps its time limit, and
// sends its callbacks, in order.
//
//   answered ─▶ keys are pressed ─▶ who answers is detected ─▶ the program conducts the call
import type { CallEvent } from '../../call/call-events.js';
import type { OpenCalls } from '../../call/open-calls.js';
import type { PhoneCallEvent, PhoneCalls, PhoneCallView } from '../../call/phone-calls.js';
import type { IvrConfig, ProgramSource } from '../../config/ivr-config.js';
import { asParleyError, isAborted, ParleyError } from '../../errors.js';
import { ProgramError, type Warning } from '../../ivr/door.js';
import type { Replacement } from '../../ivr/program-run.js';
import type { Programs } from '../../ivr/programs.js';
import type { Target } from '../../ivr/verbs.js';
import type { Log } from '../../log.js';
import type { Recorder, RecordingView } from '../../recording/call-recording.js';
import type { RecordingFolder } from '../../recording/recording-folder.js';
import { readRecordingName } from '../../recording/recording-name.js';
import { stated } from '../../stated.js';
import type { Time } from '../../time.js';
import { CallbackQueue } from '../twiml/callback-queue.js';
import { callParameters } from '../twiml/call-parameters.js';
import { CookieJar } from '../twiml/cookie-jar.js';
import type { DocumentFetcher } from '../twiml/document-fetch.js';
import { callSid, recordingSid, recordingUrl, type TwimlAccount } from '../twiml/sids.js';
import { parseTwiml } from '../twiml/twiml-parser.js';
import type { FormFields } from '../twiml/twiml-signature.js';
import type { Callback, CallOrder, RecordingOrder, RecordingStatus, StatusEvent } from './call-order.js';
import { durationOf, restDate, statusOf } from './call-resource.js';
import { type DetectedBy, MachineDetection } from './machine-detection.js';

export interface FollowedCallParts {
  readonly config: IvrConfig;
  readonly calls: () => PhoneCalls;
  readonly programs: Pick<Programs, 'problemOf' | 'conduct' | 'replace' | 'sourceOf'>;
  readonly openCalls: Pick<OpenCalls, 'check' | 'find'>;
  readonly fetcher: Pick<DocumentFetcher, 'fetch'>;
  readonly accountOf: (owner: string | undefined) => TwimlAccount;
  /** Undefined: this server records no calls. */
  readonly recorded: RecordedCalls | undefined;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  readonly log: Log;
}

/** The recorders of calls, and their files. */
export interface RecordedCalls {
  readonly folder: Pick<RecordingFolder, 'names' | 'find' | 'fileOf' | 'remove' | 'isOpen'>;
  readonly recorder: Recorder;
}

/** The callbacks of a call that has ended are given up so long after its end. */
const LAST_MS = 30_000;
/** Changes of the program of a call that come faster wait. The last of them counts. */
const BETWEEN_CHANGES_MS = 100;

export class FollowedCall {
  /** Resolves when the call has ended and its callbacks were sent or given up. */
  readonly over: Promise<void>;
  readonly #view: PhoneCallView;
  readonly #parts: FollowedCallParts;
  readonly #order: CallOrder | undefined;
  readonly #account: TwimlAccount;
  readonly #queue = new CallbackQueue();
  readonly #cookies = new CookieJar();
  readonly #stopFollowing: () => void;
  #statusCallback: Callback<StatusEvent> | undefined;
  #limitMs: number | undefined;
  #detection: MachineDetection | undefined;
  readonly #recordings = new Map<string, RecordingOrder>();
  #isAnswered = false;
  #isOver = false;
  #sequence = 0;
  #cancelLimit: () => void = () => undefined;
  /** The program that is to conduct the call after a pause between changes. */
  #next: ProgramSource | undefined;
  #cancelPause: (() => void) | undefined;
  #resolveOver!: () => void;

  /** @param order undefined: another door has placed the call, or it came in */
  constructor(view: PhoneCallView, order: CallOrder | undefined, parts: FollowedCallParts) {
    this.#view = view;
    this.#order = order;
    this.#parts = parts;
    this.#account = parts.accountOf(view.owner);
    this.#statusCallback = order?.statusCallback;
    this.#limitMs = order?.limitMs;
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
    if (order === undefined) this.#isAnswered = view.answeredAt !== undefined;
    else this.#tellStatus('initiated', 'initiated');
    let isPast = order === undefined; // what happened before a change does not count
    this.#stopFollowing = parts.calls().follow(view.id, 0, (event) => isPast || this.#take(event));
    isPast = false;
    if (parts.calls().get(view.id).state === 'ended' && order === undefined) this.#ended();
  }

  /** Further events are told to this callback. */
  callBack(statusCallback: Callback<StatusEvent>): void {
    this.#statusCallback = statusCallback;
  }

  /** The call ends so long after its answer. */
  limit(limitMs: number): void {
    this.#limitMs = limitMs;
    const { answeredAt } = this.#parts.calls().get(this.#view.id);
    if (answeredAt !== undefined) this.#planLimit(Math.max(0, answeredAt + limitMs - this.#parts.unixMs()));
  }

  /** The program takes the place of the one that conducts the call. Throws CALL_STATE. */
  redirect(source: ProgramSource): void {
    const { programs } = this.#parts;
    const conducted = programs.sourceOf(this.#view.id);
    if (conducted === undefined) throw new ParleyError('CALL_STATE', 'no document conducts the call');
    if (conducted.kind === 'program')
      throw new ParleyError(
        'CALL_STATE',
        'a program of IVR_FILE conducts the call, and it takes no documents',
      );
    if (this.#cancelPause !== undefined) {
      this.#next = source;
      return;
    }
    programs.replace(this.#view.id, replacementOf(source));
    this.#cancelPause = this.#parts.time.after(BETWEEN_CHANGES_MS, () => this.#paused());
  }

  /** Rejects as `CallRecorder.start` does, and with CALL_STATE for a call that does not talk. */
  async record(order: RecordingOrder): Promise<RecordingView> {
    const { id, owner } = this.#view;
    const recorder = this.#parts.recorded?.recorder.recordingOf(id, owner);
    if (recorder === undefined) throw new ParleyError('CALL_STATE', 'the call is not answered yet, or over');
    const view = await recorder.start({ format: 'wav' });
    this.#recordings.set(view.name, order);
    this.#tellRecording(view.name, 'in-progress', 0);
    return view;
  }

  /** Resolves when the callbacks were sent, or after a time. */
  async close(limitMs: number): Promise<void> {
    let cancel = (): void => undefined;
    const limit = new Promise<void>((resolve) => (cancel = this.#parts.time.after(limitMs, resolve)));
    await Promise.race([this.#queue.drained(), limit]);
    cancel();
    this.#stopFollowing();
    this.#stopTimers();
    this.#queue.close();
    this.#resolveOver();
  }

  #paused(): void {
    this.#cancelPause = undefined;
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined || this.#isOver) return;
    try {
      this.redirect(next);
    } catch (error) {
      this.#warn({ message: asParleyError(error, 'WRONG_STATE').message });
    }
  }

  #take(event: PhoneCallEvent): void {
    if (event.type === 'speech') this.#observe(event.event);
    if (event.type !== 'state') return;
    if (event.state === 'ringing') this.#tellStatus('ringing', 'ringing');
    else if (event.state === 'connected' && !this.#isAnswered) this.#answered();
    else if (event.state === 'ended') this.#ended();
  }

  #observe(event: CallEvent): void {
    if (event.type === 'answer.detected') this.#detection?.take(event);
    else if (event.type === 'recording.stopped')
      this.#tellRecording(event.name, 'completed', event.durationMs);
    else if (event.type === 'recording.failed' && event.name !== undefined)
      this.#tellRecording(event.name, 'absent', event.durationMs);
  }

  #answered(): void {
    this.#isAnswered = true;
    this.#tellStatus('answered', 'in-progress');
    if (this.#limitMs !== undefined) this.#planLimit(this.#limitMs);
    // The state is told before those who conduct calls know the call.
    void Promise.resolve().then(() => this.#begin());
  }

  async #begin(): Promise<void> {
    const order = this.#order;
    if (order === undefined) return;
    if (order.recording !== undefined) void this.#recordAll(order.recording);
    try {
      const { detection } = order;
      if (detection !== undefined) this.#detection = new MachineDetection(detection, this.#parts.time);
      if (order.digits !== undefined)
        await this.#parts.calls().press(this.#view.id, { digits: order.digits });
      let { source } = order;
      if (this.#detection !== undefined && detection !== undefined) {
        if (detection.isAsync) void this.#detection.result.then((by) => this.#tellDetected(by));
        else source = withAnswer(source, await this.#detection.result);
      }
      const { openCalls, programs } = this.#parts;
      if (!this.#isOver) programs.conduct(openCalls.check(this.#view.id, this.#view.owner), source);
    } catch (error) {
      if (!this.#isOver) this.#failed(error);
    }
  }

  /** A call that cannot be recorded goes on. */
  async #recordAll(order: RecordingOrder): Promise<void> {
    try {
      await this.record(order);
    } catch (error) {
      this.#warn({ message: `the call is not recorded: ${asParleyError(error, 'WRONG_STATE').message}` });
    }
  }

  /** Without its program the call would be silent. */
  #failed(error: unknown): void {
    const { message } = asParleyError(error, 'WRONG_STATE');
    this.#warn({ message: `the program of the call could not begin: ${message}` });
    this.#hangUp();
  }

  #planLimit(ms: number): void {
    this.#cancelLimit();
    this.#cancelLimit = this.#parts.time.after(ms, () => this.#hangUp());
  }

  #hangUp(): void {
    const { log, calls } = this.#parts;
    calls()
      .hangUp(this.#view.id)
      .catch((error: unknown) => log.warn({ call: this.#view.id, err: error }, 'call not ended'));
  }

  #ended(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTimers();
    const view = this.#parts.calls().get(this.#view.id);
    const { status } = view.end ?? {};
    this.#tellStatus('completed', statusOf(view), [
      ['CallDuration', String(durationOf(view))],
      ...(status === undefined ? [] : [['SipResponseCode', String(status)] as const]),
    ]);
    void this.close(LAST_MS);
  }

  #stopTimers(): void {
    this.#cancelLimit();
    this.#cancelPause?.();
    this.#detection?.close();
  }

  #tellStatus(event: StatusEvent, status: string, more: FormFields = []): void {
    const { target, events } = this.#statusCallback ?? {};
    if (target === undefined || events?.has(event) !== true) return;
    const { calls, unixMs } = this.#parts;
    const { protocol = 'sip', ...view } = { ...this.#view, ...calls().get(this.#view.id) };
    const about = { ...view, protocol, owner: view.owner };
    const call = { about, isAnswered: this.#isAnswered, warn: () => undefined };
    this.#send(target, [
      ...callParameters(call, this.#account.sid).filter(([name]) => name !== 'CallStatus'),
      ['CallStatus', status],
      ['Timestamp', restDate(unixMs())],
      ['CallbackSource', 'call-progress-events'],
      ['SequenceNumber', String(this.#sequence++)],
      ...more,
    ]);
  }

  #tellRecording(name: string, status: RecordingStatus, durationMs: number): void {
    const order = this.#recordings.get(name);
    if (order?.callback?.events.has(status) !== true) return;
    const startedMs = readRecordingName(name)?.startedMs ?? this.#parts.unixMs();
    this.#send(order.callback.target, [
      ['CallSid', callSid(this.#view.id)],
      ['AccountSid', this.#account.sid],
      ['RecordingSid', recordingSid(name)],
      ['RecordingUrl', recordingUrl(order.origin, this.#account.sid, name)],
      ['RecordingStatus', status],
      ['RecordingDuration', String(Math.round(durationMs / 1000))],
      ['RecordingChannels', '2'],
      ['RecordingStartTime', restDate(startedMs)],
      ['RecordingSource', order.source],
      ['RecordingTrack', 'both'],
    ]);
  }

  #tellDetected({ answeredBy, ms }: DetectedBy): void {
    const target = this.#order?.detection?.callback;
    if (target === undefined) return;
    this.#send(target, [
      ['CallSid', callSid(this.#view.id)],
      ['AccountSid', this.#account.sid],
      ['AnsweredBy', answeredBy],
      ['MachineDetectionDuration', String(ms)],
    ]);
  }

  #send(target: Target, parameters: FormFields): void {
    const { authToken } = this.#account;
    const isTaken = this.#queue.add(async (signal) => {
      try {
        const request = { kind: 'callback', target, parameters, authToken, cookies: this.#cookies } as const;
        await this.#parts.fetcher.fetch(request, signal);
      } catch (error) {
        if (isAborted(error)) return;
        const { message } = asParleyError(error, 'WRONG_STATE');
        this.#warn(error instanceof ProgramError ? error.warning : { message });
      }
    });
    if (!isTaken) this.#warn({ message: 'the callback is not sent: too many callbacks of the call wait' });
  }

  /** The log has it, and the events of a call that talks. */
  #warn(warning: Warning): void {
    const { log, openCalls } = this.#parts;
    const { id, owner } = this.#view;
    log.info({ call: id, ...warning }, 'warning of the REST API');
    try {
      openCalls.find(id, owner).call.tell({ type: 'program.warning', ...stated({ ...warning }) });
    } catch (error) {
      if (asParleyError(error, 'WRONG_STATE').code !== 'NOT_FOUND') throw error;
    }
  }
}

function replacementOf(source: ProgramSource): Replacement {
  if (source.kind === 'document') return { program: parseTwiml(source.text, undefined) };
  if (source.kind === 'twiml') return { target: { at: source.url, method: source.method } };
  throw new ParleyError('CALL_STATE', 'a program of IVR_FILE takes no place of another one');
}

function withAnswer(source: ProgramSource, { answeredBy, ms }: DetectedBy): ProgramSource {
  if (source.kind !== 'twiml') return source;
  const parameters = [
    ['AnsweredBy', answeredBy],
    ['MachineDetectionDuration', String(ms)],
  ] as const;
  return { ...source, parameters };
}
