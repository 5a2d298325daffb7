// Finds chat servers with OpenAI's API, and the models that they list. A server that cannot be used is a
// note in words: what it does, and what to do next.
import { type Fields, isFields } from '../config/fields.js';
import { responseText } from '../response-text.js';
import type { Time } from '../time.js';
import { canChat, isModelName } from './chat-models.js';
import { isLoading, loadingPause } from './loading-model.js';
import { remoteModels } from './remote-models.js';

export interface ChatServer {
  /** The program, such as Ollama; the host of a server whose program is not known. */
  readonly name: string;
  /** With the path that answers, such as /v1, and without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Names of models that can chat. Empty: a server at a stated address lists none. */
  readonly models: readonly string[];
  /** Hosts of models that run on another machine, by the name of the model. Absent: all run here. */
  readonly elsewhere?: ReadonlyMap<string, string>;
}

export interface FoundServers {
  readonly servers: readonly ChatServer[];
  /** Servers that cannot be used: one sentence each. */
  readonly notes: readonly string[];
}

/** A program and the port on which it usually listens. */
export interface UsualServer {
  readonly name: string;
  readonly port: number;
}

export const USUAL_SERVERS: readonly UsualServer[] = [
  { name: 'Ollama', port: 11_434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama.cpp', port: 8080 },
  { name: 'vLLM or llama.cpp', port: 8000 },
];

/** Programs by the `owned_by` of their models. */
const OWNERS: Readonly<Record<string, string>> = {
  library: 'Ollama',
  organization_owner: 'LM Studio',
  llamacpp: 'llama.cpp',
  vllm: 'vLLM',
};
const OWN = 'parley';

const LOCAL_MS = 2000; // for each of the two addresses of a port
const STATED_MS = 10_000; // for each of the two addresses of a stated server
const MOST_LIST_BYTES = 4 << 20;
const MOST_MODELS = 1000;
const UNAUTHORIZED = [401, 403];
const MOST_LOADING = 60; // questions, one a second

export interface SearchParts {
  readonly fetch: typeof globalThis.fetch;
  readonly time: Time;
  /** Told what it waits for. */
  readonly out?: (text: string) => void;
}

/** What GET …/models gives. */
type Answer =
  | { readonly kind: 'list'; readonly entries: readonly Fields[]; readonly isWhole: boolean }
  | { readonly kind: 'other'; readonly status: number }
  | { readonly kind: 'loading' }
  | { readonly kind: 'slow' }
  | { readonly kind: 'absent'; readonly reason: string };

type Found = { readonly server: ChatServer } | { readonly note: string | undefined };

/** Asks the ports of this machine on which chat servers usually listen, all at once. */
export async function findChatServers(
  parts: SearchParts,
  usual: readonly UsualServer[] = USUAL_SERVERS,
): Promise<FoundServers> {
  const found = await Promise.all(usual.map((one) => serverAt(one, parts)));
  return {
    servers: found.flatMap((one) => ('server' in one ? [one.server] : [])),
    notes: found.flatMap((one) => ('note' in one && one.note !== undefined ? [one.note] : [])),
  };
}

async function serverAt({ name, port }: UsualServer, parts: SearchParts): Promise<Found> {
  const place = `127.0.0.1:${port}`;
  const origin = `http://${place}`;
  const asked = new ModelList(parts, undefined, LOCAL_MS);
  const { answer, baseUrl } = await asked.first([`${origin}/v1`, origin]);
  if (answer.kind === 'absent') return { note: undefined };
  const who = `${place} (usually ${name})`;
  if (answer.kind === 'slow')
    return {
      note: `${who} accepts connections, and does not answer within ${LOCAL_MS / 1000} s: restart it.`,
    };
  if (answer.kind === 'loading') return { note: stillLoading(who) };
  if (answer.kind === 'other' && UNAUTHORIZED.includes(answer.status))
    return { note: `${who} wants a key: set AGENT_LLM_API_KEY, and state --llm ${origin}/v1.` };
  if (answer.kind === 'other')
    return { note: `${who} lists no models: it is no chat server, or --llm URL states the path of its API.` };
  if (isOwn(answer.entries)) return { note: `${place} is a server of Parley, which is no chat server.` };
  const program = programOf(answer.entries) ?? name;
  const models = chatModelsOf(answer.entries);
  if (models.length === 0) return { note: noModels(`${program} (${place})`, answer, program) };
  return { server: await placed({ name: program, baseUrl, apiKey: undefined, models }, parts) };
}

/** The server with the hosts of models that run elsewhere. */
async function placed(server: ChatServer, parts: SearchParts): Promise<ChatServer> {
  if (server.name !== 'Ollama') return server;
  const elsewhere = await remoteModels(server, parts);
  return elsewhere.size === 0 ? server : { ...server, elsewhere };
}

function stillLoading(who: string): string {
  return `${who} is still loading its model: run this command again when it is ready.`;
}

/** The server at a stated address, with or without /v1; or why it cannot be used. */
export async function chatServerAt(
  url: string,
  apiKey: string | undefined,
  parts: SearchParts,
): Promise<{ readonly server: ChatServer } | { readonly trouble: string }> {
  const stated = url.replace(/\/+$/, '');
  const addresses = stated.endsWith('/v1') ? [stated] : [`${stated}/v1`, stated];
  const { answer, baseUrl } = await new ModelList(parts, apiKey, STATED_MS).first(addresses);
  const { host } = new URL(stated);
  if (answer.kind === 'absent')
    return { trouble: `${host} cannot be reached (${answer.reason}): is it running?` };
  if (answer.kind === 'slow')
    return {
      trouble: `${host} did not answer within ${STATED_MS / 1000} s: restart it, or state another --llm.`,
    };
  if (answer.kind === 'loading') return { trouble: stillLoading(host) };
  if (answer.kind === 'other' && UNAUTHORIZED.includes(answer.status)) {
    const key = apiKey === undefined ? 'wants a key' : 'refuses the key';
    return { trouble: `${host} ${key} (${answer.status}): set AGENT_LLM_API_KEY.` };
  }
  if (answer.kind === 'other') {
    const tried = addresses.map((address) => `${address}/models`).join(' and ');
    return {
      trouble: `${host} lists no models at ${tried} (${answer.status}): is this the address of its API?`,
    };
  }
  if (isOwn(answer.entries)) return { trouble: `${host} is a server of Parley, which is no chat server.` };
  const program = programOf(answer.entries) ?? host;
  const models = chatModelsOf(answer.entries);
  if (models.length === 0 && (answer.entries.length > 0 || !answer.isWhole))
    return { trouble: noModels(program === host ? host : `${program} (${host})`, answer, program) };
  return { server: await placed({ name: program, baseUrl, apiKey, models }, parts) };
}

/** Asks addresses of one server for its models, one after the other. */
class ModelList {
  readonly #parts: SearchParts;
  readonly #apiKey: string | undefined;
  readonly #limitMs: number;

  constructor(parts: SearchParts, apiKey: string | undefined, limitMs: number) {
    this.#parts = parts;
    this.#apiKey = apiKey;
    this.#limitMs = limitMs;
  }

  /** The first address with a list, or the answer of the first one. A server that is away is asked once. */
  async first(addresses: readonly string[]): Promise<{ answer: Answer; baseUrl: string }> {
    let first: { answer: Answer; baseUrl: string } | undefined;
    for (const baseUrl of addresses) {
      const answer = await this.#loaded(baseUrl);
      first ??= { answer, baseUrl };
      if (answer.kind === 'list') return { answer, baseUrl };
      if (answer.kind !== 'other') break;
    }
    return first ?? { answer: { kind: 'absent', reason: 'no address' }, baseUrl: '' };
  }

  /** Waits for a server that is loading its model. */
  async #loaded(baseUrl: string): Promise<Answer> {
    const { time, out } = this.#parts;
    let answer = await this.#at(baseUrl);
    for (let asked = 1; answer.kind === 'loading' && asked < MOST_LOADING; asked++) {
      if (asked === 1)
        out?.(`${new URL(baseUrl).host} is loading its model. Waiting up to ${MOST_LOADING} s.\n`);
      await loadingPause(time);
      answer = await this.#at(baseUrl);
    }
    return answer;
  }

  async #at(baseUrl: string): Promise<Answer> {
    const { fetch, time } = this.#parts;
    const end = new AbortController();
    const cancelTimer = time.after(this.#limitMs, () => end.abort());
    try {
      const response = await fetch(`${baseUrl}/models`, {
        headers: {
          'user-agent': 'parley',
          accept: 'application/json',
          ...(this.#apiKey === undefined ? {} : { authorization: `Bearer ${this.#apiKey}` }),
        },
        redirect: 'manual', // neither the key nor a caller's words go to an address that nobody stated
        signal: end.signal,
      });
      const { text, isWhole } = await responseText(response, MOST_LIST_BYTES);
      if (isLoading(response.status, text)) return { kind: 'loading' };
      const entries = response.ok ? entriesOf(text) : undefined;
      if (entries === undefined && !isWhole) return { kind: 'list', entries: [], isWhole };
      return entries === undefined
        ? { kind: 'other', status: response.status }
        : { kind: 'list', entries: entries.slice(0, MOST_MODELS), isWhole };
    } catch (error) {
      return end.signal.aborted ? { kind: 'slow' } : { kind: 'absent', reason: reasonOf(error) };
    } finally {
      cancelTimer();
    }
  }
}

/** Undefined for a text that is no list of models. */
function entriesOf(text: string): readonly Fields[] | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(body)) return undefined;
  const { data, models } = body;
  const list = Array.isArray(data) ? data : Array.isArray(models) ? models : undefined;
  return list?.filter(isFields);
}

