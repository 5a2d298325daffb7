// The calls that a program places, in a test: it says what becomes of them.
import type { BridgeReason } from '../../src/call/bridge.js';
import type { HandledCall } from '../../src/call/call-handler.js';
import type {
  PhoneCallEnd,
  PhoneCallEvent,
  PhoneCallRequest,
  PhoneCallState,
  PhoneCallView,
} from '../../src/call/phone-calls.js';
import type { ProgramCalls } from '../../src/ivr/scene.js';

interface Placed {
  readonly request: PhoneCallRequest;
  readonly view: PhoneCallView;
  onEvent: ((event: PhoneCallEvent) => void) | undefined;
}

export class DialledCalls implements ProgramCalls {
  readonly placed: Placed[] = [];
  /** What was done, in order. */
  readonly orders: string[] = [];
  /** Why programs may not dial. */
  reason: string | undefined;
  /** Rejects the calls to this destination. */
  readonly refused = new Map<string, Error>();
  /** The legs of calls that were answered. */
  readonly legs = new Map<string, HandledCall>();
  #endBridge: ((reason: BridgeReason) => void) | undefined;
  #events = 0;

  problem(): string | undefined {
    return this.reason;
  }

  async place(request: PhoneCallRequest): Promise<PhoneCallView> {
    const { to, from = '' } = request;
    const error = this.refused.get(to);
    if (error !== undefined) throw error;
    const id = `to ${to}`;
    const view = {
      id,
      direction: 'outbound',
      state: 'dialling',
      to,
      from,
      createdAt: 1000,
      callId: `dialog ${to}`,
      digits: [],
    } as const;
    this.placed.push({ request, view, onEvent: undefined });
    this.orders.push(`place ${to}`);
    return view;
  }

  follow(id: string, onEvent: (event: PhoneCallEvent) => void): () => void {
    const placed = this.#of(id);
    placed.onEvent = onEvent;
    return () => (placed.onEvent = undefined);
  }

  find(id: string): HandledCall {
    return this.legs.get(id) ?? ({ call: { id }, leg: undefined } as unknown as HandledCall);
  }

  hangUp(id: string): void {
    this.orders.push(`hang up ${this.#of(id).request.to}`);
  }

  ring(): () => void {
    this.orders.push('ring back');
    return () => void this.orders.push('silent');
  }

  join(_caller: HandledCall, { call }: HandledCall, { endKey }: { endKey?: string | undefined }) {
    this.orders.push(`join ${this.#of(call.id).request.to}${endKey === undefined ? '' : ` until ${endKey}`}`);
    return new Promise<BridgeReason>((resolve) => (this.#endBridge = resolve));
  }

  part(): void {
    this.orders.push('part');
    this.endBridge('parted');
  }

  unixMs(): number {
    return 5000;
  }

  /** The bridge ends, if there is one. */
  endBridge(reason: BridgeReason): void {
    this.#endBridge?.(reason);
  }

  /** The call to this destination has this state now. */
  state(to: string, state: PhoneCallState, end?: PhoneCallEnd): void {
    const more = end === undefined ? {} : { end };
    this.#of(`to ${to}`).onEvent?.({ id: ++this.#events, at: 2000, type: 'state', state, ...more });
  }

  #of(id: string): Placed {
    const placed = this.placed.find(({ view }) => view.id === id);
    if (placed === undefined) throw new TypeError(`no call was placed ${id}`);
    return placed;
  }
}
