// The functions that an agent's model may call: to end the call, to transfer it at once or to a person who
// is told about the caller first, to send and to collect digits, and those of the operator, which are asked
// over HTTP. What the model gives as arguments is checked like the input of a stranger, because callers can
// talk a model into anything.
//
// A function that has an effect outside runs to its end, whatever the caller does: an effect cannot be taken
// back, and a model that does not know of it would have it done twice.
import { isDeepStrictEqual } from 'node:util';
import type { AgentConfig, AgentToolConfig } from '../config/agent-config.js';
import { field, parsed } from '../engines/openai/api-client.js';
import { asParleyError, forClient, ParleyError } from '../errors.js';
import { responseText } from '../response-text.js';
import type { Time } from '../time.js';
import type { ChatTool, ToolCall } from './chat-model.js';

/**
 * Carries out the built-in functions in a call. Each rejects with ABORTED once `signal` is aborted, unless it
 * has called `begun`: from then on it cannot be taken back.
 */
export interface ToolActions {
  /** Resolves when the call is over. */
  hangUp(signal: AbortSignal, begun: () => void): Promise<void>;
  /** Undefined in calls that cannot be transferred. Resolves with the status of a refusal. */
  readonly transfer?:
    ((target: string, signal: AbortSignal, begun: () => void) => Promise<number | undefined>) | undefined;
  /** Undefined where nobody can be called. Resolves with the reason if the person did not take the caller. */
  readonly warmTransfer?:
    | ((wanted: WarmTransferWanted, signal: AbortSignal, begun: () => void) => Promise<string | undefined>)
    | undefined;
  /** Undefined in calls without a telephone line. */
  readonly press?: ((digits: string) => Promise<void>) | undefined;
  /** Calls `onCut` with the keys so far, if there are some, before it rejects. */
  collect(wanted: DigitsWanted, signal: AbortSignal, onCut: (digits: string) => void): Promise<string>;
}

export interface WarmTransferWanted {
  readonly to: string;
  /** Told to the person who answers. */
  readonly summary: string;
}

export interface DigitsWanted {
  readonly most: number;
  /**
   * Key that ends the input without being part of it; empty: none does. Undefined: # does, but where it
   * stands alone it is the input.
   */
  readonly until: string | undefined;
  /** Milliseconds to the first digit, and between two. */
  readonly timeoutMs: number;
  /** It does not begin with the keys of an input that the caller's words have cut short. */
  readonly isFresh?: boolean;
}

export interface ToolOutcome {
  /** JSON for the model. */
  readonly result: string;
  /** The model is not asked again. */
  readonly isOver: boolean;
}

/** Told of a function before its outcome. */
interface ToolProgress {
  /** The function runs to its end. The outcome comes also after `signal` was aborted. */
  begun(outcome: Promise<ToolOutcome>): void;
  /** The signal was aborted, and this is known until then. JSON for the model. */
  soFar(result: string): void;
}

/** One run of a function. */
interface ToolRun {
  readonly signal: AbortSignal;
  readonly begun: () => void;
  readonly soFar: (result: string) => void;
}

interface ToolParts {
  readonly call: string;
  readonly config: Pick<AgentConfig, 'tools' | 'transfers'>;
  readonly actions: ToolActions;
  readonly time: Time;
}