function chatModelsOf(entries: readonly Fields[]): readonly string[] {
  const names = entries.map(({ id }) => id).filter(isModelName);
  return [...new Set(names.filter(canChat))];
}

function programOf(entries: readonly Fields[]): string | undefined {
  const owner = entries.map(({ owned_by: by }) => by).find((by) => typeof by === 'string' && by in OWNERS);
  return typeof owner === 'string' ? OWNERS[owner] : undefined;
}

function isOwn(entries: readonly Fields[]): boolean {
  return entries.length > 0 && entries.every(({ owned_by: by }) => by === OWN);
}

const GET_ONE: Readonly<Record<string, string>> = {
  Ollama: 'fetch one with: ollama pull qwen3:4b',
  'LM Studio': 'load one there, or fetch one with: lms get qwen3-4b',
};

function noModels(
  who: string,
  { entries, isWhole }: Extract<Answer, { kind: 'list' }>,
  program: string,
): string {
  if (!isWhole)
    return `${who} lists more than ${MOST_LIST_BYTES >> 20} MiB of models: state --llm and --model.`;
  const next = GET_ONE[program] ?? 'start it with a chat model';
  if (entries.length === 0) return `${who} has no model: ${next}.`;
  return `${who} has no model that can chat (${entries.length} listed): ${next}.`;
}

/** Such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : 'the connection failed';
}
