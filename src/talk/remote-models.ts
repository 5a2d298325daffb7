// Finds the models of a chat server on this machine that run on another one. Ollama lists models of its cloud
// beside its own, and sends what they are asked to their host.
import { type Fields, isFields } from '../config/fields.js';
import { responseText } from '../response-text.js';
import type { Time } from '../time.js';

const LIMIT_MS = 2000;
const MOST_BYTES = 4 << 20;
const CLOUD_HOST = 'ollama.com';
/** Tags such as `cloud` and `120b-cloud`. */
const CLOUD_TAG = /[:-]cloud$/i;

interface Parts {
  readonly fetch: typeof globalThis.fetch;
  readonly time: Time;
}

type Hosts = ReadonlyMap<string, string>;

interface OllamaServer {
  /** With or without /v1. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly models: readonly string[];
}

/**
 * Names of hosts by the names of models: those that Ollama tells, and those that the name of a model gives
 * away.
 */
export async function remoteModels(server: OllamaServer, parts: Parts): Promise<Hosts> {
  const hosts = new Map<string, string>();
  for (const name of server.models) if (CLOUD_TAG.test(name)) hosts.set(name, CLOUD_HOST);
  for (const { name, remote_host: host } of await tagsOf(server, parts))
    if (typeof name === 'string' && typeof host === 'string' && host !== '') hosts.set(name, hostOf(host));
  return hosts;
}

/** The models in Ollama's own words; empty if it does not answer. */
async function tagsOf({ baseUrl, apiKey }: OllamaServer, { fetch, time }: Parts): Promise<readonly Fields[]> {
  const end = new AbortController();
  const cancelTimer = time.after(LIMIT_MS, () => end.abort());
  try {
    const response = await fetch(`${baseUrl.replace(/\/v1$/, '')}/api/tags`, {
      headers: {
        'user-agent': 'parley',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      redirect: 'manual',
      signal: end.signal,
    });
    const { text } = await responseText(response, MOST_BYTES);
    const body: unknown = response.ok ? JSON.parse(text) : undefined;
    const models = isFields(body) ? body['models'] : undefined;
    return Array.isArray(models) ? models.filter(isFields) : [];
  } catch {
    return []; // the names of the models are known already
  } finally {
    cancelTimer();
  }
}

/** Ollama writes an address, such as https://ollama.com:443. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : address.replace(/[^\w.:-]/g, '');
}
