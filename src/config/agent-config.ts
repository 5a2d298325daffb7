// Reads the agents of this server: the one that the environment describes, and those of AGENTS_FILE:
//
//   {"agents": {
//     "sales": {"prompt": "You sell tea.", "greeting": "Good morning.", "voice": "slt",
//               "transfers": {"person": "sip:200@pbx.example.com"},
//               "tools": [{"name": "order_status", "description": "State of an order",
//                          "parameters": {"type": "object", "properties": {"order": {"type": "string"}}},
//                          "url": "https://shop.example.com/tools/order"}]}},
//    "default": "sales"}
//
// An agent has the model of the environment, unless it names its own.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ConfigReader, Environment } from './environment.js';
import { FieldReader, type Fields, isFields } from './fields.js';
import { IDLE_FIELDS, IDLE_SECONDS, type IdleCallerConfig, readIdle, usualIdle } from './idle-config.js';
import { type MediaStreamConfig, readMediaStream } from './media-stream-config.js';
import { readRelay, type RelayConfig } from './relay-config.js';
import { type ChatServerConfig, isHttpUrl, problemOfOptions, readChatServer } from './recognition-config.js';
import type { Variable } from './variables.js';

/** A function of the operator's, which the model may call: its arguments go to the address as JSON. */
export interface AgentToolConfig {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Fields;
  readonly url: string;
  /** Value of the Authorization field; undefined: none is sent. */
  readonly authorization: string | undefined;
  readonly timeoutMs: number;
}

export interface AgentConfig {
  readonly name: string;
  readonly model: ChatServerConfig;
  readonly temperature: number | undefined;
  readonly prompt: string;
  readonly greeting: string | undefined;
  readonly voice: string | undefined;
  /** BCP 47 tag of the conversation; undefined: it is found in what is said. */
  readonly language: string | undefined;
  /** Names and words that callers may say, for the recogniser. */
  readonly hints: string | undefined;
  /** The input of the caller that interrupts the agent. */
  readonly interruptible: (typeof INTERRUPTIONS)[number];
  /** Targets to which the model may transfer a telephone call, by the names that it uses. */
  readonly transfers: ReadonlyMap<string, string>;
  readonly tools: readonly AgentToolConfig[];
  /** Milliseconds without an answer after which the filler is spoken. */
  readonly fillerMs: number;
  readonly filler: string | undefined;
  /** Spoken when the model gives no answer. */
  readonly failure: string;
  /** Answers in a row that may fail before the call ends. */
  readonly mostFailures: number;
  /** Undefined: a caller may be silent for as long as the call lasts. */
  readonly idle: IdleCallerConfig | undefined;
  /** Milliseconds of silence after which the model is asked before the turn is decided; 0: never. */
  readonly earlyStartMs: number;
}

export interface AgentsConfig {
  readonly agents: ReadonlyMap<string, AgentConfig>;
  /** Backends with Twilio's ConversationRelay protocol. No name is in two of these maps. */
  readonly relays: ReadonlyMap<string, RelayConfig>;
  /** Bots with speech of their own, with the protocol of Twilio's Media Streams. */
  readonly mediaStreams: ReadonlyMap<string, MediaStreamConfig>;
  /** Name of the agent that takes calls for which none is named; undefined: no agent takes them. */
  readonly usual: string | undefined;
  /** Agents that name no voice have this one; undefined without the agent of the environment. */
  readonly usualVoice?: Pick<AgentConfig, 'voice' | 'language'> | undefined;
  /** The model of AGENT_LLM_URL. */
  readonly usualModel?: ChatServerConfig | undefined;
}

/** True if an agent of any kind has this name. */
export function isAgent({ agents, relays, mediaStreams }: AgentsConfig, name: string): boolean {
  return agents.has(name) || relays.has(name) || mediaStreams.has(name);
}

