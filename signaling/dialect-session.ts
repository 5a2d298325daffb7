// The session of a page whose data channel speaks a protocol of src/api. It carries messages: it limits their
// rate, keeps those that the page has missed, and outlives each channel as the call does.
import type { Call } from '../src/call/call.js';
import type { ChannelClient, ChannelTalk } from '../src/call/call-handler.js';
import { MessageRate } from '../src/call/client-limits.js';
import { ParleyError } from '../src/errors.js';
import type { Time } from '../src/time.js';
import type { ChannelSession } from './browser-connection.js';
import type { DataChannelLimits } from './data-channel.js';
import { Outbox, type TextChannel } from './outbox.js';
import type { Log } from '../src/log.js';

interface DialectSessionParts {
  readonly limits: Pick<DataChannelLimits, 'messages'>;
  readonly time: Time;
  readonly log: Log;
}

const FLOOD_ERROR_EVERY_MS = 1000; // at most one error a second

export class DialectSession implements ChannelSession {
  readonly #limits: DialectSessionParts['limits'];
  readonly #time: Time;
  readonly #rate: MessageRate;
  readonly #outbox: Outbox;
  readonly #talk: ChannelTalk;
  #nextFloodErrorMs = -Infinity;
  #isClosed = false;

  constructor(
    call: Pick<Call, 'id' | 'close'>,
    open: (client: ChannelClient) => ChannelTalk,
    { limits, time, log }: DialectSessionParts,
  ) {
    this.#limits = limits;
    this.#time = time;
    this.#rate = new MessageRate(limits.messages, time.now());
    this.#outbox = new Outbox({
      call,
      log,
      onUnread: () => this.close(),
      noticeOf: (error) => this.#talk.errorMessage(error),
    });
    this.#talk = open({ send: (message) => this.#outbox.send(message) });
  }

  attach(channel: TextChannel): void {
    this.#outbox.attach(channel);
  }

  detach(channel: TextChannel): void {
    this.#outbox.detach(channel);
  }

  hold(isHeld: boolean): void {
    this.#outbox.hold(isHeld);
  }

  receive(data: unknown): void {
    if (this.#isClosed) return;
    const nowMs = this.#time.now();
    if (this.#rate.admits(nowMs)) return this.#talk.receive(data);
    this.#talk.missed?.();
    if (nowMs < this.#nextFloodErrorMs) return;
    this.#nextFloodErrorMs = nowMs + FLOOD_ERROR_EVERY_MS;
    const message = `more than ${this.#limits.messages.perSecond} messages a second: this one was not read`;
    this.#outbox.send(this.#talk.errorMessage(new ParleyError('QUEUE_FULL', message)));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#talk.close();
    this.#outbox.close();
  }
}
