// A call under test and its application, with a real WebSocket between them.
import type { TestContext } from 'node:test';
import type { Talk } from '../../../src/call/call-handler.js';
import type { RelayConfig } from '../../../src/config/relay-config.js';
import { type HandledCallUnderTest, openHandledCall } from '../../agents/handled-call.js';
import { CountedConnections } from '../../fakes/counted-connections.js';
import type { openCalls } from '../../fakes/call-under-test.js';
import { connectRelay, RELAY } from './connect-relay.js';
import { RelayBackend, type RelaySocket } from './relay-backend.js';

export interface RelayUnderTest extends HandledCallUnderTest {
  readonly backend: RelayBackend;
  readonly talk: Talk;
  /** Counts of the connection. */
  readonly counted: readonly string[];
  /** The first socket. */
  readonly app: RelaySocket;
  say(token: string, more?: object): void;
}

export async function openRelay(
  t: TestContext,
  calls: ReturnType<typeof openCalls>,
  change: Partial<RelayConfig> = {},
): Promise<RelayUnderTest> {
  const backend = await RelayBackend.open(t);
  const under = openHandledCall(calls);
  const connections = new CountedConnections();
  const talk = connectRelay(under, { ...RELAY, url: backend.url, ...change }, connections);
  const app = await backend.socket();
  await app.message('setup');
  return {
    ...under,
    backend,
    talk,
    counted: connections.noted,
    app,
    say: (token, more = { last: true }) => app.send({ type: 'text', token, ...more }),
  };
}