const INTERRUPTIONS = ['none', 'dtmf', 'speech', 'any'] as const;
const OWN_NAME = 'default';
const USUAL_PROMPT = [
  'You are a helpful assistant in a telephone call. What you write is spoken to the caller.',
  'Answer in one to three short sentences of plain spoken language, without lists, markup or emoji.',
  'What the caller says was recognised by a machine and may have mistakes: ask if it makes no sense.',
].join(' ');
const FILLER = 'One moment, please.';
const FAILURE = 'I am sorry, I could not find an answer. Please say that again.';
const FILLER_SECONDS = 3;
const MOST_FAILURES = 3;
const TOOL_SECONDS = 10;
const MOST_EARLY_MS = 5000;
/** The wait after a pause was found. A recogniser that is quick has told the text of the pause by then. */
const DEFAULT_EARLY_START_MS = 20;
const MOST_AGENTS = 1000;
const MOST_TOOLS = 64;
const MOST_PROMPT = 32_000; // characters
const MOST_PHRASE = 1000; // characters
const MOST_FILE_BYTES = 1024 * 1024;
/** Function names of OpenAI's chat endpoint. */
const TOOL_NAME = /^[A-Za-z_][\w-]{0,63}$/;
const AGENT_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
const BUILT_IN_TOOLS = [
  'hang_up',
  'transfer_call',
  'warm_transfer',
  'send_digits',
  'collect_digits',
] as const;

const FIELDS = {
  file: ['agents', 'default'],
  agent: [
    'url',
    'model',
    'keyEnv',
    'options',
    'temperature',
    'prompt',
    'promptFile',
    'greeting',
    'voice',
    'language',
    'hints',
    'interruptible',
    'transfers',
    'tools',
    'filler',
    'fillerSeconds',
    'failure',
    'mostFailures',
    ...IDLE_FIELDS,
    'earlyStartMs',
  ],
  tool: ['name', 'description', 'parameters', 'url', 'authorizationEnv', 'timeoutSeconds'],
} as const;

export function readAgentsConfig(read: ConfigReader<Variable>, env: Environment): AgentsConfig {
  const own = readOwn(read);
  const path = read.raw('AGENTS_FILE');
  const named: NamedAgents = { agents: new Map(), relays: new Map(), mediaStreams: new Map() };
  if (own !== undefined) named.agents.set(OWN_NAME, own);
  const usualVoice = own && { voice: own.voice, language: own.language };
  if (path === undefined) return { ...named, usual: own?.name, usualVoice, usualModel: own?.model };
  const file = new AgentsFile({ path, env, own });
  const usual = file.read(named);
  for (const problem of file.problems) read.problem('AGENTS_FILE', `(${path}): ${problem}`);
  return { ...named, usual: usual ?? own?.name, usualVoice, usualModel: own?.model };
}

interface NamedAgents {
  readonly agents: Map<string, AgentConfig>;
  readonly relays: Map<string, RelayConfig>;
  readonly mediaStreams: Map<string, MediaStreamConfig>;
}

const DEFAULTS = {
  temperature: undefined,
  hints: undefined,
  interruptible: 'any',
  transfers: new Map<string, string>(),
  tools: [],
  fillerMs: FILLER_SECONDS * 1000,
  filler: FILLER,
  failure: FAILURE,
  mostFailures: MOST_FAILURES,
} as const;

const OWN_VARIABLES = [
  'AGENT_PROMPT',
  'AGENT_GREETING',
  'AGENT_VOICE',
  'AGENT_LANGUAGE',
  'AGENT_IDLE_TIMEOUT',
  'AGENT_EARLY_START_MS',
] as const;

