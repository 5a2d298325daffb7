// Writes public/docs/configuration.md from the table of variables and from what the readers accept.
//
//   npm run docs:configuration
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readConfig } from '../../src/config/config.js';
import { ConfigReader, type Environment } from '../../src/config/environment.js';
import { SECTIONS, type Variable, VARIABLES } from '../../src/config/variables.js';
import { ROOT } from './markdown.js';

export const PAGE = 'public/docs/configuration.md';

const HEAD = `# Configuration

Environment variables configure the server. \`--port\` and \`--host\` of the command line override \`PORT\` and \`HOST\`; \`--help\` and
\`--version\` print more. The program rejects any other argument with exit code 64.

\`\`\`sh
PORT=9000 LOG_LEVEL=debug npm start
\`\`\`

- The server reports all mistakes at once and ends with exit code 78. It warns about a name that is nearly one of these.
- A flag accepts \`1\`, \`true\`, \`yes\`, \`on\` and \`0\`, \`false\`, \`no\`, \`off\`.
- \`TORCH_COMPILE\` and its variants are accepted and have no effect.

The command \`npm run docs:configuration\` writes this page from \`src/config/variables.ts\` and from the readers beside it.
`;

const TEN = `## Ten variables to start with

A server starts without any of them. These decide most of what an installation needs: who reaches it, what it speaks with,
what it hears with, who talks, and how many calls it takes.
`;

/** The variables with which an installation begins, in the order in which one meets them. */
export const FIRST_TEN: readonly Variable[] = [
  'HOST',
  'API_KEYS',
  'PUBLIC_ADDRESS',
  'SIP_ALLOW',
  'MODEL_DIR',
  'DEVICE',
  'ASR_MODEL_DIR',
  'AGENT_LLM_URL',
  'AGENT_LLM_MODEL',
  'MAX_CALLS',
];

/** The variables of each section that matter most. The page lists them first, in this order. */
export const FIRST_OF_SECTION: Readonly<Record<keyof typeof SECTIONS, readonly Variable[]>> = {
  'Address and access': ['HOST', 'PORT', 'API_KEYS'],
  Engines: ['MODEL_DIR', 'DEFAULT_VOICE', 'TTS_BASE_URL'],
  Recognition: ['ASR_MODEL_DIR', 'ASR_BASE_URL', 'ALIGNER_MODEL_DIR'],
  Agents: ['AGENT_LLM_URL', 'AGENT_LLM_MODEL', 'AGENT_PROMPT'],
  'Model hub': [],
  'Native engine': ['DEVICE', 'QUANTIZE', 'MAX_STREAMS'],
  'Texts, queue and caches': ['MAX_TEXT_LENGTH', 'MAX_QUEUE_DEPTH', 'AUDIO_CACHE_BYTES'],
  Voices: ['VOICES_DIR', 'MAX_UPLOAD_BYTES', 'REFERENCE_URLS'],
  Calls: ['MAX_CALLS', 'MAX_CALLS_PER_CLIENT', 'DRAIN_TIMEOUT'],
  'Calls: network of browsers': ['ICE_ANNOUNCED_ADDRESSES', 'WEBRTC_UDP_PORT', 'ICE_SERVERS'],
  Hearing: ['TURN_SILENCE_MS', 'VAD_SENSITIVITY', 'BARGE_IN_IGNORE_BACKCHANNEL'],
  'Call programs': ['IVR_FILE', 'TWIML_URL', 'IVR_ALLOWED_HOSTS'],
  'SIP: listening and callers': ['SIP_HOST', 'PUBLIC_ADDRESS', 'SIP_ALLOW'],
  'SIP: calls': ['SIP_ROUTES', 'GREETING', 'SIP_CODECS'],
  'SIP: outbound calls': ['SIP_TRUNKS', 'SIP_DESTINATIONS', 'SIP_CALLS_PER_MINUTE'],
  'SIP: media': ['RTP_PORT_MIN', 'RTP_PORT_MAX', 'SRTP'],
  'Asterisk AudioSocket': ['AUDIOSOCKET_PORT', 'AUDIOSOCKET_ADDRESS', 'AUDIOSOCKET_ALLOW'],
  Recordings: ['RECORDINGS_DIR', 'RECORDING_MAX_AGE_DAYS', 'RECORDING_MAX_TOTAL_BYTES'],
  'Log, records and captures': ['LOG_LEVEL', 'CALL_WEBHOOK_URL', 'CALL_INCOMING_URL'],
};

interface Fact {
  readonly default: string;
  readonly values: string;
}

/** Notes the default and the accepted values that the readers state. */
class NotingReader extends ConfigReader<Variable> {
  readonly facts = new Map<Variable, Fact>();

  override number(name: Variable, fallback: number, min: number, max: number): number {
    this.facts.set(name, { default: String(fallback), values: `${shown(min)} to ${shown(max)}` });
    return super.number(name, fallback, min, max);
  }

  override flag(name: Variable, fallback = false): boolean {
    this.facts.set(name, { default: fallback ? '1' : '0', values: '0, 1' });
    return super.flag(name, fallback);
  }

  override choice<T extends string>(name: Variable, allowed: readonly T[], fallback: T): T {
    this.facts.set(name, { default: fallback, values: allowed.join(', ') });
    return super.choice(name, allowed, fallback);
  }
}

/** Variables that are read only if they are set. */
const SET: Environment = {
  UDP_PORT_MIN: '5000',
  UDP_PORT_MAX: '6000',
  SIP_TLS_PORT: '5061',
  CODEC_FORMAT: 'f32',
};

function shown(value: number): string {
  const power = Math.log2(value);
  return power > 20 && Number.isInteger(power) ? `2^${power}` : String(value);
}

function factsOf(env: Environment): ReadonlyMap<Variable, Fact> {
  const reader = new NotingReader(env);
  try {
    readConfig(env, undefined, reader);
  } catch {
    // Some settings miss others that they need; everything was read all the same.
  }
  return reader.facts;
}

/** Throws if no default is known of a variable. */
export function configurationPage(): string {
  const usual = factsOf({});
  const whenSet = factsOf(SET);
  const row = (name: Variable): string => {
    const entry = VARIABLES[name];
    const fallback = entry.default ?? usual.get(name)?.default;
    if (fallback === undefined) throw new Error(`src/config/variables.ts: ${name} has no default`);
    const values = entry.values ?? usual.get(name)?.values ?? whenSet.get(name)?.values ?? '';
    return `| \`${name}\` | ${entry.meaning} | ${values} | ${fallback} |`;
  };
  const tableOf = (names: readonly Variable[]): string =>
    `| variable | meaning | values | default |\n|---|---|---|---|\n${names.map(row).join('\n')}\n`;
  const sections = Object.entries(SECTIONS).map(([title, variables]) => {
    const first = FIRST_OF_SECTION[title as keyof typeof SECTIONS];
    const others = (Object.keys(variables) as Variable[]).filter((name) => !first.includes(name));
    return `## ${title}\n\n${adviceOf(first)}${tableOf([...first, ...others])}`;
  });
  return [HEAD, `${TEN}\n${tableOf(FIRST_TEN)}`, ...sections].join('\n');
}

/** The sentence that names the first variables of a section; empty for a section that has few. */
function adviceOf(first: readonly Variable[]): string {
  const names = first.map((name) => `\`${name}\``);
  if (names.length === 0) return '';
  return `Begin with ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.\n\n`;
}

const program = process.argv[1];
if (program !== undefined && import.meta.url === pathToFileURL(realpathSync(program)).href) {
  writeFileSync(join(ROOT, PAGE), configurationPage());
}
