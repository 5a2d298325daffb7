// `parley talk`: from nothing to a spoken conversation. It finds a chat server and its model, and says which
// voice and which ears there are. It offers the missing ones, and returns the environment for the server.
import { parseArgs } from 'node:util';
import { readConfig } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import type { Fields } from '../config/fields.js';
import { isHttpUrl } from '../config/recognition-config.js';
import { isLocalHost } from '../config/relay-config.js';
import { megabytes } from '../models/pull-progress.js';
import type { Time } from '../time.js';
import { chooseModel, type ModelChoice } from './model-choice.js';
import { thinkingOff } from './chat-models.js';
import { type ChatServer, chatServerAt, findChatServers, type UsualServer } from './chat-servers.js';
import { DEMO_GREETING, DEMO_MODEL, openDemoModel } from './demo-model.js';
import { FIRST_WORD_MS, firstAnswer } from './first-question.js';
import { speechParts } from './speech-parts.js';

export const TALK_USAGE =
  'parley talk [--llm URL] [--model NAME] [--allow-host HOST] [--port PORT] [--yes] [--no-open]';

const USAGE = `usage: ${TALK_USAGE}
Without --llm it looks for Ollama, LM Studio, llama.cpp and vLLM on this machine.
--llm: address of another chat server, with or without /v1; AGENT_LLM_URL by default.
--model: the model to talk with; AGENT_LLM_MODEL by default.
--allow-host: agrees that what you say is sent to this host, which is not this machine.
--yes: agrees to the download of the voice and the ears that are missing, and to nothing else.
--no-open: prints the address, and opens no browser.
`;
const USAGE_STATUS = 2;
const INTERRUPTED_STATUS = 130; // as a shell reports SIGINT
const FIRST_PORT = 8080;
const MOST_PORTS = 20;
const OPENAI_URL = 'https://api.openai.com/v1';

/** The machine and the person at its terminal; parameters for tests. */
export interface TalkSurroundings {
  readonly fetch: typeof globalThis.fetch;
  readonly time: Time;
  readonly usualServers?: readonly UsualServer[];
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Undefined without a terminal. It resolves with undefined if the person gives up. */
  readonly ask: ((question: string) => Promise<string | undefined>) | undefined;
  /** Fetches a model or a set; returns the exit status. */
  readonly pull: (name: string) => Promise<number>;
  readonly openBrowser: (url: string) => Promise<boolean>;
  readonly isFreePort: (host: string, port: number) => Promise<boolean>;
  readonly ownAddresses: readonly string[];
}

/** The server is to start with `env`; `opened` is called when it listens. Or the program is done. */
export type TalkResult =
  | { readonly env: Environment; readonly opened: (url: string) => Promise<void> }
  | { readonly status: number };

export async function talkCommand(
  args: readonly string[],
  env: Environment,
  surroundings: TalkSurroundings,
): Promise<TalkResult> {
  let options: TalkOptions;
  try {
    options = optionsOf(args, env);
  } catch (error) {
    surroundings.err(`parley: ${(error as Error).message}\n${USAGE}`);
    return { status: USAGE_STATUS };
  }
  try {
    return await new Preparation(options, env, surroundings).run();
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    if (error.message !== '') surroundings.err(`parley: ${error.message}\n`);
    return { status: error.status };
  }
}

/** The command ends before the server starts. */
class Ended extends Error {
  readonly status: number;

  constructor(message: string, status = 1) {
    super(message);
    this.status = status;
  }
}

interface TalkOptions {
  readonly llm: string | undefined;
  readonly model: string | undefined;
  readonly allowedHost: string | undefined;
  readonly port: string | undefined;
  readonly agrees: boolean;
  readonly opens: boolean;
}

/** Throws with words for the person. */
function optionsOf(args: readonly string[], env: Environment): TalkOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      llm: { type: 'string' },
      model: { type: 'string' },
      'allow-host': { type: 'string' },
      port: { type: 'string' },
      yes: { type: 'boolean', short: 'y', default: false },
      'no-open': { type: 'boolean', default: false },
    },
  });
  const llm = values.llm ?? nonEmpty(env['AGENT_LLM_URL']);
  const place = values.llm === undefined ? 'AGENT_LLM_URL' : '--llm';
  if (llm !== undefined && !isHttpUrl(llm))
    throw new Error(`${place} must be an http or https URL without user, query and fragment, not "${llm}"`);
  const { port } = values;
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535))
    throw new Error(`--port must be a number from 0 to 65535, not "${port}"`);
  const model = values.model ?? nonEmpty(env['AGENT_LLM_MODEL']);
  if (model?.trim() === '') throw new Error('--model must be the name of a model');
  const allowedHost = values['allow-host']?.trim().toLowerCase();
  return { llm, model, allowedHost, port, agrees: values.yes, opens: !values['no-open'] };
}

function nonEmpty(value: string | undefined): string | undefined {
  const trimmed = value?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
}