const MOST_RESULT = 32_768; // bytes
const MOST_RUNNING = 8; // functions of the operator at a time; each has a time limit
const MOST_SUMMARY = 1000; // characters
const MOST_COLLECTED = 32;
const COLLECT_SECONDS = 10;
const MOST_COLLECT_SECONDS = 60;
const DIGITS = /^[0-9*#A-Da-d,]{1,64}$/;
const KEY = /^[0-9*#]?$/; // empty: none

const CUT_SHORT = 'the caller spoke before the input was complete: the next keys are part of it';
const UNTOLD: ToolProgress = { begun: () => undefined, soFar: () => undefined };
const NONE = { type: 'object', properties: {}, additionalProperties: false } as const;

export class AgentTools {
  readonly #parts: ToolParts;
  readonly #end = new AbortController();
  /** Functions of the operator that run. */
  #running = 0;
  /** Those that were called so far. */
  #calls = 0;

  constructor(parts: ToolParts) {
    this.#parts = parts;
  }

  get definitions(): readonly ChatTool[] {
    const { config, actions } = this.#parts;
    const targets = [...config.transfers.keys()];
    const own = config.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    return [
      { name: 'hang_up', description: 'Ends the call. Say goodbye in the same answer.', parameters: NONE },
      ...(actions.transfer === undefined || targets.length === 0 ? [] : [transferTool(targets)]),
      ...(actions.warmTransfer === undefined || targets.length === 0 ? [] : [warmTransferTool(targets)]),
      ...(actions.press === undefined ? [] : [SEND_DIGITS]),
      COLLECT_DIGITS,
      ...own,
    ];
  }

  /**
   * Never rejects, except with ABORTED once `signal` is aborted: the model gets to know what was wrong. What
   * has begun then runs on, and `progress` has its outcome.
   */
  run(call: ToolCall, signal: AbortSignal, progress: ToolProgress = UNTOLD): Promise<ToolOutcome> {
    const outcome: Promise<ToolOutcome> = Promise.resolve().then(() =>
      this.#outcome(call, {
        signal,
        begun: () => progress.begun(outcome),
        soFar: (result) => progress.soFar(result),
      }),
    );
    return unlessAborted(outcome, signal);
  }

  /** Gives up what runs. Idempotent. */
  close(): void {
    this.#end.abort();
  }

  async #outcome({ name, arguments: given }: ToolCall, run: ToolRun): Promise<ToolOutcome> {
    const values = valuesOf(given);
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      return refused('the arguments must be a JSON object');
    try {
      if (run.signal.aborted) throw wentOn();
      return await this.#run(name, values, run);
    } catch (error) {
      const known = asParleyError(error, 'AGENT_FAILED');
      if (known.code === 'ABORTED') throw known;
      // The model may know that a call's state forbids it.
      const told = known.code === 'WRONG_STATE' ? new ParleyError('CALL_STATE', known.message) : known;
      return refused(forClient(told).message);
    }
  }

  #run(name: string, values: object, run: ToolRun): Promise<ToolOutcome> | ToolOutcome {
    switch (name) {
      case 'hang_up':
        return this.#parts.actions.hangUp(run.signal, run.begun).then(() => finalResult({ ended: true }));
      case 'transfer_call':
        return this.#transfer(field(values, 'target'), run);
      case 'warm_transfer':
        return this.#transferWarmly(values, run);
      case 'send_digits':
        return this.#press(field(values, 'digits'), run);
      case 'collect_digits':
        return this.#collect(values, run);
      default: {
        const tool = this.#parts.config.tools.find((one) => one.name === name);
        return tool === undefined
          ? refused('there is no function of this name')
          : this.#ask(tool, values, run);
      }
    }
  }

  async #transfer(name: unknown, { signal, begun }: ToolRun): Promise<ToolOutcome> {
    const { config, actions } = this.#parts;
    const target = typeof name === 'string' ? config.transfers.get(name) : undefined;
    if (target === undefined || actions.transfer === undefined)
      return refused(`target must be one of ${[...config.transfers.keys()].join(', ')}`);
    const status = await actions.transfer(target, signal, begun);
    return status === undefined
      ? finalResult({ transferred: true })
      : refused(`the target refused the call (${status})`);
  }

  async #transferWarmly(values: object, { signal, begun }: ToolRun): Promise<ToolOutcome> {
    const { actions, config } = this.#parts;
    const [name, summary] = [field(values, 'target'), field(values, 'summary')];
    if (actions.warmTransfer === undefined) return refused('nobody can be called from here');
    const to = typeof name === 'string' ? config.transfers.get(name) : undefined;
    if (to === undefined) return refused(`target must be one of ${[...config.transfers.keys()].join(', ')}`);
    if (typeof summary !== 'string' || summary.trim() === '' || summary.length > MOST_SUMMARY)
      return refused(`summary must be a text of at most ${MOST_SUMMARY} characters`);
    const reason = await actions.warmTransfer({ to, summary }, signal, begun);
    return reason === undefined
      ? finalResult({ transferred: true })
      : refused(`the person did not take the caller (${reason})`);
  }

  async #press(digits: unknown, { begun }: ToolRun): Promise<ToolOutcome> {
    const { press } = this.#parts.actions;
    if (press === undefined) return refused('this call has no telephone line');
    if (typeof digits !== 'string' || !DIGITS.test(digits))
      return refused('digits must be 1 to 64 of 0-9, *, #, A-D and commas, which wait half a second');
    begun();
    await press(digits);
    return result({ sent: digits });
  }

  async #collect(values: object, { signal, soFar }: ToolRun): Promise<ToolOutcome> {
    const [most, seconds] = [field(values, 'most'), field(values, 'seconds')];
    const until = field(values, 'until') ?? undefined; // models write null for what they leave out
    const fresh = field(values, 'fresh') ?? false;
    const isCount = typeof most === 'number' && Number.isInteger(most) && most >= 1 && most <= MOST_COLLECTED;
    if (!isCount) return refused(`most must be a whole number from 1 to ${MOST_COLLECTED}`);
    if (until !== undefined && (typeof until !== 'string' || !KEY.test(until)))
      return refused('until must be one key');
    if (typeof fresh !== 'boolean') return refused('fresh must be true or false');
    const wanted = seconds ?? COLLECT_SECONDS;
    if (typeof wanted !== 'number' || !(wanted >= 1 && wanted <= MOST_COLLECT_SECONDS))
      return refused(`seconds must be from 1 to ${MOST_COLLECT_SECONDS}`);
    const request = { most, until, timeoutMs: wanted * 1000, ...(fresh ? { isFresh: true } : {}) };
    const digits = await this.#parts.actions.collect(request, signal, (cut) =>
      soFar(JSON.stringify({ digits: cut, pending: CUT_SHORT })),
    );
    return result(digits === '' ? { digits, reason: 'the caller entered nothing' } : { digits });
  }

  /** Asks the operator's address, and no other: nothing of it comes from the model. */
  async #ask(tool: AgentToolConfig, values: object, { begun }: ToolRun): Promise<ToolOutcome> {
    if (this.#running >= MOST_RUNNING)
      return refused(`${MOST_RUNNING} functions run already: wait for their results`);
    this.#running++;
    begun();
    const late = new AbortController();
    const forget = this.#parts.time.after(tool.timeoutMs, () => late.abort());
    try {
      const response = await this.#post(tool, values, AbortSignal.any([this.#end.signal, late.signal]));
      const { text: body } = await responseText(response, MOST_RESULT);
      return response.ok
        ? { result: body, isOver: false }
        : refused(`it answered with status ${response.status}`);
    } catch {
      if (this.#end.signal.aborted) throw wentOn();
      return refused('it could not be reached in time');
    } finally {
      this.#running--;
      forget();
    }
  }

  /** The id lets the operator's server tell a repeated request from another one. */
  #post({ name, url, authorization }: AgentToolConfig, values: object, signal: AbortSignal) {
    const { call } = this.#parts;
    const id = `${call}.${++this.#calls}`;
    return fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'parley',
        'idempotency-key': id,
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: JSON.stringify({ call, function_call_id: id, name, arguments: values }),
      redirect: 'error',
      signal,
    });
  }
}

