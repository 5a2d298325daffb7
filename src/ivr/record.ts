// Records the caller, as a voicemail does: a beep, then the caller alone in a file of its own, beside any
// recording of the call.
//
//   beep ──▶ recording ──┬─ finish key, silence, longest time ──▶ file is whole ──▶ action
//                        ├─ the call ends ─────────────────────▶ file is whole ──▶ action is told at the end
//                        └─ silence, and nothing was said ─────▶ no file, and the next verb
//
// Silence is time without speech. Keys that were pressed before the beep has ended do not count.
import type { Call } from '../call/call.js';
import type { CallEvent } from '../call/call-events.js';
import { asParleyError, isAborted } from '../errors.js';
import type { CallRecording, RecordingView } from '../recording/call-recording.js';
import type { KeptSound } from '../recording/recording-messages.js';
import { warningOf } from './door.js';
import type { Outcome, Scene } from './scene.js';
import type { RecordingNotice, RecordVoice, VerbResult } from './verbs.js';

type RecordedCall = Pick<Call, 'recording' | 'hear' | 'observe' | 'interrupt'>;
type Ended = { readonly by: 'key'; readonly key: string } | { readonly by: 'silence' | 'length' | 'hangup' };

/** Sound before the onset of speech that its file keeps. */
const MARGIN_MS = 250;
const TRANSCRIBED_MS = [2000, 120_000] as const;

export async function record(verb: RecordVoice, scene: Scene): Promise<Outcome> {
  const { call } = await scene.answered();
  return new VoiceRecording(verb, call, scene).outcome();
}

class VoiceRecording {
  readonly #verb: RecordVoice;
  readonly #call: RecordedCall;
  readonly #scene: Scene;
  /** Undone at the end. */
  readonly #stop: (() => void)[] = [];
  /** Milliseconds since 1970 at which speech began first. */
  #onsetAt: number | undefined;
  #isSpeaking = false;
  /** Monotonic times: the beginning of the recording, and the end of the latest speech. */
  #beganMs = 0;
  #stoppedMs: number | undefined;
  #view: RecordingView | undefined;
  #isHeard = false;
  #cancelSilence = (): void => undefined;
  #end: ((ended: Ended) => void) | undefined;

  constructor(verb: RecordVoice, call: RecordedCall, scene: Scene) {
    this.#verb = verb;
    this.#call = call;
    this.#scene = scene;
  }

  async outcome(): Promise<Outcome> {
    try {
      this.#hear();
      const recorder = await this.#begin();
      if (recorder === undefined) return 'next';
      const ended = await this.#ended();
      this.#cancelSilence();
      return await this.#finish(recorder, ended);
    } finally {
      for (const stop of this.#stop) stop();
    }
  }

  /** Without ears, silence does not end the recording, and none is cut off. */
  #hear(): void {
    const { timeoutMs, trims } = this.#verb;
    this.#stop.push(this.#call.observe((event) => this.#heard(event)));
    if (timeoutMs === 0 && !trims) return;
    try {
      this.#stop.push(this.#call.hear());
      this.#isHeard = true;
    } catch (error) {
      this.#scene.warn(warningOf(asParleyError(error, 'CALL_STATE')));
    }
  }

