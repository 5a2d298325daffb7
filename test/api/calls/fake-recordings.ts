// Fakes of recordings: calls whose recorder notes what is asked of it, and a folder that the test fills.
import type { RecordingParts } from '../../../src/api/calls/recording-routes.js';
import type {
  CallRecorder,
  Recorder,
  RecordingView,
  StartRecording,
} from '../../../src/recording/call-recording.js';
import type { ParleyError } from '../../../src/errors.js';

class FakeRecorder implements CallRecorder {
  readonly asked: (readonly [name: string, options?: StartRecording])[] = [];
  /** Thrown by whatever is asked next, while it is there. */
  refusal: ParleyError | undefined;
  view: RecordingView;

  constructor(call: string) {
    const name = `20261118T101112123Z_${call}_all_01020304.wav`;
    const startedMs = Date.UTC(2026, 10, 18, 10, 11, 12, 123);
    this.view = { call, name, format: 'wav', state: 'recording', startedMs, durationMs: 0, bytes: 44 };
  }

  async start(options: StartRecording): Promise<RecordingView> {
    return this.#note('start', {}, options);
  }

  pause(): RecordingView {
    return this.#note('pause', { state: 'paused' });
  }

  resume(): RecordingView {
    return this.#note('resume', { state: 'recording' });
  }

  async stop(): Promise<RecordingView> {
    return this.#note('stop', { state: 'stopped', reason: 'stopped', durationMs: 1500.0625, bytes: 96_048 });
  }

  #note(name: string, changes: Partial<RecordingView>, options?: StartRecording): RecordingView {
    if (this.refusal !== undefined) throw this.refusal;
    this.asked.push(options === undefined ? [name] : [name, options]);
    this.view = { ...this.view, ...changes };
    return this.view;
  }
}

export class FakeRecordings implements RecordingParts {
  /** Calls by id, with the name of the key that may use them; undefined: every key. */
  readonly calls = new Map<string, { readonly recorder: FakeRecorder; readonly owner?: string }>();
  folder: RecordingParts['folder'] = {
    list: () => Promise.resolve({ recordings: [], hasMore: false }),
    find: () => Promise.resolve(undefined),
    fileOf: () => Promise.resolve(undefined),
    remove: () => Promise.resolve(false),
    isOpen: () => false,
  };
  readonly recorder: Recorder = {
    recordingOf: (id, key) => {
      const call = this.calls.get(id);
      const isAllowed = key === undefined || call?.owner === undefined || call.owner === key;
      return isAllowed ? call?.recorder : undefined;
    },
  };

  addCall(id: string, owner?: string): FakeRecorder {
    const recorder = new FakeRecorder(id);
    this.calls.set(id, { recorder, ...(owner === undefined ? {} : { owner }) });
    return recorder;
  }
}
