// Reads where connections of Asterisk's AudioSocket are taken.
import { type ConfigReader, isLoopback, isNetwork } from './environment.js';
import type { Variable } from './variables.js';

export interface AudioSocketConfig {
  readonly host: string;
  readonly port: number;
  /** Addresses and networks whose connections are taken; empty: those of this machine. */
  readonly allow: readonly string[];
  /** Name of the agent that talks; undefined: the usual one. */
  readonly agent: string | undefined;
}

/** Undefined without a port. */
export function readAudioSocket(read: ConfigReader<Variable>): AudioSocketConfig | undefined {
  const host = read.raw('AUDIOSOCKET_HOST') ?? '127.0.0.1';
  const allow = read.listOf('AUDIOSOCKET_ALLOW', 'addresses or networks such as 10.0.0.0/8', isNetwork);
  const port = read.integer('AUDIOSOCKET_PORT', 0, 0, 65_535);
  const agent = read.raw('AUDIOSOCKET_AGENT');
  if (read.raw('AUDIOSOCKET_PORT') === undefined) return undefined;
  if (!isLoopback(host) && allow.length === 0) {
    const wanted = 'the protocol has no password, so name those that may call';
    read.problem('AUDIOSOCKET_ALLOW', `must be set where AUDIOSOCKET_HOST is ${host}: ${wanted}`);
  }
  return { host, port, allow, agent };
}
