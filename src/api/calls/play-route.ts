// POST /v1/calls/{id}/play: a sound in JSON, in a form, or as the body itself.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../../errors.js';
import { untilGone } from '../http/reply-connection.js';
import { type PlayBody, type PlayRequest, readPlayBody } from './phone-commands.js';
import type { PhoneDesk } from './phone-desk.js';
import { type OnePhoneCall, PHONE_CALL, refuseWithoutDoor } from './phone-routes.js';
import { PLAY_FORM } from './phone-bodies-schema.js';
import { PLAY_SCHEMA } from './phone-calls-schema.js';
import { bodyLimitOf, type SpeechLimits } from '../openai/speech-routes.js';
import { FormBody, readForm, takeForms } from '../http/upload-form.js';

interface Playing extends OnePhoneCall {
  Querystring: { times?: string };
  Body: PlayBody | FormBody | Buffer | undefined;
}

const FILE_NAMES = ['file', 'audio'];

/** In a scope of its own: bodies that are files are no other routes' business. */
export function addPlayRoute(app: FastifyInstance, desk: PhoneDesk, limits: SpeechLimits): void {
  refuseWithoutDoor(app, desk);
  takeForms(app);
  for (const type of [/^audio\//, 'application/octet-stream']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  }
  const options = { schema: PLAY_SCHEMA, bodyLimit: bodyLimitOf(limits) };
  app.post<Playing>(`${PHONE_CALL}/play`, options, async (request, reply) => {
    const wish = readPlaying(request, limits);
    const answer = await desk.of(request.key).commands.play(request.params.id, wish, untilGone(reply));
    return reply.code(202).send(answer);
  });
}

function readPlaying(
  request: FastifyRequest<Playing>,
  { maxUploadBytes: maxBytes }: SpeechLimits,
): PlayRequest {
  const { body, query } = request;
  if (body instanceof FormBody) {
    const { fields, file } = readForm(request as FastifyRequest, PLAY_FORM, { names: FILE_NAMES, maxBytes });
    if (file === undefined) {
      throw new ParleyError('INVALID_FIELD', '"file" must be a file of sound', { field: 'file' });
    }
    return { source: file, field: 'file', times: fields['times'] as number | undefined };
  }
  if (Buffer.isBuffer(body)) {
    const times = query.times === undefined ? undefined : Number(query.times);
    return { source: body, field: 'body', times };
  }
  if (body !== undefined) return readPlayBody(body);
  const kinds = 'application/json, multipart/form-data, or a file of sound under audio/…';
  throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the body must be ${kinds}`);
}
