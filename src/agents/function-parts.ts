// Joins the functions that a model calls in one answer from the parts in which they come. OpenAI gives each
// call an index, and its id and name once. Other servers differ:
//
//   Ollama, LiteLLM     whole calls, all at index 0, each with an id of its own
//   older Ollama        whole calls without index and id, with arguments that are no string
//   NVIDIA NIM          the name again in each part
//   LM Studio           another id in each part; only the first one has the name
import { isFields } from '../config/fields.js';
import { field, parsed } from '../engines/openai/api-client.js';
import { ParleyError } from '../errors.js';

/** A call of a function, as the model wrote it: the arguments may be no JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface PartedCall {
  /** Place in the model's list of calls. Several calls may share one. */
  readonly index: number;
  id: string | undefined;
  name: string;
  arguments: string;
}

type Part = Omit<PartedCall, 'index'>;

const MOST_CALLS = 8;
const MOST_ARGUMENTS = 16_384; // characters
const MOST_ID = 200; // characters

export class FunctionParts {
  /** Names of the functions that the model may call. */
  readonly #known: readonly string[];
  readonly #calls: PartedCall[] = [];

  constructor(known: readonly string[]) {
    this.#known = known;
  }

  /** In the model's order. Parts without a name are left out. Each id is another. */
  get calls(): readonly ToolCall[] {
    const named = this.#calls.filter(({ name }) => name !== '').toSorted((a, b) => a.index - b.index);
    const taken = new Set<string>();
    return named.map(({ id, name, arguments: given }, at) => {
      const own = ownId(id, at, taken, named);
      taken.add(own);
      return { id: own, name, arguments: given };
    });
  }

  /** Throws AGENT_FAILED. */
  add(value: unknown): void {
    const index = field(value, 'index') ?? 0;
    const part = partOf(value);
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= MOST_CALLS)
      throw unusable(`it calls more than ${MOST_CALLS} functions at once`);
    const call = this.#continued(index, part) ?? this.#begin(index);
    if (isRepeated(call, part)) return;
    call.id ??= part.id;
    call.name = part.name.startsWith(call.name) ? part.name : call.name + part.name;
    call.arguments += part.arguments;
    if (call.name.length + call.arguments.length > MOST_ARGUMENTS)
      throw unusable(`the arguments of a function have more than ${MOST_ARGUMENTS} characters`);
  }

  #begin(index: number): PartedCall {
    if (this.#calls.length >= MOST_CALLS)
      throw unusable(`it calls more than ${MOST_CALLS} functions at once`);
    const call = { index, id: undefined, name: '', arguments: '' };
    this.#calls.push(call);
    return call;
  }

  /** The call that this part goes on with; undefined if another one begins. */
  #continued(index: number, part: Part): PartedCall | undefined {
    const here = this.#calls.filter((call) => call.index === index);
    const last = here.at(-1);
    const same = here.findLast(({ id }) => id !== undefined && id === part.id);
    // No call begins without a name.
    if (part.name === '') return same ?? last;
    const isNewId = part.id !== undefined && last?.id !== undefined;
    const call = same ?? (isNewId ? undefined : last);
    return call === undefined || this.#isOther(call, part) ? undefined : call;
  }

  /** The part begins another call than this one, which has the same index and no other id. */
  #isOther(call: PartedCall, part: Part): boolean {
    if (call.name === '') return false;
    if (part.name !== call.name) return call.arguments !== '' || this.#known.includes(call.name);
    return !isRepeated(call, part) && isWhole(part.arguments) && isWhole(call.arguments);
  }
}

function partOf(value: unknown): Part {
  const called = field(value, 'function');
  const [id, name, given] = [field(value, 'id'), field(called, 'name'), field(called, 'arguments')];
  const isObject = typeof given === 'object' && given !== null;
  return {
    id: typeof id === 'string' && id !== '' ? id.slice(0, MOST_ID) : undefined,
    name: typeof name === 'string' ? name : '',
    arguments: typeof given === 'string' ? given : isObject ? JSON.stringify(given) : '',
  };
}

/** The id that the model gave, unless another call has it. Then, or without one, an id that no call has. */
function ownId(
  id: string | undefined,
  at: number,
  taken: ReadonlySet<string>,
  calls: readonly PartedCall[],
): string {
  if (id !== undefined && !taken.has(id)) return id;
  let own = `call_${at}`;
  while (taken.has(own) || calls.some((call) => call.id === own)) own += '_';
  return own;
}

/** The server has sent this call before, with the same id: it is not to be done twice. */
function isRepeated(call: PartedCall, { id, name, arguments: given }: Part): boolean {
  const isSame = id !== undefined && id === call.id && name === call.name && given === call.arguments;
  return isSame && isWhole(given);
}

/** The arguments are all there: more would be no JSON. */
function isWhole(given: string): boolean {
  return isFields(parsed(given));
}

/** The error of an answer that cannot be used; `what` says why. */
export function unusable(what: string): ParleyError {
  return new ParleyError('AGENT_FAILED', `the agent's language model gave no usable answer: ${what}`);
}