/** Variables that the conversation adds to the environment. */
type Added = Record<string, string | undefined>;

class Preparation {
  readonly #options: TalkOptions;
  readonly #env: Environment;
  readonly #parts: TalkSurroundings;

  constructor(options: TalkOptions, env: Environment, parts: TalkSurroundings) {
    this.#options = options;
    this.#env = env;
    this.#parts = parts;
  }

  async run(): Promise<TalkResult> {
    const choice = await this.#choice();
    const agent = choice === undefined ? await this.#demo() : await this.#agent(choice);
    const env = { LOG_LEVEL: 'warn', ...this.#env, ...agent, ...(await this.#port()) };
    await this.#completeSpeech(env);
    const name = choice?.model ?? 'the demo';
    return { env, opened: async (url) => await this.#open(url, name) };
  }

  /** Undefined if there is no chat server. */
  async #choice(): Promise<ModelChoice | undefined> {
    const { llm, model } = this.#options;
    const servers = llm === undefined ? await this.#serversFound() : [await this.#serverStated(llm)];
    if (servers.length === 0) return undefined;
    const chosen = await chooseModel(servers, model, this.#parts);
    if ('choice' in chosen) return await this.#placed(chosen.choice);
    throw new Ended(chosen.trouble, chosen.isGivenUp ? INTERRUPTED_STATUS : 1);
  }

  /** A server of this machine may send what a model is asked to another one. */
  async #placed(choice: ModelChoice): Promise<ModelChoice> {
    const { server, model } = choice;
    const host = server.elsewhere?.get(model);
    const runs = `${model} runs at ${host}`;
    if (host === undefined || (await this.#isAllowed(host, runs))) return choice;
    const sent = `${runs}, which is not this machine, and what you say would be sent to it`;
    throw new Ended(`${sent}; --allow-host ${host} agrees to that, --model NAME chooses another one.`);
  }

  async #serversFound(): Promise<readonly ChatServer[]> {
    const { usualServers } = this.#parts;
    const { servers, notes } = await findChatServers(this.#parts, usualServers);
    for (const note of notes) this.#say(note);
    if (servers.length > 0) return servers;
    const suggested = await this.#serverSuggested();
    return suggested === undefined ? [] : [suggested];
  }

  /** The server that OPENAI_API_KEY suggests, if the person agrees to it. */
  async #serverSuggested(): Promise<ChatServer | undefined> {
    const key = nonEmpty(this.#env['OPENAI_API_KEY']);
    const url = nonEmpty(this.#env['OPENAI_BASE_URL']) ?? OPENAI_URL;
    if (key === undefined || !isHttpUrl(url)) return undefined;
    const { hostname } = new URL(url);
    if (!(await this.#isAllowed(hostname))) {
      this.#say(`OPENAI_API_KEY suggests ${hostname}, which is not used: --allow-host ${hostname} uses it.`);
      return undefined;
    }
    const found = await chatServerAt(url, key, this.#parts);
    if ('server' in found) return found.server;
    this.#say(found.trouble);
    return undefined;
  }

  async #serverStated(url: string): Promise<ChatServer> {
    const { hostname } = new URL(url);
    if (!(await this.#isAllowed(hostname))) {
      const sent = `${hostname} is not this machine, and what you say would be sent to it`;
      throw new Ended(`${sent}; --allow-host ${hostname} agrees to that.`);
    }
    const found = await chatServerAt(url, this.#keyFor(url), this.#parts);
    if ('server' in found) return found.server;
    throw new Ended(found.trouble);
  }

  /** Each key goes to the host of its own address only. */
  #keyFor(url: string): string | undefined {
    const isOf = (other: string) => URL.canParse(other) && new URL(other).host === new URL(url).host;
    const own = nonEmpty(this.#env['AGENT_LLM_API_KEY']);
    const ownUrl = nonEmpty(this.#env['AGENT_LLM_URL']);
    if (own !== undefined && (ownUrl === undefined || isOf(ownUrl))) return own;
    const openAiUrl = nonEmpty(this.#env['OPENAI_BASE_URL']) ?? OPENAI_URL;
    return isOf(openAiUrl) ? nonEmpty(this.#env['OPENAI_API_KEY']) : undefined;
  }

  /** True for this machine. `--yes` does not agree to another one. `what` begins the question. */
  async #isAllowed(hostname: string, what?: string): Promise<boolean> {
    const isHere =
      isLocalHost(hostname) ||
      ['0.0.0.0', '[::]'].includes(hostname) ||
      this.#parts.ownAddresses.includes(hostname);
    if (isHere || this.#options.allowedHost === hostname) return true;
    const place = what === undefined ? `${hostname} is` : `${what}, which is`;
    return await this.#agrees(`${place} not this machine. What you say would be sent to it. Use it?`);
  }

  async #agrees(question: string): Promise<boolean> {
    if (this.#parts.ask === undefined) return false;
    const answer = await this.#parts.ask(`${question} [y/N] `);
    if (answer === undefined) throw new Ended('', INTERRUPTED_STATUS);
    return /^y(?:es)?$/i.test(answer.trim());
  }

  async #agent({ server, model }: ModelChoice): Promise<Added> {
    const { baseUrl, apiKey, name } = server;
    this.#say(`Model: ${model} at ${name} (${baseUrl}). Waiting for its first word.`);
    const options = await this.#optionsOf(server, model);
    return {
      AGENT_LLM_URL: baseUrl,
      AGENT_LLM_MODEL: model,
      AGENT_LLM_API_KEY: apiKey,
      AGENT_LLM_OPTIONS: options === undefined ? undefined : JSON.stringify(options),
    };
  }

  /** Fields that switch thinking off, where the server takes them. Those of AGENT_LLM_OPTIONS go before. */
  async #optionsOf(server: ChatServer, model: string): Promise<Fields | undefined> {
    const stated = statedOptions(this.#env['AGENT_LLM_OPTIONS']);
    const candidates = stated === undefined ? thinkingOff(server.name) : [stated];
    const first = await firstAnswer(server, model, candidates, this.#parts);
    if (first.kind === 'refused') {
      const next = 'try another model with --model NAME, or another server with --llm URL';
      throw new Ended(`${model} at ${server.name} cannot be talked with: ${first.reason}; ${next}.`);
    }
    if (first.kind === 'slow')
      this.#say(
        `It said nothing for ${FIRST_WORD_MS / 1000} s. It may still be loading: the first answer may be late. If it stays silent, restart ${server.name}.`,
      );
    else if (first.thinks)
      this.#say(
        'It thinks before it speaks, and that cannot be switched off from here: answers will be late.',
      );
    return stated ?? first.options;
  }

  async #demo(): Promise<Added> {
    this.#say(
      'No chat server was found: a demo repeats what you say. For a conversation start one, such as Ollama',
    );
    this.#say(
      '(https://ollama.com) with "ollama pull qwen3:4b", and this command again; or state --llm URL.',
    );
    return {
      AGENT_GREETING: this.#env['AGENT_GREETING'] ?? DEMO_GREETING,
      AGENT_LLM_URL: await openDemoModel(),
      AGENT_LLM_MODEL: DEMO_MODEL,
      AGENT_LLM_API_KEY: undefined,
      AGENT_LLM_OPTIONS: undefined,
    };
  }

  /** A stated port is used as it is. Else the first one that is free. */
  async #port(): Promise<Added> {
    const { port } = this.#options;
    if (port !== undefined) return { PORT: port };
    if (nonEmpty(this.#env['PORT']) !== undefined) return {};
    const host = nonEmpty(this.#env['HOST']) ?? '127.0.0.1';
    for (let tried = FIRST_PORT; tried < FIRST_PORT + MOST_PORTS; tried++)
      if (await this.#parts.isFreePort(host, tried)) return { PORT: String(tried) };
    return { PORT: '0' }; // the system chooses
  }

  /** Says what there is to speak and to hear with, and offers what is missing. */
  async #completeSpeech(env: Environment): Promise<void> {
    const { voice, ears, missing } = speechParts(readConfig(env), env);
    this.#say(voice);
    this.#say(ears);
    if (missing.length === 0) return;
    const isSet = missing.length > 2;
    const names = isSet ? ['light'] : missing.map(({ name }) => name);
    const all = missing.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#say(`A neural voice and ears for English come with ${megabytes(all)}:`);
    for (const { name, bytes, licence } of missing) this.#say(`  ${name}  ${megabytes(bytes)}  ${licence}`);
    const commands = names.map((name) => `npm run parley -- pull ${name}`).join(' && ');
    if (!this.#options.agrees && !(await this.#agrees('Fetch them now?'))) {
      this.#say(`This fetches them: ${commands}`);
      return;
    }
    for (const name of names) {
      const status = await this.#parts.pull(name);
      if (status === INTERRUPTED_STATUS) throw new Ended('', status);
      if (status === 0) continue;
      this.#say(`The download did not end. This goes on where it stopped: ${commands}`);
      return;
    }
  }

  async #open(url: string, name: string): Promise<void> {
    this.#say(`Talk to ${name}: ${url}`);
    const { opens } = this.#options;
    if (opens && !(await this.#parts.openBrowser(url)))
      this.#say('No browser was opened: open the address in one.');
  }

  #say(text: string): void {
    this.#parts.out(`${text}\n`);
  }
}

/** Undefined where none are stated, or what is stated is no JSON: the configuration reports that. */
function statedOptions(text: string | undefined): Fields | undefined {
  try {
    return nonEmpty(text) === undefined ? undefined : (JSON.parse(text ?? '') as Fields);
  } catch {
    return undefined;
  }
}