  /** Undefined: nothing can be recorded, or the verb has to stop. */
  async #begin(): Promise<CallRecording | undefined> {
    const { keys, signal, time } = this.#scene;
    const early = () => undefined;
    const cut = () => void this.#call.interrupt('call program');
    keys.take(early);
    signal.addEventListener('abort', cut, { once: true });
    try {
      const recorder = this.#call.recording.beside(() => this.#kept());
      this.#view = await recorder.start({ format: 'wav', announce: this.#verb.beeps ? 'beep' : 'none' });
      this.#beganMs = time.now();
      this.#tell('in-progress');
      return recorder;
    } catch (error) {
      if (signal.aborted || isAborted(error)) return undefined;
      this.#scene.warn(warningOf(error));
      this.#tell('absent');
      return undefined;
    } finally {
      signal.removeEventListener('abort', cut);
      keys.release(early);
    }
  }

  #ended(): Promise<Ended> {
    const { signal, keys, time } = this.#scene;
    return new Promise((resolve) => {
      this.#end = resolve;
      const aborted = () => resolve({ by: 'hangup' });
      if (signal.aborted) return aborted();
      signal.addEventListener('abort', aborted, { once: true });
      const taker = (key: string) => {
        if (this.#verb.finishKeys.includes(key)) resolve({ by: 'key', key });
      };
      this.#stop.push(
        () => signal.removeEventListener('abort', aborted),
        time.after(this.#verb.mostMs, () => resolve({ by: 'length' })),
        () => keys.release(taker),
      );
      keys.take(taker);
      return this.#awaitSpeech();
    });
  }

  #awaitSpeech(): void {
    this.#cancelSilence();
    const { timeoutMs } = this.#verb;
    if (this.#end === undefined || this.#isSpeaking || timeoutMs === 0 || !this.#isHeard) return;
    this.#cancelSilence = this.#scene.time.after(timeoutMs, () => this.#end?.({ by: 'silence' }));
  }

  #heard(event: CallEvent): void {
    switch (event.type) {
      case 'speech.started':
        this.#isSpeaking = true;
        this.#onsetAt ??= event.onsetAt;
        return this.#cancelSilence();
      case 'speech.stopped':
        this.#isSpeaking = false;
        this.#stoppedMs = this.#scene.time.now();
        return this.#awaitSpeech();
      case 'recording.stopped':
        if (event.name === this.#view?.name)
          this.#end?.({ by: event.reason === 'call-ended' ? 'hangup' : 'length' });
        return undefined;
      case 'recording.failed':
        if (event.name === this.#view?.name) this.#end?.({ by: 'length' });
        return undefined;
      default:
        return undefined;
    }
  }

  /** From the first word to the last one. Without words the file keeps everything. */
  #kept(): KeptSound | undefined {
    const { trims } = this.#verb;
    if (!trims || this.#onsetAt === undefined || this.#view === undefined) return undefined;
    const beginMs = Math.max(0, this.#onsetAt - this.#view.startedMs - MARGIN_MS);
    if (this.#isSpeaking || this.#stoppedMs === undefined) return { beginMs };
    return { beginMs, endMs: Math.max(beginMs, this.#stoppedMs - this.#beganMs) };
  }

  async #finish(recorder: CallRecording, ended: Ended): Promise<Outcome> {
    const warn = (error: unknown) => this.#scene.warn(warningOf(error));
    // A recording that has ended by itself, or with its call, cannot be stopped any more.
    if (recorder.view?.reason === undefined) await recorder.stop().catch(warn);
    this.#view = recorder.view;
    const { reason } = this.#view ?? {};
    if (reason === undefined || reason === 'failed' || reason === 'disk-full') {
      if (reason !== undefined) this.#scene.warn({ message: 'the recording of the caller has failed' });
      this.#tell('absent');
      return 'next';
    }
    if (ended.by === 'silence' && this.#onsetAt === undefined) {
      await recorder.discard().catch(warn);
      this.#tell('absent');
      return 'next';
    }
    this.#tell('completed');
    this.#transcribe();
    if (ended.by === 'hangup') await whenAborted(this.#scene.signal);
    const { action } = this.#verb;
    if (action === undefined) return 'next';
    return { follow: action, result: this.#result(ended), isToldAtEnd: true };
  }

  #result(ended: Ended): VerbResult {
    const { name = '', durationMs = 0 } = this.#view ?? {};
    return {
      of: 'record',
      recording: name,
      durationMs,
      by: ended.by,
      key: ended.by === 'key' ? ended.key : undefined,
    };
  }

  #tell(status: RecordingNotice['status']): void {
    const { callback } = this.#verb;
    if (callback === undefined || !callback.events.includes(status)) return;
    const { name, durationMs = 0, startedMs } = this.#view ?? {};
    this.#scene.door.tell(callback.target, {
      of: 'recording',
      status,
      recording: name,
      durationMs,
      startedMs,
      channels: 1,
      source: 'record',
      track: 'inbound',
    });
  }

  /** The text comes later, even after the call. */
  #transcribe(): void {
    const { transcript } = this.#verb;
    const { name, durationMs = 0 } = this.#view ?? {};
    if (transcript === undefined || name === undefined) return;
    const { door, transcribe } = this.#scene;
    const tell = (text: string, status: 'completed' | 'failed') =>
      door.tell(transcript, { of: 'transcription', recording: name, text, status });
    const [least, most] = TRANSCRIBED_MS;
    if (transcribe === undefined || durationMs < least || durationMs > most) {
      const range = `recordings of ${least / 1000} to ${most / 1000} s are transcribed`;
      this.#scene.warn({
        message: transcribe === undefined ? 'this server has no recogniser: no text follows' : range,
      });
      return tell('', 'failed');
    }
    const failed = (error: unknown) => (this.#scene.warn(warningOf(error)), tell('', 'failed'));
    return this.#scene.lasting(transcribe(name).then((text) => tell(text, 'completed'), failed));
  }
}

async function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