/** A model may write nothing for arguments. */
function valuesOf(given: string): unknown {
  return given.trim() === '' ? {} : parsed(given);
}

/** The same function with the same arguments, however they are written. */
export function isSameCall(one: ToolCall, other: ToolCall): boolean {
  if (one.name !== other.name) return false;
  return isDeepStrictEqual(valuesOf(one.arguments), valuesOf(other.arguments));
}

function wentOn(): ParleyError {
  return new ParleyError('ABORTED', 'the caller went on');
}

/** Settles as `work`, or rejects with ABORTED once the signal is aborted. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(wentOn());
    const over = () => signal.removeEventListener('abort', aborted);
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
    work.then(resolve, reject).finally(over);
  });
}

function transferTool(targets: readonly string[]): ChatTool {
  return {
    name: 'transfer_call',
    description: 'Connects the caller with somebody else. Announce it in the same answer.',
    parameters: {
      type: 'object',
      properties: { target: { type: 'string', enum: targets } },
      required: ['target'],
      additionalProperties: false,
    },
  };
}

function warmTransferTool(targets: readonly string[]): ChatTool {
  return {
    name: 'warm_transfer',
    description:
      'Calls a person, tells them the summary, and connects the caller, who hears music meanwhile. ' +
      'If the person does not take the caller, you go on. Announce it in the same answer.',
    parameters: {
      type: 'object',
      properties: {
        target: { type: 'string', enum: targets },
        summary: { type: 'string', description: 'what the person has to know: who calls, and why' },
      },
      required: ['target', 'summary'],
      additionalProperties: false,
    },
  };
}

const SEND_DIGITS: ChatTool = {
  name: 'send_digits',
  description: 'Presses keys on the telephone line, for the menu of another machine.',
  parameters: {
    type: 'object',
    properties: { digits: { type: 'string', description: '0-9, *, #, A-D; a comma waits half a second' } },
    required: ['digits'],
    additionalProperties: false,
  },
};

const COLLECT_DIGITS: ChatTool = {
  name: 'collect_digits',
  description:
    'Waits for keys of the caller: a choice of a menu, or a number. Ask for them in the same answer.',
  parameters: {
    type: 'object',
    properties: {
      most: { type: 'integer', description: `digits to wait for, 1 to ${MOST_COLLECTED}` },
      until: { type: 'string', description: 'key that ends the input, # by default; empty: none ends it' },
      seconds: { type: 'number', description: `longest wait for a key; ${COLLECT_SECONDS} by default` },
      fresh: { type: 'boolean', description: 'true: keys before the words of the caller do not count' },
    },
    required: ['most'],
    additionalProperties: false,
  },
};

function result(value: object): ToolOutcome {
  return { result: JSON.stringify(value), isOver: false };
}

function finalResult(value: object): ToolOutcome {
  return { result: JSON.stringify(value), isOver: true };
}

function refused(error: string): ToolOutcome {
  return result({ error });
}
