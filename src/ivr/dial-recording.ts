// The recording of a caller and of the call that it is joined with: two channels, the caller's first. It is
// the recording of the caller's call, so a call that is being recorded already is not recorded twice.
import type { Call } from '../call/call.js';
import type { CallRecording } from '../recording/call-recording.js';
import { warningOf } from './door.js';
import type { Scene } from './scene.js';
import type { RecordingCallback, RecordingNotice } from './verbs.js';

type RecordedCall = Pick<Call, 'recording' | 'isClosing'>;

export class DialRecording {
  readonly #call: RecordedCall;
  readonly #callback: RecordingCallback | undefined;
  readonly #scene: Pick<Scene, 'door' | 'warn'>;
  /** Undefined: nothing is recorded. */
  readonly #started: Promise<CallRecording | undefined>;

  /** Begins at once. */
  constructor(
    call: RecordedCall,
    callback: RecordingCallback | undefined,
    scene: Pick<Scene, 'door' | 'warn'>,
  ) {
    this.#call = call;
    this.#callback = callback;
    this.#scene = scene;
    this.#started = this.#start();
  }

  /** Its name, once its file is whole; undefined: there is none. Never rejects. */
  async end(): Promise<string | undefined> {
    const recorder = await this.#started;
    if (recorder === undefined) return undefined;
    try {
      // The end of the call completes the file. A recording that is over by itself cannot be stopped.
      if (this.#call.isClosing()) await recorder.close();
      else if (recorder.view?.reason === undefined) await recorder.stop();
    } catch (error) {
      this.#scene.warn(warningOf(error));
    }
    const { name, reason } = recorder.view ?? {};
    const isWhole = reason !== undefined && reason !== 'failed' && reason !== 'disk-full';
    this.#tell(isWhole ? 'completed' : 'absent', recorder);
    return isWhole ? name : undefined;
  }

  async #start(): Promise<CallRecording | undefined> {
    try {
      const recorder = this.#call.recording;
      await recorder.start({ format: 'wav' });
      this.#tell('in-progress', recorder);
      return recorder;
    } catch (error) {
      if (!this.#call.isClosing()) this.#scene.warn(warningOf(error));
      this.#tell('absent', undefined);
      return undefined;
    }
  }

  #tell(status: RecordingNotice['status'], recorder: CallRecording | undefined): void {
    if (this.#callback?.events.includes(status) !== true) return;
    const { name, durationMs = 0, startedMs } = recorder?.view ?? {};
    this.#scene.door.tell(this.#callback.target, {
      of: 'recording',
      status,
      recording: name,
      durationMs,
      startedMs,
      channels: 2,
      source: 'dial',
      track: 'both',
    });
  }
}
