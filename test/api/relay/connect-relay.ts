// Connects a call under test with an application of the ConversationRelay protocol.
import { relayOpener } from '../../../src/api/relay/relay-connection.js';
import type { Talk } from '../../../src/call/call-handler.js';
import type { RelayConfig } from '../../../src/config/relay-config.js';
import { ParleyError } from '../../../src/errors.js';
import type { HandledCallUnderTest } from '../../agents/handled-call.js';
import { CountedConnections } from '../../fakes/counted-connections.js';
import { buzz, ENGINE_RATE } from '../../fakes/engines.js';
import { SILENT_LOG } from '../../../src/log.js';

export const TOKEN = 'auth-token-of-a-test';

export const RELAY: Omit<RelayConfig, 'url'> = {
  name: 'bot',
  authToken: TOKEN,
  action: undefined,
  welcomeGreeting: undefined,
  welcomeGreetingInterruptible: 'any',
  ttsLanguage: 'en-US',
  transcriptionLanguage: 'en-US',
  voice: undefined,
  languages: [],
  hints: undefined,
  speechTimeoutMs: undefined,
  partialPrompts: false,
  interruptible: 'any',
  interruptSensitivity: 'high',
  reportInputDuringAgentSpeech: 'none',
  ignoreBackchannel: false,
  preemptible: false,
  dtmfDetection: false,
  events: new Set(),
  parameters: { tenant: 'acme' },
  lostSocket: 'resume',
  holdPhrase: 'One moment.',
  failurePhrase: 'Sorry, goodbye.',
  idle: undefined,
};

export function relayPartsOf(
  { callerTexts, time, engine: routing }: Pick<HandledCallUnderTest, 'callerTexts' | 'time' | 'engine'>,
  connections = new CountedConnections(),
) {
  const sounds = {
    read: (source: string) => {
      if (source !== 'https://sounds.example.com/a.wav')
        return Promise.reject(new ParleyError('AUDIO_INVALID', 'there is no such sound'));
      return Promise.resolve({ samples: buzz(400, 0.5), sampleRate: ENGINE_RATE });
    },
  };
  const log = SILENT_LOG;
  const randomBytes = (count: number) => Buffer.alloc(count, 7);
  return {
    callerTexts,
    sounds,
    routing,
    time,
    connections,
    unixMs: () => 1_700_000_000_000,
    log,
    randomBytes,
  };
}

export function connectRelay(
  under: HandledCallUnderTest,
  config: RelayConfig,
  connections = new CountedConnections(),
): Talk {
  return relayOpener(relayPartsOf(under, connections))(under.handled, config);
}
