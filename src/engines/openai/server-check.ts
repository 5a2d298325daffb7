// Asks each configured model server for its models when Parley starts, and logs in words what callers would
// hear otherwise: a server that is away, refuses its key, or is asked at the wrong path. The start does not
// wait for it.
import type { Config } from '../../config/config.js';
import type { ApiServersConfig } from '../../config/recognition-config.js';
import type { Log } from '../../log.js';
import { responseText } from '../../response-text.js';
import type { Time } from '../../time.js';
import { field, parsed, reasonOf } from './api-client.js';

interface CheckedServer {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Names of its settings, for the operator. */
  readonly variables: { readonly url: string; readonly key: string };
}

type Servers = Pick<Config, 'agents' | 'recognition' | 'engines'>;

interface ServerCheckParts {
  readonly log: Log;
  readonly time: Time;
}

const ANSWER_MS = 5000;
const MOST_ANSWER_BYTES = 4 << 20;
const AT_ONCE = 8;

/** Begins the check and returns the function that ends it. */
export function checkModelServers(config: Servers, parts: ServerCheckParts): () => Promise<void> {
  const end = new AbortController();
  const checked = check(serversOf(config), parts, end.signal);
  return () => {
    end.abort();
    return checked;
  };
}

/** Each server and key once, under the first setting that names it. */
function serversOf({ agents, recognition, engines }: Servers): CheckedServer[] {
  const several = (name: string, servers: ApiServersConfig | undefined) =>
    (servers?.baseUrls ?? []).map((baseUrl) => ({
      baseUrl,
      apiKey: servers?.apiKey,
      variables: { url: `${name}_BASE_URL`, key: `${name}_API_KEY` },
    }));
  const ofAgents = [...agents.agents.values()].map(({ name, model }) => {
    const at = `AGENTS_FILE agents.${name}`;
    const inFile = { url: `${at}.url`, key: `${at}.keyEnv` };
    return { ...model, variables: inFile };
  });
  const own = { url: 'AGENT_LLM_URL', key: 'AGENT_LLM_API_KEY' };
  const { usualModel } = agents;
  const { translation } = recognition;
  const translate = { url: 'TRANSLATE_BASE_URL', key: 'TRANSLATE_API_KEY' };
  const all: CheckedServer[] = [
    ...(usualModel === undefined ? [] : [{ ...usualModel, variables: own }]),
    ...ofAgents,
    ...several('ASR', recognition.remote),
    ...several('TTS', engines.speechServers),
    ...(translation === undefined ? [] : [{ ...translation, variables: translate }]),
  ];
  const seen = new Set<string>();
  return all.filter(({ baseUrl, apiKey = '' }) => {
    const server = `${baseUrl} ${apiKey}`;
    return !seen.has(server) && seen.add(server);
  });
}

async function check(
  servers: readonly CheckedServer[],
  { log, time }: ServerCheckParts,
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...servers];
  const next = async () => {
    for (let server = waiting.shift(); server !== undefined; server = waiting.shift()) {
      const detail = await new ServerCheck(server, time, signal).trouble();
      if (signal.aborted) return;
      const { baseUrl: url, variables } = server;
      if (detail !== undefined)
        log.warn({ variable: variables.url, url, detail }, 'a model server cannot be used as it is');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** What GET …/models gave: the status, and whether it is a list of models; or why there is no answer. */
type ModelsAnswer = { readonly status: number; readonly isList: boolean } | { readonly reason: string };

const UNAUTHORIZED = 401;
const SERVER_FAILED = 500;

class ServerCheck {
  readonly #server: CheckedServer;
  readonly #time: Time;
  readonly #signal: AbortSignal;

  constructor(server: CheckedServer, time: Time, signal: AbortSignal) {
    this.#server = server;
    this.#time = time;
    this.#signal = signal;
  }

  /** Undefined if the server is usable, as far as can be told: some list no models. */
  async trouble(): Promise<string | undefined> {
    const { baseUrl, apiKey, variables } = this.#server;
    const answer = await this.#models(baseUrl);
    if ('reason' in answer) return answer.reason;
    const { status, isList } = answer;
    if (isList) return undefined;
    if (status === UNAUTHORIZED)
      return `it answers 401: ${variables.key} is ${apiKey === undefined ? 'not set' : 'refused'}`;
    for (const other of otherAddresses(baseUrl)) {
      const there = await this.#models(other);
      const isThere = 'status' in there && (there.isList || there.status === UNAUTHORIZED);
      if (isThere)
        return `it has no API at this path (GET models answers ${status}); did you mean ${other} ?`;
    }
    return status >= SERVER_FAILED ? `it answers ${status}` : undefined;
  }

  async #models(baseUrl: string): Promise<ModelsAnswer> {
    const { apiKey } = this.#server;
    const end = new AbortController();
    const giveUp = () => end.abort();
    const cancelTimer = this.#time.after(ANSWER_MS, giveUp);
    this.#signal.addEventListener('abort', giveUp, { once: true });
    try {
      const response = await fetch(`${baseUrl}/models`, {
        headers: {
          'user-agent': 'parley',
          accept: 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        redirect: 'manual', // the key goes only to the address that the operator configured
        signal: end.signal,
      });
      const { text } = await responseText(response, MOST_ANSWER_BYTES);
      const body = parsed(text);
      const isList =
        response.ok && (Array.isArray(field(body, 'data')) || Array.isArray(field(body, 'models')));
      return { status: response.status, isList };
    } catch (error) {
      if (end.signal.aborted) return { reason: `it did not answer within ${ANSWER_MS / 1000} s` };
      return { reason: `it cannot be reached: ${reasonOf(error)}` };
    } finally {
      cancelTimer();
      this.#signal.removeEventListener('abort', giveUp);
    }
  }
}

/** Addresses that are often meant: with /v1 at the end, or without what follows it. */
function otherAddresses(baseUrl: string): string[] {
  const { origin, pathname } = new URL(baseUrl);
  const version = /^(.*?\/v1)\/./.exec(pathname)?.[1];
  const likely = [
    ...(version === undefined ? [] : [`${origin}${version}`]),
    ...(pathname.endsWith('/v1') ? [] : [`${baseUrl}/v1`]),
    `${origin}/v1`,
  ];
  return [...new Set(likely)].filter((address) => address !== baseUrl);
}
