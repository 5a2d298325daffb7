// The events of all calls, for applications that follow the whole server: GET /v1/events. The latest are
// kept, so that an application which was cut off misses none.
import { attempt } from '../errors.js';
import type { JoinEvent } from './call-events.js';
import { mayUseCall } from './switchboard.js';
import type { RecordingEvent } from '../recording/call-recording.js';

export interface CallSummary {
  readonly direction: 'inbound' | 'outbound';
  readonly protocol?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly displayName?: string | undefined;
  /** As SIP_CALL_HEADERS lets them through. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Call-ID of SIP. */
  readonly callId?: string | undefined;
  /** Name of the rule that answers an inbound telephone call; while a decision is awaited, without one. */
  readonly route?: string | undefined;
}

export type ServerEvent =
  /** A call waits for a decision, for so long. */
  | {
      readonly type: 'call.incoming';
      readonly incoming: string;
      /** Id of the call once it is answered; absent where it is not known. */
      readonly call?: string | undefined;
      readonly decideMs: number;
      readonly about: CallSummary;
    }
  | { readonly type: 'call.started'; readonly call: string; readonly about: CallSummary }
  | {
      readonly type: 'call.ended';
      readonly call: string;
      readonly about?: CallSummary;
      readonly reason: string;
    }
  /** The recording of the room of this name. */
  | { readonly type: RecordingEvent['type']; readonly room: string; readonly recording: RecordingEvent }
  /** A call was joined to others, or parted from them. */
  | { readonly type: JoinEvent['type']; readonly call: string; readonly event: JoinEvent };

interface NumberedServerEvent {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly event: ServerEvent;
}

interface Kept extends NumberedServerEvent {
  /** Name of the API key that it is for; undefined: every key. */
  readonly owner: string | undefined;
}

interface Follower {
  readonly key: string | undefined;
  readonly onEvent: (event: NumberedServerEvent) => void;
}

const MOST_KEPT = 1000;

export class ServerEvents {
  readonly #unixMs: () => number;
  readonly #kept: Kept[] = [];
  readonly #followers = new Set<Follower>();
  #count = 0;

  /** `unixMs`: milliseconds since 1970. */
  constructor(unixMs: () => number) {
    this.#unixMs = unixMs;
  }

  add(event: ServerEvent, owner: string | undefined): void {
    const kept: Kept = { id: ++this.#count, at: this.#unixMs(), event, owner };
    this.#kept.push(kept);
    if (this.#kept.length > MOST_KEPT) this.#kept.shift();
    for (const { key, onEvent } of this.#followers)
      if (mayUseCall(key, owner)) attempt({ work: 'call events' }, () => onEvent(kept));
  }

  /** Somebody with this key follows now. */
  isFollowedBy(owner: string): boolean {
    return [...this.#followers].some(({ key }) => key === undefined || key === owner);
  }

  /**
   * Passes the events after the one of this id to `onEvent`, and then each new one, until the returned
   * function is called. `key`: name of the API key that asks; undefined: any.
   */
  follow(key: string | undefined, after: number, onEvent: Follower['onEvent']): () => void {
    const from = after > this.#count ? 0 : after; // an id of before a restart
    for (const kept of this.#kept) if (kept.id > from && mayUseCall(key, kept.owner)) onEvent(kept);
    const follower = { key, onEvent };
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Id of the latest event. */
  get latest(): number {
    return this.#count;
  }
}
