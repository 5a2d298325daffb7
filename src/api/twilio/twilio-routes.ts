// Twilio's REST API for calls: client libraries of Twilio work with this server as their base URL.
// https://www.twilio.com/docs/voice/api/call-resource
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../log.js';
import { readCallChange, readCallOrder } from './call-order.js';
import { callFilter, accountPath, API_VERSION, callJson } from './call-resource.js';
import { pageOf } from './resource-pages.js';
import type { RestCalls } from './rest-calls.js';
import { callSid } from '../twiml/sids.js';
import { notFound, NUMBERS, RestError, restErrorReply } from './rest-error.js';
import { formOf, originOf, queryOf } from './rest-request.js';
import { MOST_FORM_BYTES } from './rest-form.js';
import { RecordingResources } from './recording-resources.js';
import { addRecordingRoutes } from './recording-routes.js';

export interface TwilioParts {
  readonly calls: RestCalls;
}

interface OneCall {
  Params: { account: string; call: string };
}

const ACCOUNT = `/${API_VERSION}/Accounts/:account`;
const OPTIONS = {
  config: { access: 'account' },
  // Twilio documents its API.
  schema: { hide: true },
  bodyLimit: MOST_FORM_BYTES,
} as const;
const FORM = 'application/x-www-form-urlencoded';

/** Needs a fastify scope of its own. */
export async function addTwilioRoutes(app: FastifyInstance, { calls }: TwilioParts, log: Log): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = restErrorReply(error, request.id);
    request.failure = String(body.code);
    if (status === 500) log.error({ requestId: request.id, err: error }, 'request failed');
    return reply.code(status).headers(headers).send(body);
  });
  app.addHook<{ Params: { account?: string } }>('preValidation', async ({ params }) => {
    const { account } = params;
    if (account !== undefined && !/^AC\w{1,64}$/.test(account)) throw notFound('account');
  });
  addCallRoutes(app, calls);
  await addRecordingRoutes(app, { calls, recordings: new RecordingResources(calls) }, OPTIONS);
  app.all(`/${API_VERSION}/*`, OPTIONS, ({ method }) => {
    const message = `this server has Calls and Recordings of the API, and nothing that takes ${method} under this URL`;
    throw new RestError(404, NUMBERS.notFound, message);
  });
}

function addCallRoutes(app: FastifyInstance, calls: RestCalls): void {
  app.post(`${ACCOUNT}/Calls.json`, OPTIONS, async (request, reply) => {
    const view = await calls.place(
      readCallOrder(formOf(request), calls.config, originOf(request, calls.config)),
      request.key,
    );
    return reply.code(201).send(callJson(view, calls.accountOf(request.key)));
  });
  app.get(`${ACCOUNT}/Calls.json`, OPTIONS, (request) => listCalls(calls, request));
  app.get<OneCall>(`${ACCOUNT}/Calls/:call`, OPTIONS, ({ params, key }) =>
    callJson(calls.get(sidIn(params.call), key), calls.accountOf(key)),
  );
  app.post<OneCall>(`${ACCOUNT}/Calls/:call`, OPTIONS, async (request) => {
    const { params, key } = request;
    const sid = sidIn(params.call);
    calls.get(sid, key); // another account learns nothing of the form
    const view = await calls.change(sid, readCallChange(formOf(request), calls.config), key);
    return callJson(view, calls.accountOf(key));
  });
  app.delete<OneCall>(`${ACCOUNT}/Calls/:call`, OPTIONS, ({ params, key }, reply: FastifyReply) => {
    calls.hide(sidIn(params.call), key);
    return reply.code(204).send();
  });
}

function listCalls(calls: RestCalls, request: FastifyRequest): object {
  const query = queryOf(request);
  const account = calls.accountOf(request.key);
  const page = pageOf({
    items: calls.list(request.key).filter(callFilter(query)),
    sidOf: ({ id }) => callSid(id),
    query,
    path: `${accountPath(account)}/Calls.json`,
  });
  return { calls: page.items.map((view) => callJson(view, account)), ...page.about };
}

/** The SID in the last part of a path. Throws a RestError. */
function sidIn(part: string): string {
  const [, sid] = /^(CA[0-9a-f]{32})(?:\.json)?$/.exec(part) ?? [];
  if (sid === undefined) throw notFound('call');
  return sid;
}
