// The calls that talk now, each with who conducts it: an agent, an application that has attached to it, or
// nobody.
import { ParleyError } from '../errors.js';
import type { HandledCall } from './call-handler.js';
import type { ServerEvents } from './server-events.js';
import { mayUseCall } from './switchboard.js';

interface OpenCall {
  readonly handled: HandledCall;
  conductor: string | undefined;
  isUsed: boolean;
}

interface OpenCallsParts {
  readonly events?: Pick<ServerEvents, 'add'> | undefined;
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (id: string) => string | undefined;
}

export class OpenCalls {
  readonly #parts: OpenCallsParts;
  readonly #calls = new Map<string, OpenCall>();

  constructor(parts: OpenCallsParts) {
    this.#parts = parts;
  }

  /** The call is open until it is closed. */
  opened(handled: HandledCall): void {
    const { id, closed, protocol } = handled.call;
    const { events, ownerOf } = this.#parts;
    const owner = ownerOf(id);
    const { direction, from, to, displayName, headers, callId, route } = handled;
    this.#calls.set(id, { handled, conductor: undefined, isUsed: false });
    const about = { direction, protocol, from, to, displayName, headers, callId, route };
    events?.add({ type: 'call.started', call: id, about }, owner);
    void closed.then((reason) => {
      this.#calls.delete(id);
      events?.add({ type: 'call.ended', call: id, about, reason }, owner);
    });
  }

  /** An agent conducts the call until its end. */
  conductedBy(id: string, agent: string): void {
    const open = this.#calls.get(id);
    if (open !== undefined) open.conductor = agent;
  }

  /** An application over HTTP uses the call. Another one, or an agent, may still conduct it. */
  used(id: string): void {
    const open = this.#calls.get(id);
    if (open !== undefined) open.isUsed = true;
  }

  /** An agent, an application or its client conducts the call, or an application over HTTP uses it. */
  isConducted(id: string): boolean {
    const open = this.#calls.get(id);
    return open !== undefined && (open.conductor !== undefined || open.isUsed);
  }

  /**
   * Throws NOT_FOUND if there is no such call for a client with this key (undefined: any key), and CALL_STATE
   * if somebody conducts it.
   */
  check(id: string, key: string | undefined): HandledCall {
    const open = this.#openCall(id, key);
    if (open.conductor === undefined) return open.handled;
    throw new ParleyError('CALL_STATE', `${open.conductor} conducts this call already`);
  }

  /** Throws NOT_FOUND as `check`, whoever conducts the call. */
  checkOwner(id: string, key: string | undefined): void {
    this.#openCall(id, key);
  }

  #openCall(id: string, key: string | undefined): OpenCall {
    const open = this.#calls.get(id);
    if (open !== undefined && mayUseCall(key, this.#parts.ownerOf(id))) return open;
    throw new ParleyError('NOT_FOUND', 'there is no open call of this id');
  }

  /** As `check`; from now on `conductor` conducts the call. */
  take(id: string, key: string | undefined, conductor: string): HandledCall {
    const handled = this.check(id, key);
    this.conductedBy(id, conductor);
    return handled;
  }
}
