// Reads the variables of Asterisk's AudioSocket: the TCP address that its calls come to, and who takes them.
import { type AccessConfig, apiKeyIn } from './access-config.js';
import { type AgentsConfig, isAgent } from './agent-config.js';
import { type ConfigReader, isLoopback, isNetwork } from './environment.js';
import type { Variable } from './variables.js';

export interface AudioSocketConfig {
  readonly address: string;
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** Addresses and networks whose connections are accepted. */
  readonly allow: readonly string[];
  /** Name of the agent that takes the calls, or `none`; undefined: the usual one. */
  readonly agent: string | undefined;
  /** Milliseconds after which a call ends that nobody conducts. */
  readonly unansweredMs: number;
  /** Name of the API key that the calls belong to; undefined: to every key. */
  readonly key: string | undefined;
}

type ApiKeys = Pick<AccessConfig, 'apiKeys' | 'apiKeysFile'>;

const LOOPBACK = ['127.0.0.0/8', '::1'] as const;
const DEPENDENT = [
  'AUDIOSOCKET_ADDRESS',
  'AUDIOSOCKET_ALLOW',
  'AUDIOSOCKET_AGENT',
  'AUDIOSOCKET_UNANSWERED_SECONDS',
  'AUDIOSOCKET_KEY',
] as const;
const NO_AGENT = 'none';

/** Undefined if no calls are taken over AudioSocket. */
export function readAudioSocketConfig(
  read: ConfigReader<Variable>,
  agents: AgentsConfig,
  keys: ApiKeys,
): AudioSocketConfig | undefined {
  const isOn = read.raw('AUDIOSOCKET_PORT') !== undefined;
  const port = read.integer('AUDIOSOCKET_PORT', 0, 0, 65_535);
  const address = read.raw('AUDIOSOCKET_ADDRESS') ?? '127.0.0.1';
  const allow = read.listOf('AUDIOSOCKET_ALLOW', 'addresses or networks such as 10.0.0.0/8', isNetwork);
  const agent = read.raw('AUDIOSOCKET_AGENT');
  const unansweredMs = read.number('AUDIOSOCKET_UNANSWERED_SECONDS', 30, 1, 3600) * 1000;
  const key = read.raw('AUDIOSOCKET_KEY');
  if (!isOn) {
    for (const name of DEPENDENT)
      if (read.raw(name) !== undefined) read.problem(name, 'needs AUDIOSOCKET_PORT, the port of AudioSocket');
    return undefined;
  }
  if (!isLoopback(address) && allow.length === 0) {
    const wanted = 'set AUDIOSOCKET_ALLOW to the addresses of your Asterisk servers';
    read.problem(
      'AUDIOSOCKET_ADDRESS',
      `${address} is open to others, and the protocol has no keys: ${wanted}`,
    );
  }
  if (agent !== undefined && agent !== NO_AGENT && !isAgent(agents, agent))
    read.problem('AUDIOSOCKET_AGENT', `must be the name of an agent, or none, not "${agent}"`);
  checkKey(read, key, keys);
  return { address, port, allow: allow.length === 0 ? LOOPBACK : allow, agent, unansweredMs, key };
}

/**
 * The mistake is told without the value, which may be the key itself. The names in API_KEYS_FILE are read
 * later.
 */
function checkKey(
  read: ConfigReader<Variable>,
  key: string | undefined,
  { apiKeys, apiKeysFile }: ApiKeys,
): void {
  if (key === undefined || apiKeysFile !== undefined) return;
  if (apiKeys.some((entry) => apiKeyIn(entry).name === key)) return;
  read.problem('AUDIOSOCKET_KEY', 'must be the name of a key of API_KEYS, where a name comes before its key');
}
