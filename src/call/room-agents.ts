// Agents of this server as members of rooms. Each has a call of its own, whose far end is the room: the agent
// hears the mix without itself, its turns and barge-in are those of every call, and all members hear it.
import { asParleyError, ParleyError, tellDefect } from '../errors.js';
import type { Log } from '../log.js';
import type { CallHandler, HandledCall } from './call-handler.js';
import type { Crossing } from './crossed-ports.js';
import type { RoomAgent } from './room.js';
import type { SoundCalls } from './sound-calls.js';

interface RoomAgentsParts {
  readonly crossing: Pick<Crossing, 'open' | 'close'>;
  readonly soundCalls: Pick<SoundCalls, 'openOn'>;
  readonly handler: Pick<CallHandler, 'has' | 'handle'>;
  readonly log: Log;
}

const PROTOCOL = 'room';

export interface OpenedAgent extends RoomAgent {
  readonly handled: HandledCall;
  /** The agent conducts its call from now on; a failure ends the call. */
  begin(): void;
  /** Ends its call. Idempotent. */
  end(): void;
}

export class RoomAgents {
  readonly #parts: RoomAgentsParts;

  constructor(parts: RoomAgentsParts) {
    this.#parts = parts;
  }

  /**
   * Opens the call of an agent for the room of this name, which belongs to `owner`. Throws INVALID_FIELD for
   * an unknown agent, CALL_CLOSED, CALL_LIMIT and CLIENT_LIMIT.
   */
  open(agent: string, room: string, owner: string | undefined): OpenedAgent {
    const { crossing, soundCalls, handler } = this.#parts;
    if (!handler.has(agent))
      throw new ParleyError('INVALID_FIELD', `there is no agent ${JSON.stringify(agent)}`, {
        field: 'agent',
      });
    const clients = owner === undefined ? [] : [`key ${owner}`];
    const request = { protocol: PROTOCOL, clients, owner, from: `${PROTOCOL}:${room}` };
    const { handled, ports } = soundCalls.openOn(() => crossing.open(PROTOCOL), request);
    const end = () =>
      void handled.call
        .close('left the room')
        .catch((error: unknown) => tellDefect(error, { work: 'room', call: handled.call.id }));
    return { name: agent, leg: ports.far, handled, begin: () => this.#begin(agent, handled, end), end };
  }

  /** Agents that are members stay so. Idempotent. */
  close(): void {
    this.#parts.crossing.close();
  }

  #begin(agent: string, handled: HandledCall, end: () => void): void {
    if (handled.call.isClosing()) return;
    try {
      this.#parts.handler.handle(agent, handled);
    } catch (error) {
      const { code } = asParleyError(error, 'AGENT_FAILED');
      this.#parts.log.warn({ call: handled.call.id, agent, code }, 'agent did not take its room');
      end();
    }
  }
}
