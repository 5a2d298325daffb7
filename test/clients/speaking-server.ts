// A server as users run it, for clients as users have them.
import { readConfig } from '../../src/config/config.js';
import type { Environment } from '../../src/config/environment.js';
import { startServer, type Server } from '../../src/main.js';

export const KEY = 'key-of-a-test-client';

/** With the embedded engine, on a port that the system chooses; it wants KEY. */
export function speakingServer(environment: Environment = {}): Promise<Server> {
  const own = { PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', LOG_LEVEL: 'silent', API_KEYS: KEY };
  return startServer(readConfig({ ...own, ...environment }));
}

/** Two sentences, so that something is made while something is sent. */
export const TEXT = 'Your order has shipped. It arrives on Tuesday.';
