// Connects the calls of programs with those who talk: agents of this server, applications of
// ConversationRelay, and bots of Media Streams.
import type { CallHandler, HandledCall, Talk } from '../call/call-handler.js';
import { FieldReader } from '../config/fields.js';
import { allowsHost } from '../config/allowed-hosts.js';
import { type MediaStreamConfig, readMediaStream } from '../config/media-stream-config.js';
import { type NamedRelays, readNamedRelay } from '../config/named-relay.js';
import type { RelayConfig } from '../config/relay-config.js';
import { ParleyError } from '../errors.js';
import type { ProgramTalks } from '../ivr/scene.js';
import type { Connect, ConnectEnd } from '../ivr/verbs.js';
import type { ForkStream } from './streams/stream-fork.js';
import type { RelayTold } from './relay/relay-connection.js';

export interface ProgramTalksParts {
  readonly handler: Pick<CallHandler, 'has' | 'handle'>;
  readonly namedRelays: NamedRelays;
  readonly openRelay: (handled: HandledCall, config: RelayConfig, told?: RelayTold) => Talk;
  readonly forkStream: ForkStream;
  readonly openMediaStream: (handled: HandledCall, config: MediaStreamConfig) => Talk;
  /** The program conducts its call again. */
  readonly left: (call: string) => void;
}

export function programTalks(parts: ProgramTalksParts): ProgramTalks {
  const { handler, namedRelays, openRelay, openMediaStream, forkStream } = parts;
  const connect = (to: Connect['to'], handled: HandledCall, told: (end: ConnectEnd) => void): Talk => {
    switch (to.kind) {
      case 'agent':
        return handler.handle(to.name, handled);
      case 'relay':
        return openRelay(handled, relayOf(to.fields, namedRelays), told);
      case 'stream':
        return openMediaStream(handled, streamOf(to.fields, namedRelays));
    }
  };
  const stream: ProgramTalks['stream'] = (fields, handled, told) =>
    forkStream(handled, streamOf(fields, namedRelays), told);
  return { connect, stream, left: parts.left };
}

/** Throws INVALID_FIELD with the first mistake. */
function relayOf(fields: object, relays: NamedRelays): RelayConfig {
  const read = new FieldReader();
  const relay = readNamedRelay(read, fields, 'relay', relays);
  if (relay === undefined) throw mistake(read);
  return relay;
}

/** Throws INVALID_FIELD with the first mistake. */
function streamOf(fields: object, { hosts, authToken }: NamedRelays): MediaStreamConfig {
  const read = new FieldReader();
  const stream = readMediaStream(read, fields, { name: 'a bot', at: 'stream', secret: () => undefined });
  if (stream === undefined || read.problems.length > 0) throw mistake(read);
  const url = new URL(stream.url);
  if (allowsHost(hosts, url)) return { ...stream, name: url.host, authToken };
  const host = JSON.stringify(url.host.slice(0, 100));
  const message = `stream.url must be at an allowed host, and ${host} is none; RELAY_ALLOWED_HOSTS lists those that are`;
  throw new ParleyError('INVALID_FIELD', message, { field: 'stream.url' });
}

function mistake({ problems: [first = 'it must be an object'] }: FieldReader): ParleyError {
  return new ParleyError('INVALID_FIELD', first);
}
