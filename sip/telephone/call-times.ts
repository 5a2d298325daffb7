// When what happened to a call: for its view and for its record.
import type { CallRecord } from '../../src/call/phone-calls.js';
import type { Time } from '../../src/time.js';

export class CallTimes {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly #time: Time;
  readonly #wallMs: () => number;
  readonly #createdMs: number;
  #setupMs: number | undefined;
  #answeredMs: number | undefined;
  #answeredAt: number | undefined;
  #firstAudioMs: number | undefined;
  #endedAt: number | undefined;

  /** The INVITE has come, or leaves. */
  constructor(time: Time, wallMs: () => number) {
    this.#time = time;
    this.#wallMs = wallMs;
    this.createdAt = wallMs();
    this.#createdMs = time.now();
  }

  get answered(): boolean {
    return this.#answeredMs !== undefined;
  }

  /** The INVITE has its final response; the first time counts. */
  settled(): void {
    this.#setupMs ??= this.#time.now() - this.#createdMs;
  }

  established(): void {
    this.settled();
    this.#answeredMs = this.#time.now();
    this.#answeredAt = this.#wallMs();
  }

  /** Speech begins; what was heard before the answer does not count. */
  spoke(): void {
    if (this.#answeredMs !== undefined) this.#firstAudioMs ??= this.#time.now() - this.#answeredMs;
  }

  ended(): void {
    this.#endedAt ??= this.#wallMs();
  }

  get view(): Pick<CallRecord, 'answeredAt'> & { readonly createdAt: number; readonly endedAt?: number } {
    return {
      createdAt: this.createdAt,
      ...(this.#answeredAt === undefined ? {} : { answeredAt: this.#answeredAt }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
    };
  }

  get record(): Pick<CallRecord, 'startedAt' | 'answeredAt' | 'endedAt' | 'setupMs' | 'firstAudioMs'> {
    const { createdAt: startedAt, endedAt = this.#wallMs(), answeredAt } = this.view;
    return {
      startedAt,
      endedAt,
      ...(answeredAt === undefined ? {} : { answeredAt }),
      ...(this.#setupMs === undefined ? {} : { setupMs: this.#setupMs }),
      ...(this.#firstAudioMs === undefined ? {} : { firstAudioMs: this.#firstAudioMs }),
    };
  }
}
