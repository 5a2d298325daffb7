// The routes that a client needs before its call: a secret for a web page, made by an application with its
// API key, the ICE servers for the RTCPeerConnection, and the agents that may talk in the call.
import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { AgentsConfig } from '../../config/agent-config.js';
import type { ClientSecrets } from '../http/client-secrets.js';
import {
  BOOLEAN,
  INTEGER,
  jsonAnswer,
  listOf,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import type { IceServers } from './ice-servers.js';

const SHORTEST_SECONDS = 10; // the limits and the default are OpenAI's
const LONGEST_SECONDS = 7200;
const DEFAULT_SECONDS = 600;
const MAX_BODY_BYTES = 64 * 1024;

interface SecretBody {
  readonly expires_after?: { readonly seconds?: number };
  readonly session?: Readonly<Record<string, unknown>>;
}

const SECRET_SCHEMA: RouteSchema = {
  summary: 'Make a secret with which a web page opens calls for a short time',
  description:
    'The secret opens calls for the API key of this request, at /v1/realtime/calls, /whip and /whep, and ' +
    'WebSockets of /v1/realtime.',
  tags: [TAGS.calls],
  body: object(
    {
      expires_after: object(
        {
          anchor: { type: 'string', enum: ['created_at'] },
          seconds: {
            type: 'integer',
            minimum: SHORTEST_SECONDS,
            maximum: LONGEST_SECONDS,
            default: DEFAULT_SECONDS,
          },
        },
        ['anchor', 'seconds'],
      ),
      session: {
        type: 'object',
        description:
          'session of the calls that it opens, for the data channel `oai-events` or `relay`, or of its ' +
          'WebSockets. Those with the type `transcription` transcribe, and speak nothing.',
      },
    },
    ['expires_after', 'session'],
  ),
  response: {
    200: jsonAnswer(
      'the secret',
      object({
        value: { ...STRING, description: 'a bearer token' },
        expires_at: { ...INTEGER, description: 'second of the epoch' },
        session: { type: 'object' },
      }),
    ),
  },
};

const ICE_SERVERS_SCHEMA: RouteSchema = {
  summary: 'ICE servers for a client',
  description:
    'The answer may be the configuration of an RTCPeerConnection. Credentials are new in each answer.',
  tags: [TAGS.calls],
  response: {
    200: jsonAnswer(
      'the servers; none if ICE_SERVERS is not set',
      object({
        iceServers: listOf(
          object({ urls: listOf(STRING), username: STRING, credential: STRING }, ['username', 'credential']),
        ),
        ttlSeconds: { ...INTEGER, description: 'seconds for which the credentials are valid' },
      }),
    ),
  },
};

const AGENTS_SCHEMA: RouteSchema = {
  summary: 'Agents that can talk in calls',
  description: 'A page may say before a call who answers it, and ask for the microphone if it is heard.',
  tags: [TAGS.calls],
  response: {
    200: jsonAnswer(
      'the agents',
      object({
        object: { type: 'string', enum: ['list'] },
        data: listOf(
          object(
            {
              id: { ...STRING, description: 'the name that calls give as `agent`' },
              object: { type: 'string', enum: ['agent'] },
              model: { ...STRING, description: 'the language model; absent for an application of its own' },
              default: { ...BOOLEAN, description: 'it takes the calls that name no agent' },
              hears: { ...BOOLEAN, description: 'false: it reads typed text and keys only' },
            },
            ['model'],
          ),
        ),
      }),
    ),
  },
};

interface PreparationParts {
  readonly agents: AgentsConfig | undefined;
  /** True if the server recognises what callers say. */
  readonly recognisesSpeech: boolean;
  readonly secrets: ClientSecrets;
  readonly iceServers: IceServers;
  /** Milliseconds of the wall clock; default: the system's. */
  readonly now?: () => number;
}

export function addCallPreparationRoutes(
  app: FastifyInstance,
  { secrets, iceServers, agents, recognisesSpeech, now = Date.now }: PreparationParts,
): void {
  const options = { schema: SECRET_SCHEMA, bodyLimit: MAX_BODY_BYTES };
  app.post<{ Body: SecretBody }>('/v1/realtime/client_secrets', options, ({ body, key }, reply) => {
    const { expires_after, session } = body;
    const seconds = expires_after?.seconds ?? DEFAULT_SECONDS;
    const value = secrets.make(key, seconds, session);
    const id = `sess_${randomUUID()}`;
    const type =
      session?.['type'] === 'transcription' ? 'realtime.transcription_session' : 'realtime.session';
    return reply.header('cache-control', 'no-store').send({
      value,
      expires_at: Math.floor(now() / 1000) + seconds,
      session: { type: 'realtime', ...session, object: type, id },
    });
  });

  const access = { schema: ICE_SERVERS_SCHEMA, config: { access: 'call' } } as const;
  app.get('/v1/realtime/ice_servers', access, (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .send({ iceServers: iceServers.forClient(), ttlSeconds: iceServers.ttlSeconds }),
  );

  const list = { object: 'list', data: agents === undefined ? [] : listed(agents, recognisesSpeech) };
  app.get('/v1/agents', { schema: AGENTS_SCHEMA }, () => list);
}

/** A bot with speech of its own hears callers without a recogniser of this server. */
function listed({ agents, relays, mediaStreams, usual }: AgentsConfig, recognisesSpeech: boolean) {
  return [...agents.keys(), ...relays.keys(), ...mediaStreams.keys()].map((id) => ({
    id,
    object: 'agent',
    model: agents.get(id)?.model.model,
    default: id === usual,
    hears: recognisesSpeech || mediaStreams.has(id),
  }));
}