/** The agent of the environment; undefined if no model is set. */
function readOwn(read: ConfigReader<Variable>): AgentConfig | undefined {
  const model = readChatServer(read, {
    url: 'AGENT_LLM_URL',
    key: 'AGENT_LLM_API_KEY',
    model: 'AGENT_LLM_MODEL',
    options: 'AGENT_LLM_OPTIONS',
  });
  const earlyStartMs = read.integer('AGENT_EARLY_START_MS', DEFAULT_EARLY_START_MS, 0, MOST_EARLY_MS);
  const lone = OWN_VARIABLES.find((name) => read.raw(name) !== undefined);
  if (model === undefined) {
    if (lone !== undefined) read.problem(lone, 'has no effect without AGENT_LLM_URL');
    return undefined;
  }
  const greeting = read.raw('AGENT_GREETING');
  if ((greeting?.length ?? 0) > MOST_PHRASE)
    read.problem('AGENT_GREETING', `must have at most ${MOST_PHRASE} characters`);
  return {
    ...DEFAULTS,
    name: OWN_NAME,
    model,
    prompt: readPrompt(read),
    greeting,
    voice: read.raw('AGENT_VOICE'),
    language: read.raw('AGENT_LANGUAGE'),
    earlyStartMs,
    idle: usualIdle(read.number('AGENT_IDLE_TIMEOUT', 0, ...IDLE_SECONDS)),
  };
}

function readPrompt(read: ConfigReader<Variable>): string {
  const given = read.raw('AGENT_PROMPT') ?? USUAL_PROMPT;
  const text = given.startsWith('@')
    ? textOf(given.slice(1), (what) =>
        read.problem('AGENT_PROMPT', `names the file ${given.slice(1)}, which ${what}`),
      )
    : given;
  if (text.length > MOST_PROMPT) read.problem('AGENT_PROMPT', `must have at most ${MOST_PROMPT} characters`);
  return text;
}

