// The calls that talk now, each with who conducts it: an agent, an application that has attached to it, or
// nobody.
import { ParleyError } from '../errors.js';
import type { HandledCall, Silence, Talk } from './call-handler.js';
import type { ServerEvents } from './server-events.js';
import { mayUseCall } from './switchboard.js';

interface OpenCall {
  readonly handled: HandledCall;
  conductor: string | undefined;
  talk: Talk | undefined;
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
  /** By Call-ID of SIP: two for a call that this server has placed to itself. */
  readonly #ends = new Map<string, readonly string[]>();

  constructor(parts: OpenCallsParts) {
    this.#parts = parts;
  }

  /** The call is open until it is closed. */
  opened(handled: HandledCall): void {
    const { id, closed, protocol } = handled.call;
    const { events, ownerOf } = this.#parts;
    const owner = ownerOf(id);
    const { direction, from, to, displayName, headers, callId, route } = handled;
    if (callId !== undefined) this.#ends.set(callId, [...(this.#ends.get(callId) ?? []), id]);
    this.#calls.set(id, { handled, conductor: undefined, talk: undefined, isUsed: false });
    const about = { direction, protocol, from, to, displayName, headers, callId, route };
    events?.add({ type: 'call.started', call: id, about }, owner);
    void closed.then((reason) => {
      this.#calls.delete(id);
      if (callId !== undefined) this.#endClosed(callId, id);
      events?.add({ type: 'call.ended', call: id, about, reason }, owner);
    });
  }

  /** An agent conducts the call until its end. */
  conductedBy(id: string, agent: string): void {
    const open = this.#calls.get(id);
    if (open !== undefined) open.conductor = agent;
  }

  /** The talk that conducts the call for the agent of `conductedBy`. */
  talksIn(id: string, talk: Talk): void {
    const open = this.#calls.get(id);
    if (open !== undefined) open.talk = talk;
  }

  /** Silences who talks in the call; undefined: nobody talks, or it cannot be silenced. */
  silencerOf(id: string): Silence | undefined {
    return this.#calls.get(id)?.talk?.silence;
  }

  /** Somebody conducts the call, and talks in it. */
  isTalking(id: string): boolean {
    return this.#calls.get(id)?.conductor !== undefined;
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

  /** The call, whoever conducts it. Throws NOT_FOUND as `check`. */
  find(id: string, key: string | undefined): HandledCall {
    return this.#openCall(id, key).handled;
  }

  /** Throws NOT_FOUND as `check`, whoever conducts the call. */
  checkOwner(id: string, key: string | undefined): void {
    this.#openCall(id, key);
  }

  /**
   * Id of the other end of a call that this server has placed to itself, by SIP; undefined: it has none
   * here.
   */
  otherEndOf(id: string): string | undefined {
    const { callId } = this.#calls.get(id)?.handled ?? {};
    return callId === undefined ? undefined : this.#ends.get(callId)?.find((end) => end !== id);
  }

  #endClosed(callId: string, id: string): void {
    const ends = (this.#ends.get(callId) ?? []).filter((end) => end !== id);
    if (ends.length === 0) this.#ends.delete(callId);
    else this.#ends.set(callId, ends);
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
