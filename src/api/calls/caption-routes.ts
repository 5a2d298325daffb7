// Streams the captions of a call as server-sent events: GET /v1/calls/{id}/captions.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caption, CallCaptions, CaptionEvent } from '../../call/call-captions.js';
import { ParleyError } from '../../errors.js';
import { vttCue } from '../../transcribing/subtitle-files.js';
import { errorReply } from '../http/error-reply.js';
import { type RouteSchema, object, STRING, TAGS } from '../http/json-schema.js';
import type { EventReplies } from './event-replies.js';

export type CaptionSource = Pick<CallCaptions, 'follow'>;

interface Watching {
  Params: { id: string };
  Querystring: { after?: string; partials?: string };
}

const CAPTIONS_SCHEMA: RouteSchema = {
  summary: 'What both sides of a call say, as server-sent events',
  description:
    'The first event is `captions.started`, with the time from which the others count and whether the caller is recognised. ' +
    '`caption` has `side` (`caller` or `voice`), `number`, `start` and `end` in seconds, `text`, `final`, `language` and the text as a cue of WebVTT in `vtt`; ' +
    'a caption that is not final is told again under its `number`. `captions.failed` says that the caller is not recognised for now. `captions.ended` is the last.',
  tags: [TAGS.transcription],
  params: object({
    id: { ...STRING, description: 'of a call by telephone, browser, AudioSocket or WebSocket' },
  }),
  querystring: {
    type: 'object',
    properties: {
      after: {
        type: 'string',
        pattern: '^\\d{1,15}$',
        description: 'the id of an event: only later ones; the header Last-Event-ID goes before it',
        'x-must-be': 'the id of an event',
      },
      partials: {
        type: 'string',
        pattern: '^(true|false|1|0)$',
        description: 'false: only captions that are final',
        'x-must-be': 'true or false',
      },
    },
  },
  response: {
    200: { description: 'the events', content: { 'text/event-stream': { schema: STRING } } },
    404: { description: 'there is no open call of this id' },
  },
};

interface CaptionParts {
  /** Undefined: the server has no calls. */
  readonly captions: CaptionSource | undefined;
  readonly events: EventReplies;
}

export function addCaptionRoutes(app: FastifyInstance, { captions, events }: CaptionParts): void {
  const options = { schema: CAPTIONS_SCHEMA, exposeHeadRoute: false }; // a HEAD would wait for the end
  app.get<Watching>('/v1/calls/:id/captions', options, (request, reply) => {
    if (captions === undefined) throw new ParleyError('NOT_FOUND', 'there is no open call of this id');
    const { params, query, key } = request;
    const onlyFinal = query.partials === 'false' || query.partials === '0';
    const after = lastSeen(request);
    events.send(reply, (onEvent) =>
      captions.follow(params.id, key, after, ({ id, event }) => {
        if (onlyFinal && event.type === 'caption' && !event.caption.isFinal) return;
        const { type, ...data } = eventJson(event, request.id);
        onEvent({ id, type, data: { type, call: params.id, ...data }, isLast: event.type === 'ended' });
      }),
    );
    return reply;
  });
}

/** The id of the last event that the client has. A client that connects again states it in the header. */
function lastSeen({ headers, query }: FastifyRequest<Watching>): number {
  const header = headers['last-event-id'];
  if (header === undefined || header === '') return Number(query.after ?? 0);
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  const field = 'Last-Event-ID';
  throw new ParleyError('INVALID_FIELD', `"${field}" must be the id of an event`, { field });
}

function eventJson(
  event: CaptionEvent,
  requestId: string,
): { readonly type: string } & Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'started': {
      const started_at = new Date(event.startedMs).toISOString();
      return { type: 'captions.started', started_at, caller_recognised: event.isCallerRecognised };
    }
    case 'caption':
      return { type: 'caption', ...captionJson(event.caption) };
    case 'failed':
      return { type: 'captions.failed', ...errorReply(event.error, requestId).body };
    case 'ended':
      return { type: 'captions.ended', reason: event.reason };
  }
}

const VOICES = { caller: 'Caller', voice: 'Voice' } as const;

function captionJson({ side, number, beginMs, endMs, text, isFinal, language }: Caption) {
  const cue = vttCue({ beginMs, endMs: Math.max(endMs, beginMs + 1), lines: [text], words: [] });
  const [times, words] = [cue.slice(0, cue.indexOf('\n')), cue.slice(cue.indexOf('\n') + 1).trimEnd()];
  return {
    side,
    number,
    start: beginMs / 1000,
    end: endMs / 1000,
    text,
    final: isFinal,
    language: language ?? null,
    vtt: `${times}\n<v ${VOICES[side]}>${words}`,
  };
}