/** Empty if the file cannot be read, which is a problem. */
function textOf(path: string, problem: (what: string) => void): string {
  try {
    if (statSync(path).size <= MOST_FILE_BYTES)
      return readFileSync(path, 'utf8')
        .replace(/^\uFEFF/, '')
        .trim();
    problem(`must have at most ${MOST_FILE_BYTES} bytes`);
  } catch (error) {
    problem(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'failed'}`);
  }
  return '';
}

interface FileParts {
  readonly path: string;
  readonly env: Environment;
  readonly own: AgentConfig | undefined;
}

type BackendReader<T> = (
  read: FieldReader,
  value: unknown,
  place: { name: string; at: string; secret: (variable: string) => string | undefined },
) => T | undefined;

function setIf<T>(map: Map<string, T>, name: string, value: T | undefined): void {
  if (value !== undefined) map.set(name, value);
}

class AgentsFile {
  readonly #read = new FieldReader();
  readonly #parts: FileParts;

  constructor(parts: FileParts) {
    this.#parts = parts;
  }

  get problems(): readonly string[] {
    return this.#read.problems;
  }

  /** Adds the agents of the file. Returns the name of the default. */
  read({ agents, relays, mediaStreams }: NamedAgents): string | undefined {
    const content = this.#content();
    if (content === undefined || !this.#read.fields(content, 'the file', FIELDS.file)) return undefined;
    const { agents: named } = content;
    if (!isFields(named) || Object.keys(named).length > MOST_AGENTS)
      return this.#read.problem('agents', `must be an object of at most ${MOST_AGENTS} agents by name`);
    for (const [name, value] of Object.entries(named)) {
      const at = `agents.${name.slice(0, 100)}`;
      if (!AGENT_NAME.test(name))
        this.#read.problem(at, 'must be named by letters, digits and ".", "-", "_"');
      agents.delete(name); // the file goes before the environment
      if (isFields(value) && value['relay'] !== undefined)
        setIf(relays, name, this.#backend('relay', readRelay, value, name, at));
      else if (isFields(value) && value['mediaStream'] !== undefined)
        setIf(mediaStreams, name, this.#backend('mediaStream', readMediaStream, value, name, at));
      else setIf(agents, name, this.#agent(value, name, at));
    }
    const usual = this.#read.text(content, 'default', 'the file', 100);
    if (usual !== undefined && !Object.hasOwn(named, usual) && !agents.has(usual))
      return this.#read.problem('default', `names "${usual}", which is no agent`);
    return usual;
  }

  /** An agent whose only field describes a backend. */
  #backend<T>(
    field: string,
    reader: BackendReader<T>,
    value: Fields,
    name: string,
    at: string,
  ): T | undefined {
    if (!this.#read.fields(value, at, [field])) return undefined;
    const secret = (variable: string) => {
      const found = this.#parts.env[variable]?.trim() ?? '';
      if (found !== '') return found;
      return this.#read.problem(
        `${at}.${field}.authTokenEnv`,
        `names the variable ${variable}, which is not set`,
      );
    };
    return reader(this.#read, value[field], { name, at: `${at}.${field}`, secret });
  }

  #content(): unknown {
    const text = textOf(this.#parts.path, (what) => this.#read.problem('the file', what));
    if (this.problems.length > 0) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      return this.#read.problem('the file', `is not JSON: ${(error as Error).message}`);
    }
  }

  #agent(value: unknown, name: string, at: string): AgentConfig | undefined {
    if (!this.#read.fields(value, at, FIELDS.agent)) return undefined;
    const { own } = this.#parts;
    const model = this.#model(value, at);
    if (model === undefined) return undefined;
    const seconds = this.#read.number(value, 'fillerSeconds', at, 0.2, 60);
    const interruptible = this.#read.word(value, 'interruptible', at, INTERRUPTIONS);
    const filler = this.#phrase(value, 'filler', at) ?? DEFAULTS.filler;
    return {
      ...DEFAULTS,
      name,
      model,
      temperature: this.#read.number(value, 'temperature', at, 0, 2),
      prompt: this.#prompt(value, at) ?? own?.prompt ?? USUAL_PROMPT,
      greeting: this.#phrase(value, 'greeting', at),
      voice: this.#read.text(value, 'voice', at, 100) ?? own?.voice,
      language: this.#read.text(value, 'language', at, 35) ?? own?.language,
      hints: this.#phrase(value, 'hints', at),
      interruptible: interruptible ?? DEFAULTS.interruptible,
      transfers: this.#transfers(value['transfers'], `${at}.transfers`),
      tools: this.#tools(value['tools'], `${at}.tools`),
      fillerMs: seconds === undefined ? DEFAULTS.fillerMs : seconds * 1000,
      filler: filler === '-' ? undefined : filler,
      failure: this.#phrase(value, 'failure', at) ?? DEFAULTS.failure,
      mostFailures: this.#read.integer(value, 'mostFailures', at, 1, 100) ?? DEFAULTS.mostFailures,
      idle: readIdle(this.#read, value, at, own?.idle),
      earlyStartMs:
        this.#read.integer(value, 'earlyStartMs', at, 0, MOST_EARLY_MS) ??
        own?.earlyStartMs ??
        DEFAULT_EARLY_START_MS,
    };
  }

  #model(agent: Fields, at: string): ChatServerConfig | undefined {
    const { own } = this.#parts;
    const url = this.#read.text(agent, 'url', at, 1000);
    if (url !== undefined && !isHttpUrl(url))
      return this.#read.problem(`${at}.url`, 'must be an http or https URL without user, query and fragment');
    const baseUrl = url?.replace(/\/+$/, '') ?? own?.model.baseUrl;
    const model = this.#read.text(agent, 'model', at, 200) ?? own?.model.model;
    if (baseUrl === undefined || model === undefined)
      return this.#read.problem(at, 'needs "url" and "model", or AGENT_LLM_URL and AGENT_LLM_MODEL');
    // A key and options belong to their server alone.
    const usual = url === undefined ? own?.model : undefined;
    const server = { baseUrl, model, apiKey: this.#secret(agent, 'keyEnv', at) ?? usual?.apiKey };
    const options = this.#options(agent['options'], at) ?? usual?.options;
    return options === undefined ? server : { ...server, options };
  }

  #options(value: unknown, at: string): Fields | undefined {
    if (value === undefined) return undefined;
    const problem = problemOfOptions(value);
    if (problem !== undefined) return this.#read.problem(`${at}.options`, problem);
    return isFields(value) ? value : undefined;
  }

  #secret(fields: Fields, name: 'keyEnv' | 'authorizationEnv', at: string): string | undefined {
    const variable = this.#read.text(fields, name, at, 200);
    if (variable === undefined) return undefined;
    const value = this.#parts.env[variable]?.trim() ?? '';
    if (/^[\x20-\x7e]+$/.test(value)) return value;
    return this.#read.problem(`${at}.${name}`, `names the variable ${variable}, which must be set, in ASCII`);
  }

  #prompt(agent: Fields, at: string): string | undefined {
    const file = this.#read.text(agent, 'promptFile', at, 1000);
    if (file === undefined) return this.#phrase(agent, 'prompt', at, MOST_PROMPT);
    if (agent['prompt'] !== undefined)
      return this.#read.problem(at, 'must have at most one of prompt, promptFile');
    const path = resolve(dirname(this.#parts.path), file);
    const text = textOf(path, (what) => this.#read.problem(`${at}.promptFile`, what));
    if (text.length <= MOST_PROMPT) return text;
    return this.#read.problem(`${at}.promptFile`, `must have at most ${MOST_PROMPT} characters`);
  }

  #phrase(fields: Fields, name: string, at: string, most = MOST_PHRASE): string | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value.trim() !== '' && value.length <= most) return value.trim();
    return this.#read.problem(`${at}.${name}`, `must be a text of 1 to ${most} characters`);
  }

  #transfers(value: unknown, at: string): ReadonlyMap<string, string> {
    const targets = new Map<string, string>();
    if (value === undefined) return targets;
    if (!isFields(value) || Object.keys(value).length > MOST_TOOLS) {
      this.#read.problem(at, `must be an object of at most ${MOST_TOOLS} numbers or SIP URIs by name`);
      return targets;
    }
    for (const name of Object.keys(value)) {
      const target = this.#read.text(value, name, at, 255);
      if (target !== undefined) targets.set(name, target);
    }
    return targets;
  }

  #tools(value: unknown, at: string): AgentToolConfig[] {
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > MOST_TOOLS) {
      this.#read.problem(at, `must be a list of at most ${MOST_TOOLS} tools`);
      return [];
    }
    const tools = value.flatMap((tool: unknown, index) => this.#tool(tool, `${at}[${index}]`) ?? []);
    const names = tools.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) this.#read.problem(at, `has two tools of the name "${twice}"`);
    return tools;
  }

  #tool(value: unknown, at: string): AgentToolConfig | undefined {
    if (!this.#read.fields(value, at, FIELDS.tool)) return undefined;
    const name = this.#read.text(value, 'name', at, 64) ?? '';
    const url = this.#read.text(value, 'url', at, 1000) ?? '';
    const { parameters = { type: 'object', properties: {} } } = value;
    if (!TOOL_NAME.test(name))
      this.#read.problem(`${at}.name`, 'must be a name of letters, digits, "_" and "-"');
    if (BUILT_IN_TOOLS.some((one) => one === name))
      this.#read.problem(`${at}.name`, `must not be that of a built-in tool: ${BUILT_IN_TOOLS.join(', ')}`);
    if (!isHttpUrl(url))
      this.#read.problem(`${at}.url`, 'must be an http or https URL without user, query and fragment');
    if (!isFields(parameters))
      return this.#read.problem(`${at}.parameters`, 'must be a JSON Schema, an object');
    const description = this.#phrase(value, 'description', at) ?? name;
    const timeoutSeconds = this.#read.number(value, 'timeoutSeconds', at, 0.1, 120) ?? TOOL_SECONDS;
    const authorization = this.#secret(value, 'authorizationEnv', at);
    return { name, description, parameters, url, authorization, timeoutMs: timeoutSeconds * 1000 };
  }
}
