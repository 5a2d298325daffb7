// Recordings of the REST API: each under its SID, for the API key that its call belongs to.
// https://www.twilio.com/docs/voice/api/recording
import { mayUseRecording } from '../../call/switchboard.js';
import type { RecordingView } from '../../recording/call-recording.js';
import type { NamedRecording } from '../../recording/recording-name.js';
import { callSid, recordingSid } from '../twiml/sids.js';
import { accountPath, API_VERSION, restDate } from './call-resource.js';
import type { RecordedCalls } from './followed-call.js';
import { type RestCalls, recordingOff } from './rest-calls.js';
import { notFound, NUMBERS, RestError } from './rest-error.js';

/** Name of the API key that asks; undefined: the server has no keys. */
type Key = string | undefined;

const STATES = {
  recording: 'in-progress',
  paused: 'paused',
  stopping: 'stopped',
  stopped: 'stopped',
} as const;
/** The SID of the recording in progress. */
const CURRENT = 'Twilio.CURRENT';

export class RecordingResources {
  readonly #calls: RestCalls;

  constructor(calls: RestCalls) {
    this.#calls = calls;
  }

  /** Throws RECORDING_OFF. */
  get #recorded(): RecordedCalls {
    const { recorded } = this.#calls;
    if (recorded === undefined) throw recordingOff();
    return recorded;
  }

  /** Newest first. @param call SID; undefined: those of all calls */
  async list(key: Key, call?: string): Promise<readonly NamedRecording[]> {
    const names = await this.#recorded.folder.names((owner) => mayUseRecording(key, owner));
    return call === undefined ? names : names.filter((named) => callSid(named.call) === call);
  }

  /** Rejects with a RestError if there is no such recording for the key. */
  async find(sid: string, key: Key, call?: string): Promise<NamedRecording> {
    const found = (await this.list(key, call)).find(({ name }) => recordingSid(name) === sid);
    if (found === undefined) throw notFound('recording');
    return found;
  }

  /** Undefined: it was deleted meanwhile. */
  async json(named: NamedRecording, account: string, origin: string): Promise<object | undefined> {
    const { folder } = this.#recorded;
    if (folder.isOpen(named.name)) return recordingJson(named, 'in-progress', undefined, { account, origin });
    const stored = await folder.find(named.name);
    return stored && recordingJson(named, 'completed', stored.durationMs, { account, origin });
  }

  /** Rejects with a RestError. */
  async remove(sid: string, key: Key, call?: string): Promise<void> {
    const { name } = await this.find(sid, key, call);
    const { folder } = this.#recorded;
    if (folder.isOpen(name))
      throw new RestError(
        409,
        NUMBERS.inProgress,
        'the recording is in progress; stop it before you delete it',
      );
    if (!(await folder.remove(name))) throw notFound('recording');
  }

  /** The file of a recording that is over. Rejects with a RestError. */
  async file(sid: string, key: Key): Promise<{ readonly named: NamedRecording; readonly path: string }> {
    const named = await this.find(sid, key);
    const path = await this.#recorded.folder.fileOf(named.name);
    if (path === undefined) throw notFound('file of the recording');
    return { named, path };
  }

  /** Pauses, resumes or stops the recording of a call. Rejects with a RestError. */
  async change(
    call: string,
    sid: string,
    status: 'paused' | 'in-progress' | 'stopped',
    key: Key,
  ): Promise<RecordingView> {
    const { id } = this.#calls.get(call, key);
    const recorder = this.#recorded.recorder.recordingOf(id, key);
    const name = recorder?.view?.name;
    if (recorder === undefined || name === undefined || (sid !== CURRENT && recordingSid(name) !== sid))
      throw notFound('recording in progress');
    if (status === 'paused') return recorder.pause();
    return status === 'in-progress' ? recorder.resume() : recorder.stop();
  }
}

interface Asking {
  readonly account: string;
  readonly origin: string;
}

export function viewJson(view: RecordingView, asking: Asking): object {
  const { name, call, startedMs, format, state, durationMs } = view;
  const named = { name, call, startedMs, format, owner: undefined };
  return recordingJson(named, STATES[state], state === 'stopped' ? durationMs : undefined, asking);
}

/** @param durationMs undefined: it is not over */
function recordingJson(
  { name, call, startedMs }: NamedRecording,
  status: string,
  durationMs: number | undefined,
  { account, origin }: Asking,
): object {
  const sid = recordingSid(name);
  const path = `${accountPath(account)}/Recordings/${sid}`;
  return {
    sid,
    account_sid: account,
    api_version: API_VERSION,
    call_sid: callSid(call),
    conference_sid: null,
    status,
    source: 'StartCallRecordingAPI',
    channels: null,
    track: 'both',
    duration: durationMs === undefined ? null : String(Math.round(durationMs / 1000)),
    start_time: restDate(startedMs),
    date_created: restDate(startedMs),
    date_updated: restDate(startedMs + (durationMs ?? 0)),
    price: null,
    price_unit: 'USD',
    error_code: null,
    encryption_details: null,
    uri: `${path}.json`,
    media_url: `${origin}${path}`,
    subresource_uris: {},
  };
}
